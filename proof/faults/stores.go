package faults

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"
	_ "github.com/jackc/pgx/v5/stdlib" // the driver "pgx"

	"github.com/cardgateway/cardgateway-go/journal/sqlite"
	"github.com/cardgateway/cardgateway-go/journal/sqlstore"
)

// OpenStore opens a store by a specification that can be passed to another process: "sqlite:" and a file; "postgres:" and a
// connection URL, whose search_path names a schema; or "mysql:" and a data source name with a database. The schema and the
// database are created if they do not exist.
func OpenStore(spec string) (store *sqlstore.Store, closeStore func() error, err error) {
	ctx, cancel := context.WithTimeout(background, 30*time.Second)
	defer cancel()
	if file, ok := strings.CutPrefix(spec, "sqlite:"); ok {
		s, err := sqlite.Open(ctx, file)
		if err != nil {
			return nil, nil, err
		}
		return s.Store, s.Close, nil
	}
	d, err := databaseOf(spec)
	if err == nil {
		err = d.create()
	}
	if err != nil {
		return nil, nil, err
	}
	return d.openStore(ctx)
}

// database says how the database of a store is opened.
type database struct {
	driver, source string
	dialect        sqlstore.Dialect
}

// storeKind is the kind of database in a specification of OpenStore.
func storeKind(spec string) string {
	kind, _, _ := strings.Cut(spec, ":")
	return kind
}

// databaseOf returns the database of a specification of OpenStore.
func databaseOf(spec string) (database, error) {
	kind, place, _ := strings.Cut(spec, ":")
	switch kind {
	case "sqlite":
		const settings = "?_pragma=busy_timeout(10000)&_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)" // as sqlite.Open
		return database{"sqlite", "file:" + place + settings, sqlstore.SQLite}, nil
	case "postgres":
		return database{"pgx", place, sqlstore.Postgres}, nil
	case "mysql":
		return database{"mysql", place, sqlstore.MySQL}, nil
	}
	return database{}, fmt.Errorf("faults: no store is called %q", kind)
}

func (d database) openStore(ctx context.Context) (*sqlstore.Store, func() error, error) {
	db, err := sql.Open(d.driver, d.source)
	if err != nil {
		return nil, nil, err
	}
	db.SetMaxOpenConns(16)
	db.SetMaxIdleConns(16)
	s, err := sqlstore.New(ctx, db, d.dialect)
	if err != nil {
		return nil, nil, errors.Join(err, db.Close())
	}
	return s, db.Close, nil
}

// create creates the schema or the database on a server, if it does not exist.
func (d database) create() (err error) {
	var server, statement string
	switch d.dialect {
	case sqlstore.Postgres: // its search_path names the schema
		u, err := url.Parse(d.source)
		if err != nil {
			return err
		}
		q := u.Query()
		schema := q.Get("search_path")
		if schema == "" {
			return nil
		}
		q.Del("search_path")
		u.RawQuery = q.Encode()
		server, statement = u.String(), `CREATE SCHEMA IF NOT EXISTS "`+schema+`"`
	case sqlstore.MySQL:
		config, err := mysql.ParseDSN(d.source)
		if err != nil {
			return err
		}
		statement = "CREATE DATABASE IF NOT EXISTS `" + config.DBName + "`"
		config.DBName = ""
		server = config.FormatDSN()
	default:
		return nil
	}
	db, err := sql.Open(d.driver, server)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	for range 5 { // processes that make the same schema at once can fail, though it says IF NOT EXISTS
		if _, err = db.Exec(statement); err == nil {
			break
		}
	}
	return err
}
