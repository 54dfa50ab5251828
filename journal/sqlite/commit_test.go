package sqlite_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/shopspring/decimal"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/journal"
	"github.com/cardgateway/cardgateway-go/journal/sqlstore"
)

var (
	shop = journal.Shop{Gateway: "https://gateway.test", AppID: "7"}
	day  = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
)

func key(id string) journal.Key { return journal.Key{Shop: shop, ID: journal.PaymentID(id)} }

func intent(id string) journal.Intent {
	return journal.Intent{Shop: shop, ID: journal.PaymentID(id), Operation: "TokenPayment", Amount: decimal.NewFromInt(1), Currency: "USD", At: day, Sender: id}
}

// watcher is the driver "sqlite"; it observes each commit.
type watcher struct {
	driver.Driver
	mu      sync.Mutex
	commits []string // PRAGMA synchronous at each
	fail    int      // so many commits fail
	begins  int      // so many transactions cannot be begun
	stuck   string   // no connection can be set to this, of synchronous
}

var (
	errCommit = errors.New("disk I/O error")
	errStuck  = errors.New("it cannot be set")
)

func (w *watcher) Open(name string) (driver.Conn, error) {
	c, err := w.Driver.Open(name)
	if err != nil {
		return nil, err
	}
	return &watchedConn{c.(sqliteConn), w}, nil
}

func (w *watcher) reset(fail int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.commits, w.fail = nil, fail
}

// refuse makes this many transactions fail to begin.
func (w *watcher) refuse(begins int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.begins = begins
}

func (w *watcher) hold(stuck string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stuck = stuck
}

func (w *watcher) seen() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.commits)
}

type sqliteConn interface {
	driver.Conn
	driver.ConnBeginTx
	driver.ConnPrepareContext
	driver.ExecerContext
	driver.QueryerContext
}

type watchedConn struct {
	sqliteConn
	w *watcher
}

func (c *watchedConn) BeginTx(ctx context.Context, opts driver.TxOptions) (driver.Tx, error) {
	c.w.mu.Lock()
	c.w.begins--
	refused := c.w.begins >= 0
	c.w.mu.Unlock()
	if refused {
		return nil, errCommit
	}
	tx, err := c.sqliteConn.BeginTx(ctx, opts)
	if err != nil {
		return nil, err
	}
	return &watchedTx{tx, c}, nil
}

func (c *watchedConn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	c.w.mu.Lock()
	stuck := c.w.stuck
	c.w.mu.Unlock()
	if value, ok := strings.CutPrefix(query, "PRAGMA synchronous = "); ok && value == stuck {
		return nil, errStuck
	}
	return c.sqliteConn.ExecContext(ctx, query, args)
}

// synchronous returns the connection's setting.
func (c *watchedConn) synchronous() (string, error) {
	rows, err := c.QueryContext(context.Background(), "PRAGMA synchronous", nil)
	if err != nil {
		return "", err
	}
	value := make([]driver.Value, 1)
	err = rows.Next(value)
	return fmt.Sprint(value[0]), errors.Join(err, rows.Close())
}

type watchedTx struct {
	driver.Tx
	c *watchedConn
}

func (t *watchedTx) Commit() error {
	value, err := t.c.synchronous()
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	w := t.c.w
	w.mu.Lock()
	w.commits = append(w.commits, value)
	w.fail--
	failed := w.fail >= 0
	w.mu.Unlock()
	if failed {
		return errors.Join(errCommit, t.Rollback())
	}
	return t.Tx.Commit()
}

var (
	watching    = &watcher{}
	watchedOnce sync.Once
)

// watched opens a store in a file through the watcher.
func watched(t *testing.T, journalMode string) *sqlstore.Store {
	t.Helper()
	s, err := sqlstore.New(t.Context(), watchedDB(t, journalMode), sqlstore.SQLite)
	if err != nil {
		t.Fatal(err)
	}
	watching.reset(0)
	return s
}

func watchedDB(t *testing.T, journalMode string) *sql.DB {
	t.Helper()
	watchedOnce.Do(func() {
		db, err := sql.Open("sqlite", "")
		if err != nil {
			t.Fatal(err)
		}
		watching.Driver = db.Driver()
		sql.Register("sqlite, watched", watching)
		_ = db.Close() // it was never used
	})
	source := "file:" + filepath.Join(t.TempDir(),
		"journal.db") + "?_pragma=busy_timeout(10000)&_pragma=synchronous(FULL)&_pragma=journal_mode(" + journalMode + ")"
	db, err := sql.Open("sqlite, watched", source)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

// TestSynced: an intent, and evidence that cannot be queried again, is synced when it is written. An approval and an
// acknowledgement are synced a moment later, but only if a commit without a sync is consistent after any crash.
func TestSynced(t *testing.T) {
	const normal, full = "1", "2"
	succeeded := journal.Evidence{At: day, Source: journal.SourceAnswer, State: journal.Succeeded, Transaction: &cardgateway.Transaction{Code: 100}}
	refused := journal.Evidence{At: day, Source: journal.SourceAnswer, State: journal.Refused}
	for mode, lazily := range map[string]string{"WAL": normal, "DELETE": full} {
		t.Run(mode, func(t *testing.T) {
			s := watched(t, mode)
			for i, step := range []struct {
				name string
				do   func() error
				want string
			}{
				{"an intent", func() error { _, _, err := s.Begin(t.Context(), intent("a")); return err }, full},
				{"an approval", func() error { return s.Record(t.Context(), key("a"), 0, succeeded) }, lazily},
				{"another intent", func() error { _, _, err := s.Begin(t.Context(), intent("b")); return err }, full},
				{"a refusal", func() error { return s.Record(t.Context(), key("b"), 0, refused) }, full},
				{"an acknowledgement", func() error { return s.Ack(t.Context(), key("a"), 1) }, lazily},
			} {
				t.Run(step.name, func(t *testing.T) {
					watching.reset(0)
					if err := step.do(); err != nil {
						t.Fatalf("%d, %s: %v", i, step.name, err)
					}
					if got := watching.seen(); len(got) != 1 || got[0] != step.want {
						t.Errorf("%s: committed with synchronous %q, want one commit with %s", step.name, got, step.want)
					}
				})
			}
		})
	}
}

// TestUnwritableEvidence: evidence that has no stored form is rejected.
func TestUnwritableEvidence(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "journal.db"))
	defer func() { _ = s.Close() }()
	if _, _, err := s.Begin(t.Context(), intent("a")); err != nil {
		t.Fatal(err)
	}
	if err := s.Record(t.Context(), key("a"), 0, journal.Evidence{State: 99}); err == nil {
		t.Error("a state without a name was recorded")
	}
}

// TestFailedCommit: what could not be committed is not reported as written.
func TestFailedCommit(t *testing.T) {
	s := watched(t, "WAL")
	watching.reset(1)
	if _, _, err := s.Begin(t.Context(), intent("a")); !errors.Is(err, errCommit) {
		t.Errorf("got %v, want the failure of the commit", err)
	}
	if _, err := s.Get(t.Context(), key("a")); !errors.Is(err, journal.ErrNoEntry) {
		t.Errorf("got %v, want ErrNoEntry", err)
	}
	if _, created, err := s.Begin(t.Context(), intent("a")); err != nil || !created {
		t.Errorf("once more: created %t, %v", created, err)
	}
	watching.reset(1)
	if err := s.Ack(t.Context(), key("a"), 0); !errors.Is(err, errCommit) { // with a commit that need not be synced
		t.Errorf("Ack: got %v, want the failure of the commit", err)
	}
	watching.reset(0)
	if _, _, err := s.Begin(t.Context(), intent("b")); err != nil || fmt.Sprint(watching.seen()) != "[2]" {
		t.Errorf("afterwards: %v, committed with synchronous %q", err, watching.seen())
	}
}

// TestTransactionThatCannotBegin: nothing is reported as written.
func TestTransactionThatCannotBegin(t *testing.T) {
	s := watched(t, "WAL")
	watching.refuse(1)
	if _, created, err := s.Begin(t.Context(), intent("a")); !errors.Is(err, errCommit) || created {
		t.Errorf("created %t, %v; want the failure", created, err)
	}
	if _, created, err := s.Begin(t.Context(), intent("a")); err != nil || !created {
		t.Errorf("once more: created %t, %v", created, err)
	}
}

// TestConnectionThatCannotBeSet: a connection that cannot be set to commits without a sync writes nothing in this way.
// One that cannot be set back is not used any more.
func TestConnectionThatCannotBeSet(t *testing.T) {
	for stuck, name := range map[string]string{"NORMAL": "to commits without a sync", "2": "back"} {
		t.Run(name, func(t *testing.T) {
			s := watched(t, "WAL")
			if _, _, err := s.Begin(t.Context(), intent("a")); err != nil {
				t.Fatal(err)
			}
			watching.hold(stuck)
			err := s.Ack(t.Context(), key("a"), 0)
			watching.hold("")
			if !errors.Is(err, errStuck) {
				t.Errorf("Ack: got %v", err)
			}
			watching.reset(0)
			if _, _, err := s.Begin(t.Context(), intent("b")); err != nil || fmt.Sprint(watching.seen()) != "[2]" {
				t.Errorf("afterwards: %v, committed with synchronous %q", err, watching.seen())
			}
		})
	}
}

// TestOneBadWrite: a write that the database rejects does not affect the others in its transaction.
func TestOneBadWrite(t *testing.T) {
	large := []string{"bad a", "bad b"}
	for i := range 18 {
		large = append(large, fmt.Sprint("good ", i))
	}
	for name, ids := range map[string][]string{"two": {"bad", "good"}, "many": large} {
		t.Run(name, func(t *testing.T) { oneBadWrite(t, ids) })
	}
}

func oneBadWrite(t *testing.T, ids []string) {
	path := filepath.Join(t.TempDir(), "journal.db")
	s := open(t, path)
	defer func() { _ = s.Close() }()
	db, err := sql.Open("sqlite", "file:"+path+"?_pragma=busy_timeout(10000)")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	admin, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, statement := range []string{
		"CREATE TRIGGER no BEFORE INSERT ON cardgateway_journal WHEN NEW.transaction_id LIKE 'bad%' BEGIN SELECT RAISE(ABORT, 'refused'); END",
		"BEGIN IMMEDIATE", // all others wait
	} {
		if _, err := admin.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	var all sync.WaitGroup
	begin := func(id string) {
		_, created, err := s.Begin(t.Context(), intent(id))
		if bad := strings.HasPrefix(id, "bad"); created == bad || (err != nil) != bad || bad && !strings.Contains(err.Error(), "refused") {
			t.Errorf("%s: created %t, %v", id, created, err)
		}
	}
	all.Go(func() { begin("first") }) // the others form one batch while this one waits
	time.Sleep(100 * time.Millisecond)
	for _, id := range ids {
		all.Go(func() { begin(id) })
	}
	time.Sleep(100 * time.Millisecond) // all are waiting
	if _, err := admin.ExecContext(t.Context(), "ROLLBACK"); err != nil {
		t.Fatal(err)
	}
	all.Wait()
	if err := admin.Close(); err != nil {
		t.Error(err)
	}
}
