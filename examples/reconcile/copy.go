package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/cardgateway/cardgateway-go"
)

// A copier brings the books up to date.
type copier struct {
	client   *cardgateway.Client
	books    *Books
	from     time.Time // where new books begin
	progress func(kind string, p cardgateway.Progress)
}

// run copies what is new and asks again for what was not at an end.
func (c *copier) run(ctx context.Context) error {
	orders := rows[cardgateway.Transaction]{
		kind: "orders", save: c.books.saveOrders,
		walk: func(start, end time.Time, o cardgateway.WalkOptions) *cardgateway.Walk[cardgateway.Transaction] {
			return c.client.OrderWalk(cardgateway.OrderQuery{Start: start, End: end}, o)
		},
	}
	refunds := rows[cardgateway.Refund]{
		kind: "refunds", save: c.books.saveRefunds,
		walk: func(start, end time.Time, o cardgateway.WalkOptions) *cardgateway.Walk[cardgateway.Refund] {
			return c.client.RefundWalk(cardgateway.RefundQuery{Start: start, End: end}, o)
		},
	}
	if err := copyRows(ctx, c, orders); err != nil {
		return err
	}
	if err := copyRows(ctx, c, refunds); err != nil {
		return err
	}
	return c.askAgain(ctx)
}

// rows are one kind of what the gateway lists.
type rows[T any] struct {
	kind string
	walk func(start, end time.Time, o cardgateway.WalkOptions) *cardgateway.Walk[T]
	save func(ctx context.Context, tx *sql.Tx, batch []*T) error
}

// batchSize is how many rows one transaction of the database saves.
const batchSize = 1000

// copyRows walks from where the books are complete to now, or goes on with a walk that was broken off. Each batch is
// saved together with the checkpoint that goes with it, so that the process can be killed anywhere: what is walked
// twice then is saved twice, under the same id.
func copyRows[T any](ctx context.Context, c *copier, r rows[T]) error {
	at, err := c.begin(ctx, r.kind)
	if err != nil {
		return fmt.Errorf("%s: %w", r.kind, err)
	}
	walk := r.walk(at.complete, at.until, cardgateway.WalkOptions{
		Resume:   at.checkpoint,
		Progress: func(p cardgateway.Progress) { c.progress(r.kind, p) },
	})
	var batch []*T
	save := func(ctx context.Context) error {
		err := c.books.change(ctx, func(tx *sql.Tx) error {
			if err := r.save(ctx, tx, batch); err != nil {
				return err
			}
			return savePosition(ctx, tx, r.kind, at)
		})
		clear(batch)
		batch = batch[:0]
		return err
	}
	for row, err := range walk.All(ctx) {
		if err == nil {
			if batch = append(batch, row); len(batch) < batchSize {
				continue
			}
		}
		at.checkpoint = walk.Checkpoint()
		if err := errors.Join(err, save(context.WithoutCancel(ctx))); err != nil { // what came before an error is kept
			return fmt.Errorf("%s: %w", r.kind, err)
		}
	}
	at.complete, at.until, at.checkpoint = walk.Report().CompleteUpTo, time.Time{}, cardgateway.Checkpoint{}
	if err := save(ctx); err != nil {
		return fmt.Errorf("%s: %w", r.kind, err)
	}
	return nil
}

// begin returns the walk that is under way, or a new one up to now.
func (c *copier) begin(ctx context.Context, kind string) (position, error) {
	at, err := c.books.position(ctx, kind)
	switch {
	case err != nil:
		return position{}, err
	case at.since.IsZero() && c.from.IsZero():
		return position{}, errors.New("the books are new: say with -from where they are to begin")
	case at.since.IsZero():
		at.since, at.complete = c.from, c.from
	case !c.from.IsZero() && c.from.Before(at.since):
		return position{}, fmt.Errorf("the books begin at %v, after -from: begin others with another -db", at.since.UTC())
	}
	if at.until.IsZero() {
		at.until = time.Now().Truncate(time.Second).Add(time.Second) // whole seconds, as the books keep them
	}
	return at, nil
}

// openFor is how long an order without an end is asked for again: longer than any payment is in processing, and than
// a cardholder takes for a payment page.
const openFor = 30 * 24 * time.Hour

// askAgain asks for each order that was not at an end when it was copied.
func (c *copier) askAgain(ctx context.Context) error {
	ids, err := c.books.open(ctx, time.Now().Add(-openFor))
	if err != nil {
		return err
	}
	for _, id := range ids {
		order, err := c.client.GetTransaction(ctx, id)
		if errors.Is(err, cardgateway.ErrNotFound) {
			continue // it was there: the next run will tell
		}
		if err != nil {
			return fmt.Errorf("order %s: %w", shown(id), err)
		}
		err = c.books.change(ctx, func(tx *sql.Tx) error {
			return c.books.saveOrders(ctx, tx, []*cardgateway.Transaction{order})
		})
		if err != nil {
			return err
		}
	}
	return nil
}
