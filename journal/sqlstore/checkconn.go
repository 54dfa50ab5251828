package sqlstore

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/cardgateway/cardgateway-go/internal/openfile"
)

// condition is something that a connection, or a table that it reaches, must have, so that a commit is durable when it returns, an intent is
// unique, and texts are stored unchanged. A data source name, an account or a proxy can give each connection other settings, or another
// server; and somebody else can have created or changed the tables, while every statement would still succeed.
type condition struct {
	name    string // of a setting: the database's own
	query   string // of one text, which can stand in brackets in another query
	refuse  func(value string) bool
	problem string // for fmt, with the value

	elsewhere bool // another connection may lead to a server that has it
}

// Names of conditions that are never refused.
const (
	serverProcess = "process"
	databaseFile  = "file"
)

func is(values ...string) func(string) bool {
	return func(value string) bool { return slices.Contains(values, strings.ToLower(value)) }
}

func isNot(values ...string) func(string) bool {
	return func(value string) bool { return !slices.Contains(values, strings.ToLower(value)) }
}

func setting(name, query string, refuse func(string) bool, remedy string) condition {
	return condition{name, query, refuse, name + " is %s, so that a payment could be lost after it was recorded, or made twice: " + remedy, false}
}

// writable is the condition that a server takes writes. What is read from a standby can be old: an entry that is not there yet would look like a
// payment that was not sent.
func writable(query string) condition {
	return condition{"", query, isNot("false", "0", "off"), "the server is a standby, or read-only (%s): connect to the one that takes writes, also for reading", true}
}

func (d Dialect) settings() []condition {
	switch d {
	case Postgres:
		return []condition{
			{"", `SELECT current_setting('server_version')`, d.isTooOld, "the server has version %s, and Postgres 12 or later is needed", false},
			writable(`SELECT CAST(pg_is_in_recovery() AS text)`),
			setting("synchronous_commit", `SELECT current_setting('synchronous_commit')
				|| CASE WHEN current_setting('synchronous_standby_names') <> '' THEN ', with a synchronous standby' ELSE '' END`,
				is("off", "off, with a synchronous standby", "local, with a synchronous standby"),
				"set synchronous_commit = on for the account, the database or the server"),
			setting("fsync", `SELECT current_setting('fsync')`, is("off"), "set fsync = on in the server's configuration"),
			setting("client_encoding", `SELECT current_setting('client_encoding')`, isNot("utf8"),
				"set client_encoding = UTF8 for the account or the database, or in the connection URL"),
			{name: serverProcess, query: `SELECT CAST(pg_backend_pid() AS text)`, refuse: is()},
		}
	case MySQL:
		return []condition{
			{"", `SELECT VERSION()`, d.isTooOld, "the server has version %s, and MySQL 8.0.1 or MariaDB 10.6, or later, is needed", false},
			writable(`SELECT @@GLOBAL.read_only`),        // a word since MariaDB 12
			writable(`SELECT @@GLOBAL.innodb_read_only`), // a reader of Aurora has only this
			setting("innodb_flush_log_at_trx_commit", `SELECT @@GLOBAL.innodb_flush_log_at_trx_commit`, isNot("1"),
				"set innodb_flush_log_at_trx_commit = 1 in the server's configuration"),
			setting("innodb_flush_method", `SELECT @@GLOBAL.innodb_flush_method`, is("nosync", "littlesync"),
				"remove innodb_flush_method from the server's configuration"),
			setting("sync_binlog", `SELECT IF(@@GLOBAL.log_bin, @@GLOBAL.sync_binlog, 1)`, isNot("1"),
				"set sync_binlog = 1 in the server's configuration, or switch the binary log off"),
			setting("sql_mode", `SELECT IF(@@SESSION.sql_mode RLIKE 'STRICT_(TRANS|ALL)_TABLES' AND @@SESSION.sql_mode NOT RLIKE 'ORACLE|EMPTY_STRING_IS_NULL', 'right', @@SESSION.sql_mode)`,
				isNot("right"), "add STRICT_TRANS_TABLES to sql_mode, and remove ORACLE and EMPTY_STRING_IS_NULL, with which MariaDB has no empty texts"),
			setting("autocommit", `SELECT @@SESSION.autocommit`, isNot("1"), "set autocommit = 1"),
			setting("completion_type", `SELECT @@SESSION.completion_type`, isNot("no_chain", "0"), "set completion_type = NO_CHAIN"),
			setting("sql_log_bin", `SELECT IF(@@GLOBAL.log_bin, @@SESSION.sql_log_bin, 1)`, isNot("1"), "set sql_log_bin = 1, or a replica lacks the payment"),
			setting("unique_checks", `SELECT @@SESSION.unique_checks`, isNot("1"), "set unique_checks = 1"),
			setting("character_set_client", `SELECT IF(@@SESSION.character_set_client = @@SESSION.character_set_connection
				AND @@SESSION.character_set_client NOT IN ('big5', 'cp932', 'gb18030', 'gb2312', 'gbk', 'sjis'), 'same', @@SESSION.character_set_client)`,
				isNot("same"), "set character_set_client and character_set_connection to the same one, such as utf8mb4: "+
					"ids are converted from one to the other, and a byte of an id can hide the escape that follows it"),
		}
	}
	return []condition{
		{name: databaseFile, query: `SELECT file FROM pragma_database_list WHERE name = 'main'`, refuse: is()}, // first: see check
		setting("synchronous", `SELECT synchronous FROM pragma_synchronous`, is("0", "1"),
			`open the database with "PRAGMA synchronous = FULL" on every connection; with modernc.org/sqlite by _pragma=synchronous(FULL) in the data source name`),
		setting("journal_mode", `SELECT journal_mode FROM pragma_journal_mode`, is("off", "memory"),
			`open the database with "PRAGMA journal_mode = WAL"; with modernc.org/sqlite by _pragma=journal_mode(WAL) in the data source name`),
	}
}

// checkedConns remembers the connections that have been checked. A pool can open new ones at any time.
type checkedConns struct {
	dialect Dialect
	file    *openfile.File
	tables  []condition // of the tables, once they exist

	mu    sync.Mutex
	conns map[any]*connState // by the driver's connection
}

// connState is what is remembered about a connection.
type connState struct {
	checked time.Time
	beside  []openfile.Beside // the write-ahead log of SQLite, and its index, as they were when the connection was first used
	mode    []any             // the first arguments of every statement, for the driver: see session
}

const (
	// checkAgainAfter is how long a check of a connection counts: a table, and settings of a server, can be changed at any time, and a proxy
	// can lead to another server.
	checkAgainAfter = time.Minute

	// maxChecked limits how many connections are remembered, unless the pool has more, because nothing reports that one was closed. What is
	// forgotten is checked again.
	maxChecked = 64
)

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

// forget has every connection checked again.
func (c *checkedConns) forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.conns = nil
}

// addTables adds conditions of tables: every connection is checked again. Nobody else may use the connections yet.
func (c *checkedConns) addTables(conditions []condition) {
	c.tables = append(c.tables, conditions...)
	c.forget()
}

// check checks a connection of a pool when it is first used, and then once a minute, with one query.
func (c *checkedConns) check(ctx context.Context, conn *sql.Conn, pool *sql.DB) (s session, err error) {
	var driverConn any
	if err := conn.Raw(func(c any) error {
		driverConn = c
		return nil
	}); err != nil {
		return s, err
	}
	id := driverConn
	if !reflect.TypeOf(id).Comparable() { // some drivers have such connections: they cannot be remembered
		id = nil
	}
	before := c.remembered(id)
	if before != nil && time.Since(before.checked) < checkAgainAfter && sessionStatus(driverConn) == autocommit {
		return session{conn, before}, nil
	}
	s = session{conn, &connState{checked: time.Now(), mode: execMode(driverConn)}}
	conditions := slices.Concat(c.dialect.settings(), c.tables)
	queries := make([]string, len(conditions))
	values, dest := make([]sql.NullString, len(conditions)), make([]any, len(conditions))
	for i := range conditions {
		queries[i], dest[i] = "("+conditions[i].query+")", &values[i]
	}
	if err := s.QueryRowContext(ctx, "SELECT "+strings.Join(queries, ", ")).Scan(dest...); err != nil {
		return s, fmt.Errorf("settings and tables cannot be read as those of %v: %w", c.dialect, err)
	}
	wal, inMemory := false, false // a database without a file, nothing in which is durable
	for i, want := range conditions {
		value := cmp.Or(values[i].String, "none")
		if want.refuse(value) && !(inMemory && want.name != "") {
			return s, &settingError{fmt.Sprintf(want.problem, value), want.elsewhere}
		}
		switch want.name {
		case "journal_mode":
			wal = strings.EqualFold(value, "wal")
		case databaseFile:
			if inMemory = values[i].String == ""; inMemory && pool.Stats().MaxOpenConnections != 1 {
				return s, &settingError{text: "the database is in memory, where each connection has one of its own: use a file, or in a test SetMaxOpenConns(1)"}
			}
			if err := c.file.Opened(ctx, values[i].String); err != nil {
				return s, &settingError{text: err.Error()}
			}
		case serverProcess:
			if isDirect(driverConn, value) {
				s.mode = nil
			}
		}
	}
	if sessionStatus(driverConn)&inTransaction != 0 { // also by the answer to this query
		return s, &settingError{text: "a transaction was left open on a connection of the pool, so that what is recorded could be rolled back: begin transactions with BeginTx"}
	}
	switch {
	case before != nil:
		s.beside = before.beside
	case wal:
		s.beside = c.file.Beside("-wal", "-shm")
	}
	if id != nil {
		c.remember(id, s.connState, pool.Stats().OpenConnections)
	}
	return s, nil
}

// settingError says which setting the database must have.
type settingError struct {
	text      string
	elsewhere bool // see condition
}

func (e *settingError) Error() string { return e.text }
