package main

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/exit"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/settings"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/terminal"
	"github.com/cardgateway/cardgateway-go/journal"
)

// journalCommand looks at the journal of a shop (package journal), beside the shop's own program.
type journalCommand struct {
	List journalList `cmd:"" help:"List what the shop has not acknowledged."`
	Show journalShow `cmd:"" help:"Show all that is known of one payment or refund, and what comes next."`
	Run  journalRun  `cmd:"" help:"Ask the gateway about what is open, and record what it says."`
	Ack  journalAck  `cmd:"" help:"Acknowledge an outcome that the shop's books have."`
}

// journalFlags are those of all four.
type journalFlags struct {
	Gateway string `placeholder:"URL" help:"What the entries are filed under, if the shop's program sets journal.Options.Gateway; base-url if not given."`
}

// patienceFlags must be as the shop's program sets them.
type patienceFlags struct {
	AbsentAfter  time.Duration `name:"absent-after" default:"24h" help:"journal.Options.AbsentAfter of the shop's program: when what the gateway does not know is presumed absent."`
	AbandonAfter time.Duration `name:"abandon-after" default:"168h" help:"journal.Options.AbandonAfter of the shop's program: when a cardholder is not waited for any more."`
}

func (f *patienceFlags) check() error {
	if f.AbsentAfter < 15*time.Minute {
		return exit.Fail(exit.NoAnswer, "--absent-after must be 15m or more: a request can arrive late")
	}
	if f.AbandonAfter == 0 {
		return exit.Fail(exit.NoAnswer, "--abandon-after must not be zero; a negative one means never")
	}
	return nil
}

// shopJournal is the journal of one shop, opened.
type shopJournal struct {
	store   *journal.SQLStore
	client  *cardgateway.Client
	shop    journal.Shop
	gateway string // journal.Options.Gateway
	zone    *time.Location
	db      *sql.DB
}

// open opens the journal that the settings name. It makes no file and no table.
func (f *journalFlags) open(c *call) (*shopJournal, error) {
	set, client, err := c.configure(nil)
	if err != nil {
		return nil, err
	}
	place := set.Get(settings.Journal)
	if place.Value == "" {
		return nil, exit.Fail(exit.NoAnswer, "journal is missing: set --journal, %s, or journal in %s", settings.Variable(settings.Journal),
			cmp.Or(set.File, "a file that --config names"))
	}
	db, kind, err := openPlace(place, c.getenv)
	if err != nil {
		return nil, err
	}
	j := &shopJournal{client: client, gateway: f.Gateway, zone: client.Location(), db: db}
	if j.store, err = journal.OpenSQLStore(c.ctx, db, kind); err != nil {
		return nil, errors.Join(cannotOpen(c.ctx, place, err), db.Close())
	}
	j.shop = journal.New(client, j.store, journal.Options{Gateway: f.Gateway}).Shop()
	if err := j.findShop(c); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return j, nil
}

// cannotOpen says why a journal cannot be opened.
func cannotOpen(ctx context.Context, place settings.Setting, err error) error {
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, journal.ErrNoTables):
		return exit.Fail(exit.NoAnswer, "journal (%s): %s has no journal; is it the right database? Nothing was made", place.From,
			terminal.Clean(describePlace(place.Value)))
	}
	return exit.Fail(exit.NoAnswer, "journal (%s): %s cannot be opened: %s", place.From, terminal.Clean(describePlace(place.Value)), databaseText(err))
}

// databaseText is an error of the journal or its database in one line.
func databaseText(err error) string {
	_, text, ok := strings.Cut(err.Error(), "journal: OpenSQLStore: ")
	if !ok {
		text = strings.TrimPrefix(err.Error(), "journal: ")
	}
	return terminal.Clean(strings.ReplaceAll(text, "\n", "; "))
}

// databaseFailed says what a command could not do because the database failed, or because it was interrupted.
func databaseFailed(ctx context.Context, what string, err error) error {
	if ctx.Err() != nil {
		return exit.Fail(exit.Interrupted, "interrupted; %s", what)
	}
	return exit.Fail(exit.NoAnswer, "%s: the journal's database failed: %s", what, databaseText(err))
}

// findShop refuses a journal that has entries, and none of this shop: nothing open would be said of the wrong one.
func (j *shopJournal) findShop(c *call) error {
	shops, err := j.store.Shops(c.ctx)
	if err != nil {
		return databaseFailed(c.ctx, "nothing was done", err)
	}
	if len(shops) == 0 || slices.Contains(shops, j.shop) {
		return nil
	}
	var names []string
	for _, s := range shops[:min(len(shops), 5)] {
		names = append(names, s.Gateway+", app "+string(s.AppID))
	}
	return exit.Fail(exit.NoAnswer, "the journal has no entry of %s, app %s; it has those of %s. Are base-url and app-id right, or is --gateway needed?",
		terminal.Clean(j.shop.Gateway), terminal.Clean(string(j.shop.AppID)), terminal.Clean(strings.Join(names, "; ")))
}

// close closes the database, after writing what a journal writes late.
func (j *shopJournal) close() error {
	ctx, cancel := context.WithTimeout(context.Background(), connectTimeout)
	defer cancel()
	return errors.Join(j.store.Flush(ctx), j.db.Close())
}
