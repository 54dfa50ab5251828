package otel_test

import (
	"context"
	"encoding/base64"
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
	"time"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/sandbox"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/sdk/instrumentation"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/resource"
	api "go.opentelemetry.io/otel/trace"
)

// Nothing that is exported contains a secret, for any operation and any outcome.

// oddToken has characters that are escaped in a URL, in JSON and in HTML.
const oddToken = `tok<en>/4711 "&"%é`

// TestNothingSecretOfFaults injects every fault of the sandbox, once and lasting, into every operation.
func TestNothingSecretOfFaults(t *testing.T) {
	b := newBench(t)
	call := 0
	all := func(ctx context.Context) {
		for _, name := range slices.Sorted(maps.Keys(operations)) {
			call++
			_ = operations[name](ctx, b.client, b.token, fmt.Sprintf("t-%06d", call)) // the result does not matter here
		}
	}
	all(t.Context())
	faults := append(sandbox.Faults(time.Millisecond), sandbox.NamedFault{
		Name: "refused", Fault: sandbox.Fault{Commit: sandbox.CommitNever, Status: 403, Reply: sandbox.ReplyHTML},
	})
	for _, fault := range faults {
		for _, times := range []int{1, -1} {
			b.gateway.ClearFaults()
			fault.Times = times
			b.gateway.Inject(fault.Fault)
			all(t.Context())
		}
	}
	b.gateway.ClearFaults()
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	all(cancelled)
	_ = b.subscribe(t.Context(), "t-declined", "900")
	if err := b.pay(t.Context(), "t-paid"); err != nil {
		t.Error(err)
	}
	if _, err := b.client.Resolve(t.Context(), resolveQuery("t-paid")); err != nil {
		t.Error(err)
	}
	b.lookForSecrets(t, b.token.Reveal())
	b.wantOutcomes(t, cardgateway.OutcomeOK, cardgateway.OutcomeApproved, cardgateway.OutcomeProcessing, cardgateway.OutcomeRedirect,
		cardgateway.OutcomeDeclined, cardgateway.OutcomeRefused, cardgateway.OutcomeNotSent, cardgateway.OutcomeUnknown,
		cardgateway.OutcomeNotFound, cardgateway.OutcomeFailed, cardgateway.OutcomeCanceled)
}

// TestNothingSecretOfEchoes uses a gateway that repeats everything it receives in every text of its responses.
func TestNothingSecretOfEchoes(t *testing.T) {
	telemetry := newTelemetry()
	var status, code int
	client := telemetry.newClient(t, cardgateway.Config{
		BaseURL: "https://gateway.example",
		HTTPClient: &http.Client{Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
			said := everything(r)
			row := map[string]any{
				"code": code, "message": said, "transactionMessage": said, "transactionCardNumber": testCard, "billDescription": said,
				"transactionId": "t-1", "uniqueId": "4711", "redirectUrl": "https://gateway.example/" + url.PathEscape(oddToken),
				"transactionAmount": "5", "transactionCurrency": "USD", "another": said,
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
			return &http.Response{
				StatusCode: status, Status: said, Request: r, Body: io.NopCloser(strings.NewReader(string(encoded))),
				Header: http.Header{"Content-Type": {"application/json"}, "Location": {r.URL.String()}, "X-Request-Id": {said}},
			}, nil
		})},
	})
	for _, status = range []int{200, 302, 400, 401, 404, 429, 500, 503} {
		for _, code = range []int{0, 100, 101, 102, 103, 301, 401, 500, 501, 999} {
			for _, call := range operations {
				_ = call(t.Context(), client, cardgateway.NewToken(oddToken), "t-1") // as above
			}
		}
	}
	telemetry.lookForSecrets(t, oddToken)
	telemetry.wantOutcomes(t, cardgateway.OutcomeApproved, cardgateway.OutcomeDeclined, cardgateway.OutcomeUnknown,
		cardgateway.OutcomeConflict, cardgateway.OutcomeFailed)
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
	failing := roundTripper(func(r *http.Request) (*http.Response, error) {
		err := makeError(r)
		if readFirst && r.Body != nil {
			_, _ = io.Copy(io.Discard, r.Body)
		}
		return nil, err
	})
	basic := cardgateway.BasicAuth(testMerchant, testKey)
	for _, cfg := range []cardgateway.Config{
		{HTTPClient: &http.Client{Transport: failing}},
		{Authenticate: func(r *http.Request, body []byte) error { return errors.Join(basic(r, body), makeError(r)) }},
		{Limiter: refusingLimiter{}},
	} {
		cfg.BaseURL = "https://gateway.example"
		client := telemetry.newClient(t, cfg)
		for _, makeError = range makeErrors {
			for _, readFirst = range []bool{false, true} {
				for _, call := range operations {
					_ = call(t.Context(), client, cardgateway.NewToken(oddToken), "t-1") // as above
				}
			}
		}
	}
	telemetry.lookForSecrets(t, oddToken)
	telemetry.wantOutcomes(t, cardgateway.OutcomeNotSent, cardgateway.OutcomeUnknown, cardgateway.OutcomeFailed)
}

// everything returns all texts of a request.
func everything(r *http.Request) string {
	if r.Body != nil {
		_, _ = io.Copy(io.Discard, r.Body)
	}
	said := fmt.Sprintln(r.Method, r.URL.String(), r.URL.Path, r.Header, testCard, testCVV, testCardholder, testKey, testMerchant, oddToken)
	if user, password, ok := r.BasicAuth(); ok {
		said += user + password
	}
	return said
}

type requestError struct{ Request *http.Request }

func (e *requestError) Error() string { return everything(e.Request) }

type refusingLimiter struct{}

func (refusingLimiter) Wait(context.Context) error {
	return fmt.Errorf("no room for %s %s %s", oddToken, testCard, testKey)
}

// lookForSecrets searches everything that was exported.
func (tm *telemetry) lookForSecrets(t *testing.T, token string) {
	t.Helper()
	for _, found := range secretsIn(tm.exported(t), token) {
		t.Errorf("%s was exported", found)
	}
	if n := len(tm.spans.GetSpans()); n < len(operations) {
		t.Errorf("got %d spans, want one at least for each of %d operations", n, len(operations))
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

// secretsIn returns the names of the secrets that occur in the texts.
func secretsIn(texts []string, token string) (found []string) {
	basic := base64.StdEncoding.EncodeToString([]byte(testMerchant + ":" + testKey))
	inJSON, _ := json.Marshal(token) // a string
	whole := func(s string) *regexp.Regexp { return regexp.MustCompile(`(^|[^0-9])` + s + `($|[^0-9])`) }
	for _, secret := range []struct {
		name    string
		pattern *regexp.Regexp
	}{
		{"the card number", regexp.MustCompile(testCard)},
		{"the CVV", whole(testCVV)},
		{"the cardholder", regexp.MustCompile("Ada|Example")},
		{"the merchant id", regexp.MustCompile(testMerchant)},
		{"the secret key", regexp.MustCompile(testKey)},
		{"the Authorization header", regexp.MustCompile(regexp.QuoteMeta(basic))},
		{"the token", regexp.MustCompile(regexp.QuoteMeta(token))},
		{"the token in a path", regexp.MustCompile(regexp.QuoteMeta(url.PathEscape(token)))},
		{"the token in a query", regexp.MustCompile(regexp.QuoteMeta(url.QueryEscape(token)))},
		{"the token in JSON", regexp.MustCompile(regexp.QuoteMeta(strings.Trim(string(inJSON), `"`)))},
		{"the token quoted", regexp.MustCompile(regexp.QuoteMeta(fmt.Sprintf("%q", token)))},
	} {
		if slices.ContainsFunc(texts, secret.pattern.MatchString) {
			found = append(found, secret.name)
		}
	}
	return found
}

// exported returns every text in the exported spans and metrics, including numbers except times, ids and values, which can
// have any digits.
func (tm *telemetry) exported(t *testing.T) []string {
	t.Helper()
	var e texts
	for _, span := range tm.spans.GetSpans() {
		e.add(span.Name, span.Status.Description, span.SpanContext.TraceState().String())
		e.attributes(span.Attributes)
		for _, event := range span.Events {
			e.add(event.Name)
			e.attributes(event.Attributes)
		}
		for _, link := range span.Links {
			e.attributes(link.Attributes)
		}
		e.scope(span.Resource, span.InstrumentationScope)
	}
	m := tm.metrics(t)
	for _, scope := range m.ScopeMetrics {
		e.scope(m.Resource, scope.Scope)
		for _, m := range scope.Metrics {
			e.add(m.Name, m.Description, m.Unit)
			switch data := m.Data.(type) {
			case metricdata.Histogram[float64]:
				for _, p := range data.DataPoints {
					e.attributes(p.Attributes.ToSlice())
					for _, exemplar := range p.Exemplars {
						e.attributes(exemplar.FilteredAttributes)
					}
				}
			case metricdata.Sum[int64]:
				for _, p := range data.DataPoints {
					e.attributes(p.Attributes.ToSlice())
					for _, exemplar := range p.Exemplars {
						e.attributes(exemplar.FilteredAttributes)
					}
				}
			default:
				t.Errorf("%s has data of type %T, which is not looked through", m.Name, data)
			}
		}
	}
	return e
}

type texts []string

func (e *texts) add(more ...string) { *e = append(*e, more...) }

func (e *texts) attributes(attributes []attribute.KeyValue) {
	for _, a := range attributes {
		e.add(string(a.Key))
		if a.Value.Type() != attribute.FLOAT64 {
			e.add(a.Value.String())
		}
	}
}

func (e *texts) scope(r *resource.Resource, scope instrumentation.Scope) {
	e.attributes(slices.DeleteFunc(r.Attributes(), func(a attribute.KeyValue) bool { return strings.HasPrefix(string(a.Key), "service.") }))
	e.add(scope.Name, scope.Version, scope.SchemaURL)
	e.attributes(scope.Attributes.ToSlice())
}

// TestSecretsAreFound: the other tests would find a secret anywhere in what is exported.
func TestSecretsAreFound(t *testing.T) {
	basic := base64.StdEncoding.EncodeToString([]byte(testMerchant + ":" + testKey))
	secrets := map[string]string{
		testCard: "the card number", testCVV: "the CVV", testCardholder: "the cardholder", testMerchant: "the merchant id",
		testKey: "the secret key", "Basic " + basic: "the Authorization header", oddToken: "the token",
		"/" + url.PathEscape(oddToken): "the token in a path", "x=" + url.QueryEscape(oddToken): "the token in a query",
	}
	places := map[string]func(*telemetry, string){
		"nothing": func(*telemetry, string) {},
		"span's name": func(tm *telemetry, secret string) {
			_, span := tm.TracerProvider.Tracer("").Start(t.Context(), secret)
			span.End()
		},
		"span's attribute": func(tm *telemetry, secret string) {
			_, span := tm.TracerProvider.Tracer("").Start(t.Context(), "x", api.WithAttributes(attribute.String("x", "a "+secret)))
			span.End()
		},
		"span's status": func(tm *telemetry, secret string) {
			_, span := tm.TracerProvider.Tracer("").Start(t.Context(), "x")
			span.SetStatus(codes.Error, secret)
			span.End()
		},
		"recorded error": func(tm *telemetry, secret string) {
			_, span := tm.TracerProvider.Tracer("").Start(t.Context(), "x")
			span.RecordError(errors.New(secret))
			span.End()
		},
		"event's name": func(tm *telemetry, secret string) {
			_, span := tm.TracerProvider.Tracer("").Start(t.Context(), "x")
			span.AddEvent(secret)
			span.End()
		},
		"link": func(tm *telemetry, secret string) {
			_, linked := tm.TracerProvider.Tracer("").Start(t.Context(), "linked")
			_, span := tm.TracerProvider.Tracer("").Start(t.Context(), "x", api.WithLinks(api.Link{
				SpanContext: linked.SpanContext(), Attributes: []attribute.KeyValue{attribute.String("x", secret)},
			}))
			span.End()
		},
		"scope": func(tm *telemetry, secret string) {
			_, span := tm.TracerProvider.Tracer("", api.WithInstrumentationVersion(secret)).Start(t.Context(), "x")
			span.End()
		},
		"metric's description": func(tm *telemetry, secret string) {
			counter, _ := tm.MeterProvider.Meter("x").Int64Counter("x", metric.WithDescription(secret))
			counter.Add(t.Context(), 1)
		},
		"metric's attribute": func(tm *telemetry, secret string) {
			histogram, _ := tm.MeterProvider.Meter("x").Float64Histogram("x")
			histogram.Record(t.Context(), 1, metric.WithAttributes(attribute.String("x", secret)))
		},
		"attribute's name": func(tm *telemetry, secret string) {
			counter, _ := tm.MeterProvider.Meter("x").Int64Counter("x")
			counter.Add(t.Context(), 1, metric.WithAttributes(attribute.Bool("a "+secret, true)))
		},
	}
	for place, put := range places {
		for secret, name := range secrets {
			telemetry := newTelemetry()
			put(telemetry, secret)
			got := secretsIn(telemetry.exported(t), oddToken)
			if want := place != "nothing"; slices.Contains(got, name) != want {
				t.Errorf("%s as %s: got %q", name, place, got)
			}
		}
	}
}
