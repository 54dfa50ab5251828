package otel_test

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/internal/redact"
	"github.com/cardgateway/cardgateway-go/otel"
	"github.com/cardgateway/cardgateway-go/sandbox"
	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel/attribute"
)

// attempts returns the attributes of a span's events, without durations.
func attempts(t *testing.T, tm *telemetry, name string) (all []string) {
	t.Helper()
	for _, event := range tm.one(t, name).Events {
		if event.Name != otel.AttemptEvent {
			t.Errorf("got event %q, want %q", event.Name, otel.AttemptEvent)
		}
		all = append(all, text(slices.DeleteFunc(event.Attributes, func(a attribute.KeyValue) bool { return a.Key == otel.AttemptDurationKey })))
	}
	return all
}

// TestAttempts: each attempt is an event of the call's span.
func TestAttempts(t *testing.T) {
	b := newBench(t)
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	for _, test := range []struct {
		name  string
		fault sandbox.Fault
		call  func() error
		span  string
		want  []string
	}{
		{
			"a payment", sandbox.Fault{}, func() error { return b.pay(t.Context(), "t-1") }, "TokenPayment",
			[]string{"cardgateway.attempt.number=1 cardgateway.attempt.sent=true http.response.status_code=200"},
		},
		{
			"a payment without a response", sandbox.Fault{Reply: sandbox.ReplyReset}, func() error { return b.pay(t.Context(), "t-2") }, "TokenPayment",
			[]string{"cardgateway.attempt.number=1 cardgateway.attempt.sent=true error.type=connection_lost"},
		},
		{
			"a payment that is not sent", sandbox.Fault{}, func() error { return b.pay(cancelled, "t-3") }, "TokenPayment",
			[]string{"cardgateway.attempt.number=1 cardgateway.attempt.sent=false error.type=canceled"},
		},
		{
			"a query that is repeated", sandbox.Fault{Status: 503, Reply: sandbox.ReplyHTML},
			func() error { _, err := b.client.GetTransaction(t.Context(), "1"); return err }, "GetTransaction",
			[]string{
				"cardgateway.attempt.number=1 http.response.status_code=503 error.type=503",
				"cardgateway.attempt.number=2 http.response.status_code=200",
			},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			b.spans.Reset()
			b.gateway.ClearFaults()
			b.gateway.Inject(test.fault)
			_ = test.call() // the spans record the result
			if diff := cmp.Diff(test.want, attempts(t, b.telemetry, test.span)); diff != "" {
				t.Errorf("attempts (-want +got):\n%s", diff)
			}
		})
	}
}

// TestAttemptDuration checks the unit.
func TestAttemptDuration(t *testing.T) {
	telemetry := newTelemetry()
	cfg := instrumented(t, telemetry.Options)
	ctx, end := cfg.Observe(t.Context(), cardgateway.Operation{Name: "TokenPayment"})
	cfg.ObserveAttempt(ctx, cardgateway.AttemptInfo{Number: 1, Duration: 1500 * time.Millisecond})
	end(cardgateway.CallInfo{})
	if got := valueOf(telemetry.one(t, "TokenPayment").Events[0].Attributes, otel.AttemptDurationKey); got != "1.5" {
		t.Errorf("got a duration of %s, want 1.5 seconds", got)
	}
}

// TestAttemptsBelowAnotherSpan: an attempt is an event of its call's span, even if a hook has started a child span, and is
// not recorded outside of a call.
func TestAttemptsBelowAnotherSpan(t *testing.T) {
	telemetry := newTelemetry()
	cfg := instrumented(t, telemetry.Options)
	ctx, end := cfg.Observe(t.Context(), cardgateway.Operation{Name: "TokenPayment"})
	inner, span := telemetry.TracerProvider.Tracer("shop").Start(ctx, "theirs")
	cfg.ObserveAttempt(inner, cardgateway.AttemptInfo{Number: 1})
	span.End()
	end(cardgateway.CallInfo{})
	outer, span := telemetry.TracerProvider.Tracer("shop").Start(t.Context(), "no call")
	cfg.ObserveAttempt(outer, cardgateway.AttemptInfo{Number: 1})
	span.End()
	for name, want := range map[string]int{"TokenPayment": 1, "theirs": 0, "no call": 0} {
		if got := len(telemetry.one(t, name).Events); got != want {
			t.Errorf("%s: got %d events, want %d", name, got, want)
		}
	}
}

// TestAttemptErrorType checks the class of an attempt's error, with errors created by the standard library and as the client keeps them.
func TestAttemptErrorType(t *testing.T) {
	server := httptest.NewUnstartedServer(http.NotFoundHandler())
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	defer server.Close()
	_, refused := net.Dial("tcp", "127.0.0.1:1") // nobody listens there
	_, badCertificate := tls.Dial("tcp", server.Listener.Addr().String(), &tls.Config{ServerName: "gateway.example"})
	plain := httptest.NewServer(http.NotFoundHandler())
	defer plain.Close()
	_, noTLS := tls.Dial("tcp", plain.Listener.Addr().String(), &tls.Config{ServerName: "gateway.example"})
	_, alert := tls.Dial("tcp", server.Listener.Addr().String(), &tls.Config{InsecureSkipVerify: true, MaxVersion: tls.VersionTLS11, MinVersion: tls.VersionTLS10})
	deadline, cancel := context.WithTimeout(t.Context(), 0)
	defer cancel()
	for _, test := range []struct {
		name string
		info cardgateway.AttemptInfo
		want string
	}{
		{"none", cardgateway.AttemptInfo{HTTPStatus: 200}, ""},
		{"a redirect", cardgateway.AttemptInfo{HTTPStatus: 302}, ""},
		{"a status", cardgateway.AttemptInfo{HTTPStatus: 400}, "400"},
		{"a status and an error", cardgateway.AttemptInfo{HTTPStatus: 502, Err: io.ErrUnexpectedEOF}, "connection_lost"},
		{"cancelled", cardgateway.AttemptInfo{Err: fmt.Errorf("waiting: %w", context.Canceled)}, "canceled"},
		{"deadline", cardgateway.AttemptInfo{Err: deadline.Err()}, "timeout"},
		{"read timeout", cardgateway.AttemptInfo{Err: &net.OpError{Op: "read", Err: context.DeadlineExceeded}}, "timeout"},
		{"connect timeout", cardgateway.AttemptInfo{Err: &net.OpError{Op: "dial", Err: syscall.ETIMEDOUT}}, "timeout"},
		{"the hook found a mistake", cardgateway.AttemptInfo{Err: &cardgateway.ValidationError{}}, "invalid_request"},
		{"no such host", cardgateway.AttemptInfo{Err: &net.OpError{Op: "dial", Err: &net.DNSError{IsNotFound: true}}}, "name_resolution"},
		{"name server timeout", cardgateway.AttemptInfo{Err: &net.OpError{Op: "dial", Err: &net.DNSError{IsTimeout: true}}}, "name_resolution"},
		{"refused connection", cardgateway.AttemptInfo{Err: refused}, "connect"},
		{"certificate", cardgateway.AttemptInfo{Err: badCertificate}, "tls"},
		{"no TLS", cardgateway.AttemptInfo{Err: noTLS}, "tls"},
		{"own alert", cardgateway.AttemptInfo{Err: &net.OpError{Op: "local error", Err: errors.New("bad record MAC")}}, "tls"},
		{"alert", cardgateway.AttemptInfo{Err: alert}, "tls"},
		{"reset", cardgateway.AttemptInfo{Err: &net.OpError{Op: "read", Err: syscall.ECONNRESET}}, "connection_lost"},
		{"failed write", cardgateway.AttemptInfo{Err: &net.OpError{Op: "write", Err: net.ErrClosed}}, "connection_lost"},
		{"bare reset", cardgateway.AttemptInfo{Err: syscall.ECONNRESET}, "connection_lost"},
		{"bare broken pipe", cardgateway.AttemptInfo{Err: syscall.EPIPE}, "connection_lost"},
		{"end", cardgateway.AttemptInfo{Err: io.EOF}, "connection_lost"},
		{"anything else", cardgateway.AttemptInfo{Err: errors.New("the-secret-key")}, "_OTHER"},
	} {
		t.Run(test.name, func(t *testing.T) {
			telemetry := newTelemetry()
			cfg := instrumented(t, telemetry.Options)
			ctx, end := cfg.Observe(t.Context(), cardgateway.Operation{Name: "TokenPayment"})
			if !errors.Is(test.info.Err, cardgateway.ErrInvalidRequest) { // which the client returns as it is
				test.info.Err = redact.Secrets(nil).Error(test.info.Err, func(error) bool { return false })
			}
			cfg.ObserveAttempt(ctx, test.info)
			end(cardgateway.CallInfo{})
			if got := valueOf(telemetry.one(t, "TokenPayment").Events[0].Attributes, "error.type"); got != test.want {
				t.Errorf("%v: got error.type %q, want %q", test.info.Err, got, test.want)
			}
		})
	}
}
