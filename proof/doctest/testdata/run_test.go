package fragment

import (
	"context"
	"database/sql"
	"errors"
	"expvar"
	"maps"
	"net/http"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/journal"
	_ "github.com/cardgateway/cardgateway-go/journal/sqlite" // the driver
	"github.com/cardgateway/cardgateway-go/notify"
	"github.com/cardgateway/cardgateway-go/sandbox"
	"github.com/shopspring/decimal"
)

var (
	fragments                = map[string]func() error{} // by page and line
	gatewayURL, databasePath string
)

// TestFragments runs each fragment once, with a sandbox of its own. A fragment may run until its context ends, and return what a caller
// has to handle.
func TestFragments(t *testing.T) {
	for _, name := range slices.Sorted(maps.Keys(fragments)) {
		t.Run(name, func(t *testing.T) {
			setUp(t)
			if err := fragments[name](); err != nil && !errors.Is(err, context.DeadlineExceeded) {
				t.Error(err)
			}
		})
	}
}

func setUp(test *testing.T) {
	must := func(err error) {
		if err != nil {
			test.Helper()
			test.Fatal(err)
		}
	}
	t, merchantID, secretKey, cardID = test, "m-1", "test-secret", "card-1"
	tokenKey, tokenURLKey = make([]byte, 32), make([]byte, 32)
	var cancel context.CancelFunc
	ctx, cancel = context.WithTimeout(test.Context(), 2*time.Second)
	test.Cleanup(cancel)
	gateway, err := sandbox.Start(sandbox.Options{MerchantID: merchantID, SecretKey: secretKey, AppID: "123456"})
	must(err)
	test.Cleanup(func() { gateway.Close() })
	now := time.Now()
	gateway.Seed(50, now.AddDate(0, 0, -7), now)
	january, july, yesterday, today, backup = now.AddDate(0, -6, 0), now, now.AddDate(0, 0, -1), now, now.AddDate(0, 0, -1)
	gatewayURL, databasePath = gateway.URL, filepath.Join(test.TempDir(), "payments.db")

	config = cardgateway.Config{BaseURL: gatewayURL, AppID: "123456", TestPayments: true, Authenticate: cardgateway.BasicAuth(merchantID, secretKey)}
	client, err = cardgateway.New(config)
	must(err)
	mux, calls = http.NewServeMux(), new(expvar.Map)
	store = journal.NewMemoryStore()
	payments = journal.New(client, store, journal.Options{})
	storeOutcome = func(context.Context, journal.Entry) error { return nil }
	token = cardgateway.NewToken(gateway.NewToken(sandbox.Approved))
	tokens, err = cardgateway.NewTokenCipher(tokenKey)
	must(err)
	urls, err = notify.NewTokenURLs("https://shop.example/notifications", tokenURLKey)
	must(err)
	req = cardgateway.TokenPaymentRequest{
		TransactionID: "t-0", Currency: "USD", Amount: decimal.RequireFromString("12.50"), TransactionIP: "203.0.113.7",
		CallbackURL: "https://shop.example/", NotificationURL: "https://shop.example/notifications",
		ProductInfos: []cardgateway.ProductInfo{{ProductName: "Candles", Quantity: 1}},
	}
	subscription = func(id string) cardgateway.SubscriptionRequest {
		return cardgateway.SubscriptionRequest{
			TransactionID: id, OrderID: id, Currency: "USD", Amount: req.Amount, TransactionIP: req.TransactionIP,
			CallbackURL: req.CallbackURL, NotificationURL: req.NotificationURL, ProductInfos: req.ProductInfos,
			BillingAddress: cardgateway.Address{Country: "US"},
			Card: cardgateway.Card{
				CardNumber: cardgateway.NewCardNumber("4300000000000000"), CVV: cardgateway.NewCVV("123"),
				ExpiredMonth: "12", ExpiredYear: "39", Cardholder: "Ada Gross",
			},
			Extension: cardgateway.SubscriptionExtension{SubscriptionCycle: cardgateway.CycleWeek, SubscriptionPeriod: 3},
		}
	}
	payOrder = func(baseURL, token, transactionID string) {
		shop, err := cardgateway.New(cardgateway.Config{BaseURL: baseURL, AppID: "123456", TestPayments: true})
		must(err)
		paid := req
		paid.TransactionID = transactionID
		_, _ = shop.TokenPayment(ctx, cardgateway.NewToken(token), paid)
	}
	payment, err = client.CreateSubscription(ctx, subscription("t-paid"))
	must(err)
	checkout = payment
	open = openPayment{TransactionID: "t-paid", OrderID: "t-paid", Currency: "USD", Amount: req.Amount, CreatedAt: now}
	orders, cards, charges, mirror = books{}, cardBooks{}, books{}, books{}
	db, err = sql.Open("sqlite",
		"file:"+filepath.Join(test.TempDir(), "shop.db")+"?_pragma=busy_timeout(10000)&_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)")
	must(err)
	test.Cleanup(func() { _ = db.Close() })
	_, err = db.ExecContext(ctx, `CREATE TABLE cards (id TEXT PRIMARY KEY, token TEXT NOT NULL);
		CREATE TABLE gateway_orders (unique_id TEXT PRIMARY KEY, code INTEGER NOT NULL)`)
	must(err)
}

// books are a merchant's database, which stores nothing.
type books struct{}

func (books) Update(context.Context, *cardgateway.Transaction) error      { return nil }
func (books) SetPaid(context.Context, string) error                       { return nil }
func (books) SetWaiting(context.Context, string, string) error            { return nil }
func (books) SetDeclined(context.Context, string) error                   { return nil }
func (books) SetSeen(context.Context, string) error                       { return nil }
func (books) SetRefund(context.Context, *cardgateway.Refund, error) error { return nil }
func (books) NeedsReview(context.Context, string, error) error            { return nil }
func (books) Record(context.Context, journal.Entry, *cardgateway.Transaction, error) error {
	return nil
}
func (books) RecordRefund(context.Context, journal.Entry, *cardgateway.Refund, error) error {
	return nil
}
func (books) StoreBatch(context.Context, []*cardgateway.Transaction, cardgateway.Checkpoint) error {
	return nil
}
func (books) CheckManually(context.Context, string) error                 { return nil }
func (books) Store(context.Context, *cardgateway.Transaction) error       { return nil }
func (books) ContinueLater(context.Context, cardgateway.Checkpoint) error { return nil }
func (books) DayIsComplete(context.Context, time.Time) error              { return nil }

type cardBooks struct{}

func (cardBooks) Store(context.Context, string, cardgateway.Token) error { return nil }
