package otel_test

import (
	"context"
	"errors"
	"testing"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/internal/test/clienttest"
	"github.com/cardgateway/cardgateway-go/otel"
	"github.com/cardgateway/cardgateway-go/sandbox"
	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	api "go.opentelemetry.io/otel/trace"
)

// TestSpans makes a call for every outcome.
func TestSpans(t *testing.T) {
	b := newBench(t)
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	subscribe := func(id, cvv string) error {
		_, err := b.client.CreateSubscription(t.Context(), clienttest.SubscriptionRequest(id, clienttest.NewCard(clienttest.CardNumber, cvv)))
		return err
	}
	tests := []struct {
		name  string
		fault sandbox.Fault
		call  func() error
		err   error
		span  string
		is    codes.Code
		want  string // the attributes that depend on the call
	}{
		{
			"in processing", sandbox.Fault{}, func() error { return b.pay(t.Context(), "t-1") }, nil, "TokenPayment", codes.Unset,
			"http.request.method=POST url.template=/checkout/tokenization/payment/{tokenization} cardgateway.transaction_id=t-1 " +
				"cardgateway.outcome=processing http.response.status_code=200 cardgateway.attempts=1 cardgateway.code=102",
		},
		{
			"declined", sandbox.Fault{}, func() error { return subscribe("t-2", "900") }, cardgateway.ErrDeclined,
			"CreateSubscription", codes.Unset,
			"http.request.method=POST url.template=/api/subscription cardgateway.transaction_id=t-2 " +
				"cardgateway.outcome=declined http.response.status_code=200 cardgateway.attempts=1 cardgateway.code=101",
		},
		{
			"refused", sandbox.Fault{Commit: sandbox.CommitNever, Reply: sandbox.ReplyHTML, Status: 403},
			func() error { return b.pay(t.Context(), "t-3") }, cardgateway.ErrRefused, "TokenPayment", codes.Error,
			"http.request.method=POST url.template=/checkout/tokenization/payment/{tokenization} cardgateway.transaction_id=t-3 " +
				"cardgateway.outcome=refused http.response.status_code=403 error.type=refused cardgateway.attempts=1",
		},
		{
			"not sent", sandbox.Fault{}, func() error { return b.pay(cancelled, "t-4") }, cardgateway.ErrNotSent, "TokenPayment", codes.Error,
			"http.request.method=POST url.template=/checkout/tokenization/payment/{tokenization} cardgateway.transaction_id=t-4 " +
				"cardgateway.outcome=not_sent error.type=not_sent cardgateway.attempts=1",
		},
		{
			"unknown", sandbox.Fault{Reply: sandbox.ReplyReset}, func() error { return b.pay(t.Context(), "t-5") },
			cardgateway.ErrOutcomeUnknown, "TokenPayment", codes.Error,
			"http.request.method=POST url.template=/checkout/tokenization/payment/{tokenization} cardgateway.transaction_id=t-5 " +
				"cardgateway.outcome=outcome_unknown error.type=outcome_unknown cardgateway.attempts=1",
		},
		{
			"not found", sandbox.Fault{}, func() error { _, err := b.client.GetTransaction(t.Context(), "1"); return err },
			cardgateway.ErrNotFound, "GetTransaction", codes.Unset,
			"http.request.method=GET url.template=/search/order/{uniqueId} cardgateway.unique_id=1 " +
				"cardgateway.outcome=not_found http.response.status_code=200 cardgateway.attempts=1 cardgateway.code=404",
		},
		{
			"canceled", sandbox.Fault{}, func() error { _, err := b.client.GetTransaction(cancelled, "1"); return err },
			context.Canceled, "GetTransaction", codes.Unset,
			"http.request.method=GET url.template=/search/order/{uniqueId} cardgateway.unique_id=1 cardgateway.outcome=canceled cardgateway.attempts=1",
		},
		{
			"query failed", sandbox.Fault{Times: -1, Commit: sandbox.CommitNever, Status: 503, Reply: sandbox.ReplyHTML},
			func() error { _, err := b.client.GetTransaction(t.Context(), "1"); return err },
			cardgateway.ErrQueryFailed, "GetTransaction", codes.Error,
			"http.request.method=GET url.template=/search/order/{uniqueId} cardgateway.unique_id=1 " +
				"cardgateway.outcome=query_failed http.response.status_code=503 error.type=query_failed cardgateway.attempts=2",
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			b.spans.Reset()
			b.gateway.ClearFaults()
			b.gateway.Inject(test.fault)
			if err := test.call(); !errors.Is(err, test.err) {
				t.Errorf("got %v, want %v", err, test.err)
			}
			spans := b.spans.GetSpans()
			if len(spans) != 1 {
				t.Fatalf("got %d spans", len(spans))
			}
			span := spans[0]
			if span.Name != test.span || span.SpanKind != api.SpanKindClient || span.Status.Code != test.is {
				t.Errorf("got span %q of kind %v with status %v", span.Name, span.SpanKind, span.Status)
			}
			if diff := cmp.Diff(b.server+" cardgateway.operation="+test.span+" "+test.want, text(span.Attributes)); diff != "" {
				t.Errorf("attributes (-want +got):\n%s", diff)
			}
			if how := outcomeOf(span.Attributes); span.Status.Description != how && test.is == codes.Error {
				t.Errorf("the status says %q, want %q", span.Status.Description, how)
			}
		})
	}
}

// TestInternalSpans: Resolve is a span of kind internal with its queries as children, which have the transaction id.
func TestInternalSpans(t *testing.T) {
	b := newBench(t)
	must(t, b.pay(t.Context(), "t-1"))
	tests := []struct {
		name  string
		fault sandbox.Fault
		id    string
		err   error
		is    codes.Code
		want  string
	}{
		{"approved", sandbox.Fault{}, "t-1", nil, codes.Unset, "cardgateway.outcome=approved cardgateway.code=100"},
		{"not found", sandbox.Fault{}, "t-2", cardgateway.ErrNotFound, codes.Unset, "cardgateway.outcome=not_found"},
		{
			"unknown", sandbox.Fault{Times: -1, Status: 503, Reply: sandbox.ReplyHTML}, "t-1", cardgateway.ErrOutcomeUnknown, codes.Error,
			"cardgateway.outcome=outcome_unknown error.type=outcome_unknown",
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			b.spans.Reset()
			b.gateway.ClearFaults()
			b.gateway.Inject(test.fault)
			if _, err := b.client.Resolve(t.Context(), resolveQuery(test.id)); !errors.Is(err, test.err) {
				t.Errorf("got %v, want %v", err, test.err)
			}
			resolve, search := b.one(t, "Resolve"), b.one(t, "SearchOrders")
			if resolve.SpanKind != api.SpanKindInternal || resolve.Status.Code != test.is || search.SpanKind != api.SpanKindClient {
				t.Errorf("got kind %v with status %v above kind %v", resolve.SpanKind, resolve.Status, search.SpanKind)
			}
			if search.Parent.SpanID() != resolve.SpanContext.SpanID() || search.Parent.TraceID() != resolve.SpanContext.TraceID() {
				t.Errorf("got a query below %v, want below %v", search.Parent, resolve.SpanContext)
			}
			want := b.server + " cardgateway.operation=Resolve cardgateway.transaction_id=" + test.id + " " + test.want
			if diff := cmp.Diff(want, text(resolve.Attributes)); diff != "" {
				t.Errorf("attributes (-want +got):\n%s", diff)
			}
			if got := valueOf(search.Attributes, otel.TransactionIDKey); got != test.id {
				t.Errorf("the query's transaction id: got %q, want %q", got, test.id)
			}
			if len(resolve.Events) != 0 || len(search.Events) == 0 {
				t.Errorf("got %d attempts of Resolve and %d of its query, want none and some", len(resolve.Events), len(search.Events))
			}
		})
	}
}

// TestOutcomes checks which outcomes are failures, and their error.type, for results that a sandbox does not produce.
func TestOutcomes(t *testing.T) {
	hook := &cardgateway.ValidationError{Op: "BasicAuth"}
	for _, test := range []struct {
		name string
		info cardgateway.CallInfo
		want string
	}{
		{"a walk over everything", cardgateway.CallInfo{Outcome: cardgateway.OutcomeOK}, "cardgateway.outcome=ok"},
		{"a walk left early", cardgateway.CallInfo{Outcome: cardgateway.OutcomeCanceled}, "cardgateway.outcome=canceled"},
		{
			"a walk whose context was cancelled", cardgateway.CallInfo{Outcome: cardgateway.OutcomeCanceled, Err: context.Canceled},
			"cardgateway.outcome=canceled",
		},
		{
			"a walk whose time was over", cardgateway.CallInfo{Outcome: cardgateway.OutcomeCanceled, Err: context.DeadlineExceeded},
			"cardgateway.outcome=canceled error.type=timeout",
		},
		{
			"a walk that did not settle", cardgateway.CallInfo{Outcome: cardgateway.OutcomeUnsettled, Err: cardgateway.ErrUnsettled},
			"cardgateway.outcome=unsettled error.type=unsettled",
		},
		{
			"two approved", cardgateway.CallInfo{Outcome: cardgateway.OutcomeConflict, Err: cardgateway.ErrConflict},
			"cardgateway.outcome=conflict error.type=conflict",
		},
		{"the hook found a mistake", cardgateway.CallInfo{Outcome: cardgateway.OutcomeInvalid, Err: hook},
			"cardgateway.outcome=invalid_request error.type=invalid_request"},
	} {
		t.Run(test.name, func(t *testing.T) {
			telemetry := newTelemetry()
			observe := instrumented(t, telemetry.Options).Observe
			_, end := observe(t.Context(), cardgateway.Operation{Name: "OrderWalk"})
			end(test.info)
			span := telemetry.one(t, "OrderWalk")
			if diff := cmp.Diff(gatewayAttributes+" cardgateway.operation=OrderWalk "+test.want, text(span.Attributes)); diff != "" {
				t.Errorf("attributes (-want +got):\n%s", diff)
			}
			errorType := valueOf(span.Attributes, "error.type")
			if (span.Status.Code == codes.Error) != (errorType != "") || span.Status.Description != errorType {
				t.Errorf("got status %+v beside error.type %q", span.Status, errorType)
			}
		})
	}
}

func outcomeOf(attributes []attribute.KeyValue) string { return valueOf(attributes, otel.OutcomeKey) }

// valueOf returns the text of an attribute, or the empty string.
func valueOf(attributes []attribute.KeyValue, key attribute.Key) string {
	for _, a := range attributes {
		if a.Key == key {
			return a.Value.String()
		}
	}
	return ""
}
