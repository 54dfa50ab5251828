package cardgateway

import (
	"fmt"
	"net/url"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/cardgateway/cardgateway-go/internal/civil"
	"github.com/shopspring/decimal"
)

// Limits of the interface ("Limits" and "Transaction request"). Lengths are in characters.
const (
	maxID            = 128 // transactionId, orderId, uniqueId, refundTransactionId, refundUniqueId, transactionIp
	maxURL           = 255 // callbackUrl, notificationUrl
	maxMethod        = 32  // transactionMethod
	maxAppID         = 32  // the wider one where there are two listings
	maxShortAppID    = 20  // of a token order and of a redirect checkout
	maxAmountDigits  = 12  // Number(12,3)
	maxDecimals      = 3
	currencyLength   = 3
	countryLength    = 2
	maxPageSize      = 999 // Number(3)
	noLimit          = 0   // "not shown"
	maxToken         = 512 // not the interface's: what fits a path element everywhere
	minCardDigits    = 12
	maxCardDigits    = 19
	maxPriceDigits   = 32 // not the interface's: keeps a hostile decimal from filling memory
	maxPriceDecimals = 16
)

// problems collects every violation of one request. Each check takes the member's name as the interface spells it.
type problems struct {
	found []Problem
}

func (p *problems) add(member, rule, format string, args ...any) {
	p.found = append(p.found, Problem{Field: member, Rule: rule, Message: fmt.Sprintf(format, args...)})
}

// below puts the path of the object that they are in before the members of all problems but the first checked ones.
func (p *problems) below(path string, checked int) {
	for i := checked; i < len(p.found); i++ {
		p.found[i].Field = path + "." + p.found[i].Field
	}
}

// err returns what was found as a *ValidationError, or nil.
func (p *problems) err(op string) error {
	if len(p.found) == 0 {
		return nil
	}
	return &ValidationError{Op: op, Problems: p.found}
}

// require reports whether a value is given, and adds a problem where it is required and is not.
func (p *problems) require(member string, given bool, n need) bool {
	if !given && n == required {
		p.add(member, RuleRequired, "is required")
	}
	return given
}

// need says whether a member must be there.
type need bool

const (
	optional need = false
	required need = true
)

// text checks a text member that is given: valid UTF-8, and where the interface states a limit at most that many
// characters and no control characters. Texts without a limit, such as an address, may have several lines.
func (p *problems) text(member, s string, limit int) {
	if isPrintableASCII(s) && (limit == noLimit || len(s) <= limit) {
		return
	}
	switch n := utf8.RuneCountInString(s); {
	case !utf8.ValidString(s):
		p.add(member, RuleFormat, "is not valid UTF-8")
	case limit != noLimit && !isPlainText(s):
		p.add(member, RuleFormat, "has control characters")
	case limit != noLimit && n > limit:
		p.add(member, RuleLength, "has %d characters, at most %d are allowed", n, limit)
	}
}

func isPlainText(s string) bool {
	return isPrintableASCII(s) || utf8.ValidString(s) && !strings.ContainsFunc(s, unicode.IsControl)
}

// isPrintableASCII is the quick look that settles most texts.
func isPrintableASCII[T ~string | ~[]byte](s T) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}

// capitals checks a code of the given number of capital letters.
func (p *problems) capitals(member, s string, length int) {
	ok := len(s) == length
	for i := range len(s) {
		ok = ok && 'A' <= s[i] && s[i] <= 'Z'
	}
	if !ok {
		p.add(member, RuleFormat, "must be %d capital letters", length)
	}
}

// amount checks Number(12,3) above zero. It looks at the exponent first: only then is the number of digits bounded
// by what the caller really wrote.
func (p *problems) amount(member string, d decimal.Decimal) {
	switch exp := int(d.Exponent()); {
	case d.Sign() <= 0:
		p.add(member, RuleRange, "must be above zero")
	case exp < -maxDecimals:
		p.add(member, RuleFormat, "has %d decimals, at most %d are allowed", -exp, maxDecimals)
	case exp > maxAmountDigits || d.NumDigits()+max(exp, 0) > maxAmountDigits:
		p.add(member, RuleFormat, "has more than %d digits", maxAmountDigits)
	}
}

// price checks that a price can be written out. The interface states no limits for it.
func (p *problems) price(member string, d decimal.Decimal) {
	if exp := int(d.Exponent()); exp < -maxPriceDecimals || exp > maxPriceDigits || d.NumDigits() > maxPriceDigits {
		p.add(member, RuleFormat, "has more than %d digits or %d decimals", maxPriceDigits, maxPriceDecimals)
	}
}

// link checks an absolute http or https URL that can be given to a browser or a server.
func (p *problems) link(member, s string, limit int) {
	p.text(member, s, limit)
	if !isLink(s) {
		p.add(member, RuleFormat, "must be an absolute http or https URL without user info")
	}
}

func isLink(s string) bool {
	if isUsualLink(s) {
		return true
	}
	if strings.Contains(s, " ") || !isPrintableASCII(s) && strings.ContainsFunc(s, unicode.IsControl) {
		return false
	}
	u, err := url.Parse(s)
	return err == nil && (u.Scheme == "https" || u.Scheme == "http") && u.Hostname() != "" && u.User == nil
}

// isUsualLink is the quick look that settles most links: https and characters that stand for themselves.
func isUsualLink(s string) bool {
	rest, ok := strings.CutPrefix(s, "https://")
	if !ok || rest == "" || !isAlphanumeric(rest[0]) {
		return false
	}
	for i := range len(rest) {
		switch c := rest[i]; {
		case isUnreserved(c), c == '/', c == '?', c == '=', c == '&':
		default:
			return false
		}
	}
	return true
}

// digits checks that a member is digits only, which the caller has found out, and says how many it may have.
func (p *problems) digits(member string, ok bool, shortest, longest int) {
	switch {
	case ok:
	case shortest == longest:
		p.add(member, RuleFormat, "must be %d digits", shortest)
	default:
		p.add(member, RuleFormat, "must be %d to %d digits", shortest, longest)
	}
}

// card checks a card without ever putting a part of it into a message.
func (p *problems) card(c *Card) {
	if p.require("expiredYear", c.ExpiredYear != "", required) {
		p.digits("expiredYear", isTwoDigits(c.ExpiredYear), 2, 2)
	}
	if p.require("expiredMonth", c.ExpiredMonth != "", required) {
		p.digits("expiredMonth", isTwoDigits(c.ExpiredMonth), 2, 2)
		if isTwoDigits(c.ExpiredMonth) && (c.ExpiredMonth < "01" || c.ExpiredMonth > "12") {
			p.add("expiredMonth", RuleRange, "must be 01 to 12")
		}
	}
	if p.require("cardNumber", !c.CardNumber.IsZero(), required) {
		p.digits("cardNumber", c.CardNumber.isDigits(minCardDigits, maxCardDigits), minCardDigits, maxCardDigits)
	}
	if p.require("cardholder", c.Cardholder != "", required) {
		p.text("cardholder", c.Cardholder, noLimit)
	}
	if p.require("cvv", !c.CVV.IsZero(), required) {
		p.digits("cvv", c.CVV.isDigits(3, 4), 3, 4)
	}
}

func isTwoDigits(s string) bool { return len(s) == 2 && allDigits(s) }

// token checks that a token can stand as one element of a path.
func (p *problems) token(token string) {
	switch {
	case token == "":
		p.add("tokenization", RuleRequired, "is required")
	case len(token) > maxToken:
		p.add("tokenization", RuleLength, "has more than %d bytes", maxToken)
	case token == "." || token == "..":
		p.add("tokenization", RuleFormat, "is a relative path element")
	case !isPlainText(token):
		p.add("tokenization", RuleFormat, "has control characters or is not valid UTF-8")
	}
}

// page checks the page number and size of a batch query. Zero means that the parameter is not sent.
func (p *problems) page(number, size int) {
	if number < 0 {
		p.add("currPage", RuleRange, "must not be negative")
	}
	if size < 0 || size > maxPageSize {
		p.add("pageSize", RuleRange, "must be 0 to %d", maxPageSize)
	}
}

// span checks the bounds of a batch query on the gateway's wall clock: both required, in order, and at most one
// month apart. The interface does not say what a month is; a calendar month is the reading that allows most.
func (p *problems) span(start, end time.Time, loc *time.Location) {
	if !p.order(start, end) {
		return
	}
	first := p.year("startDate", start)
	if last := p.year("endingDate", end); first && last && civil.Of(civil.CeilSecond(end), loc) > civil.Of(start, loc).NextMonth() {
		p.add("endingDate", RuleRange, "must be at most one month after startDate")
	}
}

// order checks that both bounds are given and in order.
func (p *problems) order(start, end time.Time) bool {
	hasStart := p.require("startDate", !start.IsZero(), required)
	hasEnd := p.require("endingDate", !end.IsZero(), required)
	if hasStart && hasEnd && end.Before(start) {
		p.add("endingDate", RuleRange, "must not be before startDate")
		return false
	}
	return hasStart && hasEnd
}

// year checks that a time can be written with a year of four digits, in whatever zone.
func (p *problems) year(member string, t time.Time) bool {
	const first, last = 1, 9998
	if year := t.Year(); year < first || year > last {
		p.add(member, RuleRange, "must be in a year from %d to %d", first, last)
		return false
	}
	return true
}
