// Package match compares a merchant's books with the copy of a gateway, row by row, and classifies every difference.
package match

import (
	"context"
	"time"

	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/reconcile/books"
)

// Run compares, and passes every difference to o.Found. Memory grows with the number of differences that concern several rows, that
// did not tie out in a month, have changed since one was compared, or are refunded test payments, not with the number of rows.
func Run(ctx context.Context, b *books.Books, o Options) (*Summary, error) {
	if o.EachRow == nil {
		o.EachRow = func(books.Kind, *books.Row) {}
	}
	m := &matcher{ctx: ctx, books: b, Options: o, summary: &Summary{}, testPayments: map[string]bool{}, causes: newCauses()}
	m.summary.IsPart = o.Month.From.Before(o.Period.From) && !o.Month.IsZero()
	var err error
	if m.lastChange, err = b.LastChange(ctx); err != nil {
		return nil, err
	}
	payments := &kindMatcher{matcher: m, kind: books.Payment, list: o.Payments, findings: findings{}}
	refunds := &kindMatcher{matcher: m, kind: books.Refund, list: o.Refunds, findings: findings{}}
	for _, k := range []*kindMatcher{payments, refunds} {
		for _, read := range []func() error{k.readEarlier, k.readChanges, k.unreadables, k.unreadRows} {
			if err := read(); err != nil {
				return nil, err
			}
		}
	}
	if o.Payments.Read {
		first, err := b.FirstPeriod(ctx, o.Period.From)
		if err != nil {
			return nil, err
		}
		if !first.Equal(o.Period.From) {
			m.summary.ListUsed = first
		}
		if err := payments.paidTwice(); err != nil {
			return nil, err
		}
		if err := payments.compare(); err != nil {
			return nil, err
		}
	}
	if err := refunds.parents(); err != nil {
		return nil, err
	}
	if o.Refunds.Read {
		if err := refunds.compare(); err != nil {
			return nil, err
		}
	}
	for _, k := range []*kindMatcher{payments, refunds} {
		if err := k.tellChanges(); err != nil {
			return nil, err
		}
	}
	if !o.Month.IsZero() {
		if err := m.lookBack(payments, refunds); err != nil {
			return nil, err
		}
	}
	m.summary.Causes = m.causes.find(m.summary)
	m.summary.finish(m.Known.unused())
	return m.summary, nil
}

// matcher is the state of one run.
type matcher struct {
	Options
	ctx     context.Context
	books   *books.Books
	summary *Summary

	testPayments map[string]bool // those with refunds, by the gateway's id
	causes       *causes
	lastChange   int64 // the mark of what the copy has now
}

// found counts a difference and passes it on.
func (m *matcher) found(d *Difference) (finding, error) {
	d.Known, d.Reason = m.Known.covers(d)
	m.summary.add(d)
	return finding{d.Class, d.Known}, m.Found(d)
}

// skip counts a line of the list that is of another period, or newer than the copy.
func (m *matcher) skip(l *books.Line) {
	switch {
	case l.Earlier:
	case l.State == books.StateApproved && l.At.After(m.Now.Add(2*day)): // more than the clocks of the world differ
		m.summary.InFuture++
	case !l.At.IsZero() && !l.At.Before(m.Copy.To):
		m.summary.Newer++
	default:
		m.summary.Elsewhere++
	}
}

// inPeriod reports whether a row of the gateway belongs to the period. A row without a time does.
func (m *matcher) inPeriod(t time.Time) bool { return t.IsZero() || m.Period.holds(t) }

// bothClocks formats a time in the zone of the period and in UTC.
func (m *matcher) bothClocks(t time.Time) string {
	if t.IsZero() {
		return m.Clock(t)
	}
	return m.Clock(t) + " (" + t.UTC().Format(time.DateTime) + " UTC)"
}
