package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/database"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/exit"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/reconcile/books"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/settings"
)

// reconcileCommand groups the commands that use a copy of the gateway's data.
type reconcileCommand struct {
	Try     tryCommand     `cmd:"" help:"Read a list to find out how, and print what is needed in the configuration file."`
	Sync    syncCommand    `cmd:"" help:"Update a copy of the gateway's orders and refunds."`
	Match   matchCommand   `cmd:"" help:"Compare your list of payments with the copy, and list the differences."`
	Report  reportCommand  `cmd:"" help:"Compare, and write a report for finance as HTML, CSV and JSON."`
	Changes changesCommand `cmd:"" help:"List what the gateway has changed of what had been copied."`
	Run     runCommand     `cmd:"" help:"Run sync, match and report, for cron. --demo shows a demonstration."`
}

// openBooks opens the database of the settings. Close it after use. A missing file is created only if isNew is set, because
// its name may be mistyped.
func (c *call) openBooks(set *settings.Settings, isNew bool) (*books.Books, error) {
	db := set.Get(settings.Database)
	switch {
	case db.Value == "":
		return nil, exit.Fail(exit.Failed, "%s, to the path of a SQLite file or postgres://user@host/database", set.Missing(settings.Database))
	case !isNew && database.IsMissing(db.Value):
		return nil, exit.Fail(exit.Failed, "db (%s): there is no file %s; to create a new copy there, run reconcile sync with --from", db.From, db.Value)
	}
	b, err := books.Open(c.ctx, db.Value)
	if err != nil {
		return nil, booksError(fmt.Sprintf("db (%s): ", db.From), err)
	}
	b.AnyApp = set.AnyApp
	return b, nil
}

// booksError converts an error of the database, or of the gateway's client, to one of this program.
func booksError(before string, err error) error {
	if errors.Is(err, context.Canceled) {
		return exit.Fail(exit.Interrupted, "interrupted")
	}
	code := exit.Failed
	if _, gone := errors.AsType[*books.GoneError](err); gone {
		code = exit.Negative
	}
	return exit.Fail(code, "%s", before+exit.Explain(err).Text)
}
