package faults

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/internal/test/clienttest"
	"github.com/cardgateway/cardgateway-go/journal"
	"github.com/cardgateway/cardgateway-go/journal/sqlstore"
	"github.com/cardgateway/cardgateway-go/sandbox"
)

// copies is a shop whose program copies orders and refunds.
type copies struct {
	*sandbox.Gateway
	client *cardgateway.Client
	since  time.Time
	spec   string
	db     *sql.DB
}

// newCopies has orders of twenty days, more than two batches, and refunds.
func newCopies(t *testing.T, spec string) *copies {
	t.Helper()
	gateway := sandbox.New(sandbox.Options{})
	t.Cleanup(gateway.Close)
	since := time.Now().AddDate(0, 0, -20)
	gateway.Seed(1200, since, time.Now().Add(-time.Hour))
	client := clienttest.NewClient(t, cardgateway.Config{
		BaseURL: "https://gateway.example", AppID: "7", HTTPClient: &http.Client{Transport: gateway.RoundTripper()},
	})
	c := &copies{Gateway: gateway, client: client, since: since, spec: spec}
	c.store(t) // creates the database
	c.db = openDB(t, spec)
	execAll(t, c.db, `CREATE TABLE own_orders (id VARCHAR(128) PRIMARY KEY, code INTEGER)`, `CREATE TABLE own_refunds (id VARCHAR(128) PRIMARY KEY, code INTEGER)`)
	return c
}

// store opens the store like a process of its own.
func (c *copies) store(t *testing.T) *sqlstore.Store {
	t.Helper()
	return openStore(t, c.spec)
}

func storeRow(ctx context.Context, tx *sql.Tx, table, id string, code cardgateway.Code) error {
	if _, err := tx.ExecContext(ctx, fmt.Sprintf(`DELETE FROM %s WHERE id = '%s'`, table, id)); err != nil {
		return err
	}
	_, err := tx.ExecContext(ctx, fmt.Sprintf(`INSERT INTO %s (id, code) VALUES ('%s', %d)`, table, id, code))
	return err
}

func storeOrder(ctx context.Context, tx *sql.Tx, t *cardgateway.Transaction) error {
	return storeRow(ctx, tx, "own_orders", t.UniqueID, t.Code)
}

func storeRefund(ctx context.Context, tx *sql.Tx, r *cardgateway.Refund) error {
	return storeRow(ctx, tx, "own_refunds", r.RefundUniqueID, r.Code)
}

// orders copies orders in a process of its own.
func (c *copies) orders(t *testing.T, change func(*sqlstore.Copy[cardgateway.Transaction])) (time.Time, error) {
	t.Helper()
	all := sqlstore.Copy[cardgateway.Transaction]{Since: c.since, Store: storeOrder}
	change(&all)
	return c.store(t).CopyOrders(t.Context(), c.client, all)
}

func unchanged(*sqlstore.Copy[cardgateway.Transaction]) {}

func (c *copies) ids(t *testing.T, table string) (ids []string) {
	t.Helper()
	rows, err := c.db.QueryContext(t.Context(), `SELECT id FROM `+table)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var id string
		if err := rows.Scan(&id); err != nil {
			t.Fatal(err)
		}
		ids = append(ids, id)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	slices.Sort(ids)
	return ids
}

// expect compares the table of orders with the gateway.
func (c *copies) expect(t *testing.T) {
	t.Helper()
	want := slices.Sorted(c.OrderIDs(c.since.AddDate(-1, 0, 0), time.Now()))
	if got := c.ids(t, "own_orders"); !slices.Equal(got, want) {
		t.Errorf("got %d orders, want %d", len(got), len(want))
	}
}

// due makes the next copies due.
func (c *copies) due(t *testing.T) {
	t.Helper()
	execAll(t, c.db, `UPDATE cardgateway_copies SET due = 0`)
}

var errBroken = errors.New("broken")

// TestCopy: a copy that fails in its second batch has stored the first with its position, and continues there, in another process.
func TestCopy(t *testing.T) {
	everyStore(t, func(t *testing.T, spec string) {
		c := newCopies(t, spec)
		for _, failAt := range []int{300, 700} { // in the first batch, and in the second
			stored := 0
			upTo, err := c.orders(t, func(all *sqlstore.Copy[cardgateway.Transaction]) {
				all.Store = func(ctx context.Context, tx *sql.Tx, o *cardgateway.Transaction) error {
					if stored++; stored == failAt {
						return errBroken
					}
					return storeOrder(ctx, tx, o)
				}
			})
			if n := len(c.ids(t, "own_orders")); !errors.Is(err, errBroken) || !upTo.IsZero() || n != failAt/500*500 {
				t.Errorf("fails at %d: got %v, %v and %d orders, want %v and whole batches", failAt, upTo, err, n, errBroken)
			}
		}
		if upTo, err := c.orders(t, unchanged); upTo.Before(time.Now().Add(-16*time.Minute)) || err != nil {
			t.Errorf("got %v, %v", upTo, err)
		}
		c.expect(t)
		if upTo, err := c.orders(t, unchanged); !upTo.IsZero() || err != nil {
			t.Errorf("nothing is due: got %v, %v", upTo, err)
		}

		spelledOtherwise := clienttest.NewClient(t, cardgateway.Config{BaseURL: "https://Gateway.Example:443/", AppID: "7"})
		all := sqlstore.Copy[cardgateway.Transaction]{Since: c.since, Store: storeOrder}
		if upTo, err := c.store(t).CopyOrders(t.Context(), spelledOtherwise, all); !upTo.IsZero() || err != nil {
			t.Errorf("the same shop in another spelling: got %v, %v", upTo, err)
		}

		refunds := sqlstore.Copy[cardgateway.Refund]{Since: c.since, Store: storeRefund}
		if upTo, err := c.store(t).CopyRefunds(t.Context(), c.client, refunds); upTo.IsZero() || err != nil {
			t.Errorf("refunds: got %v, %v", upTo, err)
		}
		if got, want := c.ids(t, "own_refunds"), slices.Sorted(c.RefundIDs(c.since, time.Now())); len(want) == 0 || !slices.Equal(got, want) {
			t.Errorf("got %d refunds, want %d", len(got), len(want))
		}

		// The next copy reads three days again, and finds what has changed.
		c.Seed(30, time.Now().Add(-60*time.Hour), time.Now().Add(-50*time.Hour))
		execAll(t, c.db, `UPDATE own_orders SET code = 1`)
		c.due(t)
		if upTo, err := c.orders(t, unchanged); upTo.IsZero() || err != nil {
			t.Errorf("the next copy: got %v, %v", upTo, err)
		}
		c.expect(t)
		var again, kept int
		row := c.db.QueryRowContext(t.Context(), `SELECT SUM(CASE WHEN code = 1 THEN 0 ELSE 1 END), SUM(CASE WHEN code = 1 THEN 1 ELSE 0 END) FROM own_orders`)
		if err := row.Scan(&again, &kept); err != nil || again < 100 || kept < 900 {
			t.Errorf("the next copy has read %d orders again, and %d not: want some 200 of 1230, %v", again, kept, err)
		}
	})
}

// TestCopyTakenOver: of two processes one copies; one that comes back after another has taken over stores nothing more.
func TestCopyTakenOver(t *testing.T) {
	everyStore(t, func(t *testing.T, spec string) {
		c := newCopies(t, spec)
		upTo, err := c.orders(t, func(all *sqlstore.Copy[cardgateway.Transaction]) {
			taken := false
			all.Confirm = func(context.Context, *cardgateway.Transaction) error {
				if taken {
					return nil
				}
				taken = true
				if upTo, err := c.orders(t, unchanged); !upTo.IsZero() || err != nil {
					t.Errorf("another process copies: got %v, %v", upTo, err)
				}
				c.due(t) // a quarter of an hour later
				if upTo, err := c.orders(t, unchanged); upTo.IsZero() || err != nil {
					t.Errorf("another process takes over: got %v, %v", upTo, err)
				}
				execAll(t, c.db, `DELETE FROM own_orders`)
				return nil
			}
		})
		const want = "another process has taken over the copy"
		if !upTo.IsZero() || err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("got %v, %v, want %s", upTo, err, want)
		}
		if n := len(c.ids(t, "own_orders")); n != 0 {
			t.Errorf("it has stored %d orders", n)
		}
		if upTo, err := c.orders(t, unchanged); !upTo.IsZero() || err != nil {
			t.Errorf("the copy was complete: got %v, %v", upTo, err)
		}
	})
}

// TestCopyConfirm: what Confirm returns.
func TestCopyConfirm(t *testing.T) {
	for _, tt := range []struct {
		name          string
		confirmed     error
		first, second error // of the two calls
		stored        int   // by the first call
	}{
		{"nothing", nil, nil, nil, 1200},
		{"made by another program", fmt.Errorf("an order: %w", journal.ErrNoEntry), nil, nil, 1200},
		{"another payment", journal.ErrMismatch, journal.ErrMismatch, nil, 500},
		{"an entry that cannot be read", &journal.EntryError{Cause: errBroken}, errBroken, nil, 500},
		{"a failure", errBroken, errBroken, nil, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			everyStore(t, func(t *testing.T, spec string) {
				c := newCopies(t, spec)
				failed := false
				confirm := func(all *sqlstore.Copy[cardgateway.Transaction]) {
					all.Confirm = func(context.Context, *cardgateway.Transaction) error {
						if failed {
							return nil
						}
						failed = true
						return tt.confirmed
					}
				}
				if _, err := c.orders(t, confirm); !errors.Is(err, tt.first) {
					t.Errorf("got %v, want %v", err, tt.first)
				}
				if n := len(c.ids(t, "own_orders")); n != tt.stored {
					t.Errorf("got %d orders, want %d", n, tt.stored)
				}
				if _, err := c.orders(t, confirm); !errors.Is(err, tt.second) {
					t.Errorf("the second call: got %v, want %v", err, tt.second)
				}
				c.expect(t)
			})
		})
	}
}

// TestCopyMismatchAtTheEnd: the error of the last batch does not make the copy due again.
func TestCopyMismatchAtTheEnd(t *testing.T) {
	everyStore(t, func(t *testing.T, spec string) {
		c := newCopies(t, spec)
		confirmed := 0
		mismatch := func(all *sqlstore.Copy[cardgateway.Transaction]) {
			all.Confirm = func(context.Context, *cardgateway.Transaction) error {
				if confirmed++; confirmed == 1200 {
					return journal.ErrMismatch
				}
				return nil
			}
		}
		if upTo, err := c.orders(t, mismatch); upTo.IsZero() || !errors.Is(err, journal.ErrMismatch) {
			t.Errorf("got %v, %v, want the end and %v", upTo, err, journal.ErrMismatch)
		}
		c.expect(t)
		if upTo, err := c.orders(t, mismatch); !upTo.IsZero() || err != nil {
			t.Errorf("nothing is due: got %v, %v", upTo, err)
		}
	})
}

// TestCopyKeepsItsClaim: a walk that takes long until it has the rows of a batch keeps the claim.
func TestCopyKeepsItsClaim(t *testing.T) {
	everyStore(t, func(t *testing.T, spec string) {
		c := newCopies(t, spec)
		var first sync.Once
		checked := false
		_, err := c.orders(t, func(all *sqlstore.Copy[cardgateway.Transaction]) {
			all.Since = time.Now().AddDate(-5, 0, 0) // years without orders come first
			c.client = c.clientThat(t, func() { first.Do(func() { c.due(t) }) })
			all.Confirm = func(ctx context.Context, _ *cardgateway.Transaction) error {
				var due int64
				if !checked {
					checked = true
					if err := c.db.QueryRowContext(ctx, `SELECT due FROM cardgateway_copies`).Scan(&due); err != nil || due == 0 {
						t.Errorf("the claim ends at %d (%v), want later", due, err)
					}
				}
				return nil
			}
		})
		if err != nil || !checked {
			t.Errorf("got %v, checked %t", err, checked)
		}
		c.expect(t)
	})
}

// clientThat returns a client that calls a function before each request.
func (c *copies) clientThat(t *testing.T, before func()) *cardgateway.Client {
	t.Helper()
	return clienttest.NewClient(t, cardgateway.Config{
		BaseURL: "https://gateway.example", AppID: "7", HTTPClient: &http.Client{Transport: transportThat{c.RoundTripper(), before}},
	})
}

type transportThat struct {
	http.RoundTripper
	before func()
}

func (tr transportThat) RoundTrip(r *http.Request) (*http.Response, error) {
	tr.before()
	return tr.RoundTripper.RoundTrip(r)
}

// TestCopyOnce: with the longest Every there is one copy.
func TestCopyOnce(t *testing.T) {
	everyStore(t, func(t *testing.T, spec string) {
		c := newCopies(t, spec)
		once := func(all *sqlstore.Copy[cardgateway.Transaction]) { all.Every = math.MaxInt64 }
		if upTo, err := c.orders(t, once); upTo.IsZero() || err != nil {
			t.Errorf("got %v, %v", upTo, err)
		}
		if upTo, err := c.orders(t, once); !upTo.IsZero() || err != nil {
			t.Errorf("once more: got %v, %v, want nothing to be due", upTo, err)
		}
		c.expect(t)
	})
}

// TestCopyDue: a copy is due if the database's clock was set back, and at once after an error, also one of the first statements.
func TestCopyDue(t *testing.T) {
	everyStore(t, func(t *testing.T, spec string) {
		c := newCopies(t, spec)
		if upTo, err := c.orders(t, unchanged); upTo.IsZero() || err != nil {
			t.Fatalf("got %v, %v", upTo, err)
		}
		if upTo, err := c.orders(t, unchanged); !upTo.IsZero() || err != nil {
			t.Errorf("before it is due: got %v, %v", upTo, err)
		}
		execAll(t, c.db, `UPDATE cardgateway_copies SET due = due + 3600000000`) // the clock is set back by an hour
		if upTo, err := c.orders(t, unchanged); upTo.IsZero() || err != nil {
			t.Errorf("after the clock was set back: got %v, %v", upTo, err)
		}
		execAll(t, c.db, `UPDATE cardgateway_copies SET due = 0, checkpoint = 'x'`)
		if upTo, err := c.orders(t, unchanged); !upTo.IsZero() || err == nil {
			t.Errorf("with a damaged checkpoint: got %v, %v", upTo, err)
		}
		execAll(t, c.db, `UPDATE cardgateway_copies SET checkpoint = 'null'`)
		if upTo, err := c.orders(t, unchanged); upTo.IsZero() || err != nil {
			t.Errorf("once it is mended: got %v, %v", upTo, err)
		}
		c.expect(t)
	})
}

// TestCopyRequires: what is missing is reported.
func TestCopyRequires(t *testing.T) {
	c := newCopies(t, "sqlite:"+t.TempDir()+"/journal.db")
	for name, change := range map[string]func(*sqlstore.Copy[cardgateway.Transaction]){
		"no Since": func(all *sqlstore.Copy[cardgateway.Transaction]) { all.Since = time.Time{} },
		"no Store": func(all *sqlstore.Copy[cardgateway.Transaction]) { all.Store = nil },
	} {
		t.Run(name, func(t *testing.T) {
			const want = "sqlstore: CopyOrders: client, Since and Store are required"
			if _, err := c.orders(t, change); err == nil || err.Error() != want {
				t.Errorf("got %v, want %s", err, want)
			}
		})
	}
	for name, change := range map[string]func(*sqlstore.Copy[cardgateway.Transaction]){
		"Every":   func(all *sqlstore.Copy[cardgateway.Transaction]) { all.Every = -1 },
		"Overlap": func(all *sqlstore.Copy[cardgateway.Transaction]) { all.Overlap = -1 },
	} {
		const want = "sqlstore: CopyOrders: Every and Overlap must not be negative"
		if _, err := c.orders(t, change); err == nil || err.Error() != want {
			t.Errorf("negative %s: got %v, want %s", name, err, want)
		}
	}
	var none context.Context
	all := sqlstore.Copy[cardgateway.Transaction]{Since: c.since, Store: storeOrder}
	if _, err := c.store(t).CopyOrders(none, c.client, all); !errors.Is(err, cardgateway.ErrInvalidRequest) {
		t.Errorf("a nil context: got %v, want %v", err, cardgateway.ErrInvalidRequest)
	}
}
