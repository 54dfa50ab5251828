package journal

import (
	"errors"
	"fmt"
	"slices"
	"testing"
)

// TestMemoryIsBounded: what is remembered about the entries of two generations stays, older ones are forgotten, and every entry
// may then have been changed.
func TestMemoryIsBounded(t *testing.T) {
	m := memory{max: 10}
	id := func(i int) ID { return PaymentID(fmt.Sprint(i)) }
	put := func(i int) { m.update(id(i), func(r *remembered) { r.queryErr = fmt.Errorf("%d", i) }) }
	begun := m.changeCount()
	for i := range 20 {
		put(i)
	}
	m.setChanged(id(19))
	if m.changedSince(id(0), begun) || !m.changedSince(id(19), begun) || m.changedSince(id(19), m.changeCount()) {
		t.Error("19 was changed, once, and nothing else")
	}
	put(20)
	for i, want := range map[int]bool{0: false, 9: false, 10: true, 19: true, 20: true} {
		if why := m.get(id(i)).queryErr; (why != nil) != want || want && why.Error() != fmt.Sprint(i) {
			t.Errorf("%d: got %v", i, why)
		}
	}
	if !m.changedSince(id(0), begun) || m.changedSince(id(0), m.changeCount()) {
		t.Error("an entry that is forgotten may have been changed until then")
	}
	for i := range 100 {
		put(i % 15)
		if n := len(m.newer) + len(m.older); n > 20 {
			t.Fatalf("it holds %d", n)
		}
	}
}

// TestMemoryOfReturned: what was returned, and whether the merchant has stored it, is remembered for exactly that version and
// state.
func TestMemoryOfReturned(t *testing.T) {
	entry := func(states ...State) *Entry {
		e := &Entry{Begun: Intent{ID: PaymentID("a")}}
		for _, s := range states {
			e.Evidence = append(e.Evidence, Evidence{Source: SourceQuery, State: s})
		}
		return e
	}
	open, pending := entry(), entry(Pending)
	for _, tt := range []struct {
		name    string
		do      func(m *memory, returned func(*Entry))
		version int // -1: nothing was returned
		stored  bool
	}{
		{"nothing", func(*memory, func(*Entry)) {}, -1, false},
		{"an open one", func(_ *memory, returned func(*Entry)) { returned(open) }, 0, false},
		{"returned", func(_ *memory, returned func(*Entry)) { returned(pending) }, 1, false},
		{"stored", func(m *memory, returned func(*Entry)) { returned(pending); m.setStored(pending) }, 1, true},
		{"stored, and returned again", func(m *memory, returned func(*Entry)) { returned(pending); m.setStored(pending); returned(pending) }, 1, true},
		{"stored, and returned in another state", func(m *memory, returned func(*Entry)) {
			returned(entry(Unknown))
			m.setStored(entry(Unknown))
			returned(pending)
		}, 1, false},
		{"stored, and a newer version returned", func(m *memory, returned func(*Entry)) {
			returned(pending)
			m.setStored(pending)
			returned(entry(Pending, Pending))
		}, 2, false},
		{"an older version is stored", func(m *memory, returned func(*Entry)) { returned(entry(Pending, Pending)); m.setStored(pending) }, 2, false},
		{"stored and forgotten", func(m *memory, _ func(*Entry)) { m.setStored(open) }, -1, false},
		{"an older version is returned", func(_ *memory, returned func(*Entry)) { returned(entry(Pending, Pending)); returned(open) }, 2, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var m memory
			tt.do(&m, func(e *Entry) { m.returned(e, e.project()) })
			got := m.get(PaymentID("a"))
			if m.get(RefundID("a")).returned {
				t.Error("a refund has the same id and was not returned")
			}
			if known := got.returned; known != (tt.version >= 0) || known && (int(got.version) != tt.version || got.stored != tt.stored) {
				t.Errorf("got version %d, stored %t (%t); want %d, %t", got.version, got.stored, known, tt.version, tt.stored)
			}
		})
	}
}

// TestMemoryOfGivenUp: the latest calls that gave up are remembered, and not more than a few of one entry.
func TestMemoryOfGivenUp(t *testing.T) {
	var m memory
	id := PaymentID("a")
	for i := range 3 * maxUnsent {
		m.addUnsent(id, fmt.Sprint(i))
	}
	got := m.get(id).unsent
	if len(got) != maxUnsent || got[0] != fmt.Sprint(2*maxUnsent) || !slices.Contains(got, fmt.Sprint(3*maxUnsent-1)) {
		t.Errorf("got %q", got)
	}
}

// TestMemoryOfReasons: queries that fail alike share one error.
func TestMemoryOfReasons(t *testing.T) {
	var m memory
	for i, why := range []error{errors.New("down"), errors.New("down"), nil, errors.New("401"), errors.New("down")} {
		m.setQueryErr(PaymentID(fmt.Sprint(i)), why)
	}
	if a, b := m.get(PaymentID("0")).queryErr, m.get(PaymentID("1")).queryErr; a == nil || a != b {
		t.Errorf("got %v and %v, want one error", a, b)
	}
	if got := fmt.Sprint(m.get(PaymentID("2")).queryErr, m.get(PaymentID("3")).queryErr, m.get(PaymentID("4")).queryErr); got != "<nil> 401 down" {
		t.Errorf("got %s", got)
	}
	if m.forgetQuery(PaymentID("0")); m.get(PaymentID("0")).queryErr != nil {
		t.Error("it still knows why")
	}
}
