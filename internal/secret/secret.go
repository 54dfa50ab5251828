// Package secret holds card data and tokens where printers do not find them.
package secret

import (
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"log/slog"

	"github.com/cardgateway/cardgateway-go/internal/ascii"
)

// Value holds bytes that only Reveal returns. When printed it shows its mask. The zero Value means "not given".
//
// The bytes are held by closures: a printer that ignores methods, or that finds the value in an unexported field of another
// struct, prints the address of a function. There are two closures, because a struct whose only word is a func crashes a
// popular deep printer.
//
// The types of the root package embed Value, so they have its methods.
type Value struct {
	bytes func() []byte
	mask  func() string
}

// New returns a Value with text, which prints as the result of mask.
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

// Reveal returns the bytes themselves, not a copy, so that overwriting them affects every copy of the Value. It is a
// function and not a method, because the types of the root package would have it, too.
func Reveal(v Value) []byte {
	if v.bytes == nil {
		return nil
	}
	return v.bytes()
}

// IsDigits reports whether the value is digits only, and their number is between minDigits and maxDigits.
func IsDigits(v Value, minDigits, maxDigits int) bool {
	b := Reveal(v)
	return ascii.IsDigits(b) && len(b) >= minDigits && len(b) <= maxDigits
}

// Equal reports in constant time whether both hold the same bytes.
func Equal(a, b Value) bool { return subtle.ConstantTimeCompare(Reveal(a), Reveal(b)) == 1 }

// IsZero reports whether the value was not given, or has been wiped.
func (v Value) IsZero() bool { return len(Reveal(v)) == 0 }

// String returns the mask, or "" for the zero value.
func (v Value) String() string {
	if v.IsZero() {
		return ""
	}
	return v.mask()
}

// GoString returns the same as String.
func (v Value) GoString() string { return v.String() }

// Format prints the same as String for every verb; without it, %x and %d would print bytes.
func (v Value) Format(f fmt.State, _ rune) { WriteMask(f, v.String()) }

// WriteMask writes a mask, whatever the verb.
func WriteMask(f fmt.State, mask string) {
	_, _ = io.WriteString(f, mask) // a State cannot report errors
}

// LogValue returns the same as String.
func (v Value) LogValue() slog.Value { return slog.StringValue(v.String()) }

// MarshalText returns the same as String; encoding/json and encoding/xml use it.
func (v Value) MarshalText() ([]byte, error) { return []byte(v.String()), nil }

var errNoUnmarshal = errors.New("cardgateway: secrets are created by their constructors, not decoded")

// UnmarshalText always fails: a decoder would quote the secret in its own errors.
func (v *Value) UnmarshalText([]byte) error { return errNoUnmarshal }

// UnmarshalJSON always fails: a decoder would quote the secret in its own errors.
func (v *Value) UnmarshalJSON([]byte) error { return errNoUnmarshal }
