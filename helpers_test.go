package cardgateway

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/shopspring/decimal"
)

// What the tests share: one valid request per payment operation, servers that answer by hand, and a till that counts
// the payments which a server has executed.

// Secrets that the tests send. The token has characters that are escaped in a path.
const (
	testCard       = "4111111111111111"
	testCVV        = "973"
	testToken      = "tk/9f8e+7d6c5b4a=x"
	testMerchant   = "merchant-77"
	testSecretKey  = "key-f00dfacecafe"
	testBasicValue = "bWVyY2hhbnQtNzc6a2V5LWYwMGRmYWNlY2FmZQ=="
)

var testAmount = decimal.RequireFromString("12.50")

func testProducts() []ProductInfo { return []ProductInfo{{ProductName: "Candles", SKU: "123-456"}} }

func testCardOf(number, cvv string) Card {
	return Card{
		CardNumber: NewCardNumber(number), CVV: NewCVV(cvv),
		ExpiredMonth: "12", ExpiredYear: "39", Cardholder: "Ada Example",
	}
}

func testTokenPayment(id string) TokenPaymentRequest {
	return TokenPaymentRequest{
		TransactionID: id, Currency: "USD", Amount: testAmount, TransactionIP: "203.0.113.7",
		CallbackURL: "https://shop.example/back", NotificationURL: "https://shop.example/notify", ProductInfos: testProducts(),
	}
}

func testSubscription(id string, card Card) SubscriptionRequest {
	return SubscriptionRequest{
		TransactionID: id, OrderID: "order-" + id, Currency: "USD", Amount: testAmount, TransactionIP: "203.0.113.7",
		CallbackURL: "https://shop.example/back", NotificationURL: "https://shop.example/notify", ProductInfos: testProducts(),
		BillingAddress: Address{Country: "US"}, Card: card,
		Extension: SubscriptionExtension{SubscriptionCycle: CycleWeek, SubscriptionPeriod: 3},
	}
}

// paymentOp calls one payment operation with a valid request.
type paymentOp struct {
	name string
	call func(ctx context.Context, c *Client, id string) (*Transaction, error)
}

// paymentOps are all five. Those with card data come first.
var paymentOps = []paymentOp{
	{"TokenPayment", func(ctx context.Context, c *Client, id string) (*Transaction, error) {
		return c.TokenPayment(ctx, NewToken(testToken), testTokenPayment(id))
	}},
	{"CreateSubscription", func(ctx context.Context, c *Client, id string) (*Transaction, error) {
		return c.CreateSubscription(ctx, testSubscription(id, testCardOf(testCard, testCVV)))
	}},
	{"CreateTokenOrder", func(ctx context.Context, c *Client, id string) (*Transaction, error) {
		return c.CreateTokenOrder(ctx, TokenOrderRequest{
			TransactionID: id, OrderID: "order-" + id, Currency: "USD", Amount: testAmount, TransactionIP: "203.0.113.7",
			CallbackURL: "https://shop.example/back", NotificationURL: "https://shop.example/notify",
			ProductInfos: testProducts(), BillingAddress: Address{Country: "US"},
		})
	}},
	{"CreateCheckout", func(ctx context.Context, c *Client, id string) (*Transaction, error) {
		return c.CreateCheckout(ctx, CheckoutRequest{
			TransactionID: id, OrderID: "order-" + id, Currency: "USD", Amount: testAmount, TransactionIP: "203.0.113.7",
			CallbackURL: "https://shop.example/back", NotificationURL: "https://shop.example/notify",
			ProductInfos: testProducts(), BillingAddress: Address{Country: "US"},
		})
	}},
	{"CreateCheckoutSubscription", func(ctx context.Context, c *Client, id string) (*Transaction, error) {
		return c.CreateCheckoutSubscription(ctx, CheckoutSubscriptionRequest{
			TransactionID: id, OrderID: "order-" + id, Currency: "USD", Amount: testAmount, TransactionIP: "203.0.113.7",
			CallbackURL: "https://shop.example/back", NotificationURL: "https://shop.example/notify",
			ProductInfos: testProducts(), BillingAddress: Address{Country: "US"},
			Extension: SubscriptionExtension{SubscriptionCycle: CycleWeek, SubscriptionPeriod: 3},
		})
	}},
}

func payByToken(ctx context.Context, c *Client, id string) (*Transaction, error) {
	return paymentOps[0].call(ctx, c, id)
}

// testClient makes a client that repeats at once where it may.
func testClient(t testing.TB, cfg Config) *Client {
	t.Helper()
	if cfg.AppID == "" {
		cfg.AppID = "1"
	}
	if cfg.Retry.MinWait == 0 {
		cfg.Retry.MinWait = time.Nanosecond
	}
	c, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.CloseIdleConnections)
	return c
}

// answerFor is a good answer about testAmount; more is appended as members.
func answerFor(id string, code Code, more string) string {
	return fmt.Sprintf(`{"code":%d,"message":"text","uniqueId":"2018062815300001","transactionId":%q,`+
		`"transactionAmount":"12.50","transactionCurrency":"USD","redirectUrl":"https://pay.example/p"%s}`, code, id, more)
}

// till counts how often each payment was executed: the judge of what a client says.
type till struct {
	mu       sync.Mutex
	executed map[string]int
}

func (l *till) execute(id string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.executed == nil {
		l.executed = map[string]int{}
	}
	l.executed[id]++
}

func (l *till) count(id string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.executed[id]
}

// handle reads a payment's request whole and executes it. It returns the transactionId.
func (l *till) handle(r *http.Request) (id string, ok bool) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return "", false
	}
	id = transactionIDIn(body)
	l.execute(id)
	return id, true
}

// transactionIDIn finds the transactionId in a request's body, without the client's own reader.
func transactionIDIn(body []byte) string {
	_, rest, _ := bytes.Cut(body, []byte(`"transactionId":"`))
	id, _, _ := bytes.Cut(rest, []byte(`"`))
	return string(id)
}

// serve starts a server on the loopback and stops it with the test.
func serve(t testing.TB, h http.HandlerFunc) *httptest.Server {
	t.Helper()
	s := httptest.NewUnstartedServer(h)
	s.Config.ErrorLog = quietLog
	s.Start()
	t.Cleanup(s.Close)
	return s
}

// answering is a server that gives everybody the same body with status 200.
func answering(t testing.TB, body string) *httptest.Server {
	return serve(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		_, _ = io.WriteString(w, body)
	})
}

// rawServer accepts connections and leaves all else to serve, which runs once per connection.
func rawServer(t testing.TB, serve func(net.Conn)) (base string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var conns sync.WaitGroup
	stop := make(chan struct{})
	conns.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			conns.Go(func() {
				done := make(chan struct{})
				go func() { // a server that waits for ever ends with the test
					select {
					case <-stop:
					case <-done:
					}
					_ = conn.Close()
				}()
				serve(conn)
				close(done)
			})
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		close(stop)
		conns.Wait()
	})
	return "http://" + l.Addr().String()
}

// rawRequests reads one request after the other from a connection and hands it over with its body, until answer
// returns false or the connection ends.
func rawRequests(conn net.Conn, answer func(r *http.Request, body []byte) bool) {
	in := bufio.NewReader(conn)
	for {
		r, err := http.ReadRequest(in)
		if err != nil {
			return
		}
		body, err := io.ReadAll(r.Body)
		if err != nil || !answer(r, body) {
			return
		}
	}
}

// rawAnswer is a whole HTTP/1.1 answer with status 200, and the connection's last.
func rawAnswer(body string) string {
	return fmt.Sprintf("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
}

// roundTrip is a RoundTripper made of a function.
type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// respond is an answer as a transport gives it; a payment's body has been read, as by a network.
func respond(r *http.Request, status int, body string) (*http.Response, error) {
	if r.Body != nil {
		_, _ = io.Copy(io.Discard, r.Body)
	}
	return &http.Response{
		StatusCode: status, Header: http.Header{}, Request: r,
		Body: io.NopCloser(strings.NewReader(body)), ContentLength: int64(len(body)),
	}, nil
}
