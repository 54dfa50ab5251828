package sandbox

import (
	"slices"
	"sort"
	"time"

	"github.com/cardgateway/cardgateway-go/sandbox/internal/generated"
	"github.com/cardgateway/cardgateway-go/sandbox/internal/hash"
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

// orderSeries returns the orders that have all the ids. Without ids it returns all, the stored ones first.
func (l *ledger) orderSeries(ids generated.IDs) []series {
	if ids.None() {
		all := []series{l.orders}
		for _, b := range l.seeded.Orders {
			all = append(all, seededOrders{b})
		}
		return all
	}
	var found []series
	for _, o := range l.ordersOf(ids) {
		found = append(found, orderList{o})
	}
	return found
}

// ordersOf returns the orders that have all the ids, of which there is at least one; the stored ones come first.
func (l *ledger) ordersOf(ids generated.IDs) []*order {
	return slices.DeleteFunc(l.candidates(ids), func(o *order) bool {
		return ids.UniqueID != "" && ids.UniqueID != o.uniqueID ||
			ids.TransactionID != "" && ids.TransactionID != o.transactionID ||
			ids.OrderID != "" && ids.OrderID != o.orderID
	})
}

// candidates returns a new slice of the orders that have one of the ids.
func (l *ledger) candidates(ids generated.IDs) []*order {
	var found []*order
	switch {
	case ids.UniqueID != "":
		if o := l.find(ids.UniqueID); o != nil {
			found = append(found, o)
		}
		return found
	case ids.TransactionID != "":
		found = append(found, l.byTransaction[ids.TransactionID]...)
	default:
		found = append(found, l.byOrder[ids.OrderID]...)
	}
	for _, g := range l.seeded.OrdersOf(ids) {
		o := seededOrder(g)
		found = append(found, &o)
	}
	return found
}

// refundSeries returns refunds as orderSeries returns orders.
func (l *ledger) refundSeries(ids generated.IDs) []series {
	if ids.None() {
		all := []series{l.refunds}
		for _, b := range l.seeded.Refunds {
			all = append(all, seededRefunds{b})
		}
		return all
	}
	var found []series
	for _, r := range l.refundsOf(ids) {
		found = append(found, refundList{r})
	}
	return found
}

// list returns the rows that a query finds at now.
func (s *searches) list(all []series, from, to int64, now time.Time) *listing.Listing[series] {
	l := listing.New[series](from, to)
	for _, rows := range all {
		settled, late := s.visible(rows, now)
		l.Add(rows, 0, settled, s.opts.Location)
		if late.Len() > 0 {
			l.Add(late, 0, late.Len(), s.opts.Location)
		}
	}
	return l
}

// visible returns which rows a query finds at now: those before index settled, which are older than the longest lag, and
// those in late, whose own lag is over.
func (s *searches) visible(rows series, now time.Time) (settled int, late some) {
	upTo := func(t time.Time) int {
		return sort.Search(rows.Len(), func(i int) bool { return rows.At(i).Unix() > t.Unix() })
	}
	settled = upTo(now)
	late.series = rows
	if s.Lag <= 0 {
		return settled, late
	}
	end := settled
	settled = upTo(now.Add(-s.Lag).Add(-time.Second))
	for i := settled; i < end; i++ {
		if s.lagOf(rows.UniqueID(i)) <= now.Sub(rows.At(i)) {
			late.rows = append(late.rows, i)
		}
	}
	return settled, late
}

// lagOf is how long a row stays hidden.
func (s *searches) lagOf(uniqueID string) time.Duration {
	if s.Lag <= 0 {
		return 0
	}
	h := hash.Of(s.opts.Seed, hash.Text(uniqueID), 6)
	if s.LagOneIn > 1 && h%uint64(s.LagOneIn) != 0 {
		return 0
	}
	return time.Duration(hash.Of(h, 0, 0) % uint64(s.Lag+1))
}

// rows returns one page of the listing.
func (s *searches) rows(q query, l *listing.Listing[series], page int) []rowRef {
	if page > l.Total()/q.pageSize+1 { // also prevents an overflow of the product on 32 bits
		return nil
	}
	start := (page - 1) * q.pageSize
	return l.Page(start, start+q.pageSize, s.OldestFirst, s.tie)
}

// tie returns which of the n rows of one second is at position p: always the same, or with UnstableTies a different one in
// each request. The permutation p -> (step*p + start) mod n needs no memory.
func (s *searches) tie(wall int64, n, p int) int {
	if !s.UnstableTies || n < 2 {
		return p
	}
	h := hash.Of(s.opts.Seed, uint64(s.count), uint64(wall))
	step := 1 + int(h%uint64(n))
	for gcd(step, n) != 1 {
		step++
	}
	return int((uint64(step)*uint64(p) + h>>32) % uint64(n))
}

func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}
