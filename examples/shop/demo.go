package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"net"
	"net/http"
	"slices"
	"sync/atomic"
	"time"

	"github.com/cardgateway/cardgateway-go/examples/shop/payments"
	"github.com/cardgateway/cardgateway-go/journal"
	"github.com/cardgateway/cardgateway-go/sandbox"
)

// Demo is the gateway that comes with the shop, and the page on which a visitor makes it misbehave. None of this belongs in
// a real shop.
type Demo struct {
	Server  *sandbox.Server
	Courier *Courier
	secret  string
}

// StartDemo starts a sandbox gateway for the shop, with further options.
func StartDemo(ctx context.Context, o sandbox.Options) (*Demo, error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	d := &Demo{Courier: &Courier{transport: &http.Transport{DisableKeepAlives: true}}, secret: rand.Text()}
	o.MerchantName, o.MerchantID, o.SecretKey, o.AppID, o.Notifications.Transport = "Wick & Wax", "shop", d.secret, demoAppID, d.Courier
	// A different host name than the shop's, because a real payment page is on another site, too.
	_, port, _ := net.SplitHostPort(listener.Addr().String()) // written by package net
	o.BaseURL = "http://localhost:" + port
	d.Server = sandbox.Serve(listener, sandbox.New(o))
	return d, nil
}

const demoAppID = "123456"

// forVisitors configures a gateway for a demonstration: refunds stay in processing long enough to be seen, and a rejected
// notification is repeated sooner than in production.
func forVisitors() sandbox.Options {
	return sandbox.Options{RefundSettleAfter: 3 * time.Second, Notifications: sandbox.Notifications{Scale: 0.1}}
}

// settings points the shop at the sandbox. The sandbox's state is lost when the program ends, so the shop's database is in
// memory, too, unless another one was requested.
func (d *Demo) settings(s settings) settings {
	s.gateway, s.appID, s.merchantID, s.secretKey = d.Server.URL, demoAppID, "shop", d.secret
	s.typedCards, s.testPayments, s.staff = true, true, true
	s.database = cmp.Or(s.database, ":memory:")
	return s
}

const wordCharged = "Charged"

// moved returns when the sandbox moved money for payments and refunds. A shop never learns that: it is shown to compare.
func (d *Demo) moved(ids []journal.ID) (all []moment) {
	for _, m := range d.Server.Gateway.Moves(0) {
		id, word := journal.PaymentID(m.TransactionID), wordCharged
		if m.RefundTransactionID != "" {
			id, word = journal.RefundID(m.RefundTransactionID), "Returned"
		}
		if slices.Contains(ids, id) {
			all = append(all, moment{At: m.At, Kind: "ledger", Word: word, Text: "In the sandbox's ledger, which the shop cannot see."})
		}
	}
	return all
}

// demoPage is the page of the sandbox.
type demoPage struct {
	Done     string // what the button did that was pressed
	Courier  string
	Couriers []string
	Orders   []payments.Order
	Gateway  string // URL of its dashboard
}

// doneTexts confirm what the buttons did.
var doneTexts = map[string]string{
	"lose": "Armed. Now pay, best with a saved card.", "lose-refund": "Armed. Now refund a paid order, on the page for the staff.",
	"courier": "Changed.", "approve": "The bank has approved.", "decline": "The bank has declined.",
	"forge": "A forged notification was sent. Look at the order: it has not changed.", "late": "That is not possible any more.",
}

func (s *Shop) showDemo(w http.ResponseWriter, r *http.Request) error {
	orders, err := s.payments.Orders(r.Context(), s.customer(w, r))
	if err != nil {
		return err
	}
	return s.render(w, r, http.StatusOK, "sandbox", demoPage{
		doneTexts[r.URL.Query().Get("done")], s.demo.Courier.Mode(), courierModes, orders, s.demo.Server.URL + "/_sandbox",
	})
}

// changeDemo carries out the action of a button of that page.
func (s *Shop) changeDemo(w http.ResponseWriter, r *http.Request) error {
	field, err := form(r)
	if err != nil {
		return err
	}
	gateway, id, done := s.demo.Server.Gateway, field("order"), field("do")
	switch done {
	case "lose":
		gateway.Inject(sandbox.Fault{Operation: sandbox.OpPayments, Reply: sandbox.ReplyReset})
	case "lose-refund":
		gateway.Inject(sandbox.Fault{Operation: sandbox.OpCreateRefund, Reply: sandbox.ReplyReset})
	case "courier":
		s.demo.Courier.SetMode(field("mode"))
	case "approve", "decline":
		if err := gateway.Settle(id, done == "approve"); err != nil {
			s.log.Info("sandbox", "error", err)
			done = "late"
		}
	case "forge":
		if err := s.forge(r.Context(), id); err != nil {
			return err
		}
	default:
		return errBadForm
	}
	return redirect(w, r, "/sandbox?done="+done)
}

// forge sends a forged notification, which says that an order is paid.
func (s *Shop) forge(ctx context.Context, id string) error {
	o, err := s.payments.Order(ctx, id)
	if err != nil {
		return err
	}
	forged, err := sandbox.NotificationRequest(s.url+payments.NotificationPath, "", map[string]any{
		"code": 100, "transactionType": "Sale", "uniqueId": o.UniqueID, "transactionId": o.Attempt.ID,
		"transactionAmount": o.Amount.String(), "transactionCurrency": currency, "sign": "forged",
	})
	if err != nil {
		return err
	}
	resp, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(forged.WithContext(ctx))
	if err != nil {
		return err
	}
	s.log.Info("a forged notification was answered", "status", resp.Status)
	return resp.Body.Close()
}

// Courier delivers the sandbox's notifications, or loses, delays or repeats them.
type Courier struct {
	transport http.RoundTripper
	mode      atomic.Int32 // an index of courierModes: at first, each is delivered at once
}

// The modes of a Courier.
const (
	courierPrompt = "prompt"
	courierLate   = "late"
	courierTwice  = "twice"
	courierDrop   = "drop"
)

var courierModes = []string{courierPrompt, courierLate, courierTwice, courierDrop}

const courierDelay = 5 * time.Second

// Mode returns the current mode.
func (c *Courier) Mode() string { return courierModes[c.mode.Load()] }

// SetMode sets the mode, if it is a known one.
func (c *Courier) SetMode(mode string) {
	if i := slices.Index(courierModes, mode); i >= 0 {
		c.mode.Store(int32(i))
	}
}

// RoundTrip delivers a notification according to the mode.
func (c *Courier) RoundTrip(r *http.Request) (*http.Response, error) {
	switch c.Mode() {
	case courierDrop:
		return nil, errors.New("the courier dropped the notification")
	case courierLate:
		select {
		case <-time.After(courierDelay):
		case <-r.Context().Done():
			return nil, r.Context().Err()
		}
	case courierTwice:
		first := r.Clone(r.Context())
		first.Body, _ = r.GetBody() // set, because the sandbox's body is a byte slice
		if resp, err := c.transport.RoundTrip(first); err == nil {
			_ = resp.Body.Close()
		}
	}
	return c.transport.RoundTrip(r)
}
