// Package secret holds card data and tokens where no printer finds them.
package secret

import (
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"log/slog"

	"github.com/cardgateway/cardgateway-go/internal/ascii"
)

// Value keeps bytes that only Reveal finds. Whatever prints it shows its mask. The zero Value is "not given".
//
// The bytes are held by closures: a printer that ignores methods, or that meets the value in an unexported field of
// another struct, finds the address of a function. There are two closures, since a struct whose only word is a func
// crashes a popular deep printer.
//
// The types of the root package embed Value, so that its methods are theirs.
type Value struct {
	bytes func() []byte
	mask  func() string
}

// New hides text, which prints as mask makes of it.
func New(text string, mask func([]byte) string) Value {
	if text == "" {
		return Value{}
	}
	b := []byte(text)
	open := func() []byte {
		if b[0] == 0 { // wiped
			return nil
		}
		return b
	}
	return Value{bytes: open, mask: func() string { return mask(open()) }}
}

// Reveal returns the bytes themselves, not a copy, so that whoever overwrites them reaches every copy of the Value. It is
// a function and not a method: the root's types would have it too.
func Reveal(v Value) []byte {
	if v.bytes == nil {
		return nil
	}
	return v.bytes()
}

// IsDigits reports whether the value is digits only, at least shortest and at most longest of them.
func IsDigits(v Value, shortest, longest int) bool {
	b := Reveal(v)
	return ascii.IsDigits(b) && len(b) >= shortest && len(b) <= longest
}

// Equal reports, in time that does not depend on the bytes, whether both hold the same.
func Equal(a, b Value) bool { return subtle.ConstantTimeCompare(Reveal(a), Reveal(b)) == 1 }

// IsZero reports whether nothing was given, or what was given has been wiped.
func (v Value) IsZero() bool { return len(Reveal(v)) == 0 }

// String shows the mask, or nothing for the zero value.
func (v Value) String() string {
	if v.IsZero() {
		return ""
	}
	return v.mask()
}

// GoString shows what String does.
func (v Value) GoString() string { return v.String() }

// Format shows what String does, whatever the verb: without it %x and %d would go to the bytes of the string.
func (v Value) Format(f fmt.State, _ rune) { WriteMask(f, v.String()) }

// WriteMask writes a mask in place of what a verb asks for.
func WriteMask(f fmt.State, mask string) {
	_, _ = io.WriteString(f, mask) // a State has nowhere to report to
}

// LogValue shows what String does.
func (v Value) LogValue() slog.Value { return slog.StringValue(v.String()) }

// MarshalText shows what String does; JSON and XML follow it.
func (v Value) MarshalText() ([]byte, error) { return []byte(v.String()), nil }

var errNoUnmarshal = errors.New("cardgateway: secrets are made by their constructors, not decoded")

// UnmarshalText refuses: a decoder would quote the secret in its own errors.
func (v *Value) UnmarshalText([]byte) error { return errNoUnmarshal }

// UnmarshalJSON refuses: a decoder would quote the secret in its own errors.
func (v *Value) UnmarshalJSON([]byte) error { return errNoUnmarshal }
