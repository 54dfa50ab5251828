package otel_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/internal/test/clienttest"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	api "go.opentelemetry.io/otel/trace"
)

// Nothing that is exported contains a secret, for any operation and any outcome.

// TestNothingSecretOfEchoes uses a gateway that repeats everything it receives in every text of its responses.
func TestNothingSecretOfEchoes(t *testing.T) {
	telemetry := newTelemetry()
	var status, code int
	client := telemetry.newClient(t, cardgateway.Config{
		BaseURL: "https://gateway.example",
		HTTPClient: &http.Client{Transport: clienttest.RoundTrip(func(r *http.Request) (*http.Response, error) {
			said := everything(r)
			row := map[string]any{
				"code": code, "message": said, "transactionMessage": said, "transactionCardNumber": clienttest.CardNumber,
				"billDescription": said, "transactionId": "t-1", "uniqueId": "4711", "another": said,
				"redirectUrl":       "https://gateway.example/" + url.PathEscape(clienttest.Token),
				"transactionAmount": "12.50", "transactionCurrency": "USD",
			}
			body := maps.Clone(row)
			if r.Method == http.MethodGet && strings.Contains(r.URL.Path, "/list/") {
				second := maps.Clone(row)
				second["uniqueId"] = "4712"
				body = map[string]any{"code": 121, "message": said, "totalCount": 2, "totalPage": 1, "data": []any{row, second}}
			}
			encoded, err := json.Marshal(body)
			if err != nil {
				return nil, err
			}
			response, err := clienttest.Respond(r, status, string(encoded))
			response.Status = said
			response.Header = http.Header{"Content-Type": {"application/json"}, "Location": {r.URL.String()}, "X-Request-Id": {said}}
			return response, err
		})},
	})
	for _, status = range []int{200, 302, 400, 401, 404, 429, 500, 503} {
		for _, code = range []int{0, 100, 101, 102, 103, 301, 401, 500, 501, 999} {
			for _, call := range operations() {
				_ = call(t.Context(), client) // the result does not matter here
			}
		}
	}
	telemetry.lookForSecrets(t)
	telemetry.wantOutcomes(t, cardgateway.OutcomeApproved, cardgateway.OutcomeDeclined, cardgateway.OutcomeProcessing, cardgateway.OutcomeRedirect,
		cardgateway.OutcomeRefused, cardgateway.OutcomeUnknown, cardgateway.OutcomeConflict, cardgateway.OutcomeFailed)
}

// TestNothingSecretOfErrors uses a transport, a limiter and an Authenticate hook whose errors contain everything that they
// get.
func TestNothingSecretOfErrors(t *testing.T) {
	telemetry := newTelemetry()
	makeErrors := map[string]func(*http.Request) error{
		"text":   func(r *http.Request) error { return errors.New(everything(r)) },
		"url":    func(r *http.Request) error { return &url.Error{Op: r.Method, URL: r.URL.String(), Err: io.EOF} },
		"struct": func(r *http.Request) error { return &requestError{r} },
	}
	var makeError func(*http.Request) error
	readFirst := false
	failing := clienttest.RoundTrip(func(r *http.Request) (*http.Response, error) {
		err := makeError(r)
		if readFirst && r.Body != nil {
			_, _ = io.Copy(io.Discard, r.Body)
		}
		return nil, err
	})
	basic := cardgateway.BasicAuth(clienttest.Merchant, clienttest.SecretKey)
	for _, cfg := range []cardgateway.Config{
		{HTTPClient: &http.Client{Transport: failing}},
		{Authenticate: func(r *http.Request, body []byte) error { return errors.Join(basic(r, body), makeError(r)) }},
		{Limiter: refusingLimiter{}},
	} {
		cfg.BaseURL = "https://gateway.example"
		client := telemetry.newClient(t, cfg)
		for _, makeError = range makeErrors {
			for _, readFirst = range []bool{false, true} {
				for _, call := range operations() {
					_ = call(t.Context(), client) // as above
				}
			}
		}
	}
	telemetry.lookForSecrets(t)
	telemetry.wantOutcomes(t, cardgateway.OutcomeNotSent, cardgateway.OutcomeUnknown, cardgateway.OutcomeFailed)
}

// everything returns all texts of a request.
func everything(r *http.Request) string {
	if r.Body != nil {
		_, _ = io.Copy(io.Discard, r.Body)
	}
	user, password, _ := r.BasicAuth()
	return fmt.Sprintln(r.Method, r.URL.String(), r.URL.Path, r.Header, user+password, clienttest.CardNumber, clienttest.CVV, cardholder, clienttest.Token)
}

type requestError struct{ Request *http.Request }

func (e *requestError) Error() string { return everything(e.Request) }

type refusingLimiter struct{}

func (refusingLimiter) Wait(context.Context) error {
	return fmt.Errorf("no room for %s %s %s", clienttest.Token, clienttest.CardNumber, clienttest.SecretKey)
}

// lookForSecrets searches everything that was exported.
func (tm *telemetry) lookForSecrets(t *testing.T) {
	t.Helper()
	for _, found := range secretsIn(tm.exported(t)) {
		t.Errorf("%s was exported", found)
	}
	if n := len(tm.spans.GetSpans()); n < len(operations()) {
		t.Errorf("got %d spans, want one at least for each of %d operations", n, len(operations()))
	}
}

// wantOutcomes prevents a search for secrets from passing because too few outcomes occurred.
func (tm *telemetry) wantOutcomes(t *testing.T, want ...cardgateway.Outcome) {
	t.Helper()
	got := map[string]bool{}
	for _, span := range tm.spans.GetSpans() {
		got[outcomeOf(span.Attributes)] = true
	}
	for _, outcome := range want {
		if !got[string(outcome)] {
			t.Errorf("no span has the outcome %s", outcome)
		}
	}
}

// cardholder is the name on the card of clienttest.
const cardholder = "Ada Example"

// codePattern matches the verification code, but not its digits within others.
var codePattern = regexp.MustCompile(`(^|[^0-9])` + clienttest.CVV + `($|[^0-9])`)

// secretsIn returns the secrets that occur in the texts, in whatever form.
func secretsIn(texts []string) (found []string) {
	found = clienttest.Leaked(strings.Join(texts, "\n"), clienttest.CardNumber, cardholder, clienttest.Merchant, clienttest.SecretKey,
		clienttest.BasicValue, clienttest.Token)
	if slices.ContainsFunc(texts, codePattern.MatchString) {
		found = append(found, clienttest.CVV)
	}
	return found
}

// exported returns every text in the exported spans and metrics, including numbers except times, ids and values, which can
// have any digits.
func (tm *telemetry) exported(t *testing.T) (texts []string) {
	t.Helper()
	add := func(more ...string) { texts = append(texts, more...) }
	addAttributes := func(attributes []attribute.KeyValue) {
		for _, a := range attributes {
			add(string(a.Key))
			if a.Value.Type() != attribute.FLOAT64 {
				add(a.Value.String())
			}
		}
	}
	for _, span := range tm.spans.GetSpans() {
		add(span.Name, span.Status.Description, span.SpanContext.TraceState().String())
		addAttributes(span.Attributes)
		for _, event := range span.Events {
			add(event.Name)
			addAttributes(event.Attributes)
		}
		for _, link := range span.Links {
			addAttributes(link.Attributes)
		}
		add(span.InstrumentationScope.Name, span.InstrumentationScope.Version, span.InstrumentationScope.SchemaURL)
		addAttributes(span.InstrumentationScope.Attributes.ToSlice())
	}
	for _, p := range tm.points(t) {
		add(p.Name, p.Description, p.Unit)
		addAttributes(p.attributes)
	}
	return texts
}

// TestSecretsAreFound: the other tests would find a secret anywhere in what is exported.
func TestSecretsAreFound(t *testing.T) {
	secrets := []string{clienttest.CardNumber, clienttest.CVV, cardholder, "Basic " + clienttest.BasicValue, "x=" + url.QueryEscape(clienttest.Token)}
	span := func(tm *telemetry, name string, o ...api.SpanStartOption) api.Span {
		_, span := tm.TracerProvider.Tracer("").Start(t.Context(), name, o...)
		return span
	}
	counter := func(tm *telemetry, description string, a attribute.KeyValue) {
		counter, _ := tm.MeterProvider.Meter("x").Int64Counter("x", metric.WithDescription(description))
		counter.Add(t.Context(), 1, metric.WithAttributes(a))
	}
	for place, put := range map[string]func(tm *telemetry, secret string){
		"span's name": func(tm *telemetry, secret string) { span(tm, secret).End() },
		"span's attribute": func(tm *telemetry, secret string) {
			span(tm, "x", api.WithAttributes(attribute.String("x", "a "+secret))).End()
		},
		"span's status":    func(tm *telemetry, secret string) { s := span(tm, "x"); s.SetStatus(codes.Error, secret); s.End() },
		"recorded error":   func(tm *telemetry, secret string) { s := span(tm, "x"); s.RecordError(errors.New(secret)); s.End() },
		"event's name":     func(tm *telemetry, secret string) { s := span(tm, "x"); s.AddEvent(secret); s.End() },
		"description":      func(tm *telemetry, secret string) { counter(tm, secret, attribute.Bool("x", true)) },
		"metric's value":   func(tm *telemetry, secret string) { counter(tm, "", attribute.String("x", secret)) },
		"attribute's name": func(tm *telemetry, secret string) { counter(tm, "", attribute.Bool("a "+secret, true)) },
	} {
		for _, secret := range secrets {
			telemetry := newTelemetry()
			if put(telemetry, secret); len(secretsIn(telemetry.exported(t))) == 0 {
				t.Errorf("%q as %s is not found", secret, place)
			}
		}
	}
	telemetry := newTelemetry()
	span(telemetry, "t-4711").End()
	if found := secretsIn(telemetry.exported(t)); found != nil {
		t.Errorf("got %q where there is none", found)
	}
}
