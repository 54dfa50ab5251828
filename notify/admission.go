package notify

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// admission bounds the work that notifications cause, because anybody who knows the URL can send any number of them. For
// each subject, one notification at a time is confirmed and handled, and a bounded number in total. Two further rules
// apply:
//
//   - A notification that is not verified may be forged. It is admitted at once or rejected, and the number of queries
//     reserved in any second is limited.
//   - A verified notification comes from the gateway, and some of its content, a token, cannot be queried again. It waits
//     for its turn, for a limited time and together with a limited number of others, before it is rejected.
//
// Its memory is bounded by the notifications that are active or waiting.
type admission struct {
	mu       sync.Mutex
	subjects map[string]*subject // with notifications that are active or wait
	present  int                 // notifications that are active or wait
	slots    semaphore           // one for each active notification

	queries []time.Time // times of the last reserved queries: a ring buffer, as long as the number allowed per second
	oldest  int
}

// subject is the transaction that one or more notifications are about.
type subject struct {
	turn    semaphore // held by the active notification
	present int       // notifications about it that are active or wait
}

const (
	defaultQueryRate = 10              // queries in any one second for notifications that are not verified
	maxQueryRate     = 1 << 16         // more is no limit
	maxActive        = 128             // notifications that are being confirmed or handled
	maxWaiting       = 4096            // verified notifications that wait: two seconds at 2,000 per second
	maxPerSubject    = 8               // active or waiting: more than the kinds of events that can occur at the same time
	maxWait          = 5 * time.Second // the shortest published pause before a repetition
)

func newAdmission(queriesPerSecond int) *admission {
	if queriesPerSecond <= 0 {
		queriesPerSecond = defaultQueryRate
	}
	queriesPerSecond = min(max(queriesPerSecond, maxQueries), maxQueryRate)
	return &admission{
		subjects: map[string]*subject{}, slots: make(semaphore, maxActive),
		queries: make([]time.Time, queriesPerSecond),
	}
}

// Why a notification was rejected. All but errBusy wrap errThrottled.
var (
	errBusy      = errors.New("notify: another notification about the same transaction is being handled")
	errThrottled = errors.New("notify: too many notifications")
	errFull      = fmt.Errorf("%w at once", errThrottled)
	errRate      = fmt.Errorf("%w per second for the number of queries allowed; see Options.QueriesPerSecond", errThrottled)
	errWaited    = fmt.Errorf("%w at once: this one has waited %v for its turn", errThrottled, maxWait)
)

// admitNow admits a notification that is not verified and needs the given number of queries. If it is admitted, the caller
// must call release.
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
	s.turn.tryAcquire() // succeeds: the subject is new
	return func() { a.finish(name, s) }, nil
}

// admitInTurn admits a verified notification, roughly in order of arrival. If it is admitted, the caller must call release.
//
// The turn of the subject is acquired before the slot, so that notifications waiting for another one about the same subject
// occupy no slots.
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

// finish releases what an admitted notification holds.
func (a *admission) finish(name string, s *subject) {
	a.slots.release()
	s.turn.release()
	a.leave(name, s)
}

// enterBounded counts a notification that may have to wait, unless too many are present.
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

// reserve records n queries at now, unless that would exceed the number allowed in one second.
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

// semaphore holds one value for each holder.
type semaphore chan struct{}

func (s semaphore) tryAcquire() bool {
	select {
	case s <- struct{}{}:
		return true
	default:
		return false
	}
}

// acquire waits until ctx ends. It then returns errThrottled: the context of a request also ends when the gateway closes
// the connection because the response took too long.
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
		return fmt.Errorf("%w at once: the gateway closed the connection before this one's turn: %w", errThrottled, ctx.Err())
	}
}

func (s semaphore) release() { <-s }
