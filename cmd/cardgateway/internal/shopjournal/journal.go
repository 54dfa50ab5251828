// Package shopjournal opens the journal of a shop (package journal), also while the shop's program is running, and describes its
// entries.
package shopjournal

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/exit"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/settings"
	"github.com/cardgateway/cardgateway-go/internal/reconcile/terminal"
	"github.com/cardgateway/cardgateway-go/journal"
	"github.com/cardgateway/cardgateway-go/journal/sqlstore"
)

// Journal is the open journal of one shop.
type Journal struct {
	Store  *sqlstore.Store
	Client *cardgateway.Client
	Shop   journal.Shop
	Zone   *time.Location // of the gateway
	db     *sql.DB
}

// Open opens the journal of the setting. It creates no file and no table. Gateway is journal.Options.Gateway of the shop's program.
// The password is for MySQL, if the setting has none. Close the journal after use.
func Open(ctx context.Context, client *cardgateway.Client, place settings.Setting, gateway, mysqlPassword string) (*Journal, error) {
	db, store, err := openPlace(ctx, place, mysqlPassword)
	if err != nil {
		return nil, err
	}
	j := &Journal{Client: client, Store: store, Zone: client.Location(), db: db}
	j.Shop = journal.New(client, store, journal.Options{Gateway: gateway}).Shop()
	if err := j.findShop(ctx); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return j, nil
}

// findShop rejects a journal that has entries, but none of this shop: it would wrongly report that nothing is open.
func (j *Journal) findShop(ctx context.Context) error {
	shops, err := j.Store.Shops(ctx)
	if err != nil {
		return Failed(ctx, "nothing was done", err)
	}
	if len(shops) == 0 || slices.Contains(shops, j.Shop) {
		return nil
	}
	var names []string
	for _, s := range shops[:min(len(shops), 5)] {
		names = append(names, s.Gateway+", app "+string(s.AppID))
	}
	return exit.Fail(exit.Failed, "the journal has no entry of %s, app %s, only of %s. Check base-url and app-id, or set --gateway",
		terminal.Clean(j.Shop.Gateway), terminal.Clean(string(j.Shop.AppID)), terminal.Clean(strings.Join(names, "; ")))
}

// Close closes the database.
func (j *Journal) Close() error { return j.db.Close() }

// Find returns the payment, the refund, or both, with an id.
func (j *Journal) Find(ctx context.Context, id string) (found []*journal.Entry, err error) {
	for _, id := range []journal.ID{journal.PaymentID(id), journal.RefundID(id)} {
		e, err := j.Store.Get(ctx, journal.Key{Shop: j.Shop, ID: id})
		switch {
		case errors.Is(err, journal.ErrNoEntry):
			continue
		case err != nil:
			return nil, Failed(ctx, "the entry cannot be shown", err)
		}
		found = append(found, &e)
	}
	if len(found) == 0 {
		return nil, exit.Fail(exit.Negative, "the journal of %s, app %s has no payment and no refund %q", terminal.Clean(j.Shop.Gateway),
			terminal.Clean(string(j.Shop.AppID)), terminal.Clean(id))
	}
	return found, nil
}
