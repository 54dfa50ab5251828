package sandbox

import (
	"net/http"
	"net/url"
	"slices"
)

// call is one request to an operation, read and checked but not carried out.
type call struct {
	op            Operation
	pathParam     string     // last path element: the token or the uniqueId
	query         url.Values // of the GET operations
	url           string
	format        resultFormat     // of its response
	transactionID string           // if it can be read; for a refund its refundTransactionId
	pay           payment          // of the five payment operations
	refund        refundRequest    // of CreateRefund
	tracking      []TrackingNumber // of UploadTrackingNumbers
	problems      []string         // why the request is refused
	orderPaid     bool             // the order already had a success when the request arrived
}

// newCall reads and checks a request.
func (o *Options) newCall(r *http.Request, op Operation, pathParam string, body []byte) *call {
	query, malformed := url.ParseQuery(r.URL.RawQuery)
	c := &call{op: op, pathParam: pathParam, query: query, url: r.URL.String(), format: resultFormat{o, o.baseURL(r)}}
	switch op {
	case OpSearchOrders, OpSearchRefunds, OpGetTransaction:
		c.transactionID = c.query.Get("transactionId")
		if malformed != nil { // ParseQuery may have left out the filter
			c.problems = append(c.problems, "query: malformed")
		}
	case OpCreateRefund:
		c.refund, c.problems = decodeRefund(body)
		c.transactionID = c.refund.merchantRefundID
	case OpUploadTrackingNumbers:
		c.tracking, c.problems = decodeTracking(body)
	default: // a payment
		c.pay, c.problems = decodePayment(op, body, o.PublishedLimits)
		c.transactionID = c.pay.transactionID
		if want := o.AppID; want != "" && c.pay.appID != "" && c.pay.appID != want {
			c.problems = append(c.problems, "appId: not one of this merchant's apps")
		}
	}
	return c
}

// baseURL returns what redirectUrl begins with: BaseURL, or the scheme and host that the caller used.
func (o *Options) baseURL(r *http.Request) string {
	if o.BaseURL != "" {
		return o.BaseURL
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

// paymentColumns returns the operations in the order of that table's columns, which is not that of their constants.
func paymentColumns() []Operation {
	return []Operation{OpCreateTokenOrder, OpTokenPayment, OpCreateCheckout, OpCreateSubscription, OpCreateCheckoutSubscription}
}

// paymentRules returns that table, with the columns of paymentColumns. A member that is not in an operation's column is
// ignored, like members that are not in the table at all.
func (d *decoder) paymentRules() []rule {
	p := &d.pay
	return []rule{
		{"transactionId", d.text(&p.transactionID, 128), "RRRRR"},
		{"orderId", d.text(&p.orderID, 128), "R-RRR"},
		{"currency", d.currency, "RRRRR"},
		{"amount", d.amount(&p.amount), "RRRRR"},
		{"transactionIp", d.text(&d.ignored, 128), "RRRRR"},
		{"appId", d.appID, "RORRR"},
		{"callbackUrl", d.url(&p.callbackURL), "RRRRR"},
		{"notificationUrl", d.url(&p.notificationURL), "RRRRR"},
		{"productInfos", d.productInfos, "RRRRR"},
		{"transactionMethod", d.optional(&p.method, 32), "O-O-O"},
		{"billingAddress", d.billingAddress, "R-RRR"},
		{"shippingAddress", d.shippingAddress, "O-OOO"},
		{"secure", d.bool(&p.secure), "OOOOO"},
		{"browser", d.browser, "C-CCC"}, // the direct subscription's column says O, the text below it C
		{"card", d.card, "---R-"},
		{"extension", d.extension, "--CRR"},
		{"transactionType", d.optional(&d.ignored, 0), "OO---"}, // only in the examples, and with a limit that is published for checkouts
		{"transactionType", d.optional(&d.ignored, d.limit(32)), "--O--"},
		{"productName", d.optional(&d.ignored, 0), "-O---"}, // only in an example, and published for checkouts
		{"productName", d.optional(&d.ignored, 255), "--P--"},
		{"domain", d.optional(&d.ignored, 128), "--PP-"},
	}
}

// decodePayment reads a payment request, and returns all problems, each with the path of the member.
func decodePayment(op Operation, body []byte, published bool) (payment, []string) {
	d := &decoder{op: op, published: published}
	if m := d.object("body", body); m != nil {
		d.check(m, "", d.paymentRules(), slices.Index(paymentColumns(), op))
		if d.pay.secure && op != OpTokenPayment && absent(m["browser"]) {
			d.problem("browser", "missing, and required when secure is true")
		}
	}
	return d.pay, d.problems
}
