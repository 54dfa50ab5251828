package sandbox

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"unicode/utf8"
)

// decoder checks the members of one request and keeps what the gateway needs of them.
type decoder struct {
	op       Operation
	pay      payment
	problems []string
}

func (d *decoder) problem(path, text string) {
	d.problems = append(d.problems, path+": "+text)
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

func (d *decoder) transactionType(path string, v json.RawMessage) { d.optionalText(path, v, 32) }

func (d *decoder) productName(path string, v json.RawMessage) { d.optionalText(path, v, 0) }

func (d *decoder) callbackURL(path string, v json.RawMessage) { d.pay.callbackURL = d.url(path, v) }

func (d *decoder) notificationURL(path string, v json.RawMessage) {
	d.pay.notificationURL = d.url(path, v)
}

func (d *decoder) refundUniqueID(path string, v json.RawMessage) {
	d.pay.refundUniqueID = strings.Trim(string(v), `"`) // the published example sends a number
}

func (d *decoder) refundRequest(path string, v json.RawMessage) {
	d.pay.refundRequest = d.text(path, v, 128)
}

func (d *decoder) currency(path string, v json.RawMessage) {
	s := d.text(path, v, 3)
	if s != "" && (len(s) != 3 || strings.Trim(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") != "") {
		d.problem(path, "not a three-letter code")
	}
	d.pay.currency = s
}

// amount takes the text of the amount, which the examples send as a string, from a string or a number.
func (d *decoder) amount(path string, v json.RawMessage) {
	s, ok := numberText(v)
	if !ok {
		d.problem(path, "not a number")
		return
	}
	d.pay.amount = s
	whole, decimals, point := strings.Cut(s, ".")
	significant := strings.TrimLeft(whole, "0") + decimals
	switch {
	case !isDigits(whole) || point && !isDigits(decimals):
		d.problem(path, "not a plain decimal number")
	case len(decimals) > 3 || len(significant) > 12:
		d.problem(path, "more than 12 digits or 3 decimals")
	case strings.Trim(significant, "0") == "":
		d.problem(path, "not above zero")
	}
}

// appID keeps every digit: the numbers are larger than 2^53, and may be larger than 2^64. The tables of the
// subscriptions give both 20 and 32 digits, so there the larger width counts.
func (d *decoder) appID(path string, v json.RawMessage) {
	width := 32
	if d.op == OpTokenCreate || d.op == OpCheckout {
		width = 20
	}
	s, ok := numberText(v)
	if !ok || !isDigits(s) || len(s) > width {
		d.problem(path, fmt.Sprintf("not a number of at most %d digits", width))
		return
	}
	if s = strings.TrimLeft(s, "0"); s == "" {
		s = "0"
	}
	d.pay.appID = s
}

func (d *decoder) url(path string, v json.RawMessage) string {
	s := d.text(path, v, 255)
	if s == "" {
		return ""
	}
	u, err := url.Parse(s)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		d.problem(path, "not an absolute http or https URL")
		return ""
	}
	return s
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
		p := fmt.Sprintf("%s[%d]", path, i)
		m := d.object(p, item)
		for _, name := range []string{"productName", "sku", "productLink", "currency"} {
			d.optionalText(p+"."+name, m[name], 0)
		}
		if q := m["quantity"]; !absent(q) && !isDigits(string(q)) {
			d.problem(p+".quantity", "not an integer")
		}
		if price := m["price"]; !absent(price) {
			if _, ok := numberText(price); !ok {
				d.problem(p+".price", "not a number")
			}
		}
	}
}

func (d *decoder) billingAddress(path string, v json.RawMessage) {
	a := d.readAddress(path, v)
	if a == nil {
		return
	}
	if len(a.country) != 2 || strings.Trim(a.country, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") != "" {
		d.problem(path+".country", "missing or not a two-letter code")
	}
	d.pay.billing = *a
}

func (d *decoder) shippingAddress(path string, v json.RawMessage) { d.readAddress(path, v) }

func (d *decoder) readAddress(path string, v json.RawMessage) *address {
	m := d.object(path, v)
	if m == nil {
		return nil
	}
	text := func(name string) string { return d.optionalText(path+"."+name, m[name], 0) }
	text("state") // a result does not repeat it
	return &address{
		firstName: text("firstName"), lastName: text("lastName"), country: text("country"), email: text("email"),
		city: text("city"), address: text("address"), phone: text("phone"), zipCode: text("zipCode"),
	}
}

func (d *decoder) secure(path string, v json.RawMessage) {
	if json.Unmarshal(v, &d.pay.secure) != nil {
		d.problem(path, "not true or false")
	}
}

func (d *decoder) browser(path string, v json.RawMessage) {
	m := d.object(path, v)
	d.optionalText(path+".userAgent", m["userAgent"], 0)
	d.optionalText(path+".referer", m["referer"], 0)
}

// extension is free in a redirect checkout and the subscription in the other two operations.
func (d *decoder) extension(path string, v json.RawMessage) {
	m := d.object(path, v)
	if d.op == OpCheckout || m == nil {
		return
	}
	if cycle := m["subscriptionCycle"]; absent(cycle) {
		d.problem(path+".subscriptionCycle", "missing")
	} else {
		d.text(path+".subscriptionCycle", cycle, 16)
	}
	if s, ok := numberText(m["subscriptionPeriod"]); !ok || !isDigits(s) || strings.Trim(s, "0") == "" {
		d.problem(path+".subscriptionPeriod", "missing or not a number above zero")
	}
	d.optionalText(path+".subscriptionDescription", m["subscriptionDescription"], 0)
}

// card keeps the masked number and what the card will do; see readCard.
func (d *decoder) card(path string, v json.RawMessage) {
	m := d.object(path, v)
	if m == nil {
		return
	}
	text := func(name string) string { return d.optionalText(path+"."+name, m[name], 0) }
	entry := CardEntry{
		Number: text("cardNumber"), Month: text("expiredMonth"), Year: text("expiredYear"),
		CVV: text("cvv"), Cardholder: text("cardholder"),
	}
	var problems []fieldProblem
	d.pay.card, problems = readCard(entry)
	for _, p := range problems {
		d.problem(path+"."+p.field, p.text)
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
	case limit > 0 && utf8.RuneCountInString(s) > limit:
		d.problem(path, fmt.Sprintf("longer than %d characters", limit))
	default:
		return s
	}
	return ""
}

// optionalText reads a string that may be missing or empty.
func (d *decoder) optionalText(path string, v json.RawMessage, limit int) string {
	if absent(v) || isEmptyText(v) {
		return ""
	}
	return d.text(path, v, limit)
}

func (d *decoder) object(path string, v json.RawMessage) map[string]json.RawMessage {
	m, err := members(v)
	if err != nil {
		d.problem(path, err.Error())
	}
	return m
}

// numberText returns the text of a JSON number, or of a string, which the caller has to check.
func numberText(v json.RawMessage) (string, bool) {
	if len(v) == 0 || v[0] != '"' {
		return string(v), len(v) > 0 && (v[0] == '-' || '0' <= v[0] && v[0] <= '9')
	}
	var s string
	err := json.Unmarshal(v, &s)
	return s, err == nil && s != ""
}

func isEmptyText(v json.RawMessage) bool { return string(v) == `""` }

// payment is what the gateway keeps of the body of a payment request.
type payment struct {
	transactionID, orderID        string
	appID                         string // digits
	amount, currency              string // amount exactly as it was written
	method                        string
	callbackURL, notificationURL  string
	secure                        bool
	billing                       address
	card                          card
	refundUniqueID, refundRequest string // of POST /api/refund
}

// address holds the members that a result repeats.
type address struct {
	firstName, lastName, country, email, city, address, phone, zipCode string
}

func absent(value json.RawMessage) bool { return len(value) == 0 || string(value) == "null" }
