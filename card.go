package cardgateway

import (
	"database/sql/driver"
	"errors"
	"fmt"
	"log/slog"

	"github.com/cardgateway/cardgateway-go/internal/mask"
	"github.com/cardgateway/cardgateway-go/internal/secret"
)

// concealed is embedded in the three secret types. It is an unexported alias, so that no code outside this package can
// reach the embedded value. go doc does not show its methods, so those that callers use are declared again.
type concealed = secret.Value

// CardNumber is a card number that is masked wherever it is printed. With every fmt verb, and in slog, JSON, XML and
// templates, only the first six and the last four digits are visible, as in the gateway's own responses.
//
// The digits are held by a closure, so that a printer that ignores methods, or that finds the value in an unexported
// field, sees only an address. Values therefore cannot be compared with ==; use Equal. The zero value means "not
// given"; see IsZero.
type CardNumber struct{ concealed }

// NewCardNumber takes the digits of a card number, without spaces. It never fails: the operation that would send a
// malformed number reports it, without its digits.
func NewCardNumber(digits string) CardNumber { return CardNumber{secret.New(digits, mask.CardNumber)} }

// Equal reports in constant time whether both hold the same number.
func (n CardNumber) Equal(other CardNumber) bool { return secret.Equal(n.concealed, other.concealed) }

// IsZero reports whether the number was not given, or has been wiped.
func (n CardNumber) IsZero() bool { return n.concealed.IsZero() }

// String returns the number with only its first six and last four digits, or "" for the zero value.
func (n CardNumber) String() string { return n.concealed.String() }

// CVV is a card verification code. It is printed as ***, whatever its length.
// Values cannot be compared with ==; use Equal. The zero value is "not given".
type CVV struct{ concealed }

// NewCVV takes a card verification code of three or four digits. It never fails; see NewCardNumber.
func NewCVV(digits string) CVV { return CVV{secret.New(digits, maskAll)} }

// Equal reports in constant time whether both hold the same code.
func (c CVV) Equal(other CVV) bool { return secret.Equal(c.concealed, other.concealed) }

// IsZero reports whether the code was not given, or has been wiped.
func (c CVV) IsZero() bool { return c.concealed.IsZero() }

// String returns ***, or "" for the zero value.
func (c CVV) String() string { return c.concealed.String() }

// Token stands for a card that the gateway stores: anyone who has it can charge the card. It is printed as ***, and cannot
// be stored directly: see TokenCipher. Values cannot be compared with ==; use Equal. The zero value means "not
// given".
type Token struct{ concealed }

// NewToken takes the text of a token, as received in a notification or loaded from your own database. It never fails:
// TokenPayment reports a malformed token, without its text.
func NewToken(s string) Token { return Token{secret.New(s, maskAll)} }

// Reveal returns the text of the token, for a key service or a vault that encrypts it. There is no other way to get it; keep the
// result out of logs. See TokenCipher to store a token.
func (t Token) Reveal() string { return string(secret.Reveal(t.concealed)) }

// IsZero reports whether the token was not given.
func (t Token) IsZero() bool { return t.concealed.IsZero() }

// String returns ***, or "" for the zero value.
func (t Token) String() string { return t.concealed.String() }

var errTokenStored = errors.New("cardgateway: a Token cannot be stored directly: encrypt it with a TokenCipher, " +
	"or store the text that Reveal returns and restore it with NewToken")

// MarshalJSON returns an error unless the token is zero: a program that stores tokens as JSON would store the mask and lose
// the token. Logging a Token works; a logger that encodes a struct with one as JSON logs the error instead.
func (t Token) MarshalJSON() ([]byte, error) {
	if t.IsZero() {
		return []byte(`""`), nil
	}
	return nil, errTokenStored
}

// Value returns an error unless the token is zero: the database would store the mask.
func (t Token) Value() (driver.Value, error) {
	if t.IsZero() {
		return nil, nil
	}
	return nil, errTokenStored
}

// Equal reports in constant time whether both hold the same token.
func (t Token) Equal(other Token) bool { return secret.Equal(t.concealed, other.concealed) }

// Card is the card of a direct subscription ("Card (direct subscription only)" in the interface). Every field is
// required. Prefer the hosted page: then your program handles no card data.
type Card struct {
	CardNumber   CardNumber // 12 to 19 digits
	CVV          CVV        // three or four digits
	ExpiredMonth string     // two digits, 01 to 12
	ExpiredYear  string     // the last two digits of the year
	Cardholder   string     // name on the card
}

// Wipe overwrites the number and the code in memory, in this Card and in every copy of it, and clears the other fields of
// this one. It is a best effort: it cannot overwrite the strings passed to the constructors. Call it after the
// operation has returned, never during it.
func (c *Card) Wipe() {
	clear(secret.Reveal(c.CardNumber.concealed))
	clear(secret.Reveal(c.CVV.concealed))
	*c = Card{}
}

// String returns the masked number and nothing else of the card.
func (c Card) String() string { return "card " + c.CardNumber.String() }

// Format prints what String returns, whatever the verb.
func (c Card) Format(f fmt.State, _ rune) { secret.WriteMask(f, c.String()) }

// LogValue returns the masked number and nothing else of the card.
func (c Card) LogValue() slog.Value { return slog.StringValue(c.String()) }

// MarshalText returns what String does, so that JSON, XML and templates cannot print the holder or the expiry.
func (c Card) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

func maskAll([]byte) string { return mask.All }
