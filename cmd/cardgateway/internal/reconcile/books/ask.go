package books

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/cardgateway/cardgateway-go"
)

// askAgain queries, once a day, the rows that are open and older than before; the walk has covered the others. It walks over
// the times of these rows, and combines rows that are close together.
func askAgain[T any](ctx context.Context, s *syncer, r rows[T], at position, before time.Time) error {
	if !isDue(at.asked, at.begun) {
		return nil
	}
	ranges, err := s.openRanges(ctx, r.table, at.begun.Add(-AskFor), before)
	if err != nil {
		return err
	}
	if len(ranges) > 0 {
		s.Begin("open "+r.table.kind, ranges[0].start)
	}
	for i, open := range ranges {
		s.Progress(cardgateway.Progress{Rows: s.report.Read, Fraction: float64(i) / float64(len(ranges))})
		walk := r.walk(open.start, open.end, cardgateway.WalkOptions{}) // short, so there is no checkpoint
		if err := copyRows(ctx, s, r, at, walk, func(context.Context, *sql.Tx) error { return nil }); err != nil {
			return fmt.Errorf("open %s: %w", r.table.kind, err)
		}
	}
	at.asked = at.begun
	return s.change(ctx, func(tx *sql.Tx) error { return savePosition(ctx, tx, r.table.kind, at) })
}

// timeRange is a range of time.
type timeRange struct{ start, end time.Time }

// openRanges returns ranges in whole seconds, without their ends, that cover the open rows in [from, to). Two rows share a range if at
// most one page of rows is expected between them, because a separate range would need another request anyway.
func (b *Books) openRanges(ctx context.Context, t *table, from, to time.Time) (all []timeRange, err error) {
	var n, first, last int64
	err = b.db.QueryRowContext(ctx, t.sql(`SELECT COUNT(*), COALESCE(MIN(at), 0), COALESCE(MAX(at), 0) FROM $rows WHERE at > 0`)).Scan(&n, &first, &last)
	if err != nil || n == 0 {
		return nil, err
	}
	const page = 999
	gap := time.Duration((last - first) / n * page * int64(time.Microsecond))
	for at, err := range stream(ctx, b, t.sql(`SELECT at FROM $rows WHERE `+isOpen+` AND at >= $1 AND at < $2 ORDER BY at`), []any{micro(from), micro(to)},
		func(at *time.Time, zone *time.Location) []any { return []any{clock{at, zone}} }) {
		if err != nil {
			return nil, err
		}
		start := at.Truncate(time.Second)
		if end := len(all) - 1; end >= 0 && !start.After(all[end].end.Add(gap)) {
			all[end].end = start.Add(time.Second)
			continue
		}
		all = append(all, timeRange{start, start.Add(time.Second)})
	}
	return all, nil
}
