package notify

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// admission bounds what notifications can cause: anybody who knows the URL can send any number of them. One at a time is
// asked about and handled for each subject, and a bounded number in all. Beyond that it has two rules:
//
//   - What nobody has verified may be forged. It is admitted at once or turned away, and no more queries are reserved in
//     any second than allowed.
//   - What has been verified is the gateway's own, and some of it, a token, cannot be asked for again. It waits for its
//     turn, for some seconds and in a bounded crowd, before it is turned away.
//
// Its memory is bounded by what is admitted and what waits.
type admission struct {
	mu       sync.Mutex
	subjects map[string]*subject // that are active or waited for
	present  int                 // notifications that are active or wait
	slots    semaphore           // one for each active notification

	queries []time.Time // when the last queries were reserved: a ring as long as the number allowed in a second
	oldest  int
}

// subject is what one or several notifications are about.
type subject struct {
	turn    semaphore // of the one that is active
	present int       // notifications about it that are active or wait
}

const (
	defaultQueryRate = 10              // queries in any one second about what is not verified
	maxActive        = 128             // notifications that are being asked about or handled
	maxWaiting       = 4096            // verified ones that wait: what comes in two seconds at 2,000 a second
	maxPerSubject    = 8               // that are active or wait: more than the kinds of events of one moment
	maxWait          = 5 * time.Second // as long as a gateway pauses before it sends a notification again
)

func newAdmission(queriesPerSecond int) *admission {
	if queriesPerSecond <= 0 {
		queriesPerSecond = defaultQueryRate
	}
	queriesPerSecond = max(queriesPerSecond, maxQueries)
	return &admission{
		subjects: map[string]*subject{}, slots: make(semaphore, maxActive),
		queries: make([]time.Time, queriesPerSecond),
	}
}

// Why a notification was turned away. All but errBusy are errThrottled.
var (
	errBusy      = errors.New("notify: another notification about the same transaction is being handled")
	errThrottled = errors.New("notify: too many notifications")
	errFull      = fmt.Errorf("%w at once", errThrottled)
	errRate      = fmt.Errorf("%w in a second to ask the gateway about them; see Options.QueriesPerSecond", errThrottled)
	errWaited    = fmt.Errorf("%w at once: this one has waited %v for its turn", errThrottled, maxWait)
)

// admitNow admits a notification that is not verified and needs the given number of queries. Whoever was admitted calls
// release.
func (a *admission) admitNow(name string, queries int) (release func(), err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.subjects[name] != nil {
		return nil, errBusy
	}
	if !a.slots.tryAcquire() {
		return nil, errFull
	}
	if !a.reserve(time.Now(), queries) {
		a.slots.release()
		return nil, errRate
	}
	s := a.enter(name)
	s.turn.tryAcquire() // nobody else knows it
	return func() { a.finish(name, s) }, nil
}

// admitInTurn admits a verified notification, about in the order in which they come. Whoever was admitted calls release.
//
// The turn of the subject comes before the slot: those that wait for another one about the same subject take no slot from
// the rest.
func (a *admission) admitInTurn(ctx context.Context, name string) (release func(), err error) {
	s, err := a.enterBounded(name)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, maxWait, errWaited)
	defer cancel()
	if err := s.turn.acquire(ctx); err != nil {
		a.leave(name, s)
		return nil, err
	}
	if err := a.slots.acquire(ctx); err != nil {
		s.turn.release()
		a.leave(name, s)
		return nil, err
	}
	return func() { a.finish(name, s) }, nil
}

// finish ends what was admitted.
func (a *admission) finish(name string, s *subject) {
	a.slots.release()
	s.turn.release()
	a.leave(name, s)
}

// enterBounded counts a notification that may have to wait, unless too many do.
func (a *admission) enterBounded(name string) (*subject, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if s := a.subjects[name]; a.present >= maxActive+maxWaiting || s != nil && s.present >= maxPerSubject {
		return nil, errFull
	}
	return a.enter(name), nil
}

// enter counts a notification. The caller holds the lock.
func (a *admission) enter(name string) *subject {
	s := a.subjects[name]
	if s == nil {
		s = &subject{turn: make(semaphore, 1)}
		a.subjects[name] = s
	}
	s.present++
	a.present++
	return s
}

func (a *admission) leave(name string, s *subject) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.present--
	if s.present--; s.present == 0 {
		delete(a.subjects, name)
	}
}

// reserve notes n queries at now, unless that would make more than a second may have.
func (a *admission) reserve(now time.Time, n int) bool {
	for i := range n {
		at := a.queries[(a.oldest+i)%len(a.queries)]
		if !at.IsZero() && now.Sub(at) < time.Second {
			return false
		}
	}
	for range n {
		a.queries[a.oldest] = now
		a.oldest = (a.oldest + 1) % len(a.queries)
	}
	return true
}

// semaphore holds one value for each that has acquired it.
type semaphore chan struct{}

func (s semaphore) tryAcquire() bool {
	select {
	case s <- struct{}{}:
		return true
	default:
		return false
	}
}

// acquire waits until ctx ends. The error is errThrottled: the context of a request also ends when the gateway hangs up
// because it was kept waiting.
func (s semaphore) acquire(ctx context.Context) error {
	if s.tryAcquire() {
		return nil
	}
	select {
	case s <- struct{}{}:
		return nil
	case <-ctx.Done():
		if cause := context.Cause(ctx); errors.Is(cause, errThrottled) {
			return cause
		}
		return fmt.Errorf("%w at once: the gateway hung up before this one's turn: %w", errThrottled, ctx.Err())
	}
}

func (s semaphore) release() { <-s }
