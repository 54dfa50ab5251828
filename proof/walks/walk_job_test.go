package walks_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/internal/test/clienttest"
)

// What a nightly job needs from a walk: a checkpoint that contains its range, one log line, and errors that state the
// time.

// dayOrders has one order for each day of 2025, in the default zone.
func dayOrders(r *http.Request) (*http.Response, error) {
	from, to := r.URL.Query().Get("startDate"), r.URL.Query().Get("endingDate")
	var rows []string
	for day := time.Date(2025, 1, 1, 12, 0, 0, 0, time.UTC); day.Year() == 2025; day = day.AddDate(0, 0, 1) {
		if at := day.Format(time.DateTime); from <= at && at <= to {
			rows = append(rows, fmt.Sprintf(`{"code":100,"uniqueId":"%d","transactionId":"t","transactionAt":%q}`, day.YearDay(), at))
		}
	}
	return clienttest.Answering(200, clienttest.Page(rows...))(r)
}

func year2025() cardgateway.OrderQuery {
	start := time.Date(2025, 1, 1, 0, 0, 0, 0, cardgateway.DefaultLocation())
	return cardgateway.OrderQuery{Start: start, End: start.AddDate(1, 0, 0)}
}

// TestWalksAreObserved: a walk is one call, with its queries below it, and one line in the log.
func TestWalksAreObserved(t *testing.T) {
	type key struct{}
	broken := errors.New("broken")
	for _, tt := range []struct {
		name      string
		transport clienttest.RoundTrip
		take      int // orders, then the loop is left
		want      string
	}{
		{"to the end", dayOrders, 1000, "INFO OrderWalk ok transactionId=t-9"},
		{"left early", dayOrders, 1, "INFO OrderWalk canceled transactionId=t-9"},
		{"failed", func(*http.Request) (*http.Response, error) { return nil, broken }, 1, "INFO OrderWalk query_failed transactionId=t-9 error"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				time.Sleep(time.Until(time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)))
				var lines clienttest.LineLog
				var walks, queries, below int
				c := clienttest.NewClient(t, cardgateway.Config{
					BaseURL: clienttest.BaseURL, Logger: slog.New(&lines), HTTPClient: &http.Client{Transport: tt.transport},
					Observe: func(ctx context.Context, op cardgateway.Operation) (context.Context, func(cardgateway.CallInfo)) {
						if op.Method != "" {
							queries++
							if ctx.Value(key{}) == "walk" && op.TransactionID == "t-9" {
								below++
							}
							return nil, nil
						}
						walks++
						return context.WithValue(ctx, key{}, "walk"), nil
					},
				})
				q := year2025()
				q.TransactionID = "t-9"
				n := 0
				for range c.OrderWalk(q, cardgateway.WalkOptions{Prefetch: 1}).All(t.Context()) {
					if n++; n == tt.take {
						break
					}
				}
				if diff := cmp.Diff(tt.want, strings.Join(lines, "\n")); diff != "" {
					t.Errorf("log (-want +got):\n%s", diff)
				}
				if walks != 1 || queries == 0 || below != queries {
					t.Errorf("observed %d walks and %d queries, %d of them below a walk", walks, queries, below)
				}
			})
		})
	}
}

// panickingLimiter panics when it is asked.
type panickingLimiter struct{}

func (panickingLimiter) Wait(context.Context) error { panic("a fault of the limiter") }

// TestWalkPanics: a panic in a hook reaches the goroutine of the loop, which can recover from it, although a walk reads ahead in others.
func TestWalkPanics(t *testing.T) {
	c := clienttest.NewClient(t, cardgateway.Config{BaseURL: clienttest.BaseURL, Limiter: panickingLimiter{}})
	defer func() {
		if got := recover(); got != "a fault of the limiter" {
			t.Errorf("recovered from %v", got)
		}
	}()
	for range c.Orders(t.Context(), cardgateway.OrderQuery{Start: time.Now().AddDate(0, -3, 0), End: time.Now()}) {
		t.Error("got a row")
	}
}

// TestWalkGoexit: and runtime.Goexit, with which t.Fatal ends a test, ends the goroutine of the loop.
func TestWalkGoexit(t *testing.T) {
	c := clienttest.NewClient(t, cardgateway.Config{
		BaseURL: clienttest.BaseURL, HTTPClient: &http.Client{Transport: clienttest.RoundTrip(func(*http.Request) (*http.Response, error) {
			runtime.Goexit()
			return nil, nil
		})},
	})
	ended, returned := make(chan bool), false
	go func() {
		defer close(ended)
		for range c.Orders(t.Context(), cardgateway.OrderQuery{Start: time.Now().AddDate(0, -3, 0), End: time.Now()}) {
			t.Error("got a row")
		}
		returned = true
	}()
	<-ended
	if returned {
		t.Error("the loop has ended as if the walk was complete")
	}
}

// TestWalkEndsInFarFuture: a Checkpoint must be able to hold the end.
func TestWalkEndsInFarFuture(t *testing.T) {
	c := clienttest.NewClient(t, cardgateway.Config{BaseURL: clienttest.BaseURL, HTTPClient: &http.Client{Transport: clienttest.Answering(200, clienttest.Page())}})
	last := time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC)
	for _, end := range []time.Time{last, last.In(time.FixedZone("", 14*3600)), last.Add(1), last.AddDate(0, 0, 1), time.Unix(1<<60, 0)} {
		w := c.OrderWalk(cardgateway.OrderQuery{Start: time.Now().Add(-time.Hour), End: end}, cardgateway.WalkOptions{})
		var failed error
		for _, err := range w.All(t.Context()) {
			failed = err
		}
		if tooLate := end.After(last); tooLate != errors.Is(failed, cardgateway.ErrInvalidRequest) {
			t.Errorf("until %v: got %v, want it to be refused %t", end, failed, tooLate)
		}
		if _, err := json.Marshal(w.Checkpoint()); failed == nil && err != nil {
			t.Errorf("until %v: the checkpoint cannot be saved: %v", end, err)
		}
	}
}
