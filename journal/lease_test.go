package journal_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cardgateway/cardgateway-go/journal"
	"github.com/cardgateway/cardgateway-go/sandbox"
)

// cutOff is the store of a process that can lose its connection to it.
type cutOff struct {
	*journal.MemoryStore

	mu    sync.Mutex
	off   bool
	hangs bool // then calls hang until their context ends; else they fail
	calls map[string]int
}

func (c *cutOff) set(off, hangs bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.off, c.hangs = off, hangs
}

func (c *cutOff) reach(ctx context.Context, method string) error {
	c.mu.Lock()
	off, hangs := c.off, c.hangs
	if c.calls == nil {
		c.calls = make(map[string]int)
	}
	c.calls[method]++
	c.mu.Unlock()
	if off && hangs {
		<-ctx.Done()
	}
	if off {
		return errDisk
	}
	return nil
}

func (c *cutOff) count(method string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.calls[method]
}

func (c *cutOff) Lease(ctx context.Context, shop journal.Shop, holder string, length time.Duration) (string, error) {
	if err := c.reach(ctx, "Lease"); err != nil {
		return holder, err // what it returns with an error is not to be believed
	}
	return c.MemoryStore.Lease(ctx, shop, holder, length)
}

func (c *cutOff) Ack(ctx context.Context, key journal.Key, version int) error {
	if err := c.reach(ctx, "Ack"); err != nil {
		return err
	}
	return c.MemoryStore.Ack(ctx, key, version)
}

// replica is a process of the shop that calls Run.
type replica struct {
	*journal.Journal
	name  string
	store *cutOff
	stop  func()
}

// replicas is the processes of a shop, and what they report.
type replicas struct {
	t       *testing.T
	shop    *shop
	every   time.Duration // of Run; zero: 5 s
	begun   time.Time
	mu      sync.Mutex
	told    []string // "process id state"
	at      []time.Duration
	working int // calls of report that have not returned
	most    int
	report  func(ctx context.Context, r *replica, e *journal.Entry) error // nil: stores it at once
}

func newReplicas(t *testing.T, s *shop) *replicas {
	return &replicas{t: t, shop: s, begun: time.Now()}
}

// start starts a process that calls Run.
func (rs *replicas) start(name string, opts journal.Options) *replica {
	rs.t.Helper()
	store := &cutOff{MemoryStore: rs.shop.store.(*journal.MemoryStore)}
	r := &replica{Journal: journal.New(rs.shop.client, store, opts), name: name, store: store}
	rs.run(r)
	return r
}

// run lets a process call Run, and find out who works.
func (rs *replicas) run(r *replica) {
	rs.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = r.Run(ctx, rs.every, func(ctx context.Context, e journal.Entry) error {
			rs.record(fmt.Sprint(r.name, " ", e.ID().Text, " ", e.State()))
			defer rs.returned()
			if rs.report != nil {
				return rs.report(ctx, r, &e)
			}
			return nil
		})
	}()
	r.stop = sync.OnceFunc(func() {
		cancel()
		<-ended
	})
	rs.t.Cleanup(r.stop)
	synctest.Wait()
}

func (rs *replicas) record(told string) {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	rs.told = append(rs.told, told)
	rs.at = append(rs.at, time.Since(rs.begun))
	rs.working++
	rs.most = max(rs.most, rs.working)
}

func (rs *replicas) returned() {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	rs.working--
}

// unknown makes a payment with an unknown outcome, which the gateway never received.
func (rs *replicas) unknown(j *journal.Journal, id string) {
	rs.shop.loseNext(sandbox.CommitNever)
	_, _ = j.CreateSubscription(context.Background(), order(id, approved))
}

func (rs *replicas) want(within time.Duration, told ...string) {
	rs.t.Helper()
	time.Sleep(within)
	synctest.Wait()
	if got, at := rs.take(); !slices.Equal(got, told) {
		rs.t.Errorf("reported %q at %v, want %q", got, at, told)
	}
}

// take returns what was reported since the last time, and when.
func (rs *replicas) take() (told []string, at []time.Duration) {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	told, at = rs.told, rs.at
	rs.told, rs.at, rs.begun = nil, nil, time.Now()
	return told, at
}

// wantAll checks what was reported, in any order: told is sorted.
func (rs *replicas) wantAll(within time.Duration, told ...string) {
	rs.t.Helper()
	time.Sleep(within)
	synctest.Wait()
	got, at := rs.take()
	if slices.Sort(got); !slices.Equal(got, told) {
		rs.t.Errorf("reported %q at %v, want %q", got, at, told)
	}
}

// TestOneReplicaWorks: every process may call Run; one reports, and each outcome once.
func TestOneReplicaWorks(t *testing.T) {
	inBubble(t, sandbox.Options{}, func(t *testing.T, s *shop) {
		rs := newReplicas(t, s)
		rs.report = func(context.Context, *replica, *journal.Entry) error {
			time.Sleep(10 * time.Millisecond)
			return nil
		}
		all := []*replica{rs.start("a", journal.Options{}), rs.start("b", journal.Options{}), rs.start("c", journal.Options{})}
		var want []string
		for i := range 60 {
			j, id := all[i%3], fmt.Sprintf("%02d", i)
			if _, err := j.CreateSubscription(t.Context(), order(id, approved)); err != nil {
				t.Fatal(err)
			}
			want = append(want, "a "+id+" succeeded")
		}
		rs.wantAll(3*time.Hour, want...)
		if rs.most != 1 {
			t.Errorf("%d were reported at the same time", rs.most)
		}
	})
}

// TestReplicaConfirms: what a process records that stands by is reported by the one that works within an interval. The former queries soon
// for its own calls that ended unknown, and records what it finds.
func TestReplicaConfirms(t *testing.T) {
	inBubble(t, sandbox.Options{}, func(t *testing.T, s *shop) {
		const interval = 5*time.Second + 100*time.Millisecond
		rs := newReplicas(t, s)
		rs.report = func(_ context.Context, _ *replica, e *journal.Entry) error {
			if e.ID().Text == "slow" {
				time.Sleep(3 * time.Second)
			}
			return nil
		}
		a := rs.start("a", journal.Options{})
		b := rs.start("b", journal.Options{})
		time.Sleep(time.Minute)
		rs.unknown(b.Journal, "1")
		rs.want(interval, "a 1 unknown")
		confirm(t, b.Journal, "1")
		rs.want(interval, "a 1 succeeded")
		rs.unknown(a.Journal, "2")
		rs.want(time.Second, "a 2 unknown")
		confirm(t, b.Journal, "2")
		confirm(t, b.Journal, "2")
		rs.want(interval, "a 2 succeeded")
		s.loseNext(sandbox.CommitNow)
		_, _ = b.CreateSubscription(t.Context(), order("3", approved))
		time.Sleep(time.Second)
		synctest.Wait()
		if e, err := b.Get(t.Context(), journal.PaymentID("3")); err != nil || e.State() != journal.Succeeded {
			t.Errorf("a second after the call, it is %v, %v; want that the process that stands by has found it", e.State(), err)
		}
		rs.want(interval, "a 3 succeeded")
		for _, id := range []string{"4", "slow"} {
			rs.unknown(b.Journal, id)
			rs.want(interval+3*time.Second, "a "+id+" unknown")
		}
		confirm(t, b.Journal, "slow")
		rs.want(interval+3*time.Second, "a slow succeeded")
		confirm(t, b.Journal, "4")
		rs.want(interval, "a 4 succeeded") // the report took long, and not the list
		rs.want(3 * time.Hour)
	})
}

// TestFailedReportWaits: what could not be stored is not reported again with every confirmation of something else.
func TestFailedReportWaits(t *testing.T) {
	inBubble(t, sandbox.Options{}, func(t *testing.T, s *shop) {
		rs := newReplicas(t, s)
		rs.every = time.Hour
		rs.report = func(_ context.Context, _ *replica, e *journal.Entry) error {
			if e.ID().Text == "bad" {
				return errDisk
			}
			return nil
		}
		a := rs.start("a", journal.Options{})
		silence(s)
		rs.unknown(a.Journal, "bad")
		time.Sleep(time.Minute)
		synctest.Wait()
		rs.take()
		confirm(t, a.Journal, "bad")
		rs.want(time.Second, "a bad succeeded") // news of it, although an earlier report has failed
		for i := range 10 {
			id := fmt.Sprint(i)
			rs.unknown(a.Journal, id)
			time.Sleep(time.Second)
			confirm(t, a.Journal, id)
			time.Sleep(time.Second)
		}
		synctest.Wait()
		count := func() int {
			told, _ := rs.take()
			return len(slices.DeleteFunc(told, func(s string) bool { return s != "a bad succeeded" }))
		}
		if n := count(); n != 0 {
			t.Errorf("reported %d times more within 20 seconds", n)
		}
		time.Sleep(2 * time.Hour)
		synctest.Wait()
		if m := count(); m != 2 {
			t.Errorf("reported %d times more within two intervals", m)
		}
	})
}

// TestTakeover: if the process that works ends, or loses the store while it reports, another one takes over, and never before
// the context of report has ended.
func TestTakeover(t *testing.T) {
	for _, tt := range []struct {
		name     string
		leave    func(*replica)
		earliest time.Duration
		latest   time.Duration
		lost     bool
	}{
		{"it ends", func(r *replica) { go r.stop() }, 0, 2 * time.Second, false},
		{"the store fails", func(r *replica) { r.store.set(true, false) }, 4 * time.Second, 8 * time.Second, true},
		{"the store hangs", func(r *replica) { r.store.set(true, true) }, 4 * time.Second, 8 * time.Second, true},
	} {
		runInBubble(t, tt.name, sandbox.Options{}, func(t *testing.T, s *shop) {
			rs := newReplicas(t, s)
			var ended time.Time
			var cause error
			rs.report = func(ctx context.Context, r *replica, e *journal.Entry) error {
				if r.name == "a" && e.State() == journal.Succeeded {
					<-ctx.Done()
					ended, cause = time.Now(), context.Cause(ctx)
					return ctx.Err()
				}
				return nil
			}
			a := rs.start("a", journal.Options{})
			b := rs.start("b", journal.Options{})
			rs.unknown(b.Journal, "1")
			time.Sleep(5 * time.Minute) // it is renewed
			synctest.Wait()
			rs.take()
			confirm(t, b.Journal, "1")
			rs.want(2*time.Minute, "a 1 succeeded") // and while report runs
			tt.leave(a)
			time.Sleep(10 * time.Second)
			synctest.Wait()
			told, at := rs.take()
			if want := []string{"b 1 succeeded"}; !slices.Equal(told, want) || at[0] < tt.earliest || at[0] > tt.latest {
				t.Errorf("reported %q after %v, want %q after %v to %v", told, at, want, tt.earliest, tt.latest)
			}
			if rs.most != 1 {
				t.Errorf("%d processes reported at the same time", rs.most)
			}
			if tt.lost != errors.Is(cause, journal.ErrLeaseLost) || ended.IsZero() {
				t.Errorf("the context of report ended with %v", cause)
			}
		})
	}
}

// TestTakenBack: a process whose store comes back stands by, and works again when the other one ends.
func TestTakenBack(t *testing.T) {
	inBubble(t, sandbox.Options{}, func(t *testing.T, s *shop) {
		rs := newReplicas(t, s)
		a, b := rs.start("a", journal.Options{}), rs.start("b", journal.Options{})
		rs.unknown(b.Journal, "1")
		rs.want(time.Minute, "a 1 unknown")
		a.store.set(true, true)
		rs.want(time.Minute, "b 1 unknown")
		a.store.set(false, false)
		rs.want(time.Minute)
		confirm(t, a.Journal, "1")
		rs.want(time.Second, "b 1 succeeded")
		rs.unknown(b.Journal, "2")
		rs.want(time.Minute, "b 2 unknown")
		b.stop()
		rs.want(2*time.Second, "a 2 unknown")
		confirm(t, a.Journal, "2")
		rs.want(0, "a 2 succeeded")
	})
}

// TestObservedReplicas: the process that works reports what it has found, and the others that they stand by.
func TestObservedReplicas(t *testing.T) {
	inBubble(t, sandbox.Options{}, func(t *testing.T, s *shop) {
		rs := newReplicas(t, s)
		rs.every = time.Hour
		infos := make(map[string][]journal.RecoverInfo)
		observed := func(name string) journal.Options {
			return journal.Options{Observe: func(_ context.Context, i journal.RecoverInfo) { infos[name] = append(infos[name], i) }}
		}
		rs.unknown(s.Journal, "1")
		rs.start("a", observed("a"))
		b := rs.start("b", observed("b"))
		time.Sleep(3*time.Hour + time.Minute)
		synctest.Wait()
		if len(infos["a"]) != 4 || len(infos["b"]) != 4 {
			t.Fatalf("observed %d and %d times, want 4", len(infos["a"]), len(infos["b"]))
		}
		for i := range 4 {
			works, waits := infos["a"][i], infos["b"][i]
			if works.Standby || works.Open != 1 || works.Holder == "" {
				t.Errorf("the process that works: %+v", works)
			}
			if want := (journal.RecoverInfo{Standby: true, Holder: works.Holder, Complete: true}); waits != want {
				t.Errorf("the process that stands by: %+v, want %+v", waits, want)
			}
		}
		b.store.set(true, false)
		time.Sleep(time.Hour)
		synctest.Wait()
		if last := infos["b"][len(infos["b"])-1]; last.Complete || !last.Standby || last.Holder != "" {
			t.Errorf("without the store: %+v", last)
		}
	})
}

// TestLeaseStatements: how many statements the lease costs.
func TestLeaseStatements(t *testing.T) {
	inBubble(t, sandbox.Options{}, func(t *testing.T, s *shop) {
		rs := newReplicas(t, s)
		a, b := rs.start("a", journal.Options{}), rs.start("b", journal.Options{})
		time.Sleep(1000 * time.Second)
		for _, tt := range []struct {
			name      string
			got, want int
		}{
			{"renewals", a.store.count("Lease"), 500}, {"attempts of the other process", b.store.count("Lease"), 500},
		} {
			if tt.got < tt.want*9/10 || tt.got > tt.want*11/10+1 {
				t.Errorf("%s: %d in 1000 s, want about %d", tt.name, tt.got, tt.want)
			}
		}
	})
}

// TestUnknownBeforeRun: a process whose call ended unknown before it called Run works at once when it gets the lease.
func TestUnknownBeforeRun(t *testing.T) {
	inBubble(t, sandbox.Options{}, func(t *testing.T, s *shop) {
		rs := newReplicas(t, s)
		store := &cutOff{MemoryStore: s.store.(*journal.MemoryStore)}
		r := &replica{Journal: journal.New(s.client, store, journal.Options{}), name: "a", store: store}
		rs.unknown(r.Journal, "1")
		rs.begun = time.Now()
		rs.run(r)
		time.Sleep(time.Minute)
		synctest.Wait()
		if len(rs.at) != 1 || rs.at[0] > time.Millisecond {
			t.Errorf("reported after %v, want at once", rs.at)
		}
	})
}

// mistaken is a LeaseStore with a mistake.
type mistaken struct{ *journal.MemoryStore }

func (mistaken) Lease(context.Context, journal.Shop, string, time.Duration) (string, error) {
	panic("a mistake")
}

// TestLeasePanics: a panic of the store reaches the caller of Run, and at once.
func TestLeasePanics(t *testing.T) {
	inBubble(t, sandbox.Options{}, func(t *testing.T, s *shop) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		begun := time.Now()
		defer func() {
			if p := recover(); p != "a mistake" || time.Since(begun) > time.Second {
				t.Errorf("after %v, Run panics with %v", time.Since(begun), p)
			}
		}()
		err := journal.New(s.client, mistaken{journal.NewMemoryStore()}, journal.Options{}).Run(ctx, 0, func(context.Context, journal.Entry) error { return nil })
		t.Errorf("Run returns %v", err)
	})
}

// TestSilentGateway: 1,000 payments are open, and the gateway answers no query. What another process confirms is reported within an
// interval, and what this one confirms at once. CARDGATEWAY_LONG=1 has 10,000 of them.
func TestSilentGateway(t *testing.T) {
	inBubble(t, sandbox.Options{}, func(t *testing.T, s *shop) {
		open := 1000
		if os.Getenv("CARDGATEWAY_LONG") == "1" {
			open = 10_000
		}
		for i := range open {
			req := order(fmt.Sprint(i), approved)
			s.begins(t, &req, time.Now())
		}
		s.hangs("")
		rs := newReplicas(t, s)
		a, b := rs.start("a", journal.Options{}), rs.start("b", journal.Options{})
		time.Sleep(10 * time.Minute)
		for i := range 3 {
			rs.take()
			id, own := fmt.Sprint(open/2+i), fmt.Sprint(open*3/4+i)
			confirm(t, b.Journal, id)
			confirm(t, a.Journal, own)
			time.Sleep(10 * time.Millisecond)
			synctest.Wait()
			told, _ := rs.take()
			if want := "a " + own + " succeeded"; !slices.Contains(told, want) {
				t.Errorf("%q was not reported at once", want)
			}
			time.Sleep(5 * time.Second)
			synctest.Wait()
			later, _ := rs.take()
			if want := "a " + id + " succeeded"; !slices.Contains(append(told, later...), want) {
				t.Errorf("%q was not reported within an interval", want)
			}
		}
	})
}
