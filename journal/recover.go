package journal

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/cardgateway/cardgateway-go/internal/goroutine"
)

// Recover queries the gateway for every payment and refund that is not final, and yields every entry that has something you have
// not acknowledged, oldest first. Final are NotSent, Abandoned, Declined, Succeeded, Tested and Conflicting, except of a payment that was
// submitted more than once. The result is the entry's Outcome. Payments in flight in this Journal are left to their callers. Payments
// in flight in another process can be yielded, because a query does no harm, and are then reported twice.
//
// Call it at the start and then regularly from one process at a time, or use Run, which several processes may call. The interval
// between two queries for a payment is an eighth of the time since its submission, so running Recover every minute is cheap.
// Options.Parallel payments are queried concurrently, ahead of the loop. Memory does not grow with the number of payments: of more
// than about 65,000 that are not final, some are queried by every Recover.
//
// A failed query leaves the state as it is and is not an error of Recover; the error of the outcome wraps it. The trouble of one entry does
// not keep back the others: one that cannot be read is yielded as an *EntryError after all others, and then follows an error for each for
// which the result of a query could not be recorded, for example because its row is locked, or in whose query a hook of the client
// panicked. That one is queried again after a pause, which grows up to 5 minutes. Any other error is a failure of the store, or the end of
// ctx, and ends the loop.
func (j *Journal) Recover(ctx context.Context) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		if err := needContext(ctx, "Recover"); err != nil {
			yield(Entry{}, err)
			return
		}
		r := j.startRecovery(ctx)
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

// recovery is one run of Recover. A reader reads the list ahead of the loop, and starts queries for those
// that are not final. The loop takes the results in the order of the list.
type recovery struct {
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
	entry  Entry
	err    error      // of the list
	failed error      // what a query has shown could not be recorded, or it has panicked
	asOf   time.Time  // the store is known to have had this form of the entry at this time
	ended  chan error // receives failed when the query has ended; nil if there is none
}

func (j *Journal) startRecovery(ctx context.Context) *recovery {
	j.cared.Store(true)
	r := &recovery{
		j: j, outer: ctx, items: make(chan *recovered, 4*j.opts.Parallel), changes: j.memory.changeCount(), begun: time.Now(),
	}
	r.ctx, r.cancel = context.WithCancel(ctx)
	r.reader = async(r.read)
	return r
}

// read lists entries, and starts queries for those that are not final.
func (r *recovery) read() {
	defer close(r.items)
	places := make(chan struct{}, r.j.opts.Parallel)
	for e, err := range r.j.Unacked(r.ctx) {
		item := &recovered{entry: e, err: err, asOf: time.Now()}
		if err == nil && r.j.shouldAsk(&e, false) {
			select {
			case places <- struct{}{}:
			case <-r.ctx.Done():
				r.j.memory.forgetQuery(e.ID())
				return
			}
			r.asking.Add(1)
			item.ended = make(chan error, 1)
			apart("a query", func() (err error) {
				item.entry, _, err = r.j.query(r.ctx, e, 0) // memory keeps the error of the query, until the next one
				item.asOf = time.Now()
				return err
			}, func(err error) {
				<-places
				item.ended <- err
				r.asking.Done()
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

// report yields every entry that has something to report, and then an error for each entry that cannot be read or recorded.
func (r *recovery) report(yield func(Entry, error) bool) error {
	var unreadable, failing []error
	for unread := 0; ; {
		item, err := r.next()
		if err != nil {
			return err
		}
		if item == nil {
			break
		}
		e, err := r.current(item)
		switch {
		case r.info.addUnreadable(err):
			unreadable = append(unreadable[:min(len(unreadable), maxUnreadable-1)], err)
			continue
		case errors.Is(err, ErrNoEntry): // acknowledged and forgotten since it was listed
			continue
		case err == nil:
			unread = 0
		case item.err != nil, r.ctx.Err() != nil:
			return err
		default: // it cannot be read again: if others neither, the store fails
			if unread++; unread == maxFailedReads {
				return err
			}
			item.failed = err
		}
		if item.failed != nil {
			r.info.Failing++
			failing = append(failing[:min(len(failing), maxUnreadable-1)], fmt.Errorf("journal: %s: %w", e.ID().describe(), item.failed))
		}
		known, ok := r.j.toReport(&e)
		if !ok {
			continue
		}
		r.info.count(&e, known)
		if item.failed == nil && !yield(e, nil) {
			return errStopped
		}
	}
	for _, err := range slices.Concat(unreadable, failing) {
		if !yield(Entry{}, err) {
			return errStopped
		}
	}
	return nil
}

// maxFailedReads is how many entries in a row, which were listed, cannot be read again before that is a failure of the store.
const maxFailedReads = 3

// maxUnreadable limits how many entries that cannot be read are yielded, and how many that could not be recorded.
const maxUnreadable = 1000

// next returns the next item once its query has ended, or nil after the last.
func (r *recovery) next() (*recovered, error) {
	var item *recovered
	select {
	case item = <-r.items:
	case <-r.ctx.Done():
		return nil, r.outer.Err()
	}
	switch {
	case item == nil:
		end := <-r.reader
		end.Rethrow()
		return nil, r.outer.Err()
	case item.ended != nil:
		select {
		case item.failed = <-item.ended:
		case <-r.ctx.Done():
			return nil, r.outer.Err()
		}
	}
	return item, nil
}

// current returns the entry of an item. It reads it again if this process has changed it, or could not, or if it is older than
// freshFor. With an error, it is the entry as it was listed.
func (r *recovery) current(item *recovered) (Entry, error) {
	if item.err != nil {
		return item.entry, item.err
	}
	if err := r.ctx.Err(); err != nil {
		return item.entry, err
	}
	key := item.entry.Key()
	if item.failed == nil && !r.j.memory.changedSince(key.ID, r.changes) && time.Since(item.asOf) <= freshFor {
		return item.entry, nil
	}
	now, err := r.j.get(r.ctx, key)
	if err != nil {
		return item.entry, err
	}
	return now, nil
}

// stopWithin is how long the end of a Recover, or of a Run, waits for what it has begun.
const stopWithin = time.Second

// stop ends the reader and all queries, and waits for them for up to stopWithin: a store may ignore its context.
func (r *recovery) stop() {
	r.cancel()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for range r.items { // until the reader closes it
		}
		r.asking.Wait()
	}()
	timer := time.NewTimer(stopWithin)
	defer timer.Stop()
	select {
	case <-ended:
	case <-timer.C:
	}
	r.info.Duration = time.Since(r.begun)
	r.j.observe(r.outer, r.info)
}

// observe logs what a Recover found, and calls Options.Observe.
func (j *Journal) observe(ctx context.Context, i RecoverInfo) {
	before := j.found.Load()
	if i.Complete && !i.Standby {
		j.found.Store(&i)
	} else if before != nil && !i.Standby {
		i.atLeast(before)
	}
	level := slog.LevelDebug
	isNew := before == nil || i.Conflicts > before.Conflicts // a conflict stays until a person acknowledges it
	if i.Conflicts > 0 && isNew || i.Unreadable > 0 || i.Failing > 0 || i.Unanswered > 0 || !i.Complete {
		level = slog.LevelWarn
	}
	if i.Reported > 0 || level > slog.LevelDebug {
		j.opts.Logger.LogAttrs(ctx, level, "journal: recovered",
			slog.Int("open", i.Open), slog.Int("pending", i.Pending), slog.Int("presumedAbsent", i.PresumedAbsent),
			slog.Int("refused", i.Refused), slog.Int("conflicts", i.Conflicts), slog.Int("settled", i.Settled),
			slog.Int("unreadable", i.Unreadable), slog.Int("failing", i.Failing), slog.Int("unanswered", i.Unanswered), slog.Any("lastError", i.LastError),
			slog.Bool("complete", i.Complete), slog.Duration("duration", i.Duration))
	}
	j.tell(ctx, i)
}

// tell calls Options.Observe. Whatever that does, a list waits no longer for it than for a report.
func (j *Journal) tell(ctx context.Context, i RecoverInfo) {
	if j.opts.Observe == nil || !j.telling.CompareAndSwap(false, true) {
		return
	}
	ended := make(chan struct{})
	apart("Options.Observe", func() error {
		j.opts.Observe(ctx, i)
		return nil
	}, func(err error) {
		if err != nil {
			j.logTrouble(ctx, "journal: observing", err)
		}
		j.telling.Store(false)
		close(ended)
	})
	timer := time.NewTimer(slowReport)
	defer timer.Stop()
	select {
	case <-ended:
	case <-timer.C:
		j.logTrouble(ctx, "journal: observing", fmt.Errorf("journal: Options.Observe has not returned for %v, and is not called again until it has", slowReport))
	}
}

// RecoverInfo reports what one Recover, or one list of Run, found, for metrics and alerts. It counts entries that are not acknowledged,
// payments and refunds together.
type RecoverInfo struct {
	Reported       int // payments and refunds yielded to the loop, and those that are Failing; the sum of the next six
	Open           int // Unknown: a payment may have been made, and its outcome is not known
	Pending        int // in processing, or waiting for the cardholder
	PresumedAbsent int
	Refused        int
	Conflicts      int // need manual review
	Settled        int // with an outcome: NotSent, Abandoned, Declined, Succeeded or Tested
	Unreadable     int // entries that cannot be read
	// Failing counts payments and refunds whose last report failed, or has not returned, or for which the last result of a query could
	// not be recorded. They are tried again after growing pauses. They are counted by their state, too.
	Failing int

	Unanswered int       // payments whose last query failed
	LastError  error     // of the query for the one of these payments that began last; nil if there is none
	OldestOpen time.Time // when the oldest of Open was submitted; zero if there is none
	Complete   bool      // the loop was not left early, and the store could be read; if not, no count is lower than in the last complete one
	Duration   time.Duration

	// Of a Run with a LeaseStore.
	Holder  string // which process works: its host, its process id and a random text; empty if that is not known
	Standby bool   // it is another one: this process lists nothing, so that all counts are zero
}

// atLeast sets no count lower than in another one: what could not be looked at is as it was.
func (i *RecoverInfo) atLeast(seen *RecoverInfo) {
	i.Open, i.Pending, i.PresumedAbsent = max(i.Open, seen.Open), max(i.Pending, seen.Pending), max(i.PresumedAbsent, seen.PresumedAbsent)
	i.Refused, i.Conflicts, i.Settled = max(i.Refused, seen.Refused), max(i.Conflicts, seen.Conflicts), max(i.Settled, seen.Settled)
	i.Unreadable, i.Failing, i.Unanswered = max(i.Unreadable, seen.Unreadable), max(i.Failing, seen.Failing), max(i.Unanswered, seen.Unanswered)
	i.Reported = i.Open + i.Pending + i.PresumedAbsent + i.Refused + i.Conflicts + i.Settled
	i.LastError = cmp.Or(i.LastError, seen.LastError)
	if !seen.OldestOpen.IsZero() && (i.OldestOpen.IsZero() || seen.OldestOpen.Before(i.OldestOpen)) {
		i.OldestOpen = seen.OldestOpen
	}
}

// addUnreadable counts an error that says that an entry cannot be read, and reports whether it does.
func (i *RecoverInfo) addUnreadable(err error) bool {
	_, unreadable := errors.AsType[*EntryError](err)
	if unreadable {
		i.Unreadable++
	}
	return unreadable
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
