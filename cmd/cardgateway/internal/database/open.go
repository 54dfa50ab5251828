package database

import (
	"context"
	"database/sql"
	"net/url"
	"path/filepath"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	_ "modernc.org/sqlite" // the driver "sqlite"
)

// connectTimeout limits the time to connect to a database server. A Postgres URL can override it.
const connectTimeout = 10 * time.Second

// OpenSQLite opens a SQLite file with options of the driver, such as mode=ro. It connects on first use.
func OpenSQLite(path, options string) (*sql.DB, error) {
	u := url.URL{Scheme: "file", Opaque: (&url.URL{Path: filepath.ToSlash(path)}).EscapedPath(), RawQuery: options}
	return sql.Open("sqlite", u.String())
}

// OpenServer opens a Postgres or MySQL database. It connects on first use. mysqlPassword is used if the name contains no
// password; for Postgres the driver reads it from PGPASSWORD or ~/.pgpass. On Postgres it begins every connection with the statements.
func (n Name) OpenServer(mysqlPassword string, statements ...string) (*sql.DB, error) {
	if n.Kind == Postgres {
		config, err := pgx.ParseConfig(n.Text)
		if err != nil {
			return nil, errPostgres
		}
		if config.ConnectTimeout == 0 {
			config.ConnectTimeout = connectTimeout
		}
		return stdlib.OpenDB(*config, stdlib.OptionAfterConnect(func(ctx context.Context, conn *pgx.Conn) error {
			for _, statement := range statements {
				if _, err := conn.Exec(ctx, statement); err != nil {
					return err
				}
			}
			return nil
		})), nil
	}
	config, err := mysqlConfig(n.Text)
	if err != nil {
		return nil, err
	}
	config.Timeout = connectTimeout
	if config.Passwd == "" {
		config.Passwd = mysqlPassword
	}
	connector, err := mysql.NewConnector(config)
	if err != nil {
		return nil, errMySQL
	}
	return sql.OpenDB(connector), nil
}
