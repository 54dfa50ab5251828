package match

import "time"

// DefaultGrace is the usual value of Options.Grace.
const DefaultGrace = 48 * time.Hour

// List describes a list of the merchant.
type List struct {
	Read bool // a list was imported
	Span Span // from its first to its last time; zero if it has no times
}

// Options configure a comparison.
type Options struct {
	Period Span // required, and within Copy
	Copy   Span // the range in which the copy of the gateway is complete
	Now    time.Time

	// A row within Grace of a limit of the period, the list or the copy is Unchecked if its counterpart is missing, and Timing if
	// that is not final.
	// Zero turns this off.
	Grace time.Duration

	Payments, Refunds List
	Known             Known // differences that the merchant has marked

	Found func(*Difference) error // receives every difference; it may keep what it points to
	// Gateway receives every payment of the gateway in the period, and every refund that was not declined, once each. It may be
	// nil, and must not keep the row.
	Gateway func(Kind, *Row)
}
