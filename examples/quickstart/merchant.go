package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/notify"
	"github.com/cardgateway/cardgateway-go/sandbox"
	"github.com/shopspring/decimal"
)

// merchant is a minimal shop: a client, and a handler for notifications.
type merchant struct {
	client  *cardgateway.Client
	sandbox *sandbox.Server
	urls    *notify.TokenURLs
	notify  string // the notificationUrl; those of token orders have a binding added
	arrived chan *notify.Notification
	token   cardgateway.Token
	paid    *cardgateway.Transaction // for the refund
}

// secretKey is that of the sandbox. A shop reads its own from the environment or a file.
const secretKey = "quickstart-secret"

// open starts the sandbox and the merchant's server. They end with the program.
func open() (_ *merchant, err error) {
	m := &merchant{arrived: make(chan *notify.Notification, 100)}
	if m.sandbox, err = sandbox.Start(sandbox.Options{SecretKey: secretKey}); err != nil {
		return nil, err
	}
	m.client, err = cardgateway.New(cardgateway.Config{BaseURL: m.sandbox.URL, AppID: "123456", TestPayments: true})
	if err != nil {
		return nil, err
	}
	return m, m.receive()
}

// receive serves the notifications. A payload is only a hint: the handler queries the gateway before anything is passed on
// here.
func (m *merchant) receive() error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	m.notify = "http://" + listener.Addr().String() + "/notification"
	key := []byte(rand.Text() + rand.Text()) // a shop stores its key; this one exists only while the program runs
	if m.urls, err = notify.NewTokenURLs(m.notify, key); err != nil {
		return err
	}
	options := notify.Options{TokenURLs: m.urls, Verify: notify.SignatureSHA256(secretKey)}
	handler := notify.NewHandler(m.client, options, func(_ context.Context, n *notify.Notification) error {
		m.arrived <- n
		return nil
	})
	server := &http.Server{Handler: handler, ReadTimeout: 5 * time.Second}
	go func() { fmt.Fprintln(os.Stderr, "quickstart: notifications:", server.Serve(listener)) }()
	return nil
}

// await waits until a notification about the transaction has been confirmed.
func (m *merchant) await(ctx context.Context, transactionID string) (*notify.Notification, error) {
	for {
		select {
		case n := <-m.arrived:
			if n.Transaction.TransactionID == transactionID {
				return n, nil
			}
		case <-ctx.Done():
			return nil, fmt.Errorf("waiting for the notification of %s: %w", transactionID, ctx.Err())
		}
	}
}

// finishOnPage has the cardholder enter a test card on the hosted page, and waits for the notification.
func (m *merchant) finishOnPage(ctx context.Context, opened *cardgateway.Transaction, card sandbox.Outcome) (*notify.Notification, error) {
	if _, err := m.sandbox.EnterCard(opened.RedirectURL, sandbox.TestCard(card)); err != nil {
		return nil, err
	}
	return m.await(ctx, opened.TransactionID)
}

var price = decimal.RequireFromString("12.50")

func products() []cardgateway.ProductInfo {
	return []cardgateway.ProductInfo{{ProductName: "Candles", SKU: "123-456-789", Currency: "USD", Price: price, Quantity: 1}}
}
