package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/cardgateway/cardgateway-go"
)

// A copier brings the books up to date.
type copier struct {
	client   *cardgateway.Client
	books    *Books
	from     time.Time // where new books begin; zero for old ones
	log      io.Writer
	progress func(kind string, p cardgateway.Progress)
}

// run copies what is new and asks again for what was not at its end.
func (c *copier) run(ctx context.Context) error {
	orders, refunds := c.orders(), c.refunds()
	if err := c.books.begin(ctx, c.from, orders.kind, refunds.kind); err != nil {
		return err
	}
	if err := errors.Join(copyRows(ctx, c, orders), copyRows(ctx, c, refunds)); err != nil {
		return err
	}
	if err := c.books.dropUnnamed(ctx); err != nil {
		return err
	}
	if err := askAgain(ctx, c, orders); err != nil {
		return err
	}
	return askAgain(ctx, c, refunds)
}

// rows are one kind of what the gateway lists.
type rows[T any] struct {
	kind, one string
	walk      func(start, end time.Time, o cardgateway.WalkOptions) *cardgateway.Walk[T]
	save      func(ctx context.Context, tx *sql.Tx, batch []*T) error
	open      func(ctx context.Context, since time.Time) ([]unfinished, error)
	ask       func(ctx context.Context, u unfinished) ([]*T, error) // for one row again
}

func (c *copier) orders() rows[cardgateway.Transaction] {
	return rows[cardgateway.Transaction]{
		kind: "orders", one: "order", save: c.books.saveOrders, open: c.books.unfinishedOrders, ask: c.askForOrder,
		walk: func(start, end time.Time, o cardgateway.WalkOptions) *cardgateway.Walk[cardgateway.Transaction] {
			return c.client.OrderWalk(cardgateway.OrderQuery{Start: start, End: end}, o)
		},
	}
}

func (c *copier) refunds() rows[cardgateway.Refund] {
	return rows[cardgateway.Refund]{
		kind: "refunds", one: "refund", save: c.books.saveRefunds, open: c.books.unfinishedRefunds, ask: c.askForRefund,
		walk: func(start, end time.Time, o cardgateway.WalkOptions) *cardgateway.Walk[cardgateway.Refund] {
			return c.client.RefundWalk(cardgateway.RefundQuery{Start: start, End: end}, o)
		},
	}
}

const (
	batchSize   = 1000             // rows that one transaction of the database saves
	lastWriting = 10 * time.Second // for saving what was read when the run is ended
)

// copyRows ends a walk that was broken off, if there is one, and walks on from there to now.
func copyRows[T any](ctx context.Context, c *copier, r rows[T]) error {
	for {
		at, err := c.books.position(ctx, r.kind)
		if err != nil {
			return fmt.Errorf("%s: %w", r.kind, err)
		}
		resumed := at.until.After(at.complete)
		if !resumed {
			now := time.Now()
			at.until, at.checkpoint = now.Truncate(time.Second).Add(time.Second), cardgateway.Checkpoint{} // whole seconds, as the books keep them
			if !now.After(at.complete) {
				return fmt.Errorf("%s: the books are complete up to %s, and the clock says %s", r.kind,
					at.complete.UTC().Format(time.DateTime), now.UTC().Format(time.DateTime))
			}
		}
		if err := walkRows(ctx, c, r, at); err != nil {
			return fmt.Errorf("%s: %w", r.kind, err)
		}
		if !resumed {
			return nil
		}
	}
}

// walkRows makes one walk, from where the position stands. Each batch is saved together with the checkpoint that goes
// with it, so that the process can be killed anywhere: what is walked twice then is saved twice, under the same id.
func walkRows[T any](ctx context.Context, c *copier, r rows[T], at position) error {
	save := func(ctx context.Context, batch []*T, at position) error {
		return c.books.change(ctx, func(tx *sql.Tx) error {
			if err := r.save(ctx, tx, batch); err != nil {
				return err
			}
			return c.books.savePosition(ctx, tx, r.kind, at)
		})
	}
	walk := r.walk(at.complete, at.until, cardgateway.WalkOptions{
		Resume:   at.checkpoint,
		Progress: func(p cardgateway.Progress) { c.progress(r.kind, p) },
	})
	var batch []*T
	for row, err := range walk.All(ctx) {
		if err != nil { // what came before it is kept, even if it says that ctx has ended
			at.checkpoint = walk.Checkpoint()
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastWriting)
			defer cancel()
			return errors.Join(err, save(ctx, batch, at))
		}
		if batch = append(batch, row); len(batch) < batchSize {
			continue
		}
		at.checkpoint = walk.Checkpoint()
		if err := save(ctx, batch, at); err != nil {
			return err
		}
		clear(batch)
		batch = batch[:0]
	}
	done := walk.Report().CompleteUpTo
	return save(ctx, batch, position{since: at.since, complete: done, until: done})
}

// askAgainFor is how long a row that is not at its end is asked for again: longer than a payment is in processing, and
// than a cardholder takes for a payment page.
const askAgainFor = 30 * 24 * time.Hour

// askAgain asks for each row of one kind that was not at its end when it was copied.
func askAgain[T any](ctx context.Context, c *copier, r rows[T]) error {
	open, err := r.open(ctx, time.Now().Add(-askAgainFor))
	if err != nil {
		return err
	}
	for _, u := range open {
		found, err := r.ask(ctx, u)
		if err != nil {
			if err := c.pass(r.one, u.id, err); err != nil {
				return err
			}
			continue
		}
		if err := c.books.change(ctx, func(tx *sql.Tx) error { return r.save(ctx, tx, found) }); err != nil {
			return err
		}
	}
	return nil
}

func (c *copier) askForOrder(ctx context.Context, u unfinished) ([]*cardgateway.Transaction, error) {
	order, err := c.client.GetTransaction(ctx, u.id)
	return []*cardgateway.Transaction{order}, err
}

func (c *copier) askForRefund(ctx context.Context, u unfinished) (found []*cardgateway.Refund, err error) {
	const day = 24 * time.Hour
	page, err := c.client.SearchRefunds(ctx, cardgateway.RefundQuery{
		RefundUniqueID: u.id, Start: u.happened.Add(-day), End: u.happened.Add(27 * day), // a month at most, in every month
	})
	if err != nil {
		return nil, err
	}
	for i := range page.Data {
		if r := &page.Data[i]; r.RefundUniqueID == u.id { // a filter is a request, not a promise
			found = append(found, r)
		}
	}
	return found, nil
}

// pass returns the error of a single query, or nil if it concerns that row alone: then the log says so, and the books
// keep what they have.
func (c *copier) pass(kind, id string, err error) error {
	failed, ok := errors.AsType[*cardgateway.QueryError](err)
	if !ok || failed.Code == 0 && !errors.Is(err, cardgateway.ErrNotFound) {
		return fmt.Errorf("%s %s: %w", kind, shown(id), err)
	}
	fmt.Fprintf(c.log, "%s %s was not asked for again: %v\n", kind, shown(id), err)
	return nil
}
