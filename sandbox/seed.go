package sandbox

import "time"

// Seed adds n orders in [from, to), evenly spread, and a refund for every tenth of them. They are computed when
// they are asked for: any number of them takes no memory. Seven in a hundred are declined, two are at 102, the rest
// are approved; Executed does not count them.
func (g *Gateway) Seed(n int, from, to time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	orders := g.addOrders(Arrivals{N: n, From: from, To: to})
	g.addRefunds(tenth{orders.book}, orders)
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
	rows := &generatedOrders{book: b, number: len(g.ledger.generatedOrders)}
	g.ledger.generatedOrders = append(g.ledger.generatedOrders, rows)
	return rows
}

func (g *Gateway) addRefunds(b Book, orders *generatedOrders) {
	if a, ok := b.(Arrivals); ok {
		b = a.prepare()
	}
	g.ledger.generatedRefunds = append(g.ledger.generatedRefunds,
		&generatedRefunds{book: b, number: len(g.ledger.generatedRefunds), orders: orders})
}

// tenth is the book of the refunds of every tenth order: each is asked for when the ninth order after it comes in,
// which keeps it inside the range of the orders.
type tenth struct{ orders Book }

func (t tenth) Len() int { return t.orders.Len() / refundEvery }

func (t tenth) At(i int) time.Time { return t.orders.At(i*refundEvery + refundEvery - 1) }
