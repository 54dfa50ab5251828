package cardgateway_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/shopspring/decimal"

	"context"
	"errors"
	"time"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/internal/test/clienttest"
)

// Every parser that meets outside data, against an oracle: encoding/json, the decimal package. The
// seeds are the documented exchanges. No response may be read as something else than it says.

// seeds adds the documented responses to a fuzz target's corpus.
func seeds(f *testing.F, pattern string, extra ...string) {
	f.Helper()
	files, err := filepath.Glob("testdata/exchanges/" + pattern + "/*.json")
	if err != nil || len(files) == 0 {
		f.Fatalf("no exchanges: %v", err)
	}
	for _, file := range files {
		var x exchange
		data, err := os.ReadFile(file)
		if err == nil {
			err = json.Unmarshal(data, &x)
		}
		if err != nil {
			f.Fatal(err)
		}
		f.Add([]byte(x.Response.Body))
	}
	for _, text := range extra {
		f.Add([]byte(text))
	}
}

// said is what encoding/json finds in a response, by exact names.
type said map[string]any

// controls are characters that encoding/json refuses in a text, and the client reads.
var controls = regexp.MustCompile(`[\x00-\x1f]`)

func oracle(data []byte) (said, bool) {
	data = controls.ReplaceAll(data, []byte(" "))
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	var doc said
	if err := d.Decode(&doc); err != nil || !json.Valid(data) {
		return nil, false
	}
	return doc, true
}

// text is a member as text, however it was sent; "" if there is none.
func (s said) text(name string) string {
	switch v := s[name].(type) {
	case string:
		return v
	case json.Number:
		return v.String()
	}
	return ""
}

// allows reports whether a response may be taken for this outcome of the payment t-1 of 12.50 USD.
func (s said) allows(outcome string) bool {
	code := map[string][]string{
		"paid": {"100"}, "processing": {"102"}, "redirect": {"301"}, "declined": {"101", "103"},
		"refused": {"201", "400", "401", "404", "500"}, "unknown": {s.text("code")},
	}[outcome]
	amount := s.text("transactionAmount")
	ours := s.text("transactionId") == "t-1" || s.text("transactionId") == "" && (outcome == "declined" || outcome == "refused")
	ours = ours && (s.text("transactionCurrency") == "" || s.text("transactionCurrency") == "USD")
	ours = ours && (amount == "" || decimal.RequireFromString(amount).Equal(clienttest.Amount))
	return slices.Contains(code, s.text("code")) && (ours || outcome == "unknown" || outcome == "refused")
}

// checkResponse classifies a response and compares the outcome with what the oracle says. It returns the outcome.
func checkResponse(t *testing.T, data []byte) string {
	t.Helper()
	asked := cardgateway.ResolveQuery{TransactionID: "t-1", Amount: clienttest.Amount, Currency: "USD"}
	tx, err := cardgateway.Classify(asked, cardgateway.Facts{Status: 200, Body: data})
	outcome := clienttest.Outcome(tx, err)
	if outcome == "unknown" {
		return outcome
	}
	if doc, ok := oracle(data); !ok || !doc.allows(outcome) {
		t.Errorf("outcome %q of %q, in which encoding/json sees %v", outcome, data, doc)
	}
	return outcome
}

func FuzzResponse(f *testing.F) {
	seeds(f, "*", clienttest.ResponseFor(
		"t-1", 100, "",
	), clienttest.ResponseFor("t-1", 101, ""), clienttest.ResponseFor("t-1", 301, `,"x":[{"y":null}]`), `{"code":101}`,
		`{"code":100,"code":101}`, `{"\u0063ode":100,"transactionId":"t-1"}`, `{"tran\u017factionId":"t-1","code":100}`,
		"{\"transactionId\":\"\x00\"}")
	f.Fuzz(func(t *testing.T, data []byte) {
		checkResponse(t, data)
		a, err := cardgateway.DecodeTransaction(data)
		doc, ok := oracle(data)
		if err != nil {
			return
		}
		if !ok {
			t.Fatalf("%q was read, encoding/json refuses it", data)
		}
		for name, got := range map[string]string{
			"uniqueId": a.UniqueID, "transactionId": a.TransactionID, "transactionCurrency": a.TransactionCurrency, "appId": string(a.AppID),
		} {
			got, want := controls.ReplaceAllString(got, " "), controls.ReplaceAllString(doc.text(name), " ")
			if got != "" && got != want {
				t.Errorf("%s of %q: got %q, encoding/json sees %q", name, data, got, want)
			}
		}
		if a.Code != 0 && strconv.Itoa(int(a.Code)) != doc.text("code") {
			t.Errorf("code of %q: got %d", data, a.Code)
		}
		for name := range a.Extra {
			if _, ok := doc[name]; !ok {
				t.Errorf("Extra of %q: got %q", data, name)
			}
		}
	})
}

func FuzzPage(f *testing.F) {
	seeds(f, "Search*", clienttest.Page(`{"code":100},{"uniqueId":"x"},null,{"code":101}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		orders, orderErrors, err := cardgateway.DecodeOrders(data)
		if err == nil {
			checkPage(t, data, len(orders.Data), orderErrors)
		}
		refunds, refundErrors, err := cardgateway.DecodeRefunds(data)
		if err == nil {
			checkPage(t, data, len(refunds.Data), refundErrors)
		}
	})
}

// checkPage checks that every row of the page is returned, as a row or as an error. If the page is not JSON, the row that is not is an error.
func checkPage(t *testing.T, data []byte, rows int, rowErrors []error) {
	t.Helper()
	doc, ok := oracle(data)
	list, _ := doc["data"].([]any)
	if ok && rows+len(rowErrors) != len(list) || !ok && len(rowErrors) == 0 {
		t.Errorf("%q: got %d rows and %d errors, encoding/json sees %d rows", data, rows, len(rowErrors), len(list))
	}
}

// TestMutatedResponses cuts a good response at every length and changes it at random: what remains is unknown, or it still
// says what the client takes it for.
func TestMutatedResponses(t *testing.T) {
	chance := rand.New(rand.NewPCG(7, 7))
	tried, counts := 0, map[string]int{}
	for _, code := range []cardgateway.Code{cardgateway.CodeSuccess, cardgateway.CodeFailed, cardgateway.CodeProcessing, cardgateway.CodeRedirect} {
		good := []byte(clienttest.ResponseFor("t-1", code, `,"is3d":"true","transactionCardNumber":"411111******1111","billingAddress":{"country":"US"}`))
		for n := range good {
			if got := checkResponse(t, good[:n]); got != "unknown" {
				t.Errorf("cut after %d bytes: got %q", n, got)
			}
			tried++
		}
		for range 5000 {
			data := slices.Clone(good)
			for range 1 + chance.IntN(3) {
				data = mutate(chance, data)
			}
			counts[checkResponse(t, data)]++
			tried++
		}
	}
	t.Logf("%d cuts and mutations: %v", tried, counts)
}

// mutate changes one thing: a bit, a byte, a piece lost, doubled or moved, or a text of the interface put in.
func mutate(chance *rand.Rand, data []byte) []byte {
	if len(data) < 2 {
		return data
	}
	at, end := chance.IntN(len(data)), chance.IntN(len(data))
	at, end = min(at, end), max(at, end)
	switch chance.IntN(6) {
	case 0:
		data[at] ^= 1 << chance.IntN(8)
	case 1:
		data[at] = byte(chance.IntN(256))
	case 2:
		return slices.Delete(data, at, min(end, at+8))
	case 3:
		return slices.Insert(data, at, slices.Clone(data[at:end])...)
	case 4:
		return slices.Insert(data, at, []byte(`0123456789",:{}[]\`)[chance.IntN(18)])
	case 5:
		texts := []string{`"code":100,`, `"transactionId":"t-1",`, `"transactionId":"t-2",`, `"code":101,`, "t-1", "100", "null", "1e2", `\u0031`}
		return slices.Insert(data, at, []byte(texts[chance.IntN(len(texts))])...)
	}
	return data
}

// TestResponsesShareNothing: responses are read into memory that the next ones use too, and what was read of them stays.
func TestResponsesShareNothing(t *testing.T) {
	long := strings.Repeat("x", 4096)
	extra := fmt.Sprintf(`,"transactionMessage":"first","billingAddress":{"city":"first","more":["first"]},"more":{"first":"%s"}`, long)
	responses := map[string]string{
		"paid":     clienttest.ResponseFor("paid", cardgateway.CodeSuccess, extra),
		"declined": clienttest.ResponseFor("declined", cardgateway.CodeFailed, extra),
		"refused":  `{"code":400,"message":"first","timestamp":"first"` + extra + `}`,
		"unknown":  clienttest.ResponseFor("other", cardgateway.CodeSuccess, extra),
	}
	s := clienttest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		response, ok := responses[clienttest.TransactionIDIn(body)]
		if !ok {
			response = `{"` + strings.Repeat("#", 2*len(long)) + `":0}`
		}
		_, _ = io.WriteString(w, response)
	})
	c := clienttest.NewClient(t, cardgateway.Config{BaseURL: s.URL, Retry: cardgateway.RetryPolicy{MaxAttempts: 1}})
	for id := range responses {
		t.Run(id, func(t *testing.T) {
			got, err := clienttest.PayByToken(t.Context(), c, id)
			before := clienttest.DeepPrint(got, false) + clienttest.DeepPrint(err, false)
			if !strings.Contains(before, "first") {
				t.Fatalf("got %.200s, which holds nothing of the response", before)
			}
			for range 8 {
				_, _ = clienttest.PayByToken(t.Context(), c, "next")
				_, _ = c.GetTransaction(t.Context(), "1")
			}
			if diff := cmp.Diff(before, clienttest.DeepPrint(got, false)+clienttest.DeepPrint(err, false)); diff != "" {
				t.Errorf("other calls changed what was read (-before +after):\n%s", diff)
			}
		})
	}
}

// TestRawResponses: with KeepResponses, every result and error has the gateway's response, without a secret.
func TestRawResponses(t *testing.T) {
	now := time.Now()
	pay := func(c *cardgateway.Client) (*cardgateway.RawResponse, error) {
		tx, err := clienttest.PayByToken(context.Background(), c, "t-1")
		if tx != nil {
			return tx.Raw, err
		}
		return rawOf(err), err
	}
	get := func(c *cardgateway.Client) (*cardgateway.RawResponse, error) {
		tx, err := c.GetTransaction(context.Background(), "1")
		if tx != nil {
			return tx.Raw, err
		}
		return rawOf(err), err
	}
	search := func(c *cardgateway.Client) (*cardgateway.RawResponse, error) {
		page, err := c.SearchOrders(context.Background(), cardgateway.OrderQuery{Start: now, End: now}, cardgateway.PageRequest{})
		if page != nil {
			return page.Raw, err
		}
		return rawOf(err), err
	}
	refund := func(c *cardgateway.Client) (*cardgateway.RawResponse, error) {
		r, err := c.CreateRefund(context.Background(), clienttest.RefundRequest())
		if r != nil {
			return r.Raw, err
		}
		return rawOf(err), err
	}
	good := `{"code":100,"uniqueId":"1","transactionId":"t-1"}`
	for _, tt := range []struct {
		name   string
		call   func(*cardgateway.Client) (*cardgateway.RawResponse, error)
		status int
		body   string
		want   string // of the body that is kept
	}{
		{"approved", pay, 200, good, good},
		{"declined", pay, 200, `{"code":101}`, `{"code":101}`},
		{"refused", pay, 401, "no", "no"},
		{"unknown", pay, 500, "<html>", "<html>"},
		{"the token", pay, 500, "of " + clienttest.Token, "of ***"},
		{"the token behind escapes", pay, 500, strings.ReplaceAll(clienttest.Token, "/", "%2f"), "***"},
		{"a credential", pay, 500, "key " + clienttest.SecretKey, "key ***"},
		{"a card number", pay, 500, "card 4111 1111 1111 1111.", "card 411111******1111."},
		{"no UTF-8", pay, 500, "\xff", "\uFFFD"},
		{"a transaction", get, 200, good, good},
		{"no transaction", get, 404, `{"code":404}`, `{"code":404}`},
		{"a page", search, 200, clienttest.Page(), clienttest.Page()},
		{"no page", search, 200, `{"code":122}`, `{"code":122}`},
		{"a credential in a page", search, 200, `{"code":121,"totalCount":0,"x":"` + clienttest.SecretKey + `"}`, `{"code":121,"totalCount":0,"x":"***"}`},
		{"a refund", refund, 200, clienttest.RefundRow(110, "9", ""), clienttest.RefundRow(110, "9", "")},
		{"a declined refund", refund, 200, clienttest.RefundRow(112, "9", ""), clienttest.RefundRow(112, "9", "")},
		{"an unknown refund", refund, 500, "<html>", "<html>"},
		{"a long body", pay, 500, strings.Repeat("x", 64<<10+1), strings.Repeat("x", 64<<10)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, keep := range []bool{true, false} {
				c := clienttest.NewClient(t, cardgateway.Config{
					BaseURL: clienttest.BaseURL, KeepResponses: keep, Retry: cardgateway.RetryPolicy{MaxAttempts: 1},
					Authenticate: cardgateway.BasicAuth(clienttest.Merchant, clienttest.SecretKey),
					HTTPClient: &http.Client{Transport: clienttest.RoundTrip(func(r *http.Request) (*http.Response, error) {
						resp, err := clienttest.Answering(tt.status, tt.body)(r)
						resp.Header = http.Header{"X-Request-Id": {"req-1"}, "Cf-Ray": {"ray-1"}, "Set-Cookie": {"a=b"}, "Traceparent": {clienttest.SecretKey}}
						return resp, err
					})},
				})
				raw, err := tt.call(c)
				if !keep {
					if raw != nil {
						t.Errorf("kept although KeepResponses is not set: %+v", raw)
					}
					continue
				}
				want := &cardgateway.RawResponse{
					HTTPStatus: tt.status, Body: tt.want, Truncated: len(tt.want) == 64<<10,
					RequestIDs: http.Header{"X-Request-Id": {"req-1"}, "Cf-Ray": {"ray-1"}, "Traceparent": {"***"}},
				}
				if diff := cmp.Diff(want, raw); diff != "" {
					t.Errorf("%v: kept (-want +got):\n%.2000s", err, diff)
				}
			}
		})
	}
}

func rawOf(err error) *cardgateway.RawResponse {
	if unknown, ok := errors.AsType[*cardgateway.OutcomeUnknownError](err); ok {
		return unknown.Raw
	}
	if unknown, ok := errors.AsType[*cardgateway.RefundUnknownError](err); ok {
		return unknown.Raw
	}
	if refused, ok := errors.AsType[*cardgateway.RefusedError](err); ok {
		return refused.Raw
	}
	if failed, ok := errors.AsType[*cardgateway.QueryError](err); ok {
		return failed.Raw
	}
	return nil
}

// TestObserveAttempt: it receives each attempt, with the context of the observed call.
func TestObserveAttempt(t *testing.T) {
	type key struct{}
	attempts := 0
	var got []cardgateway.AttemptInfo
	c := clienttest.NewClient(t, cardgateway.Config{
		BaseURL: clienttest.BaseURL,
		Observe: func(ctx context.Context, _ cardgateway.Operation) (context.Context, func(cardgateway.CallInfo)) {
			return context.WithValue(ctx, key{}, "observed"), nil
		},
		ObserveAttempt: func(ctx context.Context, a cardgateway.AttemptInfo) {
			if ctx.Value(key{}) != "observed" {
				t.Error("the attempt is not observed with the call's context")
			}
			a.Duration = 0
			got = append(got, a)
		},
		HTTPClient: &http.Client{Transport: clienttest.RoundTrip(func(r *http.Request) (*http.Response, error) {
			attempts++
			if attempts == 1 {
				return nil, io.ErrUnexpectedEOF // before the body was read
			}
			return clienttest.Answering(200, `{"code":100,"transactionId":"t-1"}`)(r)
		})},
	})
	if _, err := clienttest.PayByToken(t.Context(), c, "t-1"); err != nil {
		t.Fatal(err)
	}
	op := cardgateway.Operation{
		Name: "TokenPayment", Method: "POST", PathTemplate: "/checkout/tokenization/payment/{tokenization}", Payment: true, TransactionID: "t-1",
	}
	want := []cardgateway.AttemptInfo{
		{Operation: op, Number: 1, Err: io.ErrUnexpectedEOF},
		{Operation: op, Number: 2, HTTPStatus: 200, Sent: true},
	}
	if diff := cmp.Diff(want, got, cmp.Comparer(func(a, b error) bool { return errors.Is(a, b) || errors.Is(b, a) })); diff != "" {
		t.Errorf("attempts (-want +got):\n%s", diff)
	}
}
