package simulation

import (
	"context"
	"fmt"
	"iter"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/cardgateway/cardgateway-go/journal"
	"github.com/cardgateway/cardgateway-go/sandbox"
)

// TestSameStory holds that a seed replays: the same history tells the same story twice, with one thread as cmd/simulate has it.
// Some histories do not, because two goroutines of one process are woken at the same moment, and Go decides which of them goes
// first; if the seed did not decide everything else, hardly any would.
func TestSameStory(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	story := func(seed uint64) uint64 {
		r := Run(t, Plan(seed, 10, "memory"), true)
		return sumOf(strings.Join(r.Story, "\n"))
	}
	different := 0
	for seed := range uint64(20) {
		if first := story(500 + seed); story(500+seed) != first {
			different++
			t.Logf("seed %d told two stories", 500+seed)
		}
	}
	if different > 4 {
		t.Errorf("%d of 20 seeds did not replay", different)
	}
}

// TestShrink holds that a history is cut down to what breaks the promise.
func TestShrink(t *testing.T) {
	h := &History{Things: make([]Thing, 5)}
	for i := range 12 {
		h.Steps = append(h.Steps, Step{Do: "pay", Thing: i, After: time.Hour, Process: i, Seed: 3}, Step{Do: "recover", After: time.Hour, Ack: true})
	}
	planted = func(s journal.Store) journal.Store { return &forgetful{Store: s} }
	defer func() { planted = nil }()
	short, r := Shrink(t, h, 20*time.Second)
	if len(r.Broken) == 0 || len(short.Steps) > 3 {
		t.Errorf("%d steps are left, and break %v", len(short.Steps), r.Broken)
	}
}

// forgetful is a store that forgets every third acknowledgement.
type forgetful struct {
	journal.Store
	n int
}

func (f *forgetful) Ack(ctx context.Context, key journal.Key, version int) error {
	if f.n++; f.n%3 == 0 {
		return nil
	}
	return f.Store.Ack(ctx, key, version)
}

// lazy is a store that lists only every second entry.
type lazy struct{ journal.Store }

func (l lazy) Unacked(ctx context.Context, shop journal.Shop) iter.Seq2[journal.Entry, error] {
	return func(yield func(journal.Entry, error) bool) {
		n := 0
		for e, err := range l.Store.Unacked(ctx, shop) {
			if n++; n%2 == 0 && !yield(e, err) {
				return
			}
		}
	}
}

// liar is a store that records something else than it is told.
type liar struct {
	journal.Store
	of, state journal.State
}

func (l liar) Record(ctx context.Context, key journal.Key, version int, ev journal.Evidence) error {
	if ev.State == l.of {
		ev.State = l.state
	}
	return l.Store.Record(ctx, key, version, ev)
}

// hasty is a store that acknowledges a second success together with the first.
type hasty struct{ journal.Store }

func (h hasty) Ack(ctx context.Context, key journal.Key, version int) error {
	e, err := h.Get(ctx, key)
	if err != nil {
		return err
	}
	second := e.Evidence[version-1]
	another := *second.Transaction
	another.UniqueID = "another"
	second.Transaction = &another
	if err := h.Record(ctx, key, version, second); err != nil {
		return err
	}
	return h.Store.Ack(ctx, key, version+1)
}

// loses is a store that loses intents.
type loses struct{ journal.Store }

func (l loses) Begin(_ context.Context, in journal.Intent) (journal.Entry, bool, error) {
	return journal.Entry{Begun: in, Acked: -1}, true, nil
}

// TestOracleSees plants a lie in each place, and holds that the oracle sees it.
func TestOracleSees(t *testing.T) {
	twice := []Step{{Do: "pay"}, {Do: "pay", After: time.Hour, Process: 1}} // the first process would not send it again
	usual := []Step{{Do: "pay", Ack: true}, {Do: "pay", Thing: 1, After: time.Hour}, {Do: "recover", After: time.Hour, Ack: true}}
	for name, tt := range map[string]struct {
		plant   func(journal.Store) journal.Store
		history History
		promise string
	}{
		"a payment that is sent twice": {func(s journal.Store) journal.Store { return loses{s} }, History{World: World{Shops: []Shop{{Processes: 2}}}, Steps: twice}, "nothing is sent twice"},
		"an acknowledgement that is forgotten": {
			func(s journal.Store) journal.Store { return &forgetful{s, 2} }, History{Steps: usual}, "an acknowledgement is kept",
		},
		"an entry that Recover leaves out": {func(s journal.Store) journal.Store { return lazy{s} }, History{Steps: usual[1:]},
			"everything is told until it is acknowledged"},
		"a success recorded as a decline": {func(s journal.Store) journal.Store { return liar{s, journal.Succeeded, journal.Declined} }, History{Steps: usual},
			"what is recorded is true"},
		"a success recorded as an absence": {func(s journal.Store) journal.Store { return liar{s, journal.Succeeded, journal.PresumedAbsent} }, History{Steps: usual},
			"what is recorded is true"},
		"a success that is not made known": {
			func(s journal.Store) journal.Store { return liar{s, journal.Succeeded, journal.Unknown} }, History{Steps: usual[:1]}, "what is told is recorded",
		},
		"a conflict that nobody was told": {
			func(s journal.Store) journal.Store { return hasty{s} }, History{Steps: usual[:1]}, "only what was told is acknowledged",
		},
		"a decline recorded as a success": {
			func(s journal.Store) journal.Store { return liar{s, journal.Declined, journal.Succeeded} },
			History{Things: []Thing{{Card: sandbox.Declined}}, Steps: twice}, "what is recorded is true",
		},
		"a secret in an error": {
			func(s journal.Store) journal.Store { return talkative{s} }, History{Steps: usual[:1]}, "no secret is stored, logged or told",
		},
	} {
		t.Run(name, func(t *testing.T) {
			planted = tt.plant
			defer func() { planted = nil }()
			if tt.history.Things == nil {
				tt.history.Things = make([]Thing, 2)
			}
			r := Run(t, &tt.history, true)
			if len(r.Broken) == 0 || r.Broken[0].Promise != tt.promise {
				t.Errorf("broken: %v, want %q\n%s", r.Broken, tt.promise, strings.Join(r.Story, "\n"))
			}
		})
	}
}

// talkative returns an error with a card number.
type talkative struct{ journal.Store }

func (s talkative) Begin(context.Context, journal.Intent) (journal.Entry, bool, error) {
	return journal.Entry{}, false, fmt.Errorf("card %s", cardNumber)
}

// TestLateWriteDuringRecover: a write that hung lands while Recover waits for a query. Recover need not tell what was acknowledged when
// it began.
func TestLateWriteDuringRecover(t *testing.T) {
	settings := Settings{AbsentAfter: 2 * time.Hour, Wait: 30 * time.Second, WaitElsewhere: -1, Parallel: 1, MaxAttempts: 1}
	h := &History{Seed: 160012938, World: World{Shops: []Shop{{Processes: 2, Replicas: true, Settings: settings}}}, Things: make([]Thing, 2), Steps: []Step{
		{Do: "pay", Post: "unsent"},
		{Do: "replica: run"},
		{Do: "pay", Process: 1, Thing: 1, DieAt: 2},
		{After: time.Minute, Do: "stop run"},
		{Do: "pay again", StoreAt: 2, Store: "late"},
		{Do: "recover"},
	}}
	if r := Run(t, h, true); len(r.Broken) > 0 {
		t.Errorf("%v\n%s", r.Broken, strings.Join(r.Story, "\n"))
	}
}
