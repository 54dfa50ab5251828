package journal

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
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
	// AddNews adds one to the number that News returns, to tell the holder that something was recorded. For a shop that was
	// never leased it may do nothing.
	AddNews(ctx context.Context, shop Shop) error
	// News returns how often AddNews was called for a shop. Run calls it four times a second: it should be a cheap read.
	News(ctx context.Context, shop Shop) (int64, error)
}

// ErrLeaseLost is the cause of the end of the context that the function given to Run receives, if another process may work from now
// on. Return: what was not stored is reported again, by that process.
var ErrLeaseLost = errors.New("journal: Run has lost its lease of the shop")

const (
	// leaseLength is how long a lease is: another process takes over at most this long, and leaseInterval, after the last
	// renewal. It allows two renewals in a row to fail.
	leaseLength   = 6 * time.Second
	leaseInterval = 2 * time.Second // between two renewals, and between two attempts of a process that stands by
	// leaseMargin is how long before its end the holder takes a lease as lost. The end of the lease is at least leaseLength after
	// the statement was sent; the margin is for a report that returns when its context ends, and for clocks of different speed.
	leaseMargin = time.Second
	// newsInterval is how often the holder looks for news, and how often another process adds some at most.
	newsInterval = 250 * time.Millisecond
)

// lease is a Run's lease of the shop. A goroutine renews it, also while the runner is busy.
type lease struct {
	j     *Journal
	store LeaseStore
	name  string // of this Run, as a holder

	terms   chan context.Context // that of each term of this Run: it ends with the lease
	hasNews atomic.Bool          // another process has something new

	mu     sync.Mutex
	sent   time.Time               // when the last statement that leased the shop to this Run was sent; zero if another has it
	end    context.CancelCauseFunc // of the term; nil if there is none
	holder string                  // as far as known
}

func newLease(j *Journal, store LeaseStore) *lease {
	host, _ := os.Hostname() // for people only: the random text distinguishes the holders
	name := fmt.Sprintf("%.150s %d %.8s", host, os.Getpid(), random.Text())
	return &lease{j: j, store: store, name: name, terms: make(chan context.Context, 1)}
}

// runLeased works whenever this process has the lease, and stands by otherwise, until ctx ends.
func (r *runner) runLeased(ctx context.Context, l *lease) {
	r.lease = l
	ctx, cancel := context.WithCancel(ctx)
	kept := async(func() {
		defer cancel()
		l.keep(ctx)
	})
	defer func() {
		cancel()
		end := <-kept
		l.release(ctx)
		end.Rethrow()
	}()
	for ctx.Err() == nil {
		if term := r.standBy(ctx); term != nil {
			r.work(term)
		}
	}
}

// standBy waits until this process has the lease, and returns the context of its term, or nil if ctx has ended. It tells the
// holder when there is something new here.
func (r *runner) standBy(ctx context.Context) context.Context {
	observe := time.NewTimer(time.Second) // a process that gets the lease by then does not stand by
	defer observe.Stop()
	pause := time.NewTimer(newsInterval) // before the holder is told: what comes meanwhile is told together
	defer pause.Stop()
	var news <-chan struct{} // nil during the pause
	for {
		select {
		case term := <-r.lease.terms:
			return term
		default: // a term goes before news: its first list has them
		}
		select {
		case term := <-r.lease.terms:
			return term
		case <-ctx.Done():
			return nil
		case <-pause.C:
			news = r.j.news.wake
		case <-news:
			confirmed, opened, missed := r.j.news.take()
			if len(confirmed) > 0 || len(opened) > 0 || missed {
				r.lease.addNews(ctx)
				news = nil
				pause.Reset(newsInterval)
			}
		case <-observe.C:
			holder := r.lease.holderNow()
			r.j.observe(ctx, RecoverInfo{Standby: true, Holder: holder, Complete: holder != ""})
			observe.Reset(r.every)
		}
	}
}

// keep leases the shop, renews the lease and looks for news, until ctx ends.
func (l *lease) keep(ctx context.Context) {
	var next time.Time // when to renew, or to try again
	var news int64
	for failing := false; ctx.Err() == nil; _ = retry.Sleep(ctx, newsInterval) {
		_ = l.isHeld() // if not, the term ends here, before anything that takes long
		if now := time.Now(); failing || !now.Before(next) {
			err := l.renew(ctx)
			if err != nil && !failing && ctx.Err() == nil {
				l.j.opts.Logger.LogAttrs(ctx, slog.LevelError, "journal: leasing the shop", slog.Any("error", err))
			}
			failing, next = err != nil, now.Add(leaseInterval)
		}
		if !l.isHeld() {
			continue
		}
		if n, err := within(ctx, l, l.store.News); err == nil && n != news {
			news = n
			l.hasNews.Store(true)
		}
		l.beginTerm(ctx)
		if l.hasNews.Load() {
			l.j.news.signal()
		}
	}
}

// renew makes one attempt to lease the shop, or to renew the lease.
func (l *lease) renew(ctx context.Context) error {
	sent := time.Now()
	holder, err := within(ctx, l, func(ctx context.Context, shop Shop) (string, error) {
		return l.store.Lease(ctx, shop, l.name, leaseLength)
	})
	l.mu.Lock()
	defer l.mu.Unlock()
	l.holder = holder
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

// within calls the store. It returns before a lease that this process has ends, whatever the store does.
func within[T any](ctx context.Context, l *lease, call func(context.Context, Shop) (T, error)) (T, error) {
	limit := leaseInterval
	l.mu.Lock()
	if left := l.left(); left > 0 {
		limit = min(limit, left)
	}
	l.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	return guarded(ctx, func(ctx context.Context) (T, error) { return call(ctx, l.j.shop) })
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
		l.end(ErrLeaseLost)
		l.end = nil
		l.j.opts.Logger.LogAttrs(context.Background(), slog.LevelWarn, ErrLeaseLost.Error(), slog.String("holder", l.name))
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
	l.hasNews.Store(false) // a term begins with a list of everything
	select {
	case <-l.terms: // one that has ended before anybody took it
	default:
	}
	l.terms <- ctx
}

// addNews tells the holder that there is something new here. If that fails, it is tried again.
func (l *lease) addNews(ctx context.Context) {
	_, err := within(ctx, l, func(ctx context.Context, shop Shop) (struct{}, error) { return struct{}{}, l.store.AddNews(ctx, shop) })
	if err != nil {
		l.j.news.miss()
	}
}

// release gives the lease back, so that another process need not wait for its end.
func (l *lease) release(ctx context.Context) {
	_, err := within(context.WithoutCancel(ctx), l, func(ctx context.Context, shop Shop) (struct{}, error) {
		return struct{}{}, l.store.Release(ctx, shop, l.name)
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
