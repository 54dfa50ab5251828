package report

import (
	"fmt"
	"strings"
	"time"

	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/amount"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/reconcile/books"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/reconcile/match"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/tabular"
)

// Columns returns the columns of a difference. Zone is that of the gateway; now is the time of the comparison.
func Columns(zone *time.Location, now time.Time) []tabular.Column[match.Difference] {
	type row = match.Difference
	at := func(t time.Time) string { return tabular.Cell(tabular.Instant(t.In(zone))) }
	gateway := func(d *row, text func(*books.Row) string) any { return joined(d.Gateway, text) }
	list := func(d *row, text func(*books.Line) string) any { return joined(d.Books, text) }
	return []tabular.Column[row]{
		tabular.ColumnOf("class", "class", func(d *row) any { return string(d.Class) }),
		tabular.ColumnOf("kind", "", func(d *row) any { return string(d.Kind) }),
		tabular.ColumnOf("id", "id", func(d *row) any { return d.ID }),
		tabular.ColumnOf("reason", "", func(d *row) any { return d.Reason }),
		tabular.ColumnOf("value", "value", func(d *row) any {
			if d.Class == match.ClassUnreadable || d.Class == match.ClassRowUnreadable { // it is unknown
				return nil
			}
			return amount.Scaled(d.Value, d.Currency)
		}),
		tabular.ColumnOf("currency", "", func(d *row) any { return d.Currency }),
		tabular.ColumnOf("orders", "order", func(d *row) any { return strings.Join(d.Orders(), "; ") }),
		tabular.ColumnOf("at", "", func(d *row) any { return tabular.Instant(d.At.In(zone)) }),
		tabular.ColumnOf("ageDays", "days", func(d *row) any {
			if d.Age(now) < 0 {
				return nil
			}
			return int(d.Age(now) / (24 * time.Hour))
		}),
		tabular.ColumnOf("gateway", "gateway", func(d *row) any {
			return gateway(d, func(r *books.Row) string {
				return fmt.Sprintf("%s %s %s", amount.Text(r.Amount, r.Currency), r.Currency, r.State)
			})
		}),
		tabular.ColumnOf("gatewayAt", "", func(d *row) any { return gateway(d, func(r *books.Row) string { return at(r.At) }) }),
		tabular.ColumnOf("uniqueIds", "", func(d *row) any { return gateway(d, func(r *books.Row) string { return r.UniqueID }) }),
		tabular.ColumnOf("cards", "", func(d *row) any { return gateway(d, func(r *books.Row) string { return r.Card }) }),
		tabular.ColumnOf("payment", "", func(d *row) any {
			if d.Paid == nil {
				return gateway(d, func(r *books.Row) string { return r.Payment })
			}
			return fmt.Sprintf("%s %s %s %s", d.Paid.UniqueID, amount.Text(d.Paid.Amount, d.Paid.Currency), d.Paid.Currency, d.Paid.State)
		}),
		tabular.ColumnOf("list", "your list", func(d *row) any {
			return list(d, func(l *books.Line) string {
				if l.Currency == "" { // the line could not be parsed
					return ""
				}
				return fmt.Sprintf("%s %s %s", amount.Text(l.Amount, l.Currency), l.Currency, l.State)
			})
		}),
		tabular.ColumnOf("listAt", "", func(d *row) any { return list(d, func(l *books.Line) string { return at(l.At) }) }),
		tabular.ColumnOf("lines", "", func(d *row) any { return list(d, lineNumber) }),
		tabular.ColumnOf("listIds", "", func(d *row) any { return list(d, func(l *books.Line) string { return l.ID }) }),
		tabular.ColumnOf("test", "", func(d *row) any { return d.IsTest() }),
		tabular.ColumnOf("openSince", "", func(d *row) any {
			if d.Since.IsZero() {
				return nil
			}
			return d.Since.In(zone).Format("2006-01")
		}),
		tabular.ColumnOf("why", "", func(d *row) any { return d.Why }),
	}
}

// joined joins the texts of several rows with semicolons, without empty ones.
func joined[T any](rows []T, text func(*T) string) string {
	var all []string
	for i := range rows {
		if s := text(&rows[i]); s != "" {
			all = append(all, s)
		}
	}
	return strings.Join(all, "; ")
}

// lineNumber returns the number of a line, and whether it is of another list.
func lineNumber(l *books.Line) string {
	if l.Earlier {
		return fmt.Sprint(l.Line, " of an earlier list")
	}
	return fmt.Sprint(l.Line)
}
