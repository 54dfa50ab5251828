package cardgateway

import (
	"time"

	"github.com/cardgateway/cardgateway-go/internal/transport"
	"github.com/cardgateway/cardgateway-go/internal/walk"
)

// What the tests of package cardgateway_test use of the unexported code: the functions that read responses and decide
// about an outcome, both pure, and an unexported error.

var ErrNotObject = errNotObject

// Fault tells whether a walk repeats a query, or splits its window.
func (c *Client) Fault(err error) walk.Fault { return c.fault(err) }

// Facts are what one attempt observed.
type Facts struct {
	Status     int
	Body       []byte
	Unsent     bool
	Local, Err error
	RetryAfter time.Duration
}

// Classify decides about a token payment that asked for what q searches by.
func Classify(q ResolveQuery, seen Facts) (*Transaction, error) {
	op := opTokenPayment
	p := sentPayment{transactionID: q.TransactionID, orderID: q.OrderID, amount: q.Amount, currency: q.Currency, at: q.SentAt}
	decoded := decodePayment(seen.Body)
	return classify(&op, &p, &attemptResult{
		Response: transport.Response{Status: seen.Status, Body: seen.Body, Unsent: seen.Unsent, Err: seen.Err},
		localErr: seen.Local, retryAfter: seen.RetryAfter,
	}, &decoded)
}

// DecodeTransaction reads the response to a payment or to a single query.
func DecodeTransaction(data []byte) (*Transaction, error) {
	decoded, err := decodeTransaction(data)
	return decoded.Transaction, err
}

// DecodeOrders and DecodeRefunds read the first page of a search.
func DecodeOrders(data []byte) (*Page[Transaction], []error, error) {
	return pageOf(decodePage(data, 1, transactionRow))
}

func DecodeRefunds(data []byte) (*Page[Refund], []error, error) {
	return pageOf(decodePage(data, 1, refundRow))
}

func pageOf[T any](p decodedPage[T], err error) (*Page[T], []error, error) {
	var rows []error
	for _, bad := range p.odd {
		rows = append(rows, rowError(&bad.name))
	}
	return p.Page, rows, err
}
