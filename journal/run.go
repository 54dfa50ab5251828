package journal

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"log/slog"
	"slices"
	"sync"
	"time"
)

// Run reports the outcomes of the shop's payments and refunds, until ctx ends, and returns the error of ctx. It calls report for
// every payment and refund that has something to report, for one at a time. Once report returns nil, Run acknowledges an entry
// that has an outcome (NotSent, Abandoned, Declined, Succeeded, or a conflict). So report should store the entry's Outcome in your
// own database, and must be idempotent. An entry without an outcome (Unknown, Pending, Refused, PresumedAbsent) is reported
// once, and again only when more is known. If report returns an error, the next Recover reports the entry again, or Run does so
// once more is known. Report should return when its context ends.
//
// Run does what Recover does at once and then at the given interval; if every is zero, it means a minute. In between,
// it reports at once what Confirm and ConfirmRefund of this Journal have recorded. When a call of this Journal ends with an unknown
// outcome, Run queries the gateway half a second later, and then after 1, 2, 4 seconds and so on, up to the interval, for up to 5
// seconds each, and Options.Wait. That is so for about 1,000 payments at a time; the others wait for the interval.
//
// Every process of the shop may call Run if the store is also a LeaseStore, as all stores of this module are. One of them works,
// and the others stand by. If it ends, another one takes over within two seconds; if it is killed, stopped or loses the database,
// within eight. While report runs, the process keeps the lease: a report that never returns stops all reports, so give it a time
// limit. An outcome is reported at least once, and by one process at a time, with one exception: if a process is stopped while
// report runs, or report does not return within a second of the end of its context, another process can report meanwhile. The
// cause of that end is then ErrLeaseLost. What a process that stands by confirms, or what ends unknown there, the working process
// notices within about half a second, and after that it lists what is not acknowledged. What a process confirms that does not call
// Run is reported at the next interval.
//
// With any other store, only one process of a shop may call Run.
//
// A failure of the store, or an entry that cannot be read, is logged and does not end Run.
func (j *Journal) Run(ctx context.Context, every time.Duration, report func(context.Context, Entry) error) error {
	if err := needContext(ctx, "Run"); err != nil {
		return err
	}
	if report == nil {
		return errors.New("journal: Run needs a function to call")
	}
	if every <= 0 {
		every = time.Minute
	}
	r := &runner{j: j, every: every, report: report, soon: make(map[ID]soonQuery), failed: make(map[ID]int)}
	if store, ok := j.store.(LeaseStore); ok {
		r.runLeased(ctx, newLease(j, store))
	} else {
		r.work(ctx)
	}
	return ctx.Err()
}

// runner is one Run. One goroutine uses it, except for its lease.
type runner struct {
	j      *Journal
	every  time.Duration
	report func(context.Context, Entry) error
	lease  *lease // nil if the store has none: then this process works

	soon     map[ID]soonQuery
	list     bool          // something has changed: list what is not acknowledged
	listAt   time.Time     // not before this time
	reported time.Duration // how long report has run, in all
	failed   map[ID]int    // versions for which report has returned an error, at most mostNews: they wait for the next Recover
}

// soonQuery is a query that is due before the next Recover.
type soonQuery struct {
	at    time.Time
	pause time.Duration // before it
}

const (
	// firstQuery is how long after a call with an unknown outcome the gateway is queried. A gateway that is about to answer
	// has had this time, and it is short for a customer who waits. Each further pause is twice as long.
	firstQuery = 500 * time.Millisecond
	// mostSoon limits how many ids are queried before the next Recover.
	mostSoon = mostNews
	// soonLimit is how long a planned query waits for the gateway, beside Options.Wait: the next one follows soon, and others wait for it.
	soonLimit = 5 * time.Second
	// listPause is the shortest time between two lists that changes elsewhere cause. After a long list it is four times as
	// long as that took, so that listing takes at most a fifth of the time.
	listPause = 100 * time.Millisecond
)

// work does the work of Run until ctx ends, which it does when the lease is lost.
func (r *runner) work(ctx context.Context) {
	for next := time.Now(); ctx.Err() == nil; r.wait(ctx, next) {
		if !time.Now().Before(next) {
			r.list, r.failed = false, make(map[ID]int)
			r.recover(ctx)
			next = time.Now().Add(r.every)
		}
		r.reportNews(ctx)
		r.querySoon(ctx)
	}
}

// recover does what Recover does. A gateway that does not answer can hold that up for hours if much is open. So meanwhile it reports
// news, makes the planned queries, and reports what has an outcome: after a second, and then at the interval.
func (r *runner) recover(ctx context.Context) {
	const first = time.Second
	all := recovering{list: r.j.store.Unacked, queries: true, observed: true, wake: r.j.news.wake}
	settled := recovering{list: r.j.store.Unacked, settled: true}
	settledAt := time.Now().Add(first)
	wake := time.AfterFunc(first, r.j.news.signal)
	defer wake.Stop()
	all.woken = func() {
		if !time.Now().Before(settledAt) {
			r.pass(ctx, settled, nil)
			r.failed = make(map[ID]int)
			settledAt = time.Now().Add(r.every)
			wake.Reset(r.every)
		}
		r.reportNews(ctx)
		r.querySoon(ctx)
	}
	r.pass(ctx, all, nil)
}

// wait waits for the next thing to do.
func (r *runner) wait(ctx context.Context, next time.Time) {
	if r.list {
		next = earlier(next, r.listAt)
	}
	for _, q := range r.soon {
		next = earlier(next, q.at)
	}
	timer := time.NewTimer(time.Until(next))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-r.j.news.wake:
	case <-ctx.Done():
	}
}

// reportNews reports what has been confirmed, here or in another process, without a query.
func (r *runner) reportNews(ctx context.Context) {
	confirmed, opened, missed := r.j.news.take()
	for _, id := range opened {
		r.querySoonAfter(id, firstQuery)
	}
	r.list = r.list || missed || r.lease != nil && r.lease.hasNews.Swap(false)
	switch begun, reported := time.Now(), r.reported; {
	case r.list && !begun.Before(r.listAt):
		r.list = false
		r.pass(ctx, recovering{list: r.j.store.Unacked}, func(e *Entry) {
			if known := e.project(); known.state == Unknown && known.answeredAt > r.j.memory.get(e.ID()).askedVersion {
				r.querySoonAfter(e.ID(), firstQuery) // a call in another process has ended so since the last query
			}
		})
		listing := time.Since(begun) - (r.reported - reported) // the merchant's time is not part of it
		r.listAt = time.Now().Add(max(listPause, 4*listing))
	case len(confirmed) > 0:
		r.pass(ctx, recovering{list: r.j.entries(confirmed)}, nil)
	}
}

// querySoonAfter plans a query, unless it would not be before the next Recover. One that is planned already is not put off.
func (r *runner) querySoonAfter(id ID, pause time.Duration) {
	at := time.Now().Add(pause)
	before, planned := r.soon[id]
	if pause >= r.every || planned && !at.Before(before.at) || !planned && len(r.soon) >= mostSoon {
		return
	}
	r.soon[id] = soonQuery{at, pause}
	time.AfterFunc(pause, r.j.news.signal) // a Recover may be waiting for other queries
}

// querySoon makes the planned queries that are due, and plans the next for what is still unknown.
func (r *runner) querySoon(ctx context.Context) {
	pauses := make(map[ID]time.Duration)
	var due []ID
	for id, q := range r.soon {
		if !time.Now().Before(q.at) {
			delete(r.soon, id)
			due, pauses[id] = append(due, id), q.pause
		}
	}
	if len(due) == 0 {
		return
	}
	sortIDs(due)
	what := recovering{list: r.j.entries(due), queries: true, planned: true, wake: r.j.news.wake, woken: func() { r.reportNews(ctx) }}
	r.pass(ctx, what, func(e *Entry) {
		if e.State() == Unknown {
			r.querySoonAfter(e.ID(), 2*pauses[e.ID()])
		}
	})
}

// entries returns a list of the entries with these ids, as they are now.
func (j *Journal) entries(ids []ID) func(context.Context, Shop) iter.Seq2[Entry, error] {
	return func(ctx context.Context, _ Shop) iter.Seq2[Entry, error] {
		return func(yield func(Entry, error) bool) {
			for _, id := range ids {
				if !yield(j.get(ctx, j.key(id))) {
					return
				}
			}
		}
	}
}

// pass reports the entries of one recovery, as long as this process has the lease. After, if not nil, is called with each.
func (r *runner) pass(ctx context.Context, what recovering, after func(*Entry)) {
	what.holder = r.lease.nameOf()
	for e, err := range r.j.recover(ctx, what) {
		switch {
		case ctx.Err() != nil || !r.lease.isHeld():
			return
		case err != nil:
			r.j.opts.Logger.LogAttrs(ctx, slog.LevelError, "journal: recovering", slog.Any("error", err))
		default:
			r.reportOne(ctx, &e)
			if after != nil {
				after(&e)
			}
		}
	}
}

// reportOne reports one payment or refund.
func (r *runner) reportOne(ctx context.Context, e *Entry) {
	j, final := r.j, e.project().final()
	if !final && j.memory.get(e.ID()).stored { // of this version: memory.returned clears it for another one
		return
	}
	if version, ok := r.failed[e.ID()]; ok && version == e.version() {
		return
	}
	begun := time.Now()
	failed := r.report(ctx, *e)
	r.reported += time.Since(begun)
	if failed != nil && len(r.failed) < mostNews {
		r.failed[e.ID()] = e.version()
	}
	switch {
	case failed == nil && final: // exactly this version, whatever was recorded or returned to other callers meanwhile
		failed = j.ack(context.WithoutCancel(ctx), e) // it is stored, even if ctx has ended meanwhile
	case failed == nil:
		j.memory.setStored(e)
	}
	if failed != nil && ctx.Err() == nil && !errors.Is(failed, ErrChanged) && !errors.Is(failed, ErrNoEntry) {
		j.opts.Logger.LogAttrs(ctx, slog.LevelError, "journal: reporting a payment or refund",
			slog.String(e.Begun.ID.member(), e.ID().Text), slog.Any("error", failed))
	}
}

// final reports whether there is an outcome that Run acknowledges once it has been reported and stored.
func (p *projection) final() bool {
	switch p.state {
	case NotSent, Abandoned, Declined, Succeeded:
		return true
	}
	return p.conflict
}

// news is what the calls of this process have to say to its Run. Its size is limited.
type news struct {
	wake chan struct{} // can be received from when there is something new

	mu        sync.Mutex
	confirmed idSet // something was recorded that should be reported
	opened    idSet // a call has ended with an unknown outcome
	missed    bool  // something that was confirmed did not fit
}

// idSet is a set of at most mostNews ids.
type idSet map[ID]struct{}

// mostNews limits the ids of each set. What does not fit is found in the list of what is not acknowledged.
const mostNews = 1000

func newNews() news {
	return news{wake: make(chan struct{}, 1), confirmed: make(idSet), opened: make(idSet)}
}

func (n *news) confirm(id ID) {
	n.mu.Lock()
	n.missed = !n.confirmed.add(id) || n.missed
	n.mu.Unlock()
	n.signal()
}

func (n *news) open(id ID) {
	n.mu.Lock()
	n.opened.add(id)
	n.mu.Unlock()
	n.signal()
}

// miss says that there is something new that the news do not contain.
func (n *news) miss() {
	n.mu.Lock()
	n.missed = true
	n.mu.Unlock()
	n.signal()
}

func (n *news) signal() {
	select {
	case n.wake <- struct{}{}:
	default:
	}
}

// take returns the news, and forgets them.
func (n *news) take() (confirmed, opened []ID, missed bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	confirmed, opened, missed = n.confirmed.take(), n.opened.take(), n.missed
	n.missed = false
	return confirmed, opened, missed
}

// add adds an id, and reports false if the set is full.
func (s idSet) add(id ID) bool {
	if _, known := s[id]; !known && len(s) >= mostNews {
		return false
	}
	s[id] = struct{}{}
	return true
}

// take returns the ids, and removes them.
func (s idSet) take() (ids []ID) {
	for id := range s {
		ids = append(ids, id)
	}
	clear(s)
	sortIDs(ids)
	return ids
}

// sortIDs puts ids into an order that does not depend on that of a map.
func sortIDs(ids []ID) {
	slices.SortFunc(ids, func(a, b ID) int { return cmp.Compare(a.String(), b.String()) })
}
