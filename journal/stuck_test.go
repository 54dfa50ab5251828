package journal_test

import (
	"context"
	"errors"
	"iter"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/journal"
	"github.com/cardgateway/cardgateway-go/sandbox"
)

// faulty is a store in which every method can fail, or hang and ignore its context.
type faulty struct {
	journal.Store
	mu         sync.Mutex
	hang, fail map[string]bool
	calls      atomic.Int32
	forever    chan struct{}
	before     map[string]func() // is called once, before a method
}

func (f *faulty) meet(method string) error {
	f.calls.Add(1)
	f.mu.Lock()
	before := f.before[method]
	delete(f.before, method)
	f.mu.Unlock()
	if before != nil {
		before()
	}
	f.mu.Lock()
	hang, fail := f.hang[method], f.fail[method]
	f.mu.Unlock()
	if hang {
		<-f.forever
	}
	if fail {
		return errDisk
	}
	return nil
}

// mend makes all methods work.
func (f *faulty) mend() {
	f.mu.Lock()
	defer f.mu.Unlock()
	clear(f.hang)
	clear(f.fail)
}

func (f *faulty) Begin(ctx context.Context, in journal.Intent) (journal.Entry, bool, error) {
	if err := f.meet("Begin"); err != nil {
		return journal.Entry{}, false, err
	}
	return f.Store.Begin(ctx, in)
}

func (f *faulty) Get(ctx context.Context, key journal.Key) (journal.Entry, error) {
	if err := f.meet("Get"); err != nil {
		return journal.Entry{}, err
	}
	return f.Store.Get(ctx, key)
}

func (f *faulty) Record(ctx context.Context, key journal.Key, version int, ev journal.Evidence) error {
	if err := f.meet("Record"); err != nil {
		return err
	}
	return f.Store.Record(ctx, key, version, ev)
}

func (f *faulty) Ack(ctx context.Context, key journal.Key, version int) error {
	if err := f.meet("Ack"); err != nil {
		return err
	}
	return f.Store.Ack(ctx, key, version)
}

func (f *faulty) Unacked(ctx context.Context, shop journal.Shop) iter.Seq2[journal.Entry, error] {
	return func(yield func(journal.Entry, error) bool) {
		if err := f.meet("Unacked"); err != nil {
			yield(journal.Entry{}, err)
			return
		}
		f.Store.Unacked(ctx, shop)(yield)
	}
}

// TestNeverStuck: after a payment that was proved unsent, the store breaks in one way. Every call ends within its context
// or WriteTimeout and sends nothing, returns "not sent" if that is proved, and does not call the store without pauses.
func TestNeverStuck(t *testing.T) {
	const writeTimeout, deadline = 2 * time.Second, time.Second
	for _, how := range []string{"hangs", "fails"} {
		for _, method := range []string{"Begin", "Get", "Record", "Ack", "Unacked", "all"} {
			runInBubble(t, method+" "+how, sandbox.Options{}, func(t *testing.T, s *shop) {
				f := &faulty{Store: s.store, hang: map[string]bool{}, fail: map[string]bool{}, forever: make(chan struct{})}
				defer close(f.forever)
				j := journal.New(s.client, f, journal.Options{WriteTimeout: writeTimeout})
				s.refuse = errReset
				if _, err := j.CreateSubscription(t.Context(), order("a", approved)); !cardgateway.SafeToRetry(err) {
					t.Fatalf("got %v, want ErrNotSent", err)
				}
				broken := f.hang
				if how == "fails" {
					broken = f.fail
				}
				f.mu.Lock()
				for _, m := range []string{"Begin", "Get", "Record", "Ack", "Unacked"} {
					broken[m] = method == m || method == "all"
				}
				f.mu.Unlock()
				sent := s.sent.Load()
				ends := func(name string, within time.Duration, call func(context.Context) error) error {
					ctx, cancel := context.WithTimeout(t.Context(), deadline)
					defer cancel()
					begun, calls := time.Now(), f.calls.Load()
					err := call(ctx)
					if took := time.Since(begun); took > within {
						t.Errorf("%s took %v, want at most %v", name, took, within)
					}
					if n := f.calls.Load() - calls; n > 100 {
						t.Errorf("%s called the store %d times", name, n)
					}
					return err
				}
				pay := func(ctx context.Context) error {
					_, err := j.CreateSubscription(ctx, order("a", approved))
					return err
				}
				err := ends("a call with a deadline", deadline+writeTimeout, pay)
				if !cardgateway.SafeToRetry(err) {
					t.Errorf("a call with a deadline: got %v, want ErrNotSent", err)
				}
				if (method == "Begin" || method == "all") && !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("a call with a deadline: got %v, want the deadline in it", err)
				}
				err = ends("a call without a deadline", 2*writeTimeout, func(context.Context) error { return pay(t.Context()) })
				if !cardgateway.SafeToRetry(err) {
					t.Errorf("a call without a deadline: got %v, want ErrNotSent", err)
				}
				_ = ends("Ack", deadline, func(ctx context.Context) error { return j.Ack(ctx, journal.PaymentID("a"), journal.NotSent) })
				err = ends("Recover", deadline+time.Second, func(ctx context.Context) error {
					for _, err := range j.Recover(ctx) {
						if err != nil {
							return err
						}
					}
					return nil
				})
				if want := map[string]error{"hangs": context.DeadlineExceeded, "fails": errDisk}[how]; (method == "Unacked" || method == "all") && !errors.Is(err, want) {
					t.Errorf("Recover: got %v, want %v: an empty loop would mean that nothing is open", err, want)
				}
				if n := s.sent.Load() - sent; n != 0 {
					t.Errorf("%d requests, want 0", n)
				}
				f.mend()
				s.refuse = nil
				if got, err := j.CreateSubscription(t.Context(), order("a", approved)); err != nil || got.State() != cardgateway.StateApproved {
					t.Errorf("once the store works again: %v, %v", got, err)
				}
				wantExecuted(t, s, "a", 1)
			})
		}
	}
}

// TestStoreThatAlwaysChanges: no call loops forever if the store always returns ErrChanged.
func TestStoreThatAlwaysChanges(t *testing.T) {
	inBubble(t, sandbox.Options{}, func(t *testing.T, s *shop) {
		s.refuse = errReset
		_, _ = s.pay("a", approved)
		s.refuse = nil
		j := journal.New(s.client, &restless{Store: s.store}, journal.Options{})
		begun := time.Now()
		_, err := j.CreateSubscription(t.Context(), order("a", approved))
		if took := time.Since(begun); !errors.Is(err, cardgateway.ErrNotSent) || took > 6*time.Second || took == 0 {
			t.Errorf("got %v after %v", err, took)
		}
	})
}
