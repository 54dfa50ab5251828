package simulation

import (
	"net/url"
	"regexp"
	"slices"
	"time"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/journal"
)

// A process whose clock is ahead is the same as one whose clock is right and for which everything outside is late by as
// much. So its clock is the world's, and what it writes and reads is shifted at its edges: times in the store, bounds of
// searches, and wall-clock texts in answers.

// clocks returns by how much the times that two processes write can differ.
func (h *History) clocks() time.Duration {
	isOff := slices.ContainsFunc(h.World.Shops, func(s Shop) bool { return s.Settings.ClockAhead != 0 }) ||
		slices.ContainsFunc(h.Steps, func(s Step) bool { return s.Settings != nil && s.Settings.ClockAhead != 0 })
	if isOff {
		return 2 * maxAhead
	}
	return 0
}

// maxAhead is within the hour that the library allows for clocks that differ.
const maxAhead = 45 * time.Minute

// written returns an intent with the times of the process's clock; given the opposite.
func (s *contacts) written(in journal.Intent) journal.Intent {
	in.At = in.At.Add(s.p.settings.ClockAhead)
	return in
}

func (s *contacts) given(e journal.Entry) journal.Entry {
	ahead := s.p.settings.ClockAhead
	if ahead == 0 || e.Begun.At.IsZero() {
		return e
	}
	e.Begun.At = e.Begun.At.Add(-ahead)
	all := make([]journal.Evidence, len(e.Evidence))
	for i, ev := range e.Evidence {
		all[i] = shiftEvidence(ev, -ahead)
	}
	e.Evidence = all
	return e
}

func shiftEvidence(ev journal.Evidence, by time.Duration) journal.Evidence {
	ev.At = ev.At.Add(by)
	if ev.Submission != nil {
		in := *ev.Submission
		in.At = in.At.Add(by)
		ev.Submission = &in
	}
	if ev.Transaction != nil {
		t := *ev.Transaction
		t.TransactionAt = shiftWall(t.TransactionAt, by)
		ev.Transaction = &t
	}
	if ev.Refund != nil {
		r := *ev.Refund
		r.RefundRequestAt, r.RefundAt = shiftWall(r.RefundRequestAt, by), shiftWall(r.RefundAt, by)
		ev.Refund = &r
	}
	return ev
}

// shiftWall undoes shiftAnswer for a time that a process has read, or does it again.
func shiftWall(w cardgateway.WallTime, by time.Duration) cardgateway.WallTime {
	if w.IsZero() {
		return w
	}
	return must(cardgateway.ParseWallTime(w.In(time.UTC).Add(by.Round(time.Second)).Format(time.DateTime)))
}

// shiftQuery returns the URL of a query with bounds by the process's clock.
func shiftQuery(text string, by time.Duration) string {
	u, err := url.Parse(text)
	if err != nil {
		return text
	}
	q := u.Query()
	for _, name := range []string{"startDate", "endingDate"} {
		for _, layout := range []string{time.DateTime, time.DateOnly} {
			if at, err := time.Parse(layout, q.Get(name)); err == nil {
				q.Set(name, at.Add(by).Format(time.DateTime))
				break
			}
		}
	}
	u.RawQuery = q.Encode()
	return u.String()
}

var wallClock = regexp.MustCompile(`"(transactionAt|refundRequestAt|refundAt)":"([0-9: -]{19})"`)

// shiftAnswer returns an answer with wall-clock texts as a clock that is late by as much sees them.
func shiftAnswer(body []byte, by time.Duration) []byte {
	return wallClock.ReplaceAllFunc(body, func(b []byte) []byte {
		at, err := time.Parse(time.DateTime, string(b[len(b)-20:len(b)-1]))
		if err != nil {
			return b
		}
		return append(b[:len(b)-20:len(b)-20], at.Add(by.Round(time.Second)).Format(time.DateTime)+`"`...)
	})
}
