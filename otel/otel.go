// Package otel makes OpenTelemetry spans and metrics of a client's calls. It is a module of its own, so that the client
// links none of OpenTelemetry.
//
//	cfg := cardgateway.Config{BaseURL: "https://gateway.example", AppID: "123456"}
//	if err := otel.Instrument(&cfg, otel.Options{}); err != nil {
//		return err
//	}
//	client, err := cardgateway.New(cfg)
//
// A file that also imports go.opentelemetry.io/otel gives this package another name: cardgatewayotel, for instance.
//
// # Spans
//
// Each call to the gateway that has passed the client's checks is one span of kind client with the operation's name,
// however many attempts it takes; each attempt is an event of it. Resolve and a walk are spans of kind internal, with
// the spans of their queries below them. Refused, not sent, unknown, conflicting and failed calls have an error status,
// and the outcome as error.type. A decline, an id that is not found and a query that is not wanted any more are no
// failures.
//
// # Metrics
//
// DurationMetric is a histogram of durations by operation and outcome, UnknownOutcomesMetric counts the calls whose
// outcome is unknown. The file dashboard.json beside this package shows both in Grafana; it expects the names that
// Prometheus gives them.
//
// # Secrets
//
// No text of the gateway and no text of an error is recorded. The merchant's transaction id is, on spans: do not put
// personal data into it.
//
// Do not put an instrumented http.RoundTripper under the client instead: such a span names the URL, and the URL of a
// token payment holds the token. No trace context is sent to the gateway.
package otel

import (
	"context"
	"slices"

	"github.com/cardgateway/cardgateway-go"
)

// Instrument sets the hooks Observe and ObserveAttempt of cfg. BaseURL must be set before, since server.address and
// server.port are taken from it. Hooks that are set already are called inside the span, so that spans of theirs come
// below it.
//
// An error leaves cfg as it is. It is a *cardgateway.ValidationError that names what is missing in cfg, or an error of
// the meter provider.
func Instrument(cfg *cardgateway.Config, o Options) error {
	server, err := serverAttributes(cfg)
	if err != nil {
		return err
	}
	o.Attributes = slices.Concat(server, o.Attributes)
	r, err := newRecorder(o)
	if err != nil {
		return err
	}
	cfg.Observe = chainObserve(r.observe, cfg.Observe)
	cfg.ObserveAttempt = chainObserveAttempt(r.observeAttempt, cfg.ObserveAttempt)
	return nil
}

// Observe returns a value for cardgateway.Config.Observe, for a program that combines hooks itself. What it records
// has no attempts, and no server.address and server.port unless Options.Attributes have them: Instrument adds these.
func Observe(o Options) (func(context.Context, cardgateway.Operation) (context.Context, func(cardgateway.CallInfo)), error) {
	r, err := newRecorder(o)
	if err != nil {
		return nil, err
	}
	return r.observe, nil
}

type (
	observeFunc = func(context.Context, cardgateway.Operation) (context.Context, func(cardgateway.CallInfo))
	attemptFunc = func(context.Context, cardgateway.AttemptInfo)
)

// chainObserve calls inner within outer: it begins later, with the context of outer, and ends earlier. As for the
// client, inner may return nil for either result.
func chainObserve(outer, inner observeFunc) observeFunc {
	if inner == nil {
		return outer
	}
	return func(ctx context.Context, op cardgateway.Operation) (context.Context, func(cardgateway.CallInfo)) {
		ctx, endOuter := outer(ctx, op)
		given, endInner := inner(ctx, op)
		if given != nil {
			ctx = given
		}
		return ctx, func(info cardgateway.CallInfo) {
			if endInner != nil {
				endInner(info)
			}
			endOuter(info)
		}
	}
}

func chainObserveAttempt(outer, inner attemptFunc) attemptFunc {
	if inner == nil {
		return outer
	}
	return func(ctx context.Context, info cardgateway.AttemptInfo) {
		outer(ctx, info)
		inner(ctx, info)
	}
}
