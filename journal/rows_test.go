package journal_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/journal"
	"github.com/cardgateway/cardgateway-go/sandbox"
)

// rowOf is a row of the gateway: its id and code.
type rowOf struct {
	id   string
	code cardgateway.Code
}

// TestRowsOfOnePayment: each row of a payment counts as it was shown last. What is in processing is never hidden by the decline of another row.
// Shown again and again, in any order, nothing is recorded, and so nothing reported.
func TestRowsOfOnePayment(t *testing.T) {
	for _, tt := range []struct {
		name   string
		hosted bool
		shown  []rowOf
		state  journal.State
		code   cardgateway.Code
	}{
		{"a decline, and another card in processing", true, []rowOf{{"A", 101}, {"B", 102}}, journal.Pending, 102},
		{"the decline becomes known later", true, []rowOf{{"B", 102}, {"A", 101}}, journal.Pending, 102},
		{"two declines, and another card in processing", true, []rowOf{{"A", 101}, {"C", 102}, {"B", 101}}, journal.Pending, 102},
		{"two in processing", true, []rowOf{{"A", 102}, {"B", 102}}, journal.Pending, 102},
		{"two in processing, of which one was declined", true, []rowOf{{"A", 102}, {"B", 102}, {"B", 101}}, journal.Pending, 102},
		{"two in processing, of which the first was declined", true, []rowOf{{"A", 102}, {"B", 102}, {"A", 101}}, journal.Pending, 102},
		{"both were declined", true, []rowOf{{"A", 102}, {"B", 102}, {"A", 101}, {"B", 101}}, journal.Pending, 101},
		{"a page beside a decline", true, []rowOf{{"A", 101}, {"B", 301}}, journal.Pending, 301},
		{"a page, and a card in processing", true, []rowOf{{"B", 102}, {"A", 301}}, journal.Pending, 102},
		{"the page was closed, and a card is in processing", true, []rowOf{{"B", 102}, {"A", 103}}, journal.Pending, 102},
		{"that becomes known later", true, []rowOf{{"A", 103}, {"B", 102}}, journal.Pending, 102},
		{"the one in processing is paid", true, []rowOf{{"A", 101}, {"B", 102}, {"B", 100}}, journal.Succeeded, 100},
		{"without the page: a decline, and one in processing", false, []rowOf{{"B", 102}, {"A", 101}}, journal.Pending, 102},
		{"without the page: the one in processing is paid", false, []rowOf{{"B", 102}, {"A", 101}, {"B", 100}}, journal.Succeeded, 100},
		{"without the page: the one in processing is declined", false, []rowOf{{"B", 102}, {"A", 101}, {"B", 101}}, journal.Declined, 101},
		{"without the page: two declines with different codes", false, []rowOf{{"A", 101}, {"B", 103}}, journal.Declined, 103},
	} {
		runInBubble(t, tt.name, sandbox.Options{}, func(t *testing.T, s *shop) {
			if tt.hosted {
				s.opensPage()
			} else {
				s.loseNext(sandbox.CommitNever)
				_, _ = s.pay("a", approved)
			}
			show := func(rows ...rowOf) {
				for _, r := range rows {
					succeeds(t, s.Confirm(t.Context(), shownAs(r.code, r.id)))
					time.Sleep(time.Minute)
				}
			}
			show(tt.shown...)
			last := map[string]rowOf{}
			for _, r := range tt.shown {
				last[r.id] = r
			}
			check := func(when string, limit int) int {
				e, err := s.Get(t.Context(), journal.PaymentID("a"))
				if err != nil {
					t.Fatal(err)
				}
				got, _ := outcomeOf(e)
				if e.State() != tt.state || got == nil || got.Code != tt.code {
					t.Errorf("%s: %v, %+v; want %v, code %d", when, e.State(), got, tt.state, tt.code)
				}
				if n := len(e.Evidence); limit > 0 && n > limit {
					t.Errorf("%s: %d pieces of evidence, want at most %d", when, n, limit)
				}
				return len(e.Evidence)
			}
			check("shown once", 0)
			for range 50 { // some became no news only once the others were known
				for _, id := range []string{"A", "B", "C"} {
					if r, ok := last[id]; ok {
						show(r)
					}
				}
			}
			check("shown again", len(tt.shown)+3)
		})
	}
}

// TestWalkedRowsAreReportedOnce: two rows that a walk shows every five minutes are reported when they are new.
func TestWalkedRowsAreReportedOnce(t *testing.T) {
	inBubble(t, sandbox.Options{}, func(t *testing.T, s *shop) {
		s.opensPage()
		searchShows(s, 101, 102)
		told := running(t, s.Journal, 0, nil)
		for range 60 {
			for _, r := range []rowOf{{"0", 101}, {"1", 102}} {
				succeeds(t, s.Confirm(t.Context(), shownAs(r.code, r.id)))
			}
			time.Sleep(5 * time.Minute)
		}
		if n := len(told.all()); n > 3 {
			t.Errorf("it was reported %d times in 5 hours: %s", n, fmt.Sprint(told.all()[:4]))
		}
	})
}
