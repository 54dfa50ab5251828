package shopjournal

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/exit"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/settings"
	"github.com/cardgateway/cardgateway-go/internal/reconcile/database"
	"github.com/cardgateway/cardgateway-go/internal/reconcile/terminal"
	"github.com/cardgateway/cardgateway-go/journal/sqlstore"
)

// openPlace opens the database of the setting, and the journal in it. It creates no file and no table. The password is for MySQL,
// if the setting has none.
func openPlace(ctx context.Context, place settings.Setting, mysqlPassword string) (*sql.DB, *sqlstore.Store, error) {
	name, err := database.Parse(place.Value)
	if err != nil {
		return nil, nil, exit.Fail(exit.Failed, "journal (%s): the name of the database %v", place.From, err)
	}
	var db *sql.DB
	if name.Kind == database.SQLite {
		db, err = openFile(name.Text)
	} else {
		db, err = name.OpenServer(mysqlPassword)
	}
	if err != nil {
		return nil, nil, exit.Fail(exit.Failed, "journal (%s): %s", place.From, terminal.Clean(err.Error()))
	}
	db.SetMaxOpenConns(8)
	dialect := map[database.Kind]sqlstore.Dialect{
		database.SQLite: sqlstore.SQLite, database.Postgres: sqlstore.Postgres, database.MySQL: sqlstore.MySQL,
	}[name.Kind]
	store, err := sqlstore.OpenExisting(ctx, db, dialect)
	if err != nil {
		return nil, nil, errors.Join(cannotOpen(ctx, place.From, name, err), db.Close())
	}
	return db, store, nil
}

// openFile opens an existing SQLite file. It keeps the journal mode of the shop's program.
func openFile(path string) (*sql.DB, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%w; no file was created", err)
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is not a file", path)
	}
	return database.OpenSQLite(path, "mode=rw&_pragma=busy_timeout(10000)&_pragma=synchronous(FULL)")
}

// cannotOpen returns the error for a journal that cannot be opened.
func cannotOpen(ctx context.Context, from string, name database.Name, err error) error {
	shown := terminal.Clean(name.String())
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, sqlstore.ErrNoTables):
		return exit.Fail(exit.Failed, "journal (%s): %s contains no journal; check that it is the right database. Nothing was created", from, shown)
	}
	return exit.Fail(exit.Failed, "journal (%s): %s cannot be opened: %s", from, shown, ErrorText(err))
}

// ErrorText returns an error of the journal or its database as one line.
func ErrorText(err error) string {
	_, text, ok := strings.Cut(err.Error(), "sqlstore: OpenExisting: ")
	if !ok {
		text = strings.TrimPrefix(err.Error(), "sqlstore: ")
	}
	return terminal.Clean(strings.ReplaceAll(text, "\n", "; "))
}

// Failed returns the error of a command that failed with the database, or was interrupted; what says what it could not do.
func Failed(ctx context.Context, what string, err error) error {
	if ctx.Err() != nil {
		return exit.Fail(exit.Interrupted, "interrupted; %s", what)
	}
	return exit.Fail(exit.Failed, "%s: the journal's database failed: %s", what, ErrorText(err))
}
