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
	since   time.Time
	settled bool  // there is an entry, or it is not known whether one is missing: nothing more is done for it until more is reported
	version int32 // of the entry when that was settled, whether it was reported before or is to be
}

// mostPaying limits how many ids of Options.Paying are looked at.
const mostPaying = 10_000

// recordNeverBegun records that nothing was sent for the ids that Options.Paying names and for which no call has begun. Creating the
// entry decides between this and a call that begins at the same time: the store lets only one of them create it.
func (r *runner) recordNeverBegun(ctx context.Context) {
	if r.j.opts.Paying == nil {
		return
	}
	if r.term != ctx { // other processes have worked meanwhile
		r.term, r.paying = ctx, nil
	}
	ids, failed := r.j.opts.Paying(ctx)
	if failed == nil {
		now, paying := r.j.clock.now(), make(map[ID]payingID)
		for _, id := range ids[:min(len(ids), mostPaying)] {
			if _, twice := paying[id]; twice {
				continue
			}
			p, listed := r.paying[id]
			if !listed || p.settled && r.j.memory.get(id).version > p.version { // more has been reported since: it may be paid again
				p = payingID{since: now}
			}
			if !p.settled && now.Sub(p.since) >= longestFlight && failed == nil && r.lease.isHeld() {
				var (
					version int
					err     error
				)
				if p.settled, version, err = r.j.beginUnsent(ctx, id); p.settled {
					p.version = max(r.j.memory.get(id).version, int32(version))
					r.j.logNeverBegun(ctx, err)
				} else {
					failed, p.since = err, now // of the store or the gateway: others would meet it too. In case they do not, they go first next time
				}
			}
			paying[id] = p
		}
		r.paying = paying
	}
	r.j.logNeverBegun(ctx, failed)
}

func (j *Journal) logNeverBegun(ctx context.Context, err error) {
	if err != nil && ctx.Err() == nil {
		j.opts.Logger.LogAttrs(ctx, slog.LevelError, "journal: looking for payments that were never begun", slog.Any("error", err))
	}
}

// beginUnsent creates an entry that says that nothing was sent, unless there is one: see endUnbegun. If settled is false, it is to be
// tried again; otherwise an error is about this id alone, and version is that of the entry which is to be reported, if any. A call that is
// in flight without an entry, because the store is slow, then sends as after any NotSent; meanwhile nothing is reported.
func (j *Journal) beginUnsent(ctx context.Context, id ID) (settled bool, version int, err error) {
	if !id.recordable() {
		return true, 0, nil // no call with it sends anything
	}
	e, err := j.get(ctx, j.key(id))
	if err == nil {
		return j.endUnbegun(ctx, e)
	}
	if _, damaged := errors.AsType[*EntryError](err); damaged {
		return true, 0, err
	}
	if !errors.Is(err, ErrNoEntry) {
		return false, 0, err
	}
	if settled, err := j.isLost(ctx, id); err != nil {
		return settled, 0, err
	}
	ctx, cancel := context.WithTimeout(ctx, j.opts.WriteTimeout)
	defer cancel()
	in := Intent{Shop: j.shop, ID: id, Operation: opPaying, At: time.Now().Round(0), Sender: random.Text()}
	e, created, err := j.tryBegin(ctx, in)
	if err != nil || !created {
		return err == nil, 0, err
	}
	if e, err = j.recordUnsent(ctx, e, e.project()); err == nil { // if it fails, a query does it; see isKnownUnsent
		j.news.confirm(id)
	}
	return true, e.version(), err
}

// endUnbegun reports an entry again that the merchant has stored, and that allows another submission, such as NotSent: the call that was to
// make one has never begun. What it records for that says that this call has sent nothing, and changes no state. It is not settled while
// the entry is still to be reported, or has changed within the last minutes.
func (j *Journal) endUnbegun(ctx context.Context, e Entry) (settled bool, version int, err error) {
	before := j.memory.get(e.ID())
	switch {
	case !e.project().maySubmit(riskingTwice):
		return true, 0, nil
	case e.Unacked() && (!before.stored || int(before.version) != e.version()), j.calls.inFlight(e.ID()),
		j.clock.earliest().Sub(e.Evidence[len(e.Evidence)-1].At) < longestFlight:
		return false, 0, nil
	}
	if e.State() == NotSent { // Recover does not query for that
		if settled, err := j.isLost(ctx, e.ID()); err != nil {
			return settled, 0, err
		}
	}
	err = j.recordOnce(ctx, &e, Evidence{At: j.clock.now(), Source: SourceAnswer, State: NotSent, Sender: random.Text()})
	if errors.Is(err, ErrChanged) {
		return false, 0, nil
	}
	if err != nil {
		return false, 0, err
	}
	j.news.confirm(e.ID())
	return true, e.version(), nil
}

// isLost returns an error if the gateway has shown an id of which the journal does not know that anything was sent, or if it is not known
// whether it has. If settled is true, that would be so again, and the other ids wait.
func (j *Journal) isLost(ctx context.Context, id ID) (settled bool, err error) {
	shown, err := j.isShown(ctx, id)
	if shown {
		return true, fmt.Errorf("the gateway has %s, and the journal does not: it has lost entries", id.describe())
	}
	return errors.Is(err, errInconclusive), err
}

// isShown reports whether the gateway has shown a payment or a refund with this id in the last month: then the journal was restored from
// a backup, or the entry was forgotten, and it must not be said that nothing was sent. It reads one page: some gateways also return
// other rows, and if these fill it, the result is an error.
func (j *Journal) isShown(ctx context.Context, id ID) (bool, error) {
	from, to := time.Now().AddDate(0, 0, -27), time.Now().AddDate(0, 0, 1) // at most a month, and clocks can differ
	if id.Refund {
		page, err := j.client.SearchRefunds(ctx, cardgateway.RefundQuery{RefundTransactionID: id.Text, Start: from, End: to}, cardgateway.PageRequest{})
		return isOnPage(page, err, id, func(r cardgateway.Refund) bool { return r.MerchantRefundID == id.Text })
	}
	page, err := j.client.SearchOrders(ctx, cardgateway.OrderQuery{TransactionID: id.Text, Start: from, End: to}, cardgateway.PageRequest{})
	return isOnPage(page, err, id, func(t cardgateway.Transaction) bool { return t.TransactionID == id.Text })
}

var errInconclusive = errors.New("it is not known whether the gateway has it")

// isOnPage reports whether a page has a row. If it has not, and is not the whole result, or has rows that cannot be read, it is not
// known whether there is one.
func isOnPage[T any](page *cardgateway.Page[T], err error, id ID, matches func(T) bool) (bool, error) {
	switch {
	case page == nil:
		return false, err
	case slices.ContainsFunc(page.Data, matches):
		return true, nil
	case err != nil:
		return false, fmt.Errorf("%w: %w", errInconclusive, err)
	case len(page.Data) < page.TotalCount:
		return false, fmt.Errorf("%w: of %d rows for %s, the gateway returned %d, with other ids", errInconclusive, page.TotalCount, id.describe(), len(page.Data))
	}
	return false, nil
}
