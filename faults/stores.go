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

	"github.com/cardgateway/cardgateway-go/journal"
	"github.com/cardgateway/cardgateway-go/journal/sqlite"
	"github.com/cardgateway/cardgateway-go/journal/sqlstore"
)

// OpenStore opens a store by a specification that can be passed to another process: "sqlite:" and a file; "postgres:" and a
// connection URL, whose search_path names a schema; or "mysql:" and a data source name with a database. The schema and the
// database are created if they do not exist.
func OpenStore(spec string) (store journal.Store, closeStore func() error, err error) {
	kind, place, _ := strings.Cut(spec, ":")
	ctx, cancel := context.WithTimeout(background, 30*time.Second)
	defer cancel()
	switch kind {
	case "sqlite":
		s, err := sqlite.Open(ctx, place)
		if err != nil {
			return nil, nil, err
		}
		return s, s.Close, nil
	case "postgres":
		if err := makeSchema(place); err != nil {
			return nil, nil, err
		}
		return openSQL(ctx, "pgx", place, sqlstore.Postgres)
	case "mysql":
		if err := makeDatabase(place); err != nil {
			return nil, nil, err
		}
		return openSQL(ctx, "mysql", place, sqlstore.MySQL)
	}
	return nil, nil, fmt.Errorf("faults: no store is called %q", kind)
}

func openSQL(ctx context.Context, driver, dsn string, d sqlstore.Dialect) (journal.Store, func() error, error) {
	db, err := sql.Open(driver, dsn)
	if err != nil {
		return nil, nil, err
	}
	db.SetMaxOpenConns(16)
	db.SetMaxIdleConns(16)
	s, err := sqlstore.New(ctx, db, d)
	if err != nil {
		return nil, nil, errors.Join(err, db.Close())
	}
	return s, db.Close, nil
}

// makeDatabase creates the database in a data source name of MySQL.
func makeDatabase(dsn string) (err error) {
	config, err := mysql.ParseDSN(dsn)
	if err != nil {
		return err
	}
	name := config.DBName
	config.DBName = ""
	db, err := sql.Open("mysql", config.FormatDSN())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	_, err = db.Exec("CREATE DATABASE IF NOT EXISTS `" + name + "`")
	return err
}

func makeSchema(dsn string) (err error) {
	u, err := url.Parse(dsn)
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
	db, err := sql.Open("pgx", u.String())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	for range 5 { // processes that make the same schema at once can fail, though it says IF NOT EXISTS
		if _, err = db.Exec(`CREATE SCHEMA IF NOT EXISTS "` + schema + `"`); err == nil {
			return nil
		}
	}
	return err
}
