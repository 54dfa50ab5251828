package sandbox

import (
	"strconv"
	"time"

	"github.com/cardgateway/cardgateway-go/sandbox/internal/codes"
	"github.com/cardgateway/cardgateway-go/sandbox/internal/jsonobject"
)

// resultFormat is the format of all results and refund records of one response.
type resultFormat struct {
	opts *Options
	base string // scheme and host of redirectUrl
}

const billDescription = "sandbox.example"

// appendResult writes a transaction result. A response has the members that the interface documents for its operation; a
// row of a query has all of them.
func (f resultFormat) appendResult(b jsonobject.Object, o *order, query bool) jsonobject.Object {
	b = appendCode(b, o.code).Bool("isTest", true)
	if o.appID != "" {
		b = b.Raw("appId", o.appID)
	}
	b = b.Text("uniqueId", o.uniqueID).Text("transactionId", o.transactionID)
	b = b.Text("billDescription", billDescription).Number("timestamp", time.Now().UnixMilli())
	b = b.Text("transactionAmount", o.amount).Text("transactionCurrency", o.currency)
	b = b.WallTime("transactionAt", o.created, f.opts.Location)
	if o.card.masked != "" {
		b = b.Text("transactionCardNumber", o.card.masked)
	}
	b = b.Text("transactionMessage", o.text)
	if query || o.op == OpTokenPayment {
		b = b.Text("transactionMethod", o.shownMethod()).Text("transactionType", o.kind())
		is3d := strconv.FormatBool(o.is3d || o.stage == stage3D)
		if f.opts.Responses.Is3DBoolean {
			b = b.Raw("is3d", is3d)
		} else {
			b = b.Text("is3d", is3d)
		}
	}
	if o.code == codes.Redirect && !(query && f.opts.Responses.NoRedirectURLInRows) {
		b = b.Text("redirectUrl", f.base+o.pagePath())
	}
	if query {
		b = o.billing.appendTo(b.Key("billingAddress"))
	}
	return b
}

// appendTo writes an address. The state is left out: the interface says that responses do not repeat it.
func (a *address) appendTo(b jsonobject.Object) jsonobject.Object {
	b = append(b, '{')
	b = b.Text("firstName", a.firstName).Text("lastName", a.lastName).Text("country", a.country)
	b = b.Text("email", a.email).Text("city", a.city).Text("address", a.address)
	return append(b.Text("phone", a.phone).Text("zipCode", a.zipCode), '}')
}

// kind is the transactionType of results and notifications.
func (o *order) kind() string {
	if o.op == OpCreateTokenOrder || o.op == OpTokenPayment {
		return "Tokenization"
	}
	return "Sale"
}

// shownMethod is the payment method of a result: CreditCard once a card is known, otherwise the requested one.
func (o *order) shownMethod() string {
	switch {
	case o.card.masked != "":
		return "CreditCard"
	case o.method != "":
		return o.method
	}
	return "Default"
}

// appendCode writes the members with which responses and rows begin.
func appendCode(o jsonobject.Object, code int) jsonobject.Object {
	return o.Number("code", int64(code)).Text("message", codes.Message(code))
}
