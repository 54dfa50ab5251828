package generated

import "time"

// Seed says which orders and refunds are generated. sandbox.SeedOptions describes the fields.
type Seed struct {
	N        int
	From, To time.Time

	Random bool
	Hours  [24]float64
	Seed   uint64

	Currencies []string

	RefundEvery      int
	RefundStates     bool
	TwiceEvery       int
	RefundTwiceEvery int
	StrayRefunds     int
}

// refundEvery is the default of Seed.RefundEvery.
const refundEvery = 10

// Data is everything that was seeded.
type Data struct {
	Orders  []*Orders
	Refunds []*Refunds
}

// Add adds the rows of a seed. The orders have that appId, or none if it is empty.
func (d *Data) Add(s Seed, appID string) {
	if s.StrayRefunds > 0 {
		stray := s
		stray.N = s.StrayRefunds
		d.addRefunds(&Refunds{book: stray.prepare()})
	}
	orders := d.addOrders(&Orders{book: s.prepare(), appID: appID, currencies: s.Currencies, refundEvery: refundEvery})
	if s.TwiceEvery > 0 {
		orders.twiceEvery = s.TwiceEvery
		d.addOrders(&Orders{book: afterEveryNth{orders.book, s.TwiceEvery, 1}, of: orders})
	}
	if s.RefundEvery < 0 {
		return
	}
	if s.RefundEvery > 0 {
		orders.refundEvery = s.RefundEvery
	}
	n := orders.refundEvery
	d.addRefunds(&Refunds{book: afterEveryNth{orders.book, n, n - 1}, orders: orders, every: n, states: s.RefundStates})
	if s.RefundTwiceEvery > 0 && s.RefundTwiceEvery <= s.N/n { // otherwise there is none, and every could overflow
		every := n * s.RefundTwiceEvery
		d.addRefunds(&Refunds{book: afterEveryNth{orders.book, every, n}, orders: orders, every: every})
	}
}

func (d *Data) addOrders(b *Orders) *Orders {
	b.number = len(d.Orders)
	d.Orders = append(d.Orders, b)
	return b
}

func (d *Data) addRefunds(b *Refunds) {
	b.number = len(d.Refunds)
	d.Refunds = append(d.Refunds, b)
}

// Rows returns the number of orders and of refunds.
func (d *Data) Rows() (orders, refunds int) {
	for _, b := range d.Orders {
		orders += b.Len()
	}
	for _, b := range d.Refunds {
		refunds += b.Len()
	}
	return orders, refunds
}

// afterEveryNth is a book with a row for every n-th order, at the time of the order some places after it, or of the last one. A
// refund is requested n-1 places after its order, which is before the next refunded one.
type afterEveryNth struct {
	orders    book
	n, places int
}

func (e afterEveryNth) Len() int           { return e.orders.Len() / e.n }
func (e afterEveryNth) At(i int) time.Time { return e.orders.At(min(i*e.n+e.places, e.orders.Len()-1)) }
