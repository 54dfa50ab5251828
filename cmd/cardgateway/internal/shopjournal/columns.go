package shopjournal

import (
	"time"

	"github.com/cardgateway/cardgateway-go/internal/reconcile/tabular"
	"github.com/cardgateway/cardgateway-go/internal/reconcile/terminal"
	"github.com/cardgateway/cardgateway-go/journal"
)

// Columns are what is shown of an entry.
func Columns(zone *time.Location) []tabular.Column[journal.Entry] {
	type row = journal.Entry
	return []tabular.Column[row]{
		tabular.ColumnOf("begunAt", "since", func(r *row) any { return terminal.Wall(r.Begun.At.In(zone)) }),
		tabular.ColumnOf("at", "", func(r *row) any { return r.Begun.At.In(zone).Format(time.RFC3339) }),
		tabular.ColumnOf("kind", "kind", func(r *row) any { return Kind(r) }),
		tabular.ColumnOf("id", "id", func(r *row) any { return idOf(r) }),
		tabular.ColumnOf("state", "state", func(r *row) any { return r.State().String() }),
		tabular.ColumnOf("amount", "amount", func(r *row) any { return r.Begun.Amount }),
		tabular.ColumnOf("currency", "currency", func(r *row) any { return Currency(r) }),
		tabular.ColumnOf("uniqueId", "", func(r *row) any { return uniqueIDOf(r) }),
		tabular.ColumnOf("orderId", "", func(r *row) any { return r.Begun.OrderID }),
		tabular.ColumnOf("operation", "", func(r *row) any { return r.Begun.Operation }),
		tabular.ColumnOf("evidence", "", func(r *row) any { return len(r.Evidence) }),
		tabular.ColumnOf("lastAt", "", func(r *row) any { return lastAt(r).In(zone).Format(time.RFC3339) }),
		tabular.ColumnOf("why", "why", func(r *row) any { return tabular.Reason(Why(r)) }),
	}
}
