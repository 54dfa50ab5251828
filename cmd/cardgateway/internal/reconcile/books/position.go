package books

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/cardgateway/cardgateway-go"
)

// readCopy reads what the books are a copy of. Its zone is nil in new books.
func (b *Books) readCopy(ctx context.Context) (i Info, err error) {
	var zone string
	err = b.db.QueryRowContext(ctx, `SELECT gateway, app, zone, since, synced FROM cardgateway_copy`).
		Scan(&i.Gateway, &i.AppID, &zone, clock{&i.Since, time.UTC}, clock{&i.LastSync, time.UTC})
	if errors.Is(err, sql.ErrNoRows) {
		return Info{}, nil
	}
	if err == nil {
		i.Zone, err = loadZone(zone)
	}
	if err != nil {
		return Info{}, err
	}
	i.Since, i.LastSync = i.Since.In(i.Zone), i.LastSync.In(i.Zone)
	return i, nil
}

// refuseOther returns an error if now has a different gateway, app or zone. What it leaves empty is not compared.
func (i *Info) refuseOther(now Info) error {
	switch {
	case i.Zone == nil: // new books
	case now.Gateway != "" && i.Gateway != now.Gateway:
		return &Refused{Why: fmt.Sprintf("the database contains a copy of %s, but base-url is %s: use another database", i.Gateway, now.Gateway)}
	case now.AppID != "" && i.AppID != now.AppID:
		return &Refused{Why: fmt.Sprintf("the database contains a copy of the app %s, but app-id is %s: use another database", i.AppID, now.AppID)}
	case now.Zone != nil && i.Zone.String() != now.Zone.String():
		return &Refused{Why: fmt.Sprintf("the database was created with zone %s, but zone is %s: restore the setting, or create another database",
			i.Zone, now.Zone)}
	}
	return nil
}

// CheckCopy returns an error if the database contains a copy of another gateway or app, or one in another zone. What is empty is not
// compared.
func (b *Books) CheckCopy(ctx context.Context, gateway, app string, zone *time.Location) error {
	copied, err := b.readCopy(ctx)
	if err == nil {
		err = copied.refuseOther(Info{Gateway: gateway, AppID: app, Zone: zone})
	}
	return b.inWords(err)
}

// loadZone returns the zone with a stored name: that of the client, unless it is set, or one of the zone database.
func loadZone(name string) (*time.Location, error) {
	if usual := cardgateway.DefaultLocation(); name == usual.String() {
		return usual, nil
	}
	return time.LoadLocation(name)
}

// begin creates the positions of new books, and rejects a different app, gateway or zone for existing ones.
func (b *Books) begin(ctx context.Context, now Info, clock time.Time) (Info, error) {
	old, err := b.readCopy(ctx)
	if err == nil {
		err = old.refuseOther(now)
	}
	switch {
	case err != nil:
		return old, err
	case !now.Since.IsZero() && now.Since.Before(old.Since):
		return old, &Refused{"--from", fmt.Sprintf("the copy in the database begins at %s, and cannot be extended to an earlier time: omit the start, "+
			"or create another database", old.Since.Format(time.DateTime))}
	case old.Zone != nil:
		return old, nil
	case now.Since.IsZero():
		return old, &Refused{"--from", "the database is new: set the start of the copy"}
	case !now.Since.Before(clock):
		return old, &Refused{"--from", fmt.Sprintf("the start of the copy, %s, is not in the past: the clock of this machine says %s",
			now.Since.Format(time.DateTime), clock.In(now.Zone).Format(time.DateTime))}
	}
	now.Since = now.Since.Truncate(time.Second)
	return now, b.change(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `INSERT INTO cardgateway_copy (one, gateway, app, zone, since, synced) VALUES (1, $1, $2, $3, $4, 0)`,
			now.Gateway, now.AppID, now.Zone.String(), micro(now.Since))
		for _, t := range bothTables {
			if err == nil {
				err = savePosition(ctx, tx, t.kind, position{complete: now.Since})
			}
		}
		return err
	})
}

// position is the progress of the walks over orders or refunds.
type position struct {
	complete     time.Time // the copy is complete up to here
	number       int64     // of the current or last walk
	begun        time.Time
	start, until time.Time // its range; start is not before until if it has ended
	checkpoint   cardgateway.Checkpoint
	deep         time.Time // when the last walk over four weeks or more began
	asked        time.Time // when the older open rows were last queried
}

func (b *Books) position(ctx context.Context, kind string) (p position, err error) {
	utc := func(at *time.Time) clock { return clock{at, time.UTC} }
	err = b.db.QueryRowContext(ctx, `SELECT complete, number, begun, start, until, checkpoint, deep, asked FROM cardgateway_walks WHERE kind = $1`, kind).
		Scan(utc(&p.complete), &p.number, utc(&p.begun), utc(&p.start), utc(&p.until), jsonText{&p.checkpoint}, utc(&p.deep), utc(&p.asked))
	return p, err
}

func savePosition(ctx context.Context, tx *sql.Tx, kind string, p position) error {
	checkpoint, err := json.Marshal(p.checkpoint)
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, `
		INSERT INTO cardgateway_walks (kind, complete, number, begun, start, until, checkpoint, deep, asked) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
		ON CONFLICT (kind) DO UPDATE SET complete = excluded.complete, number = excluded.number, begun = excluded.begun, start = excluded.start,
			until = excluded.until, checkpoint = excluded.checkpoint, deep = excluded.deep, asked = excluded.asked`,
		kind, micro(p.complete), p.number, micro(p.begun), micro(p.start), micro(p.until), string(checkpoint), micro(p.deep), micro(p.asked))
	return err
}
