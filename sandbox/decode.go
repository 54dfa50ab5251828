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
}

// rule is one row of the interface's table "Transaction request (common fields)".
type rule struct {
	name  string
	check func(d *decoder, path string, value json.RawMessage)
	need  string // R, O, C or - for each column; only one letter for what is published
}

// check checks the members of an object by the rules of one column. The paths of problems begin with prefix.
func (d *decoder) check(m map[string]json.RawMessage, prefix string, rules []rule, column int) {
	for _, r := range rules {
		switch need, value := r.need[column], m[r.name]; {
		case need == '-':
		case !absent(value):
			r.check(d, prefix+r.name, value)
		case need == 'R':
			d.problem(prefix+r.name, "missing")
		}
	}
}

// limit returns a published limit if these are checked, otherwise 0.
func (d *decoder) limit(n int) int {
	if d.published {
		return n
	}
	return 0
}

// limitIn returns a limit that is published for one operation only.
func (d *decoder) limitIn(op Operation, n int) int {
	if d.op != op {
		return 0
	}
	return d.limit(n)
}

// maxProblems bounds the length of a refusal.
const maxProblems = 50

func (d *decoder) problem(path, text string) {
	if len(d.problems) < maxProblems {
		d.problems = append(d.problems, path+": "+text)
	}
}

func (d *decoder) transactionID(path string, v json.RawMessage) {
	d.pay.transactionID = d.text(path, v, 128)
}

func (d *decoder) orderID(path string, v json.RawMessage) { d.pay.orderID = d.text(path, v, 128) }

func (d *decoder) transactionIP(path string, v json.RawMessage) { d.text(path, v, 128) }

func (d *decoder) transactionMethod(path string, v json.RawMessage) {
	if !isEmptyText(v) {
		d.pay.method = d.text(path, v, 32)
	}
}

// transactionType and productName are in examples of the interface, without limits. For the redirect checkout they have
// published limits, and its productName is only published.
func (d *decoder) transactionType(path string, v json.RawMessage) {
	d.optionalText(path, v, d.limitIn(OpCreateCheckout, 32))
}

func (d *decoder) productName(path string, v json.RawMessage) {
	if d.op != OpCreateCheckout || d.published {
		d.optionalText(path, v, d.limitIn(OpCreateCheckout, 255))
	}
}

func (d *decoder) domain(path string, v json.RawMessage) {
	if d.published {
		d.optionalText(path, v, 128)
	}
}

func (d *decoder) callbackURL(path string, v json.RawMessage) { d.pay.callbackURL = d.url(path, v) }

func (d *decoder) notificationURL(path string, v json.RawMessage) {
	d.pay.notificationURL = d.url(path, v)
}

// id reads a uniqueId: the table says String, the published examples send a number.
func (d *decoder) id(path string, v json.RawMessage) string {
	s, ok := numberText(v)
	switch {
	case !ok, v[0] != '"' && !money.IsDigits(s):
		d.problem(path, "neither a string nor a whole number")
	case d.short(path, s, 128):
		return s
	}
	return ""
}

func (d *decoder) currency(path string, v json.RawMessage) {
	s := d.text(path, v, 3)
	if s != "" && !isCode(s, 3) {
		d.problem(path, "not a three-letter code")
	}
	d.pay.currency = s
}

func (d *decoder) amount(path string, v json.RawMessage) { d.pay.amount = d.sum(path, v) }

// sum reads an amount from a string, as in the examples, or from a number, and keeps its text.
func (d *decoder) sum(path string, v json.RawMessage) string {
	s, ok := numberText(v)
	if !ok {
		d.problem(path, "not a number")
		return ""
	}
	d.positive(path, s)
	return s
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

func (d *decoder) url(path string, v json.RawMessage) string {
	s := d.text(path, v, 255)
	if s == "" {
		return ""
	}
	if !isWebURL(s) {
		d.problem(path, "not an absolute http or https URL")
		return ""
	}
	return s
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
	m := d.object(path, v)
	p := console.Product{
		Name:     d.optionalText(path+".productName", m["productName"], d.limit(128)),
		Currency: d.optionalText(path+".currency", m["currency"], d.limit(3)),
	}
	d.optionalText(path+".sku", m["sku"], d.limit(128))
	d.optionalText(path+".productLink", m["productLink"], d.limit(255))
	if q := m["quantity"]; !absent(q) {
		p.Quantity = string(q)
		if !money.IsDigits(p.Quantity) {
			d.problem(path+".quantity", "not an integer")
		} else if d.published && len(p.Quantity) > 4 {
			d.problem(path+".quantity", "more than 4 digits")
		}
	}
	if price := m["price"]; !absent(price) {
		s, ok := numberText(price)
		if !ok || price[0] == '"' && !isDecimal(s) {
			d.problem(path+".price", "not a number")
		} else if d.published {
			d.decimal(path+".price", s)
		}
		p.Price = s
	}
	if len(d.pay.products) < maxProducts {
		d.pay.products = append(d.pay.products, p)
	}
}

func (d *decoder) billingAddress(path string, v json.RawMessage) {
	m := d.object(path, v)
	if m == nil {
		return
	}
	d.pay.billing = d.address(path, m)
	if !isCode(d.pay.billing.country, 2) {
		d.problem(path+".country", "missing or not a two-letter code")
	}
}

// isCode reports whether s is so many capital letters.
func isCode(s string, letters int) bool {
	return len(s) == letters && strings.Trim(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == ""
}

// shippingAddress: by a published rule, it must be complete if it is sent.
func (d *decoder) shippingAddress(path string, v json.RawMessage) {
	m := d.object(path, v)
	if m == nil {
		return
	}
	if country := d.address(path, m).country; country != "" && !isCode(country, 2) {
		d.problem(path+".country", "not a two-letter code")
	}
	if !d.published {
		return
	}
	for _, name := range []string{"firstName", "lastName", "country", "email", "city", "address", "phone", "state", "zipCode"} {
		if absent(m[name]) || isEmptyText(m[name]) {
			d.problem(path+"."+name, "missing, and required in a shippingAddress")
		}
	}
}

// address reads the members that both addresses have.
func (d *decoder) address(path string, m map[string]json.RawMessage) address {
	text := func(name string, limit int) string { return d.optionalText(path+"."+name, m[name], d.limit(limit)) }
	text("state", 128) // a result does not repeat it
	if d.published {
		text("streetNumber", 255)
		text("document", 64)
	}
	return address{
		firstName: text("firstName", 64), lastName: text("lastName", 64), country: text("country", 0),
		email: text("email", 255), city: text("city", 128), address: text("address", 255), phone: text("phone", 32),
		zipCode: text("zipCode", 64),
	}
}

func (d *decoder) secure(path string, v json.RawMessage) {
	if json.Unmarshal(v, &d.pay.secure) != nil {
		d.problem(path, "not true or false")
	}
}

func (d *decoder) browser(path string, v json.RawMessage) {
	m := d.object(path, v)
	for _, member := range []struct {
		name      string
		limit     int
		published bool // only
	}{
		{"userAgent", 128, false}, {"referer", 128, false}, {"accept", 128, true}, {"acceptLanguage", 128, true},
		{"colorDepth", 16, true}, {"screenHeight", 16, true}, {"screenWidth", 16, true}, {"timeZoneOffset", 32, true},
	} {
		if d.published || !member.published {
			d.optionalText(path+"."+member.name, m[member.name], d.limit(member.limit))
		}
	}
	if enabled := m["javaEnabled"]; d.published && !absent(enabled) && string(enabled) != "true" && string(enabled) != "false" {
		d.problem(path+".javaEnabled", "not true or false")
	}
}

// extension may have any members in a redirect checkout, in addition to the two that the interface names; in the other two
// operations it is the subscription.
func (d *decoder) extension(path string, v json.RawMessage) {
	m := d.object(path, v)
	if m == nil {
		return
	}
	if d.op == OpCreateCheckout {
		d.optionalText(path+".code", m["code"], 0)
		d.optionalText(path+".account", m["account"], 0)
		return
	}
	if cycle := m["subscriptionCycle"]; absent(cycle) {
		d.problem(path+".subscriptionCycle", "missing")
	} else if s := d.text(path+".subscriptionCycle", cycle, d.limit(16)); d.published && s != "" && !slices.Contains(publishedCycles(), s) {
		d.problem(path+".subscriptionCycle", "not one of "+strings.Join(publishedCycles(), ", "))
	}
	s, ok := numberText(m["subscriptionPeriod"])
	switch {
	case !ok || !money.IsDigits(s) || strings.Trim(s, "0") == "":
		d.problem(path+".subscriptionPeriod", "missing or not a number above zero")
	case d.published && len(s) > 8:
		d.problem(path+".subscriptionPeriod", "more than 8 digits")
	}
	d.optionalText(path+".subscriptionDescription", m["subscriptionDescription"], 0)
}

func publishedCycles() []string {
	return []string{"DAY", "WEEK", "MONTH", "THREE_MONTHS", "SIX_MONTHS", "YEAR"}
}

// card keeps the masked number and the outcome of the card; see readCard.
func (d *decoder) card(path string, v json.RawMessage) {
	m := d.object(path, v)
	if m == nil {
		return
	}
	text := func(name string, limit int) string { return d.optionalText(path+"."+name, m[name], limit) }
	entry := CardEntry{
		Number: text("cardNumber", 0), Month: text("expiredMonth", 0), Year: text("expiredYear", 0),
		CVV: text("cvv", 0), Cardholder: text("cardholder", d.limit(128)),
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

// text reads a string of 1 to limit characters. Limit 0 means any length.
func (d *decoder) text(path string, v json.RawMessage, limit int) string {
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

// optionalText reads a string that may be missing or empty.
func (d *decoder) optionalText(path string, v json.RawMessage, limit int) string {
	if absent(v) || isEmptyText(v) {
		return ""
	}
	return d.text(path, v, limit)
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
