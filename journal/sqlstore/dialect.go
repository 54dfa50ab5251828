package sqlstore

import (
	"context"
	"database/sql"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Dialect is the kind of database of a Store.
type Dialect int

// The supported databases.
const (
	SQLite   Dialect = iota + 1
	Postgres         // 12 or later
	MySQL            // MySQL 8.0.1 or later, MariaDB 10.6 or later
)

// String returns the name of the database.
func (d Dialect) String() string {
	switch d {
	case SQLite:
		return "SQLite"
	case Postgres:
		return "Postgres"
	case MySQL:
		return "MySQL"
	}
	return "Dialect(" + strconv.Itoa(int(d)) + ")"
}

// exec makes a statement, and returns how many rows it has changed.
func (s *Store) exec(ctx context.Context, conn session, statement string, args ...any) (int64, error) {
	result, err := conn.ExecContext(ctx, s.sql(statement), args...)
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

// sql replaces the placeholders ? in a statement by those of the database, and names the schema of the tables that New has checked: without
// it, a connection whose search path or default database is another one would use other tables.
func (s *Store) sql(statement string) string {
	statement = strings.ReplaceAll(statement, "cardgateway_journal", s.schema+"cardgateway_journal")
	if s.dialect != Postgres {
		return statement
	}
	var b strings.Builder
	n := 0
	for part := range strings.SplitAfterSeq(statement, "?") {
		if text, ok := strings.CutSuffix(part, "?"); ok {
			n++
			part = text + "$" + strconv.Itoa(n)
		}
		b.WriteString(part)
	}
	return b.String()
}

// isUnacked returns the condition for which the database uses its index of unacknowledged entries.
func (d Dialect) isUnacked() string {
	if d == MySQL { // with any other condition, it sorts all rows of the shop for each page
		return "unacked = TRUE"
	}
	return "unacked"
}

// repeated returns n copies of a text with commas between them.
func repeated(text string, n int) string {
	return strings.Repeat(text+", ", n-1) + text
}

// padded lengthens a list to the next power of two by repeating its last element. Statements over lists then have few
// different texts, and the driver can prepare each of them once. Use it only for statements to which a repetition makes
// no difference.
func padded[T any](list []T) []T {
	n := 1
	for n < len(list) {
		n *= 2
	}
	for last := list[len(list)-1]; len(list) < n; {
		list = append(list, last)
	}
	return list
}

// checkVersion rejects a server that is too old. Statements that it does not know would fail only when something is written, and
// then each write would be repeated on its own.
//
//   - Postgres 12: the oldest that was tried. The statements need 9.5, for ON CONFLICT and SKIP LOCKED.
//   - MySQL 8.0.1, MariaDB 10.6: SKIP LOCKED.
func (d Dialect) checkVersion(ctx context.Context, conn session) error {
	query := map[Dialect]string{Postgres: `SHOW server_version`, MySQL: `SELECT VERSION()`}[d]
	if query == "" {
		return nil
	}
	var version string
	if err := conn.QueryRowContext(ctx, query).Scan(&version); err != nil {
		return fmt.Errorf("the version of the server cannot be read: %w", err)
	}
	if needed := d.tooOld(version); needed != "" {
		return &settingError{fmt.Sprintf("the server has version %s, and %s or later is needed", version, needed)}
	}
	return nil
}

// tooOld returns the version that is needed if a server's version is older. A version that cannot be read is accepted.
func (d Dialect) tooOld(version string) (needed string) {
	var major, minor, patch int
	n, _ := fmt.Sscanf(version, "%d.%d.%d", &major, &minor, &patch)
	have := major*1_000_000 + minor*1000 + patch
	switch {
	case n == 0:
		return ""
	case d == Postgres && have < 12_000_000:
		return "Postgres 12"
	case d == MySQL && strings.Contains(version, "MariaDB"):
		if have < 10_006_000 {
			return "MariaDB 10.6"
		}
	case d == MySQL && have < 8_000_001:
		return "MySQL 8.0.1"
	}
	return ""
}

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
			{"client_encoding", `SHOW client_encoding`, isNot("utf8"), "set client_encoding = UTF8 for the account or the database, or in the connection URL"},
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
			{"completion_type", `SELECT @@SESSION.completion_type`, isNot("no_chain", "0"), "set completion_type = NO_CHAIN"},
			{"sql_log_bin", `SELECT IF(@@GLOBAL.log_bin, @@SESSION.sql_log_bin, 1)`, isNot("1"), "set sql_log_bin = 1, or a replica lacks the payment"},
			{"unique_checks", `SELECT @@SESSION.unique_checks`, isNot("1"), "set unique_checks = 1"},
			{"character_set_client", `SELECT IF(@@SESSION.character_set_client = @@SESSION.character_set_connection, 'same', @@SESSION.character_set_client)`,
				isNot("same"), "set character_set_client and character_set_connection to the same one: ids are converted from one to the other"},
		}
	}
	return []setting{
		{"synchronous", `PRAGMA synchronous`, is("0", "1"),
			`open the database with "PRAGMA synchronous = FULL" on every connection; with modernc.org/sqlite by _pragma=synchronous(FULL) in the data source name`},
		{"journal_mode", `PRAGMA journal_mode`, is("off", "memory"),
			`open the database with "PRAGMA journal_mode = WAL"; with modernc.org/sqlite by _pragma=journal_mode(WAL) in the data source name`},
	}
}

// checkedConns remembers the connections whose settings have been checked. A pool can open new ones at any time, and a
// data source name, an account or a proxy can give each one different settings.
type checkedConns struct {
	dialect  Dialect
	inMemory bool // the database has no file, and nothing in it is durable

	mu    sync.Mutex
	conns map[any]*connState // by the driver's connection
}

// connState is what is remembered about a connection.
type connState struct {
	synchronous string // of SQLite
	wal         bool   // SQLite's journal is a write-ahead log
	mode        []any  // of a session
}

// maxChecked limits how many connections are remembered, unless the pool has more, because nothing reports that one was closed. What is
// forgotten is checked again.
const maxChecked = 64

// remembered returns what is remembered about a connection, or nil.
func (c *checkedConns) remembered(id any) *connState {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.conns[id]
}

// remember remembers a connection of a pool that has so many.
func (c *checkedConns) remember(id any, s *connState, open int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.conns == nil || len(c.conns) >= max(maxChecked, 2*open) {
		c.conns = make(map[any]*connState)
	}
	c.conns[id] = s
}

// check checks a connection of a pool the first time that it is used.
func (c *checkedConns) check(ctx context.Context, conn session, pool *sql.DB) (*connState, error) {
	var driverConn any
	if err := conn.Raw(func(c any) error {
		driverConn = c
		return nil
	}); err != nil {
		return nil, err
	}
	id := driverConn
	if !reflect.TypeOf(id).Comparable() { // some drivers have such connections: they cannot be remembered
		id = nil
	}
	if s := c.remembered(id); s != nil {
		return s, nil
	}
	s := &connState{mode: execMode(driverConn)}
	conn.mode = s.mode
	for _, want := range c.dialect.settings() {
		var value string
		if err := conn.QueryRowContext(ctx, want.query).Scan(&value); err != nil {
			return nil, fmt.Errorf("the setting %s of %v cannot be read: %w", want.name, c.dialect, err)
		}
		if want.refuse(value) && !c.inMemory {
			return nil, &settingError{fmt.Sprintf("%s is %s, so that a payment could be lost after it was recorded, or made twice: %s", want.name, value, want.remedy)}
		}
		switch want.name {
		case "synchronous":
			s.synchronous = value
		case "journal_mode":
			s.wal = strings.EqualFold(value, "wal")
		}
	}
	if id != nil {
		c.remember(id, s, pool.Stats().OpenConnections)
	}
	return s, nil
}

// settingError says which setting the database must have.
type settingError struct{ text string }

func (e *settingError) Error() string { return e.text }
