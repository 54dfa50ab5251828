package cardgateway_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jarcoal/httpmock"
	"github.com/shopspring/decimal"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/internal/test/clienttest"
)

// exchange is one documented request and response; see testdata/README.md.
type exchange struct {
	Operation, Case, Source, Token string
	Sought                         struct { // by ResolveRefund
		UniqueID, RefundTransactionID string
		Amount                        decimal.Decimal
	}
	Request struct {
		Method, Path, Query string
		Body                json.RawMessage
	}
	Response struct {
		Status int
		Body   json.RawMessage
	}
	Outcome string
}

// TestDocumentedExchanges replays every documented exchange in both directions: the request that the client makes of
// the documented body must be that body again, and of the documented response every member must arrive.
func TestDocumentedExchanges(t *testing.T) {
	files, err := filepath.Glob("testdata/exchanges/*/*.json")
	if err != nil || len(files) < 80 {
		t.Fatalf("found %d exchanges, want at least 80 (%v)", len(files), err)
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
	mock.RegisterResponder(x.Request.Method, clienttest.BaseURL+x.Request.Path, func(r *http.Request) (*http.Response, error) {
		sentURL = r.URL
		if r.Body != nil {
			sentBody, _ = io.ReadAll(r.Body)
		}
		return httpmock.NewBytesResponse(x.Response.Status, x.Response.Body), nil
	})
	app := cardgateway.AppID("1")
	for _, body := range []json.RawMessage{x.Response.Body, x.Request.Body} {
		var stated struct{ AppID json.RawMessage }
		if json.Unmarshal(body, &stated) == nil && len(stated.AppID) > 0 {
			app = cardgateway.AppID(stated.AppID)
		}
	}
	c := clienttest.NewClient(t, cardgateway.Config{
		BaseURL: clienttest.BaseURL, AppID: app, TestPayments: true, // the documented payments are tests
		HTTPClient: &http.Client{Transport: mock}, Retry: cardgateway.RetryPolicy{MaxAttempts: 1},
	})
	got, err := callDocumented(t, c, x)
	if sentURL == nil {
		t.Fatalf("nothing was sent: %v", err)
	}
	if diff := cmp.Diff(clienttest.Normal(t, x.Request.Body), clienttest.Normal(t, sentBody)); diff != "" {
		t.Errorf("request body (-documented +sent):\n%s", diff)
	}
	want, _ := url.ParseQuery(x.Request.Query)
	if diff := cmp.Diff(want, sentURL.Query()); diff != "" {
		t.Errorf("query (-documented +sent):\n%s", diff)
	}
	checkOutcome(t, x.Outcome, got, err)
	if got != nil {
		if diff := cmp.Diff(clienttest.DocumentedTexts(x.documented(t)), clienttest.ReadTexts(got)); diff != "" {
			t.Errorf("response (-documented +read):\n%s", diff)
		}
	}
}

// documented is the result that must be returned: the whole response, or the last of the rows that ResolveRefund
// searches.
func (x *exchange) documented(t *testing.T) any {
	doc := clienttest.Normal(t, x.Response.Body)
	if x.Operation == "ResolveRefund" {
		rows := doc.(map[string]any)["data"].([]any)
		return rows[len(rows)-1]
	}
	return doc
}

// callDocumented makes the operation's request out of the documented one and calls the client.
func callDocumented(t *testing.T, c *cardgateway.Client, x exchange) (result any, err error) {
	t.Helper()
	ctx := context.Background()
	query, err := url.ParseQuery(x.Request.Query)
	if err != nil {
		t.Fatal(err)
	}
	switch x.Operation {
	case "CreateTokenOrder":
		return pointer(c.CreateTokenOrder(ctx, fill[cardgateway.TokenOrderRequest](t, x.Request.Body)))
	case "TokenPayment":
		return pointer(c.TokenPayment(ctx, cardgateway.NewToken(x.Token), fill[cardgateway.TokenPaymentRequest](t, x.Request.Body)))
	case "CreateSubscription":
		return pointer(c.CreateSubscription(ctx, fill[cardgateway.SubscriptionRequest](t, x.Request.Body)))
	case "CreateCheckout":
		return pointer(c.CreateCheckout(ctx, fill[cardgateway.CheckoutRequest](t, x.Request.Body)))
	case "CreateCheckoutSubscription":
		return pointer(c.CreateCheckoutSubscription(ctx, fill[cardgateway.CheckoutSubscriptionRequest](t, x.Request.Body)))
	case "CreateRefund":
		return pointer(c.CreateRefund(ctx, fill[cardgateway.RefundRequest](t, x.Request.Body)))
	case "UploadTrackingNumbers":
		return nil, c.UploadTrackingNumbers(ctx, fill[[]cardgateway.Shipment](t, x.Request.Body))
	case "GetTransaction":
		return pointer(c.GetTransaction(ctx, x.Request.Path[strings.LastIndex(x.Request.Path, "/")+1:]))
	case "SearchOrders":
		return pointer(c.SearchOrders(ctx, cardgateway.OrderQuery{
			UniqueID: query.Get("uniqueId"), OrderID: query.Get("orderId"), TransactionID: query.Get("transactionId"),
			Start: instant(t, query, "startDate"), End: instant(t, query, "endingDate"),
		}, cardgateway.PageRequest{CurrPage: number(query, "currPage"), PageSize: number(query, "pageSize")}))
	case "ResolveRefund":
		return resolveDocumented(t, c, x, query)
	case "SearchRefunds":
		return pointer(c.SearchRefunds(ctx, cardgateway.RefundQuery{
			UniqueID: query.Get("uniqueId"), TransactionID: query.Get("transactionId"),
			RefundTransactionID: query.Get("refundTransactionId"), RefundUniqueID: query.Get("refundUniqueId"),
			Start: instant(t, query, "startDate"), End: instant(t, query, "endingDate"),
		}, cardgateway.PageRequest{CurrPage: number(query, "currPage"), PageSize: number(query, "pageSize")}))
	}
	t.Fatalf("no operation is named %q", x.Operation)
	return nil, nil
}

// resolveDocumented makes one query, at the time that belongs to the documented range.
func resolveDocumented(t *testing.T, c *cardgateway.Client, x exchange, query url.Values) (result any, err error) {
	bound := func(name string) time.Time {
		w, err := cardgateway.ParseWallTime(query.Get(name))
		if err != nil {
			t.Fatal(err)
		}
		return w.In(time.UTC)
	}
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(bound("endingDate").Add(-15*time.Hour - time.Second/2))) // bounds are cut outward
		result, err = pointer(c.ResolveRefund(t.Context(), cardgateway.ResolveRefundQuery{
			UniqueID: x.Sought.UniqueID, RefundTransactionID: x.Sought.RefundTransactionID, Amount: x.Sought.Amount,
			SentAt: bound("startDate").Add(13 * time.Hour), Wait: 1,
		}))
	})
	return result, err
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
	w, err := cardgateway.ParseWallTime(query.Get(name))
	if err != nil {
		t.Fatal(err)
	}
	return w.In(cardgateway.DefaultLocation())
}

func number(query url.Values, name string) int {
	n, _ := strconv.Atoi(query.Get(name))
	return n
}

func checkOutcome(t *testing.T, outcome string, got any, err error) {
	t.Helper()
	states := map[string]cardgateway.State{
		"approved": cardgateway.StateApproved, "declined": cardgateway.StateDeclined, "processing": cardgateway.StateProcessing,
		"redirect": cardgateway.StateRedirect,
	}
	said, hasState := got.(interface{ State() cardgateway.State }) // a transaction or a refund
	wantErr := map[string]error{
		"declined": cardgateway.ErrDeclined, "refused": cardgateway.ErrRefused, "unknown": cardgateway.ErrOutcomeUnknown, "notfound": cardgateway.ErrNotFound,
		"conflict": cardgateway.ErrConflict,
	}[outcome]
	if errors.Is(err, cardgateway.ErrQueryFailed) && outcome == "refused" {
		wantErr = cardgateway.ErrQueryFailed
	}
	if !errors.Is(err, wantErr) {
		t.Errorf("error: got %v, want %v", err, wantErr)
	}
	if state, ok := states[outcome]; ok && (!hasState || said.State() != state) {
		t.Errorf("outcome: got %v (%v), want %v", got, err, outcome)
	}
	if cardgateway.SafeToRetry(err) {
		t.Errorf("SafeToRetry(%v): got true, want false", err)
	}
}

// fill fills a request struct from a documented body: each member goes into the field of the same name. If the struct
// lacks a member, the comparison of the sent body shows that.
func fill[T any](t *testing.T, body []byte) (req T) {
	t.Helper()
	fillValue(t, reflect.ValueOf(&req).Elem(), clienttest.Normal(t, body))
	return req
}

func fillValue(t *testing.T, v reflect.Value, doc any) {
	t.Helper()
	switch v.Interface().(type) {
	case decimal.Decimal:
		v.Set(reflect.ValueOf(decimal.RequireFromString(doc.(string))))
		return
	case cardgateway.CardNumber:
		v.Set(reflect.ValueOf(cardgateway.NewCardNumber(doc.(string))))
		return
	case cardgateway.CVV:
		v.Set(reflect.ValueOf(cardgateway.NewCVV(doc.(string))))
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
