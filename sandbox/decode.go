package sandbox

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/cardgateway/cardgateway-go/sandbox/internal/console"
	"github.com/cardgateway/cardgateway-go/sandbox/internal/jsonobject"
	"github.com/cardgateway/cardgateway-go/sandbox/internal/money"
)

// decoder checks the members of one request and stores what the gateway needs of them.
type decoder struct {
	op        Operation
	published bool // also check limits that are only published
	pay       payment
	problems  []string
	ignored   string // what is checked and not stored
}

// rule is one row of a table of members, such as the interface's "Transaction request (common fields)".
type rule struct {
	name  string
	check check
	need  string // for each column: R (required), O or C, P (optional, and only published), or -
}

// check checks the value of the member at a path.
type check func(path string, value json.RawMessage)

// check checks the members of an object by the rules of one column. The paths of problems begin with prefix.
func (d *decoder) check(m map[string]json.RawMessage, prefix string, rules []rule, column int) {
	for _, r := range rules {
		switch need, value := r.need[column], m[r.name]; {
		case need == '-', need == 'P' && !d.published:
		case !absent(value):
			r.check(prefix+r.name, value)
		case need == 'R':
			d.problem(prefix+r.name, "missing")
		}
	}
}

// members checks the members of an object, whose rules have one column, and returns them.
func (d *decoder) members(path string, v json.RawMessage, rules ...rule) map[string]json.RawMessage {
	m := d.object(path, v)
	if m != nil {
		d.check(m, path+".", rules, 0)
	}
	return m
}

// limit returns a published limit if these are checked, otherwise 0.
func (d *decoder) limit(n int) int {
	if d.published {
		return n
	}
	return 0
}

// maxProblems bounds the length of a refusal.
const maxProblems = 50

func (d *decoder) problem(path, text string) {
	if len(d.problems) < maxProblems {
		d.problems = append(d.problems, path+": "+text)
	}
}

// text stores a string of 1 to limit characters. Limit 0 means any length.
func (d *decoder) text(into *string, limit int) check {
	return func(path string, v json.RawMessage) { *into = d.readText(path, v, limit) }
}

// optional stores a string that may be empty.
func (d *decoder) optional(into *string, limit int) check {
	return func(path string, v json.RawMessage) {
		if !isEmptyText(v) {
			*into = d.readText(path, v, limit)
		}
	}
}

func (d *decoder) readText(path string, v json.RawMessage, limit int) string {
	var s string
	switch {
	case json.Unmarshal(v, &s) != nil:
		d.problem(path, "not a string")
	case s == "":
		d.problem(path, "empty")
	case limit == 0 || d.short(path, s, limit):
		return s
	}
	return ""
}

// short reports whether s has at most limit characters.
func (d *decoder) short(path, s string, limit int) bool {
	if utf8.RuneCountInString(s) > limit {
		d.problem(path, fmt.Sprintf("longer than %d characters", limit))
		return false
	}
	return true
}

// id stores a uniqueId: the table says String, the published examples send a number.
func (d *decoder) id(into *string) check {
	return func(path string, v json.RawMessage) {
		s, ok := numberText(v)
		switch {
		case !ok, v[0] != '"' && !money.IsDigits(s):
			d.problem(path, "neither a string nor a whole number")
		case d.short(path, s, 128):
			*into = s
		}
	}
}

func (d *decoder) currency(path string, v json.RawMessage) {
	d.pay.currency = d.readText(path, v, 3)
	if d.pay.currency != "" && !isCode(d.pay.currency, 3) {
		d.problem(path, "not a three-letter code")
	}
}

// amount stores an amount from a string, as in the examples, or from a number, and keeps its text.
func (d *decoder) amount(into *string) check {
	return func(path string, v json.RawMessage) {
		s, ok := numberText(v)
		if !ok {
			d.problem(path, "not a number")
			return
		}
		d.positive(path, s)
		*into = s
	}
}

func (d *decoder) positive(path, s string) {
	if d.decimal(path, s) && strings.Trim(s, "0.") == "" {
		d.problem(path, "not above zero")
	}
}

// decimal reports whether s is a Number(12,3).
func (d *decoder) decimal(path, s string) bool {
	whole, decimals, point := strings.Cut(s, ".")
	switch {
	case !money.IsDigits(whole) || point && !money.IsDigits(decimals):
		d.problem(path, "not a plain decimal number")
	case len(decimals) > 3 || len(strings.TrimLeft(whole, "0")+decimals) > 12:
		d.problem(path, "more than 12 digits or 3 decimals")
	default:
		return true
	}
	return false
}

// appID keeps every digit: the numbers are larger than 2^53, and may be larger than 2^64. The tables of the subscriptions
// have both 20 and 32 digits, so the larger width is accepted there.
func (d *decoder) appID(path string, v json.RawMessage) {
	width := 32
	if d.op == OpCreateTokenOrder || d.op == OpCreateCheckout {
		width = 20
	}
	s, ok := numberText(v)
	if !ok || !money.IsDigits(s) || len(s) > width {
		d.problem(path, fmt.Sprintf("not a number of at most %d digits", width))
		return
	}
	d.pay.appID = withoutZeros(s)
}

// withoutZeros returns digits without leading zeros.
func withoutZeros(digits string) string { return cmp.Or(strings.TrimLeft(digits, "0"), "0") }

func (d *decoder) url(into *string) check {
	return func(path string, v json.RawMessage) {
		*into = d.readText(path, v, 255)
		if *into != "" && !isWebURL(*into) {
			d.problem(path, "not an absolute http or https URL")
		}
	}
}

func isWebURL(s string) bool {
	u, err := url.Parse(s)
	return err == nil && u.Hostname() != "" && (u.Scheme == "http" || u.Scheme == "https") &&
		!strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r == 0x7f })
}

func (d *decoder) productInfos(path string, v json.RawMessage) {
	var items []json.RawMessage
	if json.Unmarshal(v, &items) != nil {
		d.problem(path, "not an array")
		return
	}
	if len(items) == 0 {
		d.problem(path, "empty")
	}
	for i, item := range items {
		if len(d.problems) == maxProblems {
			return
		}
		d.productInfo(fmt.Sprintf("%s[%d]", path, i), item)
	}
}

// maxProducts is how many products of a payment the gateway keeps for the hosted page.
const maxProducts = 20

func (d *decoder) productInfo(path string, v json.RawMessage) {
	var p console.Product
	d.members(path, v,
		rule{"productName", d.optional(&p.Name, d.limit(128)), "O"},
		rule{"currency", d.optional(&p.Currency, d.limit(3)), "O"},
		rule{"sku", d.optional(&d.ignored, d.limit(128)), "O"},
		rule{"productLink", d.optional(&d.ignored, d.limit(255)), "O"},
		rule{"quantity", func(path string, v json.RawMessage) {
			p.Quantity = string(v)
			if !money.IsDigits(p.Quantity) {
				d.problem(path, "not an integer")
			} else if d.published && len(p.Quantity) > 4 {
				d.problem(path, "more than 4 digits")
			}
		}, "O"},
		rule{"price", func(path string, v json.RawMessage) {
			s, ok := numberText(v)
			if !ok || v[0] == '"' && !isDecimal(s) {
				d.problem(path, "not a number")
			} else if d.published {
				d.decimal(path, s)
			}
			p.Price = s
		}, "O"},
	)
	if len(d.pay.products) < maxProducts {
		d.pay.products = append(d.pay.products, p)
	}
}

func (d *decoder) billingAddress(path string, v json.RawMessage) {
	if m := d.address(&d.pay.billing, path, v); m != nil && !isCode(d.pay.billing.country, 2) {
		d.problem(path+".country", "missing or not a two-letter code")
	}
}

// shippingAddress: by a published rule, it must be complete if it is sent.
func (d *decoder) shippingAddress(path string, v json.RawMessage) {
	var a address
	m := d.address(&a, path, v)
	if a.country != "" && !isCode(a.country, 2) {
		d.problem(path+".country", "not a two-letter code")
	}
	if m == nil || !d.published {
		return
	}
	for _, name := range []string{"firstName", "lastName", "country", "email", "city", "address", "phone", "state", "zipCode"} {
		if absent(m[name]) || isEmptyText(m[name]) {
			d.problem(path+"."+name, "missing, and required in a shippingAddress")
		}
	}
}

// address stores what both addresses have, and returns their members.
func (d *decoder) address(a *address, path string, v json.RawMessage) map[string]json.RawMessage {
	return d.members(path, v,
		rule{"firstName", d.optional(&a.firstName, d.limit(64)), "O"},
		rule{"lastName", d.optional(&a.lastName, d.limit(64)), "O"},
		rule{"country", d.optional(&a.country, 0), "O"},
		rule{"email", d.optional(&a.email, d.limit(255)), "O"},
		rule{"city", d.optional(&a.city, d.limit(128)), "O"},
		rule{"address", d.optional(&a.address, d.limit(255)), "O"},
		rule{"phone", d.optional(&a.phone, d.limit(32)), "O"},
		rule{"zipCode", d.optional(&a.zipCode, d.limit(64)), "O"},
		rule{"state", d.optional(&d.ignored, d.limit(128)), "O"}, // a result does not repeat it
		rule{"streetNumber", d.optional(&d.ignored, 255), "P"},
		rule{"document", d.optional(&d.ignored, 64), "P"},
	)
}

// isCode reports whether s is so many capital letters.
func isCode(s string, letters int) bool {
	return len(s) == letters && strings.Trim(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == ""
}

func (d *decoder) bool(into *bool) check {
	return func(path string, v json.RawMessage) {
		if json.Unmarshal(v, into) != nil {
			d.problem(path, "not true or false")
		}
	}
}

func (d *decoder) browser(path string, v json.RawMessage) {
	d.members(path, v,
		rule{"userAgent", d.optional(&d.ignored, d.limit(128)), "O"},
		rule{"referer", d.optional(&d.ignored, d.limit(128)), "O"},
		rule{"accept", d.optional(&d.ignored, 128), "P"},
		rule{"acceptLanguage", d.optional(&d.ignored, 128), "P"},
		rule{"colorDepth", d.optional(&d.ignored, 16), "P"},
		rule{"screenHeight", d.optional(&d.ignored, 16), "P"},
		rule{"screenWidth", d.optional(&d.ignored, 16), "P"},
		rule{"timeZoneOffset", d.optional(&d.ignored, 32), "P"},
		rule{"javaEnabled", d.bool(new(bool)), "P"},
	)
}

// extension may have any members in a redirect checkout, in addition to the two that the interface names; in the other two
// operations it is the subscription.
func (d *decoder) extension(path string, v json.RawMessage) {
	if d.op == OpCreateCheckout {
		d.members(path, v, rule{"code", d.optional(&d.ignored, 0), "O"}, rule{"account", d.optional(&d.ignored, 0), "O"})
		return
	}
	d.members(path, v,
		rule{"subscriptionCycle", func(path string, v json.RawMessage) {
			if s := d.readText(path, v, d.limit(16)); d.published && s != "" && !slices.Contains(publishedCycles(), s) {
				d.problem(path, "not one of "+strings.Join(publishedCycles(), ", "))
			}
		}, "R"},
		rule{"subscriptionPeriod", func(path string, v json.RawMessage) {
			s, ok := numberText(v)
			if !ok || !money.IsDigits(s) || strings.Trim(s, "0") == "" {
				d.problem(path, "not a number above zero")
			} else if d.published && len(s) > 8 {
				d.problem(path, "more than 8 digits")
			}
		}, "R"},
		rule{"subscriptionDescription", d.optional(&d.ignored, 0), "O"},
	)
}

func publishedCycles() []string {
	return []string{"DAY", "WEEK", "MONTH", "THREE_MONTHS", "SIX_MONTHS", "YEAR"}
}

// card keeps the masked number and the outcome of the card; see readCard.
func (d *decoder) card(path string, v json.RawMessage) {
	var entry CardEntry
	if d.members(path, v,
		rule{"cardNumber", d.optional(&entry.Number, 0), "O"},
		rule{"expiredMonth", d.optional(&entry.Month, 0), "O"},
		rule{"expiredYear", d.optional(&entry.Year, 0), "O"},
		rule{"cvv", d.optional(&entry.CVV, 0), "O"},
		rule{"cardholder", d.optional(&entry.Cardholder, d.limit(128)), "O"},
	) == nil {
		return
	}
	if strings.Contains(entry.Number, " ") { // allowed on the hosted page, but not in a request
		d.problem(path+".cardNumber", "has spaces")
	}
	c, invalid := readCard(entry)
	if invalid == nil {
		d.pay.card = c
		return
	}
	for _, f := range invalid.Fields {
		d.problem(path+"."+f.Name, f.Text)
	}
}

func (d *decoder) object(path string, v json.RawMessage) map[string]json.RawMessage {
	m, err := jsonobject.Members(v)
	if err != nil {
		d.problem(path, err.Error())
	}
	return m
}

// numberText returns the text of a JSON number or string. The caller has to check it.
func numberText(v json.RawMessage) (string, bool) {
	if len(v) == 0 || v[0] != '"' {
		return string(v), len(v) > 0 && (v[0] == '-' || '0' <= v[0] && v[0] <= '9')
	}
	var s string
	err := json.Unmarshal(v, &s)
	return s, err == nil && s != ""
}

// isDecimal reports whether s is digits, optionally with a sign and decimals.
func isDecimal(s string) bool {
	whole, decimals, point := strings.Cut(strings.TrimPrefix(s, "-"), ".")
	return money.IsDigits(whole) && (!point || money.IsDigits(decimals))
}

func isEmptyText(v json.RawMessage) bool { return string(v) == `""` }

func absent(value json.RawMessage) bool { return len(value) == 0 || string(value) == "null" }
