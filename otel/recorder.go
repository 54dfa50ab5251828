package otel

import (
	"context"
	"slices"
	"strings"

	"github.com/cardgateway/cardgateway-go"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"
)

// recorder records spans and metrics of a client's calls.
type recorder struct {
	client   []attribute.KeyValue // of the client, for every span and measurement
	tracer   trace.Tracer
	duration metric.Float64Histogram
	unknown  metric.Int64Counter
}

func newRecorder(o Options) (*recorder, error) {
	if o.TracerProvider == nil {
		o.TracerProvider = otel.GetTracerProvider()
	}
	r := &recorder{client: o.Attributes}
	r.tracer = o.TracerProvider.Tracer(scope,
		trace.WithInstrumentationVersion(cardgateway.Version), trace.WithSchemaURL(semconv.SchemaURL))
	meter := o.meter()
	var err error
	r.duration, err = meter.Float64Histogram(DurationMetric,
		metric.WithUnit("s"),
		metric.WithDescription("How long a call to the card gateway takes, with all its attempts."),
		// From a query to the default timeout of Resolve, up to a walk over a year.
		metric.WithExplicitBucketBoundaries(.05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 120, 600, 3600),
	)
	if err != nil {
		return nil, err
	}
	r.unknown, err = meter.Int64Counter(UnknownOutcomesMetric,
		metric.WithUnit("{call}"),
		metric.WithDescription("Calls to the card gateway that ended with an unknown outcome."),
	)
	return r, err
}

// spanKey is the context key of a call's span. Attempts use it instead of the current span, which can be a child that
// another hook has started.
type spanKey struct{}

// observe starts the span of a call.
func (r *recorder) observe(ctx context.Context, op cardgateway.Operation) (context.Context, func(cardgateway.CallInfo)) {
	call := slices.Concat(r.client, []attribute.KeyValue{OperationKey.String(op.Name)})
	kind := trace.SpanKindClient
	if op.Method == "" {
		kind = trace.SpanKindInternal
	}
	ctx, span := r.tracer.Start(ctx, op.Name,
		trace.WithSpanKind(kind), trace.WithAttributes(call...), trace.WithAttributes(describe(op)...))
	if canBeUnknown(op) {
		// A rate is computed from changes, and a series that begins with 1 has none.
		r.unknown.Add(ctx, 0, metric.WithAttributes(call...))
	}
	return context.WithValue(ctx, spanKey{}, span), func(info cardgateway.CallInfo) {
		outcome, errorType := outcomeOf(info)
		if outcome == cardgateway.OutcomeUnknown {
			r.unknown.Add(ctx, 1, metric.WithAttributes(call...))
		}
		ended := []attribute.KeyValue{OutcomeKey.String(string(outcome))}
		if info.HTTPStatus != 0 {
			ended = append(ended, semconv.HTTPResponseStatusCode(info.HTTPStatus))
		}
		if errorType != "" {
			ended = append(ended, semconv.ErrorTypeKey.String(errorType))
			span.SetStatus(codes.Error, errorType)
		}
		span.SetAttributes(ended...)
		if info.Attempts != 0 {
			span.SetAttributes(AttemptsKey.Int(info.Attempts))
		}
		if info.Code != 0 {
			span.SetAttributes(CodeKey.Int(int(info.Code)))
		}
		span.End()
		r.duration.Record(ctx, info.Duration.Seconds(), metric.WithAttributes(append(call, ended...)...))
	}
}

// describe returns the attributes that are known when a call begins. Resolve and walks have no method and no path.
func describe(op cardgateway.Operation) (known []attribute.KeyValue) {
	if op.Method != "" {
		known = append(known, semconv.HTTPRequestMethodKey.String(op.Method), semconv.URLTemplate(op.PathTemplate))
	}
	for _, id := range []attribute.KeyValue{
		TransactionIDKey.String(op.TransactionID), RefundTransactionIDKey.String(op.RefundTransactionID), UniqueIDKey.String(op.UniqueID),
	} {
		if id.Value.AsString() != "" {
			known = append(known, id)
		}
	}
	return known
}

// canBeUnknown reports whether a call can end with an unknown outcome.
func canBeUnknown(op cardgateway.Operation) bool {
	return op.Payment || op.Method == "" && strings.HasPrefix(op.Name, "Resolve")
}

// observeAttempt adds an attempt to the span of its call.
func (r *recorder) observeAttempt(ctx context.Context, info cardgateway.AttemptInfo) {
	span, ok := ctx.Value(spanKey{}).(trace.Span)
	if !ok || !span.IsRecording() {
		return
	}
	attempt := []attribute.KeyValue{
		AttemptNumberKey.Int(info.Number),
		AttemptDurationKey.Float64(info.Duration.Seconds()),
	}
	if info.Operation.Payment { // not known for queries
		attempt = append(attempt, AttemptSentKey.Bool(info.Sent))
	}
	if info.HTTPStatus != 0 {
		attempt = append(attempt, semconv.HTTPResponseStatusCode(info.HTTPStatus))
	}
	if errorType := attemptErrorType(info); errorType != "" {
		attempt = append(attempt, semconv.ErrorTypeKey.String(errorType))
	}
	span.AddEvent(AttemptEvent, trace.WithAttributes(attempt...))
}
