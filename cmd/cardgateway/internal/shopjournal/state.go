package shopjournal

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/exit"
	"github.com/cardgateway/cardgateway-go/internal/reconcile/terminal"
	"github.com/cardgateway/cardgateway-go/journal"
)

// states are the states of an entry.
var states = []journal.State{
	journal.Conflicting, journal.Unknown, journal.NotSent, journal.Refused, journal.PresumedAbsent, journal.Pending, journal.Abandoned,
	journal.Declined, journal.Succeeded,
}

// ParseState parses the name of a state, in which a hyphen can replace the space.
func ParseState(flag, word string) (journal.State, error) {
	name := strings.ReplaceAll(word, "-", " ")
	i := slices.IndexFunc(states, func(s journal.State) bool { return s.String() == name })
	if i < 0 {
		return 0, exit.Fail(exit.Failed, "%s: there is no state %q of the journal; there are %s", flag, terminal.Clean(word),
			strings.Join(stateWords(), ", "))
	}
	return states[i], nil
}

// stateWords returns the states as written on a command line.
func stateWords() (words []string) {
	for _, state := range states {
		words = append(words, asWord(state))
	}
	return words
}

// asWord returns a state with a hyphen instead of the space.
func asWord(state journal.State) string { return strings.ReplaceAll(state.String(), " ", "-") }

// Kind returns payment or refund.
func Kind(e *journal.Entry) string {
	if e.ID().Refund {
		return "refund"
	}
	return "payment"
}

// idOf returns the merchant's id.
func idOf(e *journal.Entry) string { return e.ID().Text }

// Currency returns the currency of the payment. A refund is sent without one: it is known only once the gateway has returned it.
func Currency(e *journal.Entry) string {
	currency := e.Begun.Currency
	for i := range e.Evidence {
		if r := e.Evidence[i].Refund; r != nil {
			currency = cmp.Or(currency, r.RefundCurrency)
		}
	}
	return currency
}

// uniqueIDOf returns the gateway's id of the payment, or an empty text if it is unknown.
func uniqueIDOf(e *journal.Entry) string {
	id := e.Begun.UniqueID
	for i := range e.Evidence {
		if t := e.Evidence[i].Transaction; t != nil {
			id = cmp.Or(id, t.UniqueID)
		}
	}
	return id
}

// lastAt returns the time of the latest evidence of an entry.
func lastAt(e *journal.Entry) time.Time {
	if n := len(e.Evidence); n > 0 {
		return e.Evidence[n-1].At
	}
	return e.Begun.At
}
