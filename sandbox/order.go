package sandbox

import (
	"strconv"
	"time"

	"github.com/cardgateway/cardgateway-go/sandbox/internal/codes"
	"github.com/cardgateway/cardgateway-go/sandbox/internal/console"
	"github.com/cardgateway/cardgateway-go/sandbox/internal/generated"
	"github.com/cardgateway/cardgateway-go/sandbox/internal/jsonobject"
)

// order is one transaction.
type order struct {
	payment
	op       Operation
	uniqueID string
	created  time.Time
	code     int
	text     string // transactionMessage
	is3d     bool
	stage    stage
	page     string          // id of its hosted page, if it has one
	canRetry bool            // declined on a hosted page, and the cardholder may try another card
	token    string          // created by a completed token order
	events   []console.Event // for the dashboard
	seeded   bool            // computed, and not stored: it never changes
	renewal  bool            // a later charge of a subscription
}

// payment is what the gateway stores of the body of a payment request.
type payment struct {
	transactionID, orderID       string
	appID                        string // digits
	amount, currency             string // amount exactly as received
	method                       string
	callbackURL, notificationURL string
	secure                       bool
	billing                      address
	card                         card
	products                     []console.Product // for the hosted page
}

// address has the members that a result repeats.
type address struct {
	firstName, lastName, country, email, city, address, phone, zipCode string
}

// seededOrder returns a generated order as one of the gateway.
func seededOrder(g generated.Order) order {
	return order{
		seeded: true, op: OpCreateCheckout, uniqueID: g.UniqueID, created: g.At, code: g.Code, text: g.Text,
		payment: payment{
			transactionID: g.TransactionID, orderID: g.OrderID, appID: g.AppID, amount: g.Amount, currency: g.Currency,
			card: card{masked: "430000******0000"},
			billing: address{
				firstName: "Ada", lastName: "Example", country: "US", email: "ada@shop.example",
				city: "Springfield", address: "1 Sample Street", phone: "15550100", zipCode: "01101",
			},
		},
	}
}

func (o *order) record(text string) {
	o.events = append(o.events, console.Event{At: time.Now(), Text: text})
}

// stage is what a transaction is waiting for.
type stage int

const (
	stageFinal      stage = iota
	stageCard             // the cardholder has to enter a card
	stage3D               // the cardholder has to authenticate
	stageProcessing       // at 102
)

// awaits reports whether the cardholder is awaited on the page of that stage.
func (o *order) awaits(s stage) bool { return o.stage == s || s == stageCard && o.canRetry }

// movedMoney reports whether the order has charged its card. Creating a token moves no money.
func (o *order) movedMoney() bool { return o.code == codes.Success && o.op != OpCreateTokenOrder }

// isRenewable reports whether the order is an approved charge of a subscription.
func (o *order) isRenewable() bool {
	return o.movedMoney() && (o.op == OpCreateSubscription || o.op == OpCreateCheckoutSubscription)
}

// Paths of the hosted pages. The element after them is the unguessable id of the page.
const (
	cardPagePath   = "/hosted/card/"
	threeDPagePath = "/hosted/3d/"
)

// pagePath returns the path of the page on which the cardholder is awaited, or "".
func (o *order) pagePath() string {
	switch {
	case o.awaits(stage3D):
		return threeDPagePath + o.page
	case o.awaits(stageCard):
		return cardPagePath + o.page
	}
	return ""
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

// resultFormat is the format of all results and refund records of one response.
type resultFormat struct {
	opts *Options
	base string // scheme and host of redirectUrl
}

// appendResult writes a transaction result. A response has the members that the interface documents for its operation; a
// row of a query has all of them.
func (f resultFormat) appendResult(b jsonobject.Object, o *order, query bool) jsonobject.Object {
	b = appendCode(b, o.code).Bool("isTest", true)
	b = b.OptionalRaw("appId", o.appID).Text("uniqueId", o.uniqueID).Text("transactionId", o.transactionID)
	b = b.Text("billDescription", f.opts.Responses.BillDescription).Number("timestamp", time.Now().UnixMilli())
	b = b.Text("transactionAmount", o.amount).Text("transactionCurrency", o.currency)
	b = b.WallTime("transactionAt", o.created, f.opts.Location)
	b = b.Optional("transactionCardNumber", o.card.masked).Text("transactionMessage", o.text)
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
