package faults

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver "pgx"
	_ "modernc.org/sqlite"             // the driver "sqlite"

	"github.com/cardgateway/cardgateway-go/journal"
)

// OpenStore opens a store by a text that can be handed to another process: "file:" and a directory, "sqlite:" and a
// file, or "postgres:" and a connection URL, whose search_path names a schema that is made if it is not there.
func OpenStore(spec string) (store journal.Store, closeStore func() error, err error) {
	kind, place, _ := strings.Cut(spec, ":")
	switch kind {
	case "file":
		s, err := journal.NewFileStore(place)
		if err != nil {
			return nil, nil, err
		}
		return s, s.Close, nil
	case "sqlite":
		return openSQL("sqlite", sqliteDSN(place, ""), journal.SQLite)
	case "postgres":
		if err := makeSchema(place); err != nil {
			return nil, nil, err
		}
		return openSQL("pgx", place, journal.Postgres)
	}
	return nil, nil, fmt.Errorf("faults: no store is called %q", kind)
}

// sqliteDSN is how a SQLite file is opened by a program whose writers wait for one another.
func sqliteDSN(path, more string) string {
	return "file:" + path + "?_pragma=busy_timeout(20000)&_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)" + more
}

func openSQL(driver, dsn string, d journal.Dialect) (journal.Store, func() error, error) {
	db, err := sql.Open(driver, dsn)
	if err != nil {
		return nil, nil, err
	}
	db.SetMaxOpenConns(8)
	db.SetMaxIdleConns(8)
	ctx, cancel := context.WithTimeout(background, 30*time.Second)
	defer cancel()
	s, err := journal.NewSQLStore(ctx, db, d)
	if err != nil {
		return nil, nil, errors.Join(err, db.Close())
	}
	return s, db.Close, nil
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
