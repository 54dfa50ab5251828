package shopjournal

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/exit"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/terminal"
	"github.com/cardgateway/cardgateway-go/journal"
)

// Conflict is the state of an entry whose evidence cannot all be true, whatever State says.
const Conflict = "conflict"

// states are the words of State.
var states = []string{
	Conflict, journal.Unknown.String(), journal.NotSent.String(), journal.Refused.String(), journal.PresumedAbsent.String(),
	journal.Pending.String(), journal.Abandoned.String(), journal.Declined.String(), journal.Succeeded.String(),
}

// ParseState reads a word for a state. On a command line a hyphen can stand for the space.
func ParseState(flag, word string) (string, error) {
	state := strings.ReplaceAll(word, "-", " ")
	if !slices.Contains(states, state) {
		return "", exit.Fail(exit.NoAnswer, "%s: there is no state %q of the journal; there are %s", flag, terminal.Clean(word),
			strings.Join(stateWords(), ", "))
	}
	return state, nil
}

// stateWords are the states as one writes them on a command line.
func stateWords() (words []string) {
	for _, state := range states {
		words = append(words, asWord(state))
	}
	return words
}

// asWord writes a state without a space.
func asWord(state string) string { return strings.ReplaceAll(state, " ", "-") }

// State is what all evidence comes to.
func State(e *journal.Entry) string {
	if e.Conflict() {
		return Conflict
	}
	return e.State().String()
}

// Kind tells payments from refunds.
func Kind(e *journal.Entry) string {
	if e.RefundTransactionID() != "" {
		return "refund"
	}
	return "payment"
}

// idOf is the merchant's id.
func idOf(e *journal.Entry) string { return cmp.Or(e.TransactionID(), e.RefundTransactionID()) }

// Currency is that of the payment. A refund is sent without one: the gateway may have shown it.
func Currency(e *journal.Entry) string {
	currency := e.Begun.Currency
	for i := range e.Evidence {
		if r := e.Evidence[i].Refund; r != nil {
			currency = cmp.Or(currency, r.RefundCurrency)
		}
	}
	return currency
}

// uniqueIDOf is the gateway's id of the payment, as far as it is known.
func uniqueIDOf(e *journal.Entry) string {
	id := e.Begun.UniqueID
	for i := range e.Evidence {
		if t := e.Evidence[i].Transaction; t != nil {
			id = cmp.Or(id, t.UniqueID)
		}
	}
	return id
}

// lastAt is when something became known of an entry last.
func lastAt(e *journal.Entry) time.Time {
	if n := len(e.Evidence); n > 0 {
		return e.Evidence[n-1].At
	}
	return e.Begun.At
}
