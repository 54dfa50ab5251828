package wire_test

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
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

// A server or a proxy can send a response twice. The copy waits in the connection when the next request reuses it, or arrives
// when that one has been written, and could be taken for the response to that request: a decline of a payment that was executed,
// or an empty page instead of a month's rows.
//
// The tests run in a short form. CARDGATEWAY_TWICE=50 runs them fifty times as long: 125,000 payments over TLS that are answered
// twice, and 75,000 without TLS, as many that are answered once, and 200,000 resolves.

// answer is what the server responds to one request.
type answer struct {
	status int // zero means 200
	body   string
	copies copies
}

// copies says how a response is sent twice.
type copies int

const (
	none       copies = iota
	together          // in one write
	twoRecords        // two TLS records in one segment
	apart             // two segments
	later             // two segments, with a pause between them
	inPieces          // the copy begins in the segment of the response, and ends in another after a pause
)

// corked is a connection that can hold back what is written to it.
type corked struct {
	net.Conn
	holds bool
	held  bytes.Buffer
}

func (c *corked) Write(p []byte) (int, error) {
	if c.holds {
		return c.held.Write(p)
	}
	return c.Conn.Write(p)
}

// flush sends what was held back, except for the last rest bytes.
func (c *corked) flush(rest int) error {
	_, err := c.Conn.Write(c.held.Next(c.held.Len() - rest))
	return err
}

// send writes the response to conn, which is below or TLS on top of it.
func (a answer) send(conn io.Writer, below *corked) error {
	text := fmt.Sprintf("HTTP/1.1 %d Text\r\nContent-Length: %d\r\n\r\n%s", cmp.Or(a.status, 200), len(a.body), a.body)
	write := func() { _, _ = io.WriteString(conn, text) } // fails when it is flushed
	pause := time.Duration(rand.IntN(4)) * 300 * time.Microsecond
	below.holds = true
	defer func() { below.holds = false }()
	switch a.copies {
	case none:
		write()
	case together:
		text += text
		write()
	case twoRecords:
		write()
		write()
	case apart, later:
		write()
		if err := below.flush(0); err != nil {
			return err
		}
		if a.copies == later {
			time.Sleep(pause)
		}
		write()
	case inPieces:
		write()
		write()
		if err := below.flush(10); err != nil {
			return err
		}
		time.Sleep(pause)
	}
	return below.flush(0)
}

// twiceServer sends the answers that respond returns, and counts its connections.
type twiceServer struct {
	base  string
	pool  *x509.CertPool // nil without TLS
	conns atomic.Int64
}

func newTwiceServer(t *testing.T, secure bool, respond func(r *http.Request, sent string) answer) *twiceServer {
	t.Helper()
	log.SetOutput(io.Discard) // net/http reports copies that it notices itself
	t.Cleanup(func() { log.SetOutput(os.Stderr) })
	s := new(twiceServer)
	wrap := func(conn net.Conn) net.Conn { return conn }
	if secure {
		server, client := clienttest.TLSConfigs(t)
		wrap = func(conn net.Conn) net.Conn { return tls.Server(conn, server) }
		s.pool = client.RootCAs
	}
	s.base = clienttest.ServeRaw(t, func(raw net.Conn) {
		s.conns.Add(1)
		below := &corked{Conn: raw}
		conn := wrap(below)
		clienttest.RawRequests(conn, func(r *http.Request, sent []byte) bool {
			return respond(r, string(sent)).send(conn, below) == nil
		})
	})
	if secure {
		s.base = "https" + strings.TrimPrefix(s.base, "http")
	}
	return s
}

// connectionKind is a kind of connections.
type connectionKind struct {
	name   string
	secure bool
	limit  int  // of connections to the host
	dials  bool // the caller's transport makes TCP connections itself
	ownTLS bool // and TLS connections
	proxy  bool // which tunnels them
}

// connections are the kinds of connections that a client can have.
var connections = []connectionKind{
	{name: "default"}, {name: "one connection", limit: 1}, {name: "four connections", limit: 4},
	{name: "TLS", secure: true}, {name: "TLS, one connection", secure: true, limit: 1},
	{name: "TLS over the caller's connections", secure: true, limit: 4, dials: true},
	{name: "the caller's TLS", secure: true, limit: 4, ownTLS: true}, {name: "TLS through a proxy", secure: true, limit: 4, proxy: true},
}

func (s *twiceServer) client(t *testing.T, kind connectionKind) *cardgateway.Client {
	t.Helper()
	transport := &http.Transport{MaxConnsPerHost: kind.limit, TLSClientConfig: &tls.Config{RootCAs: s.pool}}
	if kind.dials {
		transport.DialContext = func(ctx context.Context, network, addr string) (net.Conn, error) {
			conn, err := new(net.Dialer).DialContext(ctx, network, addr)
			return struct{ net.Conn }{conn}, err
		}
	}
	if kind.ownTLS {
		transport.DialTLSContext = (&tls.Dialer{Config: transport.TLSClientConfig}).DialContext
	}
	if kind.proxy {
		transport.Proxy = http.ProxyURL(tunnelProxy(t, strings.TrimPrefix(s.base, "https://")))
	}
	return clienttest.NewClient(t, cardgateway.Config{
		BaseURL: s.base, HTTPClient: &http.Client{Transport: transport},
		PaymentIdleTimeout: time.Minute, // no connection ends because the machine is slow
	})
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

// The kinds of answers to payments.
var answers = []struct {
	name     string
	status   int
	body     string // ID is replaced
	executed bool
	told     string // what the call returns; nothing for an unknown outcome
	names    bool   // it names the payment
}{
	{name: "403 without a body", status: 403, told: "refused"},
	{name: "429 with a page", status: 429, body: "<html>slow down</html>", told: "refused"},
	{name: "bare decline", body: `{"code":101,"message":"transaction failed"}`, told: "declined"},
	{name: "bare refusal", body: `{"code":401}`, told: "refused"},
	{name: "decline", body: `{"code":101,"transactionId":"ID","uniqueId":"1"}`, told: "declined", names: true},
	{name: "refusal", status: 400, body: `{"code":400,"transactionId":"ID"}`, told: "refused", names: true},
	{name: "empty", executed: true},
	{name: "another's approval", executed: true, body: `{"code":100,"uniqueId":"1","transactionId":"another"}`},
	{name: "approval", executed: true, body: `{"code":100,"uniqueId":"1","transactionId":"ID"}`, told: "paid", names: true},
}

// TestPaymentsAnsweredTwice: a server gives every answer, and twice in every way. A call returns what was said about this
// payment, or that its outcome is unknown, or that it was not sent. A server that answers once causes neither of these.
func TestPaymentsAnsweredTwice(t *testing.T) {
	n := 500 * times()
	for _, kind := range connections {
		t.Run(kind.name, func(t *testing.T) {
			for _, twice := range []bool{true, false} {
				var executed sync.Map
				server := newTwiceServer(t, kind.secure, func(_ *http.Request, sent string) answer {
					id := clienttest.TransactionIDIn([]byte(sent))
					var number, which, how int
					_, _ = fmt.Sscanf(id, "t-%d-%d-%d", &number, &which, &how)
					a := answers[which]
					if a.executed {
						times, _ := executed.LoadOrStore(id, new(atomic.Int64))
						times.(*atomic.Int64).Add(1)
					}
					return answer{a.status, strings.ReplaceAll(a.body, "ID", id), copies(how)}
				})
				c := server.client(t, kind)
				counts := make(map[string]int)
				var mu sync.Mutex
				inParallel(n, func(i int) {
					which, how := rand.IntN(len(answers)), none
					if twice {
						how = copies(rand.IntN(int(inPieces) + 1))
					}
					id, a := fmt.Sprintf("t-%d-%d-%d", i, which, how), answers[which]
					told := clienttest.Outcome(clienttest.PayByToken(context.Background(), c, id))
					done := int64(0)
					if times, ok := executed.Load(id); ok {
						done = times.(*atomic.Int64).Load()
					}
					right := told == a.told || told == "unknown" && (twice || a.told == "") || told == "not sent" && twice && done == 0
					if !right || done > 1 {
						t.Errorf("%s, twice %t: payment %s with %s: got %s, executed %d times", kind.name, twice, id, a.name, told, done)
					}
					mu.Lock()
					defer mu.Unlock()
					counts[told]++
				})
				t.Logf("%s, twice %t: %d payments, %d connections, %v", kind.name, twice, n, server.conns.Load(), counts)
			}
		})
	}
}

// TestConnectionsByAnswer counts new connections: an answer that names its payment needs none, any other answer needs one.
func TestConnectionsByAnswer(t *testing.T) {
	const callers = 8 // as many as inParallel has
	n := 100 * times()
	for _, a := range answers {
		t.Run(a.name, func(t *testing.T) {
			server := newTwiceServer(t, true, func(_ *http.Request, sent string) answer {
				return answer{a.status, strings.ReplaceAll(a.body, "ID", clienttest.TransactionIDIn([]byte(sent))), none}
			})
			c := server.client(t, connectionKind{limit: callers})
			inParallel(n, func(i int) {
				told := clienttest.Outcome(clienttest.PayByToken(context.Background(), c, fmt.Sprintf("t-%d", i)))
				if want := cmp.Or(a.told, "unknown"); told != want {
					t.Errorf("got %s, want %s", told, want)
				}
			})
			got := int(server.conns.Load())
			t.Logf("%s: %d connections for %d payments by %d callers", a.name, got, n, callers)
			if a.names && got > callers || !a.names && (got < n || got > n+callers) {
				t.Errorf("%s: got %d connections for %d payments by %d callers", a.name, got, n, callers)
			}
		})
	}
}

// TestConnectionsOfRefunds counts new connections: a refund is named by its own id, and not by that of its payment.
func TestConnectionsOfRefunds(t *testing.T) {
	for _, tt := range []struct {
		name, body  string
		connections int64
	}{
		{"accepted", `{"code":110,"uniqueId":"1","merchantRefundId":"ID"}`, 1},
		{"declined", `{"code":112,"merchantRefundId":"ID"}`, 1},
		{"bare decline", `{"code":112,"uniqueId":"1"}`, 5},
		{"another's", `{"code":110,"uniqueId":"1","merchantRefundId":"another"}`, 5},
		{"not JSON", `ID`, 5},
	} {
		t.Run(tt.name, func(t *testing.T) {
			server := newTwiceServer(t, true, func(_ *http.Request, sent string) answer {
				_, rest, _ := strings.Cut(sent, `"refundTransactionId":"`)
				id, _, _ := strings.Cut(rest, `"`)
				return answer{body: strings.ReplaceAll(tt.body, "ID", id)}
			})
			c := server.client(t, connectionKind{limit: 1})
			for i := range 5 {
				_, _ = c.CreateRefund(t.Context(), cardgateway.RefundRequest{
					UniqueID: "1", RefundTransactionID: fmt.Sprintf("r-%d", i), Amount: clienttest.Amount,
				})
			}
			if got := server.conns.Load(); got != tt.connections {
				t.Errorf("%s: got %d connections for 5 refunds, want %d", tt.name, got, tt.connections)
			}
		})
	}
}

// TestSameIDAgain: a payment that was not accepted may be sent again with its id. The copy of the first answer states that id, too,
// and arrives when the second request has been written, so that one needs another connection. After an accepted one it does not.
func TestSameIDAgain(t *testing.T) {
	approval := clienttest.ResponseFor("t-1", 100, "")
	for _, tt := range []struct {
		name, first string
		status      int
		connections int64
	}{
		{"declined", `{"code":101,"transactionId":"t-1"}`, 200, 2},
		{"refused", `{"code":401,"transactionId":"t-1"}`, 200, 2},
		{"refused by status", `{"code":401,"transactionId":"t-1"}`, 401, 2},
		{"unclear", `{"code":999,"transactionId":"t-1"}`, 200, 2},
		{"approved", approval, 200, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var calls atomic.Int64
			var server *twiceServer
			server = newTwiceServer(t, true, func(*http.Request, string) answer {
				if calls.Add(1) == 1 || server.conns.Load() == 1 {
					return answer{tt.status, tt.first, none}
				}
				return answer{body: approval}
			})
			c := server.client(t, connectionKind{limit: 1})
			_, _ = clienttest.PayByToken(t.Context(), c, "t-1")
			if told := clienttest.Outcome(clienttest.PayByToken(t.Context(), c, "t-1")); told != "paid" || server.conns.Load() != tt.connections {
				t.Errorf("%s: got %s over %d connections, want paid over %d", tt.name, told, server.conns.Load(), tt.connections)
			}
		})
	}
}

// copiesOfQueries returns a way in which an answer to a query is sent twice. Nothing distinguishes a copy that arrives when the next
// query has been written from the answer to that one.
func copiesOfQueries() copies { return []copies{together, twoRecords, inPieces}[rand.IntN(3)] }

// TestResolvesAnsweredTwice: every fourth payment does not exist, and the empty page is sent twice. None of the others
// may be reported as not found.
func TestResolvesAnsweredTwice(t *testing.T) {
	n := 500 * times()
	for _, kind := range connections {
		t.Run(kind.name, func(t *testing.T) {
			server := newTwiceServer(t, kind.secure, func(r *http.Request, _ string) answer {
				id := r.URL.Query().Get("transactionId")
				if strings.HasSuffix(id, "0") {
					return answer{0, `{"code":121,"totalCount":0,"data":[]}`, copiesOfQueries()}
				}
				return answer{body: fmt.Sprintf(
					`{"code":121,"totalCount":1,"data":[{"code":100,"uniqueId":"1","transactionId":%q,"transactionAmount":"12.50","transactionCurrency":"USD"}]}`,
					id,
				)}
			})
			c := server.client(t, kind)
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
