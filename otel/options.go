package otel

import (
	"github.com/cardgateway/cardgateway-go"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"
)

// Options configures where spans and metrics go.
type Options struct {
	TracerProvider trace.TracerProvider // nil means the global one
	MeterProvider  metric.MeterProvider // nil means the global one

	// Attributes are added to every span and every measurement, to distinguish clients. They override server.address and
	// server.port, which Instrument adds.
	Attributes []attribute.KeyValue
}

// meter returns the meter of this package.
func (o Options) meter() metric.Meter {
	if o.MeterProvider == nil {
		o.MeterProvider = otel.GetMeterProvider()
	}
	return o.MeterProvider.Meter(scope,
		metric.WithInstrumentationVersion(cardgateway.Version), metric.WithSchemaURL(semconv.SchemaURL))
}
