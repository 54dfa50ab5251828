package cardgateway

import (
	"maps"
	"slices"
	"strconv"

	"github.com/shopspring/decimal"

	"github.com/cardgateway/cardgateway-go/internal/check"
	"github.com/cardgateway/cardgateway-go/internal/redact"
	"github.com/cardgateway/cardgateway-go/internal/secret"
	"github.com/cardgateway/cardgateway-go/internal/transport"
	"github.com/cardgateway/cardgateway-go/internal/wire"
)

// encoder writes the JSON object of a request and validates each member in the same step: an operation's encode method
// lists both what is sent and what is required, in the order of the interface's table. It is the only place where card
// data is revealed.
type encoder struct {
	check   violations
	json    wire.Writer
	open    byte                  // how the request begins
	element transport.PathElement // the variable element of the operation's path template
	secrets redact.Secrets        // what was revealed, to be removed from errors
	cfg     *Config               // of the client
}

// newEncoder starts a request, which is an object ('{') or an array ('[').
func (c *Client) newEncoder(open byte) *encoder {
	e := &encoder{json: wire.NewWriter(), open: open, cfg: &c.cfg}
	e.json.Open(open)
	return e
}

// finish ends the request and returns it, or every violation that was found. Its memory is never reused for another request: a
// hook or a transport that keeps it by mistake finds it wiped, and not another cardholder's data.
func (e *encoder) finish(op string) ([]byte, error) {
	defer e.json.Release()
	if e.open == '[' {
		e.json.Close(']')
	} else {
		e.json.Close('}')
	}
	if err := e.check.err(op); err != nil {
		return nil, err
	}
	return e.json.Copy(), nil
}

// id writes an identifier.
func (e *encoder) id(member, s string) {
	if e.check.Require(member, s != "", required) {
		e.check.NewID(member, s, maxID)
		e.json.String(member, s)
	}
}

// uniqueID writes the gateway's id of a payment.
func (e *encoder) uniqueID(s string) {
	e.check.uniqueID(s)
	e.json.String("uniqueId", s)
}

// ip writes the cardholder's IP address.
func (e *encoder) ip(s string) {
	if e.check.Require("transactionIp", s != "", required) {
		e.check.IP("transactionIp", s)
		e.json.String("transactionIp", s)
	}
}

// text writes a text member, or nothing for the empty text.
func (e *encoder) text(member, s string, p check.Presence, limit int) {
	if e.check.Require(member, s != "", p) {
		e.check.Text(member, s, limit)
		e.json.String(member, s)
	}
}

func (e *encoder) currency(s string, p check.Presence) {
	if e.check.Require("currency", s != "", p) {
		e.check.Currency("currency", s, e.cfg.AnyCurrency)
		e.json.String("currency", s)
	}
}

// amount writes an amount as a string with exactly the decimals of the caller's value, unless they are too many and zeros. With
// Config.AnyDecimals, a currency has three.
func (e *encoder) amount(d decimal.Decimal, currency string) {
	if e.check.Require("amount", d != decimal.Decimal{}, required) {
		if e.cfg.AnyDecimals {
			currency = ""
		}
		d = check.WithoutZeros(d, currency)
		found := e.check.Len()
		e.check.Amount("amount", d)
		if e.check.Len() == found {
			e.check.Decimals("amount", d, currency)
		}
		e.decimalIfValid("amount", d, found)
	}
}

// decimalIfValid writes a decimal unless its validation found a violation, so that there are now more than found before:
// an invalid decimal could be very long.
func (e *encoder) decimalIfValid(member string, d decimal.Decimal, found int) {
	if e.check.Len() == found {
		e.json.Decimal(member, d)
	}
}

// appID writes the client's appId, which New has validated, as a JSON number, as in the interface.
func (e *encoder) appID(id AppID, limit int) {
	e.check.Digits("appId", string(id), 1, limit)
	e.json.Number("appId", string(id))
}

func (e *encoder) webURL(member, s string) {
	if e.check.Require(member, s != "", required) {
		e.check.WebURL(member, s, maxURL)
		e.json.String(member, s)
	}
}

// secure writes the request for a 3D transaction.
func (e *encoder) secure(secure bool) {
	if secure {
		e.json.True("secure")
	}
}

// object writes a nested object; its violations are named with the prefix member.
func (e *encoder) object(member string, encode func()) {
	e.json.Name(member)
	e.check.Prefix(member, e.braces(encode))
}

// item writes an object of a list; its violations are named with the list and the index.
func (e *encoder) item(list string, i int, encode func()) {
	e.json.Separate()
	if found := e.braces(encode); e.check.Len() > found { // avoids building the path if it is not needed
		e.check.Prefix(list+"["+strconv.Itoa(i)+"]", found)
	}
}

// braces writes an object, and returns how many violations were found before it.
func (e *encoder) braces(encode func()) (found int) {
	found = e.check.Len()
	e.json.Open('{')
	encode()
	e.json.Close('}')
	return found
}

func (e *encoder) products(products []ProductInfo) {
	if !e.check.Require("productInfos", len(products) > 0, required) {
		return
	}
	e.json.Name("productInfos")
	e.json.Open('[')
	for i := range products {
		e.item("productInfos", i, func() { e.product(&products[i]) })
	}
	e.json.Close(']')
}

func (e *encoder) product(p *ProductInfo) {
	e.text("productName", p.ProductName, optional, noLimit)
	e.text("sku", p.SKU, optional, noLimit)
	e.text("productLink", p.ProductLink, optional, noLimit)
	e.currency(p.Currency, optional)
	if p.Price != (decimal.Decimal{}) {
		found := e.check.Len()
		e.check.Price("price", p.Price)
		e.decimalIfValid("price", p.Price, found)
	}
	e.check.AddIf(p.Quantity < 0, "quantity", RuleRange, "must not be negative")
	if p.Quantity != 0 {
		e.json.Int("quantity", p.Quantity)
	}
	e.extra(p.Extra, productMembers)
}

func (e *encoder) billing(a *Address) { e.address("billingAddress", a, required) }

func (e *encoder) shipping(a *Address) { e.address("shippingAddress", a, optional) }

// address writes a billing address, in which the country is required, or a shipping address, in which nothing is.
func (e *encoder) address(member string, a *Address, country check.Presence) {
	if a == nil {
		return
	}
	e.object(member, func() {
		e.text("firstName", a.FirstName, optional, noLimit)
		e.text("lastName", a.LastName, optional, noLimit)
		if e.check.Require("country", a.Country != "", country) {
			e.check.Country("country", a.Country, e.cfg.AnyCountry)
			e.json.String("country", a.Country)
		}
		e.text("email", a.Email, optional, noLimit)
		e.text("city", a.City, optional, noLimit)
		e.text("address", a.Address, optional, noLimit)
		e.text("phone", a.Phone, optional, noLimit)
		e.text("state", a.State, optional, noLimit)
		e.text("zipCode", a.ZipCode, optional, noLimit)
		e.extra(a.Extra, addressMembers)
	})
}

// browser writes the cardholder's browser, "required when a 3D transaction is requested".
func (e *encoder) browser(b *Browser, secure bool) {
	empty := b == nil || b.UserAgent == "" && b.Referer == "" && len(b.Extra) == 0
	if e.check.AddIf(secure && empty, "browser", RuleRequired, "is required for a 3D transaction"); b == nil {
		return
	}
	e.object("browser", func() {
		e.text("userAgent", b.UserAgent, optional, noLimit)
		e.text("referer", b.Referer, optional, noLimit)
		e.extra(b.Extra, browserMembers)
	})
}

func (e *encoder) subscription(x *SubscriptionExtension) {
	e.object("extension", func() {
		e.text("subscriptionCycle", string(x.SubscriptionCycle), required, noLimit)
		e.check.AddIf(x.SubscriptionCycle != "" && !x.SubscriptionCycle.isKnown() && !e.cfg.AnyCycle, "subscriptionCycle", RuleFormat, "is not a known cycle, such as MONTH")
		if e.check.Require("subscriptionPeriod", x.SubscriptionPeriod != 0, required) {
			e.check.AddIf(x.SubscriptionPeriod < 0, "subscriptionPeriod", RuleRange, "must be at least 1")
			e.json.Int("subscriptionPeriod", x.SubscriptionPeriod)
		}
		e.text("subscriptionDescription", x.SubscriptionDescription, optional, noLimit)
		e.extra(x.Extra, subscriptionMembers)
	})
}

func (e *encoder) checkout(x *CheckoutExtension) {
	if x == nil {
		return
	}
	e.object("extension", func() {
		e.text("code", x.Code, optional, noLimit)
		e.text("account", x.Account, optional, noLimit)
		e.extra(x.Extra, checkoutMembers)
	})
}

// card writes a card. It makes no copy of the card's secrets that could not be wiped.
func (e *encoder) card(c *Card) {
	e.object("card", func() {
		e.check.card(c)
		e.json.String("expiredYear", c.ExpiredYear)
		e.json.String("expiredMonth", c.ExpiredMonth)
		number := secret.Reveal(c.CardNumber.concealed)
		e.json.Digits("cardNumber", number)
		e.secrets.AddCardNumber(number) // not the CVV: three or four digits would match everywhere
		e.json.String("cardholder", c.Cardholder)
		e.json.Digits("cvv", secret.Reveal(c.CVV.concealed))
	})
}

// tokenPath makes the token one path element, and escapes all but the unreserved characters.
func (e *encoder) tokenPath(t Token) {
	token := secret.Reveal(t.concealed)
	plain := string(token)
	e.check.PathElement("token", plain, maxToken)
	e.secrets.Add(plain, redact.MinText)
	e.element = transport.PathElement{Plain: plain, Escaped: plain}
	if escaped := wire.EscapePathElement(token); escaped != nil {
		e.element.Escaped = string(escaped)
		e.secrets.Add(e.element.Escaped, redact.MinText)
	}
}

// extra writes the members that the interface does not define, sorted by name. Members of a card are rejected there too,
// in every object.
func (e *encoder) extra(extra map[string]any, named []string) {
	if len(extra) == 0 { // avoids an allocation for sorting
		return
	}
	for _, name := range slices.Sorted(maps.Keys(extra)) {
		if !e.check.ExtraName(name, named, cardMembers) {
			continue
		}
		if value, ok := e.check.ExtraValue(name, extra[name]); ok { // no problem quotes it
			e.json.Raw(name, value)
		}
	}
}

// The members that the interface names, by object; see testdata/interface.json. Those of a request are the union
// over all operations, so that a member of one operation cannot be added to another.
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
