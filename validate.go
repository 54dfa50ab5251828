package cardgateway

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/cardgateway/cardgateway-go/internal/ascii"
	"github.com/cardgateway/cardgateway-go/internal/civil"
	"github.com/cardgateway/cardgateway-go/internal/iso4217"
	"github.com/cardgateway/cardgateway-go/internal/secret"
	"github.com/cardgateway/cardgateway-go/internal/wire"
	"github.com/shopspring/decimal"
)

// Limits of the interface ("Limits" and "Transaction request"). Lengths are in characters.
const (
	maxID           = 128 // transactionId, orderId, uniqueId, refundTransactionId, refundUniqueId, transactionIp
	maxURL          = 255 // callbackUrl, notificationUrl
	maxMethod       = 32  // transactionMethod
	maxRemark       = 255 // published: the remark of a refund; company and remark of a shipment
	maxAppID        = 32  // the wider one where there are two listings
	maxShortAppID   = 20  // of a token order and of a redirect checkout
	maxAmountDigits = 12  // Number(12,3)
	maxDecimals     = 3
	currencyLength  = 3
	countryLength   = 2
	maxPageSize     = 999 // Number(3)
	noLimit         = 0   // "not shown"

	resolveBefore    = 13 * time.Hour // how long before SentAt is searched: UTC-12, and an hour of difference between clocks
	maxToken         = 512            // not the interface's: what fits a path element everywhere
	minCardDigits    = 12
	maxCardDigits    = 19
	maxPriceDigits   = 32 // not the interface's: keeps a hostile decimal from filling memory
	maxPriceDecimals = 16
)

// violations collects every violation of one request. Each check takes the member's name as the interface spells it.
type violations struct{ found []Problem }

func (v *violations) add(member, rule, format string, args ...any) {
	v.found = append(v.found, Problem{Field: member, Rule: rule, Message: fmt.Sprintf(format, args...)})
}

// prefix puts the path of the object that they are in before the members of all violations but the first n.
func (v *violations) prefix(path string, n int) {
	for i := n; i < len(v.found); i++ {
		v.found[i].Field = path + "." + v.found[i].Field
	}
}

// context checks that there is one: a nil context would panic where nobody can tell any more whether something was sent.
func (v *violations) context(ctx context.Context) {
	if ctx == nil {
		v.add("ctx", RuleRequired, "must not be nil")
	}
}

// err returns what was found as a *ValidationError, or nil.
func (v *violations) err(op string) error {
	if len(v.found) == 0 {
		return nil
	}
	return &ValidationError{Op: op, Problems: v.found}
}

// require reports whether a value is given, and adds a violation where it is required and is not.
func (v *violations) require(member string, given bool, p presence) bool {
	if !given && p == required {
		v.add(member, RuleRequired, "is required")
	}
	return given
}

// presence says whether a member must be given.
type presence bool

const (
	optional presence = false
	required presence = true
)

// text checks a text member that is given: valid UTF-8, and where the interface states a limit at most that many
// characters and no control characters. Texts without a limit, such as an address, may have several lines.
func (v *violations) text(member, s string, limit int) {
	if ascii.IsPrintable(s) && (limit == noLimit || len(s) <= limit) {
		return
	}
	switch n := utf8.RuneCountInString(s); {
	case !utf8.ValidString(s):
		v.add(member, RuleFormat, "is not valid UTF-8")
	case limit != noLimit && !isPlainText(s):
		v.add(member, RuleFormat, "has control characters")
	case limit != noLimit && n > limit:
		v.add(member, RuleLength, "has %d characters, at most %d are allowed", n, limit)
	}
}

// id checks an identifier that is given: a text of at most maxID characters that is not only white space.
func (v *violations) id(member, s string) {
	v.text(member, s, maxID)
	if strings.TrimSpace(s) == "" {
		v.add(member, RuleFormat, "is only white space")
	}
}

// ip checks the cardholder's IP address. The interface gives it a length and no form; what is certainly none is refused: an
// address with a port, as http.Request.RemoteAddr has, and the name of a host.
func (v *violations) ip(member, s string) {
	v.text(member, s, maxID)
	_, err := netip.ParseAddr(s)
	_, _, portErr := net.SplitHostPort(s)
	if err != nil && (portErr == nil || isHostName(s)) {
		v.add(member, RuleFormat, "must be an IP address without a port, not a host name")
	}
}

// isHostName reports whether s is labels of letters, digits and hyphens, at most 63 of them each (RFC 1123).
func isHostName(s string) bool {
	const maxLabel = 63
	for label := range strings.SplitSeq(s, ".") {
		if label == "" || len(label) > maxLabel {
			return false
		}
		for i := range len(label) {
			if !ascii.IsAlphanumeric(label[i]) && label[i] != '-' {
				return false
			}
		}
	}
	return true
}

func isPlainText(s string) bool {
	return ascii.IsPrintable(s) || utf8.ValidString(s) && !strings.ContainsFunc(s, unicode.IsControl)
}

// upperCase checks a code of so many capital letters.
func (v *violations) upperCase(member, s string, length int) {
	if len(s) != length || !ascii.IsUpper(s) {
		v.add(member, RuleFormat, "must be %d capital letters", length)
	}
}

// amount checks Number(12,3) above zero. It looks at the exponent first: only then is the number of digits bounded
// by what the caller really wrote.
func (v *violations) amount(member string, d decimal.Decimal) {
	switch exp := int(d.Exponent()); {
	case d.Sign() <= 0:
		v.add(member, RuleRange, "must be above zero")
	case exp < -maxDecimals:
		v.add(member, RuleFormat, "has %d decimals, at most %d are allowed", -exp, maxDecimals)
	case exp > maxAmountDigits || d.NumDigits()+max(exp, 0) > maxAmountDigits:
		v.add(member, RuleFormat, "has more than %d digits", maxAmountDigits)
	}
}

// decimals checks that an amount has no more decimals than its currency, trailing zeros aside.
func (v *violations) decimals(member string, d decimal.Decimal, currency string) {
	if units, known := iso4217.Decimals(currency); known && !d.Equal(d.Truncate(int32(units))) {
		v.add(member, RuleFormat, "has more than the %d decimals of %s; see Config.AnyDecimals", units, currency)
	}
}

// price checks that a price can be written out. The interface states no limits for it.
func (v *violations) price(member string, d decimal.Decimal) {
	if exp := int(d.Exponent()); exp < -maxPriceDecimals || exp > maxPriceDigits || d.NumDigits() > maxPriceDigits {
		v.add(member, RuleFormat, "has more than %d digits or %d decimals", maxPriceDigits, maxPriceDecimals)
	}
}

// webURL checks an absolute http or https URL that can be given to a browser or a server.
func (v *violations) webURL(member, s string, limit int) {
	v.text(member, s, limit)
	if !wire.IsWebURL(s) {
		v.add(member, RuleFormat, "must be an absolute http or https URL without user info")
	}
}

func isUniqueID(s string) bool { return len(s) <= maxID && ascii.IsDigits(s) }

// sentAt checks when something was sent that is to be resolved.
func (v *violations) sentAt(t time.Time) {
	if v.require("SentAt", !t.IsZero(), required) && v.year("SentAt", t.Add(-resolveBefore)) && t.After(time.Now().Add(resolveBefore)) {
		v.add("SentAt", RuleRange, "must not be in the future")
	}
}

// digitCount adds a violation that says how many digits a member must have, unless the caller has found it ok.
func (v *violations) digitCount(member string, ok bool, shortest, longest int) {
	switch {
	case ok:
	case shortest == longest:
		v.add(member, RuleFormat, "must be %d digits", shortest)
	default:
		v.add(member, RuleFormat, "must be %d to %d digits", shortest, longest)
	}
}

// card checks a card without ever putting a part of it into a message.
func (v *violations) card(c *Card) {
	if v.require("expiredYear", c.ExpiredYear != "", required) {
		v.digitCount("expiredYear", isTwoDigits(c.ExpiredYear), 2, 2)
	}
	if v.require("expiredMonth", c.ExpiredMonth != "", required) {
		v.digitCount("expiredMonth", isTwoDigits(c.ExpiredMonth), 2, 2)
		if isTwoDigits(c.ExpiredMonth) && (c.ExpiredMonth < "01" || c.ExpiredMonth > "12") {
			v.add("expiredMonth", RuleRange, "must be 01 to 12")
		}
	}
	if v.require("cardNumber", !c.CardNumber.IsZero(), required) {
		v.digitCount("cardNumber", secret.IsDigits(c.CardNumber.concealed, minCardDigits, maxCardDigits), minCardDigits, maxCardDigits)
	}
	if v.require("cardholder", c.Cardholder != "", required) {
		v.text("cardholder", c.Cardholder, noLimit)
		if strings.TrimSpace(c.Cardholder) == "" {
			v.add("cardholder", RuleFormat, "is only white space")
		}
	}
	if v.require("cvv", !c.CVV.IsZero(), required) {
		v.digitCount("cvv", secret.IsDigits(c.CVV.concealed, 3, 4), 3, 4)
	}
}

func isTwoDigits(s string) bool { return len(s) == 2 && ascii.IsDigits(s) }

// token checks that a token can stand as one element of a path.
func (v *violations) token(token string) {
	switch {
	case token == "":
		v.add("tokenization", RuleRequired, "is required")
	case len(token) > maxToken:
		v.add("tokenization", RuleLength, "has more than %d bytes", maxToken)
	case token == "." || token == "..":
		v.add("tokenization", RuleFormat, "is a relative path element")
	case !isPlainText(token):
		v.add("tokenization", RuleFormat, "has control characters or is not valid UTF-8")
	}
}

// page checks the page number and size of a batch query. Zero means that the parameter is not sent.
func (v *violations) page(number, size int) {
	if number < 0 {
		v.add("currPage", RuleRange, "must not be negative")
	}
	if size < 0 || size > maxPageSize {
		v.add("pageSize", RuleRange, "must be 0 to %d", maxPageSize)
	}
}

// span checks the bounds of a batch query on the gateway's wall clock: both required, in order, and at most one
// month apart. The interface does not say what a month is; a calendar month is the reading that allows most.
func (v *violations) span(start, end time.Time, loc *time.Location) {
	if !v.order(start, end) {
		return
	}
	first := v.year("startDate", start)
	if last := v.year("endingDate", end); first && last && civil.Of(civil.CeilSecond(end), loc) > civil.Of(start, loc).NextMonth() {
		v.add("endingDate", RuleRange, "must be at most one month after startDate")
	}
}

// order checks that both bounds are given and in order.
func (v *violations) order(start, end time.Time) bool {
	hasStart := v.require("startDate", !start.IsZero(), required)
	hasEnd := v.require("endingDate", !end.IsZero(), required)
	if hasStart && hasEnd && end.Before(start) {
		v.add("endingDate", RuleRange, "must not be before startDate")
		return false
	}
	return hasStart && hasEnd
}

// year checks that a time can be written with a year of four digits, in whatever zone.
func (v *violations) year(member string, t time.Time) bool {
	const first, last = 1, 9998
	if year := t.Year(); year < first || year > last {
		v.add(member, RuleRange, "must be in a year from %d to %d", first, last)
		return false
	}
	return true
}
