package sandbox

import "time"

// SeedOptions configures SeedOrders. The zero value of every field except N, From and To is what Seed does.
type SeedOptions struct {
	N        int // of orders
	From, To time.Time

	// Random, Hours and Seed are as in Arrivals.
	Random bool
	Hours  [24]float64
	Seed   uint64

	// Currencies are used in turn, each with its number of decimals. Nil means USD.
	Currencies []string

	// RefundEvery adds one refund for every n-th order. Zero means every tenth, negative none.
	RefundEvery int

	// RefundStates leaves every fifth refund at 110 (accepted), and sets every seventh to 112 (declined). By default all
	// are at 111.
	RefundStates bool

	// TwiceEvery charges every n-th order twice: a second success with the same transactionId is added at the time of the
	// next order. Zero means none.
	TwiceEvery int

	// RefundTwiceEvery adds every n-th refund twice, so that more is refunded than was paid. Zero means none.
	RefundTwiceEvery int
}

// Seed adds n orders in [from, to), evenly spaced, and a refund for every tenth of them. They are computed on demand, so
// any number of them needs no memory. Of each hundred, seven are declined, two are at 102, and the rest are approved.
// Executed does not count them. SeedOrders adds other currencies and more.
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
	if o.RefundTwiceEvery > 0 && o.RefundTwiceEvery <= o.N/orders.refundEvery { // otherwise there is none, and every could overflow
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

// AddRefunds adds a book of refunds, for orders that do not exist in the gateway. The book's times are those of the
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
	rows := &generatedOrders{
		book: b, number: len(g.ledger.generatedOrders), appID: g.opts.AppID, refundEvery: refundEvery,
	}
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

// everyNth is the book of the refunds of every n-th order. Each is requested at the time of the last order before the next
// refunded one, which keeps it inside the range of the orders.
type everyNth struct {
	orders Book
	n      int
}

func (e everyNth) Len() int           { return e.orders.Len() / e.n }
func (e everyNth) At(i int) time.Time { return e.orders.At(i*e.n + e.n - 1) }

// afterEveryNth is a book with a row for every n-th order, at the time of the order some places after it.
type afterEveryNth struct {
	orders    Book
	n, places int
}

func (e afterEveryNth) Len() int           { return e.orders.Len() / e.n }
func (e afterEveryNth) At(i int) time.Time { return e.orders.At(min(i*e.n+e.places, e.orders.Len()-1)) }
