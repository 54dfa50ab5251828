package journal

import (
	"context"
	"errors"
	"iter"
	"log/slog"
	"sync"
	"time"

	"github.com/cardgateway/cardgateway-go/internal/goroutine"
)

// Recover queries the gateway for every payment and refund that is not final, and yields every entry that has something you have
// not acknowledged, oldest first. Final are NotSent, Abandoned, Declined, Succeeded and Conflicting, except of a payment that was
// submitted more than once. The result is the entry's Outcome. Payments in flight in this Journal are left to their callers. Payments
// in flight in another process can be yielded, because a query does no harm, and are then reported twice.
//
// Call it at the start and then regularly from one process at a time, or use Run, which several processes may call. The interval
// between two queries for a payment is an eighth of the time since its submission, so running Recover every minute is cheap.
// Options.Parallel payments are queried concurrently, ahead of the loop. Memory does not grow with the number of payments: of more
// than about 65,000 that are not final, some are queried by every Recover.
//
// A failed query leaves the state as it is and is not an error of Recover; the error of the outcome wraps it. An entry that
// cannot be read is yielded as an *EntryError after all others. Any other error is a failure of the store, or the end of
// ctx, and ends the loop.
func (j *Journal) Recover(ctx context.Context) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		if err := needContext(ctx, "Recover"); err != nil {
			yield(Entry{}, err)
			return
		}
		for e, err := range j.recover(ctx, recovering{list: j.store.Unacked, queries: true, observed: true}) {
			if !yield(e, err) {
				return
			}
		}
	}
}

// recovering says what a recovery lists, and what it does.
type recovering struct {
	list     func(context.Context, Shop) iter.Seq2[Entry, error]
	queries  bool // it queries the gateway for what is due
	planned  bool // everything is due, and a query is short; see Run
	settled  bool // it yields only what has an outcome
	observed bool // it lists everything, so that Options.Observe is called at its end
	holder   string
	// While the loop waits for an entry, it calls woken whenever wake can be received from.
	wake  <-chan struct{}
	woken func()
}

func (j *Journal) recover(ctx context.Context, what recovering) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		r := j.startRecovery(ctx, what)
		defer r.stop()
		err := r.report(yield)
		if err == nil {
			r.info.Complete = true
		} else if !errors.Is(err, errStopped) {
			yield(Entry{}, err)
		}
	}
}

// errStopped says that the caller has left the loop over Recover.
var errStopped = errors.New("journal: the loop has ended")

// recovery is one run of Recover, or a part of Run. A reader reads the list ahead of the loop, and starts queries for those
// that are not final. The loop takes the results in the order of the list.
type recovery struct {
	recovering
	j       *Journal
	outer   context.Context // the caller's
	ctx     context.Context // ends with the loop
	cancel  context.CancelFunc
	items   chan *recovered
	reader  <-chan goroutine.Ending
	asking  sync.WaitGroup
	changes int64 // of this process, when it began
	begun   time.Time
	info    RecoverInfo
}

// recovered is one entry on its way from the reader to the loop.
type recovered struct {
	entry Entry
	err   error
	asOf  time.Time               // the store is known to have had this form of the entry at this time
	ended <-chan goroutine.Ending // of the query; nil if there is none
}

func (j *Journal) startRecovery(ctx context.Context, what recovering) *recovery {
	r := &recovery{
		recovering: what, j: j, outer: ctx, items: make(chan *recovered, 4*j.opts.Parallel), changes: j.memory.changeCount(), begun: time.Now(),
	}
	r.ctx, r.cancel = context.WithCancel(ctx)
	r.reader = async(r.read)
	return r
}

// read lists entries, and starts queries for those that are not final.
func (r *recovery) read() {
	defer close(r.items)
	places := make(chan struct{}, r.j.opts.Parallel)
	for e, err := range r.list(r.ctx, r.j.shop) {
		item := &recovered{entry: e, err: err, asOf: time.Now()}
		if err == nil && r.queries && r.j.shouldAsk(&e, r.planned) {
			select {
			case places <- struct{}{}:
			case <-r.ctx.Done():
				r.j.memory.forgetQuery(e.ID())
				return
			}
			var limit time.Duration
			if r.planned {
				limit = soonLimit + r.j.opts.Wait
			}
			r.asking.Add(1)
			item.ended = async(func() {
				defer r.asking.Done()
				defer func() { <-places }()
				item.entry, _, item.err = r.j.query(r.ctx, e, limit) // memory keeps the error of the query, until the next one
				item.asOf = time.Now()
			})
		}
		select {
		case r.items <- item:
		case <-r.ctx.Done():
			return
		}
	}
}

// freshFor is how old a listed entry may be when it is yielded. An older one is read again, because the loop can be slow.
const freshFor = time.Second

// report yields every entry that has something to report, and then an error for each entry that cannot be read.
func (r *recovery) report(yield func(Entry, error) bool) error {
	var unreadable []error
	for {
		item, err := r.next()
		if err != nil {
			return err
		}
		if item == nil {
			break
		}
		e, err := r.current(item)
		switch unread := (*EntryError)(nil); {
		case errors.As(err, &unread):
			r.info.Unreadable++
			if len(unreadable) < maxUnreadable {
				unreadable = append(unreadable, err)
			}
			continue
		case errors.Is(err, ErrNoEntry): // acknowledged and forgotten since it was listed
			continue
		case err != nil:
			return err
		case !e.Unacked() || r.j.calls.inFlight(e.ID()):
			continue
		}
		known := e.project()
		if r.settled && !known.final() {
			continue
		}
		e.queryErr = r.j.memory.get(e.ID()).queryErr
		r.info.count(&e, known)
		r.j.memory.returned(&e, known)
		if !yield(e, nil) {
			return errStopped
		}
	}
	for _, err := range unreadable {
		if !yield(Entry{}, err) {
			return errStopped
		}
	}
	return nil
}

// maxUnreadable limits how many entries that cannot be read are yielded.
const maxUnreadable = 1000

// next returns the next item once its query has ended, or nil after the last.
func (r *recovery) next() (*recovered, error) {
	item, err := await(r, r.items)
	switch {
	case err != nil:
		return nil, err
	case item == nil:
		end := <-r.reader
		end.Rethrow()
		return nil, r.outer.Err()
	case item.ended != nil:
		end, err := await(r, item.ended)
		if err != nil {
			return nil, err
		}
		end.Rethrow()
	}
	return item, nil
}

// await receives from a channel, and calls woken meanwhile. An error says that ctx has ended.
func await[T any](r *recovery, from <-chan T) (got T, err error) {
	for {
		select {
		case got = <-from:
			return got, nil
		case <-r.ctx.Done():
			return got, r.outer.Err()
		case <-r.wake:
			r.woken()
		}
	}
}

// current returns the entry of an item. It reads it again if this process has changed it, or if it is older than
// freshFor.
func (r *recovery) current(item *recovered) (Entry, error) {
	if item.err != nil {
		return item.entry, item.err
	}
	key := item.entry.Key()
	if r.j.memory.changedSince(key.ID, r.changes) || time.Since(item.asOf) > freshFor {
		return r.j.get(r.ctx, key)
	}
	return item.entry, nil
}

// stop ends the reader and all queries, and waits for them for up to freshFor: a store may ignore its context.
func (r *recovery) stop() {
	r.cancel()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for range r.items { // until the reader closes it
		}
		r.asking.Wait()
	}()
	timer := time.NewTimer(freshFor)
	defer timer.Stop()
	select {
	case <-ended:
	case <-timer.C:
	}
	if r.observed {
		r.info.Duration, r.info.Holder = time.Since(r.begun), r.holder
		r.j.observe(r.outer, r.info)
	}
}

// observe logs what a Recover found, and calls Options.Observe.
func (j *Journal) observe(ctx context.Context, i RecoverInfo) {
	level := slog.LevelDebug
	if i.Conflicts > 0 || i.Unreadable > 0 || i.Unanswered > 0 || !i.Complete {
		level = slog.LevelWarn
	}
	if i.Reported > 0 || level > slog.LevelDebug {
		j.opts.Logger.LogAttrs(ctx, level, "journal: recovered",
			slog.Int("open", i.Open), slog.Int("pending", i.Pending), slog.Int("presumedAbsent", i.PresumedAbsent),
			slog.Int("refused", i.Refused), slog.Int("conflicts", i.Conflicts), slog.Int("settled", i.Settled),
			slog.Int("unreadable", i.Unreadable), slog.Int("unanswered", i.Unanswered), slog.Any("lastError", i.LastError),
			slog.Bool("complete", i.Complete), slog.Duration("duration", i.Duration))
	}
	if j.opts.Observe != nil {
		j.opts.Observe(ctx, i)
	}
}

// RecoverInfo reports what one Recover found, for metrics and alerts. It counts entries that are not acknowledged,
// payments and refunds together.
type RecoverInfo struct {
	Reported       int // payments and refunds yielded to the loop; the sum of the following except Unreadable
	Open           int // Unknown: a payment may have been made, and its outcome is not known
	Pending        int // in processing, or waiting for the cardholder
	PresumedAbsent int
	Refused        int
	Conflicts      int // need manual review
	Settled        int // with an outcome: NotSent, Abandoned, Declined or Succeeded
	Unreadable     int // entries that cannot be read

	Unanswered int       // payments whose last query failed
	LastError  error     // of the query for the one of these payments that began last; nil if there is none
	OldestOpen time.Time // when the oldest of Open was submitted; zero if there is none
	Complete   bool      // the loop was not left early, and nothing failed
	Duration   time.Duration

	// Of a Run with a LeaseStore.
	Holder  string // which process works: its host, its process id and a random text; empty if that is not known
	Standby bool   // it is another one: this process lists nothing, so that all counts are zero
}

func (i *RecoverInfo) count(e *Entry, known *projection) {
	i.Reported++
	switch {
	case known.conflict:
		i.Conflicts++
	case known.state == Unknown:
		i.Open++
		if at := known.intent.At; i.OldestOpen.IsZero() || at.Before(i.OldestOpen) {
			i.OldestOpen = at
		}
	case known.state == Pending:
		i.Pending++
	case known.state == PresumedAbsent:
		i.PresumedAbsent++
	case known.state == Refused:
		i.Refused++
	default:
		i.Settled++
	}
	if e.queryErr != nil {
		i.Unanswered++
		i.LastError = e.queryErr
	}
}
