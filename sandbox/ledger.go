package sandbox

import (
	"fmt"
	"slices"
	"time"
)

// ledger is the state of the gateway. Gateway.mu guards it.
type ledger struct {
	orders           orderList // by time
	refunds          refundList
	byUniqueID       map[string]*order
	byTransaction    map[string][]*order
	byOrder          map[string][]*order
	tokens           map[string]*order         // the token order that each token came from
	pages            map[string]*order         // by the unguessable id in the page's URL
	due              []due                     // settles by itself, the next one first
	executed         map[string]int            // successful charges by transactionId
	paidOrders       map[string]bool           // orderIds with a success
	refunded         map[string]int64          // in thousandths, by uniqueId
	givenBack        map[string]int            // completed refunds by refundTransactionId
	tracking         map[string]TrackingNumber // by uniqueId
	moves            []Move                    // of money, in their order
	generatedOrders  []*generatedOrders
	generatedRefunds []*generatedRefunds
	issued           int // number of uniqueIds issued so far
}

func newLedger() ledger {
	return ledger{
		byUniqueID:    make(map[string]*order),
		byTransaction: make(map[string][]*order),
		byOrder:       make(map[string][]*order),
		tokens:        make(map[string]*order),
		pages:         make(map[string]*order),
		executed:      make(map[string]int),
		paidOrders:    make(map[string]bool),
		refunded:      make(map[string]int64),
		givenBack:     make(map[string]int),
		tracking:      make(map[string]TrackingNumber),
	}
}

// due is a transaction or a refund in processing that settles by itself.
type due struct {
	at     time.Time
	order  *order  // or
	refund *refund // the other one is nil
}

// wait inserts d after everything that settles before it or at the same time.
func (l *ledger) wait(d due) {
	at := len(l.due)
	for at > 0 && l.due[at-1].at.After(d.at) {
		at--
	}
	l.due = slices.Insert(l.due, at, d)
}

// nextDue removes and returns the next item that is due, if any.
func (l *ledger) nextDue(now time.Time) (_ due, ok bool) {
	if len(l.due) == 0 || l.due[0].at.After(now) {
		return due{}, false
	}
	d := l.due[0]
	l.due[0] = due{} // releases the order
	l.due = l.due[1:]
	return d, true
}

// issue returns a new uniqueId: digits only, as wide as the published ones.
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
	at := len(l.orders)
	for at > 0 && l.orders[at-1].created.After(o.created) {
		at-- // only after ArriveInRange or a clock that was set back
	}
	l.orders = slices.Insert(l.orders, at, o)
}

func (l *ledger) addRefund(r *refund) {
	r.refundUniqueID = l.issue(prefixRefund)
	at := len(l.refunds)
	for at > 0 && l.refunds[at-1].requested.After(r.requested) {
		at--
	}
	l.refunds = slices.Insert(l.refunds, at, r)
}

// find returns the order with that uniqueId, stored or from a book, or nil.
func (l *ledger) find(uniqueID string) *order {
	if o := l.byUniqueID[uniqueID]; o != nil {
		return o
	}
	for _, b := range l.generatedOrders {
		if i, ok := b.indexOf(uniqueID); ok {
			return b.order(i)
		}
	}
	return nil
}
