package books

import (
	"context"
	"iter"
	"time"
)

// change is a recorded change of the copy.
type change struct {
	Kind     string // orders or refunds
	ID       string // the gateway's id or, without one, an id derived from the merchant's
	What     string // a column name; "late" for a row that appeared after its time had been copied; "gone" for a deleted row
	Old, New string // values of the column; for a row that is gone, Old is the row as JSON
	Seen     time.Time
}

// changesSince returns the changes that were seen since a time, in this order.
func (b *Books) changesSince(ctx context.Context, since time.Time) iter.Seq2[change, error] {
	return b.readChanges(ctx, `seen >= $1`, micro(since))
}

// changesOf returns the changes of one row.
func (b *Books) changesOf(ctx context.Context, id string) iter.Seq2[change, error] {
	return b.readChanges(ctx, `id = $1`, kept(id))
}

func (b *Books) readChanges(ctx context.Context, where string, arg any) iter.Seq2[change, error] {
	return comparedRows(ctx, b, `SELECT kind, id, what, old, new, seen FROM cardgateway_changes WHERE `+where+` ORDER BY seen, kind, id, what`,
		[]any{arg}, func(scan func(...any) error, zone *time.Location) (c change, err error) {
			var seen int64
			err = scan(&c.Kind, &c.ID, &c.What, &c.Old, &c.New, &seen)
			c.Seen = fromMicro(seen, zone)
			return c, err
		})
}
