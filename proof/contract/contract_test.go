package contract

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/pb33f/libopenapi"
	validator "github.com/pb33f/libopenapi-validator"
	problems "github.com/pb33f/libopenapi-validator/errors"
	"github.com/pb33f/libopenapi-validator/schema_validation"
	"github.com/shopspring/decimal"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/internal/test/clienttest"
	"github.com/cardgateway/cardgateway-go/sandbox"
)

// description is the OpenAPI description that the sandbox serves, and what validates messages by it.
type description struct {
	document libopenapi.Document
	validator.Validator
	names map[string]bool // of all members that are described somewhere
}

func load(t *testing.T, text []byte) *description {
	t.Helper()
	document, err := libopenapi.NewDocument(text)
	if err != nil {
		t.Fatal(err)
	}
	v, errs := validator.NewValidator(document)
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	d := &description{document, v, map[string]bool{}}
	var tree any
	if err := json.Unmarshal(text, &tree); err != nil {
		t.Fatal(err)
	}
	eachObject(tree, func(o map[string]any) {
		properties, _ := o["properties"].(map[string]any)
		for name := range properties {
			d.names[name] = true
		}
	})
	return d
}

// eachObject calls f with each object within a JSON value.
func eachObject(value any, f func(map[string]any)) {
	switch v := value.(type) {
	case map[string]any:
		f(v)
		for _, member := range v {
			eachObject(member, f)
		}
	case []any:
		for _, element := range v {
			eachObject(element, f)
		}
	}
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

const (
	descriptionFile = "../../sandbox/openapi.json"
	tableFile       = "../../testdata/interface.json"
)

// words are what is wrong with a message.
func words(found []*problems.ValidationError) string {
	var all []string
	for _, p := range found {
		all = append(all, p.Message+": "+p.Reason)
		for _, s := range p.SchemaValidationErrors {
			all = append(all, s.FieldPath+": "+s.Reason)
		}
	}
	return strings.Join(all, "; ")
}

// wire carries requests of a client to a sandbox, and validates them and the responses.
type wire struct {
	t       *testing.T
	by      *description
	gateway *sandbox.Gateway
	codes   map[string]map[int]bool
}

func (w *wire) RoundTrip(r *http.Request) (*http.Response, error) {
	var body []byte
	if r.Body != nil {
		var err error
		if body, err = io.ReadAll(r.Body); err != nil {
			return nil, err
		}
	}
	again := func() *http.Request {
		c := r.Clone(context.Background())
		c.Body, c.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		return c
	}
	if ok, found := w.by.ValidateHttpRequest(again()); !ok {
		w.t.Errorf("%s %s %s: the request is not as described: %s", r.Method, r.URL, body, words(found))
	}
	response, err := w.gateway.RoundTripper().RoundTrip(again())
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, err
	}
	response.Body = io.NopCloser(bytes.NewReader(text))
	if ok, found := w.by.ValidateHttpResponse(again(), response); !ok {
		w.t.Errorf("%s %s: the response %d %s is not as described: %s", r.Method, r.URL, response.StatusCode, text, words(found))
	}
	response.Body = io.NopCloser(bytes.NewReader(text))
	var said struct{ Code int }
	var tree any
	if err := errors.Join(json.Unmarshal(text, &said), json.Unmarshal(text, &tree)); err != nil {
		w.t.Errorf("%s %s: the response is no JSON: %s", r.Method, r.URL, text)
	}
	eachObject(tree, func(o map[string]any) { // a schema says nothing of members that it does not have
		for name := range o {
			if !w.by.names[name] {
				w.t.Errorf("%s %s: the response has the member %q, which is not described", r.Method, r.URL, name)
			}
		}
	})
	path := pathOf(r)
	if w.codes[path] == nil {
		w.codes[path] = map[int]bool{}
	}
	w.codes[path][said.Code] = true
	return response, nil
}

// pathOf is the path of a request as the table writes it.
func pathOf(r *http.Request) string {
	for prefix, name := range map[string]string{"/checkout/tokenization/payment/": "{tokenization}", "/search/order/": "{uniqueId}"} {
		if strings.HasPrefix(r.URL.Path, prefix) {
			return prefix + name
		}
	}
	return r.URL.Path
}

var (
	amount  = decimal.RequireFromString("12.50")
	product = cardgateway.ProductInfo{ProductName: "Candles", SKU: "c-1", ProductLink: "https://shop.example/c-1", Currency: "USD", Price: amount, Quantity: 1}
	address = cardgateway.Address{
		FirstName: "Ada", LastName: "Byron", Country: "US", Email: "ada@shop.example", City: "Salem", Address: "1 Oak St", Phone: "5550100", State: "OR", ZipCode: "97301",
	}
	browser = cardgateway.Browser{UserAgent: "Mozilla/5.0", Referer: "https://shop.example/"}
	weekly  = cardgateway.SubscriptionExtension{SubscriptionCycle: cardgateway.CycleWeek, SubscriptionPeriod: 4, SubscriptionDescription: "Candles, weekly"}
)

const (
	ip       = "203.0.113.7"
	callback = "https://shop.example/orders/1"
	notified = "https://shop.example/notifications"
)

// everything calls each operation with everything that it can send, and with the least, for each outcome.
func everything(t *testing.T, w *wire, client *cardgateway.Client) {
	ctx := context.Background()
	n := 0
	id := func() string { n++; return fmt.Sprint("t-", n) }
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Error(err)
		}
	}
	refused := func(err error) {
		t.Helper()
		if err == nil {
			t.Error("got no error")
		}
	}
	card := func(o sandbox.Outcome) cardgateway.Card {
		c := sandbox.TestCard(o)
		return cardgateway.Card{
			CardNumber: cardgateway.NewCardNumber(c.Number), CVV: cardgateway.NewCVV(c.CVV), ExpiredMonth: c.Month, ExpiredYear: c.Year, Cardholder: c.Cardholder,
		}
	}
	_, err := client.CreateTokenOrder(ctx, cardgateway.TokenOrderRequest{
		TransactionID: id(), OrderID: "o-1", Currency: "USD", Amount: amount, TransactionIP: ip, CallbackURL: callback, NotificationURL: notified,
		ProductInfos: []cardgateway.ProductInfo{product}, TransactionMethod: cardgateway.MethodDefault, TransactionType: cardgateway.TypeTokenization,
		BillingAddress: address, ShippingAddress: &address, Secure: true, Browser: &browser,
	})
	must(err)
	var paid *cardgateway.Transaction
	for _, o := range []sandbox.Outcome{sandbox.Approved, sandbox.Declined, sandbox.Pending} {
		token := cardgateway.NewToken(w.gateway.NewToken(o))
		request := cardgateway.TokenPaymentRequest{
			TransactionID: id(), Currency: "USD", Amount: amount, TransactionIP: ip, CallbackURL: callback, NotificationURL: notified,
			ProductInfos: []cardgateway.ProductInfo{product},
		}
		got, err := client.TokenPayment(ctx, token, request)
		if o == sandbox.Declined {
			refused(err)
		} else {
			must(err)
		}
		if o == sandbox.Approved {
			paid = got
			_, err = client.TokenPayment(ctx, token, request) // once more: a repeated transactionId
			refused(err)
		}
	}
	_, err = client.TokenPayment(ctx, cardgateway.NewToken("nobody-knows-this-token"), cardgateway.TokenPaymentRequest{
		TransactionID: id(), Currency: "USD", Amount: amount, TransactionIP: ip, CallbackURL: callback, NotificationURL: notified,
		ProductInfos: []cardgateway.ProductInfo{product}, Secure: true, TransactionType: cardgateway.TypeSale, ProductName: "Candles",
	})
	refused(err)
	for _, o := range []sandbox.Outcome{sandbox.Approved, sandbox.Declined} {
		_, err = client.CreateSubscription(ctx, cardgateway.SubscriptionRequest{
			TransactionID: id(), OrderID: fmt.Sprint("o-", n), Currency: "USD", Amount: amount, TransactionIP: ip, CallbackURL: callback, NotificationURL: notified,
			ProductInfos: []cardgateway.ProductInfo{product}, BillingAddress: address, ShippingAddress: &address, Browser: &browser, Card: card(o), Extension: weekly,
		})
		if o == sandbox.Declined {
			refused(err)
		} else {
			must(err)
		}
	}
	_, err = client.CreateCheckout(ctx, cardgateway.CheckoutRequest{
		TransactionID: id(), OrderID: "o-c", Currency: "USD", Amount: amount, TransactionIP: ip, CallbackURL: callback, NotificationURL: notified,
		ProductInfos: []cardgateway.ProductInfo{product}, TransactionMethod: cardgateway.MethodCreditCard, TransactionType: cardgateway.TypeSale,
		BillingAddress: address, ShippingAddress: &address, Secure: true, Browser: &browser, Extension: &cardgateway.CheckoutExtension{Code: "c", Account: "a"},
	})
	must(err)
	_, err = client.CreateCheckout(ctx, cardgateway.CheckoutRequest{
		TransactionID: id(), OrderID: "o-d", Currency: "USD", Amount: amount, TransactionIP: ip, CallbackURL: callback, NotificationURL: notified,
		ProductInfos: []cardgateway.ProductInfo{{}}, BillingAddress: cardgateway.Address{Country: "US"},
	})
	must(err)
	_, err = client.CreateCheckoutSubscription(ctx, cardgateway.CheckoutSubscriptionRequest{
		TransactionID: id(), OrderID: "o-s", Currency: "USD", Amount: amount, TransactionIP: ip, CallbackURL: callback, NotificationURL: notified,
		ProductInfos: []cardgateway.ProductInfo{product}, TransactionMethod: cardgateway.MethodDefault, BillingAddress: address, ShippingAddress: &address,
		Secure: true, Browser: &browser, Extension: weekly,
	})
	must(err)

	for _, part := range []string{"2.50", "2.50", "100.00"} {
		_, err = client.CreateRefund(ctx, cardgateway.RefundRequest{
			UniqueID: paid.UniqueID, RefundTransactionID: id(), Amount: decimal.RequireFromString(part), Remark: "too many candles",
		})
		if part == "100.00" {
			refused(err)
		} else {
			must(err)
		}
	}
	must(client.UploadTrackingNumbers(ctx, []cardgateway.Shipment{{UniqueID: paid.UniqueID, Company: "Post", Number: "1Z", Remark: "fragile"}}))
	refused(client.UploadTrackingNumbers(ctx, []cardgateway.Shipment{{UniqueID: "1", Company: "Post", Number: "1Z"}}))

	from, to := time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	orders, err := client.SearchOrders(ctx, cardgateway.OrderQuery{Start: from, End: to}, cardgateway.PageRequest{CurrPage: 1, PageSize: 999})
	must(err)
	if len(orders.Data) < 5 {
		t.Errorf("%d orders are found, want all", len(orders.Data))
	}
	_, err = client.SearchOrders(ctx, cardgateway.OrderQuery{
		UniqueID: paid.UniqueID, OrderID: "o-1", TransactionID: paid.TransactionID, Start: from, End: to}, cardgateway.PageRequest{})
	must(err)
	refunds, err := client.SearchRefunds(ctx, cardgateway.RefundQuery{Start: from, End: to}, cardgateway.PageRequest{CurrPage: 1, PageSize: 10})
	must(err)
	if len(refunds.Data) < 2 {
		t.Errorf("%d refunds are found, want all", len(refunds.Data))
	}
	_, err = client.SearchRefunds(ctx, cardgateway.RefundQuery{
		UniqueID: "1", TransactionID: "t", RefundTransactionID: "r", RefundUniqueID: "2", Start: from, End: to}, cardgateway.PageRequest{})
	must(err)
	_, err = client.GetTransaction(ctx, paid.UniqueID)
	must(err)
	if _, err = client.GetTransaction(ctx, "99999999"); !errors.Is(err, cardgateway.ErrNotFound) {
		t.Errorf("got %v, want that it is not found", err)
	}
}

// TestClientAndSandbox: what the client sends and what the sandbox returns is as described, for every operation.
func TestClientAndSandbox(t *testing.T) {
	w := &wire{
		t: t, by: load(t, read(t, descriptionFile)), gateway: sandbox.New(sandbox.Options{NoNotifications: true}),
		codes: map[string]map[int]bool{},
	}
	client := clienttest.NewClient(t, cardgateway.Config{
		BaseURL: "https://gateway.test", AppID: "123456", TestPayments: true, HTTPClient: &http.Client{Transport: w},
		Retry: cardgateway.RetryPolicy{MaxAttempts: 1},
	})
	everything(t, w, client)
	for path, item := range tableOf(t).byPath() {
		if len(w.codes[path]) == 0 {
			t.Errorf("%s %s was not called", item.Method, path)
		}
	}
	t.Log(w.codes)
}

// TestBrokenRequests: what is not as described is noticed. That every member is described as in the table is another test.
func TestBrokenRequests(t *testing.T) {
	by := load(t, read(t, descriptionFile))
	for path, body := range map[string]string{
		"/checkout/nothing": `{}`, "/api/refund": `{}`, "/upload/trackingNumber": `[{"uniqueId":"1","company":7}]`,
	} {
		broken := httptest.NewRequest(http.MethodPost, "https://gateway.test"+path, strings.NewReader(body))
		broken.Header.Set("Content-Type", "application/json")
		if ok, _ := by.ValidateHttpRequest(broken); ok {
			t.Errorf("%s %s is taken for described", path, body)
		}
	}
}

// TestNotifications: the notifications of the sandbox, and the published examples, are as described.
func TestNotifications(t *testing.T) {
	by := load(t, read(t, descriptionFile))
	model, err := by.document.BuildV3Model()
	if err != nil {
		t.Fatal(err)
	}
	check := schema_validation.NewSchemaValidator()
	isDescribed := func(body []byte) bool {
		for name, schema := range model.Model.Components.Schemas.FromOldest() {
			if strings.HasSuffix(name, "Notification") {
				if ok, _ := check.ValidateSchemaString(schema.Schema(), string(body)); ok {
					return true
				}
			}
		}
		return false
	}
	got := make(chan []byte, 100)
	shop := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got <- body
	}))
	defer shop.Close()
	server, err := sandbox.Start(sandbox.Options{SecretKey: "k", Notifications: sandbox.Notifications{Scale: 0.001}})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	client := clienttest.NewClient(t, cardgateway.Config{BaseURL: server.URL, TestPayments: true, Authenticate: cardgateway.BasicAuth("m", "k")})
	request := clienttest.TokenPaymentRequest("t-1")
	request.NotificationURL = shop.URL
	paid, err := client.TokenPayment(t.Context(), cardgateway.NewToken(server.NewToken(sandbox.Approved)), request)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.CreateRefund(t.Context(), cardgateway.RefundRequest{UniqueID: paid.UniqueID, RefundTransactionID: "r-1", Amount: amount}); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(server.Chargeback("t-1"), server.Flush(t.Context())); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if body := <-got; !isDescribed(body) {
			t.Errorf("the sandbox's notification is not as described: %s", body)
		}
	}
	for _, name := range []string{"transaction", "refund", "chargeback"} { // as published
		var example struct{ Body json.RawMessage }
		if err := json.Unmarshal(read(t, "../../testdata/notifications/"+name+".json"), &example); err != nil {
			t.Fatal(err)
		}
		if !isDescribed(example.Body) {
			t.Errorf("the published %s is not as described", name)
		}
	}
	if isDescribed([]byte(`{"code":"no"}`)) {
		t.Error("what is no notification is taken for described")
	}
}
