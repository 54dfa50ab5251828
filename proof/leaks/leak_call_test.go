package leaks_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/internal/test/clienttest"
)

// What a call leaves behind shows no card number, verification code, token or credentials: the error with its whole
// chain, the transaction, the log lines, what Observe receives, and what net/http logs. Each fault repeats what the
// client sent, in the places where programs and servers do so.

// callFault is a transport or a server that misbehaves. It gets the request's dump: its head and its body.
type callFault struct {
	name string
	trip func(r *http.Request, dump string) (*http.Response, error)
}

var errCause = errors.New("cause")

var callFaults = []callFault{
	{"error with the URL", func(r *http.Request, _ string) (*http.Response, error) {
		return nil, fmt.Errorf("cannot send %s %s", r.Method, r.URL)
	}},
	{"error with the path", func(r *http.Request, _ string) (*http.Response, error) {
		return nil, fmt.Errorf("cannot send to %q", r.URL.Path)
	}},
	{"url.Error", func(r *http.Request, _ string) (*http.Response, error) {
		return nil, &url.Error{Op: "Post", URL: r.URL.String(), Err: errCause}
	}},
	{"wrapped url.Error", func(r *http.Request, _ string) (*http.Response, error) {
		return nil, fmt.Errorf("tracing: %w", &url.Error{Op: "Post", URL: r.URL.String(), Err: errCause})
	}},
	{"url.Error in a url.Error", func(r *http.Request, _ string) (*http.Response, error) {
		return nil, &url.Error{Op: "Post", URL: r.URL.String(), Err: &url.Error{Op: "Post", URL: r.URL.String(), Err: io.EOF}}
	}},
	{"joined errors", func(r *http.Request, _ string) (*http.Response, error) {
		return nil, errors.Join(errCause, fmt.Errorf("at %v", r.URL))
	}},
	{"error with the dump", func(_ *http.Request, dump string) (*http.Response, error) {
		return nil, errors.New("while sending " + dump)
	}},
	{"wrapped error with the dump", func(_ *http.Request, dump string) (*http.Response, error) {
		return nil, fmt.Errorf("retry 1: %w", fmt.Errorf("%w at %q", context.DeadlineExceeded, dump))
	}},
	{"error with a field", func(r *http.Request, dump string) (*http.Response, error) {
		return nil, fieldError{url: r.URL.String(), dump: dump}
	}},
	{"net.OpError", func(_ *http.Request, dump string) (*http.Response, error) {
		return nil, &net.OpError{Op: "write", Net: "tcp", Err: errors.New(dump)}
	}},
	{"no response at all", func(*http.Request, string) (*http.Response, error) { return nil, nil }},
	{"redirect", func(r *http.Request, _ string) (*http.Response, error) {
		resp, err := clienttest.Respond(r, 307, "")
		resp.Header.Set("Location", "https://other.example"+r.URL.EscapedPath())
		return resp, err
	}},
	{"page with the dump", func(r *http.Request, dump string) (*http.Response, error) {
		return clienttest.Respond(r, 500, "<pre>"+dump+"</pre>")
	}},
	{"status text", func(r *http.Request, dump string) (*http.Response, error) {
		resp, err := clienttest.Respond(r, 502, "")
		resp.Status = "502 " + dump
		return resp, err
	}},
	{"decline that echoes", echoing(200, 101)}, {"success that echoes", echoing(200, 100)}, {"processing that echoes", echoing(200, 102)},
	{"unknown code that echoes", echoing(200, 999)}, {"refusal that echoes", echoing(400, 400)}, {"401 that echoes", echoing(401, 401)},
	{"500 that echoes", echoing(500, 100)}, {"other transaction that echoes", func(r *http.Request, dump string) (*http.Response, error) {
		return clienttest.Respond(r, 200, echoBody("other", 100, dump))
	}},
	{"body that breaks", func(r *http.Request, dump string) (*http.Response, error) {
		resp, err := clienttest.Respond(r, 200, "")
		resp.ContentLength, resp.Body = -1, io.NopCloser(io.MultiReader(strings.NewReader("{"), iotest.ErrReader(errors.New(dump))))
		return resp, err
	}},
}

type fieldError struct{ url, dump string }

func (fieldError) Error() string { return "failed" }

func echoing(status int, code cardgateway.Code) func(r *http.Request, dump string) (*http.Response, error) {
	return func(r *http.Request, dump string) (*http.Response, error) {
		return clienttest.Respond(r, status, echoBody("t-1", code, dump))
	}
}

// echoBody puts what was sent into every member that a gateway may fill as it likes.
func echoBody(id string, code cardgateway.Code, dump string) string {
	quoted, _ := json.Marshal(dump)
	echo := func(names ...string) (members string) {
		for _, name := range names {
			members += fmt.Sprintf(`,%q:%s`, name, quoted)
		}
		return members
	}
	uniqueID := `,"uniqueId":"2018062815300001"`
	if code >= 400 {
		uniqueID = ""
	}
	return fmt.Sprintf(`{"code":%d,"transactionId":%q%s%s,"billingAddress":{"city":%[5]s,"unknown":%[5]s},"redirectUrl":"https://pay.example/p"}`,
		code, id, uniqueID, echo("message", "transactionMessage", "billDescription", "transactionMethod", "transactionType", "unknown",
			"transactionCardNumber", "transactionAt", "timestamp", "appId"), quoted)
}

// observed collects everything that a call shows to anybody.
type observed struct{ clienttest.Buffer }

func (o *observed) add(values ...any) (sinks int) {
	for _, v := range values {
		marshaled, _ := json.Marshal(v)
		for _, text := range []string{
			fmt.Sprintf("%v|%+v|%#v|%s|%q|%x", v, v, v, v, v, v), logged(v, false), logged(v, true), string(marshaled),
			clienttest.DeepPrint(v, false), clienttest.DeepPrint(v, true),
		} {
			fmt.Fprintln(o, text)
			sinks++
		}
		if err, ok := v.(error); ok {
			for e := errors.Unwrap(err); e != nil; e = errors.Unwrap(e) {
				sinks += o.add(fmt.Sprintf("%v|%+v|%#v", e, e, e), clienttest.DeepPrint(e, false))
			}
		}
	}
	return sinks
}

func TestCallsLeaveNoSecret(t *testing.T) {
	calls, sinks, leaks := 0, 0, 0
	standard := log.Writer()
	defer log.SetOutput(standard)
	for _, fault := range callFaults {
		t.Run(fault.name, func(t *testing.T) {
			for _, op := range clienttest.PaymentOperations[:2] {
				var o observed
				log.SetOutput(&o)
				c := clienttest.NewClient(t, cardgateway.Config{
					BaseURL: clienttest.BaseURL, Authenticate: cardgateway.BasicAuth(
						clienttest.Merchant, clienttest.SecretKey,
					), Retry: cardgateway.RetryPolicy{MaxAttempts: 2},
					Logger: slog.New(slog.NewJSONHandler(&o, &slog.HandlerOptions{Level: slog.LevelDebug})),
					HTTPClient: &http.Client{Transport: clienttest.RoundTrip(func(r *http.Request) (*http.Response, error) {
						shown := r.Clone(r.Context())
						shown.Header.Del("Authorization") // see TestCredentialsInErrors
						dump, err := httputil.DumpRequest(shown, true)
						if err != nil {
							return nil, err
						}
						r.Body = shown.Body
						// Without the code, because three digits can occur by chance: see TestCallsShowNoCode.
						text := strings.ReplaceAll(string(dump), `"cvv":"`+clienttest.CVV, `"cvv":"`)
						return fault.trip(r, text+" "+r.URL.Path)
					})},
					Observe: func(ctx context.Context, op cardgateway.Operation) (context.Context, func(cardgateway.CallInfo)) {
						sinks += o.add(op)
						return ctx, func(info cardgateway.CallInfo) { sinks += o.add(info) }
					},
				})
				tx, err := op.Call(t.Context(), c, "t-1")
				calls++
				sinks += o.add(tx, err) + 2 // and the two logs
				if found := clienttest.Leaked(
					o.String(), clienttest.CardNumber, clienttest.Token, url.PathEscape(clienttest.Token), `"cvv":"`+clienttest.CVV, clienttest.SecretKey,
					clienttest.BasicValue,
				); found != nil {
					leaks++
					t.Errorf("%s, %s: leaks %q", op.Name, fault.name, found)
				}
			}
		})
	}
	t.Logf("faults: %d, calls: %d, sinks tried: %d, calls that leak: %d", len(callFaults), calls, sinks, leaks)
}

// TestCallsShowNoCode sends two verification codes through every fault: what is seen must be the same. The gateway does
// not echo the code itself.
func TestCallsShowNoCode(t *testing.T) {
	for _, fault := range callFaults {
		t.Run(fault.name, func(t *testing.T) {
			if a, b := seenOf(t, "123", fault), seenOf(t, "201", fault); a != b {
				t.Errorf("%s: what is seen depends on the verification code:\n%s\n%s", fault.name, a, b)
			}
		})
	}
}

// seenOf is all that can be seen of a subscription payment with this verification code.
func seenOf(t *testing.T, code string, fault callFault) string {
	var o bytes.Buffer
	c := clienttest.NewClient(t, cardgateway.Config{
		BaseURL: clienttest.BaseURL, Retry: cardgateway.RetryPolicy{MaxAttempts: 1},
		HTTPClient: &http.Client{Transport: clienttest.RoundTrip(func(r *http.Request) (*http.Response, error) {
			_, _ = io.Copy(io.Discard, r.Body)
			return fault.trip(r, r.URL.String())
		})},
	})
	tx, err := c.CreateSubscription(t.Context(), clienttest.SubscriptionRequest("t-1", clienttest.NewCard(clienttest.CardNumber, code)))
	if unknown, ok := errors.AsType[*cardgateway.OutcomeUnknownError](err); ok {
		unknown.SentAt = time.Time{}
	}
	marshaled, _ := json.Marshal(tx)
	fmt.Fprintf(&o, "%s\n%v\n%s%s", marshaled, err, clienttest.DeepPrint(tx, false), clienttest.DeepPrint(err, false))
	lines := strings.Split(o.String(), "\n")
	slices.Sort(lines) // maps have no order
	return strings.Join(lines, "\n")
}

// TestRefusedRequestsShowNothing: an error about a secret does not contain the secret.
func TestRefusedRequestsShowNothing(t *testing.T) {
	c := clienttest.NewClient(t, cardgateway.Config{BaseURL: clienttest.BaseURL})
	for _, number := range []string{"4111 1111 1111 1111", "411111111111111a", "41111111111111111111", "4111"} {
		for _, code := range []string{"12345678", "98x", "9"} {
			_, err := c.CreateSubscription(t.Context(), clienttest.SubscriptionRequest("t", clienttest.NewCard(number, code)))
			text := fmt.Sprintf("%v %+v %#v %s", err, err, err, clienttest.DeepPrint(err, false))
			if strings.Contains(text, number) || len(code) > 1 && strings.Contains(text, code) || !errors.Is(err, cardgateway.ErrInvalidRequest) {
				t.Errorf("number %s, code %s: got %s", number, code, text)
			}
		}
	}
	for _, token := range []string{"tok\r\nHost: evil", "tok\x00secret", "tok\xffsecret", strings.Repeat("secret", 100)} {
		_, err := c.TokenPayment(t.Context(), cardgateway.NewToken(token), clienttest.TokenPaymentRequest("t"))
		if text := fmt.Sprintf(
			"%v %#v", err, err,
		); strings.Contains(text, "secret") || strings.Contains(text, "evil") || !errors.Is(err, cardgateway.ErrInvalidRequest) {
			t.Errorf("token %q: got %s", token, text)
		}
	}
}

// TestServersShowNothing runs calls against real servers whose first line, headers or certificate are the fault:
// net/http quotes them in its errors.
func TestServersShowNothing(t *testing.T) {
	clienttest.LeavesNoGoroutine(t)
	responses := map[string]func(head, body string) string{
		"request as response": func(head, body string) string { return head + body },
		"malformed header":    func(head, body string) string { return "HTTP/1.1 200 OK\r\n" + head + body + "\r\n\r\n" },
		"malformed status":    func(head, body string) string { return "HTTP/1.1 " + body + "\r\n\r\n" },
		"malformed length":    func(head, body string) string { return "HTTP/1.1 200 OK\r\nContent-Length: " + body + "\r\n\r\n" },
		"malformed encoding":  func(head, body string) string { return "HTTP/1.1 200 OK\r\nTransfer-Encoding: " + body + "\r\n\r\n" },
		"malformed chunk": func(head, body string) string {
			return "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + body + "\r\n"
		},
		"redirect": func(head, body string) string {
			return "HTTP/1.1 308 Permanent Redirect\r\nLocation: " + url.PathEscape(head) + "\r\nContent-Length: 0\r\n\r\n"
		},
	}
	sinks := 0
	for name, response := range responses {
		t.Run(name, func(t *testing.T) {
			base := clienttest.ServeRaw(t, func(conn net.Conn) {
				clienttest.RawRequests(conn, func(r *http.Request, body []byte) bool {
					_, _ = io.WriteString(conn, response(r.Method+" "+r.URL.Path+" HTTP/1.1\r\n", string(body)))
					return false
				})
			})
			for _, op := range clienttest.PaymentOperations[:2] {
				var o observed
				logger := slog.New(slog.NewTextHandler(&o, &slog.HandlerOptions{Level: slog.LevelDebug}))
				_, err := op.Call(t.Context(), clienttest.NewClient(t, cardgateway.Config{BaseURL: base, Logger: logger}), "t-1")
				sinks += o.add(err) + 1
				if found := clienttest.Leaked(
					o.String(), clienttest.CardNumber, clienttest.Token, url.PathEscape(clienttest.Token), `"cvv":"`+clienttest.CVV,
				); found != nil {
					t.Errorf("%s, %s: leaks %q", name, op.Name, found)
				}
			}
		})
	}
	t.Logf("Responses: %d, sinks tried: %d", len(responses), sinks)
}
