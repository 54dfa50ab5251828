package faults

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/internal/test/clienttest"
	"github.com/cardgateway/cardgateway-go/internal/test/dedupertest"
	"github.com/cardgateway/cardgateway-go/journal/sqlstore"
	"github.com/cardgateway/cardgateway-go/notify"
)

const dedupedGateway = "https://gateway.example"

// openDeduper opens a store like a process of its own, and returns its Deduper.
func openDeduper(t testing.TB, spec, appID string) *sqlstore.Deduper {
	t.Helper()
	return openDeduperOf(t, spec, dedupedGateway, appID)
}

// openDeduperOf is openDeduper for another gateway.
func openDeduperOf(t testing.TB, spec, baseURL, appID string) *sqlstore.Deduper {
	t.Helper()
	return newDeduper(t, openStore(t, spec), baseURL, appID)
}

func newDeduper(t testing.TB, store *sqlstore.Store, baseURL, appID string) *sqlstore.Deduper {
	t.Helper()
	client := clienttest.NewClient(t, cardgateway.Config{BaseURL: baseURL, AppID: cardgateway.AppID(appID), TestPayments: true})
	d, err := store.NewDeduper(t.Context(), client)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func expectClaim(t *testing.T, d notify.Deduper, key string, want notify.ClaimResult) {
	t.Helper()
	if got, err := d.Claim(t.Context(), key); got != want || err != nil {
		t.Errorf("Claim(%s): got %v, %v, want %v", key, got, err, want)
	}
}

// later lets all claims and handled events of a database be so many seconds older.
func later(t *testing.T, db *sql.DB, seconds int) {
	t.Helper()
	execAll(t, db, fmt.Sprintf("UPDATE cardgateway_notified SET expires = expires - %d", 1_000_000*seconds))
}

func count(t *testing.T, db *sql.DB) (n int) {
	t.Helper()
	succeeds(t, db.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM cardgateway_notified").Scan(&n))
	return n
}

// TestDeduper: three processes share the events in a database.
func TestDeduper(t *testing.T) {
	everyStore(t, func(t *testing.T, spec string) {
		apps := 0
		dedupertest.Run(t, func(t testing.TB) (all []notify.Deduper) {
			apps++ // each test has events of its own
			for range 3 {
				all = append(all, openDeduper(t, spec, fmt.Sprint(apps)))
			}
			return all
		})
	})
}

// TestDeduperTimes: a claim lapses after two minutes, and is then of its next holder only; a handled event is kept for 24 hours.
func TestDeduperTimes(t *testing.T) {
	const day = 24 * 60 * 60
	for _, tt := range []struct {
		name string
		do   func(t *testing.T, first, second notify.Deduper, wait func(seconds int))
	}{
		{"a claim is kept", func(t *testing.T, first, second notify.Deduper, wait func(int)) {
			wait(100)
			expectClaim(t, second, "a", notify.ClaimBusy)
		}},
		{"a claim lapses", func(t *testing.T, first, second notify.Deduper, wait func(int)) {
			wait(121)
			expectClaim(t, second, "a", notify.ClaimFresh)
			expectClaim(t, first, "a", notify.ClaimBusy)
		}},
		{"a claim lapses for its own process", func(t *testing.T, first, second notify.Deduper, wait func(int)) {
			wait(121)
			expectClaim(t, first, "a", notify.ClaimFresh)
			expectClaim(t, second, "a", notify.ClaimBusy)
		}},
		{"a lapsed claim is released late", func(t *testing.T, first, second notify.Deduper, wait func(int)) {
			wait(121)
			expectClaim(t, second, "a", notify.ClaimFresh)
			succeeds(t, first.Release(t.Context(), "a"))
			expectClaim(t, first, "a", notify.ClaimBusy)
		}},
		{"a lapsed claim is handled late", func(t *testing.T, first, second notify.Deduper, wait func(int)) {
			wait(121)
			expectClaim(t, second, "a", notify.ClaimFresh)
			succeeds(t, first.Handled(t.Context(), "a"))
			succeeds(t, second.Release(t.Context(), "a"))
			expectClaim(t, second, "a", notify.ClaimHandled)
		}},
		{"a handled event is kept", func(t *testing.T, first, second notify.Deduper, wait func(int)) {
			succeeds(t, first.Handled(t.Context(), "a"))
			wait(day - 60)
			expectClaim(t, second, "a", notify.ClaimHandled)
		}},
		{"a handled event is forgotten", func(t *testing.T, first, second notify.Deduper, wait func(int)) {
			succeeds(t, first.Handled(t.Context(), "a"))
			wait(day + 1)
			expectClaim(t, second, "a", notify.ClaimFresh)
			expectClaim(t, first, "a", notify.ClaimBusy)
		}},
		{"the clock is set back", func(t *testing.T, first, second notify.Deduper, wait func(int)) {
			wait(-3600)
			expectClaim(t, second, "a", notify.ClaimFresh)
			expectClaim(t, first, "a", notify.ClaimBusy)
		}},
		{"the clock is set back after an event was handled", func(t *testing.T, first, second notify.Deduper, wait func(int)) {
			succeeds(t, first.Handled(t.Context(), "a"))
			wait(-3600)
			expectClaim(t, second, "a", notify.ClaimHandled)
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			everyStore(t, func(t *testing.T, spec string) {
				first, second := openDeduper(t, spec, "7"), openDeduper(t, spec, "7")
				expectClaim(t, first, "a", notify.ClaimFresh)
				db := openDB(t, spec)
				tt.do(t, first, second, func(seconds int) { later(t, db, seconds) })
			})
		})
	}
}

// TestDeduperForgets: rows that have expired are deleted 200 at a time, by the first claim of a Deduper and every hundredth after it.
func TestDeduperForgets(t *testing.T) {
	everyStore(t, func(t *testing.T, spec string) {
		d := openDeduper(t, spec, "7")
		db := openDB(t, spec)
		const old = 450
		for i := range old {
			execAll(t, db, fmt.Sprintf("INSERT INTO cardgateway_notified (event, holder, handled, expires) VALUES ('old %d', '', TRUE, %d)", i, i))
		}
		left, claims := old, 0
		for _, want := range []struct{ claims, old int }{{1, 250}, {100, 250}, {101, 50}, {201, 0}} {
			for ; claims < want.claims; claims++ {
				expectClaim(t, d, fmt.Sprint("new ", claims), notify.ClaimFresh)
			}
			if left = count(t, db) - claims; left != want.old {
				t.Errorf("after %d claims: got %d old rows, want %d", claims, left, want.old)
			}
		}
		expectClaim(t, d, "new 0", notify.ClaimBusy)
	})
}

// TestDeduperBetweenStatements: what another process does between two statements of a claim.
func TestDeduperBetweenStatements(t *testing.T) {
	spec := mysqlStore(t, t.Name()+t.TempDir())
	other := openDeduper(t, spec, "7")
	var before string // the beginning of a statement
	var do func()     // before it, once
	db := openInterrupted(t, spec, func(query string) error {
		if now := do; now != nil && strings.HasPrefix(query, before) {
			do = nil
			now()
		}
		return nil
	})
	d := newDeduper(t, newStore(t, db, sqlstore.MySQL), dedupedGateway, "7")
	interrupt := func(claim, statement string, want notify.ClaimResult, by func()) {
		t.Helper()
		before, do = statement, by
		expectClaim(t, d, claim, want)
		if do != nil {
			t.Fatalf("no statement begins with %s", statement)
		}
	}

	expectClaim(t, other, "expired", notify.ClaimFresh)
	later(t, db, 121)
	interrupt("first", "DELETE", notify.ClaimFresh, func() { expectClaim(t, other, "expired", notify.ClaimFresh) })
	expectClaim(t, d, "expired", notify.ClaimBusy) // what was claimed again is not forgotten

	interrupt("expired", "SELECT handled", notify.ClaimFresh, func() {
		succeeds(t, other.Release(t.Context(), "expired"))
	})
}

// TestDeduperShops: two shops that share a database do not see each other's events.
func TestDeduperShops(t *testing.T) {
	everyStore(t, func(t *testing.T, spec string) {
		expectClaim(t, openDeduper(t, spec, "7"), "a", notify.ClaimFresh)
		expectClaim(t, openDeduper(t, spec, "8"), "a", notify.ClaimFresh)
		expectClaim(t, openDeduper(t, spec, "7"), "a", notify.ClaimBusy)
		expectClaim(t, openDeduperOf(t, spec, "https://other.example", "7"), "a", notify.ClaimFresh)
		for _, same := range []string{"https://gateway.example/", "HTTPS://Gateway.Example", "https://gateway.example:443"} {
			expectClaim(t, openDeduperOf(t, spec, same, "7"), "a", notify.ClaimBusy)
		}
	})
}

// TestDeduperLongestKey: of keys that fit the column just so, each is an event of its own; a longer one is an error.
func TestDeduperLongestKey(t *testing.T) {
	const most = 1280 // bytes of shop, space and key, as the error says
	key := strings.Repeat("k", most-len(dedupedGateway+" 7 ")-1)
	everyStore(t, func(t *testing.T, spec string) {
		d := openDeduper(t, spec, "7")
		expectClaim(t, d, key+"a", notify.ClaimFresh)
		expectClaim(t, d, key+"b", notify.ClaimFresh)
		expectClaim(t, d, key+"a", notify.ClaimBusy)
		if _, err := d.Claim(t.Context(), key+"ab"); err == nil || !strings.Contains(err.Error(), "have 1281 bytes, at most 1280 are allowed") {
			t.Errorf("a longer key: %v", err)
		}
	})
}

// TestDeduperOneConnection: one connection is enough for the store, the Deduper and concurrent callers.
func TestDeduperOneConnection(t *testing.T) {
	everyStore(t, func(t *testing.T, spec string) {
		openDeduper(t, spec, "7") // creates the database
		db := openDB(t, spec)
		db.SetMaxOpenConns(1)
		d := newDeduper(t, newStore(t, db, databaseFor(t, spec).dialect), dedupedGateway, "7")
		var all sync.WaitGroup
		for i := range 8 {
			all.Go(func() {
				key := fmt.Sprint(i)
				expectClaim(t, d, key, notify.ClaimFresh)
				succeeds(t, d.Handled(t.Context(), key))
				expectClaim(t, d, key, notify.ClaimHandled)
			})
		}
		all.Wait()
	})
}

// TestDeduperNotStored: if no row was changed, the event is not handled, whatever the reason: the gateway must repeat the notification.
func TestDeduperNotStored(t *testing.T) {
	var nothing bool
	db := openWrapped(t, mysqlStore(t, t.Name()+t.TempDir()), func(c fullConn) driver.Conn {
		return &changesNothing{plainConn{c, c, c, c}, &nothing}
	})
	d := newDeduper(t, newStore(t, db, sqlstore.MySQL), dedupedGateway, "7")
	expectClaim(t, d, "a", notify.ClaimFresh)
	nothing = true
	if err := d.Handled(t.Context(), "a"); err == nil || !strings.Contains(err.Error(), "has not stored") {
		t.Errorf("got %v, want that nothing was stored", err)
	}
	nothing = false
	for range 2 { // an insert or an update
		succeeds(t, d.Handled(t.Context(), "b"))
	}
}

// changesNothing executes no statement, and says so, while nothing is true.
type changesNothing struct {
	plainConn
	nothing *bool
}

func (c *changesNothing) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	if *c.nothing {
		return driver.RowsAffected(0), nil
	}
	return c.plainConn.ExecContext(ctx, query, args)
}
