package faults

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/journal"
	"github.com/cardgateway/cardgateway-go/sandbox"
)

// A world is two processes of a merchant, one store, one gateway and two payments or refunds, in virtual time. Steps are
// taken in any order; after each one, what every process knows is compared with what happened.
type world struct {
	t      *testing.T
	g      *sandbox.Gateway
	client *cardgateway.Client
	store  *journal.MemoryStore
	shop   journal.Shop
	things [2]thing
	shops  [2]*process
	trace  []string

	mu      sync.Mutex
	fate    string            // of the next payment on the wire
	silent  bool              // queries fail
	whole   map[string]int    // complete requests sent, by the thing's id, like the following
	again   map[string]int    // calls of PayAgainRiskingSecondCharge
	told    map[string]string // every verdict reported
	given   map[string]bool   // up by an acknowledgement
	entries map[string]journal.Entry
}

// process is one run of a merchant's program. It crashes at a call of its store, before or after the call took effect.
type process struct {
	*journal.Journal
	store journal.Store
	mu    sync.Mutex
	left  int // calls until it crashes; negative: never
	dead  bool
}

func (p *process) step() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.left--
	if p.dead = p.dead || p.left == 0; p.dead {
		runtime.Goexit()
	}
}

func (w *world) start(i int) {
	p := &process{store: w.store, left: -1}
	p.Journal = journal.New(w.client, mortal{p}, journal.Options{WaitElsewhere: -1})
	w.shops[i] = p
}

// RoundTrip is the network. A request in transit does not end with the process that sent it.
func (w *world) RoundTrip(r *http.Request) (*http.Response, error) {
	w.mu.Lock()
	fate, silent := w.fate, w.silent
	w.mu.Unlock()
	if r.Method == http.MethodGet {
		if silent {
			return nil, syscall.ECONNRESET
		}
		return w.g.RoundTripper().RoundTrip(r)
	}
	if fate == "unsent" {
		return nil, syscall.ECONNREFUSED
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	w.mu.Lock()
	w.whole[idOf(body)]++
	w.mu.Unlock()
	deliver := func() (*http.Response, error) {
		in := r.Clone(background)
		in.Body = io.NopCloser(bytes.NewReader(body))
		return w.g.RoundTripper().RoundTrip(in)
	}
	switch fate {
	case "lost":
		_, _ = deliver()
	case "late", "very late":
		after := map[string]time.Duration{"late": 10 * time.Minute, "very late": 40 * time.Hour}[fate]
		time.AfterFunc(after, func() { _, _ = deliver() })
	case "dropped":
	case "refused":
		return &http.Response{StatusCode: 403, Body: io.NopCloser(strings.NewReader(page)), Request: r}, nil
	default:
		return deliver()
	}
	return nil, syscall.ECONNRESET
}

var fates = []string{"ok", "lost", "late", "very late", "dropped", "refused", "unsent"}

// take takes one step: the action, the thing, the process, and the behavior of the network.
func (w *world) take(what string, which, shop int) {
	w.trace = append(w.trace, fmt.Sprintf("%s %d/%d", what, which, shop))
	p, o := w.shops[shop], w.things[which]
	verb, fate, _ := strings.Cut(what, " ")
	w.mu.Lock()
	w.fate, w.silent = fate, verb == "silence"
	w.mu.Unlock()
	switch verb {
	case "pay":
		w.run(p, func() { w.hear(o, o.pay(p)) })
	case "again":
		w.again[o.id()]++
		w.run(p, func() { w.hear(o, o.payAgain(p)) })
	case "dying1", "dying2", "dying3", "dying4": // before or after the intent is written, before or after the outcome is
		p.mu.Lock()
		p.left = int(verb[5] - '0')
		p.mu.Unlock()
		w.run(p, func() { w.hear(o, o.pay(p)) })
		w.start(shop)
	case "crash":
		w.start(shop)
	case "recover", "silence":
		w.run(p, func() { w.recover(p) })
	case "ack":
		if w.told[o.id()] != "" { // only reported outcomes are acknowledged
			w.run(p, func() { w.ack(p, o) })
		}
	case "sleep":
		d, err := time.ParseDuration(fate)
		if err != nil {
			w.t.Fatal(err)
		}
		time.Sleep(d)
	}
	w.check()
}

// run runs a call of a process until it returns or the process crashes.
func (w *world) run(p *process, call func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		call()
	}()
	<-done
}

func (w *world) recover(p *process) {
	for e, err := range p.Recover(background) {
		if err != nil {
			w.fail("Recover: %v", err)
			return
		}
		w.hear(w.thingOf(&e), entryVerdict(&e))
	}
}

// ack acknowledges, which is refused for open entries. For an absence, a refusal or a pending payment it means that it is
// no longer queried.
func (w *world) ack(p *process, o thing) {
	told := strings.Split(strings.TrimSuffix(w.told[o.id()], ";"), ";")
	stored := map[Verdict]journal.State{
		Paid: journal.Succeeded, Declined: journal.Declined, Refused: journal.Refused, NotSent: journal.NotSent, Absent: journal.PresumedAbsent,
		Pending: journal.Pending, Conflict: journal.Conflicting,
	}[Verdict(told[len(told)-1])]
	for e := range w.store.Unacked(background, w.shop) {
		if w.thingOf(&e) == o && o.ack(p, stored) == nil {
			w.given[o.id()] = e.State() == journal.PresumedAbsent || e.State() == journal.Refused || e.State() == journal.Pending
		}
	}
}

// hear compares what is reported to a merchant with what happened to the money.
func (w *world) hear(o thing, v Verdict) {
	id, charged := o.id(), o.moved(w.g)
	switch {
	case v == Paid && charged == 0, v == Declined && charged > 0, v == Paid && charged > 1 && w.again[id] == 0:
		w.fail("%s is told %s and was charged %d times", id, v, charged)
	}
	w.told[id] += string(v) + ";"
}

func (w *world) fail(format string, args ...any) {
	w.t.Errorf("%s\nafter: %s", fmt.Sprintf(format, args...), strings.Join(w.trace, ", "))
}

// check checks the store: evidence is only ever appended, states only advance except by another submission, and no more
// requests were sent than the merchant explicitly requested.
func (w *world) check() {
	for _, o := range w.things {
		if w.whole[o.id()] > 1+w.again[o.id()] {
			w.fail("%s left %d times", o.id(), w.whole[o.id()])
		}
	}
	for e := range w.store.Unacked(background, w.shop) {
		w.checkAbsence(&e)
		id := w.thingOf(&e).id()
		before, ok := w.entries[id]
		w.entries[id] = e
		if !ok {
			continue
		}
		if len(e.Evidence) < len(before.Evidence) || before.State() == journal.Conflicting && e.State() != journal.Conflicting || e.Acked < before.Acked {
			w.fail("%s forgot something", id)
		}
		fresh := slices.ContainsFunc(e.Evidence[len(before.Evidence):], func(ev journal.Evidence) bool {
			return ev.Source == journal.SourceSubmission
		})
		if !fresh && e.State() < before.State() {
			w.fail("%s went from %v to %v", id, before.State(), e.State())
		}
	}
}

// checkAbsence fails the test if an absence was presumed too early.
func (w *world) checkAbsence(e *journal.Entry) {
	submitted := e.Begun.At
	for _, ev := range e.Evidence {
		if ev.Source == journal.SourceSubmission {
			submitted = ev.At
		}
		if open := ev.At.Sub(submitted); ev.State == journal.PresumedAbsent && open < 24*time.Hour {
			w.fail("%s is presumed absent after %v", w.thingOf(e).id(), open)
		}
	}
}

// rest waits until the gateway is idle and everything is settled, and checks that nothing was forgotten.
func (w *world) rest() {
	for _, d := range []string{"50h", "30h", "30h"} {
		w.take("sleep "+d, 0, 0)
		w.take("recover", 0, 0)
	}
	for _, o := range w.things {
		charged, told := o.moved(w.g), w.told[o.id()]
		switch {
		case charged > 0 && !w.given[o.id()] && !strings.Contains(told, string(Paid)) && !strings.Contains(told, string(Conflict)):
			w.fail("%s was charged and told %q", o.id(), told)
		case charged > 1 && w.again[o.id()] == 0:
			w.fail("%s was charged %d times", o.id(), charged)
		}
	}
	for e := range w.store.Unacked(background, w.shop) {
		// Declined twice: Client.Resolve does not yet take two declines, and nothing else, for a decline.
		o := w.thingOf(&e)
		twice := w.again[o.id()] > 0 && o.moved(w.g) == 0
		if e.State() == journal.Unknown && !twice {
			w.fail("%s is open in the end", o.id())
		}
	}
}

// live runs a new world through steps.
func live(t *testing.T, kind worldKind, steps func(*world)) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{
			t: t, store: journal.NewMemoryStore(), shop: journal.Shop{Gateway: "https://gateway.test", AppID: "7"}, whole: make(map[string]int),
			again: make(map[string]int),
			told:  make(map[string]string), given: make(map[string]bool), entries: make(map[string]journal.Entry),
			g: sandbox.New(sandbox.Options{
				Duplicates: kind.duplicates, RefundDuplicates: kind.refundDuplicates, RefundSettleAfter: kind.settleAfter, NoNotifications: true,
				Search: sandbox.Search{Lag: 10 * time.Minute, LagOneIn: 2},
			}),
		}
		defer w.g.Close()
		var err error
		if w.things, err = kind.things(w.g); err != nil {
			t.Fatal(err)
		}
		w.client, err = cardgateway.New(cardgateway.Config{
			BaseURL: "https://gateway.test", AppID: "7", HTTPClient: &http.Client{Transport: w},
		})
		if err != nil {
			t.Fatal(err)
		}
		w.start(0)
		w.start(1)
		steps(w)
		w.rest()
	})
}
