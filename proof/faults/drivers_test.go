package faults

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cardgateway/cardgateway-go/journal"
	"github.com/cardgateway/cardgateway-go/journal/sqlstore"
)

// TestIncomparableConnections: a store works with a driver whose connections cannot be compared, and so not be remembered.
func TestIncomparableConnections(t *testing.T) {
	db := openWrapped(t, mysqlStore(t, t.Name()+t.TempDir()), func(c fullConn) driver.Conn { return incomparableConn{c, nil} })
	everyWrite(t, newStore(t, db, sqlstore.MySQL), "a")
}

// TestConnectionClosedMeanwhile: if the server has closed a connection, which is detected only when it is used, no write is
// lost.
func TestConnectionClosedMeanwhile(t *testing.T) {
	var closed atomic.Bool
	db := openInterrupted(t, mysqlStore(t, t.Name()+t.TempDir()), func(string) error {
		if closed.CompareAndSwap(true, false) {
			return driver.ErrBadConn
		}
		return nil
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

// TestListOverSilentConnection: a list ends, although its connection neither answers nor breaks.
func TestListOverSilentConnection(t *testing.T) {
	spec := "sqlite:" + t.TempDir() + "/journal.db"
	synctest.Test(t, func(t *testing.T) {
		db := openWrapped(t, spec, func(c fullConn) driver.Conn { return &silentConn{plainConn{c, c, c, c}} })
		var err error
		for _, err = range newStore(t, db, sqlstore.SQLite).Unacked(t.Context(), journal.Shop{}) {
		}
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
		_ = db.Close() // its goroutine must end with this function
	})
}

// silentConn answers no list.
type silentConn struct{ plainConn }

func (c *silentConn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	if strings.Contains(query, "ORDER BY begun") {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return c.plainConn.QueryContext(ctx, query, args)
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

type plainConn struct {
	driver.Conn
	driver.ConnBeginTx
	driver.ExecerContext
	driver.QueryerContext
}

// interruptedConn says what it is about to ask the database for, and does not ask if that returns an error.
type interruptedConn struct {
	plainConn
	about func(query string) error
}

func (c *interruptedConn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	if err := c.about(query); err != nil {
		return nil, err
	}
	return c.plainConn.ExecContext(ctx, query, args)
}

func (c *interruptedConn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	if err := c.about(query); err != nil {
		return nil, err
	}
	return c.plainConn.QueryContext(ctx, query, args)
}

func (c *interruptedConn) BeginTx(ctx context.Context, opts driver.TxOptions) (driver.Tx, error) {
	if err := c.about("BEGIN"); err != nil {
		return nil, err
	}
	tx, err := c.plainConn.BeginTx(ctx, opts)
	return &interruptedTx{tx, c.about}, err
}

type interruptedTx struct {
	driver.Tx
	about func(query string) error
}

func (t *interruptedTx) Commit() error {
	if err := t.about("COMMIT"); err != nil {
		return errors.Join(err, t.Rollback())
	}
	return t.Tx.Commit()
}

// TestFailedTransaction: what could not be begun, or committed, is not reported as written.
func TestFailedTransaction(t *testing.T) {
	errRefused := errors.New("disk I/O error")
	for _, part := range []string{"BEGIN", "COMMIT"} {
		var fails atomic.Bool
		s := newStore(t, openInterrupted(t, "sqlite:"+t.TempDir()+"/journal.db", func(query string) error {
			if fails.Load() && query == part {
				return errRefused
			}
			return nil
		}), sqlstore.SQLite)
		in := journal.Intent{ID: journal.PaymentID("a"), At: time.Now(), Currency: "USD", Sender: "s"}
		fails.Store(true)
		if _, created, err := s.Begin(t.Context(), in); !errors.Is(err, errRefused) || created {
			t.Errorf("%s: created %t, %v; want the failure", part, created, err)
		}
		fails.Store(false)
		if _, err := s.Get(t.Context(), in.Key()); !errors.Is(err, journal.ErrNoEntry) {
			t.Errorf("%s: got %v, want ErrNoEntry", part, err)
		}
		everyWrite(t, s, "a")
	}
}

// openCounted opens the store of a specification, see OpenStore, until the end of the test. The counter says how often the
// database was asked for something: connections, transactions and statements.
func openCounted(t *testing.T, spec string) (*sqlstore.Store, *atomic.Int64) {
	t.Helper()
	asked := new(atomic.Int64)
	db := openInterrupted(t, spec, func(string) error {
		asked.Add(1)
		return nil
	})
	db.SetMaxOpenConns(16)
	db.SetMaxIdleConns(16)
	return newStore(t, db, databaseFor(t, spec).dialect), asked
}

// TestOtherServer: a server that is too old, or syncs nothing to its disk, is rejected when the store is opened, with what is needed.
func TestOtherServer(t *testing.T) {
	for _, tt := range []struct{ asked, answer, want string }{
		{"VERSION()", "5.7.44-log", "the server has version 5.7.44-log, and MySQL 8.0.1 or MariaDB 10.6, or later, is needed"},
		{"@@GLOBAL.innodb_flush_method", "nosync", "remove innodb_flush_method from the server's configuration"},
	} {
		db := openWrapped(t, mysqlStore(t, t.Name()+t.TempDir()), func(c fullConn) driver.Conn {
			return &otherConn{plainConn{c, c, c, c}, tt.asked, tt.answer}
		})
		if _, err := sqlstore.New(t.Context(), db, sqlstore.MySQL); err == nil || !strings.HasSuffix(err.Error(), tt.want) {
			t.Errorf("got %v, want %q", err, tt.want)
		}
	}
}

// otherConn has another answer for what the server is asked for.
type otherConn struct {
	plainConn
	asked, answer string
}

func (c *otherConn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	return c.plainConn.QueryContext(ctx, strings.ReplaceAll(query, c.asked, "'"+c.answer+"'"), args)
}

// openWrapped opens a new database, whose connections are wrapped, until the end of the test.
func openWrapped(t *testing.T, spec string, wrap func(fullConn) driver.Conn) *sql.DB {
	t.Helper()
	return openConnector(t, spec, wrapping{wrap: wrap})
}

// openInterrupted does the same with connections that say what they are about to ask the database for. A new one asks to "CONNECT".
func openInterrupted(t *testing.T, spec string, about func(query string) error) *sql.DB {
	t.Helper()
	return openConnector(t, spec, wrapping{about: about, wrap: func(c fullConn) driver.Conn { return &interruptedConn{plainConn{c, c, c, c}, about} }})
}

func openConnector(t *testing.T, spec string, w wrapping) *sql.DB {
	t.Helper()
	d := createDatabase(t, spec)
	if d.dialect == sqlstore.MySQL {
		d.source += "?interpolateParams=true"
	}
	w.source, w.driver = d.source, openDB(t, spec).Driver()
	db := sql.OpenDB(w)
	t.Cleanup(func() { _ = db.Close() }) // it has served
	return db
}

// wrapping opens connections of a driver and wraps them.
type wrapping struct {
	source string
	driver driver.Driver
	about  func(query string) error // or nil
	wrap   func(fullConn) driver.Conn
}

func (w wrapping) Connect(ctx context.Context) (driver.Conn, error) {
	if w.about != nil {
		if err := w.about("CONNECT"); err != nil {
			return nil, err
		}
	}
	open := func(context.Context) (driver.Conn, error) { return w.driver.Open(w.source) }
	if d, ok := w.driver.(driver.DriverContext); ok {
		connector, err := d.OpenConnector(w.source)
		if err != nil {
			return nil, err
		}
		open = connector.Connect
	}
	c, err := open(ctx)
	if err != nil {
		return nil, err
	}
	full, ok := c.(fullConn)
	if !ok {
		return nil, errors.Join(errors.New("the driver has changed"), c.Close())
	}
	return w.wrap(full), nil
}

func (w wrapping) Driver() driver.Driver { return w.driver }
