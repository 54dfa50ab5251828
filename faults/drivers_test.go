package faults

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/journal"
	"github.com/cardgateway/cardgateway-go/journal/sqlstore"
)

// TestPlainDrivers: a driver that wraps another one, and has fewer optional interfaces, works with a store, if more slowly.
func TestPlainDrivers(t *testing.T) {
	for name, wrap := range map[string]func(fullConn) driver.Conn{
		"connections that cannot be compared":               func(c fullConn) driver.Conn { return incomparableConn{c, nil} },
		"connections that cannot prepare with a context":    func(c fullConn) driver.Conn { return &plainConn{c, c, c, c} },
		"statements that cannot be executed with a context": func(c fullConn) driver.Conn { return &plainStatements{c} },
	} {
		t.Run(name, func(t *testing.T) {
			s := newStore(t, openWrapped(t, mysqlStore(t, t.Name()+t.TempDir()), wrap), sqlstore.MySQL)
			refused := journal.Evidence{At: time.Now(), Source: journal.SourceAnswer, State: journal.Refused, Sender: "s"}
			for _, id := range []string{"a", "b"} {
				in := journal.Intent{ID: journal.PaymentID(id), At: time.Now(), Currency: "USD", Sender: "s"}
				if _, created, err := s.Begin(t.Context(), in); err != nil || !created {
					t.Errorf("Begin: created %t, %v", created, err)
				}
				if err := s.Record(t.Context(), in.Key(), 0, refused); err != nil {
					t.Errorf("Record: %v", err)
				}
				if err := s.Ack(t.Context(), in.Key(), 1); err != nil {
					t.Errorf("Ack: %v", err)
				}
				if e, err := s.Get(t.Context(), in.Key()); err != nil || e.State() != journal.Refused || e.Unacked() {
					t.Errorf("got %v, unacknowledged %t, %v", e.State(), e.Unacked(), err)
				}
			}
		})
	}
}

// TestConnectionClosedMeanwhile: if the server has closed a connection, which is detected only when it is used, no write is
// lost.
func TestConnectionClosedMeanwhile(t *testing.T) {
	var closed atomic.Bool
	db := openWrapped(t, mysqlStore(t, t.Name()+t.TempDir()), func(c fullConn) driver.Conn {
		return &closedConn{plainConn{c, c, c, c}, &closed}
	})
	s := newStore(t, db, sqlstore.MySQL)
	in := journal.Intent{ID: journal.PaymentID("a"), At: time.Now(), Currency: "USD", Sender: "s"}
	for _, write := range []struct {
		name string
		make func() error
	}{
		{"Begin", func() error { _, _, err := s.Begin(t.Context(), in); return err }},
		{"Record", func() error {
			return s.Record(t.Context(), in.Key(), 0, journal.Evidence{At: time.Now(), Source: journal.SourceAnswer, State: journal.Refused, Sender: "s"})
		}},
		{"Ack", func() error { return s.Ack(t.Context(), in.Key(), 1) }},
	} {
		t.Run(write.name, func(t *testing.T) {
			closed.Store(true)
			if err := write.make(); err != nil || closed.Load() {
				t.Errorf("%s: %v; a connection is still closed: %t", write.name, err, closed.Load())
			}
		})
	}
}

// closedConn reports once, when closed is set, that the server has closed the connection.
type closedConn struct {
	plainConn
	closed *atomic.Bool
}

func (c *closedConn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	if c.closed.CompareAndSwap(true, false) {
		return nil, driver.ErrBadConn
	}
	return c.plainConn.ExecContext(ctx, query, args)
}

// fullConn is what a connection of the drivers of all three databases can do.
type fullConn interface {
	driver.Conn
	driver.ConnBeginTx
	driver.ConnPrepareContext
	driver.ExecerContext
	driver.QueryerContext
}

type incomparableConn struct {
	fullConn
	_ []int
}

// PrepareContext must not be called: nobody could find the statement again, and close it.
func (incomparableConn) PrepareContext(context.Context, string) (driver.Stmt, error) {
	return nil, errors.New("a statement was prepared")
}

type plainConn struct {
	driver.Conn
	driver.ConnBeginTx
	driver.ExecerContext
	driver.QueryerContext
}

// TestOldServer: a server that is too old is rejected when the store is opened, with the version that is needed.
func TestOldServer(t *testing.T) {
	db := openWrapped(t, mysqlStore(t, t.Name()+t.TempDir()), func(c fullConn) driver.Conn { return &oldConn{plainConn{c, c, c, c}} })
	const want = "the server has version 5.7.44-log, and MySQL 8.0.1 or later is needed"
	if _, err := sqlstore.New(t.Context(), db, sqlstore.MySQL); err == nil || !strings.HasSuffix(err.Error(), want) {
		t.Errorf("got %v, want %q", err, want)
	}
}

// oldConn says that the server is an old one.
type oldConn struct{ plainConn }

func (c *oldConn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	return c.plainConn.QueryContext(ctx, strings.ReplaceAll(query, "VERSION()", "'5.7.44-log'"), args)
}

type plainStatements struct{ fullConn }

func (c *plainStatements) PrepareContext(ctx context.Context, query string) (driver.Stmt, error) {
	s, err := c.fullConn.PrepareContext(ctx, query)
	return struct{ driver.Stmt }{s}, err
}

// openWrapped opens a new database of MySQL, whose connections are wrapped, until the end of the test.
func openWrapped(t *testing.T, spec string, wrap func(fullConn) driver.Conn) *sql.DB {
	t.Helper()
	db := sql.OpenDB(wrapping{createDatabase(t, spec).source, wrap})
	t.Cleanup(func() { _ = db.Close() }) // it has served
	return db
}

// wrapping opens connections of MySQL's driver and wraps them.
type wrapping struct {
	dsn  string
	wrap func(fullConn) driver.Conn
}

func (w wrapping) Connect(ctx context.Context) (driver.Conn, error) {
	config, err := mysql.ParseDSN(w.dsn)
	if err != nil {
		return nil, err
	}
	config.InterpolateParams = true
	connector, err := mysql.NewConnector(config)
	if err != nil {
		return nil, err
	}
	c, err := connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	full, ok := c.(fullConn)
	if !ok {
		return nil, errors.Join(errors.New("the driver has changed"), c.Close())
	}
	return w.wrap(full), nil
}

func (w wrapping) Driver() driver.Driver { return mysql.MySQLDriver{} }

// TestSyncedByPostgres: what nobody can be asked for again is synced when it is written; an approval and an acknowledgement
// need not be.
func TestSyncedByPostgres(t *testing.T) {
	spec := postgres(t, t.Name()+t.TempDir())
	createStore(t, spec)
	config, err := pgx.ParseConfig(strings.TrimPrefix(spec, "postgres:"))
	if err != nil {
		t.Fatal(err)
	}
	seen := new(statements)
	config.Tracer = seen
	db := stdlib.OpenDB(*config)
	defer func() { _ = db.Close() }()
	s := newStore(t, db, sqlstore.Postgres)
	evidence := func(state journal.State) journal.Evidence {
		return journal.Evidence{At: time.Now(), Source: journal.SourceAnswer, State: state, Sender: "s"}
	}
	refused, approved := evidence(journal.Refused), evidence(journal.Succeeded)
	approved.Transaction = &cardgateway.Transaction{Code: cardgateway.CodeSuccess, UniqueID: "1"}
	key := func(id string) journal.Key { return journal.Key{ID: journal.PaymentID(id)} }
	begin := func(id string) error {
		_, _, err := s.Begin(t.Context(), journal.Intent{ID: journal.PaymentID(id), At: time.Now(), Currency: "USD", Sender: "s"})
		return err
	}
	lazily := func(text string) bool { return strings.Contains(text, "set_config('synchronous_commit', 'off'") }
	for _, step := range []struct {
		name   string
		write  func() error
		synced bool
	}{
		{"an intent", func() error { return begin("a") }, true},
		{"another intent", func() error { return begin("b") }, true},
		{"an approval", func() error { return s.Record(t.Context(), key("a"), 0, approved) }, false},
		{"a refusal", func() error { return s.Record(t.Context(), key("b"), 0, refused) }, true},
		{"an acknowledgement", func() error { return s.Ack(t.Context(), key("a"), 1) }, false},
	} {
		t.Run(step.name, func(t *testing.T) {
			seen.take()
			if err := step.write(); err != nil {
				t.Fatalf("%s: %v", step.name, err)
			}
			all := seen.take()
			if synced := !slices.ContainsFunc(all, lazily); len(all) == 0 || synced != step.synced {
				t.Errorf("%s: synced is %t, want %t, by: %q", step.name, synced, step.synced, all)
			}
		})
	}
	ids := []string{"held"}
	for i := range 30 {
		ids = append(ids, fmt.Sprint("shares a batch ", i))
	}
	for _, id := range ids {
		if err := begin(id); err != nil {
			t.Fatal(err)
		}
	}
	for _, batch := range []struct {
		name   string
		write  func(id string) error
		synced bool
	}{
		{"refusals", func(id string) error { return s.Record(t.Context(), key(id), 0, refused) }, true},
		{"approvals", func(id string) error { return s.Record(t.Context(), key(id), 1, approved) }, false},
		{"acknowledgements", func(id string) error { return s.Ack(t.Context(), key(id), 2) }, false},
	} {
		t.Run(batch.name, func(t *testing.T) {
			release := hold(t, spec, "START TRANSACTION", "SELECT 1 FROM cardgateway_journal WHERE transaction_id = 'held' FOR UPDATE", "ROLLBACK")
			seen.take()
			var all sync.WaitGroup
			for _, id := range ids { // the others come while the one that is held waits, and share the next batches
				all.Go(func() {
					if err := batch.write(id); err != nil {
						t.Errorf("%s: %v", id, err)
					}
				})
			}
			time.Sleep(100 * time.Millisecond)
			release()
			all.Wait()
			texts := slices.DeleteFunc(seen.take(), func(text string) bool { return !strings.Contains(text, "SKIP LOCKED") })
			if synced := !slices.ContainsFunc(texts, lazily); len(texts) == 0 || synced != batch.synced {
				t.Errorf("synced is %t, want %t, by: %q", synced, batch.synced, texts)
			}
		})
	}
}

// statements are the texts of what a connection executes.
type statements struct {
	mu  sync.Mutex
	all []string
}

func (s *statements) TraceQueryStart(ctx context.Context, _ *pgx.Conn, data pgx.TraceQueryStartData) context.Context {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all = append(s.all, data.SQL)
	return ctx
}

func (*statements) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

func (s *statements) take() (all []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	all, s.all = s.all, nil
	return all
}
