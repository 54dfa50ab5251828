package sqlite_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/internal/test/clienttest"
	"github.com/cardgateway/cardgateway-go/journal"
	"github.com/cardgateway/cardgateway-go/journal/journaltest"
	"github.com/cardgateway/cardgateway-go/journal/sqlite"
	"github.com/cardgateway/cardgateway-go/journal/sqlstore"
	"github.com/cardgateway/cardgateway-go/sandbox"
)

func open(t testing.TB, path string) *sqlite.Store {
	t.Helper()
	s, err := sqlite.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// succeeds checks the error of a call that is to have none. It does not end the test, so any goroutine may call it.
func succeeds(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Error(err)
	}
}

func TestStore(t *testing.T) {
	journaltest.Run(t, journaltest.Harness{
		Shared: true,
		Open: func(t testing.TB, place string) (journal.Store, func()) {
			s := open(t, filepath.Join(place, "journal.db"))
			return s, func() { succeeds(t, s.Close()) }
		},
	})
}

// TestOpenBesideAnother: another process is creating the file, and changes its journal mode, for which SQLite does not wait.
func TestOpenBesideAnother(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.db")
	other, err := sql.Open("sqlite", path+"?_txlock=immediate")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = other.Close() }()
	tx, err := other.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	time.AfterFunc(100*time.Millisecond, func() { succeeds(t, tx.Rollback()) })
	succeeds(t, open(t, path).Close())
}

// TestOddPaths: characters that mean something in a URL mean nothing in a path.
func TestOddPaths(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, path := range []string{
		"plain.db", "a b.db", "50%25.db", "what?.db", "number#1.db", "plus+and&.db", "ü.db", filepath.Join("new", "deeper", "j.db"),
		filepath.Join(t.TempDir(), "absolute.db"), "-dash.db", "colon:name.db",
	} {
		t.Run(fmt.Sprintf("%q", path), func(t *testing.T) {
			succeeds(t, open(t, path).Close())
			info, err := os.Stat(path)
			if err != nil {
				t.Fatalf("the file is elsewhere: %v", err)
			}
			if info.Size() == 0 || info.Mode().Perm() != 0o600 {
				t.Errorf("it has %d bytes and mode %o, want a database and 600", info.Size(), info.Mode().Perm())
			}
			s := open(t, path)
			t.Chdir(t.TempDir())
			var all sync.WaitGroup // on connections that are opened now
			for range 8 {
				all.Go(func() {
					for range 20 {
						if _, err := s.Get(t.Context(), key("a")); !errors.Is(err, journal.ErrNoEntry) {
							t.Errorf("opened again: %v", err)
						}
					}
				})
			}
			all.Wait()
			succeeds(t, s.Close())
		})
	}
}

func TestRefusedPaths(t *testing.T) {
	for path, want := range map[string]string{
		"": "needs the path", ":memory:": "NewMemoryStore", "file:x?mode=memory": "NewMemoryStore",
		"postgres://db/x": "sqlstore.New", "mysql://db/x": "sqlstore.New", t.TempDir(): "directory",
	} {
		if _, err := sqlite.Open(t.Context(), path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want an error with %q", path, err, want)
		}
	}
}

// TestOneConnection: a pool with one connection, as an in-memory database needs it, is enough.
func TestOneConnection(t *testing.T) {
	journaltest.Run(t, journaltest.Harness{
		Volatile: true,
		Open: func(t testing.TB, _ string) (journal.Store, func()) {
			db, err := sql.Open("sqlite", ":memory:")
			if err != nil {
				t.Fatal(err)
			}
			db.SetMaxOpenConns(1)
			s, err := sqlstore.New(t.Context(), db, sqlstore.SQLite)
			if err != nil {
				t.Fatal(err)
			}
			return s, func() { _ = db.Close() }
		},
	})
}

// TestOpenWithContext: a store that could not be opened in time says why.
func TestOpenWithContext(t *testing.T) {
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := sqlite.Open(over, filepath.Join(t.TempDir(), "journal.db")); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want the end of the context", err)
	}
}

// subscription is a payment that the sandbox approves.
func subscription(id string) cardgateway.SubscriptionRequest {
	return clienttest.SubscriptionRequest(id, clienttest.NewCard("4300000000000000", "123"))
}

// newShop returns a gateway and the client of a shop.
func newShop(t *testing.T) (*sandbox.Gateway, *cardgateway.Client) {
	t.Helper()
	g := sandbox.New(sandbox.Options{NoNotifications: true})
	t.Cleanup(g.Close)
	return g, clienttest.NewClient(t, cardgateway.Config{
		BaseURL: "https://gateway.test", AppID: "7", TestPayments: true, HTTPClient: &http.Client{Transport: g.RoundTripper()},
	})
}

// TestApprovalIsWritten: an approval is in the file before it is returned.
func TestApprovalIsWritten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.db")
	s, other := open(t, path), open(t, path)
	defer func() { _ = errors.Join(s.Close(), other.Close()) }() // no longer needed
	_, client := newShop(t)
	j := journal.New(client, s, journal.Options{})
	for i := range 20 {
		id := fmt.Sprint(i)
		if got, err := j.CreateSubscription(t.Context(), subscription(id)); err != nil || got.State() != cardgateway.StateApproved {
			t.Fatalf("%s: %v, %v", id, got, err)
		}
		if e, err := other.Get(t.Context(), key(id)); err != nil || len(e.Evidence) != 1 || e.Evidence[0].State != journal.Succeeded {
			t.Errorf("%s: stored is %v with %d pieces of evidence, %v", id, e.State(), len(e.Evidence), err)
		}
	}
}

// TestMovedFile: while the program runs, something happens to its file. Nothing more is sent, and the error says why; so after a restart
// the payment can be made, and it is made once.
func TestMovedFile(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(dir, path string) error
		lost   bool
	}{
		{"nothing", func(string, string) error { return nil }, false},
		{"moved", func(_, path string) error { return os.Rename(path, path+".old") }, true},
		{"moved, and a link to it in its place", func(_, path string) error { // its log stays
			return errors.Join(os.Rename(path, path+".old"), os.Symlink(path+".old", path))
		}, true},
		{"deleted", func(_, path string) error { return os.Remove(path) }, true},
		{"a backup renamed into its place", func(dir, path string) error { return os.Rename(filepath.Join(dir, "backup.db"), path) }, true},
		{"a backup copied over a deleted one", func(dir, path string) error {
			data, err := os.ReadFile(filepath.Join(dir, "backup.db"))
			return errors.Join(err, os.Remove(path), os.WriteFile(path, data, 0o600))
		}, true},
		{"a backup copied over it", func(dir, path string) error {
			db, err := sql.Open("sqlite", path)
			if err != nil {
				return err
			}
			_, err = db.Exec("PRAGMA wal_checkpoint(TRUNCATE)")
			data, readErr := os.ReadFile(filepath.Join(dir, "backup.db"))
			return errors.Join(err, db.Close(), readErr, os.WriteFile(path, data, 0o600)) // the file itself stays
		}, true},
		{"its log deleted", func(_, path string) error { return os.Remove(path + "-wal") }, true},
		{"its log deleted, and another one created", func(_, path string) error {
			return errors.Join(os.Remove(path+"-wal"), os.WriteFile(path+"-wal", nil, 0o600))
		}, true},
		{"its log emptied", func(_, path string) error { return os.Truncate(path+"-wal", 0) }, true},
		{"the index of its log deleted", func(_, path string) error { return os.Remove(path + "-shm") }, true},
		{"its directory renamed", func(dir, _ string) error { return os.Rename(dir, dir+".old") }, true},
		{"a link on its way leads elsewhere", func(dir, _ string) error {
			return errors.Join(os.Remove(dir), os.Mkdir(dir+".2", 0o700), os.Symlink(dir+".2", dir))
		}, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { // writing an intent is tried for two seconds
				dir := filepath.Join(t.TempDir(), "data")
				if err := errors.Join(os.Mkdir(dir+".1", 0o700), os.Symlink(dir+".1", dir)); err != nil {
					t.Skip(err) // some systems allow no links
				}
				path := filepath.Join(dir, "journal.db")
				s := open(t, path)
				backup := open(t, filepath.Join(dir, "backup.db"))
				succeeds(t, backup.Close())
				g, client := newShop(t)
				j := journal.New(client, s, journal.Options{WriteTimeout: 5 * time.Second})
				if _, err := j.CreateSubscription(t.Context(), subscription("before")); err != nil {
					t.Fatal(err)
				}
				if err := tt.change(dir, path); err != nil {
					t.Skip(err) // some systems do not let an open file be moved
				}
				_, err := j.CreateSubscription(t.Context(), subscription("a"))
				if tt.lost && (!errors.Is(err, cardgateway.ErrNotSent) || !strings.Contains(err.Error(), "start again")) {
					t.Errorf("got %v, want that nothing was sent, and what to do", err)
				}
				if !tt.lost && err != nil {
					t.Error(err)
				}
				if n := g.Executed("a"); (n == 0) != tt.lost {
					t.Errorf("it was executed %d times", n)
				}
				if err := s.Record(t.Context(), key("before"), 1, journal.Evidence{At: time.Now(), Source: journal.SourceQuery, Seen: true}); (err != nil) != tt.lost {
					t.Errorf("Record: got %v, want an error: %t", err, tt.lost)
				}
				_ = s.Close() // it may not be able to write its log
				if strings.Contains(tt.name, "log") {
					return // the locks of SQLite belong to the process, which would have to end
				}
				after := open(t, path)
				defer func() { _ = after.Close() }()
				restarted := journal.New(client, after, journal.Options{})
				for range 2 {
					_, _ = restarted.CreateSubscription(t.Context(), subscription("a"))
				}
				if n := g.Executed("a"); n != 1 {
					t.Errorf("after a restart, the payment was executed %d times, want once", n)
				}
			})
		})
	}
}

// TestOpenedTwice: a program that opens the file twice keeps its locks on it. Without them, another program that ends deletes the log.
func TestOpenedTwice(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.db")
	first := open(t, path)
	locks := func() int {
		all, err := os.ReadFile("/proc/locks")
		if err != nil {
			t.Skip(err)
		}
		return strings.Count(string(all), fmt.Sprintf(" %d ", os.Getpid()))
	}
	before := locks()
	second := open(t, path)
	if after := locks(); before == 0 || after < before {
		t.Errorf("it had %d locks, and has %d", before, after)
	}
	succeeds(t, errors.Join(first.Close(), second.Close()))
}

// TestLongEntry: what is known of a long entry is not parsed again when more is added, and is parsed again if it is another one.
func TestLongEntry(t *testing.T) {
	db, store, _ := withPool(t, t.TempDir(), 2)
	in := journal.Intent{ID: journal.PaymentID("a"), At: time.Now(), Sender: "1"}
	if _, _, err := store.Begin(t.Context(), in); err != nil {
		t.Fatal(err)
	}
	read := func(n int) *journal.Intent {
		t.Helper()
		e, err := store.Get(t.Context(), in.Key())
		if err != nil || e.Version() != n {
			t.Fatalf("got %d pieces of evidence, %v; want %d", e.Version(), err, n)
		}
		return e.Evidence[0].Submission
	}
	add := func(n int) {
		t.Helper()
		succeeds(t, store.Record(t.Context(), in.Key(), n, journal.Evidence{Source: journal.SourceSubmission, Submission: &in}))
	}
	for n := range 100 {
		add(n)
	}
	first := read(100)
	add(100)
	if again := read(101); again != first {
		t.Error("it was parsed again")
	}
	for _, change := range []string{`replace(evidence, '"sender":"1"', '"sender":"2"')`, `replace(evidence, char(10), '?')`} {
		if _, err := db.Exec(`UPDATE cardgateway_journal SET evidence = ` + change); err != nil {
			t.Fatal(err)
		}
		e, err := store.Get(t.Context(), in.Key())
		if err == nil && e.Evidence[0].Submission.Sender != "2" {
			t.Error("it has changed, and was not parsed again")
		}
		if change[len("replace(evidence, ")] == 'c' && err == nil {
			t.Error("it is damaged, and was read")
		}
	}
}

// TestHugeEvidence: a row that somebody else has made huge cannot be read, and is not held in memory as a whole.
func TestHugeEvidence(t *testing.T) {
	db, s, _ := withPool(t, t.TempDir(), 2)
	in := journal.Intent{ID: journal.PaymentID("a"), At: time.Now(), Currency: "USD"}
	if _, _, err := s.Begin(t.Context(), in); err != nil {
		t.Fatal(err)
	}
	const size = 50_000_000
	if _, err := db.ExecContext(t.Context(), "UPDATE cardgateway_journal SET version = 1, evidence = CAST(zeroblob(?) AS TEXT)", size); err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := s.Get(t.Context(), in.Key())
	runtime.ReadMemStats(&after)
	if _, ok := errors.AsType[*journal.EntryError](err); !ok {
		t.Errorf("got %v, want an *EntryError", err)
	}
	if took := after.TotalAlloc - before.TotalAlloc; took > 2*size {
		t.Errorf("it took %d bytes", took)
	}
}
