package otel_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/internal/test/clienttest"
	"github.com/cardgateway/cardgateway-go/otel"
	"github.com/cardgateway/cardgateway-go/sandbox"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
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
	server, err := sandbox.Start(sandbox.Options{
		MerchantID: clienttest.Merchant, SecretKey: clienttest.SecretKey, NoNotifications: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Close)
	b := &bench{gateway: server.Gateway, telemetry: newTelemetry(), token: cardgateway.NewToken(server.NewToken(sandbox.Approved))}
	u, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	b.server = "server.address=" + u.Hostname() + " server.port=" + u.Port()
	b.client = b.newClient(t, cardgateway.Config{BaseURL: server.URL})
	return b
}

// gatewayAttributes are those of the gateway of instrumented.
const gatewayAttributes = "server.address=gateway.example server.port=443"

// instrumented returns a configuration with the hooks that Instrument sets.
func instrumented(t *testing.T, o otel.Options) cardgateway.Config {
	t.Helper()
	cfg := cardgateway.Config{BaseURL: "https://gateway.example"}
	must(t, otel.Instrument(&cfg, o))
	return cfg
}

// newClient returns an instrumented client.
func (tm *telemetry) newClient(t *testing.T, cfg cardgateway.Config) *cardgateway.Client {
	t.Helper()
	cfg.TestPayments = true // of the sandbox
	cfg.Retry = cardgateway.RetryPolicy{MaxAttempts: 2, MinWait: time.Millisecond, MaxWait: time.Millisecond}
	if cfg.Authenticate == nil {
		cfg.Authenticate = cardgateway.BasicAuth(clienttest.Merchant, clienttest.SecretKey)
	}
	must(t, otel.Instrument(&cfg, tm.Options))
	return clienttest.NewClient(t, cfg)
}

// must ends the test at an error.
func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// point is a value of a metric with its attributes. A histogram has a count and a sum.
type point struct {
	metricdata.Metrics
	attributes []attribute.KeyValue
	value, sum float64
}

// points returns the values of all metrics.
func (tm *telemetry) points(t *testing.T) (all []point) {
	t.Helper()
	var recorded metricdata.ResourceMetrics
	must(t, tm.reader.Collect(t.Context(), &recorded))
	for _, scope := range recorded.ScopeMetrics {
		for _, m := range scope.Metrics {
			add := func(set attribute.Set, value, sum float64) {
				all = append(all, point{m, set.ToSlice(), value, sum})
			}
			switch data := m.Data.(type) {
			case metricdata.Gauge[int64]:
				for _, p := range data.DataPoints {
					add(p.Attributes, float64(p.Value), 0)
				}
			case metricdata.Gauge[float64]:
				for _, p := range data.DataPoints {
					add(p.Attributes, p.Value, 0)
				}
			case metricdata.Sum[int64]:
				for _, p := range data.DataPoints {
					add(p.Attributes, float64(p.Value), 0)
				}
			case metricdata.Histogram[float64]:
				for _, p := range data.DataPoints {
					add(p.Attributes, float64(p.Count), p.Sum)
				}
			default:
				t.Errorf("%s has data of type %T", m.Name, data)
			}
		}
	}
	return all
}

// values returns the values of all metrics by name and attributes.
func (tm *telemetry) values(t *testing.T) map[string]float64 {
	t.Helper()
	got := map[string]float64{}
	for _, p := range tm.points(t) {
		got[strings.TrimSpace(p.Name+" "+text(p.attributes))] = p.value
	}
	return got
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
	_, err := b.client.TokenPayment(ctx, b.token, clienttest.TokenPaymentRequest(id))
	return err
}

func resolveQuery(id string) cardgateway.ResolveQuery {
	return cardgateway.ResolveQuery{
		TransactionID: id, Amount: clienttest.Amount, Currency: "USD", SentAt: time.Now(), Wait: time.Nanosecond,
	}
}

// operations returns all methods that can be called with a context. Walks are started by Orders and Refunds.
func operations() map[string]func(context.Context, *cardgateway.Client) error {
	orders := cardgateway.OrderQuery{TransactionID: "t-1", Start: time.Now().Add(-time.Hour), End: time.Now()}
	refunds := cardgateway.RefundQuery{TransactionID: "t-1", Start: orders.Start, End: orders.End}
	all := map[string]func(context.Context, *cardgateway.Client) error{
		"GetTransaction": func(ctx context.Context, c *cardgateway.Client) error {
			_, err := c.GetTransaction(ctx, "4711")
			return err
		},
		"Check": func(ctx context.Context, c *cardgateway.Client) error { _, err := c.Check(ctx); return err },
		"SearchOrders": func(ctx context.Context, c *cardgateway.Client) error {
			_, err := c.SearchOrders(ctx, orders, cardgateway.PageRequest{})
			return err
		},
		"SearchRefunds": func(ctx context.Context, c *cardgateway.Client) error {
			_, err := c.SearchRefunds(ctx, refunds, cardgateway.PageRequest{})
			return err
		},
		"Orders":  func(ctx context.Context, c *cardgateway.Client) error { return drain(c.Orders(ctx, orders)) },
		"Refunds": func(ctx context.Context, c *cardgateway.Client) error { return drain(c.Refunds(ctx, refunds)) },
		"Resolve": func(ctx context.Context, c *cardgateway.Client) error {
			_, err := c.Resolve(ctx, resolveQuery("t-1"))
			return err
		},
		"CreateRefund": func(ctx context.Context, c *cardgateway.Client) error {
			_, err := c.CreateRefund(ctx, clienttest.RefundRequest())
			return err
		},
		"ResolveRefund": func(ctx context.Context, c *cardgateway.Client) error {
			_, err := c.ResolveRefund(ctx, cardgateway.ResolveRefundQuery{
				UniqueID: "77", RefundTransactionID: "r-1", Amount: clienttest.Amount, SentAt: time.Now(), Wait: time.Nanosecond,
			})
			return err
		},
		"UploadTrackingNumbers": func(ctx context.Context, c *cardgateway.Client) error {
			return c.UploadTrackingNumbers(ctx, []cardgateway.Shipment{{UniqueID: "4711", Company: "SF", Number: "SF1"}})
		},
	}
	for _, op := range clienttest.PaymentOperations {
		all[op.Name] = func(ctx context.Context, c *cardgateway.Client) error { _, err := op.Call(ctx, c, "t-1"); return err }
	}
	return all
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
	if got := slices.Sorted(maps.Keys(operations())); !slices.Equal(got, methods) {
		t.Errorf("got operations %v, want the methods of the client: %v", got, methods)
	}
}

func text(attributes []attribute.KeyValue) string {
	parts := make([]string, len(attributes))
	for i, a := range attributes {
		parts[i] = fmt.Sprintf("%s=%s", a.Key, a.Value.String())
	}
	return strings.Join(parts, " ")
}
