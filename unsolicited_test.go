package cardgateway_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/shopspring/decimal"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/internal/test/clienttest"
)

// A server or a proxy can send a response twice. The copy waits in the connection when the next request reuses it, and
// could be taken for the response to that request: a decline of a payment that was executed, or an empty page instead of
// a month's rows.
//
// The tests run in a short form. CARDGATEWAY_TWICE=50 runs them fifty times as long: 100,000 payments, 100,000 resolves
// and 2,000 walks.

// doublingServer responds to each request with respond, and writes the response twice in one segment if twice returns
// true.
func doublingServer(t *testing.T, secure bool, respond func(*http.Request, string) (body string, twice bool)) (base string, pool *x509.CertPool) {
	t.Helper()
	log.SetOutput(io.Discard) // net/http reports copies that it notices itself
	t.Cleanup(func() { log.SetOutput(os.Stderr) })
	wrap := func(conn net.Conn) net.Conn { return conn }
	if secure {
		server, client := clienttest.TLSConfigs(t)
		wrap = func(conn net.Conn) net.Conn { return tls.Server(conn, server) }
		pool = client.RootCAs
	}
	base = clienttest.ServeRaw(t, func(conn net.Conn) {
		conn = wrap(conn)
		clienttest.RawRequests(conn, func(r *http.Request, sent []byte) bool {
			body, twice := respond(r, string(sent))
			text := fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
			if twice {
				text += text
			}
			_, err := io.WriteString(conn, text)
			return err == nil
		})
	})
	if secure {
		base = "https" + strings.TrimPrefix(base, "http")
	}
	return base, pool
}

// connections are the kinds of connections that a client can have.
var connections = []struct {
	name   string
	limit  int // of connections to the host
	secure bool
}{{"default", 0, false}, {"one connection", 1, false}, {"four connections", 4, false}, {"TLS", 0, true}}

func clientOf(t *testing.T, base string, limit int, pool *x509.CertPool) *cardgateway.Client {
	t.Helper()
	transport := &http.Transport{MaxConnsPerHost: limit}
	if pool != nil {
		transport.TLSClientConfig = &tls.Config{RootCAs: pool}
	}
	c, err := cardgateway.New(cardgateway.Config{
		BaseURL: base, AppID: "1", HTTPClient: &http.Client{Transport: transport},
		Retry: cardgateway.RetryPolicy{MinWait: time.Nanosecond},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.CloseIdleConnections)
	return c
}

// times is how many times as long as usual the tests are to run.
func times() int {
	n, _ := strconv.Atoi(os.Getenv("CARDGATEWAY_TWICE"))
	return max(n, 1)
}

// inParallel calls do for each number below n, eight at a time.
func inParallel(n int, do func(i int)) {
	var next atomic.Int64
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				do(i)
			}
		})
	}
	all.Wait()
}

func tokenPaymentOf(id string) cardgateway.TokenPaymentRequest {
	return cardgateway.TokenPaymentRequest{
		TransactionID: id, Currency: "USD", Amount: decimal.RequireFromString("12.50"), TransactionIP: "203.0.113.7",
		CallbackURL: "https://shop.example/back", NotificationURL: "https://shop.example/notify",
		ProductInfos: []cardgateway.ProductInfo{{ProductName: "Candles"}},
	}
}

// TestPaymentsAnsweredTwice: every fourth payment is declined with code and message only, and that response is sent
// twice. No other payment may be reported as declined. A server that responds once causes no unknown outcome.
func TestPaymentsAnsweredTwice(t *testing.T) {
	n := 500 * times()
	for _, kind := range connections {
		t.Run(kind.name, func(t *testing.T) {
			for _, doubling := range []bool{true, false} {
				var executed sync.Map
				base, pool := doublingServer(t, kind.secure, func(_ *http.Request, sent string) (string, bool) {
					_, rest, _ := strings.Cut(sent, `"transactionId":"`)
					id, _, _ := strings.Cut(rest, `"`)
					if strings.HasSuffix(id, "0") {
						return `{"code":101,"message":"transaction failed"}`, doubling
					}
					times, _ := executed.LoadOrStore(id, new(atomic.Int64))
					times.(*atomic.Int64).Add(1)
					return fmt.Sprintf(`{"code":100,"uniqueId":"1","transactionId":%q,"transactionAmount":"12.50","transactionCurrency":"USD"}`, id), false
				})
				c := clientOf(t, base, kind.limit, pool)
				var wrong, unknown, notSent atomic.Int64
				inParallel(n, func(i int) {
					id := fmt.Sprintf("t-%d", i*10+i%4) // every fourth ends with 0
					tx, err := c.TokenPayment(context.Background(), cardgateway.NewToken("a-token"), tokenPaymentOf(id))
					done := int64(0)
					if times, ok := executed.Load(id); ok {
						done = times.(*atomic.Int64).Load()
					}
					declines := strings.HasSuffix(id, "0")
					switch {
					case errors.Is(err, cardgateway.ErrOutcomeUnknown):
						unknown.Add(1)
					case errors.Is(err, cardgateway.ErrNotSent):
						notSent.Add(1)
						if done != 0 {
							wrong.Add(1)
						}
					case err == nil && tx.Paid():
						if done != 1 || declines {
							wrong.Add(1)
						}
					case errors.Is(err, cardgateway.ErrDeclined):
						if !declines {
							wrong.Add(1)
						}
					default:
						t.Errorf("%s: payment %s: got %v", kind.name, id, err)
					}
					if done > 1 {
						t.Errorf("%s: payment %s was executed %d times", kind.name, id, done)
					}
				})
				t.Logf("%s, doubling %t: %d payments, %d wrong, %d unknown, %d not sent", kind.name, doubling, n, wrong.Load(), unknown.Load(), notSent.Load())
				if wrong.Load() != 0 || !doubling && unknown.Load()+notSent.Load() != 0 {
					t.Errorf("%s, doubling %t: %d wrong, %d unknown, %d not sent", kind.name, doubling, wrong.Load(), unknown.Load(), notSent.Load())
				}
			}
		})
	}
}

// TestResolvesAnsweredTwice: every fourth payment does not exist, and the empty page is sent twice. None of the others
// may be reported as not found.
func TestResolvesAnsweredTwice(t *testing.T) {
	n := 500 * times()
	for _, kind := range connections {
		t.Run(kind.name, func(t *testing.T) {
			base, pool := doublingServer(t, kind.secure, func(r *http.Request, _ string) (string, bool) {
				id := r.URL.Query().Get("transactionId")
				if strings.HasSuffix(id, "0") {
					return `{"code":121,"totalCount":0,"data":[]}`, true
				}
				return fmt.Sprintf(
					`{"code":121,"totalCount":1,"data":[{"code":100,"uniqueId":"1","transactionId":%q,"transactionAmount":"12.50","transactionCurrency":"USD"}]}`,
					id,
				), false
			})
			c := clientOf(t, base, kind.limit, pool)
			var wrong, unknown atomic.Int64
			inParallel(n, func(i int) {
				id := fmt.Sprintf("t-%d", i*10+i%4)
				tx, err := c.Resolve(context.Background(), cardgateway.ResolveQuery{
					TransactionID: id, Amount: decimal.RequireFromString("12.50"), Currency: "USD", SentAt: time.Now(), Wait: 1,
				})
				absent := strings.HasSuffix(id, "0")
				switch {
				case errors.Is(err, cardgateway.ErrOutcomeUnknown):
					unknown.Add(1)
				case errors.Is(err, cardgateway.ErrNotFound) != absent, err == nil && (absent || tx.TransactionID != id):
					wrong.Add(1)
				}
			})
			t.Logf("%s: %d resolves, %d wrong, %d unknown", kind.name, n, wrong.Load(), unknown.Load())
			if wrong.Load() != 0 {
				t.Errorf("%s: %d wrong", kind.name, wrong.Load())
			}
		})
	}
}

// TestWalksAnsweredTwice: each month has three rows, except an empty one whose page is sent twice. A walk without an
// error must have returned all rows.
func TestWalksAnsweredTwice(t *testing.T) {
	n := 10 * times()
	start := time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, kind := range connections {
		t.Run(kind.name, func(t *testing.T) {
			base, pool := doublingServer(t, kind.secure, func(r *http.Request, _ string) (string, bool) {
				from, to := r.URL.Query().Get("startDate"), r.URL.Query().Get("endingDate")
				var rows []string
				for month := range 12 {
					for day := 5; day <= 25 && month != 5; day += 10 {
						at := time.Date(2025, time.Month(month+1), day, 12, 0, 0, 0, time.UTC).Format(time.DateTime)
						if from <= at && at <= to {
							rows = append(rows, fmt.Sprintf(`{"code":100,"uniqueId":"%d","transactionId":"t","transactionAt":%q}`, month*100+day+1, at))
						}
					}
				}
				return fmt.Sprintf(`{"code":121,"pageSize":999,"totalCount":%d,"data":[%s]}`, len(rows), strings.Join(rows, ",")), len(rows) == 0
			})
			c := clientOf(t, base, kind.limit, pool)
			var wrong, failed atomic.Int64
			inParallel(n, func(int) {
				rows := 0
				for _, err := range c.Orders(context.Background(), cardgateway.OrderQuery{Start: start, End: start.AddDate(1, 0, 0)}) {
					if err != nil {
						failed.Add(1)
						return
					}
					rows++
				}
				if rows != 33 {
					wrong.Add(1)
				}
			})
			t.Logf("%s: %d walks, %d wrong, %d failed", kind.name, n, wrong.Load(), failed.Load())
			if wrong.Load() != 0 {
				t.Errorf("%s: %d walks lack rows", kind.name, wrong.Load())
			}
		})
	}
}
