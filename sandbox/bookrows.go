package sandbox

import (
	"strconv"
	"strings"
	"time"
)

// refundEvery is how many orders of a seeded book share one refund.
const refundEvery = 10

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

func (g *Gateway) addOrders(b Book) *bookRows {
	if a, ok := b.(Arrivals); ok {
		b = a.prepare()
	}
	rows := &bookRows{book: b, number: len(g.ledger.books)}
	g.ledger.books = append(g.ledger.books, rows)
	return rows
}

func (g *Gateway) addRefunds(b Book, orders *bookRows) {
	if a, ok := b.(Arrivals); ok {
		b = a.prepare()
	}
	g.ledger.refundBooks = append(g.ledger.refundBooks,
		&bookRefunds{book: b, number: len(g.ledger.refundBooks), orders: orders})
}

// tenth is the book of the refunds of every tenth order: each is asked for when the ninth order after it comes in,
// which keeps it inside the range of the orders.
type tenth struct{ orders Book }

func (t tenth) Len() int           { return t.orders.Len() / refundEvery }
func (t tenth) At(i int) time.Time { return t.orders.At(i*refundEvery + refundEvery - 1) }

// bookRows gives the rows of a Book the look of orders.
type bookRows struct {
	book   Book
	number int
}

func (b *bookRows) Len() int           { return b.book.Len() }
func (b *bookRows) at(i int) time.Time { return b.book.At(i) }
func (b *bookRows) uniqueID(i int) string {
	return bookID(prefixBookOrder, b.number, i)
}

func (b *bookRows) appendRow(g *Gateway, o object, base string, i int) object {
	var row order // on the stack: a page is a thousand of them
	b.fill(&row, i)
	return g.appendResult(o, &row, base, true)
}

func (b *bookRows) order(i int) *order {
	row := new(order)
	b.fill(row, i)
	return row
}

// fill makes up row i. Every tenth is approved, since it may have been refunded.
func (b *bookRows) fill(row *order, i int) {
	code, text, outcome := codeSuccess, "Approved", Approved
	switch i % 100 {
	case 3, 17, 34, 48, 61, 79, 92:
		code, text, outcome = codeFailed, "Declined", Declined
	case 26, 85:
		code, text, outcome = codeProcessing, "Pending", Pending
	}
	h := mix(uint64(b.number), uint64(i), 5)
	cents := strconv.Itoa(int(h%50_000) + 100)
	name := bookName(b.number, i)
	*row = order{
		op: OpCheckout, uniqueID: b.uniqueID(i), created: b.book.At(i), code: code, text: text,
		payment: payment{
			transactionID: bookTransaction + name, orderID: bookOrder + name, appID: "1862433537316352001",
			amount: cents[:len(cents)-2] + "." + cents[len(cents)-2:], currency: "USD",
			card: card{masked: "430000******0000", outcome: outcome},
			billing: address{
				firstName: "Ada", lastName: "Example", country: "US", email: "ada@shop.example",
				city: "Springfield", address: "1 Sample Street", phone: "15550100", zipCode: "01101",
			},
		},
	}
}

// Prefixes of the merchant's ids in book rows.
const (
	bookTransaction = "book-transaction-"
	bookOrder       = "book-order-"
	bookRefund      = "book-refund-"
)

func bookName(number, i int) string { return strconv.Itoa(number) + "-" + strconv.Itoa(i) }

// bookID is the uniqueId of row i: 19 digits, out of which indexOf reads it back.
func bookID(prefix string, number, i int) string {
	id := [19]byte{prefix[0], prefix[1]}
	for at := len(id) - 1; at >= 5; at-- {
		id[at] = byte('0' + i%10)
		i /= 10
	}
	for at := 4; at >= 2; at-- {
		id[at] = byte('0' + number%10)
		number /= 10
	}
	return string(id[:])
}

// indexOf returns the row with that uniqueId.
func (b *bookRows) indexOf(uniqueID string) (int, bool) {
	return indexOfID(uniqueID, prefixBookOrder, b.number, b.Len())
}

func indexOfID(uniqueID, prefix string, number, n int) (int, bool) {
	if len(uniqueID) != 19 || uniqueID[:2] != prefix {
		return 0, false
	}
	i, err := strconv.Atoi(uniqueID[5:])
	if err != nil || i < 0 || i >= n || bookID(prefix, number, i) != uniqueID {
		return 0, false
	}
	return i, true
}

// indexOfName returns the row whose merchant's id, a prefix and bookName, that is.
func indexOfName(id, prefix string, number, n int) (int, bool) {
	name, ok := strings.CutPrefix(id, prefix+strconv.Itoa(number)+"-")
	if !ok {
		return 0, false
	}
	i, err := strconv.Atoi(name)
	if err != nil || i < 0 || i >= n || strconv.Itoa(i) != name {
		return 0, false
	}
	return i, true
}

// Numbers in ids where there is no book.
const (
	noBook      = 999 // of orders that refunds without orders name
	noBookYet   = 998 // of what comes in while a search is answered
	nobodysBook = 997 // of transactions that nobody asked for
)

// bookRefunds gives the rows of a Book the look of refunds.
type bookRefunds struct {
	book   Book
	number int
	orders *bookRows // whose every tenth row is refunded, or nil
}

func (b *bookRefunds) Len() int           { return b.book.Len() }
func (b *bookRefunds) at(i int) time.Time { return b.book.At(i) }
func (b *bookRefunds) uniqueID(i int) string {
	return bookID(prefixBookRefund, b.number, i)
}

func (b *bookRefunds) appendRow(g *Gateway, o object, _ string, i int) object {
	return g.appendRefund(o, b.refund(i))
}

func (b *bookRefunds) refund(i int) *refund {
	at := b.book.At(i)
	r := &refund{
		refundUniqueID: b.uniqueID(i), merchantRefundID: bookRefund + bookName(b.number, i),
		uniqueID: bookID(prefixBookOrder, noBook, i), amount: "1.00", currency: "USD",
		requested: at, completed: at.Add(2 * time.Minute),
	}
	if b.orders != nil {
		o := b.orders.order(i * refundEvery)
		r.uniqueID, r.transactionID, r.amount = o.uniqueID, o.transactionID, o.amount
	}
	return r
}
