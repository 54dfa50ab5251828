package contract

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"reflect"
	"strings"
	"time"

	"github.com/shopspring/decimal"

	"github.com/cardgateway/cardgateway-go"
)

const (
	baseURL = "https://gateway.test"
	token   = "tok-1/ü"
)

// call is a request made from a document: the members of a body, or the parameters of a query.
type call struct {
	operation string
	document  any
}

// exchange is the result of a call of the client.
type exchange struct {
	sent   *message // nil: nothing was
	result any      // nil, or a pointer
	err    error
}

var errNotExpressible = errors.New("the client has no value for this")

// roundTrip is an http.RoundTripper.
type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// do makes the client's request from a document and passes it to a transport. The error is errNotExpressible if the
// client's types cannot represent the document.
func (c call) do(respond func(*message) (status int, body []byte)) (x exchange, err error) {
	defer func() {
		switch failure := recover().(type) {
		case nil:
		case notExpressible:
			err = fmt.Errorf("%w: %s", errNotExpressible, failure)
		default:
			panic(failure)
		}
	}()
	app := cardgateway.AppID("1")
	if members, ok := c.document.(map[string]any); ok && !strings.HasPrefix(c.operation, "Search") {
		switch id := members["appId"].(type) {
		case nil:
		case json.Number:
			app = cardgateway.AppID(id)
		default:
			return x, errNotExpressible
		}
	}
	client, err := cardgateway.New(cardgateway.Config{
		BaseURL: baseURL, AppID: app, Retry: cardgateway.RetryPolicy{MaxAttempts: 1}, AnyDecimals: true, AnyAppID: true, // no schema can say which app
		HTTPClient: &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
			m := &message{operation: c.operation, method: r.Method, url: r.URL, header: r.Header}
			if r.Body != nil {
				if m.body, err = io.ReadAll(r.Body); err != nil {
					return nil, err
				}
			}
			x.sent = m
			status, body := respond(m)
			return &http.Response{
				StatusCode: status, Header: http.Header{"Content-Type": {"application/json"}}, Request: r,
				ProtoMajor: 1, ProtoMinor: 1, Body: io.NopCloser(strings.NewReader(string(body))), ContentLength: int64(len(body)),
			}, nil
		})},
	})
	if err != nil {
		return exchange{err: err}, nil
	}
	x.result, x.err = c.on(client)
	return x, nil
}

// on calls the operation.
func (c call) on(client *cardgateway.Client) (any, error) {
	ctx := context.Background()
	switch c.operation {
	case "CreateTokenOrder":
		return pointer(client.CreateTokenOrder(ctx, filled[cardgateway.TokenOrderRequest](c.document)))
	case "TokenPayment":
		return pointer(client.TokenPayment(ctx, cardgateway.NewToken(token), filled[cardgateway.TokenPaymentRequest](c.document)))
	case "CreateSubscription":
		return pointer(client.CreateSubscription(ctx, filled[cardgateway.SubscriptionRequest](c.document)))
	case "CreateCheckout":
		return pointer(client.CreateCheckout(ctx, filled[cardgateway.CheckoutRequest](c.document)))
	case "CreateCheckoutSubscription":
		return pointer(client.CreateCheckoutSubscription(ctx, filled[cardgateway.CheckoutSubscriptionRequest](c.document)))
	case "CreateRefund":
		return pointer(client.CreateRefund(ctx, filled[cardgateway.RefundRequest](c.document)))
	case "UploadTrackingNumbers":
		return nil, client.UploadTrackingNumbers(ctx, filled[[]cardgateway.Shipment](c.document))
	case "GetTransaction":
		return pointer(client.GetTransaction(ctx, c.text("uniqueId")))
	case "SearchOrders":
		return pointer(client.SearchOrders(ctx, cardgateway.OrderQuery{
			UniqueID: c.text("uniqueId"), OrderID: c.text("orderId"), TransactionID: c.text("transactionId"),
			Start: c.time("startDate"), End: c.time("endingDate"),
		}, cardgateway.PageRequest{CurrPage: c.number("currPage"), PageSize: c.number("pageSize")}))
	case "SearchRefunds":
		return pointer(client.SearchRefunds(ctx, cardgateway.RefundQuery{
			UniqueID: c.text("uniqueId"), TransactionID: c.text("transactionId"),
			RefundTransactionID: c.text("refundTransactionId"), RefundUniqueID: c.text("refundUniqueId"),
			Start: c.time("startDate"), End: c.time("endingDate"),
		}, cardgateway.PageRequest{CurrPage: c.number("currPage"), PageSize: c.number("pageSize")}))
	}
	panic("no operation is named " + c.operation)
}

// pointer prevents a nil pointer from becoming a non-nil interface value.
func pointer[T any](p *T, err error) (any, error) {
	if p == nil {
		return nil, err
	}
	return p, err
}

// text returns a parameter of a query.
func (c call) text(name string) string {
	switch s := c.document.(map[string]any)[name].(type) {
	case nil:
		return ""
	case string:
		return s
	}
	panic(notExpressible(name))
}

func (c call) time(name string) time.Time {
	s := c.text(name)
	w, err := cardgateway.ParseWallTime(s)
	if err != nil || len(s) == len(time.DateOnly) {
		panic(notExpressible(name)) // the client always writes the long form
	}
	return w.In(cardgateway.DefaultLocation())
}

func (c call) number(name string) int {
	s := c.text(name)
	if s == "" {
		return 0
	}
	var n int
	if json.Unmarshal([]byte(s), &n) != nil {
		panic(notExpressible(name))
	}
	return n
}

type notExpressible string

// filled returns a request struct made from a document: each member is set in the field of its name.
func filled[T any](document any) (request T) {
	fill(reflect.ValueOf(&request).Elem(), document)
	return request
}

func fill(v reflect.Value, document any) {
	switch v.Interface().(type) {
	case decimal.Decimal:
		text := fmt.Sprint(document)
		d, err := decimal.NewFromString(text)
		if err != nil || strings.ContainsAny(text, "eE+ ") || len(text) > 100 {
			panic(notExpressible("a decimal"))
		}
		v.Set(reflect.ValueOf(d))
		return
	case cardgateway.CardNumber:
		v.Set(reflect.ValueOf(cardgateway.NewCardNumber(as[string](document))))
		return
	case cardgateway.CVV:
		v.Set(reflect.ValueOf(cardgateway.NewCVV(as[string](document))))
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), document)
	case reflect.Struct:
		for name, member := range as[map[string]any](document) {
			if name == "appId" {
				continue // which the client has
			}
			field := v.FieldByNameFunc(func(f string) bool { return strings.EqualFold(f, name) })
			if !field.IsValid() {
				panic(notExpressible("member " + name))
			}
			fill(field, member)
		}
	case reflect.Slice:
		for _, element := range as[[]any](document) {
			v.Set(reflect.Append(v, reflect.Zero(v.Type().Elem())))
			fill(v.Index(v.Len()-1), element)
		}
	case reflect.Int:
		n, err := as[json.Number](document).Int64()
		if err != nil {
			panic(notExpressible("an int"))
		}
		v.SetInt(n)
	case reflect.Bool:
		v.SetBool(as[bool](document))
	case reflect.String:
		v.SetString(as[string](document))
	default:
		panic("no way to fill a " + v.Type().String())
	}
}

func as[T any](document any) T {
	v, ok := document.(T)
	if !ok {
		panic(notExpressible(fmt.Sprintf("%T", document)))
	}
	return v
}

// message returns the same request as written by a program without the client.
func (c call) message(op *operation) *message {
	m := &message{operation: c.operation, method: op.method, header: http.Header{}}
	escaped := strings.ReplaceAll(op.path, "{tokenization}", url.PathEscape(token))
	query := url.Values{}
	if op.body != nil {
		m.header.Set("Content-Type", "application/json")
		m.body = encode(c.document)
	} else {
		for _, p := range op.parameters {
			name := p["name"].(string)
			value, given := c.document.(map[string]any)[name].(string)
			switch {
			case p["in"] == "path":
				escaped = strings.ReplaceAll(escaped, "{"+name+"}", url.PathEscape(value))
			case given:
				query.Set(name, value)
			}
		}
	}
	u, err := url.Parse(baseURL + escaped)
	if err != nil {
		panic(err) // of an escaped path
	}
	u.RawQuery = query.Encode()
	m.url = u
	return m
}
