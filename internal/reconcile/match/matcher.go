package match

import (
	"context"
	"time"
)

// matcher is the state of one run.
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

// skip counts a line of another period, or one that is newer than the copy.
func (m *matcher) skip(at time.Time) {
	if !at.IsZero() && !at.Before(m.Copy.To) {
		m.summary.Newer++
		return
	}
	m.summary.Elsewhere++
}

// inPeriod reports whether a row of the gateway belongs to the period. A row without a time does.
func (m *matcher) inPeriod(t time.Time) bool { return t.IsZero() || m.Period.holds(t) }

// atEdge reports whether a row of the gateway is so near a limit of the period and of the list that its line may be outside the
// list.
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

// clock formats a time in the zone of the period.
func (m *matcher) clock(t time.Time) string {
	return t.In(m.Period.From.Location()).Format(time.DateTime)
}

// bothClocks formats a time in the zone of the period and in UTC.
func (m *matcher) bothClocks(t time.Time) string {
	return m.clock(t) + " (" + t.UTC().Format(time.DateTime) + " UTC)"
}

// batch is the number of ids in one query.
const batch = 500
