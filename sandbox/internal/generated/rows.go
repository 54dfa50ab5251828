package generated

import (
	"cmp"
	"strconv"
	"strings"
	"time"

	"github.com/cardgateway/cardgateway-go/sandbox/internal/codes"
	"github.com/cardgateway/cardgateway-go/sandbox/internal/hash"
	"github.com/cardgateway/cardgateway-go/sandbox/internal/money"
)

// IDs are the ids of a row, or those by which rows are looked for: then empty ones do not count.
type IDs struct {
	UniqueID, OrderID, TransactionID    string // of the order
	RefundTransactionID, RefundUniqueID string
}

// None reports whether all ids are empty.
func (ids IDs) None() bool { return ids == IDs{} }

// Match reports whether a row has all the ids that are looked for.
func (ids IDs) Match(row IDs) bool {
	same := func(wanted, has string) bool { return wanted == "" || wanted == has }
	return same(ids.UniqueID, row.UniqueID) && same(ids.OrderID, row.OrderID) && same(ids.TransactionID, row.TransactionID) &&
		same(ids.RefundTransactionID, row.RefundTransactionID) && same(ids.RefundUniqueID, row.RefundUniqueID)
}

// Order is one generated order.
type Order struct {
	IDs

	AppID            string // empty means none
	Amount, Currency string
	Code             int
	Text             string // transactionMessage
	At               time.Time
}

// Refund is one generated refund.
type Refund struct {
	IDs // no TransactionID if there is no such order

	Amount, Currency     string
	Code                 int
	Requested, Completed time.Time // Completed is zero at 110
}

// Orders is a series of orders.
type Orders struct {
	book

	number      int
	appID       string   // empty means that the rows have none
	currencies  []string // used in turn; USD if empty
	refundEvery int      // every n-th order is approved, because it may have been refunded
	twiceEvery  int      // likewise, because it is charged twice; zero means none

	of *Orders // if not nil, these are the second charges of every twiceEvery-th row of it
}

// UniqueID returns the uniqueId of order i.
func (b *Orders) UniqueID(i int) string { return ID(prefixOrder, b.number, i) }

// Order generates order i.
func (b *Orders) Order(i int) Order {
	if b.of != nil {
		o := b.of.Order(i * b.of.twiceEvery)
		o.UniqueID, o.At = b.UniqueID(i), b.At(i)
		return o
	}
	code, text := codes.Success, "Approved"
	switch i % 100 {
	case 3, 17, 34, 48, 61, 79, 92:
		code, text = codes.Failed, "Declined"
	case 26, 85:
		code, text = codes.Processing, "Pending"
	}
	if i%b.refundEvery == 0 || b.twiceEvery > 0 && i%b.twiceEvery == 0 {
		code, text = codes.Success, "Approved"
	}
	cents := strconv.Itoa(int(hash.Of(uint64(b.number), uint64(i), 5)%50_000) + 100)
	currency := "USD"
	if len(b.currencies) > 0 {
		currency = b.currencies[i%len(b.currencies)]
	}
	name := nameOf(b.number, i)
	return Order{
		IDs:   IDs{UniqueID: b.UniqueID(i), TransactionID: "book-transaction-" + name, OrderID: "book-order-" + name},
		AppID: b.appID, Amount: money.WithDecimals(cents, money.Decimals(currency)), Currency: currency, Code: code, Text: text, At: b.At(i),
	}
}

// Arriving returns the n-th order that happens now, while a search is carried out.
func Arriving(n int) Order {
	now := time.Now()
	one := Orders{book: Seed{N: 1, From: now, To: now}.prepare(), number: seriesOfArriving, refundEvery: refundEvery}
	return one.Order(n * refundEvery)
}

// Prefixes of the ids that the gateway issues. Those of stored rows are 18 and 19.
const (
	prefixOrder  = "16"
	prefixRefund = "17"
)

// Series numbers in ids that do not belong to a series.
const (
	seriesOfNoOrders = 99_999 // for the orders of refunds whose orders do not exist
	seriesOfArriving = 99_998
	SeriesOfForeign  = 99_997 // for rows that are not this merchant's
)

func nameOf(number, i int) string { return strconv.Itoa(number) + "-" + strconv.Itoa(i) }

// firstOfRow is where the number of the row begins in an id, after the prefix and the number of the series.
const firstOfRow = 7

// ID returns the uniqueId of row i of a series: 19 digits, from which i can be computed.
func ID(prefix string, number, i int) string {
	id := [19]byte{prefix[0], prefix[1]}
	for at := len(id) - 1; at >= firstOfRow; at-- {
		id[at] = byte('0' + i%10)
		i /= 10
	}
	for at := firstOfRow - 1; at >= 2; at-- {
		id[at] = byte('0' + number%10)
		number /= 10
	}
	return string(id[:])
}

// rowOf returns the row that an id names, if there are so many. The caller has to compare the id with that of the row, because only
// the number of the row is read.
func rowOf(id string, n int) (int, bool) {
	name := id[strings.LastIndexByte(id, '-')+1:]
	if len(name) == len(ID(prefixOrder, 0, 0)) {
		name = name[firstOfRow:]
	}
	i, err := strconv.Atoi(name)
	return i, err == nil && i >= 0 && i < n
}

// Find returns the row that has all the ids, of which there is at least one. A row is found from its time on.
func (b *Orders) Find(ids IDs) (i int, ok bool) {
	i, ok = b.row(ids)
	return i, ok && !b.At(i).After(time.Now()) && ids.Match(b.Order(i).IDs)
}

// row returns the row that can have the ids.
func (b *Orders) row(ids IDs) (int, bool) {
	id := cmp.Or(ids.UniqueID, ids.TransactionID, ids.OrderID)
	if b.of == nil || ids.UniqueID != "" {
		return rowOf(id, b.Len())
	}
	i, ok := rowOf(id, b.of.Len())
	return i / b.of.twiceEvery, ok && i/b.of.twiceEvery < b.Len()
}

// Refunds is a series of refunds.
type Refunds struct {
	book

	number int
	states bool    // some are at 110, some at 112
	orders *Orders // the refunded orders, or nil
	every  int     // every n-th of them is refunded
}

// UniqueID returns the refundUniqueId of refund i.
func (b *Refunds) UniqueID(i int) string { return ID(prefixRefund, b.number, i) }

// Refund generates refund i.
func (b *Refunds) Refund(i int) Refund {
	at := b.At(i)
	r := Refund{
		IDs: IDs{
			RefundUniqueID: b.UniqueID(i), RefundTransactionID: "book-refund-" + nameOf(b.number, i),
			UniqueID: ID(prefixOrder, seriesOfNoOrders, i),
		},
		Amount: "1.00", Currency: "USD", Code: codes.Refunded, Requested: at, Completed: at.Add(2 * time.Minute),
	}
	if b.orders != nil {
		o := b.orders.Order(i * b.every)
		r.UniqueID, r.TransactionID, r.Amount, r.Currency = o.UniqueID, o.TransactionID, o.Amount, o.Currency
	}
	switch {
	case b.states && i%5 == 4:
		r.Code, r.Completed = codes.RefundRequested, time.Time{}
	case b.states && i%7 == 6:
		r.Code = codes.RefundFailed
	}
	return r
}

// Find does the same for refunds.
func (b *Refunds) Find(ids IDs) (i int, ok bool) {
	i, ok = b.row(ids)
	return i, ok && !b.At(i).After(time.Now()) && ids.Match(b.Refund(i).IDs)
}

// row returns the row that can have the ids.
func (b *Refunds) row(ids IDs) (int, bool) {
	if id := cmp.Or(ids.RefundUniqueID, ids.RefundTransactionID); id != "" || b.orders == nil {
		return rowOf(cmp.Or(id, ids.UniqueID), b.Len())
	}
	i, ok := rowOf(cmp.Or(ids.UniqueID, ids.TransactionID), b.orders.Len())
	return i / b.every, ok && i/b.every < b.Len()
}
