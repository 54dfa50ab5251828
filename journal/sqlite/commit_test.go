package sqlite_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/shopspring/decimal"

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

// watcher is the driver "sqlite", which can fail.
type watcher struct {
	driver.Driver
	mu      sync.Mutex
	refused string // what fails: BEGIN or COMMIT
}

var errRefused = errors.New("disk I/O error")

func (w *watcher) Open(name string) (driver.Conn, error) {
	c, err := w.Driver.Open(name)
	if err != nil {
		return nil, err
	}
	return &watchedConn{c.(sqliteConn), w}, nil
}

func (w *watcher) refuse(text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.refused = text
}

// about returns an error for what is refused.
func (w *watcher) about(text string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if text == w.refused {
		return errRefused
	}
	return nil
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
	if err := c.w.about("BEGIN"); err != nil {
		return nil, err
	}
	tx, err := c.sqliteConn.BeginTx(ctx, opts)
	if err != nil {
		return nil, err
	}
	return &watchedTx{tx, c.w}, nil
}

type watchedTx struct {
	driver.Tx
	w *watcher
}

func (t *watchedTx) Commit() error {
	if err := t.w.about("COMMIT"); err != nil {
		return errors.Join(err, t.Rollback())
	}
	return t.Tx.Commit()
}

var (
	watching    = &watcher{}
	watchedOnce sync.Once
)

// watchedDB opens a file through the watcher.
func watchedDB(t *testing.T) *sql.DB {
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
	source := "file:" + filepath.Join(t.TempDir(), "journal.db") + "?_pragma=busy_timeout(10000)&_pragma=synchronous(FULL)&_pragma=journal_mode(WAL)"
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

// TestFailedTransaction: what could not be begun, or committed, is not reported as written.
func TestFailedTransaction(t *testing.T) {
	for _, part := range []string{"BEGIN", "COMMIT"} {
		t.Run(part, func(t *testing.T) {
			s, err := sqlstore.New(t.Context(), watchedDB(t), sqlstore.SQLite)
			if err != nil {
				t.Fatal(err)
			}
			watching.refuse(part)
			_, created, err := s.Begin(t.Context(), intent("a"))
			watching.refuse("")
			if !errors.Is(err, errRefused) || created {
				t.Errorf("created %t, %v; want the failure", created, err)
			}
			if _, err := s.Get(t.Context(), key("a")); !errors.Is(err, journal.ErrNoEntry) {
				t.Errorf("got %v, want ErrNoEntry", err)
			}
			if _, created, err := s.Begin(t.Context(), intent("a")); err != nil || !created {
				t.Errorf("once more: created %t, %v", created, err)
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
