package otel_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/internal/test/clienttest"
	"github.com/cardgateway/cardgateway-go/otel"
	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric/noop"
	api "go.opentelemetry.io/otel/trace"
)

// TestServer: server.address and server.port are those of BaseURL, and Options.Attributes override them.
func TestServer(t *testing.T) {
	for _, test := range []struct {
		baseURL string
		more    []attribute.KeyValue
		want    string
	}{
		{"https://gateway.example", nil, "server.address=gateway.example server.port=443"},
		{"https://gateway.example:8443/api/v1", nil, "server.address=gateway.example server.port=8443"},
		{"http://127.0.0.1", nil, "server.address=127.0.0.1 server.port=80"},
		{"http://[::1]:8080", nil, "server.address=::1 server.port=8080"},
		{
			"https://proxy.example", []attribute.KeyValue{attribute.String("server.address", "gateway.example"), attribute.String("shop", "berlin")},
			"server.address=gateway.example server.port=443 shop=berlin",
		},
	} {
		t.Run(test.baseURL, func(t *testing.T) {
			telemetry := newTelemetry()
			telemetry.Attributes = test.more
			cfg := cardgateway.Config{BaseURL: test.baseURL}
			must(t, otel.Instrument(&cfg, telemetry.Options))
			_, end := cfg.Observe(t.Context(), cardgateway.Operation{Name: "OrderWalk"})
			end(cardgateway.CallInfo{Outcome: cardgateway.OutcomeOK})
			want := test.want + " cardgateway.operation=OrderWalk cardgateway.outcome=ok"
			if diff := cmp.Diff(want, text(telemetry.one(t, "OrderWalk").Attributes)); diff != "" {
				t.Errorf("attributes (-want +got):\n%s", diff)
			}
		})
	}
}

// TestInstrumentErrors: errors name what is wrong in the configuration without quoting it, and no hook is set.
func TestInstrumentErrors(t *testing.T) {
	const password = "the-password"
	for _, test := range []struct {
		name    string
		cfg     *cardgateway.Config
		problem cardgateway.Problem
	}{
		{"no config", nil, cardgateway.Problem{Field: "cfg", Rule: cardgateway.RuleRequired, Message: "must not be nil"}},
		{
			"no BaseURL", &cardgateway.Config{},
			cardgateway.Problem{Field: "BaseURL", Rule: cardgateway.RuleRequired, Message: "must be set before Instrument is called"},
		},
		{
			"no URL", &cardgateway.Config{BaseURL: "https://m:" + password + "@%zz"},
			cardgateway.Problem{Field: "BaseURL", Rule: cardgateway.RuleFormat, Message: "must be an absolute URL"},
		},
		{
			"no host", &cardgateway.Config{BaseURL: "/" + password},
			cardgateway.Problem{Field: "BaseURL", Rule: cardgateway.RuleFormat, Message: "must be an absolute URL"},
		},
		{
			"port too large", &cardgateway.Config{BaseURL: "https://m:" + password + "@gateway.example:65536"},
			cardgateway.Problem{Field: "BaseURL", Rule: cardgateway.RuleFormat, Message: "must not have a port above 65535"},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			err := otel.Instrument(test.cfg, newTelemetry().Options)
			invalid, ok := errors.AsType[*cardgateway.ValidationError](err)
			if !ok {
				t.Fatalf("got %v, want a *ValidationError", err)
			}
			if diff := cmp.Diff([]cardgateway.Problem{test.problem}, invalid.Problems); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
			if strings.Contains(err.Error(), password) {
				t.Errorf("got %q, want no part of BaseURL", err)
			}
			if test.cfg != nil && (test.cfg.Observe != nil || test.cfg.ObserveAttempt != nil) {
				t.Error("got hooks beside the error, want none")
			}
		})
	}
}

// TestHooksSetBefore: hooks that were already set are called within the span.
func TestHooksSetBefore(t *testing.T) {
	b := newBench(t)
	type key struct{}
	var events []string
	span := func(ctx context.Context) api.SpanID { return api.SpanContextFromContext(ctx).SpanID() }
	var observed, attempted api.SpanID
	client := b.newClient(t, cardgateway.Config{
		BaseURL: b.client.BaseURL(),
		Observe: func(ctx context.Context, op cardgateway.Operation) (context.Context, func(cardgateway.CallInfo)) {
			observed = span(ctx)
			events = append(events, "begin "+op.Name)
			return context.WithValue(ctx, key{}, "theirs"), func(info cardgateway.CallInfo) {
				events = append(events, "end "+string(info.Outcome))
				if n := len(b.spans.GetSpans()); n != 0 {
					t.Errorf("got %d spans before the hook has ended, want 0", n)
				}
			}
		},
		ObserveAttempt: func(ctx context.Context, info cardgateway.AttemptInfo) {
			attempted = span(ctx)
			events = append(events, "attempt "+ctx.Value(key{}).(string))
		},
	})
	if _, err := client.TokenPayment(t.Context(), b.token, clienttest.TokenPaymentRequest("t-1")); err != nil {
		t.Fatal(err)
	}
	if want := []string{"begin TokenPayment", "attempt theirs", "end processing"}; !slices.Equal(events, want) {
		t.Errorf("got %q, want %q", events, want)
	}
	recorded := b.one(t, "TokenPayment")
	if id := recorded.SpanContext.SpanID(); observed != id || attempted != id {
		t.Errorf("the hooks saw the spans %v and %v, want %v", observed, attempted, id)
	}
	if len(recorded.Events) != 1 {
		t.Errorf("got %d events, want the attempt", len(recorded.Events))
	}
}

// TestHookReturnsNothing: a hook may return nil for either result, as with the client.
func TestHookReturnsNothing(t *testing.T) {
	telemetry := newTelemetry()
	cfg := cardgateway.Config{
		BaseURL: "https://gateway.example",
		Observe: func(context.Context, cardgateway.Operation) (context.Context, func(cardgateway.CallInfo)) {
			return nil, nil
		},
	}
	must(t, otel.Instrument(&cfg, telemetry.Options))
	ctx, end := cfg.Observe(t.Context(), cardgateway.Operation{Name: "TokenPayment"})
	if !api.SpanContextFromContext(ctx).IsValid() {
		t.Error("got a context without the span")
	}
	end(cardgateway.CallInfo{})
	telemetry.one(t, "TokenPayment")
}

// TestHookPanics: a call is recorded also if a hook that was set before panics at its end.
func TestHookPanics(t *testing.T) {
	telemetry := newTelemetry()
	cfg := cardgateway.Config{
		BaseURL: "https://gateway.example",
		Observe: func(context.Context, cardgateway.Operation) (context.Context, func(cardgateway.CallInfo)) {
			return nil, func(cardgateway.CallInfo) { panic("a hook") }
		},
	}
	must(t, otel.Instrument(&cfg, telemetry.Options))
	_, end := cfg.Observe(t.Context(), cardgateway.Operation{Name: "TokenPayment", Payment: true})
	func() {
		defer func() {
			if recover() != "a hook" {
				t.Error("the panic was kept from the client")
			}
		}()
		end(cardgateway.CallInfo{Outcome: cardgateway.OutcomeUnknown})
	}()
	telemetry.one(t, "TokenPayment")
	unknown := otel.UnknownOutcomesMetric + " cardgateway.operation=TokenPayment server.address=gateway.example server.port=443"
	if got := telemetry.values(t); got[unknown] != 1 {
		t.Errorf("got %v, want one unknown outcome", got)
	}
}

// TestDefaults: without options the global providers are used, which do nothing until a program sets them.
func TestDefaults(t *testing.T) {
	for _, o := range []otel.Options{{}, {MeterProvider: noop.NewMeterProvider()}} {
		observe := instrumented(t, o).Observe
		ctx, done := observe(t.Context(), cardgateway.Operation{Name: "TokenPayment"})
		if ctx == nil {
			t.Error("no context")
		}
		done(cardgateway.CallInfo{})
	}
}
