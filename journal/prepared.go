package journal

import (
	"context"
	"database/sql"
	"database/sql/driver"
)

// preparedStatements are the prepared statements of one connection to MySQL. database/sql would prepare a statement again
// for each use on a connection, which costs a round trip; and what it prepares for a database may run on a connection
// that has not been checked.
//
// Only the goroutine that holds the connection may use them. They end with the connection.
type preparedStatements struct {
	byText map[string]driver.Stmt
	unkept bool // the connection cannot be remembered, so its statements are not kept
}

// mostStatements limits the prepared statements of a connection. Each size of a batch has its own text.
const mostStatements = 64

// exec prepares a statement if it has not been prepared on this connection, and executes it.
func (p *preparedStatements) exec(ctx context.Context, conn *sql.Conn, text string, args ...any) (result sql.Result, err error) {
	named, plain := namedValues(args)
	if !plain || p.unkept {
		return conn.ExecContext(ctx, text, args...)
	}
	able := true
	err = conn.Raw(func(driverConn any) error {
		s, err := p.prepare(ctx, driverConn, text)
		if s == nil {
			able = false
			return err
		}
		if result, err = s.ExecContext(ctx, named); err != nil {
			_ = p.byText[text].Close() // the next use prepares it again
			delete(p.byText, text)
		}
		return err
	})
	if err == nil && !able {
		return conn.ExecContext(ctx, text, args...)
	}
	return result, err
}

// prepare returns a statement, or nil if the driver cannot prepare or execute one with a context.
func (p *preparedStatements) prepare(ctx context.Context, driverConn any, text string) (driver.StmtExecContext, error) {
	stmt, ok := p.byText[text]
	if !ok {
		c, able := driverConn.(driver.ConnPrepareContext)
		if !able {
			return nil, nil
		}
		var err error
		if stmt, err = c.PrepareContext(ctx, text); err != nil {
			return nil, err
		}
		if len(p.byText) >= mostStatements {
			for _, old := range p.byText {
				_ = old.Close()
			}
			p.byText = nil
		}
		if p.byText == nil {
			p.byText = make(map[string]driver.Stmt)
		}
		p.byText[text] = stmt
	}
	s, _ := stmt.(driver.StmtExecContext)
	return s, nil
}

// namedValues converts arguments to the form that drivers take. It returns false if one has a type that database/sql
// would have to convert.
func namedValues(args []any) (named []driver.NamedValue, plain bool) {
	named = make([]driver.NamedValue, len(args))
	for i, arg := range args {
		if n, ok := arg.(int); ok {
			arg = int64(n)
		}
		if !driver.IsValue(arg) {
			return nil, false
		}
		named[i] = driver.NamedValue{Ordinal: i + 1, Value: arg}
	}
	return named, true
}
