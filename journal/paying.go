package journal

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/internal/random"
)

// payingID is an id that Options.Paying has named, in every list since then.
type payingID struct {
	since time.Time
	begun bool // there is an entry
}

// mostPaying limits how many ids of Options.Paying are looked at.
const mostPaying = 10_000

// recordNeverBegun records that nothing was sent for the ids that Options.Paying names and for which no call has begun. Creating the
// entry decides between this and a call that begins at the same time: the store lets only one of them create it.
func (r *runner) recordNeverBegun(ctx context.Context) {
	if r.j.opts.Paying == nil {
		return
	}
	ids, failed := r.j.opts.Paying(ctx)
	if failed == nil {
		now, paying := r.j.clock.now(), make(map[ID]payingID)
		for _, id := range ids[:min(len(ids), mostPaying)] {
			p, listed := r.paying[id]
			if !listed {
				p.since = now
			}
			if !p.begun && now.Sub(p.since) >= longestFlight && failed == nil && r.lease.isHeld() {
				p.begun, failed = r.j.beginUnsent(ctx, id)
			}
			paying[id] = p
		}
		r.paying = paying
	}
	if failed != nil && ctx.Err() == nil {
		r.j.opts.Logger.LogAttrs(ctx, slog.LevelError, "journal: looking for payments that were never begun", slog.Any("error", failed))
	}
}

// beginUnsent creates an entry that says that nothing was sent, unless there is one. It reports whether there is an entry now. A
// call that is in flight without an entry, because the store is slow, then sends as after any NotSent; meanwhile nothing is reported.
func (j *Journal) beginUnsent(ctx context.Context, id ID) (bool, error) {
	if !id.recordable() {
		return true, nil // no call with it sends anything
	}
	if _, err := j.get(ctx, j.key(id)); !errors.Is(err, ErrNoEntry) {
		return err == nil, err
	}
	if shown, err := j.isShown(ctx, id); err != nil {
		return errors.Is(err, errInconclusive), err // it would be so again, and the other ids wait
	} else if shown {
		return true, fmt.Errorf("the gateway has %s, and the journal does not: it has lost entries", id.describe())
	}
	ctx, cancel := context.WithTimeout(ctx, j.opts.WriteTimeout)
	defer cancel()
	in := Intent{Shop: j.shop, ID: id, Operation: opPaying, At: time.Now().Round(0), Sender: random.Text()}
	e, created, err := j.tryBegin(ctx, in)
	if err != nil || !created {
		return err == nil, err
	}
	_, err = j.recordUnsent(ctx, e, e.project()) // if it fails, a query does it; see isKnownUnsent
	return true, err
}

// isShown reports whether the gateway has shown a payment or a refund with this id in the last month: then the journal was restored from
// a backup, or the entry was forgotten, and it must not be said that nothing was sent. It reads one page: some gateways also return
// other rows, and if these fill it, the result is an error.
func (j *Journal) isShown(ctx context.Context, id ID) (bool, error) {
	from, to := time.Now().AddDate(0, 0, -27), time.Now().AddDate(0, 0, 1) // at most a month, and clocks can differ
	if id.Refund {
		page, err := j.client.SearchRefunds(ctx, cardgateway.RefundQuery{RefundTransactionID: id.Text, Start: from, End: to}, cardgateway.PageRequest{})
		if err != nil {
			return false, err
		}
		return isOnPage(page, id, func(r cardgateway.Refund) bool { return r.MerchantRefundID == id.Text })
	}
	page, err := j.client.SearchOrders(ctx, cardgateway.OrderQuery{TransactionID: id.Text, Start: from, End: to}, cardgateway.PageRequest{})
	if err != nil {
		return false, err
	}
	return isOnPage(page, id, func(t cardgateway.Transaction) bool { return t.TransactionID == id.Text })
}

var errInconclusive = errors.New("it is not known whether the gateway has it")

// isOnPage reports whether a page has a row. If it has not, and is not the whole result, it is not known whether there is one.
func isOnPage[T any](page *cardgateway.Page[T], id ID, matches func(T) bool) (bool, error) {
	switch {
	case slices.ContainsFunc(page.Data, matches):
		return true, nil
	case len(page.Data) < page.TotalCount:
		return false, fmt.Errorf("%w: of %d rows for %s, the gateway returned %d, with other ids", errInconclusive, page.TotalCount, id.describe(), len(page.Data))
	}
	return false, nil
}
