package otel

import (
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
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
