package journaltest

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/cardgateway/cardgateway-go/journal"
)

// testForget: an entry is deleted only if it is acknowledged, and nothing of it was recorded since.
func testForget(t *testing.T, s journal.Store) {
	f, ok := s.(interface {
		Forget(ctx context.Context, before time.Time) (int64, error)
	})
	if !ok {
		t.Skip("the store has no method Forget")
	}
	now := time.Now().Round(time.Microsecond)
	before := now.AddDate(0, 0, -30)
	old, long := before.Add(-time.Second), before.AddDate(0, 0, -10)
	evidence := func(state journal.State, at time.Time) journal.Evidence {
		ev := journal.Evidence{At: at, Source: journal.SourceAnswer, State: state, Sender: "sender"}
		if state == journal.Succeeded {
			ev.Transaction = answered("").Transaction
		}
		return ev
	}
	again := func(at time.Time) journal.Evidence {
		in := intent("a", 0)
		in.At = at
		return journal.Evidence{At: at, Source: journal.SourceSubmission, Submission: &in}
	}
	kept, deleted := make(map[journal.Key]bool), 0
	add := func(key journal.Key, keep bool) {
		if kept[key] = keep; !keep {
			deleted++
		}
	}
	for _, p := range []struct {
		name     string
		begun    time.Time
		evidence []journal.Evidence
		unacked  int // pieces of evidence after the acknowledgement
		kept     bool
	}{
		{"old", long, []journal.Evidence{evidence(journal.Succeeded, long)}, 0, false},
		{"old, without evidence", long, nil, 0, false},
		{"old, submitted twice", long, []journal.Evidence{evidence(journal.NotSent, long), again(old), evidence(journal.Succeeded, old)}, 0, false},
		{"old, not acknowledged", long, []journal.Evidence{evidence(journal.Succeeded, long)}, 1, true},
		{"old, with more than was acknowledged", long, []journal.Evidence{evidence(journal.NotSent, long), again(old)}, 1, true},
		{"begun at that time", before, nil, 0, true},
		{"young", now, []journal.Evidence{evidence(journal.Succeeded, now)}, 0, true},
		{"its only evidence is young", long, []journal.Evidence{evidence(journal.Succeeded, now)}, 0, true},
		{"its only evidence is of that time", long, []journal.Evidence{evidence(journal.Succeeded, before)}, 0, true},
		{"not sent long ago, paid now", long, []journal.Evidence{evidence(journal.NotSent, long), again(now), evidence(journal.Succeeded, now)}, 0, true},
		{"refused long ago, refused again now", long, []journal.Evidence{evidence(journal.Refused, long), again(now), evidence(journal.Refused, now)}, 0, true},
		{"absent long ago, submitted again now", long, []journal.Evidence{{At: long, Source: journal.SourceQuery, State: journal.PresumedAbsent}, again(now)}, 0,
			true},
		{"a late statement about an earlier time", long, []journal.Evidence{again(now), evidence(journal.NotSent, old)}, 0, true},
	} {
		for _, shop := range []journal.Shop{shop, otherShop} {
			in := intent(p.name, 0)
			in.At, in.Shop = p.begun, shop
			begin(t, s, in)
			for version, ev := range p.evidence {
				if version == len(p.evidence)-p.unacked {
					ack(t, s, in.Key(), version)
				}
				record(t, s, in.Key(), version, ev)
			}
			if p.unacked == 0 {
				ack(t, s, in.Key(), len(p.evidence))
			}
			add(in.Key(), p.kept)
		}
	}
	const many = 450 // more than a page of any store, and young ones between them
	for i := range many {
		in := intent(fmt.Sprint("many ", i), 0)
		if in.At = long; i%3 == 0 {
			in.At = now
		}
		begin(t, s, in)
		ack(t, s, in.Key(), 0)
		add(in.Key(), i%3 == 0)
	}

	if n, err := f.Forget(t.Context(), now.Add(time.Minute-24*time.Hour)); err == nil || n != 0 {
		t.Errorf("what is younger than a day: forgot %d, %v; want an error", n, err)
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if n, err := f.Forget(over, before); err == nil || n != 0 {
		t.Errorf("with an ended context: forgot %d, %v; want an error", n, err)
	}
	for _, n := range []int{deleted, 0} {
		if got, err := f.Forget(t.Context(), before); err != nil || got != int64(n) {
			t.Errorf("forgot %d, %v; want %d", got, err, n)
		}
	}
	for key, keep := range kept {
		if _, err := s.Get(t.Context(), key); errors.Is(err, journal.ErrNoEntry) == keep {
			t.Errorf("%s of %s: %v; want it kept: %t", key.ID, key.Shop, err, keep)
		}
	}
}
