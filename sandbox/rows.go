package sandbox

import (
	"cmp"
	"slices"
	"time"

	"github.com/cardgateway/cardgateway-go/sandbox/internal/generated"
	"github.com/cardgateway/cardgateway-go/sandbox/internal/jsonobject"
	"github.com/cardgateway/cardgateway-go/sandbox/internal/listing"
)

// series is a list of rows in order of time: stored or seeded orders, or refunds.
type series interface {
	listing.Series
	UniqueID(i int) string
	appendRow(o jsonobject.Object, f resultFormat, i int) jsonobject.Object
}

// row is a stored order or refund.
type row interface {
	ids() generated.IDs
	at() time.Time
	appendTo(o jsonobject.Object, f resultFormat) jsonobject.Object // as the row of a query
}

// table is all stored rows of a kind.
type table[R row] struct {
	rows list[R]     // by time
	by   map[key][]R // by each of their ids, in the order in which they were added
}

// key is an id of a row.
type key struct {
	member int // which id it is
	id     string
}

// keysOf returns the ids that are not empty, the one that fewest rows have first.
func keysOf(ids generated.IDs) (keys []key) {
	for member, id := range [...]string{ids.RefundUniqueID, ids.RefundTransactionID, ids.UniqueID, ids.TransactionID, ids.OrderID} {
		if id != "" {
			keys = append(keys, key{member, id})
		}
	}
	return keys
}

func (t *table[R]) add(r R) {
	for _, k := range keysOf(r.ids()) {
		t.by[k] = append(t.by[k], r)
	}
	t.rows = insert(t.rows, r, R.at)
}

// of returns the rows that have all the ids, of which there is at least one.
func (t *table[R]) of(ids generated.IDs) (found []R) {
	keys := keysOf(ids)
	if len(keys) > 0 {
		found = t.by[keys[0]]
	}
	if len(keys) > 1 {
		found = slices.DeleteFunc(slices.Clone(found), func(r R) bool { return !ids.Match(r.ids()) })
	}
	return found
}

// list is a series of stored rows.
type list[R row] []R

func (l list[R]) Len() int           { return len(l) }
func (l list[R]) At(i int) time.Time { return l[i].at() }
func (l list[R]) UniqueID(i int) string {
	ids := l[i].ids()
	return cmp.Or(ids.RefundUniqueID, ids.UniqueID)
}
func (l list[R]) appendRow(o jsonobject.Object, f resultFormat, i int) jsonobject.Object {
	return l[i].appendTo(o, f)
}

type seededOrders struct{ *generated.Orders }

func (s seededOrders) appendRow(o jsonobject.Object, f resultFormat, i int) jsonobject.Object {
	row := seededOrder(s.Order(i)) // on the stack, because a page has up to a thousand
	return row.appendTo(o, f)
}

type seededRefunds struct{ *generated.Refunds }

func (s seededRefunds) appendRow(o jsonobject.Object, f resultFormat, i int) jsonobject.Object {
	return seededRefund(s.Refund(i)).appendTo(o, f)
}

// some is a series of selected rows of another one.
type some struct {
	series
	rows []int
}

func (s some) Len() int              { return len(s.rows) }
func (s some) At(i int) time.Time    { return s.series.At(s.rows[i]) }
func (s some) UniqueID(i int) string { return s.series.UniqueID(s.rows[i]) }
func (s some) appendRow(o jsonobject.Object, f resultFormat, i int) jsonobject.Object {
	return s.series.appendRow(o, f, s.rows[i])
}

// series returns the orders, or for OpSearchRefunds the refunds, that have all the ids. Without ids it returns all, the stored ones
// first.
func (l *ledger) series(op Operation, ids generated.IDs) (found []series) {
	switch {
	case op == OpSearchRefunds && ids.None():
		found = append(found, l.refunds.rows)
		for _, b := range l.seeded.Refunds {
			found = append(found, seededRefunds{b})
		}
	case op == OpSearchRefunds:
		for _, r := range l.refundsOf(ids) {
			found = append(found, list[*refund]{r})
		}
	case ids.None():
		found = append(found, l.orders.rows)
		for _, b := range l.seeded.Orders {
			found = append(found, seededOrders{b})
		}
	default:
		for _, o := range l.ordersOf(ids) {
			found = append(found, list[*order]{o})
		}
	}
	return found
}
