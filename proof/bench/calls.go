package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/proof/bench/internal/loopback"
	"github.com/stripe/stripe-go/v86"
)

// operation is a measured payment.
type operation struct {
	name   string
	path   string
	byHand func() *payment
	call   func(context.Context, *cardgateway.Client) (*cardgateway.Transaction, error)
}

var operations = []operation{
	{
		name: "token", path: "/checkout/tokenization/payment/" + token, byHand: tokenPaymentByHand,
		call: func(ctx context.Context, c *cardgateway.Client) (*cardgateway.Transaction, error) {
			return c.TokenPayment(ctx, cardgateway.NewToken(token), tokenPayment())
		},
	},
	{
		name: "subscription", path: "/api/subscription", byHand: subscriptionByHand,
		call: func(ctx context.Context, c *cardgateway.Client) (*cardgateway.Transaction, error) {
			return c.CreateSubscription(ctx, subscription())
		},
	},
}

// caller makes one payment with one of the libraries, and checks that it is approved.
type caller struct {
	client string
	call   func(context.Context) error
}

// Settings of every client except the project's, which are that one's defaults. Without a timeout, a payment can wait
// forever.
const (
	idleConnections = 128
	timeout         = 30 * time.Second
)

// callersOf returns the clients for one operation. All but stripe-go send requests of the same size with the same members
// and read the same response; stripe-go creates a payment intent, which is its nearest call.
func callersOf(op operation, p *loopback.Process, secure bool) ([]caller, error) {
	base, client := p.URL(secure, 0), &http.Client{Transport: p.Transport(idleConnections), Timeout: timeout}
	limit, err := limitCall(client, base, op)
	if err != nil {
		return nil, err
	}
	own, err := ownClient(p, base)
	if err != nil {
		return nil, err
	}
	return []caller{
		{"hand", handCall(client, base, op)},
		{"cardgateway", func(ctx context.Context) error {
			t, err := op.call(ctx, own)
			if err == nil && t.State() != cardgateway.StateApproved {
				err = errNotPaid
			}
			return err
		}},
		{"limit", limit},
		{"hand-no-timeout", handCall(&http.Client{Transport: client.Transport}, base, op)},
		{"stripe-go", stripeCall(stripeClient(client, base))},
	}, nil
}

var errNotPaid = errors.New("the answer is no approval")

// ownClient returns the project's client with its own defaults, except for the certificate that it must trust.
func ownClient(p *loopback.Process, base string) (*cardgateway.Client, error) {
	return cardgateway.New(cardgateway.Config{
		BaseURL: base, AppID: loopback.AppID, TestPayments: true, Location: time.UTC, HTTPClient: &http.Client{Transport: p.Transport(0)},
	})
}

// buffers are for responses that are discarded.
var buffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// limitCall uses only net/http: it sends a prepared body, and reads and discards the response.
func limitCall(client *http.Client, base string, op operation) (func(context.Context) error, error) {
	body, err := json.Marshal(op.byHand())
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) error {
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, base+op.path, bytes.NewReader(body))
		if err != nil {
			return err
		}
		req.Header.Set("Content-Type", "application/json")
		return discard(client.Do(req))
	}, nil
}

// discard reads and ignores a response.
func discard(resp *http.Response, err error) error {
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	buf := buffers.Get().(*bytes.Buffer)
	defer buffers.Put(buf)
	buf.Reset()
	_, err = buf.ReadFrom(resp.Body)
	return err
}

// handCall is what a careful program writes without a library: it checks only the status and the code.
func handCall(client *http.Client, base string, op operation) func(context.Context) error {
	return func(ctx context.Context) error {
		body, err := json.Marshal(op.byHand())
		if err != nil {
			return err
		}
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, base+op.path, bytes.NewReader(body))
		if err != nil {
			return err
		}
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Accept", "application/json")
		var t transaction
		if err := fetch(client, req, &t); err != nil {
			return err
		}
		return t.paid()
	}
}

// fetch sends a request and decodes its response.
func fetch(client *http.Client, req *http.Request, answer any) error {
	resp, err := client.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("HTTP %d", resp.StatusCode)
	}
	if err := json.NewDecoder(resp.Body).Decode(answer); err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, resp.Body) // so that the connection is reused
	return err
}

func (t *transaction) paid() error {
	if t.Code != int(cardgateway.CodeSuccess) {
		return errNotPaid
	}
	return nil
}

func stripeClient(client *http.Client, base string) *stripe.Client {
	backend := stripe.GetBackendWithConfig(stripe.APIBackend, &stripe.BackendConfig{
		URL: new(base), HTTPClient: client, LeveledLogger: new(stripe.LeveledLogger),
		MaxNetworkRetries: new(int64(0)), EnableTelemetry: new(false),
	})
	return stripe.NewClient("sk_test_example", stripe.WithBackends(&stripe.Backends{API: backend}))
}

// stripeCall creates a payment intent with about as many members as the payment has.
func stripeCall(c *stripe.Client) func(context.Context) error {
	return func(ctx context.Context) error {
		intent, err := c.V1PaymentIntents.Create(ctx, &stripe.PaymentIntentCreateParams{
			Amount: new(int64(12850)), Currency: new("usd"), Description: new(description),
			AutomaticPaymentMethods: &stripe.PaymentIntentCreateAutomaticPaymentMethodsParams{Enabled: new(true)},
			ReceiptEmail:            new(buyer.Email),
			Metadata:                map[string]string{"order_id": loopback.OrderID, "transaction_id": loopback.TransactionID},
			Shipping: &stripe.ShippingDetailsParams{
				Name: new(recipient.FirstName), Phone: new(recipient.Phone),
				Address: &stripe.AddressParams{
					Line1: new(recipient.Address), City: new(recipient.City), Country: new(recipient.Country),
					PostalCode: new(recipient.ZipCode),
				},
			},
		})
		if err == nil && intent.Amount != 12850 {
			err = errNotPaid
		}
		return err
	}
}
