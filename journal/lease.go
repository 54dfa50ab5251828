package journal

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/cardgateway/cardgateway-go/internal/random"
	"github.com/cardgateway/cardgateway-go/internal/retry"
)

// LeaseStore is what a Store needs beside its other methods so that several processes may call Run: at any time, a shop is leased
// to at most one of them, which works for it. Package journaltest tests it.
//
// All times are by one clock, that of the store, so that it does not matter whether those of the processes are right. If that
// clock is set back, a lease whose end is more than two minutes ahead is over: no lease is longer than a minute.
type LeaseStore interface {
	// Lease leases the shop to holder for this length of time from now, if it is not leased to another one now. It returns to whom
	// it is leased. A holder is a text of at most 200 bytes.
	Lease(ctx context.Context, shop Shop, holder string, length time.Duration) (leasedTo string, err error)
	// Release ends the lease of a shop, if it is leased to holder.
	Release(ctx context.Context, shop Shop, holder string) error
}

// ErrLeaseLost is the cause of the end of the context that the function given to Run receives, if another process may work from now
// on. Return: what was not stored is reported again, by that process. If renewing the lease has failed, the cause says why, such as a pool
// of connections that is used up.
var ErrLeaseLost = errors.New("journal: Run has lost its lease of the shop")

const (
	// leaseLength is how long a lease is: another process takes over at most this long, and leaseInterval, after the last
	// renewal. It allows two renewals in a row to fail.
	leaseLength   = 6 * time.Second
	leaseInterval = 2 * time.Second // between two renewals, and between two attempts of a process that stands by
	// leaseMargin is how long before its end the holder takes a lease as lost. The end of the lease is at least leaseLength after
	// the statement was sent; the margin is for a report that returns when its context ends, and for clocks of different speed.
	leaseMargin = time.Second
	// leaseCheck is how often it is checked whether the lease has ended.
	leaseCheck = 250 * time.Millisecond
)

// lease is a Run's lease of the shop. A goroutine renews it, also while the runner is busy.
type lease struct {
	j     *Journal
	store LeaseStore
	name  string // of this Run, as a holder

	terms chan context.Context // that of each term of this Run: it ends with the lease

	mu     sync.Mutex
	sent   time.Time               // when the last statement that leased the shop to this Run was sent; zero if another has it
	end    context.CancelCauseFunc // of the term; nil if there is none
	holder string                  // as far as known
	failed error                   // of the last attempt
}

func newLease(j *Journal, store LeaseStore) *lease {
	host, _ := os.Hostname() // for people only: the random text distinguishes the holders
	name := fmt.Sprintf("%.150s %d %.8s", host, os.Getpid(), random.Text())
	return &lease{j: j, store: store, name: name, terms: make(chan context.Context, 1)}
}

// start keeps the lease in a goroutine, until the function that it returns is called. The context ends with ctx, or before if the
// store panics.
func (l *lease) start(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancel(ctx)
	kept := async(func() {
		defer cancel()
		l.keep(ctx)
	})
	return ctx, func() {
		cancel()
		end := <-kept
		l.release(ctx)
		end.Rethrow()
	}
}

// begins returns the contexts of the terms of this process. Without a lease, it is nil.
func (l *lease) begins() <-chan context.Context {
	if l == nil {
		return nil
	}
	return l.terms
}

// keep leases the shop, and renews the lease, until ctx ends.
func (l *lease) keep(ctx context.Context) {
	var next time.Time // when to renew, or to try again
	for failing := false; ctx.Err() == nil; _ = retry.Sleep(ctx, leaseCheck) {
		_ = l.isHeld() // if not, the term ends here, before anything that takes long
		if now := time.Now(); failing || !now.Before(next) {
			err := l.renew(ctx)
			if err != nil && !failing && ctx.Err() == nil {
				l.j.opts.Logger.LogAttrs(ctx, slog.LevelError, "journal: leasing the shop", slog.Any("error", err))
			}
			failing, next = err != nil, now.Add(leaseInterval)
		}
		if l.isHeld() {
			l.beginTerm(ctx)
		}
	}
}

// renew makes one attempt to lease the shop, or to renew the lease.
func (l *lease) renew(ctx context.Context) error {
	sent := time.Now()
	holder, err := l.guarded(ctx, func(ctx context.Context) (string, error) { return l.store.Lease(ctx, l.j.shop, l.name, leaseLength) })
	l.mu.Lock()
	defer l.mu.Unlock()
	l.holder, l.failed = holder, err
	switch {
	case err != nil: // a lease that it has lasts
		l.holder = ""
	case holder == l.name:
		l.sent = sent
	default:
		l.sent = time.Time{}
	}
	return err
}

// guarded calls the store. It returns before a lease that this process has ends, whatever the store does.
func (l *lease) guarded(ctx context.Context, call func(context.Context) (leasedTo string, err error)) (string, error) {
	limit := leaseInterval
	l.mu.Lock()
	if left := l.left(); left > 0 {
		limit = min(limit, left)
	}
	l.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	return guarded(ctx, call)
}

// left returns how long the lease of this process still lasts. Both clocks count: the monotonic one can stand still while the
// computer sleeps, and the other one can be set. The caller holds mu.
func (l *lease) left() time.Duration {
	now := time.Now()
	passed := max(now.Sub(l.sent), now.Round(0).Sub(l.sent.Round(0)))
	return leaseLength - leaseMargin - passed
}

// isHeld reports whether this process has the lease. If it does not, its term ends. Without a LeaseStore, it always has.
func (l *lease) isHeld() bool {
	if l == nil {
		return true
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.left() > 0 {
		return true
	}
	if l.end != nil {
		cause := ErrLeaseLost
		if l.failed != nil {
			cause = fmt.Errorf("%w: %w", ErrLeaseLost, l.failed)
		}
		l.end(cause)
		l.end = nil
		l.j.opts.Logger.LogAttrs(context.Background(), slog.LevelWarn, cause.Error(), slog.String("holder", l.name))
	}
	return false
}

// beginTerm begins a term, unless there is one.
func (l *lease) beginTerm(ctx context.Context) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.end != nil {
		return
	}
	ctx, l.end = context.WithCancelCause(ctx)
	select {
	case <-l.terms: // one that has ended before anybody took it
	default:
	}
	l.terms <- ctx
}

// release gives the lease back, so that another process need not wait for its end.
func (l *lease) release(ctx context.Context) {
	_, err := l.guarded(context.WithoutCancel(ctx), func(ctx context.Context) (string, error) {
		return "", l.store.Release(ctx, l.j.shop, l.name)
	})
	if err != nil {
		l.j.opts.Logger.LogAttrs(ctx, slog.LevelWarn, "journal: giving the lease of the shop back", slog.Any("error", err))
	}
}

// nameOf returns the name of this Run as a holder.
func (l *lease) nameOf() string {
	if l == nil {
		return ""
	}
	return l.name
}

// holderNow returns to whom the shop is leased, or "" if the last attempt has failed.
func (l *lease) holderNow() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.holder
}
