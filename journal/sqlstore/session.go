package sqlstore

import (
	"context"
	"database/sql"
	"fmt"
	"reflect"
	"slices"
)

// session is a connection. If a pooler gives each transaction another session of the server (PgBouncer with pool_mode transaction), its
// statements are not prepared there: what was prepared in one is missing in the next, or exists there already, so that the statement fails.
type session struct {
	*sql.Conn
	*connState
}

func (s session) ExecContext(ctx context.Context, statement string, args ...any) (sql.Result, error) {
	return s.Conn.ExecContext(ctx, statement, slices.Concat(s.mode, args)...)
}

func (s session) QueryContext(ctx context.Context, statement string, args ...any) (*sql.Rows, error) {
	return s.Conn.QueryContext(ctx, statement, slices.Concat(s.mode, args)...)
}

func (s session) QueryRowContext(ctx context.Context, statement string, args ...any) *sql.Row {
	return s.Conn.QueryRowContext(ctx, statement, slices.Concat(s.mode, args)...)
}

// execMode returns the argument by which pgx does not prepare a statement under a name, QueryExecModeExec, if the connection is of pgx and
// would. This package imports no driver.
func execMode(driverConn any) []any {
	conn := noArguments(driverConn, "Conn")
	if !conn.IsValid() || conn.Type().String() != "*pgx.Conn" {
		return nil
	}
	config := reflect.Indirect(noArguments(driverConn, "Conn", "Config"))
	if config.Kind() != reflect.Struct {
		return nil
	}
	mode := config.FieldByName("DefaultQueryExecMode")
	if !mode.CanInt() || fmt.Sprint(mode) != "cache statement" {
		return nil
	}
	exec := reflect.New(mode.Type()).Elem()
	if exec.SetInt(mode.Int() + 3); fmt.Sprint(exec) != "exec" {
		return nil
	}
	return []any{exec.Interface()}
}

// closePgx closes a connection of pgx. A pool of pgx below that of database/sql (stdlib.OpenDBFromPool) would keep it otherwise.
func closePgx(driverConn any) {
	if conn := noArguments(driverConn, "Conn"); conn.IsValid() && conn.Type().String() == "*pgx.Conn" {
		over, cancel := context.WithCancel(context.Background())
		cancel() // nobody waits for the server
		conn.MethodByName("Close").Call([]reflect.Value{reflect.ValueOf(over)})
	}
}

// isDirect reports whether a connection of pgx leads to this process of the server. A pooler tells its clients other ids than those of the
// server's processes.
func isDirect(driverConn any, process string) bool {
	id := noArguments(driverConn, "Conn", "PgConn", "PID")
	return id.IsValid() && fmt.Sprint(id) == process
}

// The status of a session of MySQL.
const (
	inTransaction = 1 << iota
	autocommit    // each statement is committed when it returns
)

// sessionStatus returns the status in the server's last answer, if the connection is of go-sql-driver/mysql. For any other, it returns autocommit: of
// those drivers, pgx drops a connection on which a transaction was left open, and SQLite refuses to begin another one there.
func sessionStatus(driverConn any) uint64 {
	conn := reflect.ValueOf(driverConn)
	if conn.Type().String() != "*mysql.mysqlConn" {
		return autocommit
	}
	status := conn.Elem().FieldByName("status")
	if !status.CanUint() {
		return autocommit
	}
	return status.Uint() & (inTransaction | autocommit)
}

// noArguments calls a method that has no arguments and one result, the next one of its result, and so on. It returns the zero Value if one does
// not exist.
func noArguments(of any, methods ...string) reflect.Value {
	result := reflect.ValueOf(of)
	for _, method := range methods {
		m := result.MethodByName(method)
		if !m.IsValid() || m.Type().NumIn() != 0 || m.Type().NumOut() != 1 {
			return reflect.Value{}
		}
		result = m.Call(nil)[0]
	}
	return result
}
