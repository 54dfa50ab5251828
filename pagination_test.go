package cardgateway_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/internal/test/clienttest"
	"github.com/cardgateway/cardgateway-go/internal/transport"
	"github.com/cardgateway/cardgateway-go/internal/walk"
	"github.com/cardgateway/cardgateway-go/sandbox"
)

// Every order of a quarter, however many there are.
func ExampleClient_Orders() {
	client, gateway := clienttest.Seeded()
	defer gateway.Close()

	paid := 0
	for order, err := range client.Orders(context.Background(), cardgateway.OrderQuery{
		Start: time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC),
		End:   time.Date(2024, 4, 1, 0, 0, 0, 0, time.UTC),
	}) {
		if err != nil {
			fmt.Println("not complete:", err) // what came before it is good
			return
		}
		if client.Paid(order) {
			paid++
		}
	}
	fmt.Println(paid, "paid orders")
	// Output: 4550 paid orders
}

// A reconciliation job that is stopped and resumed. Rows after the checkpoint are returned again, so rows are stored
// under their id.
func ExampleClient_OrderWalk() {
	client, gateway := clienttest.Seeded()
	defer gateway.Close()
	query := cardgateway.OrderQuery{
		Start: time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC),
		End:   time.Date(2024, 4, 1, 0, 0, 0, 0, time.UTC),
	}
	stored := map[string]*cardgateway.Transaction{}
	var saved []byte // a file, or a column beside the rows

	walk := client.OrderWalk(query, cardgateway.WalkOptions{PageSize: 500})
	for order, err := range walk.All(context.Background()) {
		if err != nil {
			fmt.Println(err)
			return
		}
		stored[order.UniqueID] = order
		saved, _ = json.Marshal(walk.Checkpoint())
		if len(stored) == 2000 {
			break // the job is stopped
		}
	}

	var last cardgateway.Progress // for a progress bar
	options := cardgateway.WalkOptions{PageSize: 500, Progress: func(p cardgateway.Progress) { last = p }}
	if err := json.Unmarshal(saved, &options.Resume); err != nil {
		fmt.Println(err)
		return
	}
	walk = client.OrderWalk(query, options)
	for order, err := range walk.All(context.Background()) {
		if err != nil {
			fmt.Println(err)
			return
		}
		stored[order.UniqueID] = order
	}
	fmt.Printf("%d orders, %.0f %%, complete up to %s\n",
		len(stored), 100*last.Fraction, last.CompleteUpTo.UTC().Format(time.DateOnly))
	// Output: 5000 orders, 100 %, complete up to 2024-04-01
}

// A job that copies orders into a database. The rows of a batch and its checkpoint are stored in one transaction.
func ExampleWalk_Batches() {
	client, gateway := clienttest.Seeded()
	defer gateway.Close()
	query := cardgateway.OrderQuery{
		Start: time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC),
		End:   time.Date(2024, 4, 1, 0, 0, 0, 0, time.UTC),
	}
	stored := map[string]cardgateway.Code{} // a table
	var checkpoint cardgateway.Checkpoint   // a column of another one
	store := func(rows []*cardgateway.Transaction, at cardgateway.Checkpoint) error {
		for _, order := range rows {
			stored[order.UniqueID] = order.Code
		}
		checkpoint = at
		return nil
	}
	run := func(batches int) error {
		walk := client.OrderWalk(query, cardgateway.WalkOptions{PageSize: 500, Resume: checkpoint})
		for batch, err := range walk.Batches(context.Background(), 500) {
			if err == nil {
				err = store(batch.Rows, batch.Checkpoint)
			}
			if err != nil {
				return err
			}
			if batches--; batches == 0 {
				return nil // the job is stopped
			}
		}
		return nil
	}
	for _, batches := range []int{4, -1} {
		if err := run(batches); err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(len(stored), "orders")
	}
	// Output:
	// 2000 orders
	// 5000 orders
}

// TestWalkSandbox walks over orders and refunds of the sandbox, through the whole client.
func TestWalkSandbox(t *testing.T) {
	from, to := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(2024, 4, 1, 0, 0, 0, 0, time.UTC)
	for name, search := range map[string]sandbox.Search{
		"well-behaved":      {},
		"exclusive":         {StartExclusive: true, EndExclusive: true, OldestFirst: true, UnstableTies: true},
		"short pages":       {ShortEvery: 5},
		"empty pages":       {EmptyEvery: 7},
		"rows from outside": {OutsideEvery: 3},
		"busy":              {BusyEvery: 4},
		"28 days":           {MaxRange: 28 * 24 * time.Hour, RefuseLargePages: true},
	} {
		t.Run(name, func(t *testing.T) {
			gateway := sandbox.New(sandbox.Options{MaxPageSize: 100, Search: search})
			defer gateway.Close()
			gateway.Seed(5_000, from, to)
			client := clienttest.NewClient(t, cardgateway.Config{BaseURL: "https://gateway.example", HTTPClient: &http.Client{Transport: gateway.RoundTripper()}})
			orders := map[string]int{}
			for order, err := range client.Orders(t.Context(), cardgateway.OrderQuery{Start: from, End: to}) {
				if err != nil {
					t.Fatal(err)
				}
				orders[order.UniqueID]++
			}
			refunds := map[string]int{}
			for refund, err := range client.Refunds(t.Context(), cardgateway.RefundQuery{Start: from, End: to}) {
				if err != nil {
					t.Fatal(err)
				}
				refunds[refund.RefundUniqueID]++
			}
			for id := range gateway.OrderIDs(from, to) {
				if orders[id] != 1 {
					t.Fatalf("order %s came %d times", id, orders[id])
				}
			}
			for id := range gateway.RefundIDs(from, to) {
				if refunds[id] != 1 {
					t.Fatalf("refund %s came %d times", id, refunds[id])
				}
			}
			if len(orders) != 5_000 || len(refunds) != 500 {
				t.Errorf("%d orders, %d refunds", len(orders), len(refunds))
			}
		})
	}
}

// TestWalkChecks: a walk rejects invalid settings before it sends a query.
func TestWalkChecks(t *testing.T) {
	c := clienttest.NewClient(t, cardgateway.Config{BaseURL: clienttest.BaseURL})
	january := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	good := cardgateway.OrderQuery{Start: january, End: january.AddDate(0, 6, 0)}
	for _, tt := range []struct {
		name  string
		query cardgateway.OrderQuery
		opts  cardgateway.WalkOptions
		want  []string
	}{
		{"no range", cardgateway.OrderQuery{}, cardgateway.WalkOptions{}, []string{"startDate required", "endingDate required"}},
		{"end first", cardgateway.OrderQuery{Start: good.End, End: good.Start}, cardgateway.WalkOptions{}, []string{"endingDate range"}},
		{"an id that is too long", cardgateway.OrderQuery{Start: good.Start, End: good.End, OrderID: strings.Repeat("x", 129)},
			cardgateway.WalkOptions{}, []string{"orderId length"}},
		{"every option", good, cardgateway.WalkOptions{PageSize: 1000, Prefetch: -1, Window: time.Second, SplitAbove: -1, Lag: -1},
			[]string{"PageSize range", "Prefetch range", "Window range", "SplitAbove range", "Lag range"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := c.OrderWalk(tt.query, tt.opts)
			for row, err := range w.All(t.Context()) {
				if diff := cmp.Diff(tt.want, clienttest.Problems(err)); row != nil || diff != "" {
					t.Errorf("got the row %v, and problems (-want +got):\n%s", row, diff)
				}
				if !strings.HasPrefix(err.Error(), "cardgateway: OrderWalk: ") {
					t.Errorf("got %q, want OrderWalk named", err)
				}
			}
			if n := w.Report().Requests; n != 0 {
				t.Errorf("requests: got %d, want 0", n)
			}
			wantOneError(t, w, "cardgateway: a Walk can be used only once")
		})
	}
}

// TestWalkZero: a Walk that was not made by a client returns an error that says so.
func TestWalkZero(t *testing.T) {
	var w cardgateway.Walk[cardgateway.Transaction]
	if got := w.Report(); got != (cardgateway.WalkReport{}) {
		t.Errorf("Report: got %+v, want the zero one", got)
	}
	if got := w.Checkpoint(); !got.IsZero() {
		t.Errorf("Checkpoint: got %+v, want the zero one", got)
	}
	for range 2 {
		wantOneError(t, &w, "cardgateway: a Walk is made by OrderWalk or RefundWalk")
	}
}

// wantOneError walks and wants nothing but an error.
func wantOneError(t *testing.T, w *cardgateway.Walk[cardgateway.Transaction], want string) {
	t.Helper()
	n := 0
	for row, err := range w.All(t.Context()) {
		n++
		if row != nil || err == nil || err.Error() != want {
			t.Errorf("got %v, %v, want %s", row, err, want)
		}
	}
	if n != 1 {
		t.Errorf("got %d rows and errors, want 1", n)
	}
}

// TestWalkErrors: a walk ends with one error, which says which window could not be read.
func TestWalkErrors(t *testing.T) {
	start := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)
	query := cardgateway.OrderQuery{Start: start, End: start.Add(time.Hour)}
	isRefusal := func(err error) bool {
		e, ok := errors.AsType[*cardgateway.QueryError](err)
		return ok && e.Code == cardgateway.CodeParameterError
	}
	isUnsettled := func(err error) bool {
		e, ok := errors.AsType[*cardgateway.UnsettledError](err)
		return ok && e.Announced == 3 && e.Seen == 0 && e.Rounds > 1 && e.Zone == "UTC+8" && e.Start.String() == "2024-01-01 07:59:59" &&
			e.End.String() == "2024-01-01 09:00:01" && errors.Is(err, cardgateway.ErrUnsettled)
	}
	for _, tt := range []struct {
		name, response string
		is             func(error) bool
	}{
		{"refused", `{"code":500,"message":"no"}`, isRefusal},
		{"rows that are announced and not given", `{"code":121,"currPage":1,"pageSize":10,"totalCount":3,"totalPage":1,"data":[]}`, isUnsettled},
	} {
		t.Run(tt.name, func(t *testing.T) {
			client := clienttest.NewClient(t, cardgateway.Config{BaseURL: clienttest.ServeBody(t, tt.response).URL})
			n, walk := 0, client.OrderWalk(query, cardgateway.WalkOptions{})
			for row, err := range walk.All(t.Context()) {
				n++
				if row != nil || !tt.is(err) || !strings.HasPrefix(err.Error(), "cardgateway: window from 2024-01-01 07:59:59 to 2024-01-01 09:00:01 (UTC+8)") {
					t.Errorf("got %v, %v", row, err)
				}
			}
			if n != 1 {
				t.Errorf("got %d rows and errors, want 1", n)
			}
			wantOneError(t, walk, "cardgateway: a Walk can be used only once")
			if got := walk.Report().CompleteUpTo; !got.Equal(start) {
				t.Errorf("complete up to %v, want %v", got, start)
			}
		})
	}
}

// TestFailuresOfQueries: which ones are transient, so that a walk repeats the query, and which ones reject the query
// itself.
func TestFailuresOfQueries(t *testing.T) {
	query := func(status int, code cardgateway.Code, cause error) error {
		return fmt.Errorf("wrapped: %w", &cardgateway.QueryError{Op: "SearchOrders", HTTPStatus: status, Code: code, Cause: cause})
	}
	client := clienttest.NewClient(t, cardgateway.Config{BaseURL: clienttest.BaseURL, Retry: cardgateway.RetryPolicy{MaxWait: time.Minute}})
	tests := []struct {
		name string
		err  error
		want walk.FaultKind
	}{
		{"no connection", query(0, 0, errors.New("connection refused")), walk.Transient},
		{"unavailable", query(503, 0, nil), walk.Transient},
		{"slow down", query(429, 429, nil), walk.Transient},
		{"system error", query(200, cardgateway.CodeSystemError, nil), walk.Transient},
		{"unreadable", query(200, 0, errors.New("the answer is not JSON")), walk.Transient},
		{"parameter error", query(200, cardgateway.CodeParameterError, nil), walk.Refused},
		{"unauthorized", query(401, cardgateway.CodeUnauthorized, nil), walk.Refused},
		{"bad request without a code", query(400, 0, nil), walk.Refused},
		{"more than is read", query(200, 0, transport.ErrTooLarge), walk.TooLarge},
		{"cancelled by the caller", query(0, 0, context.Canceled), walk.Permanent},
		{"invalid", &cardgateway.ValidationError{}, walk.Permanent},
		{"something else", errors.New("boom"), walk.Permanent},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := client.Fault(tt.err).Kind; got != tt.want {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
	got := client.Fault(fmt.Errorf("wrapped: %w", &cardgateway.QueryError{HTTPStatus: 429, RetryAfter: time.Hour}))
	if want := (walk.Fault{Kind: walk.Transient, Pause: time.Minute}); got != want {
		t.Errorf("Retry-After: got %+v, want %+v", got, want)
	}
}
