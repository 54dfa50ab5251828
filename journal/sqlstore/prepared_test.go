package sqlstore

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
)

// stmtConn is a driver's connection that counts prepared and closed statements, and fails when the test says so.
type stmtConn struct {
	open, prepared int
	failPrepare    error
	failExec       error
	setting        string // what it says of every setting
}

func (c *stmtConn) QueryContext(_ context.Context, query string, _ []driver.NamedValue) (driver.Rows, error) {
	if strings.Contains(query, "sql_mode") {
		return &oneText{text: "strict"}, nil
	}
	return &oneText{text: c.setting}, nil
}

// oneText is a result with one row, which has one text.
type oneText struct {
	text string
	read bool
}

func (r *oneText) Columns() []string { return []string{"text"} }
func (r *oneText) Close() error      { return nil }

func (r *oneText) Next(to []driver.Value) error {
	if r.read {
		return io.EOF
	}
	to[0], r.read = r.text, true
	return nil
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

// mysqlConns makes connections to a server whose settings are safe, and counts the prepared statements that are open on each.
type mysqlConns struct{ made []*stmtConn }

func (m *mysqlConns) Connect(context.Context) (driver.Conn, error) {
	c := &stmtConn{setting: "1"}
	m.made = append(m.made, c)
	return c, nil
}

func (m *mysqlConns) Driver() driver.Driver { return nil }

// TestManyConnections: the statements of a connection that is used again and again are prepared once, however many other connections
// come and go: those of a forgotten connection would stay open on the server, which allows 16,382.
func TestManyConnections(t *testing.T) {
	m := new(mysqlConns)
	db := sql.OpenDB(m)
	conns := checkedConns{dialect: MySQL}
	use := func(conn *sql.Conn) {
		t.Helper()
		s, err := conns.check(t.Context(), conn, db)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.statements.exec(t.Context(), conn, "a"); err != nil {
			t.Fatal(err)
		}
	}
	var long []*sql.Conn
	for range 3 * maxChecked {
		conn, err := db.Conn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		long = append(long, conn)
	}
	for i := range 40 * maxChecked {
		conn, err := db.Conn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		use(conn)
		_ = conn.Raw(func(any) error { return driver.ErrBadConn }) // closes it
		use(long[i%len(long)])
	}
	for i, c := range m.made[:len(long)] {
		if c.prepared != 1 {
			t.Fatalf("connection %d has prepared the statement %d times", i, c.prepared)
		}
	}
	if n := len(conns.newer) + len(conns.older); n > 16*maxChecked {
		t.Errorf("%d connections are remembered", n)
	}
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
