package journal

import (
	"context"
	"database/sql"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
)

// setting is a setting that a connection must have, so that a commit is durable when it returns and texts are stored
// unchanged.
type setting struct {
	name   string // the database's own name for it
	query  string
	refuse func(value string) bool
	remedy string
}

func is(values ...string) func(string) bool {
	return func(value string) bool { return slices.Contains(values, strings.ToLower(value)) }
}

func isNot(values ...string) func(string) bool {
	return func(value string) bool { return !slices.Contains(values, strings.ToLower(value)) }
}

func (d Dialect) settings() []setting {
	switch d {
	case Postgres:
		return []setting{
			{"synchronous_commit", `SHOW synchronous_commit`, is("off"), "set synchronous_commit = on for the account, the database or the server"},
			{"fsync", `SHOW fsync`, is("off"), "set fsync = on in the server's configuration"},
		}
	case MySQL:
		return []setting{
			{"innodb_flush_log_at_trx_commit", `SELECT @@GLOBAL.innodb_flush_log_at_trx_commit`, isNot("1"),
				"set innodb_flush_log_at_trx_commit = 1 in the server's configuration"},
			{"sync_binlog", `SELECT IF(@@GLOBAL.log_bin, @@GLOBAL.sync_binlog, 1)`, isNot("1"),
				"set sync_binlog = 1 in the server's configuration, or switch the binary log off"},
			{"sql_mode", `SELECT IF(@@SESSION.sql_mode LIKE '%STRICT_TRANS_TABLES%' OR @@SESSION.sql_mode LIKE '%STRICT_ALL_TABLES%', 'strict', 'lax')`,
				isNot("strict"), "add STRICT_TRANS_TABLES to sql_mode"},
			{"autocommit", `SELECT @@SESSION.autocommit`, isNot("1"), "set autocommit = 1"},
		}
	}
	return []setting{
		{"synchronous", `PRAGMA synchronous`, is("0", "1"),
			`open the database with "PRAGMA synchronous = FULL" on every connection; with modernc.org/sqlite by _pragma=synchronous(FULL) in the data source name`},
		{"journal_mode", `PRAGMA journal_mode`, is("off", "memory"), `open the database with "PRAGMA journal_mode = WAL"; with modernc.org/sqlite by _pragma=journal_mode(WAL) in the data source name`},
	}
}

// checkedConns remembers the connections whose settings have been checked. A pool can open new ones at any time, and a
// data source name, an account or a proxy can give each one different settings.
type checkedConns struct {
	dialect  Dialect
	inMemory bool // the database has no file, and nothing in it is durable

	mu      sync.Mutex
	checked map[any]*connState // by the driver's connection
}

// connState is what is remembered about a connection.
type connState struct {
	synchronous string // of SQLite
	wal         bool   // SQLite's journal is a write-ahead log
	statements  preparedStatements
}

// maxChecked limits how many connections are remembered, because nothing reports that one was closed. Beyond it, all are
// forgotten and checked again.
const maxChecked = 64

// check checks a connection the first time that it is used.
func (c *checkedConns) check(ctx context.Context, conn *sql.Conn) (*connState, error) {
	var id any
	if err := conn.Raw(func(driverConn any) error {
		id = driverConn
		return nil
	}); err != nil {
		return nil, err
	}
	if !reflect.TypeOf(id).Comparable() { // some drivers have such connections: they cannot be remembered
		id = nil
	}
	c.mu.Lock()
	s, ok := c.checked[id]
	c.mu.Unlock()
	if ok {
		return s, nil
	}
	s = new(connState)
	for _, want := range c.dialect.settings() {
		var value string
		if err := conn.QueryRowContext(ctx, want.query).Scan(&value); err != nil {
			return nil, fmt.Errorf("the setting %s of %v cannot be read: %w", want.name, c.dialect, err)
		}
		if want.refuse(value) && !c.inMemory {
			return nil, &settingError{fmt.Sprintf("%s is %s, so that a payment could be lost after it was recorded: %s", want.name, value, want.remedy)}
		}
		switch want.name {
		case "synchronous":
			s.synchronous = value
		case "journal_mode":
			s.wal = strings.EqualFold(value, "wal")
		}
	}
	if id == nil {
		s.statements.unkept = true
		return s, nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.checked == nil || len(c.checked) >= maxChecked {
		c.checked = make(map[any]*connState)
	}
	c.checked[id] = s
	return s, nil
}

// settingError says which setting the database must have.
type settingError struct{ text string }

func (e *settingError) Error() string { return e.text }
