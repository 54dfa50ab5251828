package cardgateway

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jarcoal/httpmock"
	"github.com/shopspring/decimal"
)

// exchange is one documented request and answer; see testdata/README.md.
type exchange struct {
	Operation, Case, Source, Token string
	Request                        struct {
		Method, Path, Query string
		Body                json.RawMessage
	}
	Response struct {
		Status int
		Body   json.RawMessage
	}
	Outcome string
}

const testBase = "https://gateway.test/base"

// TestDocumentedExchanges replays every documented exchange in both directions: the request that the client makes of
// the documented body must be that body again, and of the documented answer every member must arrive.
func TestDocumentedExchanges(t *testing.T) {
	files, err := filepath.Glob("testdata/exchanges/*/*.json")
	if err != nil || len(files) < 50 {
		t.Fatalf("found %d exchanges, want at least 50 (%v)", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(strings.TrimPrefix(filepath.ToSlash(file), "testdata/exchanges/"), ".json"), func(t *testing.T) {
			t.Parallel()
			replay(t, readExchange(t, file))
		})
	}
}

func readExchange(t *testing.T, file string) exchange {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var x exchange
	if err := json.Unmarshal(data, &x); err != nil {
		t.Fatal(err)
	}
	return x
}

func replay(t *testing.T, x exchange) {
	var sentBody []byte
	var sentURL *url.URL
	mock := httpmock.NewMockTransport()
	mock.RegisterResponder(x.Request.Method, testBase+x.Request.Path, func(r *http.Request) (*http.Response, error) {
		sentURL = r.URL
		if r.Body != nil {
			sentBody, _ = io.ReadAll(r.Body)
		}
		return httpmock.NewBytesResponse(x.Response.Status, x.Response.Body), nil
	})
	var sent struct{ AppID json.RawMessage }
	_ = json.Unmarshal(x.Request.Body, &sent)
	app := AppID(sent.AppID)
	if app == "" {
		app = "1"
	}
	c, err := New(Config{
		BaseURL: testBase, AppID: app, HTTPClient: &http.Client{Transport: mock}, Retry: RetryPolicy{MaxAttempts: 1},
	})
	if err != nil {
		t.Fatal(err)
	}
	got, err := callDocumented(t, c, x)
	if sentURL == nil {
		t.Fatalf("nothing was sent: %v", err)
	}
	if diff := cmp.Diff(normal(t, x.Request.Body), normal(t, sentBody)); diff != "" {
		t.Errorf("request body (-documented +sent):\n%s", diff)
	}
	want, _ := url.ParseQuery(x.Request.Query)
	if diff := cmp.Diff(want, sentURL.Query()); diff != "" {
		t.Errorf("query (-documented +sent):\n%s", diff)
	}
	checkOutcome(t, x.Outcome, got, err)
	if got != nil {
		if diff := cmp.Diff(documentedTexts(normal(t, x.Response.Body)), readTexts(got)); diff != "" {
			t.Errorf("answer (-documented +read):\n%s", diff)
		}
	}
}

// callDocumented makes the operation's request out of the documented one and calls the client.
func callDocumented(t *testing.T, c *Client, x exchange) (result any, err error) {
	t.Helper()
	ctx := context.Background()
	query, err := url.ParseQuery(x.Request.Query)
	if err != nil {
		t.Fatal(err)
	}
	switch x.Operation {
	case "CreateTokenOrder":
		return pointer(c.CreateTokenOrder(ctx, fill[TokenOrderRequest](t, x.Request.Body)))
	case "TokenPayment":
		return pointer(c.TokenPayment(ctx, NewToken(x.Token), fill[TokenPaymentRequest](t, x.Request.Body)))
	case "CreateSubscription":
		return pointer(c.CreateSubscription(ctx, fill[SubscriptionRequest](t, x.Request.Body)))
	case "CreateCheckout":
		return pointer(c.CreateCheckout(ctx, fill[CheckoutRequest](t, x.Request.Body)))
	case "CreateCheckoutSubscription":
		return pointer(c.CreateCheckoutSubscription(ctx, fill[CheckoutSubscriptionRequest](t, x.Request.Body)))
	case "GetTransaction":
		return pointer(c.GetTransaction(ctx, x.Request.Path[strings.LastIndex(x.Request.Path, "/")+1:]))
	case "SearchOrders":
		return pointer(c.SearchOrders(ctx, OrderQuery{
			UniqueID: query.Get("uniqueId"), OrderID: query.Get("orderId"), TransactionID: query.Get("transactionId"),
			Start: instant(t, query, "startDate"), End: instant(t, query, "endingDate"),
			CurrPage: number(query, "currPage"), PageSize: number(query, "pageSize"),
		}))
	case "SearchRefunds":
		return pointer(c.SearchRefunds(ctx, RefundQuery{
			UniqueID: query.Get("uniqueId"), TransactionID: query.Get("transactionId"),
			RefundTransactionID: query.Get("refundTransactionId"), RefundUniqueID: query.Get("refundUniqueId"),
			Start: instant(t, query, "startDate"), End: instant(t, query, "endingDate"),
			CurrPage: number(query, "currPage"), PageSize: number(query, "pageSize"),
		}))
	}
	t.Fatalf("no operation is named %q", x.Operation)
	return nil, nil
}

// pointer keeps a nil pointer from becoming a non-nil any.
func pointer[T any](p *T, err error) (any, error) {
	if p == nil {
		return nil, err
	}
	return p, err
}

func instant(t *testing.T, query url.Values, name string) time.Time {
	t.Helper()
	w, err := ParseWallTime(query.Get(name))
	if err != nil {
		t.Fatal(err)
	}
	return w.In(DefaultLocation())
}

func number(query url.Values, name string) int {
	n, _ := strconv.Atoi(query.Get(name))
	return n
}

func checkOutcome(t *testing.T, outcome string, got any, err error) {
	t.Helper()
	states := map[string]State{
		"approved": StateApproved, "declined": StateDeclined, "processing": StateProcessing, "redirect": StateRedirect,
	}
	tx, isTransaction := got.(*Transaction)
	wantErr := map[string]error{
		"declined": ErrDeclined, "refused": ErrRefused, "unknown": ErrOutcomeUnknown, "notfound": ErrNotFound,
	}[outcome]
	if errors.Is(err, ErrQueryFailed) && outcome == "refused" {
		wantErr = ErrQueryFailed
	}
	if !errors.Is(err, wantErr) {
		t.Errorf("error: got %v, want %v", err, wantErr)
	}
	if state, ok := states[outcome]; ok && (!isTransaction || tx.State() != state) {
		t.Errorf("outcome: got %v (%v), want %v", got, err, outcome)
	}
	if SafeToRetry(err) {
		t.Errorf("SafeToRetry(%v): got true, want false", err)
	}
}

// normal turns JSON into a value in which numbers keep their digits.
func normal(t *testing.T, data []byte) any {
	t.Helper()
	if len(data) == 0 {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		t.Fatalf("%v in %s", err, data)
	}
	return v
}

// fill makes a request struct of a documented body: each member goes into the field of the same name, so that a
// struct which lacks a member loses it, and the comparison of the sent body shows that.
func fill[T any](t *testing.T, body []byte) (req T) {
	t.Helper()
	fillValue(t, reflect.ValueOf(&req).Elem(), normal(t, body))
	return req
}

func fillValue(t *testing.T, v reflect.Value, doc any) {
	t.Helper()
	switch v.Interface().(type) {
	case decimal.Decimal:
		v.Set(reflect.ValueOf(decimal.RequireFromString(doc.(string))))
		return
	case CardNumber:
		v.Set(reflect.ValueOf(NewCardNumber(doc.(string))))
		return
	case CVV:
		v.Set(reflect.ValueOf(NewCVV(doc.(string))))
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fillValue(t, v.Elem(), doc)
	case reflect.Struct:
		for name, member := range doc.(map[string]any) {
			if field := v.FieldByNameFunc(func(f string) bool { return strings.EqualFold(f, name) }); field.IsValid() {
				fillValue(t, field, member)
			}
		}
	case reflect.Slice:
		for _, element := range doc.([]any) {
			v.Set(reflect.Append(v, reflect.Zero(v.Type().Elem())))
			fillValue(t, v.Index(v.Len()-1), element)
		}
	case reflect.Int:
		n, _ := doc.(json.Number).Int64()
		v.SetInt(n)
	case reflect.Bool:
		v.SetBool(doc.(bool))
	case reflect.String:
		v.SetString(doc.(string))
	default:
		t.Fatalf("no way to fill a %v", v.Type())
	}
}

// documentedTexts lists the members of a documented answer by their path in small letters, as texts. What cannot be
// told from a missing member in Go is left out: false and 0.
func documentedTexts(doc any) map[string]string {
	texts := map[string]string{}
	var walk func(path string, v any)
	walk = func(path string, v any) {
		switch v := v.(type) {
		case map[string]any:
			for name, member := range v {
				walk(path+"."+strings.ToLower(name), member)
			}
		case []any:
			for i, element := range v {
				walk(path+"."+strconv.Itoa(i), element)
			}
		case bool:
			if v {
				texts[path] = "true"
			}
		case json.Number:
			if v != "0" {
				texts[path] = v.String()
			}
		case string:
			texts[path] = v
		}
	}
	walk("", doc)
	for path, text := range texts { // the published second name of the same member
		if name, ok := strings.CutSuffix(path, ".refundtransactionid"); ok {
			delete(texts, path)
			texts[name+".merchantrefundid"] = text
		}
	}
	return texts
}

// readTexts lists the members of a result in the form of documentedTexts.
func readTexts(result any) map[string]string {
	texts := map[string]string{}
	var walk func(path string, v reflect.Value)
	walk = func(path string, v reflect.Value) {
		switch x := v.Interface().(type) {
		case decimal.Decimal:
			if !x.IsZero() {
				texts[path] = x.StringFixed(-x.Exponent())
			}
			return
		case time.Time:
			if !x.IsZero() {
				texts[path] = strconv.FormatInt(x.UnixMilli(), 10)
			}
			return
		case WallTime:
			if !x.IsZero() {
				texts[path] = x.String()
			}
			return
		case *bool:
			if x != nil {
				texts[path] = strconv.FormatBool(*x)
			}
			return
		case Code:
			texts[path] = strconv.Itoa(int(x))
			return
		}
		switch v.Kind() {
		case reflect.Pointer:
			if !v.IsNil() {
				walk(path, v.Elem())
			}
		case reflect.Struct:
			for i := range v.NumField() {
				walk(path+"."+strings.ToLower(v.Type().Field(i).Name), v.Field(i))
			}
		case reflect.Slice:
			for i := range v.Len() {
				walk(path+"."+strconv.Itoa(i), v.Index(i))
			}
		default:
			if !v.IsZero() {
				texts[path] = fmt.Sprint(v.Interface())
			}
		}
	}
	walk("", reflect.ValueOf(result))
	return texts
}
