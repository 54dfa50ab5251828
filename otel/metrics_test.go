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
)

// TestMetrics: durations by operation and outcome, and a count of unknown outcomes.
func TestMetrics(t *testing.T) {
	b := newBench(t)
	for n := range 3 {
		must(t, b.pay(t.Context(), fmt.Sprintf("t-%d", n)))
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
	const call = "cardgateway.client.call.duration cardgateway.operation=TokenPayment cardgateway.outcome="
	want := map[string]float64{ // a set sorts its attributes by name
		call + "processing http.response.status_code=200 " + b.server:                        3,
		call + "outcome_unknown error.type=outcome_unknown " + b.server:                      1,
		call + "not_sent error.type=not_sent " + b.server:                                    1,
		"cardgateway.client.unknown_outcomes cardgateway.operation=TokenPayment " + b.server: 1,
	}
	if diff := cmp.Diff(want, b.values(t)); diff != "" {
		t.Errorf("metrics (-want +got):\n%s", diff)
	}
	for _, p := range b.points(t) {
		if valueOf(p.attributes, otel.OutcomeKey) == string(cardgateway.OutcomeUnknown) && (p.sum < .02 || p.sum > 10) {
			t.Errorf("a response that took 20 ms counts as %g s", p.sum)
		}
	}
}

// TestUnknownOutcomesFromZero: for calls whose outcome can be unknown, the count starts at zero before the first one,
// because a rate is computed from changes.
func TestUnknownOutcomesFromZero(t *testing.T) {
	for _, test := range []struct {
		op   cardgateway.Operation
		want map[string]float64
	}{
		{
			cardgateway.Operation{Name: "CreateCheckout", Method: "POST", Payment: true},
			map[string]float64{"cardgateway.client.unknown_outcomes cardgateway.operation=CreateCheckout " + gatewayAttributes: 0},
		},
		{
			cardgateway.Operation{Name: "Resolve", TransactionID: "t-1"},
			map[string]float64{"cardgateway.client.unknown_outcomes cardgateway.operation=Resolve " + gatewayAttributes: 0},
		},
		{cardgateway.Operation{Name: "OrderWalk"}, map[string]float64{}},
		{cardgateway.Operation{Name: "SearchOrders", Method: "GET"}, map[string]float64{}},
	} {
		t.Run(test.op.Name, func(t *testing.T) {
			telemetry := newTelemetry()
			instrumented(t, telemetry.Options).Observe(t.Context(), test.op)
			if diff := cmp.Diff(test.want, telemetry.values(t)); diff != "" {
				t.Errorf("unknown outcomes (-want +got):\n%s", diff)
			}
		})
	}
}
