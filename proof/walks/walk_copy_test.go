package walks_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/internal/test/clienttest"
	"github.com/cardgateway/cardgateway-go/sandbox"
)

// rowCopy is a merchant's database with a copy of orders: rows and checkpoint change in one transaction.
type rowCopy struct {
	rows        map[string]cardgateway.Code
	checkpoint  []byte // as JSON
	stored      int    // rows, also those that were stored before
	commits     int
	failAt      int         // the commit that fails, from 1; none if zero
	before      func(n int) // is called before commit n
	checkpoints []rowsUpTo  // after each commit
}

// rowsUpTo is what the database had after a commit.
type rowsUpTo struct {
	checkpoint []byte
	rows       map[string]cardgateway.Code
}

var errCommit = errors.New("the commit failed")

// run copies the orders of a query in batches.
func (c *rowCopy) run(ctx context.Context, client *cardgateway.Client, q cardgateway.OrderQuery, size int) error {
	var resume cardgateway.Checkpoint
	if err := resume.Scan(c.checkpoint); err != nil {
		return err
	}
	for batch, err := range client.OrderWalk(q, cardgateway.WalkOptions{Resume: resume, PageSize: 25}).Batches(ctx, size) {
		if err != nil {
			return err
		}
		checkpoint, err := json.Marshal(batch.Checkpoint)
		if err == nil {
			err = c.commit(batch.Rows, checkpoint)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (c *rowCopy) commit(batch []*cardgateway.Transaction, checkpoint []byte) error {
	c.commits++
	if c.before != nil {
		c.before(c.commits)
	}
	if c.commits == c.failAt {
		return errCommit
	}
	for _, order := range batch {
		c.rows[order.UniqueID] = order.Code
		c.stored++
	}
	c.checkpoint = checkpoint
	c.checkpoints = append(c.checkpoints, rowsUpTo{checkpoint, maps.Clone(c.rows)})
	return nil
}

func newRowCopy() *rowCopy {
	return &rowCopy{rows: map[string]cardgateway.Code{}, checkpoint: []byte("null")}
}

// TestCopyContinues: a copy that is stopped at any batch, and continues at the checkpoint that was stored with its rows, has every row
// at the end, also those that are added meanwhile, and reads few twice. No stored checkpoint is ahead of the rows stored with it.
func TestCopyContinues(t *testing.T) {
	const size, orders = 60, 600
	from, to := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(2024, 4, 1, 0, 0, 0, 0, time.UTC)
	q := cardgateway.OrderQuery{Start: from, End: to}
	for _, adds := range []bool{false, true} {
		for failAt := range orders/size + 2 {
			t.Run(fmt.Sprintf("fails at commit %d, rows are added %t", failAt, adds), func(t *testing.T) {
				gateway := sandbox.New(sandbox.Options{Search: sandbox.Search{UnstableTies: true}})
				defer gateway.Close()
				gateway.Seed(orders, from, to)
				client := clientFor(t, gateway)
				c := newRowCopy()
				c.failAt = failAt
				if adds {
					c.before = func(n int) {
						if n == 4 { // the walk is in February, and has not verified it
							gateway.Seed(30, from.AddDate(0, 1, 1), from.AddDate(0, 1, 2)) // read already
							gateway.Seed(30, from.AddDate(0, 2, 3), from.AddDate(0, 2, 4)) // not read yet
						}
					}
				}
				err := c.run(t.Context(), client, q, size)
				if failAt > 0 && failAt <= c.commits {
					if !errors.Is(err, errCommit) {
						t.Fatalf("got %v, want %v", err, errCommit)
					}
					err = c.run(t.Context(), client, q, size)
				}
				if err != nil {
					t.Fatal(err)
				}
				want := slices.Sorted(gateway.OrderIDs(from, to))
				if got := slices.Sorted(maps.Keys(c.rows)); !slices.Equal(got, want) {
					t.Errorf("got %d rows, want %d", len(got), len(want))
				}
				most := 2 * size // the batch that was lost, and the window in progress
				if adds {
					most += orders / 3 // the month is read again, because its total has changed
				}
				if again := c.stored - len(want); again > most {
					t.Errorf("%d of %d rows were stored twice", again, len(want))
				}
				for i, at := range c.checkpoints { // whichever the process dies after
					rest := newRowCopy()
					rest.checkpoint, rest.rows = at.checkpoint, at.rows
					if err := rest.run(t.Context(), client, q, orders); err != nil {
						t.Fatal(err)
					}
					if got := slices.Sorted(maps.Keys(rest.rows)); !slices.Equal(got, want) {
						t.Errorf("continued after commit %d: got %d rows, want %d", i+1, len(got), len(want))
					}
				}
			})
		}
	}
}

func clientFor(t *testing.T, gateway *sandbox.Gateway) *cardgateway.Client {
	t.Helper()
	return clienttest.NewClient(t, cardgateway.Config{BaseURL: "https://gateway.example", HTTPClient: &http.Client{Transport: gateway.RoundTripper()}})
}

// TestBatches: each batch but the last is full, and an error comes after the rows that came before it.
func TestBatches(t *testing.T) {
	broken := errors.New("broken")
	for _, tt := range []struct {
		name      string
		transport clienttest.RoundTrip
		size      int
		want      string // sizes of the batches, and how the walk ends
	}{
		{"the last is not full", dayOrders, 100, "100 100 100 65 last"},
		{"the last is empty", dayOrders, 73, "73 73 73 73 73 0 last"},
		{"one", dayOrders, 1000, "365 last"},
		{"no rows", clienttest.Answering(200, clienttest.Page()), 10, "0 last"},
		{"an error", func(r *http.Request) (*http.Response, error) {
			if r.URL.Query().Get("endingDate") > "2025-04-10" {
				return nil, broken
			}
			return dayOrders(r)
		}, 40, "40 40 10 query_failed"},
		{"an error at once", func(*http.Request) (*http.Response, error) { return nil, broken }, 40, "query_failed"},
		{"a size of zero", dayOrders, 0, "size range"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				time.Sleep(time.Until(time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)))
				c := clienttest.NewClient(t, cardgateway.Config{
					BaseURL: clienttest.BaseURL, HTTPClient: &http.Client{Transport: tt.transport}, Retry: cardgateway.RetryPolicy{MaxAttempts: 1},
				})
				walk := c.OrderWalk(year2025(), cardgateway.WalkOptions{Window: 10 * 24 * time.Hour, Prefetch: 1})
				var got []string
				var kept [][]*cardgateway.Transaction // a batch is the caller's
				for batch, err := range walk.Batches(t.Context(), tt.size) {
					switch {
					case errors.Is(err, cardgateway.ErrQueryFailed):
						got = append(got, "query_failed")
						continue
					case err != nil:
						got = append(got, clienttest.Problems(err)...)
						continue
					}
					got, kept = append(got, fmt.Sprint(len(batch.Rows))), append(kept, batch.Rows)
					if batch.Last {
						got = append(got, "last")
					}
					if diff := cmp.Diff(walk.Checkpoint(), batch.Checkpoint, cmp.AllowUnexported(cardgateway.Checkpoint{})); diff != "" {
						t.Errorf("checkpoint (-want +got):\n%s", diff)
					}
				}
				different := map[string]bool{}
				rows := slices.Concat(kept...)
				for _, row := range rows {
					different[row.UniqueID] = true
				}
				if len(different) != len(rows) {
					t.Errorf("got %d different rows of %d", len(different), len(rows))
				}
				if diff := cmp.Diff(tt.want, strings.Join(got, " ")); diff != "" {
					t.Errorf("batches (-want +got):\n%s", diff)
				}
			})
		})
	}
}
