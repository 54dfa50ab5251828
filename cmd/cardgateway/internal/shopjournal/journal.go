// Package shopjournal opens the journal of a shop (package journal), also while the shop's program is running, and describes its
// entries.
package shopjournal

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/database"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/exit"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/settings"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/terminal"
	"github.com/cardgateway/cardgateway-go/internal/openfile"
	"github.com/cardgateway/cardgateway-go/journal"
	"github.com/cardgateway/cardgateway-go/journal/sqlstore"
)

// Journal is the open journal of one shop.
type Journal struct {
	*journal.Journal
	Store  *sqlstore.Store
	Client *cardgateway.Client
	db     *sql.DB
}

// Open opens the journal of the setting. It creates no file and no table. The password is for MySQL, if the setting has none. Close the
// journal after use.
func Open(ctx context.Context, client *cardgateway.Client, place settings.Setting, o journal.Options, mysqlPassword string) (*Journal, error) {
	name, err := database.Parse(place.Value)
	if err != nil {
		return nil, exit.Fail(exit.Failed, "journal (%s): the name of the database %v", place.From, err)
	}
	var db *sql.DB
	if name.Kind == database.SQLite {
		db, err = openFile(name.Text)
		ctx = openfile.Given(ctx, name.Text)
	} else {
		db, err = name.OpenServer(mysqlPassword)
	}
	if err != nil {
		return nil, exit.Fail(exit.Failed, "journal (%s): %s", place.From, err)
	}
	db.SetMaxOpenConns(8)
	store, err := sqlstore.OpenExisting(ctx, db, dialectOf(name.Kind))
	if err != nil {
		return nil, errors.Join(cannotOpen(ctx, place.From, name, err), db.Close())
	}
	j := &Journal{journal.New(client, store, o), store, client, db}
	if err := j.findShop(ctx); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return j, nil
}

func dialectOf(kind database.Kind) sqlstore.Dialect {
	return map[database.Kind]sqlstore.Dialect{
		database.SQLite: sqlstore.SQLite, database.Postgres: sqlstore.Postgres, database.MySQL: sqlstore.MySQL,
	}[kind]
}

// Schema returns the statements that create the tables in a kind of database.
func Schema(kind string) string { return sqlstore.Schema(dialectOf(database.Kind(kind))) }

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
	shown := name.String()
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, sqlstore.ErrNoTables):
		return exit.Fail(exit.Failed, "journal (%s): %s contains no journal; check that it is the right database. Nothing was created", from, shown)
	}
	return exit.Fail(exit.Failed, "journal (%s): %s cannot be opened: %s", from, shown, ErrorText(err))
}

// maxShops is how many shops a store names at most.
const maxShops = 1000

// findShop rejects a journal that has entries, but none of this shop: it would wrongly report that nothing is open.
func (j *Journal) findShop(ctx context.Context) error {
	shops, err := j.Store.Shops(ctx)
	if err != nil {
		return Failed(ctx, "nothing was done", err)
	}
	if len(shops) == 0 || len(shops) == maxShops || slices.Contains(shops, j.Shop()) {
		return nil
	}
	var names []string
	for _, s := range shops[:min(len(shops), 5)] {
		names = append(names, s.Gateway+", app "+string(s.AppID))
	}
	return exit.Fail(exit.Failed, "the journal has no entry of %s, app %s, only of %s. Check base-url and app-id, or set --gateway",
		j.Shop().Gateway, j.Shop().AppID, strings.Join(names, "; "))
}

// Close closes the database.
func (j *Journal) Close() error { return j.db.Close() }

// Find returns the payment, the refund, or both, with an id.
func (j *Journal) Find(ctx context.Context, id string) (found []*journal.Entry, err error) {
	for _, id := range []journal.ID{journal.PaymentID(id), journal.RefundID(id)} {
		e, err := j.Get(ctx, id)
		switch {
		case errors.Is(err, journal.ErrNoEntry):
			continue
		case err != nil:
			return nil, Failed(ctx, "the entry cannot be shown", err)
		}
		found = append(found, &e)
	}
	if len(found) == 0 {
		return nil, exit.Fail(exit.Negative, "the journal of %s, app %s has no payment and no refund %q", j.Shop().Gateway, j.Shop().AppID, id)
	}
	return found, nil
}

// ErrorText returns an error of the journal or its database as one line.
func ErrorText(err error) string {
	_, text, ok := strings.Cut(err.Error(), "sqlstore: OpenExisting: ")
	if !ok {
		text = strings.TrimPrefix(err.Error(), "sqlstore: ")
	}
	return terminal.Clean(terminal.OneLine(text))
}

// Failed returns the error of a command that failed with the database, or was interrupted; what says what it could not do.
func Failed(ctx context.Context, what string, err error) error {
	if ctx.Err() != nil {
		return exit.Fail(exit.Interrupted, "interrupted; %s", what)
	}
	return exit.Fail(exit.Failed, "%s: the journal's database failed: %s", what, ErrorText(err))
}
