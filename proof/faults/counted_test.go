package faults

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"sync/atomic"
	"testing"

	"github.com/cardgateway/cardgateway-go/journal/sqlstore"
)

// openCounted opens the store of a specification, see OpenStore, until the end of the test. The counter says how often the
// database was asked for something: connections, transactions and statements.
func openCounted(t *testing.T, spec string) (*sqlstore.Store, *atomic.Int64) {
	t.Helper()
	d, asked := createDatabase(t, spec), new(atomic.Int64)
	db := sql.OpenDB(counting{openDB(t, spec).Driver(), d.source, asked})
	db.SetMaxOpenConns(16)
	db.SetMaxIdleConns(16)
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return newStore(t, db, d.dialect), asked
}

// counting opens connections of another driver and counts what is asked of them.
type counting struct {
	driver driver.Driver
	dsn    string
	asked  *atomic.Int64
}

func (c counting) Driver() driver.Driver { return c.driver }

func (c counting) Connect(ctx context.Context) (driver.Conn, error) {
	c.asked.Add(1)
	open := func(context.Context) (driver.Conn, error) { return c.driver.Open(c.dsn) }
	if d, ok := c.driver.(driver.DriverContext); ok {
		connector, err := d.OpenConnector(c.dsn)
		if err != nil {
			return nil, err
		}
		open = connector.Connect
	}
	conn, err := open(ctx)
	if err != nil {
		return nil, err
	}
	full, ok := conn.(fullConn)
	if !ok {
		return nil, errors.Join(errors.New("the driver has changed"), conn.Close())
	}
	return &countedConn{full, c.asked}, nil
}

type countedConn struct {
	fullConn
	asked *atomic.Int64
}

func (c *countedConn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	c.asked.Add(1)
	return c.fullConn.ExecContext(ctx, query, args)
}

func (c *countedConn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	c.asked.Add(1)
	return c.fullConn.QueryContext(ctx, query, args)
}

func (c *countedConn) BeginTx(ctx context.Context, opts driver.TxOptions) (driver.Tx, error) {
	c.asked.Add(1)
	return c.fullConn.BeginTx(ctx, opts)
}

func (c *countedConn) PrepareContext(ctx context.Context, query string) (driver.Stmt, error) {
	c.asked.Add(1)
	s, err := c.fullConn.PrepareContext(ctx, query)
	if err != nil {
		return nil, err
	}
	full, ok := s.(fullStmt)
	if !ok {
		return nil, errors.Join(errors.New("the driver has changed"), s.Close())
	}
	return &countedStmt{full, c.asked}, nil
}

// ResetSession and CheckNamedValue are the driver's own, where it has them.
func (c *countedConn) ResetSession(ctx context.Context) error {
	if r, ok := c.fullConn.(driver.SessionResetter); ok {
		return r.ResetSession(ctx)
	}
	return nil
}

func (c *countedConn) CheckNamedValue(v *driver.NamedValue) error {
	if n, ok := c.fullConn.(driver.NamedValueChecker); ok {
		return n.CheckNamedValue(v)
	}
	return driver.ErrSkip
}

// fullStmt is what a prepared statement can do.
type fullStmt interface {
	driver.Stmt
	driver.StmtExecContext
	driver.StmtQueryContext
}

type countedStmt struct {
	fullStmt
	asked *atomic.Int64
}

func (s *countedStmt) ExecContext(ctx context.Context, args []driver.NamedValue) (driver.Result, error) {
	s.asked.Add(1)
	return s.fullStmt.ExecContext(ctx, args)
}

func (s *countedStmt) QueryContext(ctx context.Context, args []driver.NamedValue) (driver.Rows, error) {
	s.asked.Add(1)
	return s.fullStmt.QueryContext(ctx, args)
}
