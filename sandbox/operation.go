package sandbox

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/cardgateway/cardgateway-go/sandbox/internal/console"
)

// Operation is the name of an operation, the same as the client's method. It is used in Fault.Operation.
type Operation string

const (
	OpCreateTokenOrder           Operation = "CreateTokenOrder"           // POST /checkout/tokenization/create
	OpTokenPayment               Operation = "TokenPayment"               // POST /checkout/tokenization/payment/{tokenization}
	OpCreateSubscription         Operation = "CreateSubscription"         // POST /api/subscription
	OpCreateCheckout             Operation = "CreateCheckout"             // POST /checkout/payment
	OpCreateCheckoutSubscription Operation = "CreateCheckoutSubscription" // POST /checkout/subscription
	OpSearchOrders               Operation = "SearchOrders"               // GET /search/list/order
	OpGetTransaction             Operation = "GetTransaction"             // GET /search/order/{uniqueId}
	OpSearchRefunds              Operation = "SearchRefunds"              // GET /search/list/refund
	OpCreateRefund               Operation = "CreateRefund"               // POST /api/refund, published but not in the interface

	OpUploadTrackingNumbers Operation = "UploadTrackingNumbers" // POST /upload/trackingNumber, published as well

	OpPayments Operation = "payments" // the five POST operations of the interface
	OpSearches Operation = "searches" // the three GET operations

	opPage Operation = console.PageOperation // a hosted page; not an operation of the interface
)

// covers reports whether o, which may be a group or empty, includes op.
func (o Operation) covers(op Operation) bool {
	switch o {
	case "":
		return true
	case OpPayments:
		return slices.Contains(paymentColumns(), op)
	case OpSearches:
		return op == OpSearchOrders || op == OpGetTransaction || op == OpSearchRefunds
	}
	return o == op
}

// known reports whether o is empty, a group, or an operation.
func (o Operation) known() bool {
	return o == "" || slices.Contains(operationNames(), string(o))
}

// route is one row of the table of operations. A path that ends in a slash is followed by one more path element.
type route struct {
	op           Operation
	method, path string
}

func routes() []route {
	return []route{
		{OpCreateTokenOrder, http.MethodPost, "/checkout/tokenization/create"},
		{OpTokenPayment, http.MethodPost, "/checkout/tokenization/payment/"},
		{OpCreateSubscription, http.MethodPost, "/api/subscription"},
		{OpCreateCheckout, http.MethodPost, "/checkout/payment"},
		{OpCreateCheckoutSubscription, http.MethodPost, "/checkout/subscription"},
		{OpSearchOrders, http.MethodGet, "/search/list/order"},
		{OpGetTransaction, http.MethodGet, "/search/order/"},
		{OpSearchRefunds, http.MethodGet, "/search/list/refund"},
		{OpCreateRefund, http.MethodPost, "/api/refund"},
		{OpUploadTrackingNumbers, http.MethodPost, "/upload/trackingNumber"},
		{opPage, "", cardPagePath},
		{opPage, "", threeDPagePath},
	}
}

// operationNames are the values of Fault.Operation.
func operationNames() []string {
	names := []string{string(OpPayments), string(OpSearches)}
	for _, r := range routes() {
		if r.op != opPage {
			names = append(names, string(r.op))
		}
	}
	return names
}

// findRoute returns the route of an escaped path, and the unescaped last element if the route has one.
func findRoute(path string) (_ route, pathParam string, ok bool) {
	for _, r := range routes() {
		rest, found := strings.CutPrefix(path, r.path)
		if !found {
			continue
		}
		if !strings.HasSuffix(r.path, "/") {
			if rest == "" {
				return r, "", true
			}
			continue
		}
		if pathParam, err := url.PathUnescape(rest); err == nil && pathParam != "" && !strings.Contains(rest, "/") {
			return r, pathParam, true
		}
	}
	return route{}, "", false
}
