package sandbox

import (
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

// rowRef is one row of a series.
type rowRef = listing.RowRef[series]

type orderList []*order

func (l orderList) Len() int              { return len(l) }
func (l orderList) At(i int) time.Time    { return l[i].created }
func (l orderList) UniqueID(i int) string { return l[i].uniqueID }
func (l orderList) appendRow(o jsonobject.Object, f resultFormat, i int) jsonobject.Object {
	return f.appendResult(o, l[i], true)
}

type refundList []*refund

func (l refundList) Len() int              { return len(l) }
func (l refundList) At(i int) time.Time    { return l[i].requested }
func (l refundList) UniqueID(i int) string { return l[i].refundUniqueID }
func (l refundList) appendRow(o jsonobject.Object, f resultFormat, i int) jsonobject.Object {
	return f.appendRefundRow(o, l[i])
}

type seededOrders struct{ *generated.Orders }

func (s seededOrders) appendRow(o jsonobject.Object, f resultFormat, i int) jsonobject.Object {
	row := seededOrder(s.Order(i)) // on the stack, because a page has up to a thousand
	return f.appendResult(o, &row, true)
}

type seededRefunds struct{ *generated.Refunds }

func (s seededRefunds) appendRow(o jsonobject.Object, f resultFormat, i int) jsonobject.Object {
	return f.appendRefundRow(o, seededRefund(s.Refund(i)))
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
		found = append(found, l.refunds)
		for _, b := range l.seeded.Refunds {
			found = append(found, seededRefunds{b})
		}
	case op == OpSearchRefunds:
		for _, r := range l.refundsOf(ids) {
			found = append(found, refundList{r})
		}
	case ids.None():
		found = append(found, l.orders)
		for _, b := range l.seeded.Orders {
			found = append(found, seededOrders{b})
		}
	default:
		for _, o := range l.ordersOf(ids) {
			found = append(found, orderList{o})
		}
	}
	return found
}
