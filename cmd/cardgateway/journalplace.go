package main

import (
	"database/sql"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	_ "modernc.org/sqlite" // the driver "sqlite"

	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/exit"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/settings"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/terminal"
	"github.com/cardgateway/cardgateway-go/journal"
)

// connectTimeout bounds how long a database server may take to answer at first.
const connectTimeout = 10 * time.Second

// kindOf returns what a place names; a file if it names no server.
func kindOf(place string) (kind journal.Dialect, known bool) {
	scheme, _, ok := strings.Cut(place, "://")
	switch {
	case !ok:
		return journal.SQLite, true
	case scheme == "postgres", scheme == "postgresql":
		return journal.Postgres, true
	case scheme == "mysql", scheme == "mariadb":
		return journal.MySQL, true
	}
	return 0, false
}

// describePlace says where the journal is, without a password.
func describePlace(place string) string {
	if !strings.Contains(place, "://") {
		if _, err := os.Stat(place); err != nil && strings.ContainsAny(place, "@=") { // most likely a driver's text with a password
			return "set"
		}
		return place
	}
	u, err := url.Parse(place)
	if err != nil {
		return "set"
	}
	u.User, u.RawQuery, u.Fragment = url.User(u.User.Username()), "", ""
	return u.String()
}

// openPlace opens the database of a place. It makes no file.
func openPlace(set settings.Setting, getenv func(string) string) (*sql.DB, journal.Dialect, error) {
	kind, known := kindOf(set.Value)
	if !known {
		return nil, 0, exit.Fail(exit.NoAnswer, "journal (%s): is no place of a journal; write the path of a SQLite file, "+
			"postgres://user@host/database or mysql://user@host/database", set.From)
	}
	var db *sql.DB
	var err error
	switch kind {
	case journal.Postgres:
		db, err = openPostgres(set)
	case journal.MySQL:
		db, err = openMySQL(set, getenv)
	default:
		db, err = openSQLite(set)
	}
	if err != nil {
		return nil, 0, err
	}
	db.SetMaxOpenConns(8)
	return db, kind, nil
}

// openSQLite opens a file that is there. The mode of its journal stays as the shop's program has set it.
func openSQLite(set settings.Setting) (*sql.DB, error) {
	info, err := os.Stat(set.Value)
	switch {
	case err != nil && strings.ContainsAny(set.Value, "@="):
		return nil, exit.Fail(exit.NoAnswer, "journal (%s): there is no such file, and none was made; a database server is written "+
			"postgres://user@host/database or mysql://user@host/database", set.From)
	case err != nil:
		return nil, exit.Fail(exit.NoAnswer, "journal (%s): %v; none was made", set.From, err)
	case !info.Mode().IsRegular():
		return nil, exit.Fail(exit.NoAnswer, "journal (%s): %s is not a file", set.From, terminal.Clean(set.Value))
	}
	u := url.URL{Scheme: "file", Opaque: (&url.URL{Path: filepath.ToSlash(set.Value)}).EscapedPath()}
	u.RawQuery = "mode=rw&_pragma=busy_timeout(10000)&_pragma=synchronous(FULL)"
	return sql.Open("sqlite", u.String())
}

func openPostgres(set settings.Setting) (*sql.DB, error) {
	config, err := pgx.ParseConfig(set.Value)
	if err != nil { // its text could quote the password
		return nil, exit.Fail(exit.NoAnswer, "journal (%s): is no connection URL of Postgres; write postgres://user@host/database", set.From)
	}
	if config.ConnectTimeout == 0 {
		config.ConnectTimeout = connectTimeout
	}
	return stdlib.OpenDB(*config), nil
}

// openMySQL opens mysql://user:password@host:3306/database. Of parameters there are tls, as the driver has it, and socket.
func openMySQL(set settings.Setting, getenv func(string) string) (*sql.DB, error) {
	wrong := exit.Fail(exit.NoAnswer, "journal (%s): is no URL of MySQL; write mysql://user@host/database, after which ?tls=true or "+
		"?socket=/path can stand", set.From)
	u, err := url.Parse(set.Value)
	if err != nil {
		return nil, wrong
	}
	config := mysql.NewConfig()
	config.User, config.DBName = u.User.Username(), strings.TrimPrefix(u.Path, "/")
	config.Timeout, config.Logger = connectTimeout, &mysql.NopLogger{}
	var ok bool
	if config.Passwd, ok = u.User.Password(); !ok {
		config.Passwd = getenv("MYSQL_PWD")
	}
	config.Net, config.Addr = "tcp", u.Host
	if u.Port() == "" {
		config.Addr = u.Host + ":3306"
	}
	for name, values := range u.Query() {
		switch name {
		case "socket":
			config.Net, config.Addr = "unix", values[0]
		case "tls":
			config.TLSConfig = values[0]
		default:
			return nil, wrong
		}
	}
	if config.DBName == "" || config.Net == "tcp" && u.Hostname() == "" {
		return nil, wrong
	}
	connector, err := mysql.NewConnector(config)
	if err != nil {
		return nil, wrong
	}
	return sql.OpenDB(connector), nil
}
