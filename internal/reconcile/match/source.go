package match

import (
	"context"
	"iter"
	"time"

	"github.com/cardgateway/cardgateway-go/internal/reconcile/books"
)

// Books provides the rows to compare. Every stream is sorted by the bytes of the id in its comment.
type Books interface {
	Orders(ctx context.Context, from, to time.Time) iter.Seq2[books.Order, error] // by TransactionID
	OrdersByTransactionID(ctx context.Context, ids ...string) iter.Seq2[books.Order, error]
	OrdersByUniqueID(ctx context.Context, ids ...string) iter.Seq2[books.Order, error]
	// RepeatedPayments returns the approved orders of any time whose TransactionID is that of several approved orders.
	RepeatedPayments(ctx context.Context) iter.Seq2[books.Order, error]             // by TransactionID
	Refunds(ctx context.Context, from, to time.Time) iter.Seq2[books.Refund, error] // by UniqueID

	// RefundsByRefundID returns the refunds by the merchant's id, or the gateway's if there is none. An empty currency is
	// replaced by that of the payment, if it is known.
	RefundsByRefundID(ctx context.Context, from, to time.Time) iter.Seq2[books.Refund, error]
	FindRefunds(ctx context.Context, refundIDs ...string) iter.Seq2[books.Refund, error] // by the same ids

	// RepeatedRefunds returns the approved refunds of any time whose id is that of several approved refunds, by the same ids.
	RepeatedRefunds(ctx context.Context) iter.Seq2[books.Refund, error]

	ListedPayments(ctx context.Context) iter.Seq2[books.ListedPayment, error] // by TransactionID
	// RepeatedOrders returns the lines whose order is in several lines, by Order.
	RepeatedOrders(ctx context.Context) iter.Seq2[books.ListedPayment, error]
	ListedRefunds(ctx context.Context) iter.Seq2[books.ListedRefund, error] // by RefundID
	Unreadables(ctx context.Context) iter.Seq2[books.Unreadable, error]     // by list and line
}
