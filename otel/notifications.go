package otel

import (
	"context"
	"net/http"

	"github.com/cardgateway/cardgateway-go/notify"
	"go.opentelemetry.io/otel/metric"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
)

// ObserveNotifications returns a value for notify.Options.Observe. It records the counter NotificationsMetric and the histogram
// NotificationDurationMetric, with what the gateway or anybody else sent: no id and no error text. TracerProvider is not used. The error
// is one of the meter provider.
func ObserveNotifications(o Options) (func(context.Context, notify.Info), error) {
	handler, meter := metric.WithAttributes(o.Attributes...), o.meter()
	count, err := meter.Int64Counter(NotificationsMetric, metric.WithUnit("{notification}"),
		metric.WithDescription("Notifications of the card gateway."))
	if err != nil {
		return nil, err
	}
	duration, err := meter.Float64Histogram(NotificationDurationMetric, metric.WithUnit("s"),
		metric.WithDescription("How long a notification of the card gateway takes until its response."),
		metric.WithExplicitBucketBoundaries(.01, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60))
	if err != nil {
		return nil, err
	}
	for _, result := range []string{resultHandled, resultRepeated, resultThrottled, resultFailed, resultRejected} {
		// A rate is computed from changes, and a series that begins with 1 has none.
		count.Add(context.Background(), 0, handler, metric.WithAttributes(NotificationResultKey.String(result)))
	}
	return func(ctx context.Context, info notify.Info) {
		result := metric.WithAttributes(NotificationResultKey.String(resultOf(info)))
		count.Add(ctx, 1, handler, result)
		duration.Record(ctx, info.Duration.Seconds(), handler, result,
			metric.WithAttributes(NotificationKindKey.String(info.Kind.String()), semconv.HTTPResponseStatusCode(info.Status)))
	}, nil
}

// Values of NotificationResultKey.
const (
	resultHandled   = "handled"
	resultRepeated  = "repeated"
	resultThrottled = "throttled"
	resultFailed    = "failed"
	resultRejected  = "rejected"
)

func resultOf(info notify.Info) string {
	switch {
	case info.Throttled:
		return resultThrottled
	case info.Status == http.StatusOK && info.Repeated:
		return resultRepeated
	case info.Status == http.StatusOK:
		return resultHandled
	case info.Status == http.StatusServiceUnavailable:
		return resultFailed
	}
	return resultRejected
}
