package report

import (
	"time"

	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/reconcile/books"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/reconcile/match"
	"github.com/shopspring/decimal"
)

// daily adds up payments and refunds by day and currency.
type daily struct {
	period     match.Span
	currencies map[string]map[time.Time]*dayOf // by date
}

// dayOf contains the totals of one day in one currency.
type dayOf struct {
	approved, declined int
	value, refunded    decimal.Decimal
}

func (d *dayOf) add(other *dayOf) {
	d.approved += other.approved
	d.declined += other.declined
	d.value = d.value.Add(other.value)
	d.refunded = d.refunded.Add(other.refunded)
}

// newDaily creates the days of a period, in the zone of its start.
func newDaily(period match.Span) *daily {
	return &daily{period: period, currencies: map[string]map[time.Time]*dayOf{}}
}

// add adds a payment or a refund of the period.
func (d *daily) add(kind books.Kind, r *books.Row) {
	if r.Currency == "" || r.At.IsZero() {
		return
	}
	days := d.currencies[r.Currency]
	if days == nil {
		days = map[time.Time]*dayOf{}
		d.currencies[r.Currency] = days
	}
	at := dateOf(r.At.In(d.period.From.Location()))
	day := days[at]
	if day == nil {
		day = &dayOf{}
		days[at] = day
	}
	switch {
	case kind == books.Refund && r.State == books.StateApproved:
		day.refunded = day.refunded.Add(r.Amount)
	case kind == books.Payment && r.State == books.StateApproved:
		day.approved++
		day.value = day.value.Add(r.Amount)
	case kind == books.Payment && r.State == books.StateDeclined:
		day.declined++
	}
}

// dateOf returns the date of a time, as midnight in UTC.
func dateOf(t time.Time) time.Time {
	return time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, time.UTC)
}

// maxDays is the maximum number of daily bars. A longer period has monthly bars.
const maxDays = 400

// series returns the bars of a currency, including empty ones, the first day of each, and their unit (day or month).
func (d *daily) series(currency string) (bars []dayOf, starts []time.Time, unit string) {
	from := d.period.From
	first, last := dateOf(from), dateOf(d.period.To.In(from.Location()).Add(-1))
	unit = "day"
	if last.Sub(first) >= maxDays*24*time.Hour {
		unit = "month"
	}
	days := d.currencies[currency]
	for at := first; !at.After(last); at = at.AddDate(0, 0, 1) {
		if unit == "day" || at.Equal(first) || at.Day() == 1 {
			bars, starts = append(bars, dayOf{}), append(starts, at)
		}
		if day := days[at]; day != nil {
			bars[len(bars)-1].add(day)
		}
	}
	return bars, starts, unit
}
