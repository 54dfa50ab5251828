package cardgateway

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/cardgateway/cardgateway-go/internal/civil"
	"github.com/cardgateway/cardgateway-go/internal/redact"
	"github.com/cardgateway/cardgateway-go/internal/verdict"
	"github.com/cardgateway/cardgateway-go/internal/walk"
	"github.com/cardgateway/cardgateway-go/internal/zone"
)

var opSearchOrders = Operation{Name: "SearchOrders", Method: "GET", PathTemplate: "/search/list/order"}

// OrderQuery selects orders ("Batch order query"). Start and End are required, also with an id, and at most one
// month apart for SearchOrders; Client.Orders takes any range. Ids have at most 128 characters.
type OrderQuery struct {
	UniqueID      string    // optional: the gateway's transaction id
	OrderID       string    // optional: the merchant's order id
	TransactionID string    // optional: the merchant's transaction id
	Start, End    time.Time // sent as wall-clock times in Config.Location, in whole seconds; the interface does not say whether the bounds are inclusive
}

// PageRequest selects one page of what a query finds. The zero value leaves both to the gateway.
type PageRequest struct {
	CurrPage int // optional: counted from 1; the interface gives no default, published is 1
	PageSize int // optional: at most 999; the interface gives no default
}

// SearchOrders returns one page of orders as the gateway sends it. Pages shift while orders arrive: to get every
// order once, use Orders.
//
// A row that cannot be read is left out; the page is then returned together with an error that wraps one
// *RowError for each such row. Any other error is a *ValidationError or a *QueryError, without a page.
func (c *Client) SearchOrders(ctx context.Context, q OrderQuery, page PageRequest) (*Page[Transaction], error) {
	p, err := runSearch(ctx, c, opSearchOrders, q.search(c.cfg.Location, page), timedTransactionRow)
	return p.Page, err
}

func (q *OrderQuery) search(loc *time.Location, page PageRequest) *search {
	return newSearch(q.ids(), q.Start, q.End, loc, page)
}

func (q *OrderQuery) ids() []idFilter {
	return []idFilter{{"uniqueId", q.UniqueID}, {"orderId", q.OrderID}, {"transactionId", q.TransactionID}}
}

var opGetTransaction = Operation{Name: "GetTransaction", Method: "GET", PathTemplate: "/search/order/{uniqueId}"}

// GetTransaction returns the transaction with the gateway's id ("Single transaction query"): digits only, at most
// 128. The transaction's code is data here: a declined transaction is returned without an error; see Transaction.Err.
//
// Errors: *ValidationError or *QueryError. The *QueryError matches ErrNotFound if the gateway says that it does not know
// the id. A response about another transaction, or one that states another app (see Config.AnyAppID), is a *QueryError.
func (c *Client) GetTransaction(ctx context.Context, uniqueID string) (*Transaction, error) {
	var v violations
	v.uniqueID(uniqueID)
	v.Context(ctx)
	if err := v.err(opGetTransaction.Name); err != nil {
		return nil, err
	}
	op := opGetTransaction
	op.UniqueID = uniqueID
	call := c.newQuery(op, uniqueID, nil)
	decoded, err := ask(ctx, call, call.decodeSingle)
	if err == nil {
		err = call.checkSingle(uniqueID, &decoded)
	}
	if err == nil {
		ahead := call.last.clock(decoded.Timestamp).ahead
		defer c.learnZone(ctx, decoded.TransactionAt.civil(), time.Time{}, call.last.at, call.last.at.Add(-ahead), false)
		decoded.mask(call.secrets.masker(false))
		decoded.Raw = call.raw()
	}
	if err = notFound(err, &call.last); errors.Is(err, ErrNotFound) && call.last.Status == http.StatusNotFound {
		err = c.notFoundHere(ctx, err)
	}
	if err = call.endQuery(err); err != nil {
		return nil, err
	}
	return decoded.Transaction, nil
}

// decodeSingle reads a response that is one transaction result.
func (c *call) decodeSingle(body []byte) (decoded response, err error) {
	if decoded, err = decodeTransaction(body); err == nil {
		c.last.code = decoded.Code
	}
	return decoded, err
}

// checkSingle returns why a decoded response is not the requested transaction, or nil.
func (c *call) checkSingle(uniqueID string, decoded *response) error {
	refuses := isRefusalCode(decoded.Code) || decoded.Code == CodeSystemError
	switch {
	case decoded.bad != nil:
		return c.failed("", decoded.bad.err())
	case decoded.UniqueID == "" && !decoded.isFailure():
		return c.failed("", verdict.ErrNobodys)
	case decoded.UniqueID == "", decoded.UniqueID == uniqueID && decoded.namesNothingButUniqueID() && refuses:
		return c.failed(joinMessages(decoded.Message, decoded.TransactionMessage), nil)
	case decoded.UniqueID != uniqueID:
		return c.failed("", verdict.ErrNotOurs)
	case c.client.IsOtherApp(decoded.Transaction):
		return c.failed("", verdict.ErrOtherApp)
	}
	return nil
}

// isFailure reports whether the code says that the query failed, or that there is no outcome.
func (t *Transaction) isFailure() bool {
	return t.Code != 0 && (t.State() == StateUnknown || t.State() == StateDeclined)
}

// notFound marks the error of a query whose response means "no such transaction": the published code 404 with HTTP
// 200 or 404, or HTTP 404 without a body. Any other body of a 404 more likely means a wrong BaseURL.
func notFound(err error, r *attemptResult) error {
	failed, ok := errors.AsType[*QueryError](err)
	if !ok || failed.Cause != nil {
		return err
	}
	is404 := r.Status == http.StatusNotFound
	if failed.Code == CodeNotFound && (is404 || r.Status == http.StatusOK) || is404 && len(r.Body) == 0 && !r.MayBeCut {
		failed.Cause, failed.hint = ErrNotFound, "" // reported by the gateway itself
	}
	return err
}

// notFoundHere returns err, which matches ErrNotFound because of HTTP 404, unless a search has the same status: then the path of the
// base URL may be wrong, which says nothing about the transaction.
func (c *Client) notFoundHere(ctx context.Context, err error) error {
	recent := OrderQuery{Start: time.Now().Add(-time.Minute), End: time.Now()}
	_, searchErr := runSearch(within(ctx), c, opSearchOrders, recent.search(c.cfg.Location, PageRequest{}), transactionRow)
	search, _ := errors.AsType[*QueryError](searchErr)
	if failed, ok := errors.AsType[*QueryError](err); ok && search != nil && search.HTTPStatus == http.StatusNotFound {
		failed.Cause, failed.hint = nil, "; a search is not found either: is the path of Config.BaseURL right?"
	}
	return err
}

var opSearchRefunds = Operation{Name: "SearchRefunds", Method: "GET", PathTemplate: "/search/list/refund"}

// RefundQuery selects refunds ("Batch refund query"). Start and End are required, also with an id, and at most one
// month apart for SearchRefunds; Client.Refunds takes any range. Ids have at most 128 characters.
type RefundQuery struct {
	UniqueID            string    // optional: the gateway's id of the refunded transaction
	TransactionID       string    // optional: the merchant's id of the refunded transaction
	RefundTransactionID string    // optional: the merchant's refund id
	RefundUniqueID      string    // optional: the gateway's refund id
	Start, End          time.Time // as in OrderQuery
}

// SearchRefunds returns one page of refunds as the gateway sends it. Pages shift while refunds arrive: to get every
// refund once, use Refunds. Errors are those of SearchOrders.
func (c *Client) SearchRefunds(ctx context.Context, q RefundQuery, page PageRequest) (*Page[Refund], error) {
	p, err := runSearch(ctx, c, opSearchRefunds, q.search(c.cfg.Location, page), timedRefundRow)
	return p.Page, err
}

func (q *RefundQuery) search(loc *time.Location, page PageRequest) *search {
	return newSearch(q.ids(), q.Start, q.End, loc, page)
}

func (q *RefundQuery) ids() []idFilter {
	return []idFilter{
		{"uniqueId", q.UniqueID}, {"transactionId", q.TransactionID},
		{"refundTransactionId", q.RefundTransactionID}, {"refundUniqueId", q.RefundUniqueID},
	}
}

// listRow is a row of a batch query: a *Transaction or a *Refund.
type listRow[T any] interface {
	*T
	mask(redact.Masker)
	rowID() string            // identifies the row
	times() [2]civil.Time     // when it was made, and the other time by which the gateway may find it; see walk.Source
	nameRow(e *walk.RowError) // sets the ids of the row, which is unreadable
}

func (t *Transaction) rowID() string {
	if t.UniqueID == "" { // the interface does not promise it
		return "transactionId " + t.TransactionID + " " + t.TransactionAt.String()
	}
	return t.UniqueID
}

func (r *Refund) rowID() string {
	if r.RefundUniqueID == "" {
		return "merchantRefundId " + r.MerchantRefundID + " " + r.UniqueID + " " + r.RefundRequestAt.String()
	}
	return r.RefundUniqueID
}

func (t *Transaction) times() [2]civil.Time {
	return [2]civil.Time{t.TransactionAt.civil(), civil.None}
}

func (r *Refund) times() [2]civil.Time {
	return [2]civil.Time{r.RefundRequestAt.civil(), r.RefundAt.civil()}
}

func (t *Transaction) nameRow(e *walk.RowError) {
	e.UniqueID, e.TransactionID = t.UniqueID, t.TransactionID
}

func (r *Refund) nameRow(e *walk.RowError) {
	e.UniqueID, e.RefundUniqueID, e.RefundTransactionID = r.UniqueID, r.RefundUniqueID, r.MerchantRefundID
}

// latest returns the latest time of rows that a clock anywhere has shown at now.
func latest[T any, P listRow[T]](rows []T, now time.Time) civil.Time {
	last, farthest := civil.None, zone.Latest(now)
	for i := range rows {
		if made := P(&rows[i]).times()[0]; made <= farthest {
			last = max(last, made)
		}
	}
	return last
}

// idFilter is an optional id of a batch query, with its name.
type idFilter struct{ member, id string }

// search holds the parameters of a batch query, and their violations.
type search struct {
	violations
	params url.Values
	page   int
}

// newSearch validates and writes a caller's query.
func newSearch(ids []idFilter, start, end time.Time, loc *time.Location, page PageRequest) *search {
	if end.Nanosecond() <= start.Nanosecond() && civil.Of(end, loc) == civil.Of(start, loc).NextMonth() {
		end = end.Add(-time.Duration(end.Nanosecond())) // a month apart; rounded up it would be a second more
	}
	from, to := walk.Cover(start, end, loc)
	s := writeSearch(ids, from, to, page)
	s.span(start, end, from, to)
	s.violations.page(page)
	s.ids(ids)
	return s
}

// writeSearch writes a query that needs no validation.
func writeSearch(ids []idFilter, from, to civil.Time, page PageRequest) *search {
	s := &search{params: url.Values{}, page: page.CurrPage}
	s.params.Set("startDate", from.String())
	s.params.Set("endingDate", to.String())
	if page.CurrPage > 0 {
		s.params.Set("currPage", strconv.Itoa(page.CurrPage))
	}
	if page.PageSize > 0 {
		s.params.Set("pageSize", strconv.Itoa(page.PageSize))
	}
	for _, f := range ids {
		if f.id != "" {
			s.params.Set(f.member, f.id)
		}
	}
	return s
}

// ids checks the ids that are given.
func (v *violations) ids(ids []idFilter) {
	for _, f := range ids {
		if f.id != "" {
			v.ID(f.member, f.id, maxID)
		}
	}
}

// runSearch sends a batch query and reads its page.
func runSearch[T any, P listRow[T]](
	ctx context.Context, c *Client, op Operation, s *search, row func(decoder, *T) *badMember,
) (decodedPage[T], error) {
	s.Context(ctx)
	if err := s.err(op.Name); err != nil {
		return decodedPage[T]{}, err
	}
	op.TransactionID, op.RefundTransactionID = s.params.Get("transactionId"), s.params.Get("refundTransactionId")
	op.UniqueID = s.params.Get("uniqueId")
	call := c.newQuery(op, "", s.params)
	page, err := ask(ctx, call, func(body []byte) (page decodedPage[T], err error) {
		if page, err = decodePage(body, max(s.page, 1), row); err == nil {
			call.last.code = page.Code
		}
		return page, err
	})
	switch {
	case err != nil:
		return decodedPage[T]{secrets: &call.secrets}, call.endQuery(err)
	case page.Code != CodeSearchSuccess:
		return decodedPage[T]{secrets: &call.secrets}, call.endQuery(call.failed(page.Message, nil))
	case len(page.odd) > 0:
		for i := range page.odd {
			bad := &page.odd[i]
			P(&bad.row).mask(call.secrets.masker(true))
			P(&bad.row).nameRow(&bad.name)
			for _, id := range []*string{&bad.name.UniqueID, &bad.name.TransactionID, &bad.name.RefundUniqueID, &bad.name.RefundTransactionID} {
				call.secrets.all().Redact(id, redact.MinID)
			}
		}
		err = call.failed("", page.rowErrors())
	}
	page.clock, page.secrets = call.last.clock(page.Timestamp), &call.secrets
	defer c.learnZone(ctx, latest[T, P](page.Data, call.last.at), time.Time{}, call.last.at, call.last.at.Add(-page.clock.ahead), false)
	page.Raw = call.raw()
	call.secrets.credentials.Redact(&page.Message, redact.MinID)
	for i := range page.Data {
		P(&page.Data[i]).mask(call.secrets.masker(false))
	}
	return page, call.endQuery(err)
}
