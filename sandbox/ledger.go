package sandbox

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/cardgateway/cardgateway-go/sandbox/internal/console"
	"github.com/cardgateway/cardgateway-go/sandbox/internal/generated"
)

// ledger is the state of the gateway, and how it changes. Gateway.mu guards it.
type ledger struct {
	opts        *Options
	notices     *notices
	settleAfter func(time.Duration) // calls settleDue after that time

	contents
	issued int // number of uniqueIds issued so far
}

// contents is what Reset removes.
type contents struct {
	orders   table[*order]
	refunds  table[*refund]
	tokens   map[string]payment        // what the order of each token said
	pages    map[string]*order         // by the unguessable id in the page's URL
	due      []due                     // settles by itself, the next one first
	tracking map[string]TrackingNumber // by uniqueId
	moves    []Move                    // of money, in their order
	seeded   generated.Data
}

func newLedger(opts *Options, n *notices, settleAfter func(time.Duration)) ledger {
	l := ledger{opts: opts, notices: n, settleAfter: settleAfter}
	l.reset()
	return l
}

func (l *ledger) reset() {
	l.contents = contents{
		orders:   table[*order]{by: make(map[key][]*order)},
		refunds:  table[*refund]{by: make(map[key][]*refund)},
		tokens:   make(map[string]payment),
		pages:    make(map[string]*order),
		tracking: make(map[string]TrackingNumber),
	}
}

// Prefixes of the ids of stored rows. Those of generated ones begin with 16 and 17.
const (
	prefixOrder   = "18"
	prefixRefund  = "19"
	prefixRenewal = "15" // of the transactionId of a later charge
)

// issue returns a new id: digits only, as wide as the published ones.
func (l *ledger) issue(prefix string) string {
	l.issued++
	return fmt.Sprintf("%s%017d", prefix, l.issued)
}

func (l *ledger) addOrder(o *order) {
	o.uniqueID = l.issue(prefixOrder)
	l.orders.add(o)
}

func (l *ledger) addRefund(r *refund) {
	r.refundUniqueID = l.issue(prefixRefund)
	r.merchantRefundID = cmp.Or(r.merchantRefundID, "refund-"+r.refundUniqueID)
	l.refunds.add(r)
}

// insert adds a value to a list that is in order of time. It belongs at the end, except after a clock that was set back, and if it
// is due before another one.
func insert[T any](list []T, value T, timeOf func(T) time.Time) []T {
	at := len(list)
	for at > 0 && timeOf(list[at-1]).After(timeOf(value)) {
		at--
	}
	return slices.Insert(list, at, value)
}

// isPaid reports whether an order of the merchant has its success.
func (l *ledger) isPaid(orderID string) bool {
	return slices.ContainsFunc(l.orders.of(generated.IDs{OrderID: orderID}), (*order).movedMoney)
}

// executed returns how many times a request has moved money for a transactionId.
func (l *ledger) executed(transactionID string) (n int) {
	for _, o := range l.orders.of(generated.IDs{TransactionID: transactionID}) {
		if o.movedMoney() && !o.renewal {
			n++
		}
	}
	return n
}

// find returns the order with that uniqueId, stored or seeded, or nil.
func (l *ledger) find(uniqueID string) *order {
	return newest(l.ordersOf, generated.IDs{UniqueID: uniqueID})
}

// newest returns the row with the first of these ids that a row has, or nil. Of several it is the one that was added last.
func newest[R any](of func(generated.IDs) []*R, ids ...generated.IDs) *R {
	for _, id := range ids {
		if found := of(id); len(found) > 0 {
			return found[len(found)-1]
		}
	}
	return nil
}

// payment returns the payment with that id: a uniqueId, a transactionId, or the URL or the path of the page on which it
// waits.
func (l *ledger) payment(id string) (*order, error) {
	if o := newest(l.ordersOf, generated.IDs{UniqueID: id}, generated.IDs{TransactionID: id}); o != nil {
		return o, nil
	}
	o := l.onPage(id)
	switch {
	case o == nil:
		return nil, console.NotFound("payment", id)
	case !strings.HasSuffix(id, cmp.Or(o.pagePath(), cardPagePath+o.page)):
		return nil, console.Conflict(fmt.Sprintf("the payment is not waiting on that page, its code is %d", o.code), "")
	}
	return o, nil
}

// onPage returns the newest payment of the page with that path or URL, or nil.
func (l *ledger) onPage(path string) *order { return l.pages[path[strings.LastIndex(path, "/")+1:]] }

// ordersOf returns the orders that have all the ids, of which there is at least one; the stored ones come last.
func (l *ledger) ordersOf(ids generated.IDs) (found []*order) {
	for _, b := range l.seeded.Orders {
		if i, ok := b.Find(ids); ok {
			o := seededOrder(b.Order(i))
			found = append(found, &o)
		}
	}
	return append(found, l.orders.of(ids)...)
}

// refund returns the refund with that refundUniqueId, or the newest with that refundTransactionId.
func (l *ledger) refund(id string) (*refund, error) {
	if r := newest(l.refundsOf, generated.IDs{RefundUniqueID: id}, generated.IDs{RefundTransactionID: id}); r != nil {
		return r, nil
	}
	return nil, console.NotFound("refund", id)
}

// refundsOf returns the refunds that have all the ids, of which there is at least one; the stored ones come last.
func (l *ledger) refundsOf(ids generated.IDs) (found []*refund) {
	for _, b := range l.seeded.Refunds {
		if i, ok := b.Find(ids); ok {
			found = append(found, seededRefund(b.Refund(i)))
		}
	}
	return append(found, l.refunds.of(ids)...)
}
