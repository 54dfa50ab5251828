package notify

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/internal/civil"
)

// confirmer asks the gateway about what notifications claim. It asks once: a notification that could not be confirmed comes
// again by itself.
type confirmer struct{ client *cardgateway.Client }

const (
	confirmTimeout = 20 * time.Second // for all queries about one notification
	maxQueries     = 2                // that one notification needs

	// The range of a search, on a clock in UTC. It holds what the gateway's clock shows in any zone from UTC-12 to UTC+14,
	// with an hour to spare, and is within the shortest month.
	searchBefore = 27 * 24 * time.Hour
	searchAfter  = 15 * time.Hour
)

func newConfirmer(client *cardgateway.Client) confirmer {
	return confirmer{client.WithRetry(cardgateway.RetryPolicy{MaxAttempts: 1})}
}

// Why a notification was not confirmed.
var (
	errNothingToAsk = errors.New("notify: the notification names no transaction")
	errContradicted = errors.New("notify: the notification names another transactionId than the gateway")
	errNotShown     = errors.New("notify: the gateway does not show yet what the notification claims")
	errNotOneOrder  = errors.New("notify: the gateway does not show one transaction with the notification's transactionId")
	errNotOneRefund = errors.New("notify: the gateway does not show one refund as the notification names it")
)

// subject is what is asked for: the gateway's id if there is one, else the merchant's.
func (c *Claims) subject() string {
	switch {
	case c.UniqueID != "":
		return "uniqueId " + c.UniqueID
	case c.TransactionID != "":
		return "transactionId " + c.TransactionID
	}
	return ""
}

// queries counts what confirm asks.
func (c *Claims) queries() int {
	if c.Kind == KindRefund {
		return maxQueries
	}
	return 1
}

// confirm sets what the gateway says about the notification's subject.
func (f confirmer) confirm(ctx context.Context, n *Notification) (err error) {
	ctx, cancel := context.WithTimeout(ctx, confirmTimeout)
	defer cancel()
	n.Transaction, err = f.transaction(ctx, &n.Claimed)
	if err != nil {
		return err
	}
	if claimed := n.Claimed.TransactionID; claimed != "" && claimed != n.Transaction.TransactionID {
		return errContradicted
	}
	if n.Claimed.Kind == KindRefund {
		n.Refund, err = f.refund(ctx, &n.Claimed, n.Transaction.UniqueID)
	}
	return err
}

// transaction asks by the gateway's id, which every published notification carries, and by the merchant's id where that is
// all there is.
func (f confirmer) transaction(ctx context.Context, claimed *Claims) (*cardgateway.Transaction, error) {
	if claimed.UniqueID != "" {
		return f.client.GetTransaction(ctx, claimed.UniqueID)
	}
	start, end := searchRange(time.Now(), f.client.Location())
	page, err := f.client.SearchOrders(ctx, cardgateway.OrderQuery{TransactionID: claimed.TransactionID, Start: start, End: end})
	if err != nil {
		return nil, err
	}
	if len(page.Data) == 0 {
		return nil, fmt.Errorf("%w: %w", errNotOneOrder, cardgateway.ErrNotFound)
	}
	// The filter has been seen to return other orders.
	return onlyOne(page.Data, errNotOneOrder, func(t *cardgateway.Transaction) bool {
		return t.TransactionID == claimed.TransactionID && t.UniqueID != ""
	})
}

// refund looks for the refund of the transaction that has the claimed ids.
func (f confirmer) refund(ctx context.Context, claimed *Claims, uniqueID string) (*cardgateway.Refund, error) {
	start, end := searchRange(time.Now(), f.client.Location())
	page, err := f.client.SearchRefunds(ctx, cardgateway.RefundQuery{
		UniqueID: uniqueID, RefundUniqueID: claimed.RefundUniqueID, RefundTransactionID: claimed.MerchantRefundID,
		Start: start, End: end,
	})
	if err != nil {
		return nil, err
	}
	return onlyOne(page.Data, errNotOneRefund, func(r *cardgateway.Refund) bool {
		return r.UniqueID == uniqueID &&
			(claimed.RefundUniqueID == "" || claimed.RefundUniqueID == r.RefundUniqueID) &&
			(claimed.MerchantRefundID == "" || claimed.MerchantRefundID == r.MerchantRefundID)
	})
}

// searchRange returns the bounds of a search. They are the instants at which the client's clock, in loc, shows what a clock
// in UTC shows at the bounds meant: the client writes them as that text, whatever its zone is, and the zone may be wrong.
// Where loc's clock skips such a time the bound is an hour off, which the range has to spare.
func searchRange(now time.Time, loc *time.Location) (start, end time.Time) {
	start = civil.Of(now.Add(-searchBefore), time.UTC).In(loc)
	end = civil.Of(civil.CeilSecond(now.Add(searchAfter)), time.UTC).In(loc)
	return start, end
}

func onlyOne[T any](rows []T, otherwise error, matches func(*T) bool) (*T, error) {
	var found *T
	for i := range rows {
		if matches(&rows[i]) {
			if found != nil {
				return nil, otherwise
			}
			found = &rows[i]
		}
	}
	if found == nil {
		return nil, otherwise
	}
	return found, nil
}
