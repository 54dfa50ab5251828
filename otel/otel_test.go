package otel_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/otel"
	"github.com/cardgateway/cardgateway-go/sandbox"
	"github.com/google/go-cmp/cmp"
	"github.com/shopspring/decimal"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric/noop"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	api "go.opentelemetry.io/otel/trace"
)

const (
	testCard = "4300000000000000"
	testKey  = "the-secret-key"
)

// bench is an observed client of a sandbox, with a stored card.
type bench struct {
	gateway *sandbox.Gateway
	client  *cardgateway.Client
	token   cardgateway.Token
	spans   *tracetest.InMemoryExporter
	reader  *metric.ManualReader
}

func newBench(t *testing.T) *bench {
	t.Helper()
	server, err := sandbox.Start(sandbox.Options{MerchantID: "m", SecretKey: testKey, NoNotifications: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Close)
	b := &bench{gateway: server.Gateway, spans: tracetest.NewInMemoryExporter(), reader: metric.NewManualReader()}
	observe, err := otel.Observe(otel.Options{
		TracerProvider: trace.NewTracerProvider(trace.WithSyncer(b.spans)),
		MeterProvider:  metric.NewMeterProvider(metric.WithReader(b.reader)),
		Attributes:     []attribute.KeyValue{attribute.String("server.address", "gateway.example")},
	})
	if err != nil {
		t.Fatal(err)
	}
	b.client, err = cardgateway.New(cardgateway.Config{
		BaseURL: server.URL, AppID: "123456", Authenticate: cardgateway.BasicAuth("m", testKey), Observe: observe,
		Retry: cardgateway.RetryPolicy{MaxAttempts: 2, MinWait: time.Millisecond},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.client.CloseIdleConnections)
	order, err := b.client.CreateTokenOrder(t.Context(), cardgateway.TokenOrderRequest{
		TransactionID: "t-order", OrderID: "o-1", Currency: "USD", Amount: decimal.NewFromInt(1), TransactionIP: "203.0.113.7",
		CallbackURL: "https://shop.example/", NotificationURL: "https://shop.example/n",
		ProductInfos: []cardgateway.ProductInfo{{ProductName: "Candle"}}, BillingAddress: cardgateway.Address{Country: "US"},
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.gateway.EnterCard(order.RedirectURL, sandbox.TestCard(sandbox.Approved)); err != nil {
		t.Fatal(err)
	}
	b.token = cardgateway.NewToken(b.gateway.Token("t-order"))
	b.spans.Reset()
	return b
}

func (b *bench) pay(ctx context.Context, id string) error {
	_, err := b.client.TokenPayment(ctx, b.token, cardgateway.TokenPaymentRequest{
		TransactionID: id, Currency: "USD", Amount: decimal.NewFromInt(5), TransactionIP: "203.0.113.7",
		CallbackURL: "https://shop.example/", NotificationURL: "https://shop.example/n",
		ProductInfos: []cardgateway.ProductInfo{{ProductName: "Candle"}},
	})
	return err
}

func (b *bench) subscribe(ctx context.Context, id, cvv string) error {
	_, err := b.client.CreateSubscription(ctx, cardgateway.SubscriptionRequest{
		TransactionID: id, OrderID: id, Currency: "USD", Amount: decimal.NewFromInt(5), TransactionIP: "203.0.113.7",
		CallbackURL: "https://shop.example/", NotificationURL: "https://shop.example/n",
		ProductInfos: []cardgateway.ProductInfo{{ProductName: "Candle"}}, BillingAddress: cardgateway.Address{Country: "US"},
		Card: cardgateway.Card{
			CardNumber: cardgateway.NewCardNumber(testCard), CVV: cardgateway.NewCVV(cvv),
			ExpiredMonth: "12", ExpiredYear: "30", Cardholder: "Ada Example",
		},
		Extension: cardgateway.SubscriptionExtension{SubscriptionCycle: cardgateway.CycleWeek, SubscriptionPeriod: 4},
	})
	return err
}

// TestSpans has a call for every outcome.
func TestSpans(t *testing.T) {
	b := newBench(t)
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	tests := []struct {
		name  string
		fault sandbox.Fault
		call  func() error
		err   error
		span  string
		is    codes.Code
		want  string // the attributes that depend on the call
	}{
		{
			"in processing", sandbox.Fault{}, func() error { return b.pay(t.Context(), "t-1") }, nil, "TokenPayment", codes.Unset,
			"http.request.method=POST url.template=/checkout/tokenization/payment/{tokenization} cardgateway.transaction_id=t-1 " +
				"cardgateway.outcome=ok http.response.status_code=200 cardgateway.attempts=1 cardgateway.code=102",
		},
		{
			"declined", sandbox.Fault{}, func() error { return b.subscribe(t.Context(), "t-2", "900") }, cardgateway.ErrDeclined,
			"CreateSubscription", codes.Unset,
			"http.request.method=POST url.template=/api/subscription cardgateway.transaction_id=t-2 " +
				"cardgateway.outcome=declined http.response.status_code=200 cardgateway.attempts=1 cardgateway.code=101",
		},
		{
			"refused", sandbox.Fault{Commit: sandbox.CommitNever, Reply: sandbox.ReplyHTML, Status: 403},
			func() error { return b.pay(t.Context(), "t-3") }, cardgateway.ErrRefused, "TokenPayment", codes.Error,
			"http.request.method=POST url.template=/checkout/tokenization/payment/{tokenization} cardgateway.transaction_id=t-3 " +
				"cardgateway.outcome=refused http.response.status_code=403 error.type=refused cardgateway.attempts=1",
		},
		{
			"not sent", sandbox.Fault{}, func() error { return b.pay(cancelled, "t-4") }, cardgateway.ErrNotSent, "TokenPayment", codes.Error,
			"http.request.method=POST url.template=/checkout/tokenization/payment/{tokenization} cardgateway.transaction_id=t-4 " +
				"cardgateway.outcome=not_sent error.type=not_sent cardgateway.attempts=1",
		},
		{
			"unknown", sandbox.Fault{Reply: sandbox.ReplyReset}, func() error { return b.pay(t.Context(), "t-5") },
			cardgateway.ErrOutcomeUnknown, "TokenPayment", codes.Error,
			"http.request.method=POST url.template=/checkout/tokenization/payment/{tokenization} cardgateway.transaction_id=t-5 " +
				"cardgateway.outcome=unknown error.type=unknown cardgateway.attempts=1",
		},
		{
			"not found", sandbox.Fault{}, func() error { _, err := b.client.GetTransaction(t.Context(), "1"); return err },
			cardgateway.ErrNotFound, "GetTransaction", codes.Unset,
			"http.request.method=GET url.template=/search/order/{uniqueId} " +
				"cardgateway.outcome=not_found http.response.status_code=200 cardgateway.attempts=1 cardgateway.code=404",
		},
		{
			"canceled", sandbox.Fault{}, func() error { _, err := b.client.GetTransaction(cancelled, "1"); return err },
			context.Canceled, "GetTransaction", codes.Unset,
			"http.request.method=GET url.template=/search/order/{uniqueId} cardgateway.outcome=canceled cardgateway.attempts=1",
		},
		{
			"query failed", sandbox.Fault{Times: -1, Commit: sandbox.CommitNever, Status: 503, Reply: sandbox.ReplyHTML},
			func() error { _, err := b.client.GetTransaction(t.Context(), "1"); return err },
			cardgateway.ErrQueryFailed, "GetTransaction", codes.Error,
			"http.request.method=GET url.template=/search/order/{uniqueId} " +
				"cardgateway.outcome=query_failed http.response.status_code=503 error.type=query_failed cardgateway.attempts=2",
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			b.spans.Reset()
			b.gateway.ClearFaults()
			b.gateway.Inject(test.fault)
			if err := test.call(); !errors.Is(err, test.err) {
				t.Errorf("got %v, want %v", err, test.err)
			}
			spans := b.spans.GetSpans()
			if len(spans) != 1 {
				t.Fatalf("got %d spans", len(spans))
			}
			span := spans[0]
			if span.Name != test.span || span.SpanKind != api.SpanKindClient || span.Status.Code != test.is {
				t.Errorf("got span %q of kind %v with status %v", span.Name, span.SpanKind, span.Status)
			}
			if diff := cmp.Diff("server.address=gateway.example cardgateway.operation="+test.span+" "+test.want, text(span.Attributes)); diff != "" {
				t.Errorf("attributes (-want +got):\n%s", diff)
			}
			if how := outcomeOf(span.Attributes); span.Status.Description != how && test.is == codes.Error {
				t.Errorf("the status says %q, want %q", span.Status.Description, how)
			}
		})
	}
}

// TestNothingLeaks looks for what must stay secret in everything that is recorded of calls that end in every way.
func TestNothingLeaks(t *testing.T) {
	b := newBench(t)
	calls := 0
	for _, fault := range sandbox.Faults(time.Millisecond) {
		b.gateway.ClearFaults()
		b.gateway.Inject(fault.Fault)
		calls++
		_ = b.pay(t.Context(), fmt.Sprintf("t-%d", calls))              // how it ends is not the question here
		_ = b.subscribe(t.Context(), fmt.Sprintf("s-%d", calls), "123") // nor here
	}
	recorded := fmt.Sprintf("%+v %+v", b.spans.GetSpans(), b.metrics(t))
	for _, secret := range []string{testCard, b.token.Reveal(), testKey} {
		if strings.Contains(recorded, secret) {
			t.Errorf("%q was recorded", secret)
		}
	}
	if n := len(b.spans.GetSpans()); n != 2*calls || calls < 10 {
		t.Errorf("%d spans of %d calls", n, 2*calls)
	}
}

func (b *bench) metrics(t *testing.T) (m metricdata.ResourceMetrics) {
	t.Helper()
	if err := b.reader.Collect(t.Context(), &m); err != nil {
		t.Fatal(err)
	}
	return m
}

func TestMetric(t *testing.T) {
	b := newBench(t)
	for n := range 3 {
		if err := b.pay(t.Context(), fmt.Sprintf("t-%d", n)); err != nil {
			t.Fatal(err)
		}
	}
	b.gateway.Inject(sandbox.Fault{Reply: sandbox.ReplyReset, After: 20 * time.Millisecond})
	if err := b.pay(t.Context(), "t-lost"); !errors.Is(err, cardgateway.ErrOutcomeUnknown) {
		t.Fatal(err)
	}
	scopes := b.metrics(t).ScopeMetrics
	if len(scopes) != 1 || len(scopes[0].Metrics) != 1 {
		t.Fatalf("got %+v", scopes)
	}
	m := scopes[0].Metrics[0]
	if m.Name != otel.DurationMetric || m.Unit != "s" {
		t.Errorf("got metric %q in %q", m.Name, m.Unit)
	}
	got := map[string]uint64{}
	for _, p := range m.Data.(metricdata.Histogram[float64]).DataPoints {
		got[text(p.Attributes.ToSlice())] = p.Count
		if unknown, _ := p.Attributes.Value(otel.OutcomeKey); unknown.AsString() == otel.OutcomeUnknown && (p.Sum < .02 || p.Sum > 10) {
			t.Errorf("an answer that took 20 ms counts as %g s", p.Sum)
		}
	}
	want := map[string]uint64{
		"cardgateway.operation=CreateTokenOrder cardgateway.outcome=ok http.response.status_code=200 server.address=gateway.example": 1,
		"cardgateway.operation=TokenPayment cardgateway.outcome=ok http.response.status_code=200 server.address=gateway.example":     3,
		"cardgateway.operation=TokenPayment cardgateway.outcome=unknown error.type=unknown server.address=gateway.example":           1,
	}
	// A set sorts its attributes by name.
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("points (-want +got):\n%s", diff)
	}
}

// TestDefaults: without options the global providers are used, which do nothing until a program sets them.
func TestDefaults(t *testing.T) {
	for _, o := range []otel.Options{{}, {MeterProvider: noop.NewMeterProvider()}} {
		observe, err := otel.Observe(o)
		if err != nil {
			t.Fatal(err)
		}
		ctx, done := observe(t.Context(), cardgateway.Operation{Name: "TokenPayment"})
		if ctx == nil {
			t.Error("no context")
		}
		done(cardgateway.CallInfo{})
	}
}

// TestChild: the call's context carries the span, so that what the caller's hooks record comes below it.
func TestChild(t *testing.T) {
	spans := tracetest.NewInMemoryExporter()
	provider := trace.NewTracerProvider(trace.WithSyncer(spans))
	observe, err := otel.Observe(otel.Options{TracerProvider: provider, MeterProvider: noop.NewMeterProvider()})
	if err != nil {
		t.Fatal(err)
	}
	outer, parent := provider.Tracer("shop").Start(t.Context(), "checkout")
	inner, done := observe(outer, cardgateway.Operation{Name: "TokenPayment"})
	done(cardgateway.CallInfo{})
	got := spans.GetSpans()[0]
	if got.Parent.SpanID() != parent.SpanContext().SpanID() || got.SpanContext.SpanID() != api.SpanContextFromContext(inner).SpanID() {
		t.Errorf("span %v below %v", got.SpanContext, got.Parent)
	}
}

func outcomeOf(attributes []attribute.KeyValue) string {
	for _, a := range attributes {
		if a.Key == otel.OutcomeKey {
			return a.Value.AsString()
		}
	}
	return ""
}

func text(attributes []attribute.KeyValue) string {
	parts := make([]string, len(attributes))
	for i, a := range attributes {
		parts[i] = string(a.Key) + "=" + a.Value.String()
	}
	return strings.Join(parts, " ")
}
