package sqlstore

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"testing"
)

// stmtConn is a driver's connection that counts prepared and closed statements, and fails when the test says so.
type stmtConn struct {
	open, prepared int
	failPrepare    error
	failExec       error
}

func (c *stmtConn) Connect(context.Context) (driver.Conn, error) { return c, nil }
func (c *stmtConn) Driver() driver.Driver                        { return nil }
func (c *stmtConn) Begin() (driver.Tx, error)                    { return nil, errors.ErrUnsupported }
func (c *stmtConn) Close() error                                 { return nil }
func (c *stmtConn) Prepare(string) (driver.Stmt, error)          { return nil, errors.ErrUnsupported }

func (c *stmtConn) PrepareContext(context.Context, string) (driver.Stmt, error) {
	if c.failPrepare != nil {
		return nil, c.failPrepare
	}
	c.open++
	c.prepared++
	return &connStmt{c}, nil
}

type connStmt struct{ c *stmtConn }

func (s *connStmt) Close() error                               { s.c.open--; return nil }
func (s *connStmt) NumInput() int                              { return -1 }
func (s *connStmt) Exec([]driver.Value) (driver.Result, error) { return nil, errors.ErrUnsupported }
func (s *connStmt) Query([]driver.Value) (driver.Rows, error)  { return nil, errors.ErrUnsupported }
func (s *connStmt) ExecContext(context.Context, []driver.NamedValue) (driver.Result, error) {
	return driver.RowsAffected(1), s.c.failExec
}

// TestPreparedStatements: each text is prepared once on a connection, unless it failed, and the number of kept statements
// is limited.
func TestPreparedStatements(t *testing.T) {
	c := new(stmtConn)
	db := sql.OpenDB(c)
	conn, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var p preparedStatements
	exec := func(text string, want error) {
		t.Helper()
		if _, err := p.exec(t.Context(), conn, text, 1); !errors.Is(err, want) {
			t.Errorf("%s: got %v, want %v", text, err, want)
		}
	}
	count := func(prepared, open int) {
		t.Helper()
		if c.prepared != prepared || c.open != open || len(p.byText) != open {
			t.Errorf("prepared %d, of which %d are open and %d kept; want %d and %d", c.prepared, c.open, len(p.byText), prepared, open)
		}
	}
	exec("a", nil)
	exec("a", nil)
	count(1, 1)
	broken := errors.New("broken")
	c.failExec = broken
	exec("a", broken)
	count(1, 0)
	c.failExec, c.failPrepare = nil, broken
	exec("a", broken)
	count(1, 0)
	c.failPrepare = nil
	for i := range mostStatements {
		exec(fmt.Sprint(i), nil)
	}
	count(1+mostStatements, mostStatements)
	exec("one more", nil)
	count(2+mostStatements, 1)
	if err := errors.Join(conn.Close(), db.Close()); err != nil {
		t.Error(err)
	}
}
