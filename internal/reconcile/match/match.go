// Package match compares a merchant's books with the copy of a gateway, row by row, and classifies every difference.
package match

import (
	"context"
	"errors"
)

// Run compares, and passes every difference to o.Found. Memory grows with the number of differences that concern several rows,
// not with the number of rows.
func Run(ctx context.Context, b Books, o Options) (*Summary, error) {
	if !o.Period.From.Before(o.Period.To) {
		return nil, errors.New("match: the period is empty")
	}
	if o.Grace < 0 {
		return nil, errors.New("match: the grace is below zero")
	}
	if o.Gateway == nil {
		o.Gateway = func(Kind, *Row) {}
	}
	m := &matcher{ctx: ctx, books: b, Options: o, summary: &Summary{Lines: map[Kind]int{}}}
	m.Known.begin()
	marks := map[Kind]marks{Payment: {}, Refund: {}}
	if err := m.unreadables(marks); err != nil {
		return nil, err
	}
	if o.Payments.Read {
		if err := m.paidTwice(marks[Payment]); err != nil {
			return nil, err
		}
		if err := m.compare(m.payments(marks[Payment])); err != nil {
			return nil, err
		}
	}
	if err := m.parents(marks[Refund]); err != nil {
		return nil, err
	}
	if o.Refunds.Read {
		if err := m.compare(m.refunds(marks[Refund])); err != nil {
			return nil, err
		}
	}
	m.summary.finish(m.Known.unused())
	return m.summary, nil
}
