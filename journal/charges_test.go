package journal

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/cardgateway/cardgateway-go"
)

// chargeAt returns a success of which the gateway says this time; the zero time is none.
func chargeAt(source Source, id string, at time.Time) Evidence {
	ev := piece(source, Succeeded, "1", id)
	if !at.IsZero() {
		ev.Transaction.TransactionAt, _ = cardgateway.ParseWallTime(at.Format(time.DateTime))
	}
	return ev
}

// TestRivals: of the charges of a long subscription only a few are compared with another one, whether they have ids and however often it was
// submitted.
func TestRivals(t *testing.T) {
	begun := time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, named := range []bool{true, false} {
		for _, cycle := range []cardgateway.SubscriptionCycle{cardgateway.CycleDay, cardgateway.CycleWeek} {
			for _, submissions := range []int{1, 3} {
				days := map[cardgateway.SubscriptionCycle]int{cardgateway.CycleDay: 1, cardgateway.CycleWeek: 7}[cycle]
				e := Entry{Begun: Intent{Sender: "1", At: begun, SubscriptionCycle: cycle}}
				for i := 1; i < submissions; i++ {
					again := Intent{Sender: fmt.Sprint(i + 1), At: begun.Add(time.Duration(i) * time.Minute), SubscriptionCycle: cycle}
					e.Evidence = append(e.Evidence, Evidence{Source: SourceQuery, State: PresumedAbsent}, Evidence{Source: SourceSubmission, Submission: &again})
				}
				for i := range 2000 {
					id := ""
					if named {
						id = fmt.Sprint(i)
					}
					e.Evidence = append(e.Evidence, chargeAt(SourceQuery, id, begun.AddDate(0, 0, days*i)))
				}
				p := e.project()
				if p.current() != Succeeded || len(p.charges) != 2000 {
					t.Errorf("named %t, every %v, %d submissions: %v with %d charges", named, cycle, submissions, p.current(), len(p.charges))
				}
				for _, ev := range p.charges {
					if n := len(p.rivals(ev)); n > 3*(1+submissions*(submissions-1)) {
						t.Fatalf("named %t, every %v, %d submissions: %d rivals", named, cycle, submissions, n)
					}
				}
			}
		}
	}
}

// TestConflictOfRandomCharges: there is a conflict exactly if two of the successes are two payments.
func TestConflictOfRandomCharges(t *testing.T) {
	begun := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	conflicts := 0
	for seed := range uint64(20_000) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		cycle := []cardgateway.SubscriptionCycle{"", cardgateway.CycleDay, cardgateway.CycleDay, cardgateway.CycleWeek}[rnd.IntN(4)]
		e := Entry{Begun: Intent{Sender: "1", At: begun, SubscriptionCycle: cycle}}
		for i := range rnd.IntN(3) {
			again := Intent{Sender: fmt.Sprint(i + 2), At: begun.Add(time.Duration(rnd.IntN(10*24)) * time.Hour), SubscriptionCycle: cycle}
			e.Evidence = append(e.Evidence, Evidence{Source: SourceSubmission, Submission: &again})
		}
		from := len(e.Evidence)
		for range 1 + rnd.IntN(4) {
			at := begun.AddDate(0, 0, rnd.IntN(4)*[]int{1, 7}[rnd.IntN(2)]).Add(time.Duration(rnd.IntN(3)) * time.Hour)
			if rnd.IntN(6) == 0 {
				at = time.Time{}
			}
			e.Evidence = append(e.Evidence, chargeAt([]Source{SourceAnswer, SourceQuery}[rnd.IntN(2)], []string{"", "1", "2", "3"}[rnd.IntN(4)], at))
		}
		p, want := e.project(), false
		charges := e.Evidence[from:]
		for i := range charges {
			want = want || slices.ContainsFunc(charges[:i], func(before Evidence) bool {
				ev := &charges[i]
				return !ev.canBeOne(&before) && !p.isLater(ev, &before) && !p.isLater(&before, ev)
			})
		}
		if p.conflict != want {
			t.Fatalf("seed %d: conflict %t, want %t", seed, p.conflict, want)
		}
		if want {
			conflicts++
		}
	}
	if conflicts < 1000 || conflicts > 19_000 {
		t.Errorf("%d conflicts", conflicts)
	}
}
