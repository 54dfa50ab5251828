// Package report writes the result of a comparison as a self-contained HTML page, as CSV and as JSON.
package report

import (
	"time"

	"github.com/cardgateway/cardgateway-go/internal/reconcile/books"
	"github.com/cardgateway/cardgateway-go/internal/reconcile/match"
)

// Page is the content of a report.
type Page struct {
	Period match.Span // times are shown in the zone of From
	Grace  time.Duration
	Now    time.Time // time of the comparison

	Info  books.Info // of the copy and the lists
	Known string     // file of known differences; may be empty

	Summary *match.Summary
	Rows    *Rows
	Days    *Days

	Demonstration bool
	OtherApps     books.OtherApps
	Notes         []string // limits of the comparison, such as where a list ends
	Nearest       []string // the nearest days with payments, if the period is empty
	Command       string   // the command that creates this report again
}

// rangeText formats the period, such as "October 2026".
func (p *Page) rangeText() string {
	from, to := p.Period.From, p.Period.To.In(p.Period.From.Location())
	date := func(t time.Time) time.Time { return time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, time.UTC) }
	beginsDay := func(t time.Time) bool { return t.Add(-1).Day() != t.Day() } // not midnight, which some days do not have
	if !beginsDay(from) || !beginsDay(to) {
		return p.clock(from) + " to " + p.clock(to)
	}
	from, to = date(from), date(to)
	switch {
	case from.Day() == 1 && from.AddDate(0, 1, 0).Equal(to):
		return from.Format("January 2006")
	case from.Day() == 1 && from.Month() == 1 && from.AddDate(1, 0, 0).Equal(to):
		return from.Format("2006")
	case from.AddDate(0, 0, 1).Equal(to):
		return from.Format("2 January 2006")
	}
	return from.Format("2 January 2006") + " to " + to.AddDate(0, 0, -1).Format("2 January 2006")
}

func (p *Page) clock(t time.Time) string {
	return t.In(p.Period.From.Location()).Format("2006-01-02 15:04:05")
}
