//go:build linux || darwin

package main

import (
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	_ "modernc.org/sqlite" // the driver "sqlite"

	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/exit"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/shell"
	"github.com/cardgateway/cardgateway-go/internal/test/clienttest"
	"github.com/cardgateway/cardgateway-go/internal/test/pgserver"
	"github.com/cardgateway/cardgateway-go/sandbox"
	"github.com/google/go-cmp/cmp"
)

// onEachDatabase runs a test on both databases, each time with the name of an empty one and a function that reads it. A
// test that has no Postgres fails: the tool promises both.
func onEachDatabase(t *testing.T, test func(t *testing.T, db string, read *sql.DB)) {
	t.Helper()
	for _, name := range []string{"sqlite", "postgres"} {
		t.Run(name, func(t *testing.T) {
			p := places[name](t)
			test(t, p.setting, openAt(t, p.driver, p.dsn))
		})
	}
}

// copied gives the rows of a copy, without the numbers of the walks, in which two copies differ.
func copied(t *testing.T, db *sql.DB) (all []string) {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), `
		SELECT id || '|' || unique_id || '|' || transaction_id || '|' || state || '|' || code || '|' || amount || '|' || currency || '|' || at || '|' || card
			FROM cardgateway_orders
		UNION ALL SELECT id || '|' || refund_unique_id || '|' || merchant_refund_id || '|' || unique_id || '|' || state || '|' || code || '|' ||
			amount || '|' || currency || '|' || at
			FROM cardgateway_refunds`)
	if err != nil {
		t.Fatal(err)
	}
	for rows.Next() && err == nil {
		var row string
		err = rows.Scan(&row)
		all = append(all, row)
	}
	succeeds(t, errors.Join(err, rows.Err(), rows.Close()))
	slices.Sort(all)
	return all
}

// changeGateway makes a gateway change as merchants and customers do: what was open is settled, a payment is made that stays open and
// another one whose refund does, and orders appear that happened hours ago. It returns what is open: the payment and the refund.
func changeGateway(t *testing.T, server *sandbox.Server, open []string) []string {
	t.Helper()
	if open != nil {
		server.Settle(open[0], rand.N(2) == 0)
		server.SettleRefund(open[1], true)
	}
	id := fmt.Sprint("t-", time.Now().UnixNano())
	pay(t, server, id, "12.50", sandbox.Approved)
	paid := pay(t, server, id+"-paid", "12.50", sandbox.Approved)
	server.Settle(id+"-paid", true)
	if _, err := server.Refund(paid.UniqueID, "1", "refund of "+id); err != nil {
		t.Fatal(err)
	}
	server.Seed(30, time.Now().Add(-40*time.Hour), time.Now().Add(-time.Hour)) // late
	return []string{id, "refund of " + id}
}

// requestTrigger is the log of a sandbox: it calls a function when so many more requests have come.
type requestTrigger struct {
	mu   sync.Mutex
	left int
	do   func()
}

func (r *requestTrigger) Write(line []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.left--; r.left == 0 && r.do != nil {
		go r.do()
	}
	return len(line), nil
}

func (r *requestTrigger) after(n int, do func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.left, r.do = n, do
}

// TestSyncKilled kills the program at random moments, while the gateway changes between the runs. Its copy must be the same
// as one that no run of was killed, and as one that is made anew.
func TestSyncKilled(t *testing.T) {
	t.Parallel()
	kills, rows := 2, 20_000 // a sync of which makes some 23 requests and 5 batches, and each run sees a few
	if os.Getenv("CARDGATEWAY_LONG") == "1" {
		kills, rows = 20, 60_000
	}
	onEachDatabase(t, func(t *testing.T, db string, read *sql.DB) {
		t.Parallel()
		var trigger requestTrigger
		server := gatewayFor(t, sandbox.Options{SettleAfter: -1, RefundSettleAfter: -1, Log: &trigger})
		from := time.Now().AddDate(0, -2, 0).Truncate(time.Second)
		server.Seed(rows, from, time.Now())
		env := environment(server.URL)
		args := func(db string) []string {
			return []string{"reconcile", "sync", "--quiet", "--db", db, "--from", from.Format(time.RFC3339)}
		}
		unbroken, fresh := filepath.Join(t.TempDir(), "unbroken.db"), filepath.Join(t.TempDir(), "fresh.db")
		tool(t, env, args(unbroken)...).want(t, exit.OK)
		killed, partial, open := 0, map[int]bool{}, []string(nil)
		for range kills {
			cmd := program(t, env, args(db)...)
			var errOut clienttest.Buffer
			cmd.Stderr = &errOut
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			trigger.after(1+rand.N(rows/1000), func() {
				time.Sleep(rand.N(20 * time.Millisecond)) // also between requests
				_ = cmd.Process.Kill()                    // it may have ended
			})
			err := cmd.Wait()
			trigger.after(0, nil)
			var saved int
			if err := read.QueryRowContext(t.Context(), `SELECT COUNT(*) FROM cardgateway_orders`).Scan(&saved); err == nil { // there is such a table
				partial[saved] = true
			}
			switch failed := (*exec.ExitError)(nil); {
			case errors.As(err, &failed) && failed.ExitCode() == -1:
				killed++
			case err != nil && !strings.Contains(errOut.String(), "another run is using"): // Postgres has not noticed the last kill yet
				t.Fatalf("%v: %s", err, errOut.String())
			}
			open = changeGateway(t, server, open)
			tool(t, env, args(unbroken)...).want(t, exit.OK)
		}
		for {
			r := tool(t, env, args(db)...)
			if !strings.Contains(r.err, "another run is using") {
				r.want(t, exit.OK)
				break
			}
			time.Sleep(50 * time.Millisecond)
		}
		tool(t, env, args(unbroken)...).want(t, exit.OK)
		tool(t, env, args(fresh)...).want(t, exit.OK)
		got := copied(t, read)
		for _, other := range []struct{ what, db string }{{"an unbroken copy", unbroken}, {"a fresh copy", fresh}} {
			t.Run(other.what, func(t *testing.T) {
				if diff := cmp.Diff(copied(t, openAt(t, "sqlite", other.db)), got); diff != "" {
					t.Errorf("rows (-%s +this one):\n%s", other.what, diff)
				}
			})
		}
		t.Logf("killed %d of %d times, with %d different numbers of orders saved; %d rows are the same", killed, kills, len(partial), len(got))
		if killed < kills/2 || len(partial) < kills/4 {
			t.Errorf("killed %d times of %d at %d places, which shows little", killed, kills, len(partial))
		}
	})
}

// TestSyncInterrupted sends the signal of Ctrl-C, and goes on with the command that is printed.
func TestSyncInterrupted(t *testing.T) {
	t.Parallel()
	onEachDatabase(t, func(t *testing.T, db string, read *sql.DB) {
		t.Parallel()
		server := gatewayFor(t, sandbox.Options{MaxPageSize: 50, Search: sandbox.Search{Latency: 20 * time.Millisecond}})
		from := time.Now().AddDate(0, -1, 0).Truncate(time.Second)
		server.Seed(5000, from, time.Now())
		env := environment(server.URL)
		cmd := program(t, env, "reconcile", "sync", "--db", db, "--from", from.Format(time.RFC3339), "--log-every", "20ms")
		errOut := startUntil(t, cmd, "complete up to")
		if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
			t.Fatal(err)
		}
		goOn := shell.CommandLine("reconcile", "sync", "--db", db)
		ended(cmd, errOut).want(t, exit.Interrupted, "rows of this run are saved. To continue, run: "+goOn)
		if n := len(copied(t, read)); n == 0 || n >= 5500 {
			t.Errorf("got %d rows saved, want some", n)
		}
		tool(t, env, "reconcile", "sync", "--db", db).want(t, exit.OK)
		if n := len(copied(t, read)); n != 5500 {
			t.Errorf("got %d rows, want 5500", n)
		}
	})
}

// TestSyncDiskFull limits the size of files, which fails a write as a full disk does.
func TestSyncDiskFull(t *testing.T) {
	t.Parallel()
	server := gatewayFor(t, sandbox.Options{})
	from := time.Now().AddDate(0, -1, 0).Truncate(time.Second)
	server.Seed(20_000, from, time.Now())
	env := environment(server.URL)
	db := filepath.Join(t.TempDir(), "books.db")
	limited := program(t, env, "reconcile", "sync", "--db", db, "--from", from.Format(time.RFC3339))
	cmd := exec.CommandContext(t.Context(), "sh", append([]string{"-c", `ulimit -f 4096; exec "$0" "$@"`}, limited.Args...)...)
	cmd.Env = limited.Env
	ran(cmd).want(t, exit.Failed, "the disk failed, or is full")
	tool(t, env, "reconcile", "sync", "--db", db).want(t, exit.OK)
	if n := len(copied(t, openAt(t, "sqlite", db))); n != 22_000 {
		t.Errorf("got %d rows, want 22000", n)
	}
}

// TestSyncDatabaseGone ends the Postgres server in the middle, and goes on when it is back.
func TestSyncDatabaseGone(t *testing.T) {
	t.Parallel()
	pg := pgserver.Own(t)
	server := gatewayFor(t, sandbox.Options{MaxPageSize: 200, Search: sandbox.Search{Latency: 20 * time.Millisecond}})
	from := time.Now().AddDate(0, -1, 0).Truncate(time.Second)
	server.Seed(20_000, from, time.Now())
	env := environment(server.URL)
	db := pg.URL("public")
	cmd := program(t, env, "reconcile", "sync", "--db", db, "--from", from.Format(time.RFC3339), "--log-every", "20ms")
	errOut := startUntil(t, cmd, "of the range")
	if err := pg.Kill(); err != nil {
		t.Fatal(err)
	}
	ended(cmd, errOut).want(t, exit.Failed, "the copy is not up to date")
	succeeds(t, pg.Restart())
	tool(t, env, "reconcile", "sync", "--db", db, "--from", from.Format(time.RFC3339)).want(t, exit.OK)
	if n := len(copied(t, openAt(t, "pgx", db))); n != 22_000 {
		t.Errorf("got %d rows, want 22000", n)
	}
}
