package simulation

import (
	"context"
	"sync"
	"time"

	"github.com/cardgateway/cardgateway-go/notify"
)

// sharedDeduper is the table of a Deduper that several processes share. It does what sqlstore.Deduper does, in virtual time.
type sharedDeduper struct {
	mu     sync.Mutex
	rows   map[string]*dedupeRow
	failed bool // a call failed after it was carried out
}

type dedupeRow struct {
	holder  *process // of the claim
	claimed time.Time
	handled bool
}

const claimLapses = 2 * time.Minute

type dedupeConnection struct {
	p     *process
	table *sharedDeduper
}

func (d dedupeConnection) Claim(ctx context.Context, key string) (notify.ClaimResult, error) {
	return dedupe(ctx, d, "Claim", key, func() notify.ClaimResult {
		row := d.table.rows[key]
		switch {
		case row == nil:
			d.table.rows[key] = &dedupeRow{holder: d.p, claimed: time.Now()}
			return notify.ClaimFresh
		case row.handled:
			return notify.ClaimHandled
		case time.Since(row.claimed) < claimLapses:
			return notify.ClaimBusy
		}
		row.holder, row.claimed = d.p, time.Now()
		return notify.ClaimFresh
	})
}

func (d dedupeConnection) Handled(ctx context.Context, key string) error {
	_, err := dedupe(ctx, d, "Done", key, func() struct{} {
		d.table.rows[key] = &dedupeRow{handled: true}
		return struct{}{}
	})
	return err
}

func (d dedupeConnection) Release(ctx context.Context, key string) error {
	_, err := dedupe(ctx, d, "Done", key, func() struct{} {
		if row := d.table.rows[key]; row != nil && row.holder == d.p && !row.handled {
			delete(d.table.rows, key)
		}
		return struct{}{}
	})
	return err
}

// dedupe makes one call of the table, which is a contact with the outside and can fail.
func dedupe[T any](ctx context.Context, d dedupeConnection, what, key string, do func() T) (got T, err error) {
	d.p.w.searchSecrets("the key of an event", []byte(key))
	c := d.p.callOf(ctx)
	c.contact(what + " " + key)
	fails := c.step.Refuse == "dedupe "+what
	d.table.mu.Lock()
	got = do()
	d.table.failed = d.table.failed || fails
	d.table.mu.Unlock()
	c.mayDie()
	if fails {
		c.troubled = true
		return got, errStore
	}
	return got, nil
}
