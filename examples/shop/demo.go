package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/cardgateway/cardgateway-go/sandbox"
)

// Demo is the gateway that the shop brings along, and the page on which a visitor makes it misbehave. Nothing of it
// belongs into a real shop.
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
	d := &Demo{Courier: NewCourier(), secret: rand.Text()}
	o.MerchantID, o.SecretKey, o.AppID, o.NotificationTransport = "shop", d.secret, demoAppID, d.Courier
	// Another host name than the shop's, since a real payment page is at another site too.
	_, port, _ := net.SplitHostPort(listener.Addr().String()) // which net has just made
	o.BaseURL = "http://localhost:" + port
	d.Server = sandbox.Serve(listener, sandbox.New(o))
	return d, nil
}

const demoAppID = "123456"

// forVisitors makes a gateway that is pleasant to look at: payments are in processing for long enough to see it, and
// a notification that was refused comes again sooner than in production.
func forVisitors() sandbox.Options {
	return sandbox.Options{SettleAfter: 3 * time.Second, NotificationScale: 0.1}
}

// Close stops the gateway.
func (d *Demo) Close() { d.Server.Close() }

// settings point the shop at the sandbox. What it has forgotten when the program ends, the books forget too, unless
// they were asked for.
func (d *Demo) settings(s settings) settings {
	s.gateway, s.appID, s.merchantID, s.secretKey = d.Server.URL, demoAppID, "shop", d.secret
	s.typedCards = true
	s.db = cmp.Or(s.db, ":memory:")
	return s
}

// demoPage is the page of the sandbox.
type demoPage struct {
	Courier  string
	Couriers []string
	Orders   []Order
}

func (s *Shop) showDemo(w http.ResponseWriter, r *http.Request) error {
	orders, err := s.store.OrdersOf(r.Context(), s.customer(w, r))
	if err != nil {
		return err
	}
	return s.render(w, r, http.StatusOK, "sandbox", demoPage{s.demo.Courier.Mode(), courierModes[:], orders})
}

// changeDemo does what a button of that page says.
func (s *Shop) changeDemo(w http.ResponseWriter, r *http.Request) error {
	field, err := form(r)
	if err != nil {
		return err
	}
	gateway, id := s.demo.Server.Gateway, field("order")
	switch field("do") {
	case "lose":
		gateway.Inject(sandbox.Fault{Operation: sandbox.OpPayments, Reply: sandbox.ReplyReset})
	case "courier":
		s.demo.Courier.SetMode(field("mode"))
	case "approve", "decline":
		gateway.Settle(id, field("do") == "approve")
	case "refund":
		o, err := s.store.Order(r.Context(), id)
		if err != nil {
			return err
		}
		if _, err := gateway.Refund(o.UniqueID, "", ""); err != nil {
			s.log.Info("sandbox refund", "error", err)
		}
	case "forge":
		if err := s.forge(r.Context(), id); err != nil {
			return err
		}
	default:
		return errBadForm
	}
	return redirect(w, r, "/sandbox")
}

// forge sends a notification that nobody's gateway sent: it says that an order is paid.
func (s *Shop) forge(ctx context.Context, id string) error {
	o, err := s.store.Order(ctx, id)
	if err != nil {
		return err
	}
	forged, err := sandbox.NotificationRequest(s.url+notificationPath, "", map[string]any{
		"code": 100, "transactionType": "Sale", "uniqueId": o.UniqueID, "transactionId": o.ID,
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

// Courier carries the sandbox's notifications, and can be told to do it badly.
type Courier struct {
	transport http.RoundTripper

	mu   sync.Mutex
	mode string
}

// What a courier does with notifications.
const (
	courierPrompt = "prompt"
	courierLate   = "late"
	courierTwice  = "twice"
	courierDrop   = "drop"
)

var courierModes = [...]string{courierPrompt, courierLate, courierTwice, courierDrop}

const courierDelay = 5 * time.Second

var errDropped = errors.New("the courier dropped the notification")

// NewCourier returns a prompt one.
func NewCourier() *Courier {
	return &Courier{transport: &http.Transport{DisableKeepAlives: true}, mode: courierPrompt}
}

// Mode says what the courier does now.
func (c *Courier) Mode() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.mode
}

// SetMode changes what the courier does, if it knows the mode.
func (c *Courier) SetMode(mode string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if slices.Contains(courierModes[:], mode) {
		c.mode = mode
	}
}

// RoundTrip delivers a notification, as far as it does.
func (c *Courier) RoundTrip(r *http.Request) (*http.Response, error) {
	switch c.Mode() {
	case courierDrop:
		return nil, errDropped
	case courierLate:
		select {
		case <-time.After(courierDelay):
		case <-r.Context().Done():
			return nil, r.Context().Err()
		}
	case courierTwice:
		first := r.Clone(r.Context())
		first.Body, _ = r.GetBody() // the sandbox makes its requests from bytes
		if resp, err := c.transport.RoundTrip(first); err == nil {
			_ = resp.Body.Close()
		}
	}
	return c.transport.RoundTrip(r)
}
