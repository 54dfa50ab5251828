package main

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/examples/shop/payments"
)

// Shop is everything that the pages need.
type Shop struct {
	settings
	demo     *Demo             // nil with a real gateway
	payments *payments.Service // everything that concerns money, and its database
}

const attemptTimeout = 20 * time.Second

// NewShop opens the database and creates the client. Call Close after use.
func NewShop(ctx context.Context, s settings, demo *Demo) (_ *Shop, err error) {
	s.tokenLate = cmp.Or(s.tokenLate, tokenLate)
	shop := &Shop{settings: s, demo: demo}
	config := cardgateway.Config{
		BaseURL: s.gateway, AppID: cardgateway.AppID(s.appID), TestPayments: s.testPayments, AttemptTimeout: cmp.Or(s.attemptTimeout, attemptTimeout),
		Logger: s.log, HTTPClient: s.httpClient, HostedPageLifetime: s.hostedPageLifetime, Observe: shop.observe,
	}
	if s.merchantID != "" {
		config.Authenticate = cardgateway.BasicAuth(s.merchantID, s.secretKey)
	}
	client, err := cardgateway.New(config)
	if err != nil {
		return nil, err
	}
	key, err := LoadKey(s.keyFile)
	if err != nil {
		return nil, err
	}
	tokenKey, err1 := derive(key, "shop: tokens")
	urlKey, err2 := derive(key, "shop: token URLs")
	if err := errors.Join(err1, err2); err != nil {
		return nil, err
	}
	db, store, err := payments.OpenDatabase(ctx, s.database)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			_ = db.Close()
		}
	}()
	if _, err := db.ExecContext(ctx, tables); err != nil {
		return nil, err
	}
	shop.payments, err = payments.New(ctx, payments.Config{
		Client: client, DB: db, Store: store, URL: s.url, SecretKey: s.secretKey, TokenKey: tokenKey, URLKey: urlKey, Logger: s.log,
		Every: s.settleEvery, RefundsEvery: s.refundsEvery,
		Notified: func(ctx context.Context, id string, came time.Time) { shop.addEvent(ctx, id, EventNotified, came) },
	})
	return shop, err
}

// Close closes the database and the connections to the gateway.
func (s *Shop) Close() error {
	s.payments.Client.CloseIdleConnections()
	return s.payments.DB.Close()
}

// Handler serves the shop. Notifications are separate from the pages: they come from another server, without a session, and
// have their own limits and check.
func (s *Shop) Handler() http.Handler {
	pages := http.NewServeMux()
	page := func(pattern string, show func(http.ResponseWriter, *http.Request) error) {
		pages.Handle(pattern, s.page(show))
	}
	page("GET /{$}", s.showCatalog)
	page("GET /cart", s.showCart)
	page("POST /cart", s.changeCart)
	page("GET /checkout", s.showCheckout)
	page("POST /checkout", s.placeOrder)
	page("GET /orders", s.showOrders)
	page("GET /orders/{id}", s.showOrder)
	page("GET /orders/{id}/story", s.showStory)
	page("GET /orders/{id}/pay", s.showRedirect)
	page("POST /orders/{id}/pay", s.payAgain)
	page("POST /orders/{id}/otherwise", s.payOtherwise)
	page("GET /cards", s.showCards)
	page("POST /cards", s.storeCard)
	page("GET /cards/{id}/enter", s.showCardRedirect)
	page("POST /cards/{id}/remove", s.removeCard)
	page("GET /weekly", s.showWeekly("weekly"))
	page("POST /weekly", s.subscribe)
	page("GET /refunds", s.showRefunds)
	if s.staff {
		page("GET /staff", s.showStaff)
		page("POST /staff/orders/{id}/refund/{refund}", s.refund)
	}
	if s.typedCards {
		page("GET /weekly/card", s.showWeekly("weekly-card"))
		page("POST /weekly/card", s.subscribeWithCard)
	}
	if s.demo != nil {
		page("GET /sandbox", s.showDemo)
		page("POST /sandbox", s.changeDemo)
	}
	page("/", func(http.ResponseWriter, *http.Request) error { return errNotFound })

	all := http.NewServeMux()
	all.Handle("/", s.protect(pages))
	all.HandleFunc("GET /static/", serveStatic)
	all.Handle(payments.NotificationPath, s.payments.Notifications())
	return s.withHeaders(all)
}

func (s *Shop) isHTTPS() bool { return strings.HasPrefix(s.url, "https://") }
