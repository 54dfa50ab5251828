package shopjournal

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/tabular"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/terminal"
	"github.com/cardgateway/cardgateway-go/journal"
)

// State is the value of a flag: a state in whose name a hyphen can replace the space.
type State journal.State

// UnmarshalText parses the name of a state.
func (s *State) UnmarshalText(text []byte) error {
	var words []string
	for state := journal.Unknown; state <= journal.Conflicting; state++ {
		if state.String() == strings.ReplaceAll(string(text), "-", " ") {
			*s = State(state)
			return nil
		}
		words = append(words, asWord(state))
	}
	return fmt.Errorf("there is no state %q of the journal; there are %s", text, strings.Join(words, ", "))
}

// asWord returns a state with a hyphen instead of the space.
func asWord(state journal.State) string { return strings.ReplaceAll(state.String(), " ", "-") }

// Kind returns payment or refund.
func Kind(id journal.ID) string {
	if id.Refund {
		return "refund"
	}
	return "payment"
}

// Currency returns the currency of the payment. A refund is sent without one: it is known only once the gateway has returned it.
func Currency(e *journal.Entry) string {
	currency := e.Intent().Currency
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

// Columns are what is shown of an entry.
func Columns(zone *time.Location) []tabular.Column[journal.Entry] {
	type row = journal.Entry
	return []tabular.Column[row]{
		tabular.ColumnOf("begunAt", "since", func(r *row) any { return terminal.Wall(r.Begun.At.In(zone)) }),
		tabular.ColumnOf("at", "", func(r *row) any { return r.Begun.At.In(zone).Format(time.RFC3339) }),
		tabular.ColumnOf("kind", "kind", func(r *row) any { return Kind(r.ID()) }),
		tabular.ColumnOf("id", "id", func(r *row) any { return r.ID().Text }),
		tabular.ColumnOf("state", "state", func(r *row) any { return r.State().String() }),
		tabular.ColumnOf("amount", "amount", func(r *row) any { return r.Intent().Amount }),
		tabular.ColumnOf("currency", "currency", func(r *row) any { return Currency(r) }),
		tabular.ColumnOf("uniqueId", "", func(r *row) any { return uniqueIDOf(r) }),
		tabular.ColumnOf("orderId", "", func(r *row) any { return r.Intent().OrderID }),
		tabular.ColumnOf("operation", "", func(r *row) any { return r.Intent().Operation }),
		tabular.ColumnOf("evidence", "", func(r *row) any { return len(r.Evidence) }),
		tabular.ColumnOf("lastAt", "", func(r *row) any { return lastAt(r).In(zone).Format(time.RFC3339) }),
		tabular.ColumnOf("why", "why", func(r *row) any { return tabular.Reason(Why(r)) }),
	}
}
