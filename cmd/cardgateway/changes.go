package main

import (
	"cmp"
	"strings"
	"time"

	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/exit"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/period"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/reconcile/books"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/tabular"
)

type changesCommand struct {
	period.Period `group:"When the changes were seen, in the gateway's time zone; default: ever:"`
	tabular.Flags
}

// Help is shown below the flags.
func (*changesCommand) Help() string {
	return `Lists what the gateway has changed of payments and refunds that had been copied: when it was seen, and the old and the new value. What
was changed after its month had been compared has that month in the column month, or both months if its time was changed: reports tell
its effect on the totals. Changes of which no sync has read the time again are not known: see --again of reconcile sync.

Examples:
  cardgateway reconcile changes --db books.db
  cardgateway reconcile changes --db books.db --month last --format csv >changes.csv`
}

// changeRow is a change, and the months that had been compared before.
type changeRow struct {
	books.Change
	months string
}

// Run lists the changes.
func (k *changesCommand) Run(c *call) (err error) {
	set, err := c.load()
	if err != nil {
		return err
	}
	b, err := c.openBooks(set, false)
	if err != nil {
		return err
	}
	defer func() { err = cmp.Or(err, b.Close()) }()
	whole, err := c.copySpan(b)
	if err != nil {
		return err
	}
	zone := whole.From.Location()
	from, to := time.Time{}, c.now().AddDate(1, 0, 0)
	if k.IsSet() {
		if from, to, err = k.Bounds(c.now(), zone); err != nil {
			return err
		}
	}
	months := map[books.Kind][]books.Month{}
	for _, kind := range []books.Kind{books.Payment, books.Refund} {
		if months[kind], err = b.Months(c.ctx, kind); err != nil {
			return booksError("db: ", err)
		}
	}
	rows := tabular.NewWriter(c.rowFormat(k.Format, false), changeColumns(zone), false, c.out)
	for change, err := range b.Changes(c.ctx, from, to) {
		if err != nil {
			return booksError("db: ", err)
		}
		row := changeRow{Change: change}
		for _, m := range months[change.Kind] {
			holds := func(t time.Time) bool { return !t.Before(m.From) && t.Before(m.To) }
			if change.Seen.UnixMicro() > m.Seen && (holds(change.At) || holds(change.After)) {
				row.months = strings.TrimPrefix(row.months+"; "+m.From.In(zone).Format("2006-01"), "; ")
			}
		}
		if err := rows.Write(&row); err != nil {
			return exit.CannotWrite("rows", err)
		}
	}
	return exit.CannotWrite("rows", rows.Flush())
}

func changeColumns(zone *time.Location) []tabular.Column[changeRow] {
	value := func(r *changeRow, text string, t time.Time) any {
		if r.What == "at" {
			return tabular.Instant(t.In(zone))
		}
		return text
	}
	return []tabular.Column[changeRow]{
		tabular.ColumnOf("seen", "seen", func(r *changeRow) any { return tabular.Instant(r.Seen.In(zone)) }),
		tabular.ColumnOf("month", "month", func(r *changeRow) any {
			if r.months == "" {
				return nil
			}
			return r.months
		}),
		tabular.ColumnOf("kind", "", func(r *changeRow) any { return string(r.Kind) }),
		tabular.ColumnOf("id", "id", func(r *changeRow) any { return r.ID }),
		tabular.ColumnOf("at", "at", func(r *changeRow) any { return tabular.Instant(r.At.In(zone)) }),
		tabular.ColumnOf("what", "what", func(r *changeRow) any { return r.What }),
		tabular.ColumnOf("old", "old", func(r *changeRow) any { return value(r, r.Old, r.At) }),
		tabular.ColumnOf("new", "new", func(r *changeRow) any { return value(r, r.New, r.After) }),
	}
}
