package sandbox

import (
	"encoding/json"
	"net/http"
	"net/url"
)

// call is one request to an operation, read and checked but not carried out.
type call struct {
	op            Operation
	arg           string     // last path element: the token or the uniqueId
	query         url.Values // of the GET operations
	base          string     // scheme and host that the caller used
	url           string
	transactionID string   // as far as it can be read
	pay           payment  // of the POST operations
	problems      []string // why the request is refused
	orderPaid     bool     // the order had a success when the request arrived
}

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

func (g *Gateway) newCall(r *http.Request, op Operation, arg string, body []byte) *call {
	c := &call{op: op, arg: arg, query: r.URL.Query(), base: g.baseURL(r), url: r.URL.String()}
	switch {
	case op.column() >= 0:
		c.pay, c.problems = decodePayment(op, body)
		c.transactionID = c.pay.transactionID
		if want := g.opts.AppID; want != "" && c.pay.appID != "" && c.pay.appID != want {
			c.problems = append(c.problems, "appId: not one of this merchant's apps")
		}
	case op == OpRefund:
		c.pay, c.problems = decodeRefund(body)
	default:
		c.transactionID = c.query.Get("transactionId")
	}
	return c
}

func (g *Gateway) baseURL(r *http.Request) string {
	if g.opts.BaseURL != "" {
		return g.opts.BaseURL
	}
	host, scheme := r.Host, "http"
	if host == "" {
		host = r.URL.Host
	}
	if r.TLS != nil || r.URL.Scheme == "https" {
		scheme = "https"
	}
	return scheme + "://" + host
}

// rule is one row of the interface's table "Transaction request (common fields)".
type rule struct {
	name  string
	check func(d *decoder, path string, value json.RawMessage)
	need  string // R, O, C or - for each column, see Operation.column
}

// column is the operation's place in the need texts, or -1 for an operation that takes no payment.
func (o Operation) column() int {
	switch o {
	case OpTokenCreate:
		return 0
	case OpTokenPayment:
		return 1
	case OpCheckout:
		return 2
	case OpSubscription:
		return 3
	case OpCheckoutSubscription:
		return 4
	}
	return -1
}

// paymentRules returns that table. A member that is not in an operation's column is ignored, as are members
// that are not in the table at all.
func paymentRules() []rule {
	return []rule{
		{"transactionId", (*decoder).transactionID, "RRRRR"},
		{"orderId", (*decoder).orderID, "R-RRR"},
		{"currency", (*decoder).currency, "RRRRR"},
		{"amount", (*decoder).amount, "RRRRR"},
		{"transactionIp", (*decoder).transactionIP, "RRRRR"},
		{"appId", (*decoder).appID, "RORRR"},
		{"callbackUrl", (*decoder).callbackURL, "RRRRR"},
		{"notificationUrl", (*decoder).notificationURL, "RRRRR"},
		{"productInfos", (*decoder).productInfos, "RRRRR"},
		{"transactionMethod", (*decoder).transactionMethod, "O-O-O"},
		{"billingAddress", (*decoder).billingAddress, "R-RRR"},
		{"shippingAddress", (*decoder).shippingAddress, "O-OOO"},
		{"secure", (*decoder).secure, "OOOOO"},
		{"browser", (*decoder).browser, "C-CCC"}, // the direct subscription's column says O, the text below it C
		{"card", (*decoder).card, "---R-"},
		{"extension", (*decoder).extension, "--CRR"},
		{"transactionType", (*decoder).transactionType, "OOO--"}, // only in the examples
		{"productName", (*decoder).productName, "-O---"},         // only in the example
	}
}

// decodePayment reads a payment request. The problems are all that is wrong with it, each with the member's path.
func decodePayment(op Operation, body []byte) (payment, []string) {
	d := &decoder{op: op}
	m, err := members(body)
	if err != nil {
		d.problem("body", err.Error())
		return d.pay, d.problems
	}
	for _, r := range paymentRules() {
		need, value := r.need[op.column()], m[r.name]
		switch {
		case need == '-':
		case absent(value):
			if need == 'R' {
				d.problem(r.name, "missing")
			}
		default:
			r.check(d, r.name, value)
		}
	}
	if d.pay.secure && op != OpTokenPayment && absent(m["browser"]) {
		d.problem("browser", "missing, and required when secure is true")
	}
	return d.pay, d.problems
}

// decodeRefund reads the published refund request.
func decodeRefund(body []byte) (payment, []string) {
	d := &decoder{op: OpRefund}
	m, err := members(body)
	if err != nil {
		d.problem("body", err.Error())
		return d.pay, d.problems
	}
	for _, r := range []rule{
		{"uniqueId", (*decoder).refundUniqueID, "R"},
		{"amount", (*decoder).amount, "R"},
		{"refundTransactionId", (*decoder).refundRequest, "R"},
	} {
		if absent(m[r.name]) {
			d.problem(r.name, "missing")
			continue
		}
		r.check(d, r.name, m[r.name])
	}
	return d.pay, d.problems
}

func absent(value json.RawMessage) bool { return len(value) == 0 || string(value) == "null" }
