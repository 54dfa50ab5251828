package sandbox

import (
	"strconv"
	"strings"
	"time"

	"github.com/cardgateway/cardgateway-go/sandbox/internal/codes"
	"github.com/cardgateway/cardgateway-go/sandbox/internal/jsonobject"
	"github.com/cardgateway/cardgateway-go/sandbox/internal/money"
)

// generatedOrders generates orders for the rows of a Book.
type generatedOrders struct {
	book        Book
	number      int
	appID       string   // empty means that the rows have none
	currencies  []string // used in turn; USD if empty
	refundEvery int      // every n-th order is approved, because it may have been refunded
	twiceEvery  int      // likewise, because it is charged twice; zero means none

	of *generatedOrders // if not nil, these are the second charges of every twiceEvery-th row of it
}

func (b *generatedOrders) Len() int           { return b.book.Len() }
func (b *generatedOrders) At(i int) time.Time { return b.book.At(i) }
func (b *generatedOrders) uniqueID(i int) string {
	return generatedID(prefixGeneratedOrder, b.number, i)
}

func (b *generatedOrders) appendRow(o jsonobject.Object, f resultFormat, i int) jsonobject.Object {
	var row order // on the stack, because a page has up to a thousand
	b.fill(&row, i)
	return f.appendResult(o, &row, true)
}

func (b *generatedOrders) order(i int) *order {
	row := new(order)
	b.fill(row, i)
	return row
}

// fill generates row i.
func (b *generatedOrders) fill(row *order, i int) {
	if b.of != nil {
		b.of.fill(row, i*b.of.twiceEvery)
		row.uniqueID, row.created = b.uniqueID(i), b.book.At(i)
		return
	}
	code, text, outcome := codes.Success, "Approved", Approved
	switch i % 100 {
	case 3, 17, 34, 48, 61, 79, 92:
		code, text, outcome = codes.Failed, "Declined", Declined
	case 26, 85:
		code, text, outcome = codes.Processing, "Pending", Pending
	}
	if i%b.refundEvery == 0 || b.twiceEvery > 0 && i%b.twiceEvery == 0 {
		code, text, outcome = codes.Success, "Approved", Approved
	}
	h := hash(uint64(b.number), uint64(i), 5)
	cents := strconv.Itoa(int(h%50_000) + 100)
	currency := "USD"
	if len(b.currencies) > 0 {
		currency = b.currencies[i%len(b.currencies)]
	}
	amount := money.WithDecimals(cents, money.Decimals(currency))
	name := generatedName(b.number, i)
	*row = order{
		op: OpCheckout, uniqueID: b.uniqueID(i), created: b.book.At(i), code: code, text: text,
		payment: payment{
			transactionID: transactionPrefix + name, orderID: orderPrefix + name, appID: b.appID,
			amount: amount, currency: currency,
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
	transactionPrefix = "book-transaction-"
	orderPrefix       = "book-order-"
	refundPrefix      = "book-refund-"
)

func generatedName(number, i int) string { return strconv.Itoa(number) + "-" + strconv.Itoa(i) }

// generatedID returns the uniqueId of row i: 19 digits, from which indexOf can compute i.
func generatedID(prefix string, number, i int) string {
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
func (b *generatedOrders) indexOf(uniqueID string) (int, bool) {
	return indexOfID(uniqueID, prefixGeneratedOrder, b.number, b.Len())
}

func indexOfID(uniqueID, prefix string, number, n int) (int, bool) {
	if len(uniqueID) != 19 || uniqueID[:2] != prefix {
		return 0, false
	}
	i, err := strconv.Atoi(uniqueID[5:])
	if err != nil || i < 0 || i >= n || generatedID(prefix, number, i) != uniqueID {
		return 0, false
	}
	return i, true
}

// indexOfName returns the row with that merchant's id, which is a prefix and generatedName.
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

// indexOfMerchantID returns the row with that merchant's id, which is a prefix and generatedName.
func (b *generatedOrders) indexOfMerchantID(id, prefix string) (int, bool) {
	if b.of == nil {
		return indexOfName(id, prefix, b.number, b.Len())
	}
	i, ok := indexOfName(id, prefix, b.of.number, b.of.Len())
	if !ok || i%b.of.twiceEvery != 0 || i/b.of.twiceEvery >= b.Len() {
		return 0, false
	}
	return i / b.of.twiceEvery, true
}

// Series numbers in ids that do not belong to a book.
const (
	seriesOfNoOrders = 999 // for the orders of refunds whose orders do not exist
	seriesOfArrivals = 998 // for rows added during a search
	seriesOfForeign  = 997 // for ReplyForeign
)

// refundEvery is the default of SeedOptions.RefundEvery.
const refundEvery = 10

// generatedRefunds generates refunds for the rows of a Book.
type generatedRefunds struct {
	book   Book
	number int
	states bool             // some are at 110, some at 112
	orders *generatedOrders // the refunded orders, or nil
	every  int              // every n-th of them is refunded
}

func (b *generatedRefunds) Len() int           { return b.book.Len() }
func (b *generatedRefunds) At(i int) time.Time { return b.book.At(i) }
func (b *generatedRefunds) uniqueID(i int) string {
	return generatedID(prefixGeneratedRefund, b.number, i)
}

func (b *generatedRefunds) appendRow(o jsonobject.Object, f resultFormat, i int) jsonobject.Object {
	return f.appendRefund(o, b.refund(i))
}

func (b *generatedRefunds) refund(i int) *refund {
	at := b.book.At(i)
	r := &refund{
		refundUniqueID: b.uniqueID(i), merchantRefundID: refundPrefix + generatedName(b.number, i),
		uniqueID: generatedID(prefixGeneratedOrder, seriesOfNoOrders, i), amount: "1.00", currency: "USD",
		code: codes.Refunded, requested: at, completed: at.Add(2 * time.Minute),
	}
	if b.orders != nil {
		o := b.orders.order(i * b.every)
		r.uniqueID, r.transactionID, r.amount, r.currency = o.uniqueID, o.transactionID, o.amount, o.currency
	}
	switch {
	case b.states && i%5 == 4:
		r.code, r.completed = codes.RefundRequested, time.Time{}
	case b.states && i%7 == 6:
		r.code = codes.RefundFailed
	}
	return r
}
