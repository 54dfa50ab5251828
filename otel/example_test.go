package otel_test

import (
	"context"
	"fmt"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/otel"
	"github.com/cardgateway/cardgateway-go/sandbox"
	"go.opentelemetry.io/otel/sdk/trace"
)

// printer is a substitute for a span exporter.
type printer struct{}

func (printer) ExportSpans(_ context.Context, spans []trace.ReadOnlySpan) error {
	for _, span := range spans {
		fmt.Println(span.Name(), span.SpanKind(), span.Status().Code)
		for _, event := range span.Events() {
			fmt.Println(" ", event.Name)
		}
	}
	return nil
}

func (printer) Shutdown(context.Context) error { return nil }

func ExampleInstrument() {
	gateway, err := sandbox.Start(sandbox.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer gateway.Close()

	cfg := cardgateway.Config{BaseURL: gateway.URL, AppID: "123456", TestPayments: true}
	err = otel.Instrument(&cfg, otel.Options{
		TracerProvider: trace.NewTracerProvider(trace.WithSyncer(printer{})),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	client, err := cardgateway.New(cfg)
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = client.GetTransaction(context.Background(), "4711")
	fmt.Println("found:", err == nil)
	// Output:
	// GetTransaction client Unset
	//   cardgateway.attempt
	// found: false
}
