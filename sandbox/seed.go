package sandbox

import "time"

// SeedOptions says what SeedOrders adds. The zero value of every field but N, From and To is what Seed does.
type SeedOptions struct {
	N        int // of orders
	From, To time.Time

	// Random, Hours and Seed are those of Arrivals: independent customers, day and night, and another draw.
	Random bool
	Hours  [24]float64
	Seed   uint64

	// Currencies are used in turn, each with its own number of decimals. Nil means USD.
	Currencies []string

	// RefundEvery gives one refund to every so many orders. Zero means every tenth, negative none.
	RefundEvery int

	// RefundStates leaves every fifth refund at 110, accepted, and makes every seventh 112, refused. By default all are
	// at 111.
	RefundStates bool

	// TwiceEvery charges every so many-th order twice: a second success with the same transactionId comes in together with
	// the order after it. Zero means none.
	TwiceEvery int

	// RefundTwiceEvery gives every so many-th refund once more, so that more is given back than was paid. Zero means none.
	RefundTwiceEvery int
}

// Seed adds n orders in [from, to), evenly spread, and a refund for every tenth of them. They are computed when
// they are asked for: any number of them takes no memory. Seven in a hundred are declined, two are at 102, the rest
// are approved; Executed does not count them. SeedOrders adds other currencies and more.
func (g *Gateway) Seed(n int, from, to time.Time) {
	g.SeedOrders(SeedOptions{N: n, From: from, To: to})
}

// SeedOrders adds computed orders and their refunds as the options say.
func (g *Gateway) SeedOrders(o SeedOptions) {
	g.mu.Lock()
	defer g.mu.Unlock()
	orders := g.addOrders(Arrivals{N: o.N, From: o.From, To: o.To, Random: o.Random, Hours: o.Hours, Seed: o.Seed})
	orders.currencies = o.Currencies
	if o.TwiceEvery > 0 {
		orders.twiceEvery = o.TwiceEvery
		again := g.addOrders(afterEveryNth{orders.book, o.TwiceEvery, 1})
		again.of = orders
	}
	if o.RefundEvery < 0 {
		return
	}
	if o.RefundEvery > 0 {
		orders.refundEvery = o.RefundEvery
	}
	refunds := g.addRefunds(everyNth{orders.book, orders.refundEvery}, orders)
	refunds.states = o.RefundStates
	if o.RefundTwiceEvery > 0 && o.RefundTwiceEvery <= o.N/orders.refundEvery { // else there is none, and every could overflow
		every := orders.refundEvery * o.RefundTwiceEvery
		g.addRefunds(afterEveryNth{orders.book, every, orders.refundEvery}, orders).every = every
	}
}

// AddOrders adds a book of orders, without refunds.
func (g *Gateway) AddOrders(b Book) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.addOrders(b)
}

// AddRefunds adds a book of refunds of orders that the gateway does not have. The book's times are those of the
// requests; each refund is completed two minutes later.
func (g *Gateway) AddRefunds(b Book) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.addRefunds(b, nil)
}

func (g *Gateway) addOrders(b Book) *generatedOrders {
	if a, ok := b.(Arrivals); ok {
		b = a.prepare()
	}
	rows := &generatedOrders{book: b, number: len(g.ledger.generatedOrders), refundEvery: refundEvery}
	g.ledger.generatedOrders = append(g.ledger.generatedOrders, rows)
	return rows
}

func (g *Gateway) addRefunds(b Book, orders *generatedOrders) *generatedRefunds {
	if a, ok := b.(Arrivals); ok {
		b = a.prepare()
	}
	rows := &generatedRefunds{book: b, number: len(g.ledger.generatedRefunds), orders: orders}
	if orders != nil {
		rows.every = orders.refundEvery
	}
	g.ledger.generatedRefunds = append(g.ledger.generatedRefunds, rows)
	return rows
}

// everyNth is the book of the refunds of every n-th order: each is asked for when the last order before the next
// refunded one comes in, which keeps it inside the range of the orders.
type everyNth struct {
	orders Book
	n      int
}

func (e everyNth) Len() int           { return e.orders.Len() / e.n }
func (e everyNth) At(i int) time.Time { return e.orders.At(i*e.n + e.n - 1) }

// afterEveryNth is a book of what comes in for every n-th order, together with an order some places after it.
type afterEveryNth struct {
	orders    Book
	n, places int
}

func (e afterEveryNth) Len() int           { return e.orders.Len() / e.n }
func (e afterEveryNth) At(i int) time.Time { return e.orders.At(min(i*e.n+e.places, e.orders.Len()-1)) }
