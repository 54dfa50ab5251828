// Package otel makes OpenTelemetry spans and metrics of a client's calls. It is a module of its own, so that
// the client links none of OpenTelemetry.
//
//	observe, err := otel.Observe(otel.Options{})
//	// ...
//	client, err := cardgateway.New(cardgateway.Config{Observe: observe, ...})
//
// A file that also imports go.opentelemetry.io/otel gives this package another name: cardgatewayotel, for instance.
//
// Do not put an instrumented http.RoundTripper under the client instead: such a span names the URL, and the URL of a
// token payment holds the token. No trace context is sent to the gateway.
package otel

import (
	"context"
	"errors"
	"slices"

	"github.com/cardgateway/cardgateway-go"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"
)

// Options says where spans and metrics go.
type Options struct {
	TracerProvider trace.TracerProvider // nil means the global one
	MeterProvider  metric.MeterProvider // nil means the global one

	// Attributes are put on every span and every value, to tell one client from another: the gateway's server.address,
	// for instance.
	Attributes []attribute.KeyValue
}

// Names of what only this package records; the others are those of OpenTelemetry's conventions for HTTP clients.
const (
	// OperationKey is the client's method, such as TokenPayment.
	OperationKey = attribute.Key("cardgateway.operation")
	// OutcomeKey is one of the Outcome constants.
	OutcomeKey = attribute.Key("cardgateway.outcome")
	// TransactionIDKey is the merchant's transaction id. Only spans of payments have it.
	TransactionIDKey = attribute.Key("cardgateway.transaction_id")
	// CodeKey is the gateway's code, if an answer with one came. Only spans have it.
	CodeKey = attribute.Key("cardgateway.code")
	// AttemptsKey is how often the call was sent, or tried to be. Only spans have it.
	AttemptsKey = attribute.Key("cardgateway.attempts")

	// DurationMetric is a histogram of how long calls take, in seconds, all attempts and pauses included.
	DurationMetric = "cardgateway.client.call.duration"
)

// Outcomes of a call: the errors of package cardgateway that one call can end with, and those of its context.
const (
	OutcomeOK          = "ok" // of a payment: taken, but not necessarily paid yet
	OutcomeDeclined    = "declined"
	OutcomeRefused     = "refused"
	OutcomeNotSent     = "not_sent"
	OutcomeUnknown     = "unknown" // of a payment: resolve it
	OutcomeNotFound    = "not_found"
	OutcomeQueryFailed = "query_failed"
	OutcomeCanceled    = "canceled" // a query that the caller no longer wanted, as when a loop over orders is left early
)

const scope = "github.com/cardgateway/cardgateway-go/otel"

// Observe returns a value for cardgateway.Config.Observe. Each call that leaves the client's checks becomes one span
// of kind client with the operation's name, however many attempts it takes, and one value of DurationMetric.
//
// A decline, an id that is not found and a query that was not wanted any more are no failures: their spans have no error
// status. No text of the gateway is recorded.
func Observe(o Options) (func(context.Context, cardgateway.Operation) (context.Context, func(cardgateway.CallInfo)), error) {
	if o.TracerProvider == nil {
		o.TracerProvider = otel.GetTracerProvider()
	}
	if o.MeterProvider == nil {
		o.MeterProvider = otel.GetMeterProvider()
	}
	version := cardgateway.Version
	tracer := o.TracerProvider.Tracer(scope, trace.WithInstrumentationVersion(version))
	duration, err := o.MeterProvider.Meter(scope, metric.WithInstrumentationVersion(version)).Float64Histogram(DurationMetric,
		metric.WithUnit("s"),
		metric.WithDescription("How long a call to the card gateway takes, with all its attempts."),
		metric.WithExplicitBucketBoundaries(.05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 120),
	)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, op cardgateway.Operation) (context.Context, func(cardgateway.CallInfo)) {
		call := append(slices.Clip(o.Attributes), OperationKey.String(op.Name))
		ctx, span := tracer.Start(ctx, op.Name, trace.WithSpanKind(trace.SpanKindClient),
			trace.WithAttributes(call...), trace.WithAttributes(describe(op)...))
		return ctx, func(info cardgateway.CallInfo) {
			how := outcomeOf(op, info.Err)
			end := how.attributes(info)
			span.SetAttributes(end...)
			span.SetAttributes(AttemptsKey.Int(info.Attempts))
			if info.Code != 0 {
				span.SetAttributes(CodeKey.Int(int(info.Code)))
			}
			if how.failed {
				span.SetStatus(codes.Error, how.name)
			}
			span.End()
			duration.Record(ctx, info.Duration.Seconds(), metric.WithAttributes(append(call, end...)...))
		}
	}, nil
}

// describe says what is known of a call when it begins.
func describe(op cardgateway.Operation) []attribute.KeyValue {
	known := []attribute.KeyValue{
		attribute.String("http.request.method", op.Method),
		attribute.String("url.template", op.PathTemplate),
	}
	if op.TransactionID != "" {
		known = append(known, TransactionIDKey.String(op.TransactionID))
	}
	return known
}

// outcome is how a call ended.
type outcome struct {
	name   string
	failed bool
}

// outcomeOf sorts the errors of package cardgateway.
func outcomeOf(op cardgateway.Operation, err error) outcome {
	switch {
	case err == nil:
		return outcome{OutcomeOK, false}
	case errors.Is(err, cardgateway.ErrDeclined):
		return outcome{OutcomeDeclined, false}
	case errors.Is(err, cardgateway.ErrRefused):
		return outcome{OutcomeRefused, true}
	case errors.Is(err, cardgateway.ErrNotSent):
		return outcome{OutcomeNotSent, true}
	case errors.Is(err, cardgateway.ErrOutcomeUnknown):
		return outcome{OutcomeUnknown, true}
	case errors.Is(err, cardgateway.ErrNotFound):
		return outcome{OutcomeNotFound, false}
	case !op.Payment && errors.Is(err, context.Canceled):
		return outcome{OutcomeCanceled, false}
	}
	return outcome{OutcomeQueryFailed, true}
}

// attributes say how a call ended, in few enough ways for a metric.
func (o outcome) attributes(info cardgateway.CallInfo) []attribute.KeyValue {
	known := []attribute.KeyValue{OutcomeKey.String(o.name)}
	if info.HTTPStatus != 0 {
		known = append(known, attribute.Int("http.response.status_code", info.HTTPStatus))
	}
	if o.failed {
		known = append(known, attribute.String("error.type", o.name))
	}
	return known
}
