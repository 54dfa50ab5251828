package faults

import (
	"context"
	"fmt"
	"iter"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/cardgateway/cardgateway-go/journal"
	"github.com/cardgateway/cardgateway-go/sandbox"
)

// mortal is the store of a process that can crash at any call.
type mortal struct{ p *process }

func (m mortal) Begin(ctx context.Context, in journal.Intent) (journal.Entry, bool, error) {
	m.p.step()
	defer m.p.step()
	return m.p.store.Begin(ctx, in)
}

func (m mortal) Get(ctx context.Context, key journal.Key) (journal.Entry, error) {
	m.p.step()
	return m.p.store.Get(ctx, key)
}

func (m mortal) Record(ctx context.Context, key journal.Key, version int, ev journal.Evidence) error {
	m.p.step()
	defer m.p.step()
	return m.p.store.Record(ctx, key, version, ev)
}

func (m mortal) Ack(ctx context.Context, key journal.Key, version int) error {
	m.p.step()
	defer m.p.step()
	return m.p.store.Ack(ctx, key, version)
}

func (m mortal) Unacked(ctx context.Context, shop journal.Shop) iter.Seq2[journal.Entry, error] {
	m.p.step()
	return m.p.store.Unacked(ctx, shop)
}

var duplicates = []sandbox.Duplicates{
	sandbox.DuplicatesExecuted, sandbox.DuplicatesDeclined, sandbox.DuplicatesRefused, sandbox.DuplicatesPerOrder,
}

var refundDuplicates = []sandbox.RefundDuplicates{
	sandbox.RefundDuplicatesExecuted, sandbox.RefundDuplicatesRefused, sandbox.RefundDuplicatesRepeated,
}

// TestModelExhaustive runs every sequence of steps with one payment, or one refund, and one process.
func TestModelExhaustive(t *testing.T) {
	t.Run("payment", func(t *testing.T) { exhaust(t, [2]bool{}) })
	t.Run("refund", func(t *testing.T) { exhaust(t, [2]bool{true, false}) })
}

func exhaust(t *testing.T, refunds [2]bool) {
	steps := []string{
		"pay ok", "pay lost", "pay late", "pay dropped", "pay unsent", "dying2 lost", "dying3 ok", "again ok", "again lost",
		"recover", "ack", "sleep 25h",
	}
	depth := 3
	if long() {
		depth = 4
	}
	runs := 0
	var grow func(taken []string)
	grow = func(taken []string) {
		if t.Failed() {
			return
		}
		if len(taken) == depth {
			live(t, worldKind{
				duplicates: duplicates[runs%4], refundDuplicates: refundDuplicates[runs%3], refunds: refunds,
				cards: [2]sandbox.Outcome{sandbox.Approved, sandbox.Approved},
			}, func(w *world) {
				for _, s := range taken {
					w.take(s, 0, 0)
				}
			})
			runs++
			return
		}
		for _, s := range steps {
			grow(append(taken[:len(taken):len(taken)], s))
		}
	}
	grow(nil)
	t.Logf("%d sequences of %d steps", runs, depth)
}

// TestModelRandom runs long random sequences with two payments or refunds and two processes.
func TestModelRandom(t *testing.T) {
	runs := 1500
	if long() {
		runs = 50_000
	}
	for seed := range runs {
		chance := rand.New(rand.NewPCG(uint64(seed), 3))
		card := func() sandbox.Outcome { return []sandbox.Outcome{sandbox.Approved, sandbox.Declined}[chance.IntN(2)] }
		live(t, worldKind{
			duplicates: duplicates[seed%4], refundDuplicates: refundDuplicates[seed%3],
			settleAfter: []time.Duration{0, time.Hour}[chance.IntN(2)], cards: [2]sandbox.Outcome{card(), card()},
			refunds: [2]bool{chance.IntN(2) == 0, chance.IntN(2) == 0},
		}, func(w *world) {
			for range 4 + chance.IntN(12) {
				w.take(anyStep(chance), chance.IntN(2), chance.IntN(2))
			}
		})
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
	t.Logf("%d sequences", runs)
}

func anyStep(chance *rand.Rand) string {
	fate := fates[chance.IntN(len(fates))]
	switch chance.IntN(12) {
	case 0, 1, 2:
		return "pay " + fate
	case 3:
		return "again " + fate
	case 4:
		return fmt.Sprintf("dying%d %s", 1+chance.IntN(4), fate)
	case 5:
		return "crash"
	case 6, 7:
		return "recover"
	case 8:
		return "silence"
	case 9:
		return "ack"
	}
	return "sleep " + []string{"1s", "20m", "13h", "25h"}[chance.IntN(4)]
}
