package cardgateway

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/shopspring/decimal"
)

// body writes the JSON object of a request and checks every member as it writes it: what an operation's members
// method lists is at once what is sent and what is required of it, in the order of the interface's table. It is the
// only place where card data leaves its holder.
type body struct {
	problems
	buf     []byte
	element pathElement // what the operation's path template leaves open
	secrets needles     // what was revealed, so that no error keeps it
}

// pathElement is one element of a path, plain and escaped.
type pathElement struct{ plain, escaped string }

// finish closes the object, or reports every violation that was found.
func (b *body) finish(op string) error {
	if err := b.err(op); err != nil {
		return err
	}
	b.buf = append(b.buf, '}')
	return nil
}

// newBody starts the object of a request. Its buffer is not used again for another request: a hook or a transport that
// keeps it by mistake then finds it wiped, and no card of somebody else.
func newBody(room int) *body { return &body{buf: append(make([]byte, 0, room), '{')} }

// Room for a usual request, in bytes.
const (
	roomForPayment = 1 << 10 // with neither address nor card
	roomForOrder   = 2 << 10
)

// wipe overwrites what was written. What was revealed is not wiped: it is the caller's.
func (b *body) wipe() { clear(b.buf) }

// separate ends the member before, if there is one.
func (b *body) separate() {
	if b.buf[len(b.buf)-1] != '{' {
		b.buf = append(b.buf, ',')
	}
}

// name starts a member.
func (b *body) name(member string) {
	b.separate()
	b.buf = append(b.buf, '"')
	b.buf = append(b.buf, member...)
	b.buf = append(b.buf, '"', ':')
}

// id writes an identifier of at most maxID characters.
func (b *body) id(member, s string) { b.string(member, s, required, maxID) }

// string writes a text member, or nothing for the empty text.
func (b *body) string(member, s string, n need, limit int) {
	if b.require(member, s != "", n) {
		b.text(member, s, limit)
		b.write(member, s)
	}
}

func (b *body) write(member, s string) {
	b.name(member)
	b.buf = appendString(b.buf, s)
}

func (b *body) currency(s string, n need) {
	if b.require("currency", s != "", n) {
		b.capitals("currency", s, currencyLength)
		b.write("currency", s)
	}
}

// amount writes an amount as text with exactly the decimals that the caller's value has.
func (b *body) amount(d decimal.Decimal) {
	checked := len(b.found)
	if !b.require("amount", d != decimal.Decimal{}, required) {
		return
	}
	b.problems.amount("amount", d)
	if len(b.found) == checked {
		b.decimal("amount", d)
	}
}

func (b *body) decimal(member string, d decimal.Decimal) {
	b.name(member)
	b.buf = append(b.buf, '"')
	b.buf = appendDecimal(b.buf, d)
	b.buf = append(b.buf, '"')
}

// appID writes the client's app id, of which New has checked that it is one, as the JSON number that the interface
// shows.
func (b *body) appID(id AppID, limit int) {
	b.digits("appId", len(id) <= limit, 1, limit)
	b.name("appId")
	b.buf = append(b.buf, id...)
}

func (b *body) number(member string, n int) {
	b.name(member)
	b.buf = strconv.AppendInt(b.buf, int64(n), 10)
}

func (b *body) url(member, s string) {
	if b.require(member, s != "", required) {
		b.link(member, s, maxURL)
		b.write(member, s)
	}
}

// secure writes the request for a 3D transaction.
func (b *body) secure(secure bool) {
	if secure {
		b.name("secure")
		b.buf = append(b.buf, "true"...)
	}
}

// object writes a nested object whose problems are named below member.
func (b *body) object(member string, members func()) {
	b.name(member)
	checked := len(b.found)
	b.nested(members)
	b.below(member, checked)
}

func (b *body) nested(members func()) {
	b.buf = append(b.buf, '{')
	members()
	b.buf = append(b.buf, '}')
}

func (b *body) products(products []ProductInfo) {
	if !b.require("productInfos", len(products) > 0, required) {
		return
	}
	b.name("productInfos")
	b.buf = append(b.buf, '[')
	for i := range products {
		if i > 0 {
			b.buf = append(b.buf, ',')
		}
		checked := len(b.found)
		b.nested(func() { b.product(&products[i]) })
		if len(b.found) > checked {
			b.below("productInfos["+strconv.Itoa(i)+"]", checked)
		}
	}
	b.buf = append(b.buf, ']')
}

func (b *body) product(p *ProductInfo) {
	b.string("productName", p.ProductName, optional, noLimit)
	b.string("sku", p.SKU, optional, noLimit)
	b.string("productLink", p.ProductLink, optional, noLimit)
	b.currency(p.Currency, optional)
	if p.Price != (decimal.Decimal{}) {
		checked := len(b.found)
		b.price("price", p.Price)
		if len(b.found) == checked {
			b.decimal("price", p.Price)
		}
	}
	if p.Quantity < 0 {
		b.add("quantity", RuleRange, "must not be negative")
	}
	if p.Quantity != 0 {
		b.number("quantity", p.Quantity)
	}
	b.extra(p.Extra, productMembers)
}

// address writes a billing address, in which the country is required, or a shipping address, in which nothing is.
func (b *body) address(member string, a *Address, country need) {
	b.object(member, func() {
		b.string("firstName", a.FirstName, optional, noLimit)
		b.string("lastName", a.LastName, optional, noLimit)
		if b.require("country", a.Country != "", country) {
			b.capitals("country", a.Country, countryLength)
			b.write("country", a.Country)
		}
		b.string("email", a.Email, optional, noLimit)
		b.string("city", a.City, optional, noLimit)
		b.string("address", a.Address, optional, noLimit)
		b.string("phone", a.Phone, optional, noLimit)
		b.string("state", a.State, optional, noLimit)
		b.string("zipCode", a.ZipCode, optional, noLimit)
		b.extra(a.Extra, addressMembers)
	})
}

func (b *body) billing(a *Address) { b.address("billingAddress", a, required) }

func (b *body) shipping(a *Address) {
	if a != nil {
		b.address("shippingAddress", a, optional)
	}
}

// browser writes the cardholder's browser, "required when a 3D transaction is requested".
func (b *body) browser(br *Browser, secure bool) {
	if br == nil {
		if secure {
			b.add("browser", RuleRequired, "is required for a 3D transaction")
		}
		return
	}
	b.object("browser", func() {
		b.string("userAgent", br.UserAgent, optional, noLimit)
		b.string("referer", br.Referer, optional, noLimit)
		b.extra(br.Extra, browserMembers)
	})
}

func (b *body) card(c *Card) {
	b.object("card", func() {
		b.problems.card(c)
		b.write("expiredYear", c.ExpiredYear)
		b.write("expiredMonth", c.ExpiredMonth)
		b.writeSecret("cardNumber", c.CardNumber.secret)
		b.keepOut(c.CardNumber.reveal()) // not the code: three or four digits would be found everywhere
		b.write("cardholder", c.Cardholder)
		b.writeSecret("cvv", c.CVV.secret)
	})
}

// writeSecret writes a secret that has been checked to be digits, without a copy that could not be wiped.
func (b *body) writeSecret(member string, s secret) {
	b.name(member)
	b.buf = append(b.buf, '"')
	b.buf = append(b.buf, s.reveal()...)
	b.buf = append(b.buf, '"')
}

// pathToken makes the token one element of the path, in which everything but the unreserved characters is escaped.
func (b *body) pathToken(t Token) {
	token := t.reveal()
	plain := string(token)
	b.token(plain)
	b.keepOut(token)
	if masked := maskDigits(plain); masked != plain { // as texts that are masked before they are searched show it
		b.keepOut([]byte(masked))
	}
	b.element = pathElement{plain, plain}
	if path := escapePath(token); path != nil {
		b.keepOut(path)
		b.element.escaped = string(path)
	}
}

// escapePath escapes what cannot stand in a path element as it is. It returns nil if nothing is to be escaped.
func escapePath(element []byte) (path []byte) {
	const hex = "0123456789ABCDEF"
	for i, c := range element {
		if isUnreserved(c) {
			if path != nil {
				path = append(path, c)
			}
			continue
		}
		if path == nil {
			path = append(make([]byte, 0, 3*len(element)), element[:i]...)
		}
		path = append(path, '%', hex[c>>4], hex[c&15])
	}
	return path
}

// isUnreserved follows RFC 3986, section 2.3.
func isUnreserved(c byte) bool {
	return isAlphanumeric(c) || c == '-' || c == '.' || c == '_' || c == '~'
}

func isAlphanumeric(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || isDigit(c)
}

// keepOut notes a secret that no error and no text of the gateway may show; see scrub.go.
func (b *body) keepOut(s []byte) {
	if len(s) < shortestSecret {
		return
	}
	b.secrets = append(b.secrets, s)
	if !isPrintableASCII(s) || bytes.ContainsAny(s, `"\`) { // as errors that quote would show it
		quoted := strconv.AppendQuote(nil, string(s))
		b.secrets = append(b.secrets, quoted[1:len(quoted)-1])
	}
}

func (b *body) subscription(x *SubscriptionExtension) {
	b.object("extension", func() {
		b.string("subscriptionCycle", string(x.SubscriptionCycle), required, noLimit)
		if b.require("subscriptionPeriod", x.SubscriptionPeriod != 0, required) {
			if x.SubscriptionPeriod < 0 {
				b.add("subscriptionPeriod", RuleRange, "must be at least 1")
			}
			b.number("subscriptionPeriod", x.SubscriptionPeriod)
		}
		b.string("subscriptionDescription", x.SubscriptionDescription, optional, noLimit)
		b.extra(x.Extra, subscriptionMembers)
	})
}

func (b *body) checkout(x *CheckoutExtension) {
	if x == nil {
		return
	}
	b.object("extension", func() {
		b.string("code", x.Code, optional, noLimit)
		b.string("account", x.Account, optional, noLimit)
		b.extra(x.Extra, checkoutMembers)
	})
}

// extra writes the members that the interface does not name, in the order of their names. Those of a card are not to
// be found there either, whatever the object.
func (b *body) extra(extra map[string]any, named []string) {
	if len(extra) == 0 {
		return
	}
	for _, key := range slices.Sorted(maps.Keys(extra)) {
		same := func(name string) bool { return strings.EqualFold(name, key) }
		if slices.ContainsFunc(named, same) {
			b.add(key, RuleReserved, "is a member of the interface and must be set by its field")
			continue
		}
		if slices.ContainsFunc(cardMembers, same) {
			b.add(key, RuleReserved, "is a member of the card, which CreateSubscription alone takes")
			continue
		}
		if key == "" || !isPlainText(key) {
			b.add("extra", RuleFormat, "has a key that is empty or not plain text")
			continue
		}
		value, err := json.Marshal(extra[key])
		if err != nil { // not quoted: it may hold the value
			b.add(key, RuleFormat, "cannot be encoded as JSON")
			continue
		}
		b.separate()
		b.buf = append(appendString(b.buf, key), ':')
		b.buf = append(b.buf, value...)
	}
}

// The members that the interface names, by object; see testdata/interface.json. Those of a request are the union
// over all operations, so that a member of one operation cannot be smuggled into another.
var (
	requestMembers = []string{
		"transactionId", "orderId", "currency", "amount", "transactionIp", "appId", "callbackUrl", "notificationUrl",
		"productInfos", "transactionMethod", "billingAddress", "shippingAddress", "secure", "browser", "card",
		"extension", "transactionType", "productName",
	}
	cardMembers         = []string{"cardNumber", "expiredMonth", "expiredYear", "cvv", "cardholder"}
	productMembers      = []string{"quantity", "price", "productLink", "sku", "productName", "currency"}
	addressMembers      = []string{"firstName", "lastName", "country", "email", "city", "address", "phone", "state", "zipCode"}
	browserMembers      = []string{"userAgent", "referer"}
	subscriptionMembers = []string{"subscriptionCycle", "subscriptionPeriod", "subscriptionDescription"}
	checkoutMembers     = []string{"code", "account"}
)

// appendString appends s as a JSON string. It escapes what JSON requires and nothing else: URLs stay readable.
func appendString(buf []byte, s string) []byte {
	buf = append(buf, '"')
	start := len(buf)
	buf = append(buf, s...) // nearly all of nearly all texts stays as it is
	plain := passPlain(buf, start)
	return append(appendEscaped(buf[:plain], s[plain-start:]), '"')
}

// appendEscaped looks at every byte of s.
func appendEscaped(buf []byte, s string) []byte {
	const hex = "0123456789abcdef"
	clean := 0 // start of what is not copied yet
	for i := range len(s) {
		c := s[i]
		if c >= 0x20 && c != '"' && c != '\\' {
			continue
		}
		buf = append(buf, s[clean:i]...)
		if c < 0x20 {
			buf = append(buf, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		} else {
			buf = append(buf, '\\', c)
		}
		clean = i + 1
	}
	return append(buf, s[clean:]...)
}

// appendDecimal appends the digits of d with exactly as many decimals as it has, never in exponent form. It reads
// the coefficient rather than String, whose form hangs on variables of the decimal package that a host program may
// have changed.
func appendDecimal(buf []byte, d decimal.Decimal) []byte {
	if d.Sign() < 0 {
		buf = append(buf, '-')
	}
	exp := int(d.Exponent())
	var digits []byte
	if n := d.NumDigits(); n < 19 {
		coefficient := d.CoefficientInt64()
		digits = strconv.AppendInt(make([]byte, 0, 24), max(coefficient, -coefficient), 10)
	} else {
		coefficient := d.Coefficient()
		digits = coefficient.Abs(coefficient).Append(nil, 10)
	}
	if exp >= 0 {
		buf = append(buf, digits...)
		if d.Sign() != 0 {
			buf = append(buf, strings.Repeat("0", exp)...)
		}
		return buf
	}
	whole := len(digits) + exp
	if whole <= 0 {
		buf = append(buf, '0', '.')
		buf = append(buf, strings.Repeat("0", -whole)...)
		return append(buf, digits...)
	}
	buf = append(buf, digits[:whole]...)
	buf = append(buf, '.')
	return append(buf, digits[whole:]...)
}
