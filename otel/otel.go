// Package otel records OpenTelemetry spans and metrics of a client's calls. It is a separate module, so that the client
// does not depend on OpenTelemetry.
//
//	cfg := cardgateway.Config{BaseURL: "https://gateway.example", AppID: "123456"}
//	if err := otel.Instrument(&cfg, otel.Options{}); err != nil {
//		return err
//	}
//	client, err := cardgateway.New(cfg)
//
// In a file that also imports go.opentelemetry.io/otel, import this package under another name, for instance
// cardgatewayotel.
//
// # Spans
//
// Each call to the gateway that passed the client's validation is one span of kind client with the operation's name,
// however many attempts it takes; each attempt is an event of that span. Resolve and walks are spans of kind internal, with
// the spans of their queries as children. Refused, not sent, unknown, conflicting and failed calls have an error status,
// and the outcome as error.type. A decline, an id that is not found and a canceled query are not errors.
//
// # Metrics
//
// DurationMetric is a histogram of durations by operation and outcome. UnknownOutcomesMetric counts the calls with an
// unknown outcome. ObserveJournal and ObserveNotifications add those of packages journal and notify:
//
//	observeJournal, err := otel.ObserveJournal(otel.Options{})
//	if err != nil {
//		return err
//	}
//	payments := journal.New(client, store, journal.Options{Observe: observeJournal})
//
// Two files in the directory of this package expect the names that Prometheus uses for the metrics: dashboard.json shows all of them in
// Grafana, alerts.yml has alert rules.
//
// # Secrets
//
// No text of the gateway and no error text is recorded. Spans have the merchant's transaction id: do not put personal data
// into it.
//
// Do not instrument the client's http.RoundTripper instead: the URL would be recorded, and the URL of a token payment
// contains the token. No trace context is sent to the gateway.
package otel

import (
	"context"
	"slices"

	"github.com/cardgateway/cardgateway-go"
)

// Instrument sets the hooks Observe and ObserveAttempt of cfg. BaseURL must be set before, because server.address and
// server.port are taken from it. Hooks that are already set are called within the span, so that spans that they start are
// its children. Call it before cardgateway.New, which copies cfg: a client that has been made already records nothing.
//
// If it returns an error, cfg is unchanged. The error is a *cardgateway.ValidationError that names what is missing or
// invalid in cfg, or an error of the meter provider.
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

type (
	observeFunc = func(context.Context, cardgateway.Operation) (context.Context, func(cardgateway.CallInfo))
	attemptFunc = func(context.Context, cardgateway.AttemptInfo)
)

// chainObserve calls inner within outer: inner starts later, with the context of outer, and ends earlier. Like any hook of
// the client, inner may return nil for either result.
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
			defer endOuter(info) // also if inner panics
			if endInner != nil {
				endInner(info)
			}
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
