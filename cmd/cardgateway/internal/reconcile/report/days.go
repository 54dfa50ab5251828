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
	currencies map[string]map[int]*dayOf
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
	return &daily{period: period, currencies: map[string]map[int]*dayOf{}}
}

// add adds a payment or a refund of the period.
func (d *daily) add(kind books.Kind, r *books.Row) {
	if r.Currency == "" || r.At.IsZero() {
		return
	}
	days := d.currencies[r.Currency]
	if days == nil {
		days = map[int]*dayOf{}
		d.currencies[r.Currency] = days
	}
	n := dayNumber(r.At.In(d.period.From.Location()))
	day := days[n]
	if day == nil {
		day = &dayOf{}
		days[n] = day
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

// dayNumber returns the number of days from 1970-01-01 to the date of t.
func dayNumber(t time.Time) int {
	return int(time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, time.UTC).Unix() / (24 * 60 * 60))
}

// dayStart is the inverse of dayNumber, as a date in UTC.
func dayStart(n int) time.Time { return time.Unix(int64(n)*24*60*60, 0).UTC() }

// maxDays is the maximum number of daily bars. A longer period has monthly bars.
const maxDays = 400

// series returns the bars of a currency, including empty ones, the first day of each, and their unit (day or month).
func (d *daily) series(currency string) (bars []dayOf, starts []time.Time, unit string) {
	from := d.period.From
	first, last := dayNumber(from), dayNumber(d.period.To.In(from.Location()).Add(-1))
	unit = "day"
	if last-first >= maxDays {
		unit = "month"
	}
	days := d.currencies[currency]
	for n := first; n <= last; n++ {
		start := dayStart(n)
		if unit == "day" || n == first || start.Day() == 1 {
			bars, starts = append(bars, dayOf{}), append(starts, start)
		}
		if day := days[n]; day != nil {
			bars[len(bars)-1].add(day)
		}
	}
	return bars, starts, unit
}
