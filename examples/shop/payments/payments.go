// Package payments takes the money of a shop: it stores orders with the attempts to pay them, refunds and cards, makes the calls, and stores
// what the gateway says. It has no pages; those of the shop call it.
package payments

import (
	"context"
	"database/sql"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/journal"
	"github.com/cardgateway/cardgateway-go/journal/sqlstore"
	"github.com/cardgateway/cardgateway-go/notify"
)

// Config is what New needs.
type Config struct {
	Client    *cardgateway.Client
	DB        *sql.DB         // see OpenDatabase
	Store     *sqlstore.Store // the same database
	URL       string          // of the shop, for browsers and the gateway: it has the pages /orders/{id} and /cards, and NotificationPath
	SecretKey string          // checks the signature of notifications; empty: it is not checked
	TokenKey  []byte          // 32 random bytes: encrypts the tokens of cards
	URLKey    []byte          // 32 random bytes: makes URLs for tokens that nobody can guess
	Logger    *slog.Logger    // a line "alert" is for a person
	Every     time.Duration   // how often Run looks for what is to be reported; zero means 5 s
	// RefundsEvery is how often the gateway's refunds are copied: also those of its back office, whose notification can be lost. Zero
	// means a minute.
	RefundsEvery time.Duration
	// Notified, if set, is called with the id of each payment or refund of which a notification came that a query has confirmed.
	Notified func(ctx context.Context, id string, came time.Time)
}

// NotificationPath is where the shop serves Notifications.
const NotificationPath = "/notifications"

// Service makes payments and refunds. It is safe for concurrent use, also by several processes with one database.
type Service struct {
	Config
	Journal *journal.Journal

	deduper notify.Deduper // of several processes, one handles a notification
	tokens  *cardgateway.TokenCipher
	urls    *notify.TokenURLs
}

// New creates the tables that are missing.
func New(ctx context.Context, c Config) (*Service, error) {
	s := &Service{Config: c}
	_, err := c.DB.ExecContext(ctx, tables)
	if err != nil {
		return nil, err
	}
	if s.deduper, err = c.Store.NewDeduper(ctx, c.Client); err != nil {
		return nil, err
	}
	if s.tokens, err = cardgateway.NewTokenCipher(c.TokenKey); err != nil {
		return nil, err
	}
	if s.urls, err = notify.NewTokenURLs(c.URL+NotificationPath, c.URLKey); err != nil {
		return nil, err
	}
	s.Journal = journal.New(c.Client, c.Store, journal.Options{
		Gateway: "shop", // its name in the journal, for ever
		Logger:  c.Logger, Observe: s.observeJournal,
	})
	return s, nil
}

// Run resolves what is open, also what another process has left, and copies what the gateway has, until ctx ends. Every process calls it.
func (s *Service) Run(ctx context.Context) {
	var working sync.WaitGroup
	working.Go(func() { s.copyRegularly(ctx) })
	s.Logger.Info("no longer resolving payments", "reason", s.Journal.Run(ctx, s.Every, s.storeOutcome))
	working.Wait()
}

// Notifications receives what the gateway notifies. Without it, outcomes come some seconds later, and the tokens of cards never.
func (s *Service) Notifications() http.Handler {
	options := notify.Options{TokenURLs: s.urls, Deduper: s.deduper, Logger: s.Logger, Observe: s.observeNotification}
	if s.SecretKey != "" {
		options.Verify = notify.SignatureSHA256(s.SecretKey)
	}
	return notify.NewHandler(s.Client, options, s.notified)
}

// notified passes what a query has confirmed to the journal. It may be called again, and in any order. An error makes the gateway send the
// notification again.
func (s *Service) notified(ctx context.Context, n *notify.Notification) error {
	came, id := time.Now(), ""
	var err error
	switch {
	case n.Claimed.Kind == notify.KindChargeback: // no query confirms it
		s.alertIf(ctx, true, "a chargeback: check it", "uniqueId", n.Transaction.UniqueID, "transactionId", n.Transaction.TransactionID)
		return nil
	case n.Refund != nil:
		id, err = n.Refund.MerchantRefundID, s.confirmRefund(ctx, n.Refund)
	default:
		id, err = n.Transaction.TransactionID, s.confirm(ctx, n.Transaction)
	}
	if s.Notified != nil && err == nil {
		s.Notified(ctx, id, came)
	}
	if err != nil || n.Token.IsZero() {
		return err
	}
	return s.storeToken(ctx, n)
}
