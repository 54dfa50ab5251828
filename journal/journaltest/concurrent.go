package journaltest

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/cardgateway/cardgateway-go/journal"
)

const crowd = 50

// together runs do in many goroutines at once.
func together(do func(i int)) {
	var wg sync.WaitGroup
	start := make(chan struct{})
	for i := range crowd {
		wg.Go(func() {
			<-start
			do(i)
		})
	}
	close(start)
	wg.Wait()
}

// testOneBegins has 50 goroutines begin the same payment: one creates it, all others find it.
func testOneBegins(t *testing.T, stores ...journal.Store) {
	t.Helper()
	for round := range 5 {
		id := fmt.Sprint("round ", round)
		var created atomic.Int32
		senders := make([]string, crowd)
		together(func(i int) {
			in := intent(id, i)
			e, mine, err := stores[i%len(stores)].Begin(t.Context(), in)
			if err != nil {
				t.Errorf("Begin: %v", err)
			}
			if mine {
				created.Add(1)
			}
			if mine && e.Begun.Sender != in.Sender {
				t.Errorf("created with sender %q, got the entry of %q", in.Sender, e.Begun.Sender)
			}
			senders[i] = e.Begun.Sender
		})
		if n := created.Load(); n != 1 {
			t.Errorf("%d of %d created the entry, want 1", n, crowd)
		}
		if n := len(slices.Compact(senders)); n != 1 {
			t.Errorf("the entry has %d senders, want 1: %q", n, senders)
		}
	}
}

// testOneRecords has 50 goroutines record evidence for the same version: one succeeds, all others return ErrChanged.
func testOneRecords(t *testing.T, stores ...journal.Store) {
	t.Helper()
	begin(t, stores[0], intent("a", 0))
	for piece := range 5 {
		var recorded atomic.Int32
		together(func(i int) {
			switch err := stores[i%len(stores)].Record(t.Context(), key("a"), piece, answered("a")); {
			case err == nil:
				recorded.Add(1)
			case !errors.Is(err, journal.ErrChanged):
				t.Errorf("Record: %v", err)
			}
		})
		if n := recorded.Load(); n != 1 {
			t.Errorf("%d of %d recorded piece %d, want 1", n, crowd, piece)
		}
	}
	if e := begin(t, stores[0], intent("a", 0)); len(e.Evidence) != 5 {
		t.Errorf("the entry has %d pieces, want 5", len(e.Evidence))
	}
}

// testEverybody has 50 goroutines each make a different payment, from the intent to the acknowledgement.
func testEverybody(t *testing.T, s journal.Store) {
	together(func(i int) {
		id := fmt.Sprint("payment ", i)
		if _, created, err := s.Begin(t.Context(), intent(id, i)); err != nil || !created {
			t.Errorf("Begin(%q): created %v, %v", id, created, err)
			return
		}
		if err := s.Record(t.Context(), key(id), 0, answered(id)); err != nil {
			t.Errorf("Record(%q): %v", id, err)
		}
		e, err := s.Get(t.Context(), key(id))
		if want := intent(id, i); err != nil || e.Begun.Sender != want.Sender || len(e.Evidence) != 1 || e.Evidence[0].Transaction.TransactionID != id {
			t.Errorf("Get(%q): %+v, %v", id, e, err)
		}
		if i%2 == 0 {
			if err := s.Ack(t.Context(), key(id), 1); err != nil {
				t.Errorf("Ack(%q): %v", id, err)
			}
		}
	})
	if ids := unacked(t, s); len(ids) != crowd/2 {
		t.Errorf("%d are unacknowledged, want %d", len(ids), crowd/2)
	}
}

// testTwoHandles runs testOneBegins, testOneRecords and testOneLeases with two stores that are open at the same place, as in two processes.
func testTwoHandles(t *testing.T, h Harness) {
	place := t.TempDir()
	a, closeA := h.Open(t, place)
	defer closeA()
	b, closeB := h.Open(t, place)
	defer closeB()
	testOneBegins(t, a, b)
	testOneRecords(t, a, b)
	t.Run("lease", func(t *testing.T) { testOneLeases(t, leaseStore(t, a), leaseStore(t, b)) })
}

// testReopened closes the store, opens it again, and checks what was written.
func testReopened(t *testing.T, h Harness) {
	place := t.TempDir()
	s, done := h.Open(t, place)
	want := begin(t, s, intent("a", 0))
	for i, ev := range append(others("a"), answered("a")) {
		record(t, s, key("a"), i, ev)
		want.Evidence = append(want.Evidence, ev)
	}
	begin(t, s, intent("b", 1))
	begin(t, s, intent("c", 2))
	ack(t, s, key("b"), 0)
	done()
	for range 2 {
		s, done = h.Open(t, place)
		same(t, begin(t, s, intent("a", 9)), want)
		if ids := unacked(t, s); !slices.Equal(ids, []string{"a", "c"}) {
			t.Errorf("unacknowledged after reopening: %q", ids)
		}
		if _, created, err := s.Begin(t.Context(), intent("b", 9)); err != nil || created {
			t.Errorf("an acknowledged payment after reopening: created %v, %v", created, err)
		}
		done()
	}
}
