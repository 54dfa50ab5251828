package otel

import (
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"
)

// Options says where spans and metrics go.
type Options struct {
	TracerProvider trace.TracerProvider // nil means the global one
	MeterProvider  metric.MeterProvider // nil means the global one

	// Attributes are put on every span and every measured value, to tell one client from another. They override
	// server.address and server.port, which Instrument adds.
	Attributes []attribute.KeyValue
}
