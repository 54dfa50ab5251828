package notify

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/internal/civil"
	"github.com/cardgateway/cardgateway-go/internal/redact"
	"github.com/cardgateway/cardgateway-go/internal/resolve"
	"github.com/cardgateway/cardgateway-go/internal/verdict"
)

// confirmer queries the gateway for what notifications claim. It makes a single attempt: the gateway sends a notification
// that could not be confirmed again.
type confirmer struct{ client *cardgateway.Client }

const (
	confirmTimeout = 20 * time.Second // for all queries about one notification
	maxQueries     = 3                // for one notification: the payment, and the refund in two ranges

	// The range of a search, as wall-clock times in UTC. It contains the gateway's current time in any zone from UTC-12 to
	// UTC+14, with an hour to spare, and is no longer than the shortest month.
	searchBefore = 27 * 24 * time.Hour
	searchAfter  = resolve.After
)

func newConfirmer(client *cardgateway.Client) confirmer {
	return confirmer{client.WithRetry(cardgateway.RetryPolicy{MaxAttempts: 1})}
}

// Why a notification was not confirmed.
var (
	errNothingToAsk = errors.New("notify: the notification names no transaction")
	errContradicted = errors.New("notify: the notification names another transactionId than the gateway")
	errNotShown     = errors.New("notify: the gateway does not confirm yet what the notification claims")
	errNotOneOrder  = errors.New("notify: the gateway did not return exactly one transaction with the notification's transactionId")
	errNotOneRefund = errors.New("notify: the gateway did not return exactly one refund with the notification's ids")
	errNoRefund     = fmt.Errorf("%w: it returned none", errNotOneRefund)
)

// Confirm sets n.Transaction and, for a refund, n.Refund to what the gateway returns for a notification that Parse has read,
// as NewHandler does for those that it receives. It makes at most three queries, of one attempt each and 20 s together. A
// nil error means that the gateway confirms what the notification claims; for a kind that no query confirms, such as a
// chargeback, that it knows the transaction.
//
// The error is a *cardgateway.QueryError, or says what differs; the gateway may know more when it repeats the notification.
// Confirm checks no signature, no token and no repetition: see SignatureSHA256, TokenURLs.Check and Deduper. It panics if
// client or n is nil.
func Confirm(ctx context.Context, client *cardgateway.Client, n *Notification) error {
	if client == nil || n == nil {
		panic("notify: Confirm: client and notification must not be nil")
	}
	if n.Claimed.subject() == "" {
		return errNothingToAsk
	}
	if err := newConfirmer(client).confirm(ctx, n); err != nil {
		return err
	}
	return n.shown()
}

// subject identifies the transaction to query: by the gateway's id if there is one, otherwise by the merchant's.
func (c *Claims) subject() string {
	switch {
	case c.UniqueID != "":
		return "uniqueId " + c.UniqueID
	case c.TransactionID != "":
		return "transactionId " + c.TransactionID
	}
	return ""
}

// queries returns the number of queries that confirm makes at most.
func (c *Claims) queries() int {
	if c.Kind == KindRefund {
		return maxQueries
	}
	return 1
}

// confirm sets n.Transaction and n.Refund to what the gateway returns, without the token.
func (f confirmer) confirm(ctx context.Context, n *Notification) (err error) {
	ctx, cancel := context.WithTimeout(redact.WithSecret(ctx, n.Token.Reveal()), confirmTimeout)
	defer cancel()
	n.Transaction, err = f.transaction(ctx, &n.Claimed)
	if err != nil {
		return err
	}
	if claimed := n.Claimed.TransactionID; claimed != "" && claimed != n.Transaction.TransactionID {
		return errContradicted
	}
	if n.Claimed.Kind == KindRefund {
		n.Refund, err = f.refund(ctx, &n.Claimed, n.Transaction)
	}
	return err
}

// transaction queries by the gateway's id, which every published notification has, and by the merchant's id only if that is
// the only one.
func (f confirmer) transaction(ctx context.Context, claimed *Claims) (*cardgateway.Transaction, error) {
	if claimed.UniqueID != "" {
		return f.client.GetTransaction(ctx, claimed.UniqueID)
	}
	start, end := searchRange(time.Now(), f.client.Location())
	page, err := f.client.SearchOrders(ctx, cardgateway.OrderQuery{TransactionID: claimed.TransactionID, Start: start, End: end}, cardgateway.PageRequest{})
	if err != nil {
		return nil, err
	}
	if len(page.Data) == 0 {
		return nil, fmt.Errorf("%w: %w", errNotOneOrder, cardgateway.ErrNotFound)
	}
	if !isWhole(len(page.Data), page.TotalCount) { // another one may be on the next page
		return nil, errNotOneOrder
	}
	return onlyOne(page.Data, errNotOneOrder, func(t *cardgateway.Transaction) bool {
		return t.TransactionID == claimed.TransactionID && t.UniqueID != "" // some gateways also return other orders
	}, func(t *cardgateway.Transaction) bool { return f.client.IsOtherApp(t) })
}

// refund returns the refund of the transaction that has the claimed ids. A gateway can find refunds by the time of their request,
// which may have been long ago: if it finds none, and the payment is old enough, the range before is searched too.
func (f confirmer) refund(ctx context.Context, claimed *Claims, paid *cardgateway.Transaction) (*cardgateway.Refund, error) {
	now := time.Now()
	refund, err := f.refundBefore(ctx, claimed, paid.UniqueID, now)
	if at := paid.TransactionAt; errors.Is(err, errNoRefund) && !at.IsZero() && at.In(f.client.Location()).Before(now.Add(searchAfter-searchBefore)) {
		return f.refundBefore(ctx, claimed, paid.UniqueID, now.Add(-searchBefore))
	}
	return refund, err
}

// refundBefore searches the range of searchRange.
func (f confirmer) refundBefore(ctx context.Context, claimed *Claims, uniqueID string, now time.Time) (*cardgateway.Refund, error) {
	start, end := searchRange(now, f.client.Location())
	page, err := f.client.SearchRefunds(ctx, cardgateway.RefundQuery{
		UniqueID: uniqueID, RefundUniqueID: claimed.RefundUniqueID, RefundTransactionID: claimed.MerchantRefundID,
		Start: start, End: end,
	}, cardgateway.PageRequest{})
	if err != nil {
		return nil, err
	}
	matches := func(r *cardgateway.Refund) bool {
		return r.UniqueID == uniqueID &&
			(claimed.RefundUniqueID == "" || claimed.RefundUniqueID == r.RefundUniqueID) &&
			(claimed.MerchantRefundID == "" || claimed.MerchantRefundID == r.MerchantRefundID)
	}
	if !slices.ContainsFunc(page.Data, func(r cardgateway.Refund) bool { return matches(&r) }) {
		return nil, errNoRefund
	}
	if claimed.RefundUniqueID == "" && claimed.MerchantRefundID == "" && !isWhole(len(page.Data), page.TotalCount) {
		return nil, errNotOneRefund // another one may be on the next page
	}
	return onlyOne(page.Data, errNotOneRefund, matches, func(r *cardgateway.Refund) bool { return f.client.IsOtherApp(r) })
}

// searchRange returns the bounds of a search. The range is meant as wall-clock times in UTC; the client writes bounds as
// wall-clock times in loc, which may be the wrong zone. So the returned instants are those at which a clock in loc shows
// the intended texts. If loc skips such a time, the bound is an hour off, which the range allows for.
func searchRange(now time.Time, loc *time.Location) (start, end time.Time) {
	start = civil.Of(now.Add(-searchBefore), time.UTC).In(loc)
	end = civil.Of(civil.CeilSecond(now.Add(searchAfter)), time.UTC).In(loc)
	return start, end
}

// isWhole reports whether a page has all rows. Some gateways announce only what is on the page, which is then full with a round number.
func isWhole(rows, total int) bool { return rows >= total && rows%10 != 0 }

// onlyOne returns the row that matches, if there is exactly one of this app.
func onlyOne[T any](rows []T, otherwise error, matches, isOtherApp func(*T) bool) (*T, error) {
	var found *T
	n := 0
	for i := range rows {
		switch row := &rows[i]; {
		case !matches(row):
		case isOtherApp(row):
			otherwise = fmt.Errorf("%w: %w", otherwise, verdict.ErrOtherApp)
		default:
			found = row
			n++
		}
	}
	if n != 1 {
		return nil, otherwise
	}
	return found, nil
}
