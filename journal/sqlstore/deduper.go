package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/internal/random"
	"github.com/cardgateway/cardgateway-go/journal"
	"github.com/cardgateway/cardgateway-go/notify"
)

// Deduper is a notify.Deduper in the database of a Store, for any number of processes. Create one with Store.NewDeduper. Its methods
// are safe for concurrent use.
//
// Of all who claim an event at the same time, exactly one gets notify.ClaimFresh. A claim that is neither handled nor released,
// because its process has died, lapses after two minutes: the gateway's next repetition can then claim the event. So the
// merchant's function should return well within that time; if it takes longer, a repetition may call it again meanwhile. An event
// that has been handled is remembered for 24 hours after that. All times are those of the database's clock; if it is set back, a claim
// whose end is too far ahead has lapsed.
type Deduper struct {
	store  *Store // of its own table only: whether the journal's is as it must be is another question
	shop   string // base URL and appId, the beginning of every event
	holder string // of the claims of this Deduper: Release leaves those of others
	claims atomic.Uint64
}

const (
	claimLapses = 2 * time.Minute // less than the five minutes until the gateway's third attempt
	keepHandled = 24 * time.Hour

	forgetEvery  = 100 // claims
	maxForgotten = 200 // rows at a time: more than are added meanwhile

	maxEventLength = maxShopLength + len(" ") + 255 // bytes; 255 of them are the key, see notify.Deduper
)

// NewDeduper creates the table cardgateway_notified in the store's database if it does not exist, and returns a Deduper that uses
// it for the notifications of this client's gateway and app. Use a client with the same gateway and app in every process.
//
// The methods need a connection of the store's database for a moment. The database user needs SELECT, INSERT, UPDATE and DELETE on
// the table, and the right to create it only for the first run.
func (s *Store) NewDeduper(ctx context.Context, client *cardgateway.Client) (*Deduper, error) {
	if err := needContext(ctx, "NewDeduper"); err != nil {
		return nil, err
	}
	if client == nil {
		return nil, errors.New("sqlstore: NewDeduper: client is nil")
	}
	own := &Store{db: s.db, dialect: s.dialect, conns: checkedConns{dialect: s.dialect, file: s.conns.file}}
	if err := own.prepare(ctx, s.dialect.notified(), selectNotified, tableOfEvents); err != nil {
		return nil, fmt.Errorf("sqlstore: NewDeduper: %v: %w", s.dialect, err)
	}
	return &Deduper{store: own, shop: shopOf(client).String(), holder: random.Text()}, nil
}

// shopOf returns the shop of a client, as a journal without Options.Gateway names it.
func shopOf(client *cardgateway.Client) journal.Shop {
	return journal.Shop{Gateway: client.BaseURL(), AppID: client.AppID()}
}

// notified returns the statements that create the table. A row is a claim or, if handled is set, an event that has been handled.
// After expires it counts for nothing.
func (d Dialect) notified() []string {
	event := "VARBINARY(" + strconv.Itoa(maxEventLength) + ")"
	statements := []string{d.table(`
		CREATE TABLE IF NOT EXISTS cardgateway_notified (
			event   `+event+` NOT NULL PRIMARY KEY, -- shop, a space and the key
			holder  `+event+` NOT NULL, -- the Deduper that has claimed the event
			expires BIGINT NOT NULL, -- microseconds since 1970, UTC
			handled BOOLEAN NOT NULL
		)`, `INDEX cardgateway_notified_expires (expires)`, ``)}
	if d != MySQL {
		statements = append(statements, `
		CREATE INDEX IF NOT EXISTS cardgateway_notified_expires ON cardgateway_notified (expires)`)
	}
	return statements
}

const selectNotified = `SELECT COUNT(*) FROM (SELECT event, holder, handled, expires FROM cardgateway_notified WHERE 1 = 0) t`

// in returns the expression for the database's time after a duration.
func (d Dialect) in(after time.Duration) string {
	return d.clock() + " + " + strconv.FormatInt(after.Microseconds(), 10)
}

// Claim implements notify.Deduper. Every hundredth claim also forgets up to 200 events whose time is over.
func (d *Deduper) Claim(ctx context.Context, key string) (notify.ClaimResult, error) {
	event, err := d.event(ctx, "Claim", key)
	if err != nil {
		return notify.ClaimBusy, err
	}
	result, err := d.claim(ctx, event)
	if err != nil {
		return notify.ClaimBusy, fmt.Errorf("sqlstore: %w", err)
	}
	if d.claims.Add(1)%forgetEvery == 1 {
		_ = d.forget(ctx) // a later claim tries again
	}
	return result, nil
}

func (d *Deduper) claim(ctx context.Context, event string) (notify.ClaimResult, error) {
	insert := d.store.dialect.insertMissing(`INSERT INTO cardgateway_notified (event, holder, handled, expires) VALUES (?, ?, FALSE, `+
		d.store.dialect.in(claimLapses)+`)`, "event")
	for range 3 {
		if n, err := d.store.change(ctx, insert, event, d.holder); n == 1 || err != nil {
			return notify.ClaimFresh, err
		}
		n, err := d.store.change(ctx, `UPDATE cardgateway_notified SET holder = ?, handled = FALSE, expires = `+d.store.dialect.in(claimLapses)+`
			WHERE event = ? AND (expires < `+d.store.dialect.clock()+` OR NOT handled AND expires > `+d.store.dialect.in(2*claimLapses)+`)`, d.holder, event)
		if n == 1 || err != nil {
			return notify.ClaimFresh, err
		}
		var handled bool
		err = d.store.queryRow(ctx, `SELECT handled FROM cardgateway_notified WHERE event = ?`, []any{event}, &handled)
		switch {
		case errors.Is(err, sql.ErrNoRows): // released or forgotten meanwhile
			continue
		case handled:
			return notify.ClaimHandled, err
		}
		return notify.ClaimBusy, err
	}
	return notify.ClaimBusy, nil
}

// Handled implements notify.Deduper. The event need not be claimed.
func (d *Deduper) Handled(ctx context.Context, key string) error {
	event, err := d.event(ctx, "Handled", key)
	if err != nil {
		return err
	}
	statement := `INSERT INTO cardgateway_notified (event, holder, handled, expires) VALUES (?, ?, $DURABLY_TRUE, ` + d.store.dialect.in(keepHandled) + `) `
	if d.store.dialect == MySQL {
		statement += `ON DUPLICATE KEY UPDATE handled = VALUES(handled), expires = VALUES(expires)`
	} else {
		statement += `ON CONFLICT (event) DO UPDATE SET handled = excluded.handled, expires = excluded.expires`
	}
	n, err := d.store.change(ctx, statement, event, d.holder)
	if err == nil && n == 0 { // MySQL counts an update as two
		err = errors.New("the database has not stored that the event is handled")
	}
	if err != nil {
		return fmt.Errorf("sqlstore: %w", err)
	}
	return nil
}

// Release implements notify.Deduper. A claim that has lapsed, and that another Deduper holds now, is left to that one.
func (d *Deduper) Release(ctx context.Context, key string) error {
	event, err := d.event(ctx, "Release", key)
	if err != nil {
		return err
	}
	if _, err := d.store.change(ctx, `DELETE FROM cardgateway_notified WHERE event = ? AND holder = ? AND NOT handled`, event, d.holder); err != nil {
		return fmt.Errorf("sqlstore: %w", err)
	}
	return nil
}

// forget deletes some rows that have expired. It selects them first, because a statement that searches the rows that it
// deletes locks others on MySQL.
func (d *Deduper) forget(ctx context.Context) error {
	over := ` expires < ` + d.store.dialect.clock()
	expired, err := collect(ctx, d.store, func(rows *sql.Rows) (any, error) {
		var event string
		err := rows.Scan(&event)
		return event, err
	}, `SELECT event FROM cardgateway_notified WHERE`+over+` ORDER BY expires LIMIT `+strconv.Itoa(maxForgotten))
	if err != nil || len(expired) == 0 {
		return err
	}
	_, err = d.store.change(ctx, `DELETE FROM cardgateway_notified WHERE event IN (`+repeated("?", len(expired))+`) AND`+over, expired...)
	return err
}

// event returns the column event for a key. It rejects one for which MySQL has no room.
func (d *Deduper) event(ctx context.Context, method, key string) (string, error) {
	if err := needContext(ctx, method); err != nil {
		return "", err
	}
	event := d.shop + " " + key
	if n := len(event); n > maxEventLength {
		return "", fmt.Errorf("sqlstore: %s: the shop and the key have %d bytes, at most %d are allowed", method, n, maxEventLength)
	}
	return event, nil
}
