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
	orders        orderList // by time
	refunds       refundList
	byUniqueID    map[string]*order
	byTransaction map[string][]*order
	byOrder       map[string][]*order
	tokens        map[string]payment        // what the order of each token said
	pages         map[string]*order         // by the unguessable id in the page's URL
	due           []due                     // settles by itself, the next one first
	executed      map[string]int            // successful charges by transactionId
	refunded      map[string]int64          // in thousandths, by uniqueId
	givenBack     map[string]int            // completed refunds by refundTransactionId
	tracking      map[string]TrackingNumber // by uniqueId
	moves         []Move                    // of money, in their order
	seeded        generated.Data
}

func newLedger(opts *Options, n *notices, settleAfter func(time.Duration)) ledger {
	l := ledger{opts: opts, notices: n, settleAfter: settleAfter}
	l.reset()
	return l
}

func (l *ledger) reset() {
	l.contents = contents{
		byUniqueID:    make(map[string]*order),
		byTransaction: make(map[string][]*order),
		byOrder:       make(map[string][]*order),
		tokens:        make(map[string]payment),
		pages:         make(map[string]*order),
		executed:      make(map[string]int),
		refunded:      make(map[string]int64),
		givenBack:     make(map[string]int),
		tracking:      make(map[string]TrackingNumber),
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
	l.byUniqueID[o.uniqueID] = o
	l.byTransaction[o.transactionID] = append(l.byTransaction[o.transactionID], o)
	if o.orderID != "" {
		l.byOrder[o.orderID] = append(l.byOrder[o.orderID], o)
	}
	l.orders = insert(l.orders, o, func(o *order) time.Time { return o.created })
}

func (l *ledger) addRefund(r *refund) {
	r.refundUniqueID = l.issue(prefixRefund)
	l.refunds = insert(l.refunds, r, func(r *refund) time.Time { return r.requested })
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
	return slices.ContainsFunc(l.byOrder[orderID], (*order).movedMoney)
}

// find returns the order with that uniqueId, stored or seeded, or nil.
func (l *ledger) find(uniqueID string) *order {
	if found := l.ordersOf(generated.IDs{UniqueID: uniqueID}); len(found) > 0 {
		return found[0]
	}
	return nil
}

// payment returns the payment with that id: a uniqueId, a transactionId, or the URL or the path of the page on which it
// waits.
func (l *ledger) payment(id string) (*order, error) {
	for _, ids := range []generated.IDs{{UniqueID: id}, {TransactionID: id}} {
		if found := l.ordersOf(ids); len(found) > 0 {
			return found[len(found)-1], nil
		}
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
	for _, g := range l.seeded.OrdersOf(ids) {
		o := seededOrder(g)
		found = append(found, &o)
	}
	stored := l.byOrder[ids.OrderID]
	if o := l.byUniqueID[ids.UniqueID]; ids.UniqueID != "" {
		stored = []*order{o}
	} else if ids.TransactionID != "" {
		stored = l.byTransaction[ids.TransactionID]
	}
	for _, o := range stored {
		if o != nil && ids.Match(o.ids()) {
			found = append(found, o)
		}
	}
	return found
}

// refund returns the refund with that refundUniqueId, or the newest with that refundTransactionId.
func (l *ledger) refund(id string) (*refund, error) {
	for _, ids := range []generated.IDs{{RefundUniqueID: id}, {RefundTransactionID: id}} {
		if found := l.refundsOf(ids); len(found) > 0 && id != "" {
			return found[len(found)-1], nil
		}
	}
	return nil, console.NotFound("refund", id)
}

// refundsOf returns the refunds that have all the ids, of which there is at least one; the stored ones come last, by time.
func (l *ledger) refundsOf(ids generated.IDs) (found []*refund) {
	for _, g := range l.seeded.RefundsOf(ids) {
		found = append(found, seededRefund(g))
	}
	for _, r := range l.refunds {
		if ids.Match(r.ids()) {
			found = append(found, r)
		}
	}
	return found
}
