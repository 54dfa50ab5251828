package sandbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"
)

// seen describes what a client sees of an exchange.
func seen(resp *http.Response, err error) string {
	if err != nil {
		return "error"
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	switch {
	case err != nil:
		return "cut"
	case len(text) == 0:
		return http.StatusText(resp.StatusCode) + " empty"
	case strings.HasPrefix(string(text), `{`) && strings.HasSuffix(string(text), `}`):
		return http.StatusText(resp.StatusCode) + " JSON"
	}
	return http.StatusText(resp.StatusCode) + " other"
}

// faultReplies says what each Reply looks like to a client.
func faultReplies() map[Reply]string {
	return map[Reply]string{
		ReplyClose: "error", ReplyReset: "error", ReplyCutHeader: "error", ReplyCutBody: "cut",
		ReplyTruncated: " other", ReplyEmpty: " empty", ReplyHTML: " other", ReplyGarbage: " other",
		ReplyForeign: " JSON", ReplyNoCode: " JSON", ReplyRedirect: " JSON", ReplyAsIs: " JSON",
	}
}

// TestFaults runs every fault in memory and over a socket: what the client sees, and whether money moved.
func TestFaults(t *testing.T) {
	const wait = 20 * time.Millisecond
	server := start(t, Options{NoNotifications: true})
	over := map[string]http.RoundTripper{
		"memory": server.RoundTripper(), "socket": &http.Transport{DisableKeepAlives: true},
	}
	for name, transport := range over {
		for _, f := range Faults(wait) {
			t.Run(name+"/"+f.Name, func(t *testing.T) {
				id := t.Name()
				f.TransactionID = id
				server.Inject(f.Fault)
				r, err := http.NewRequest("POST", server.URL+"/api/subscription", strings.NewReader(encode(t, body(id, nil))))
				if err != nil {
					t.Fatal(err)
				}
				got := seen(transport.RoundTrip(r))
				if want := faultReplies()[f.Reply]; !strings.HasSuffix(got, want) {
					t.Errorf("the client sees %q, want %q", got, want)
				}
				want := 1
				if f.Commit == CommitNever {
					want = 0
				}
				if f.Commit == CommitLate {
					if n := server.Executed(id); n != 0 {
						t.Errorf("Executed = %d before its time", n)
					}
					for end := time.Now().Add(30 * time.Second); server.Executed(id) == 0 && time.Now().Before(end); {
						time.Sleep(wait / 4)
					}
				}
				if got := server.Executed(id); got != want {
					t.Errorf("Executed = %d, want %d", got, want)
				}
			})
		}
	}
}

// TestFaultOfNothing: an unknown operation panics; a known one is named by its constant or, equally, by the client's
// method.
func TestFaultOfNothing(t *testing.T) {
	for _, op := range []Operation{"", OpPayments, OpSearches, OpTokenPayment, OpCreateRefund, "CreateCheckout", "checkout", opPage} {
		panics := func() (yes bool) {
			defer func() { yes = recover() != nil }()
			New(Options{}).Inject(Fault{Operation: op})
			return false
		}()
		if want := op == "checkout" || op == opPage; panics != want {
			t.Errorf("%q: panics is %t, want %t", op, panics, want)
		}
	}
}

func TestFaultSelection(t *testing.T) {
	pay := func(g *Gateway, id string) string {
		return seen(exchange(g, "POST", "/api/subscription", body(id, nil)))
	}
	query := func(g *Gateway) string { return seen(exchange(g, "GET", "/search/order/1", nil)) }
	tests := []struct {
		name  string
		fault Fault
		calls func(g *Gateway) []string
		want  string
	}{
		{"once", Fault{Reply: ReplyClose}, func(g *Gateway) []string { return []string{query(g), query(g)} }, "error,OK JSON"},
		{"three times after one", Fault{Reply: ReplyClose, Skip: 1, Times: 2}, func(g *Gateway) []string {
			return []string{query(g), query(g), query(g), query(g)}
		}, "OK JSON,error,error,OK JSON"},
		{"payments only", Fault{Reply: ReplyClose, Operation: OpPayments, Times: -1}, func(g *Gateway) []string {
			return []string{query(g), pay(g, "a"), pay(g, "b")}
		}, "OK JSON,error,error"},
		{"searches only", Fault{Reply: ReplyClose, Operation: OpSearches, Times: -1}, func(g *Gateway) []string {
			return []string{query(g), pay(g, "a")}
		}, "error,OK JSON"},
		{"one transaction", Fault{Reply: ReplyClose, TransactionID: "b"}, func(g *Gateway) []string {
			return []string{pay(g, "a"), pay(g, "b")}
		}, "OK JSON,error"},
		{"cleared", Fault{Reply: ReplyClose, Times: -1}, func(g *Gateway) []string {
			g.ClearFaults()
			return []string{query(g)}
		}, "OK JSON"},
		{"for a minute", Fault{Reply: ReplyClose, Times: -1, For: time.Minute}, func(g *Gateway) []string {
			first := query(g)
			time.Sleep(time.Minute)
			return []string{first, query(g)}
		}, "error,OK JSON"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := New(Options{})
				g.Inject(tt.fault)
				if got := strings.Join(tt.calls(g), ","); got != tt.want {
					t.Errorf("the calls see %s, want %s", got, tt.want)
				}
			})
		})
	}
}

// TestOneIn: a fault with OneIn hits about its share of the requests, and the same ones for the same seed.
func TestOneIn(t *testing.T) {
	draw := func(seed uint64) string {
		g := New(Options{Seed: seed})
		g.Inject(Fault{Reply: ReplyClose, Times: -1, OneIn: 4})
		var b strings.Builder
		for range 200 {
			if seen(exchange(g, "GET", "/search/order/1", nil)) == "error" {
				b.WriteByte('x')
			} else {
				b.WriteByte('.')
			}
		}
		return b.String()
	}
	first := draw(1)
	if n := strings.Count(first, "x"); n < 30 || n > 70 {
		t.Errorf("%d of 200 requests were hit, want about 50", n)
	}
	if first != draw(1) || first == draw(2) {
		t.Error("the seed does not decide which requests are hit")
	}
}

// TestCallerGivesUp: the gateway carries out a request that has arrived, even if nobody waits for the response.
func TestCallerGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := New(Options{})
		g.Inject(Fault{Before: 10 * time.Second})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		r, err := http.NewRequestWithContext(ctx, "POST", "https://gateway.test/api/subscription",
			strings.NewReader(encode(t, body("t", nil))))
		if err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		resp, err := g.RoundTripper().RoundTrip(r)
		if err == nil {
			resp.Body.Close()
		}
		if !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != time.Second {
			t.Errorf("after %v: %v, want a deadline after 1s", time.Since(start), err)
		}
		time.Sleep(20 * time.Second)
		if got := g.Executed("t"); got != 1 {
			t.Errorf("Executed = %d, want 1", got)
		}
	})
}

// TestTransportBody: the transport reads and closes the body, and a request with an incomplete body is not carried out.
func TestTransportBody(t *testing.T) {
	tests := []struct {
		name    string
		read    io.Reader
		length  int64
		ctx     bool // ended
		charged int
	}{
		{"whole", strings.NewReader(encode(t, body("t", nil))), -1, false, 1},
		{"breaks off", io.MultiReader(strings.NewReader(`{"a`), iotest.ErrReader(errors.New("broken"))), -1, false, 0},
		{"shorter than it says", strings.NewReader(encode(t, body("t", nil))), 1 << 20, false, 0},
		{"too late", strings.NewReader(encode(t, body("t", nil))), -1, true, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			g := New(Options{})
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if tt.ctx {
				cancel()
			}
			b := &closeRecorder{Reader: tt.read}
			r, err := http.NewRequestWithContext(ctx, "POST", "https://gateway.test/api/subscription", b)
			if err != nil {
				t.Fatal(err)
			}
			r.ContentLength = tt.length
			resp, err := g.RoundTripper().RoundTrip(r)
			if err == nil {
				resp.Body.Close()
			}
			if (err == nil) != (tt.charged == 1) || g.Executed("t") != tt.charged || !b.closed {
				t.Errorf("error %v, charged %d times, body closed %v", err, g.Executed("t"), b.closed)
			}
		})
	}
}

type closeRecorder struct {
	io.Reader
	closed bool
}

func (c *closeRecorder) Close() error {
	c.closed = true
	return nil
}

// TestLoggedCodes: the log has the code and the message of every response that has them, whatever a fault makes of it, and
// none of another one.
func TestLoggedCodes(t *testing.T) {
	g := New(Options{NoNotifications: true})
	for reply := ReplyAsIs; reply <= ReplyRedirect; reply++ {
		for _, op := range []Operation{OpCreateSubscription, OpCreateRefund, OpSearchOrders} {
			t.Run(fmt.Sprint(reply, " ", op), func(t *testing.T) {
				g.Inject(Fault{Reply: reply})
				switch op {
				case OpCreateSubscription:
					_ = seen(exchange(g, "POST", "/api/subscription", body(t.Name(), nil)))
				case OpCreateRefund:
					_ = seen(exchange(g, "POST", "/api/refund", refundBody("1", t.Name(), "1.00")))
				default:
					_ = seen(exchange(g, "GET", "/search/list/order"+thisMonth(), nil))
				}
				row := must(t, g, "GET", "requests?limit=1", nil)["data"].([]any)[0].(map[string]any)
				text, _ := row["response"].(string)
				want := regexp.MustCompile(`^\{"code":(\d+),"message":"([^"]*)`).FindStringSubmatch(text)
				if want == nil {
					want = make([]string, 3)
				}
				code, _ := row["code"].(json.Number)
				message, _ := row["message"].(string)
				if string(code) != want[1] || message != want[2] && !(reply == ReplyTruncated && strings.HasPrefix(message, want[2])) {
					t.Errorf("got %q %q, want %q of %.80s", code, message, want[1:], text)
				}
			})
		}
	}
}

// TestResetBeforeLateCommit: a late commit that is due when Reset is called is made before it or not at all.
func TestResetBeforeLateCommit(t *testing.T) {
	g := New(Options{NoNotifications: true})
	defer g.Close()
	g.Inject(Fault{Commit: CommitLate, Late: 20 * time.Millisecond})
	send(t, g, "POST", "/api/subscription", body("late", nil))
	g.mu.Lock()
	time.Sleep(40 * time.Millisecond)
	var reset sync.WaitGroup
	reset.Go(g.Reset)
	time.Sleep(20 * time.Millisecond)
	g.mu.Unlock()
	g.mu.Lock() // before the one that waits: from now on the mutex serves them strictly in turn
	time.Sleep(20 * time.Millisecond)
	g.mu.Unlock()
	reset.Wait()
	g.running.Wait()
	if n := g.Executed("late"); n != 0 {
		t.Errorf("charged %d times after Reset", n)
	}
}
