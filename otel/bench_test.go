package otel_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/otel"
	"github.com/cardgateway/cardgateway-go/sandbox"
	"github.com/shopspring/decimal"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
)

// Secrets that must not be recorded, in addition to the token.
const (
	testCard       = "4300000000000000"
	testCVV        = "587" // the sandbox approves it
	testCardholder = "Ada Example"
	testMerchant   = "merchant-4711"
	testKey        = "the-secret-key"
)

// bench is an instrumented client of a sandbox, with a stored card.
type bench struct {
	gateway *sandbox.Gateway
	client  *cardgateway.Client
	token   cardgateway.Token
	server  string // the attributes that identify the gateway
	*telemetry
}

// telemetry collects the spans and metrics of a test.
type telemetry struct {
	spans  *tracetest.InMemoryExporter
	reader *metric.ManualReader
	otel.Options
}

func newTelemetry() *telemetry {
	t := &telemetry{spans: tracetest.NewInMemoryExporter(), reader: metric.NewManualReader()}
	t.TracerProvider = trace.NewTracerProvider(trace.WithSyncer(t.spans))
	t.MeterProvider = metric.NewMeterProvider(metric.WithReader(t.reader))
	return t
}

func newBench(t *testing.T) *bench {
	t.Helper()
	server, err := sandbox.Start(sandbox.Options{MerchantID: testMerchant, SecretKey: testKey, NoNotifications: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Close)
	b := &bench{gateway: server.Gateway, telemetry: newTelemetry()}
	u, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	b.server = "server.address=" + u.Hostname() + " server.port=" + u.Port()
	b.client = b.newClient(t, cardgateway.Config{BaseURL: server.URL})
	order, err := b.client.CreateTokenOrder(t.Context(), tokenOrder("t-order"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.gateway.EnterCard(order.RedirectURL, sandbox.TestCard(sandbox.Approved)); err != nil {
		t.Fatal(err)
	}
	token, err := b.gateway.Token("t-order")
	if err != nil {
		t.Fatal(err)
	}
	b.token = cardgateway.NewToken(token)
	b.spans.Reset()
	return b
}

// gatewayAttributes are those of the gateway of instrumented.
const gatewayAttributes = "server.address=gateway.example server.port=443"

// instrumented returns a configuration with the hooks that Instrument sets.
func instrumented(t *testing.T, o otel.Options) cardgateway.Config {
	t.Helper()
	cfg := cardgateway.Config{BaseURL: "https://gateway.example"}
	if err := otel.Instrument(&cfg, o); err != nil {
		t.Fatal(err)
	}
	return cfg
}

// newClient returns an instrumented client.
func (tm *telemetry) newClient(t *testing.T, cfg cardgateway.Config) *cardgateway.Client {
	t.Helper()
	cfg.TestPayments = true // of the sandbox
	cfg.AppID, cfg.Retry = "123456", cardgateway.RetryPolicy{MaxAttempts: 2, MinWait: time.Millisecond, MaxWait: time.Millisecond}
	if cfg.Authenticate == nil {
		cfg.Authenticate = cardgateway.BasicAuth(testMerchant, testKey)
	}
	if err := otel.Instrument(&cfg, tm.Options); err != nil {
		t.Fatal(err)
	}
	c, err := cardgateway.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.CloseIdleConnections)
	return c
}

func (tm *telemetry) metrics(t *testing.T) (m metricdata.ResourceMetrics) {
	t.Helper()
	if err := tm.reader.Collect(t.Context(), &m); err != nil {
		t.Fatal(err)
	}
	return m
}

// one returns the only span of that name.
func (tm *telemetry) one(t *testing.T, name string) tracetest.SpanStub {
	t.Helper()
	var named tracetest.SpanStubs
	for _, span := range tm.spans.GetSpans() {
		if span.Name == name {
			named = append(named, span)
		}
	}
	if len(named) != 1 {
		t.Fatalf("got %d spans with the name %s, want 1", len(named), name)
	}
	return named[0]
}

func (b *bench) pay(ctx context.Context, id string) error {
	_, err := b.client.TokenPayment(ctx, b.token, tokenPayment(id))
	return err
}

func (b *bench) subscribe(ctx context.Context, id, cvv string) error {
	_, err := b.client.CreateSubscription(ctx, subscription(id, cvv))
	return err
}

func tokenOrder(id string) cardgateway.TokenOrderRequest {
	return cardgateway.TokenOrderRequest{
		TransactionID: id, OrderID: id, Currency: "USD", Amount: decimal.NewFromInt(1), TransactionIP: "203.0.113.7",
		CallbackURL: "https://shop.example/", NotificationURL: "https://shop.example/n",
		ProductInfos: []cardgateway.ProductInfo{{ProductName: "Candle"}}, BillingAddress: cardgateway.Address{Country: "US"},
	}
}

func tokenPayment(id string) cardgateway.TokenPaymentRequest {
	return cardgateway.TokenPaymentRequest{
		TransactionID: id, Currency: "USD", Amount: decimal.NewFromInt(5), TransactionIP: "203.0.113.7",
		CallbackURL: "https://shop.example/", NotificationURL: "https://shop.example/n",
		ProductInfos: []cardgateway.ProductInfo{{ProductName: "Candle"}},
	}
}

func subscription(id, cvv string) cardgateway.SubscriptionRequest {
	return cardgateway.SubscriptionRequest{
		TransactionID: id, OrderID: id, Currency: "USD", Amount: decimal.NewFromInt(5), TransactionIP: "203.0.113.7",
		CallbackURL: "https://shop.example/", NotificationURL: "https://shop.example/n",
		ProductInfos: []cardgateway.ProductInfo{{ProductName: "Candle"}}, BillingAddress: cardgateway.Address{Country: "US"},
		Card: cardgateway.Card{
			CardNumber: cardgateway.NewCardNumber(testCard), CVV: cardgateway.NewCVV(cvv),
			ExpiredMonth: "12", ExpiredYear: "30", Cardholder: testCardholder,
		},
		Extension: cardgateway.SubscriptionExtension{SubscriptionCycle: cardgateway.CycleWeek, SubscriptionPeriod: 4},
	}
}

func resolveQuery(id string) cardgateway.ResolveQuery {
	return cardgateway.ResolveQuery{
		TransactionID: id, Amount: decimal.NewFromInt(5), Currency: "USD", SentAt: time.Now(), Wait: time.Nanosecond,
	}
}

// operation is one method of the client, called with the id of a transaction.
type operation func(ctx context.Context, c *cardgateway.Client, token cardgateway.Token, id string) error

// operations lists all methods that can be called with a context. Walks are started by Orders and Refunds.
var operations = map[string]operation{
	"CreateTokenOrder": func(ctx context.Context, c *cardgateway.Client, _ cardgateway.Token, id string) error {
		_, err := c.CreateTokenOrder(ctx, tokenOrder(id))
		return err
	},
	"TokenPayment": func(ctx context.Context, c *cardgateway.Client, token cardgateway.Token, id string) error {
		_, err := c.TokenPayment(ctx, token, tokenPayment(id))
		return err
	},
	"CreateSubscription": func(ctx context.Context, c *cardgateway.Client, _ cardgateway.Token, id string) error {
		_, err := c.CreateSubscription(ctx, subscription(id, testCVV))
		return err
	},
	"CreateCheckout": func(ctx context.Context, c *cardgateway.Client, _ cardgateway.Token, id string) error {
		_, err := c.CreateCheckout(ctx, cardgateway.CheckoutRequest{
			TransactionID: id, OrderID: id, Currency: "USD", Amount: decimal.NewFromInt(5), TransactionIP: "203.0.113.7",
			CallbackURL: "https://shop.example/", NotificationURL: "https://shop.example/n",
			ProductInfos: []cardgateway.ProductInfo{{ProductName: "Candle"}}, BillingAddress: cardgateway.Address{Country: "US"},
		})
		return err
	},
	"CreateCheckoutSubscription": func(ctx context.Context, c *cardgateway.Client, _ cardgateway.Token, id string) error {
		_, err := c.CreateCheckoutSubscription(ctx, cardgateway.CheckoutSubscriptionRequest{
			TransactionID: id, OrderID: id, Currency: "USD", Amount: decimal.NewFromInt(5), TransactionIP: "203.0.113.7",
			CallbackURL: "https://shop.example/", NotificationURL: "https://shop.example/n",
			ProductInfos: []cardgateway.ProductInfo{{ProductName: "Candle"}}, BillingAddress: cardgateway.Address{Country: "US"},
			Extension: cardgateway.SubscriptionExtension{SubscriptionCycle: cardgateway.CycleWeek, SubscriptionPeriod: 4},
		})
		return err
	},
	"GetTransaction": func(ctx context.Context, c *cardgateway.Client, _ cardgateway.Token, _ string) error {
		_, err := c.GetTransaction(ctx, "4711")
		return err
	},
	"Check": func(ctx context.Context, c *cardgateway.Client, _ cardgateway.Token, _ string) error {
		_, err := c.Check(ctx)
		return err
	},
	"SearchOrders": func(ctx context.Context, c *cardgateway.Client, _ cardgateway.Token, id string) error {
		_, err := c.SearchOrders(ctx, cardgateway.OrderQuery{TransactionID: id, Start: time.Now().Add(-time.Hour), End: time.Now()}, cardgateway.PageRequest{})
		return err
	},
	"SearchRefunds": func(ctx context.Context, c *cardgateway.Client, _ cardgateway.Token, id string) error {
		_, err := c.SearchRefunds(ctx, cardgateway.RefundQuery{TransactionID: id, Start: time.Now().Add(-time.Hour), End: time.Now()}, cardgateway.PageRequest{})
		return err
	},
	"Orders": func(ctx context.Context, c *cardgateway.Client, _ cardgateway.Token, id string) error {
		return drain(c.Orders(ctx, cardgateway.OrderQuery{TransactionID: id, Start: time.Now().Add(-time.Hour), End: time.Now()}))
	},
	"Refunds": func(ctx context.Context, c *cardgateway.Client, _ cardgateway.Token, id string) error {
		return drain(c.Refunds(ctx, cardgateway.RefundQuery{TransactionID: id, Start: time.Now().Add(-time.Hour), End: time.Now()}))
	},
	"Resolve": func(ctx context.Context, c *cardgateway.Client, _ cardgateway.Token, id string) error {
		_, err := c.Resolve(ctx, resolveQuery(id))
		return err
	},
	"CreateRefund": func(ctx context.Context, c *cardgateway.Client, _ cardgateway.Token, id string) error {
		_, err := c.CreateRefund(ctx, cardgateway.RefundRequest{UniqueID: "4711", RefundTransactionID: id, Amount: decimal.NewFromInt(5)})
		return err
	},
	"ResolveRefund": func(ctx context.Context, c *cardgateway.Client, _ cardgateway.Token, id string) error {
		_, err := c.ResolveRefund(ctx, cardgateway.ResolveRefundQuery{
			UniqueID: "4711", RefundTransactionID: id, Amount: decimal.NewFromInt(5), SentAt: time.Now(), Wait: time.Nanosecond,
		})
		return err
	},
	"UploadTrackingNumbers": func(ctx context.Context, c *cardgateway.Client, _ cardgateway.Token, _ string) error {
		return c.UploadTrackingNumbers(ctx, []cardgateway.Shipment{{UniqueID: "4711", Company: "SF", Number: "SF1"}})
	},
}

func drain[T any](rows iter.Seq2[*T, error]) (err error) {
	for _, rowErr := range rows {
		err = errors.Join(err, rowErr)
	}
	return err
}

// TestOperations: the tests of this package call every method of the client that sends requests to the gateway.
func TestOperations(t *testing.T) {
	var methods []string
	client, ctx := reflect.TypeFor[*cardgateway.Client](), reflect.TypeFor[context.Context]()
	for i := range client.NumMethod() {
		if m := client.Method(i); m.Type.NumIn() > 1 && m.Type.In(1) == ctx {
			methods = append(methods, m.Name)
		}
	}
	if got := slices.Sorted(maps.Keys(operations)); !slices.Equal(got, methods) {
		t.Errorf("got operations %v, want the methods of the client: %v", got, methods)
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func text(attributes []attribute.KeyValue) string {
	parts := make([]string, len(attributes))
	for i, a := range attributes {
		parts[i] = fmt.Sprintf("%s=%s", a.Key, a.Value.String())
	}
	return strings.Join(parts, " ")
}
