package cardgateway

import (
	"database/sql/driver"
	"errors"
	"fmt"
	"log/slog"

	"github.com/cardgateway/cardgateway-go/internal/mask"
	"github.com/cardgateway/cardgateway-go/internal/secret"
)

// concealed is what the three secret types embed. The name is an alias in small letters, so that nobody outside this
// package gets at the embedded value.
type concealed = secret.Value

// CardNumber is a primary account number that cannot be printed. Under every fmt verb, in slog, JSON, XML and
// templates it shows the first six and the last four digits, as the gateway's own responses do.
//
// The digits are held by a closure: a printer that ignores methods, or that meets the value in an unexported field,
// finds an address and nothing else. Values therefore cannot be compared with ==; use Equal. The zero value is "not
// given", as IsZero reports.
type CardNumber struct{ concealed }

// NewCardNumber wraps the digits of a card number, without spaces. It never fails: a malformed number is reported,
// without its digits, by the operation that would send it.
func NewCardNumber(digits string) CardNumber { return CardNumber{secret.New(digits, mask.CardNumber)} }

// Equal reports, in time that does not depend on the digits, whether both hold the same number.
func (n CardNumber) Equal(other CardNumber) bool { return secret.Equal(n.concealed, other.concealed) }

// CVV is a card verification code that cannot be printed: it shows as *** whatever its length.
// Values cannot be compared with ==; use Equal. The zero value is "not given".
type CVV struct{ concealed }

// NewCVV wraps a card verification code of three or four digits. It never fails; see NewCardNumber.
func NewCVV(digits string) CVV { return CVV{secret.New(digits, maskAll)} }

// Equal reports, in time that does not depend on the digits, whether both hold the same code.
func (c CVV) Equal(other CVV) bool { return secret.Equal(c.concealed, other.concealed) }

// Token stands for a card that the gateway stores: whoever has it can charge the card. It shows as *** wherever it
// is printed, and refuses to be stored: see Reveal. Values cannot be compared with ==; use Equal. The zero value is "not
// given".
type Token struct{ concealed }

// NewToken wraps a token as it came in a notification or out of the merchant's own store. It never fails: a
// malformed token is reported, without its text, by TokenPayment.
func NewToken(s string) Token { return Token{secret.New(s, maskAll)} }

// Reveal returns the token's text, for storing it. It is the only way out; keep the result out of logs.
func (t Token) Reveal() string { return string(secret.Reveal(t.concealed)) }

var errTokenStored = errors.New("cardgateway: a Token cannot be stored directly: store the text that Reveal returns, and restore it with NewToken")

// MarshalJSON refuses, unless there is no token: a program that stores tokens as JSON would store the mask and lose them.
// Logging a Token works; a logger that writes a struct with one as JSON says this in its place.
func (t Token) MarshalJSON() ([]byte, error) {
	if t.IsZero() {
		return []byte(`""`), nil
	}
	return nil, errTokenStored
}

// Value refuses, unless there is no token: a database would be given the mask.
func (t Token) Value() (driver.Value, error) {
	if t.IsZero() {
		return nil, nil
	}
	return nil, errTokenStored
}

// Equal reports, in time that does not depend on the text, whether both hold the same token.
func (t Token) Equal(other Token) bool { return secret.Equal(t.concealed, other.concealed) }

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
	clear(secret.Reveal(c.CardNumber.concealed))
	clear(secret.Reveal(c.CVV.concealed))
	*c = Card{}
}

// String shows the masked number and nothing else of the card.
func (c Card) String() string { return "card " + c.CardNumber.String() }

// Format shows what String does, whatever the verb.
func (c Card) Format(f fmt.State, _ rune) { secret.WriteMask(f, c.String()) }

// LogValue shows the masked number and nothing else of the card.
func (c Card) LogValue() slog.Value { return slog.StringValue(c.String()) }

// MarshalText shows what String does, so that JSON, XML and templates cannot print the holder or the expiry.
func (c Card) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

func maskAll([]byte) string { return mask.All }
