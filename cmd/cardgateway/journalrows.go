package main

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/exit"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/tabular"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/terminal"
	"github.com/cardgateway/cardgateway-go/journal"
)

// conflictState is the state of an entry whose evidence cannot all be true, whatever State says.
const conflictState = "conflict"

// journalStates are the words of stateOf.
var journalStates = []string{
	conflictState, journal.Unknown.String(), journal.NotSent.String(), journal.Refused.String(), journal.PresumedAbsent.String(),
	journal.Pending.String(), journal.Abandoned.String(), journal.Declined.String(), journal.Succeeded.String(),
}

// parseState reads a word for a state. On a command line a hyphen can stand for the space.
func parseState(flag, word string) (string, error) {
	state := strings.ReplaceAll(word, "-", " ")
	if !slices.Contains(journalStates, state) {
		return "", exit.Fail(exit.NoAnswer, "%s: there is no state %q of the journal; there are %s", flag, terminal.Clean(word),
			strings.Join(stateWords(), ", "))
	}
	return state, nil
}

// stateWords are the states as one writes them on a command line.
func stateWords() (words []string) {
	for _, state := range journalStates {
		words = append(words, asWord(state))
	}
	return words
}

// asWord writes a state without a space.
func asWord(state string) string { return strings.ReplaceAll(state, " ", "-") }

// stateOf is what all evidence comes to.
func stateOf(e *journal.Entry) string {
	if e.Conflict() {
		return conflictState
	}
	return e.State().String()
}

// kindOfEntry tells payments from refunds.
func kindOfEntry(e *journal.Entry) string {
	if e.RefundTransactionID() != "" {
		return "refund"
	}
	return "payment"
}

// idOf is the merchant's id.
func idOf(e *journal.Entry) string { return cmp.Or(e.TransactionID(), e.RefundTransactionID()) }

// currencyOf is that of the payment. A refund is sent without one: the gateway may have shown it.
func currencyOf(e *journal.Entry) string {
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

// outcomeOf returns the code on which the state of an entry rests, and its error.
func outcomeOf(e *journal.Entry) (code cardgateway.Code, err error) {
	var t *cardgateway.Transaction
	var r *cardgateway.Refund
	if e.RefundTransactionID() != "" {
		r, err = e.RefundOutcome()
	} else {
		t, err = e.Outcome()
	}
	switch {
	case t != nil:
		code = t.Code
	case r != nil:
		code = r.Code
	}
	return code, err
}

// why says in a few words what the state of an entry rests on.
func why(e *journal.Entry) string {
	code, err := outcomeOf(e)
	if e.Conflict() {
		return "outcomes that cannot all be true; a person has to look"
	}
	switch e.State() {
	case journal.NotSent:
		if slices.ContainsFunc(e.Evidence, func(ev journal.Evidence) bool { return ev.Invalid }) {
			return "it violated a limit, and nothing was sent"
		}
		return "it is proved that nothing was sent"
	case journal.Refused:
		refused, _ := errors.AsType[*cardgateway.RefusedError](err)
		return refusalText(refused.HTTPStatus, refused.Code)
	case journal.PresumedAbsent:
		return "the gateway does not know it" + lastFailure(err)
	case journal.Pending:
		return pendingText(code)
	case journal.Abandoned:
		return "the cardholder has not come"
	case journal.Declined, journal.Succeeded:
		return fmt.Sprintf("code %d, not acknowledged", code)
	}
	return unknownText(e) + lastFailure(err)
}

func refusalText(status int, code cardgateway.Code) string {
	text := fmt.Sprintf("HTTP %d", status)
	if code != 0 {
		text += fmt.Sprintf(", code %d", code)
	}
	return text
}

func pendingText(code cardgateway.Code) string {
	switch code {
	case cardgateway.CodeRedirect:
		return fmt.Sprintf("it waits for the cardholder (code %d)", code)
	case cardgateway.CodeFailed:
		return fmt.Sprintf("a card was declined (code %d), another one can be tried", code)
	}
	return fmt.Sprintf("in processing (code %d)", code)
}

func unknownText(e *journal.Entry) string {
	if isSeen(e) {
		return "the gateway shows the id, and nothing certain of it"
	}
	sender := e.Intent().Sender
	if slices.ContainsFunc(e.Evidence, func(ev journal.Evidence) bool {
		return ev.Source == journal.SourceAnswer && ev.Sender == sender
	}) {
		return "its call ended without a certain answer"
	}
	return "no response is recorded: it is in flight, or its program died"
}

// isSeen reports whether the gateway has shown the id in a form that says nothing certain.
func isSeen(e *journal.Entry) bool {
	return slices.ContainsFunc(e.Evidence, func(ev journal.Evidence) bool { return ev.Seen })
}

// lastFailure is why the gateway could not be asked, in an entry that Recover gives.
func lastFailure(err error) string {
	unknown, ok := errors.AsType[*cardgateway.OutcomeUnknownError](err)
	if !ok {
		return ""
	}
	causes, ok := unknown.Cause.(interface{ Unwrap() []error })
	if !ok {
		return ""
	}
	all := causes.Unwrap()
	return "; the query failed: " + exit.Explain(all[len(all)-1]).Text
}

// journalColumns are what is shown of an entry.
func journalColumns(zone *time.Location) []tabular.Column[journal.Entry] {
	type row = journal.Entry
	return []tabular.Column[row]{
		tabular.ColumnOf("begunAt", "since", func(r *row) any { return terminal.Wall(r.Begun.At.In(zone)) }),
		tabular.ColumnOf("at", "", func(r *row) any { return r.Begun.At.In(zone).Format(time.RFC3339) }),
		tabular.ColumnOf("kind", "kind", func(r *row) any { return kindOfEntry(r) }),
		tabular.ColumnOf("id", "id", func(r *row) any { return idOf(r) }),
		tabular.ColumnOf("state", "state", func(r *row) any { return stateOf(r) }),
		tabular.ColumnOf("amount", "amount", func(r *row) any { return r.Begun.Amount }),
		tabular.ColumnOf("currency", "currency", func(r *row) any { return currencyOf(r) }),
		tabular.ColumnOf("uniqueId", "", func(r *row) any { return uniqueIDOf(r) }),
		tabular.ColumnOf("orderId", "", func(r *row) any { return r.Begun.OrderID }),
		tabular.ColumnOf("operation", "", func(r *row) any { return r.Begun.Operation }),
		tabular.ColumnOf("evidence", "", func(r *row) any { return len(r.Evidence) }),
		tabular.ColumnOf("lastAt", "", func(r *row) any { return lastAt(r).In(zone).Format(time.RFC3339) }),
		tabular.ColumnOf("why", "why", func(r *row) any { return tabular.Reason(why(r)) }),
	}
}

// lastAt is when something became known of an entry last.
func lastAt(e *journal.Entry) time.Time {
	if n := len(e.Evidence); n > 0 {
		return e.Evidence[n-1].At
	}
	return e.Begun.At
}
