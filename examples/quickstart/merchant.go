package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/notify"
	"github.com/cardgateway/cardgateway-go/sandbox"
	"github.com/shopspring/decimal"
)

// merchant is a minimal shop: a client, and a handler for notifications.
type merchant struct {
	client  *cardgateway.Client
	sandbox *sandbox.Server // nil with a real gateway
	server  *http.Server
	urls    *notify.TokenURLs
	notify  string // the notificationUrl; those of token orders have a binding added
	arrived chan *notify.Notification
	token   cardgateway.Token
	paid    *cardgateway.Transaction // for the refund
	run     string                   // makes the ids of this run unique
}

func open(s settings) (_ *merchant, err error) {
	m := &merchant{arrived: make(chan *notify.Notification, 100), run: strings.ToLower(rand.Text()[:6])}
	defer func() {
		if err != nil {
			m.close()
		}
	}()
	if s.baseURL == "" {
		if m.sandbox, err = sandbox.Start(sandbox.Options{SecretKey: "quickstart-secret"}); err != nil {
			return nil, err
		}
		s.baseURL, s.secretKey, s.merchantID = m.sandbox.URL, "quickstart-secret", ""
		s.testPayments = true // the sandbox marks its payments as tests
		fmt.Println("    a sandbox in this process: no account, no money")
	}
	config := cardgateway.Config{BaseURL: s.baseURL, AppID: cardgateway.AppID(s.appID), TestPayments: s.testPayments}
	if s.merchantID != "" {
		config.Authenticate = cardgateway.BasicAuth(s.merchantID, s.secretKey)
	}
	if m.client, err = cardgateway.New(config); err != nil {
		return nil, err
	}
	return m, m.receive(s)
}

// receive serves the notifications. A payload is only a hint: the handler queries the gateway before anything is passed on
// here.
func (m *merchant) receive(s settings) error {
	listener, err := net.Listen("tcp", s.listen)
	if err != nil {
		return err
	}
	m.notify = cmp.Or(s.notify, "http://"+listener.Addr().String()) + "/notification"
	key := []byte(rand.Text() + rand.Text()) // a shop stores its key; this one exists only while the program runs
	if m.urls, err = notify.NewTokenURLs(m.notify, key); err != nil {
		return errors.Join(err, listener.Close())
	}
	options := notify.Options{TokenURLs: m.urls}
	if s.secretKey != "" {
		options.Verify = notify.SignatureSHA256(s.secretKey)
	}
	handler := notify.NewHandler(m.client, options, func(_ context.Context, n *notify.Notification) error {
		m.arrived <- n
		return nil
	})
	m.server = &http.Server{Handler: handler, ReadTimeout: 5 * time.Second}
	go func() {
		if err := m.server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			fmt.Fprintln(os.Stderr, "quickstart: notifications:", err)
		}
	}()
	return nil
}

func (m *merchant) close() {
	if m.server != nil {
		_ = m.server.Close()
	}
	if m.sandbox != nil {
		m.sandbox.Close()
	}
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

// cardholder enters a test card on the hosted page, or asks a person to do so.
func (m *merchant) cardholder(redirectURL string, card sandbox.Outcome) error {
	if m.sandbox == nil {
		fmt.Println("    open in a browser, and enter a test card:", redirectURL)
		return nil
	}
	_, err := m.sandbox.Gateway.EnterCard(redirectURL, sandbox.TestCard(card))
	return err
}

// id returns a transaction id of this run.
func (m *merchant) id(name string) string { return "quickstart-" + m.run + "-" + name }

var price = decimal.RequireFromString("12.50")

func products() []cardgateway.ProductInfo {
	return []cardgateway.ProductInfo{{ProductName: "Candles", SKU: "123-456-789", Currency: "USD", Price: price, Quantity: 1}}
}
