package match

import "time"

// DefaultGrace is how near to an edge a row may lack its counterpart without being an error.
const DefaultGrace = 48 * time.Hour

// List describes a list of the merchant.
type List struct {
	Read bool // there is one
	Span Span // of its times; unknown if it has none
}

// Options configure a comparison.
type Options struct {
	Period Span // required, and within Copy
	Copy   Span // what the copy of the gateway has without a gap
	Now    time.Time

	// Grace is how near to an edge of what is compared a row may lack its counterpart: it is then Timing. Zero means not
	// at all.
	Grace time.Duration

	Payments, Refunds List
	Known             Known // differences that the merchant has marked

	Found func(*Difference) error // receives every difference; it may keep what it points to
	// Gateway gets every payment of the gateway in the period, and every refund that was not refused, each once. It may be
	// nil, and must not keep the row.
	Gateway func(Kind, *Row)
}
