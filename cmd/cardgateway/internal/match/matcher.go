package match

import (
	"context"
	"time"
)

// matcher is one run.
type matcher struct {
	Options
	ctx     context.Context
	books   Books
	summary *Summary
}

// found counts a difference and passes it on.
func (m *matcher) found(d *Difference) (mark, error) {
	d.Known, d.Reason = m.Known.covers(d)
	m.summary.add(d, m.Now)
	return mark{d.Class, d.Known}, m.Found(d)
}

// inPeriod reports whether a row of the gateway is one of the period. One without a time may be.
func (m *matcher) inPeriod(t time.Time) bool { return t.IsZero() || m.Period.holds(t) }

// atEdge reports whether a row of the gateway lies so near to an edge of what the list covers that its line may lie beyond.
func (m *matcher) atEdge(t time.Time, list Span) bool {
	if t.IsZero() {
		return false
	}
	from, to := m.Period.From, m.Period.To
	if !list.IsZero() {
		if list.From.Before(from) {
			from = list.From
		}
		if list.To.After(to) {
			to = list.To
		}
	}
	return t.Before(from.Add(m.Grace)) || !t.Before(to.Add(-m.Grace))
}

// clock has a time on the clock of the period.
func (m *matcher) clock(t time.Time) string {
	return t.In(m.Period.From.Location()).Format(time.DateTime)
}

// bothClocks has a time on the clock of the period and in UTC.
func (m *matcher) bothClocks(t time.Time) string {
	return m.clock(t) + " (" + t.UTC().Format(time.DateTime) + " UTC)"
}

// batch is how many ids are looked up at once.
const batch = 500
