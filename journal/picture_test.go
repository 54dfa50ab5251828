package journal

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/cardgateway/cardgateway-go"
)

// stateNames are the states by the names of their constants, as the pictures have them.
var stateNames = map[State]string{
	Unknown: "Unknown", NotSent: "NotSent", Refused: "Refused", PresumedAbsent: "PresumedAbsent", Pending: "Pending",
	Abandoned: "Abandoned", Declined: "Declined", Succeeded: "Succeeded", Conflicting: "Conflicting",
}

// arrow is a line of a picture: from one state to another.
type arrow struct{ from, to string }

// TestPictures holds the picture in docs/journal.md to what the fold does with random evidence: every arrow that happens is drawn, with its
// cause, and every arrow that is drawn happens; of a refund, but for those of Abandoned.
func TestPictures(t *testing.T) {
	page, err := os.ReadFile("../docs/journal.md")
	if err != nil {
		t.Fatal(err)
	}
	pictures := regexp.MustCompile("(?s)```mermaid\nstateDiagram-v2\n(.*?)```").FindAllStringSubmatch(string(page), -1)
	if len(pictures) != 1 {
		t.Fatalf("%d pictures, want one", len(pictures))
	}
	for _, refund := range []bool{false, true} {
		drawn := map[arrow]bool{}
		for _, line := range regexp.MustCompile(`(?m)^ +(\w+) --> (\w+): \S.*$`).FindAllStringSubmatch(pictures[0][1], -1) {
			drawn[arrow{line[1], line[2]}] = true
		}
		if n := strings.Count(pictures[0][1], "-->") - 1; n != len(drawn) { // without the begin
			t.Errorf("%d arrows have a cause and are drawn once, of %d", len(drawn), n)
		}
		if refund {
			maps.DeleteFunc(drawn, func(a arrow, _ bool) bool { return a.from == "Abandoned" || a.to == "Abandoned" })
		}
		happened := map[arrow]string{}
		for seed := range uint64(10_000) {
			randomHistory(rand.New(rand.NewPCG(seed, 2)), refund, func(from, to State, ev *Evidence) {
				if a := (arrow{stateNames[from], stateNames[to]}); happened[a] == "" {
					happened[a] = fmt.Sprintf("%s: %s, %v", a.from+" --> "+a.to, ev.Source, ev.State)
				}
			})
		}
		for _, a := range slices.SortedFunc(maps.Keys(happened), func(a, b arrow) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) }) {
			if !drawn[a] {
				t.Errorf("refund %t: happens, and is not drawn: %s", refund, happened[a])
			}
		}
		for a := range drawn {
			if happened[a] == "" {
				t.Errorf("refund %t: is drawn, and does not happen: %v", refund, a)
			}
		}
	}
}

// randomHistory adds random evidence to an entry, as calls and queries can bring it: each call answers once, a submission is repeated only if
// its state allows that, and only a pending payment is abandoned.
func randomHistory(rnd *rand.Rand, refund bool, changed func(from, to State, ev *Evidence)) {
	e := Entry{Begun: Intent{Sender: "1", ID: ID{Text: "a", Refund: refund}}}
	unanswered := []string{"1"}
	for range 6 {
		from := e.State()
		ev := Evidence{Source: SourceQuery, State: []State{Unknown, PresumedAbsent, Pending, Abandoned, Declined, Succeeded}[rnd.IntN(6)]}
		switch {
		case rnd.IntN(3) == 0 && len(unanswered) > 0:
			i := rnd.IntN(len(unanswered))
			ev = Evidence{Source: SourceAnswer, State: []State{Unknown, NotSent, Refused, Pending, Declined, Succeeded}[rnd.IntN(6)], Sender: unanswered[i]}
			unanswered = slices.Delete(unanswered, i, i+1)
		case rnd.IntN(2) == 0 && (from == NotSent || from == Refused || from == PresumedAbsent):
			sender := fmt.Sprint(len(e.Evidence) + 2)
			ev = Evidence{Source: SourceSubmission, Submission: &Intent{Sender: sender, ID: e.Begun.ID}}
			unanswered = append(unanswered, sender)
		}
		if ev.State == Abandoned && (from != Pending || refund) {
			continue
		}
		ev.Seen = ev.Source == SourceQuery && ev.State == Unknown
		id := fmt.Sprint(rnd.IntN(2))
		switch codes := map[State][]cardgateway.Code{Pending: {102, 301, 101}, Declined: {101, 103}, Succeeded: {100}}[ev.State]; {
		case codes != nil && refund:
			ev.Refund = &cardgateway.Refund{RefundUniqueID: id, Code: map[State]cardgateway.Code{Pending: 110, Declined: 112, Succeeded: 111}[ev.State]}
		case codes != nil:
			ev.Transaction = &cardgateway.Transaction{UniqueID: id, Code: codes[rnd.IntN(len(codes))]}
		}
		e.Evidence = append(e.Evidence, ev)
		if to := e.State(); to != from {
			changed(from, to, &ev)
		}
	}
}
