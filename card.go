package cardgateway

import (
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
)

// CardNumber is a primary account number that cannot be printed. Under every fmt verb, in slog, JSON, XML and
// templates it shows the first six and the last four digits, as the gateway's own answers do.
//
// A CardNumber holds its digits behind a closure, so that a printer which ignores methods, or which meets the value
// in an unexported field, finds an address and nothing else. Values therefore cannot be compared with ==; use Equal.
// The zero value is "not given".
type CardNumber struct{ secret }

// NewCardNumber wraps the digits of a card number, without spaces. It never fails: a malformed number is reported,
// without its digits, by the operation that would send it.
func NewCardNumber(digits string) CardNumber { return CardNumber{conceal(digits, maskCardNumber)} }

// Equal reports, in time that does not depend on the digits, whether both hold the same number.
func (n CardNumber) Equal(other CardNumber) bool { return n.equal(other.secret) }

// CVV is a card verification code that cannot be printed: it shows as *** whatever its length.
// Values cannot be compared with ==; use Equal. The zero value is "not given".
type CVV struct{ secret }

// NewCVV wraps a card verification code of three or four digits. It never fails; see NewCardNumber.
func NewCVV(digits string) CVV { return CVV{conceal(digits, maskAll)} }

// Equal reports, in time that does not depend on the digits, whether both hold the same code.
func (c CVV) Equal(other CVV) bool { return c.equal(other.secret) }

// Token stands for a card that the gateway stores: whoever has it can charge the card. It shows as *** wherever it
// is printed. Values cannot be compared with ==; use Equal. The zero value is "not given".
type Token struct{ secret }

// NewToken wraps a token as it came in a notification or out of the merchant's own store. It never fails: a
// malformed token is reported, without its text, by TokenPayment.
func NewToken(s string) Token { return Token{conceal(s, maskAll)} }

// needles are the token, to be looked for in what comes with it.
func (t Token) needles() (n needles) {
	n.add(string(t.reveal()), shortestSecret)
	return n
}

// Reveal returns the token's text, for storing it. It is the only way out; keep the result out of logs.
func (t Token) Reveal() string { return string(t.reveal()) }

// Equal reports, in time that does not depend on the text, whether both hold the same token.
func (t Token) Equal(other Token) bool { return t.equal(other.secret) }

// Card is the card of a direct subscription ("Card (direct subscription only)" in the interface). Every member is
// required. Prefer the hosted page: a merchant who never holds a Card has far less to protect.
type Card struct {
	CardNumber   CardNumber // 12 to 19 digits
	CVV          CVV        // three or four digits
	ExpiredMonth string     // two digits, 01 to 12
	ExpiredYear  string     // the last two digits of the year
	Cardholder   string     // name on the card
}

// Wipe overwrites the number and the code in memory, in this Card and in every copy of it, and empties the rest of
// this one. It is a best effort: the strings given to the constructors are out of reach. Call it after the
// operation has returned, never during it.
func (c *Card) Wipe() {
	clear(c.CardNumber.reveal())
	clear(c.CVV.reveal())
	*c = Card{}
}

// String shows the masked number and nothing else of the card.
func (c Card) String() string { return "card " + c.CardNumber.String() }

// Format shows what String does, whatever the verb.
func (c Card) Format(f fmt.State, _ rune) { writeMask(f, c.String()) }

// LogValue shows the masked number and nothing else of the card.
func (c Card) LogValue() slog.Value { return slog.StringValue(c.String()) }

// MarshalText shows what String does, so that JSON, XML and templates cannot print the holder or the expiry.
func (c Card) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// secret keeps bytes where only reveal finds them. Two closures rather than one: a struct whose only word is a func
// crashes a popular deep printer.
type secret struct {
	bytes func() []byte
	mask  func() string
}

func conceal(s string, mask func([]byte) string) secret {
	if s == "" {
		return secret{}
	}
	b := []byte(s)
	open := func() []byte {
		if b[0] == 0 { // wiped
			return nil
		}
		return b
	}
	return secret{bytes: open, mask: func() string { return mask(open()) }}
}

// reveal returns the bytes themselves, not a copy, so that Wipe reaches every holder. Apart from this file only the
// encoder in wire.go calls it; a test counts.
func (s secret) reveal() []byte {
	if s.bytes == nil {
		return nil
	}
	return s.bytes()
}

// isDigits reports whether the secret is digits only, within the given lengths.
func (s secret) isDigits(shortest, longest int) bool {
	b := s.reveal()
	return allDigits(b) && len(b) >= shortest && len(b) <= longest
}

func (s secret) equal(other secret) bool {
	return subtle.ConstantTimeCompare(s.reveal(), other.reveal()) == 1
}

// IsZero reports whether nothing was given, or what was given has been wiped.
func (s secret) IsZero() bool { return len(s.reveal()) == 0 }

// String shows the mask, or nothing for the zero value.
func (s secret) String() string {
	if s.IsZero() {
		return ""
	}
	return s.mask()
}

// GoString shows what String does.
func (s secret) GoString() string { return s.String() }

// Format shows what String does, whatever the verb: without it %x and %d would go to the bytes of the string.
func (s secret) Format(f fmt.State, _ rune) { writeMask(f, s.String()) }

// LogValue shows what String does.
func (s secret) LogValue() slog.Value { return slog.StringValue(s.String()) }

// MarshalText shows what String does; JSON and XML follow it.
func (s secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

var errNoUnmarshal = errors.New("cardgateway: secrets are made by their constructors, not decoded")

// UnmarshalText refuses: a decoder would quote the secret in its own errors.
func (s *secret) UnmarshalText([]byte) error { return errNoUnmarshal }

// UnmarshalJSON refuses: a decoder would quote the secret in its own errors.
func (s *secret) UnmarshalJSON([]byte) error { return errNoUnmarshal }

func writeMask(f fmt.State, mask string) {
	_, _ = io.WriteString(f, mask) // a State has nowhere to report to
}

const maskedAll = "***"

func maskAll([]byte) string { return maskedAll }

// maskCardNumber keeps the first six and last four of 13 digits or more, and only the last four of fewer, which is
// what the card schemes allow to be shown.
func maskCardNumber(digits []byte) string {
	n := len(digits)
	switch {
	case n < 8 || !allDigits(digits):
		return maskedAll
	case n < 13:
		return strings.Repeat("*", n-4) + string(digits[n-4:])
	default:
		return string(digits[:6]) + strings.Repeat("*", n-10) + string(digits[n-4:])
	}
}

// shortestMasked is how many digits in a row may be a card number. Twelve, which the rarest cards have, is also the
// length of the reference numbers that merchants need to read.
const shortestMasked = 13

// maskDigits returns text with every run of 13 or more digits masked as a card number would be. One space or hyphen
// between digits does not end a run. Text of the gateway passes through here before it is kept, since nothing keeps
// a gateway from echoing a card number in a message.
func maskDigits(text string) string {
	var out []byte
	for i := 0; i < len(text); {
		end, digits := digitRun(text[i:])
		if digits < shortestMasked {
			end = max(end, 1)
			if out != nil {
				out = append(out, text[i:i+end]...)
			}
			i += end
			continue
		}
		if out == nil {
			out = append(make([]byte, 0, len(text)), text[:i]...)
		}
		out = append(out, maskCardNumber(onlyDigits(text[i:i+end]))...)
		i += end
	}
	if out == nil {
		return text
	}
	return string(out)
}

// digitRun measures the run of digits that text starts with: its length with separators, and the digits in it.
func digitRun(text string) (length, digits int) {
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case isDigit(c):
			digits++
			length = i + 1
		case (c == ' ' || c == '-') && digits > 0 && i == length:
			// a separator counts only if a digit follows it
		default:
			return length, digits
		}
	}
	return length, digits
}

func onlyDigits(text string) []byte {
	digits := make([]byte, 0, len(text))
	for i := range len(text) {
		if isDigit(text[i]) {
			digits = append(digits, text[i])
		}
	}
	return digits
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func allDigits[T ~string | ~[]byte](s T) bool {
	for i := range len(s) {
		if !isDigit(s[i]) {
			return false
		}
	}
	return len(s) > 0
}
