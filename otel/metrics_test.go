package otel_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/otel"
	"github.com/cardgateway/cardgateway-go/sandbox"
	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
)

// TestMetrics: durations by operation and outcome, and a count of unknown outcomes.
func TestMetrics(t *testing.T) {
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
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if err := b.pay(cancelled, "t-unsent"); !errors.Is(err, cardgateway.ErrNotSent) {
		t.Fatal(err)
	}
	scopes := b.metrics(t).ScopeMetrics
	if len(scopes) != 1 || len(scopes[0].Metrics) != 2 {
		t.Fatalf("got %+v", scopes)
	}
	duration, unknown := scopes[0].Metrics[0], scopes[0].Metrics[1]
	if duration.Name != otel.DurationMetric || duration.Unit != "s" {
		t.Errorf("got metric %q in %q", duration.Name, duration.Unit)
	}
	if unknown.Name != otel.UnknownOutcomesMetric || unknown.Unit != "{call}" {
		t.Errorf("got metric %q in %q", unknown.Name, unknown.Unit)
	}
	got := map[string]uint64{}
	for _, p := range duration.Data.(metricdata.Histogram[float64]).DataPoints {
		got[text(p.Attributes.ToSlice())] = p.Count
		if outcome, _ := p.Attributes.Value(otel.OutcomeKey); outcome.AsString() == string(cardgateway.OutcomeUnknown) && (p.Sum < .02 || p.Sum > 10) {
			t.Errorf("a response that took 20 ms counts as %g s", p.Sum)
		}
	}
	want := map[string]uint64{ // a set sorts its attributes by name
		"cardgateway.operation=CreateTokenOrder cardgateway.outcome=redirect http.response.status_code=200 " + b.server: 1,
		"cardgateway.operation=TokenPayment cardgateway.outcome=processing http.response.status_code=200 " + b.server:   3,
		"cardgateway.operation=TokenPayment cardgateway.outcome=outcome_unknown error.type=outcome_unknown " + b.server: 1,
		"cardgateway.operation=TokenPayment cardgateway.outcome=not_sent error.type=not_sent " + b.server:               1,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("durations (-want +got):\n%s", diff)
	}
	wantUnknown := map[string]int64{
		"cardgateway.operation=CreateTokenOrder " + b.server: 0,
		"cardgateway.operation=TokenPayment " + b.server:     1,
	}
	if diff := cmp.Diff(wantUnknown, counts(unknown)); diff != "" {
		t.Errorf("unknown outcomes (-want +got):\n%s", diff)
	}
	if sum := unknown.Data.(metricdata.Sum[int64]); !sum.IsMonotonic {
		t.Error("the count of unknown outcomes is not monotonic")
	}
}

// TestUnknownOutcomesFromZero: for calls whose outcome can be unknown, the count starts at zero before the first one,
// because a rate is computed from changes.
func TestUnknownOutcomesFromZero(t *testing.T) {
	for _, test := range []struct {
		op   cardgateway.Operation
		want map[string]int64
	}{
		{
			cardgateway.Operation{Name: "CreateCheckout", Method: "POST", Payment: true},
			map[string]int64{"cardgateway.operation=CreateCheckout " + gatewayAttributes: 0},
		},
		{cardgateway.Operation{Name: "Resolve", TransactionID: "t-1"}, map[string]int64{"cardgateway.operation=Resolve " + gatewayAttributes: 0}},
		{cardgateway.Operation{Name: "OrderWalk"}, map[string]int64{}},
		{cardgateway.Operation{Name: "SearchOrders", Method: "GET"}, map[string]int64{}},
	} {
		t.Run(test.op.Name, func(t *testing.T) {
			telemetry := newTelemetry()
			observe := instrumented(t, telemetry.Options).Observe
			observe(t.Context(), test.op)
			got := map[string]int64{}
			for _, scope := range telemetry.metrics(t).ScopeMetrics {
				for _, m := range scope.Metrics {
					got = counts(m)
				}
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("unknown outcomes (-want +got):\n%s", diff)
			}
		})
	}
}

// counts returns the values of a counter by attributes.
func counts(m metricdata.Metrics) map[string]int64 {
	got := map[string]int64{}
	for _, p := range m.Data.(metricdata.Sum[int64]).DataPoints {
		got[text(p.Attributes.ToSlice())] = p.Value
	}
	return got
}
