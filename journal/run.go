package journal

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"time"
)

// Run reports the outcomes of the shop's payments and refunds, until ctx ends, and returns the error of ctx. It lists everything that
// is not acknowledged, at once and then at the given interval; if every is zero, it means 5 s. It calls report for every payment and
// refund that has something to report, for one at a time. Once report returns nil, Run acknowledges an entry that has an outcome (NotSent,
// Abandoned, Declined, Succeeded or Tested). So report should store the entry's Outcome in your own database, and must be idempotent. An
// entry without an outcome (Unknown, Pending, Refused, PresumedAbsent), or in conflict, is reported once by each Run, and so again after a
// restart, and whenever more is known. A conflict is counted by RecoverInfo until a person has looked at it, and Ack is called. Report should
// return when its context ends.
//
// The trouble of one entry does not keep back the others. If report returns an error, panics or ends its goroutine, or if the row is locked,
// that is logged, and the entry is reported again at the next interval, and then after pauses that grow up to 5 minutes. If it has not
// returned after 5 seconds, that is logged, the others are reported meanwhile, and this entry not again until it has. Up to 8 such reports run
// at a time, beside the one that holds up the others; if that one does not return either, no others begin. RecoverInfo.Failing counts them. A
// hook of the client that panics, or ends its goroutine, in the query for an entry is that entry's trouble, too.
//
// Beside that, Run queries the gateway for what is not final, up to Options.Parallel payments and refunds at a time: what has an outcome
// never waits for a query. The pause between two queries for a payment is an eighth of the time since its submission. When a call of this
// Journal ends with an unknown outcome, Run queries half a second later, and then after 1, 2, 4 seconds and so on, up to the interval, for up
// to 5 seconds each, and Options.Wait. That is so for about 1,000 payments at a time; the others wait for the interval. What these queries
// find, and what Confirm and ConfirmRefund of this Journal record, is reported at once.
//
// Every process of the shop may call Run if the store is also a LeaseStore, as all stores of this module are. One of them lists and
// reports, and the others stand by: they only query for what their own calls have left unknown, and record what they find. If the
// one that works ends, another one takes over within two seconds; if it is killed, stopped or loses the database, within eight.
// What another process records is reported at the next interval. While report runs, the process keeps the lease. An outcome is
// reported at least once, and by one process at a time. Another process can report it meanwhile, or again, if a process is stopped
// while report runs or killed before it has acknowledged; if report does not return within a second of the end of its context,
// whose cause is then ErrLeaseLost; or if the clock of the database jumps forward, or the row of the lease is lost.
//
// With any other store, only one process of a shop may call Run.
//
// When Run begins, it logs a warning if the store has entries of the same app that are not acknowledged under another Options.Gateway: nothing
// of this Journal finds their outcomes, and their transactionIds can be used again. The warning says how many there are, up to 10,000.
//
// A failure of the store, or an entry that cannot be read, is logged and does not end Run. When ctx has ended, Run waits up to 6 seconds for
// reports that have not returned.
func (j *Journal) Run(ctx context.Context, every time.Duration, report func(context.Context, Entry) error) error {
	if err := needContext(ctx, "Run"); err != nil {
		return err
	}
	if report == nil {
		return errors.New("journal: Run needs a function to call")
	}
	if every <= 0 {
		every = defaultEvery
	}
	j.cared.Store(true)
	j.memory.forgetStored()
	looked := async(func() { j.lookElsewhere(ctx) })
	defer func() { (<-looked).Rethrow() }()
	r := newRunner(j, every, report)
	if store, ok := j.store.(LeaseStore); ok {
		r.lease = newLease(j, store)
		leased, release := r.lease.start(ctx)
		defer release()
		r.loop(leased)
	} else {
		r.loop(ctx)
	}
	return ctx.Err()
}

// maxElsewhere limits how many entries under another name of the shop are counted.
const maxElsewhere = 10_000

// lookElsewhere warns of entries that belong to the same app under another name of the shop.
func (j *Journal) lookElsewhere(ctx context.Context) {
	store, ok := j.store.(interface {
		Shops(context.Context) ([]Shop, error)
	})
	if !ok {
		return
	}
	_, err := guarded(ctx, func(ctx context.Context) (struct{}, error) {
		shops, err := store.Shops(ctx)
		for _, other := range shops {
			if other == j.shop || other.AppID != j.shop.AppID {
				continue
			}
			info, failed := j.countUnacked(ctx, other)
			if n := info.Reported + info.Unreadable; n > 0 {
				j.opts.Logger.LogAttrs(ctx, slog.LevelWarn, "journal: the store has entries of this app under another name of the shop: "+
					"if it is the same shop, set Options.Gateway to that name", slog.String("name", j.shop.Gateway),
					slog.String("otherName", other.Gateway), slog.Int("notAcknowledged", n), slog.Int("open", info.Open),
					slog.Int("pending", info.Pending), slog.Time("oldestOpen", info.OldestOpen))
			}
			err = errors.Join(err, failed)
		}
		return struct{}{}, err
	})
	if err != nil {
		j.logTrouble(ctx, "journal: looking for other names of the shop", err)
	}
}

// countUnacked counts entries of a shop that are not acknowledged, up to maxElsewhere.
func (j *Journal) countUnacked(ctx context.Context, shop Shop) (info RecoverInfo, err error) {
	for e, err := range j.store.Unacked(ctx, shop) {
		switch {
		case err == nil:
			info.count(&e, e.project())
		case !info.addUnreadable(err):
			return info, err
		}
		if info.Reported+info.Unreadable == maxElsewhere {
			break
		}
	}
	return info, nil
}

const (
	defaultEvery = 5 * time.Second
	// firstQuery is how long after a call with an unknown outcome the gateway is queried. A gateway that is about to answer
	// has had this time, and it is short for a customer who waits. Each further pause is twice as long.
	firstQuery = 500 * time.Millisecond
	// ownLimit is how long a query for a call of this process waits for the gateway, beside Options.Wait: the next one follows soon, and
	// others wait for it.
	ownLimit = 5 * time.Second
	// standbyAfter is how long a process waits for the lease before it says that it stands by.
	standbyAfter = time.Second
)

// runner is one Run. One goroutine uses it, except for its lease.
type runner struct {
	j      *Journal
	every  time.Duration
	report func(context.Context, Entry) error
	lease  *lease // nil if the store has none: then this process works

	listed  []ID        // of the last list: what is to be queried, and was not yet
	asking  map[ID]bool // queries under way, and whether each is for a call of this process
	answers chan answer // of these queries

	reporting map[ID]bool    // reports that have not returned, and whether the others no longer wait for each
	reports   chan reportEnd // of these reports, when they have returned
	heldUp    time.Duration  // how long reports have held up the others, in all
}

func newRunner(j *Journal, every time.Duration, report func(context.Context, Entry) error) *runner {
	return &runner{
		j: j, every: every, report: report, asking: make(map[ID]bool), answers: make(chan answer, 2*j.opts.Parallel),
		reporting: make(map[ID]bool), reports: make(chan reportEnd, maxSlow+1),
	}
}

// loop lists at the interval if this process works, reports what has become known, and starts the queries that are due.
func (r *runner) loop(ctx context.Context) {
	queries, cancel := context.WithCancel(ctx)
	defer r.stop(cancel)
	term, next := r.firstTerm(ctx)
	for ctx.Err() == nil {
		if term != nil && term.Err() != nil {
			term, r.listed = nil, nil // another process works now
		}
		if !time.Now().Before(next) {
			next = r.list(ctx, term)
		}
		r.reportChanged(term)
		timer := time.NewTimer(time.Until(earlier(next, r.ask(queries))))
		select {
		case term = <-r.lease.begins():
			next = time.Now()
		case a := <-r.answers:
			r.answered(a)
		case end := <-r.reports:
			r.reportEnded(end)
		case <-r.j.soon.wake:
		case <-timer.C:
		case <-ended(term):
		case <-ctx.Done():
		}
		timer.Stop()
	}
}

// firstTerm returns the context of the reports, nil if this process stands by, and when to list.
func (r *runner) firstTerm(ctx context.Context) (context.Context, time.Time) {
	if r.lease == nil {
		return ctx, time.Now()
	}
	return nil, time.Now().Add(standbyAfter)
}

// ended returns what is closed when a term ends. Without one, it is nil.
func ended(term context.Context) <-chan struct{} {
	if term == nil {
		return nil
	}
	return term.Done()
}

// list reads everything that is not acknowledged, reports what has an outcome, and remembers what is to be queried. It returns when to list
// again: after a long list only after four times as long as that took, so that listing takes at most a fifth of the time. A process that
// stands by lists nothing.
func (r *runner) list(ctx, term context.Context) (next time.Time) {
	j := r.j
	if term == nil {
		holder := r.lease.holderNow()
		j.observe(ctx, RecoverInfo{Standby: true, Holder: holder, Complete: holder != ""})
		return time.Now().Add(r.every)
	}
	begun, heldUp := time.Now(), r.heldUp
	info := RecoverInfo{Holder: r.lease.nameOf(), Complete: true}
	r.listed = nil
	for e, err := range j.Unacked(term) {
		if term.Err() != nil {
			info.Complete = false
			break
		}
		if err != nil {
			info.Complete = info.addUnreadable(err) && info.Complete
			r.listingFailed(term, err)
			continue
		}
		known, ok := j.toReport(&e)
		if !ok {
			continue
		}
		info.count(&e, known)
		switch {
		case !known.final() && j.isDue(&e, false) && len(r.listed) < maxRemembered: // reported after the query
			r.listed = append(r.listed, e.ID())
		case j.mayReport(&e, known):
			r.reportOne(term, e.ID())
		}
		if _, isRunning := r.reporting[e.ID()]; isRunning || j.memory.get(e.ID()).isFailing() {
			info.Failing++
		}
	}
	info.Duration = time.Since(begun)
	j.observe(ctx, info)
	return time.Now().Add(max(r.every, 4*(info.Duration-(r.heldUp-heldUp))))
}

// toReport returns what is known of an entry, if it is not acknowledged, and no call of this process is about to add to it.
func (j *Journal) toReport(e *Entry) (*projection, bool) {
	if !e.Unacked() || j.calls.inFlight(e.ID()) {
		return nil, false
	}
	known := e.project()
	e.queryErr = j.memory.get(e.ID()).queryErr
	j.memory.returned(e, known)
	return known, true
}

// answer is how a query of Run ended.
type answer struct {
	id     ID
	pause  time.Duration // before it, if it was for a call of this process; otherwise zero
	again  bool          // it is still unknown, or could not be read
	isNews bool          // there is something to report
}

// ask starts the queries that are due, as many as may be under way: for calls of this process, and as many for what was listed. It returns
// when the next one is due.
func (r *runner) ask(ctx context.Context) (next time.Time) {
	free := func(own bool) (n int) {
		n = r.j.opts.Parallel
		for isOwn := range maps.Values(r.asking) {
			if isOwn == own {
				n--
			}
		}
		return n
	}
	due, next := r.j.soon.takeDue(time.Now(), free(true))
	for _, q := range due {
		if _, isUnderWay := r.asking[q.id]; isUnderWay { // since it was listed
			r.j.soon.query(q.id, q.pause)
		} else {
			r.askFor(ctx, q.id, q.pause)
		}
	}
	for n := free(false); n > 0 && len(r.listed) > 0; r.listed = r.listed[1:] {
		if _, isUnderWay := r.asking[r.listed[0]]; !isUnderWay {
			r.askFor(ctx, r.listed[0], 0)
			n--
		}
	}
	return next
}

// askFor starts one query, for an entry as it is then.
func (r *runner) askFor(ctx context.Context, id ID, pause time.Duration) {
	a := answer{id: id, pause: pause}
	r.asking[id] = pause > 0
	apart("a query", func() error { return r.j.askFor(ctx, &a) }, func(err error) {
		if err != nil {
			a.again = true
			r.j.recordFailed(ctx, id, err)
		}
		r.answers <- a
	})
}

// askFor makes the query of an answer. The error is that of reading the entry.
func (j *Journal) askFor(ctx context.Context, a *answer) error {
	e, err := j.get(ctx, j.key(a.id))
	switch {
	case errors.Is(err, ErrNoEntry):
		return nil
	case err != nil:
		return err
	case !j.shouldAsk(&e, a.pause > 0):
		return nil
	}
	var limit time.Duration
	if a.pause > 0 {
		limit = ownLimit + j.opts.Wait
	}
	version := e.Version()
	e, _, _ = j.query(ctx, e, limit) // memory keeps the error of the query, until the next one
	a.again, a.isNews = e.State() == Unknown, e.Version() != version || !j.memory.get(a.id).stored
	return nil
}

// answered has an entry reported after a query for it, and plans the next one for a call of this process that is still unknown.
func (r *runner) answered(a answer) {
	delete(r.asking, a.id)
	if a.isNews {
		r.j.soon.change(a.id)
	}
	if next := 2 * a.pause; a.again && next > 0 && next < r.every {
		r.j.soon.query(a.id, next)
	}
}

// stop ends all queries, and waits for them and for the reports for up to stopWithin: a store, and the merchant's function, may ignore
// their context.
func (r *runner) stop(cancel context.CancelFunc) {
	cancel()
	timer := time.NewTimer(stopWithin)
	defer timer.Stop()
	for len(r.asking)+len(r.reporting) > 0 {
		select {
		case a := <-r.answers:
			delete(r.asking, a.id)
		case end := <-r.reports:
			r.reportEnded(end)
		case <-timer.C:
			return
		}
	}
}
