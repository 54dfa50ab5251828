package journal

import (
	"fmt"
	"os"
	"slices"
	"testing"

	"github.com/cardgateway/cardgateway-go"
)

// How many payments there must be, or refunds, if the gateway shows successes with and without ids.

// success is a success as one of the sources shows it. Times are small numbers; zero is none.
type success struct {
	source Source
	id     string
	minute int
}

func (s success) String() string { return fmt.Sprintf("%s %q@%d", s.source, s.id, s.minute) }

func (s success) evidence(refund bool) Evidence {
	var at cardgateway.WallTime
	if s.minute > 0 {
		at, _ = cardgateway.ParseWallTime(fmt.Sprintf("2026-01-01 00:%02d:00", s.minute))
	}
	ev := Evidence{Source: s.source, State: Succeeded}
	if refund {
		ev.Refund = &cardgateway.Refund{Code: 111, RefundUniqueID: s.id, RefundRequestAt: at}
	} else {
		ev.Transaction = &cardgateway.Transaction{Code: cardgateway.CodeSuccess, UniqueID: s.id, TransactionAt: at}
	}
	return ev
}

// executions returns the smallest number of payments that explains what was shown: it tries every way to attribute each
// success to a payment. A payment has one id. A source shows it at one time, which is known for a success without an id;
// with an id, a source may show several times.
func executions(shown []success) int {
	least := len(shown)
	var attribute func(rest []success, payments [][]success)
	attribute = func(rest []success, payments [][]success) {
		if len(payments) >= least && len(rest) > 0 {
			return
		}
		if len(rest) == 0 {
			if !slices.ContainsFunc(payments, func(p []success) bool { return !isOnePayment(p) }) {
				least = min(least, len(payments))
			}
			return
		}
		for i := range payments {
			with := slices.Clone(payments)
			with[i] = append(slices.Clone(payments[i]), rest[0])
			attribute(rest[1:], with)
		}
		attribute(rest[1:], append(slices.Clone(payments), []success{rest[0]}))
	}
	attribute(shown, nil)
	return least
}

func isOnePayment(shown []success) bool {
	ids, fixed := make(map[string]bool), make(map[Source]int)
	for _, s := range shown {
		if s.id != "" {
			ids[s.id] = true
		} else if s.minute != 0 {
			if t := fixed[s.source]; t != 0 && t != s.minute {
				return false
			}
			fixed[s.source] = s.minute
		}
	}
	for _, s := range shown {
		if t := fixed[s.source]; t != 0 && s.minute != 0 && s.minute != t {
			return false
		}
	}
	return len(ids) <= 1
}

// TestExecutions compares every sequence of successes, so in every order, with the smallest number of payments or refunds
// that explains it: it is a conflict if there must be more than one. That is also true if only what changes something is
// recorded, as long as each success is shown twice. CARDGATEWAY_LONG=1 tries longer ones.
func TestExecutions(t *testing.T) {
	longest := 3
	if os.Getenv("CARDGATEWAY_LONG") == "1" {
		longest = 4
	}
	var pieces []success
	for _, source := range []Source{SourceAnswer, SourceQuery} {
		for minute := range 3 {
			pieces = append(pieces, success{source, "", minute}, success{source, "1", minute})
		}
		pieces = append(pieces, success{source, "2", 0})
	}
	for name, refund := range map[string]bool{"payment": false, "refund": true} {
		t.Run(name, func(t *testing.T) {
			checked := 0
			var grow func(shown []success)
			grow = func(shown []success) {
				if t.Failed() {
					return
				}
				if len(shown) > 0 {
					checkExecutions(t, shown, refund)
					checked++
				}
				if len(shown) == longest {
					return
				}
				for _, s := range pieces {
					grow(append(slices.Clip(shown), s))
				}
			}
			grow(nil)
			t.Logf("%d sequences", checked)
		})
	}
}

func checkExecutions(t *testing.T, shown []success, refund bool) {
	t.Helper()
	want := executions(shown) > 1
	var all Entry
	for _, s := range shown {
		all.Evidence = append(all.Evidence, s.evidence(refund))
	}
	if (all.State() == Conflicting) != want {
		t.Errorf("%v: conflict is %t, and it takes %d", shown, all.State() == Conflicting, executions(shown))
	}
	var recorded Entry
	for range 2 {
		for i := range all.Evidence {
			if recorded.project().changedBy(&all.Evidence[i], &recorded) {
				recorded.Evidence = append(recorded.Evidence, all.Evidence[i])
			}
		}
	}
	if (recorded.State() == Conflicting) != want {
		t.Errorf("%v, shown twice: conflict is %t, and it takes %d", shown, recorded.State() == Conflicting, executions(shown))
	}
	if more := len(recorded.Evidence) - len(shown); more > 0 {
		t.Errorf("%v, shown twice: %d pieces more are recorded", shown, more)
	}
}

// TestRowWithoutID: a search that shows a payment whose id is known from the response, and another one without an id, shows
// two, in any order of its rows.
func TestRowWithoutID(t *testing.T) {
	named, unnamed := success{SourceQuery, "1", 1}.evidence(false), success{SourceQuery, "", 2}.evidence(false)
	for name, rows := range map[string][]cardgateway.Transaction{
		"the named first": {*named.Transaction, *unnamed.Transaction}, "the named last": {*unnamed.Transaction, *named.Transaction},
	} {
		t.Run(name, func(t *testing.T) {
			e := Entry{Evidence: []Evidence{success{SourceAnswer, "1", 1}.evidence(false)}}
			for _, ev := range successesOf(&cardgateway.ConflictError{Transactions: rows}, e.Begun.Operation) {
				if e.project().changedBy(&ev, &e) {
					e.Evidence = append(e.Evidence, ev)
				}
			}
			if e.State() != Conflicting {
				t.Error("it is no conflict")
			}
		})
	}
}
