// Package fragment declares what the fragments on the pages take as given: what a merchant's own program has.
package fragment

import (
	"context"
	"database/sql"
	"net/http"
	"testing"
	"time"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/journal"
	"github.com/cardgateway/cardgateway-go/notify"
	"github.com/shopspring/decimal"
)

var (
	ctx      context.Context
	t        *testing.T
	mux      *http.ServeMux
	client   *cardgateway.Client
	store    journal.Store
	payments *journal.Journal
	token    cardgateway.Token
	req      cardgateway.TokenPaymentRequest
	payment  *cardgateway.Transaction
	checkout *cardgateway.Transaction
	err      error
	urls     *notify.TokenURLs

	merchantID, secretKey string
	january, july         time.Time
)

// What the merchant's own program adds.
var (
	orders merchantOrders
	cards  interface {
		Store(context.Context, string, cardgateway.Token) error
	}
	charges interface {
		Store(context.Context, *cardgateway.Transaction) error
	}
	mirror           localMirror
	checkpoint       cardgateway.Checkpoint
	open             openPayment
	config           cardgateway.Config
	calls            interface{ Add(string, int64) }
	db               *sql.DB
	yesterday, today time.Time
	backup           time.Time
	tokenURLKey      []byte
	tokenKey         []byte
	tokens           *cardgateway.TokenCipher
	cardID           string

	subscription func(transactionID string) cardgateway.SubscriptionRequest
	storeOutcome func(context.Context, journal.Entry) error
	payOrder     func(baseURL, token, transactionID string)
)

// merchantOrders is the merchant's own database.
type merchantOrders interface {
	Update(context.Context, *cardgateway.Transaction) error
	SetPaid(ctx context.Context, transactionID string) error
	SetWaiting(ctx context.Context, transactionID, redirectURL string) error
	SetDeclined(ctx context.Context, transactionID string) error
	SetSeen(ctx context.Context, transactionID string) error
	SetRefund(ctx context.Context, r *cardgateway.Refund, declined error) error
	NeedsReview(ctx context.Context, transactionID string, why error) error
	Record(ctx context.Context, e journal.Entry, t *cardgateway.Transaction, err error) error
	RecordRefund(ctx context.Context, e journal.Entry, r *cardgateway.Refund, err error) error
	CheckManually(ctx context.Context, transactionID string) error
}

// localMirror is where a job keeps the rows of a walk.
type localMirror interface {
	Store(context.Context, *cardgateway.Transaction) error
	StoreBatch(context.Context, []*cardgateway.Transaction, cardgateway.Checkpoint) error
	ContinueLater(context.Context, cardgateway.Checkpoint) error
	DayIsComplete(context.Context, time.Time) error
}

// openPayment is a payment that the merchant's database has as unknown.
type openPayment struct {
	TransactionID, OrderID, Currency string
	Amount                           decimal.Decimal
	CreatedAt                        time.Time
	HostedPage, Seen, SentAgain      bool
}
