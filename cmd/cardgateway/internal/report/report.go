// Package report writes what a comparison of books found as one HTML page that needs nothing from outside.
package report

import (
	"time"

	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/books"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/match"
)

// Page is what a report says.
type Page struct {
	Period match.Span // its times are shown on the clock of From
	Grace  time.Duration
	Now    time.Time // when the sides were compared

	Gateway, AppID string     // empty for none
	Copy           match.Span // what the copy has
	LastSync       time.Time
	Payments       books.ListInfo
	Refunds        books.ListInfo // its ReadAt is zero if there was none
	Known          string         // file of the marks; empty if there was none

	Summary *match.Summary
	Rows    *Rows
	Days    *Days

	Demonstration bool
	Notes         []string // what the reader must know, such as where a list ends
	Nearest       []string // of an empty period: the nearest days with payments
	CSV, JSON     string   // names of the files beside the page
	Command       string   // how to make this page again

	Text func(string) string // makes outside text harmless; nil leaves it as it is
}

// rangeText names the period as people do.
func (p *Page) rangeText() string {
	from, to := p.Period.From, p.Period.To.In(p.Period.From.Location())
	isMidnight := func(t time.Time) bool {
		return t.Equal(time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, t.Location()))
	}
	switch {
	case !isMidnight(from) || !isMidnight(to):
		return p.clock(from) + " to " + p.clock(to)
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
