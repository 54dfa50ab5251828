package match

import (
	"time"

	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/reconcile/books"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/terminal"
)

// Span is a range of time, without To. The zero Span is unknown.
type Span struct{ From, To time.Time }

// IsZero reports whether the span is unknown.
func (s Span) IsZero() bool { return s.From.IsZero() && s.To.IsZero() }

// Overlaps reports whether a time is in both.
func (s Span) Overlaps(other Span) bool { return s.From.Before(other.To) && s.To.After(other.From) }

func (s Span) holds(t time.Time) bool { return !t.Before(s.From) && t.Before(s.To) }

// List describes a list of the merchant.
type List struct {
	Read bool // a list was imported
	Span Span // from its first to its last time; zero if it has no times

	IsOther bool // it is that of another month, and is not kept: there can be refunds alone in a month

	SHA256 string // which tells a line that cannot be read from that of another list
}

// Options configure a comparison.
type Options struct {
	Period Span // required, not empty, and within Copy
	Copy   Span // the range in which the copy of the gateway is complete
	Now    time.Time

	// A row within Grace of a limit of the period, the list or the copy is Unchecked if its counterpart is missing, and Timing if
	// that is not final.
	// Zero turns this off.
	Grace time.Duration

	Payments, Refunds List
	Known             Known // differences that the merchant has marked

	// Month is the calendar month that is compared, if the period is one that is over; otherwise zero. Summary.Months are its totals
	// and what did not tie out, for Books.KeepMonths, and what was open at the end of earlier months is looked at again: what was not final then, and
	// is now, counts in this month. A second comparison of the same month has the same result.
	Month Span

	TestPayments bool // the gateway is a test system: its test payments are compared as others are

	Found func(*Difference) error // receives every difference; it may keep what it points to
	// EachRow receives every payment of the gateway in the period, and every refund that was not declined, once each. It may be
	// nil, and must not keep the row.
	EachRow func(books.Kind, *books.Row)
}

// Clock formats a time in the zone of the period.
func (o *Options) Clock(t time.Time) string {
	if t.IsZero() {
		return "without a time"
	}
	return terminal.Wall(t.In(o.Period.From.Location()))
}
