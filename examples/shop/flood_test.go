package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cardgateway/cardgateway-go/examples/shop/payments"
	"github.com/cardgateway/cardgateway-go/sandbox"
)

// floodSize is the number of notifications: a thousand, or the value of CARDGATEWAY_FLOOD.
func floodSize(t *testing.T) int {
	if n, err := strconv.Atoi(os.Getenv("CARDGATEWAY_FLOOD")); err == nil && n > 0 {
		return n
	}
	return 1000
}

// queryCounter counts the shop's queries to the gateway.
type queryCounter struct {
	http.RoundTripper
	n atomic.Int64
}

func (c *queryCounter) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method == http.MethodGet {
		c.n.Add(1)
	}
	return c.RoundTripper.RoundTrip(r)
}

// TestFlood sends forged, repeated and malformed notifications to a running shop: with a check of the signature, and
// without, when every forgery that names a transaction must be queried.
func TestFlood(t *testing.T) {
	for _, checked := range []bool{true, false} {
		t.Run(map[bool]string{true: "signature checked", false: "signature not checked"}[checked], func(t *testing.T) {
			flood(t, checked)
		})
	}
}

func flood(t *testing.T, checked bool) {
	queries := &queryCounter{RoundTripper: &http.Transport{}}
	w := open(t, withoutRun, func(s *setup) {
		s.httpClient = &http.Client{Transport: queries}
		s.log = slog.New(slog.DiscardHandler) // a stored log would count as memory
		if !checked {
			s.prepare = func(shop *Shop) { shop.secretKey = "" }
		}
	})
	bodies := forgeries(t, w)
	before := books(t, w)
	asked, memory := queries.n.Load(), heap()
	begun := time.Now()
	statuses := send(t, w.url+payments.NotificationPath, bodies, floodSize(t))
	took := time.Since(begun)
	asked = queries.n.Load() - asked
	grown := heap() - memory

	if after := books(t, w); after != before {
		t.Errorf("orders changed from\n%s\nto\n%s", before, after)
	}
	allowed := 10 * (int64(took.Seconds()) + 2) // ten in any second
	if asked > allowed {
		t.Errorf("%d queries in %v, allowed are %d", asked, took, allowed)
	}
	if grown > 8<<20 {
		t.Errorf("memory has grown by %d bytes", grown)
	}
	t.Logf("%d notifications in %v (%.0f a second): %d queries, %+d KiB; statuses %v",
		floodSize(t), took.Round(time.Millisecond), float64(floodSize(t))/took.Seconds(), asked, grown>>10, statuses)
	queries.RoundTripper.(*http.Transport).CloseIdleConnections()
}

// forgeries creates orders in every state, and forged notifications about them: that they are paid, that others are, that a
// card has another token; copies of genuine notifications; and malformed ones.
func forgeries(t *testing.T, w *world) (bodies []string) {
	t.Helper()
	s := newShopper(t, w)
	add := func(fields map[string]any) {
		r, err := sandbox.NotificationRequest(w.url, "", fields)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Fatal(err)
		}
		bodies = append(bodies, string(body))
	}
	for i := range 8 {
		id := s.buy("tealights", "")
		if i%4 != 0 {
			s.enter(s.hostedPage(), []sandbox.Outcome{sandbox.Approved, sandbox.Declined, sandbox.Pending}[i%3])
		}
		time.Sleep(120 * time.Millisecond) // the gateway's own notifications take their share of the queries
		s.get("/orders/" + id)
		o, err := w.payments.Order(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		for _, code := range []int{100, 101} {
			add(map[string]any{"code": code, "transactionType": "Sale", "uniqueId": o.UniqueID, "transactionId": id,
				"transactionAmount": o.Amount.String(), "transactionCurrency": currency})
			add(map[string]any{"code": code, "transactionType": "Sale", "transactionId": id})
		}
	}
	s.get("/cards").post("/cards", values("id", s.hidden("id")))
	card := strings.Split(s.path, "/")[2]
	add(map[string]any{"code": 100, "transactionType": "Tokenization", "transactionId": card, "token": "stolen-" + card})
	bodies = append(bodies, `{"code":`, `[]`, `{"uniqueId":"`+strings.Repeat("1", 60<<10)+`"}`)
	return bodies
}

// send posts the bodies in turn, every tenth about an unknown transaction, and counts the responses.
func send(t *testing.T, to string, bodies []string, n int) map[int]int {
	t.Helper()
	transport := &http.Transport{MaxIdleConnsPerHost: 8}
	defer transport.CloseIdleConnections()
	var mu sync.Mutex
	statuses := make(map[int]int)
	var next atomic.Int64
	var senders sync.WaitGroup
	for range 8 {
		senders.Go(func() {
			for i := next.Add(1); i <= int64(n); i = next.Add(1) {
				body := bodies[i%int64(len(bodies))]
				if i%10 == 0 {
					body = fmt.Sprintf(`{"code":100,"transactionType":"Sale","uniqueId":"9%09d"}`, i)
				}
				r, err := http.NewRequestWithContext(context.Background(), http.MethodPost, to, bytes.NewReader([]byte(body)))
				if err != nil {
					t.Error(err)
					return
				}
				r.Header.Set("Content-Type", "application/json")
				resp, err := transport.RoundTrip(r)
				if err != nil {
					t.Error(err)
					return
				}
				_, _ = io.Copy(io.Discard, resp.Body)
				_ = resp.Body.Close()
				mu.Lock()
				statuses[resp.StatusCode]++
				mu.Unlock()
			}
		})
	}
	senders.Wait()
	return statuses
}

// books returns every order and card as text.
func books(t *testing.T, w *world) string {
	t.Helper()
	var all strings.Builder
	for _, query := range []string{
		`SELECT id, state, unique_id, reason || digits || redirect_url FROM attempts ORDER BY id`,
		`SELECT id, state, token, digits FROM cards ORDER BY id`,
	} {
		rows, err := w.db.QueryContext(t.Context(), query)
		if err != nil {
			t.Fatal(err)
		}
		for rows.Next() {
			var fields [4]string
			if err := rows.Scan(&fields[0], &fields[1], &fields[2], &fields[3]); err != nil {
				t.Fatal(err)
			}
			fmt.Fprintln(&all, fields)
		}
		if err := rows.Err(); err != nil {
			t.Fatal(err)
		}
	}
	return all.String()
}

func heap() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
