package books

import (
	"context"
	"database/sql"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/cardgateway/cardgateway-go"
)

// UnreadRow is a row that the gateway has returned, and that cannot be read.
type UnreadRow struct {
	UniqueID string    // the gateway's id; may be empty
	ID       string    // of the transaction or the refund; may be empty
	From, To time.Time // the range of its time
	At       time.Time // its time, if the copy has it as it was before; otherwise zero
	Why      string
}

// saveUnread replaces the rows that could not be read since a time by those of a walk that has begun there. Those that the copy has are not gone: the
// walk has returned them. It reports whether all of them are known by the gateway's id.
func (b *Books) saveUnread(
	ctx context.Context, tx *sql.Tx, t *table, zone *time.Location, from time.Time, walk int64, found *cardgateway.UnreadableRowsError,
) (known bool, err error) {
	_, err = tx.ExecContext(ctx, `DELETE FROM cardgateway_unread WHERE kind = $1 AND start >= $2`, t.kind, micro(from))
	if err != nil || found == nil {
		return true, err
	}
	var records []record
	for i := range found.Rows {
		r := &found.Rows[i]
		unique, own := r.UniqueID, r.TransactionID
		if t == &refundsTable {
			unique, own = r.RefundUniqueID, r.RefundTransactionID
		}
		start := max(micro(r.Start.In(zone)), micro(from)) // queries begin a bit earlier than the walk
		records = append(records, record{t.kind, start, micro(r.End.In(zone)), kept(unique), kept(own), kept(r.Member + ": " + r.Reason)})
	}
	if more := found.Count - len(found.Rows); more > 0 {
		last := records[len(records)-1]
		records = append(records, record{t.kind, last[1], last[2], "", "", fmt.Sprintf("and %d more rows", more)})
	}
	if err := b.fill(ctx, tx, "cardgateway_unread", []string{"kind", "start", "until", "unique_id", "id", "why"}, records); err != nil {
		return false, err
	}
	_, err = tx.ExecContext(ctx, t.sql(`UPDATE $rows SET walk = $1 WHERE id IN
		(SELECT unique_id FROM cardgateway_unread WHERE kind = $2 AND start >= $3 AND unique_id <> '')`), walk, t.kind, micro(from))
	return !slices.ContainsFunc(records, func(r record) bool { return r[3] == "" }), err
}

// UnreadRows returns the rows of the gateway that could not be read, sorted by their range.
func (b *Books) UnreadRows(ctx context.Context, kind Kind) iter.Seq2[UnreadRow, error] {
	t := tableOf(kind)
	return stream(ctx, b, b.compared(t.sql(`SELECT u.unique_id, u.id, u.start, u.until, u.why, COALESCE(r.at, 0) FROM cardgateway_unread u
		LEFT JOIN $rows r ON u.unique_id <> '' AND r.id = u.unique_id WHERE u.kind = $1 ORDER BY u.start, u.unique_id, u.id`)),
		[]any{t.kind}, func(u *UnreadRow, zone *time.Location) []any {
			return []any{&u.UniqueID, &u.ID, clock{&u.From, zone}, clock{&u.To, zone}, &u.Why, clock{&u.At, zone}}
		})
}
