package match

import "time"

// Span is a range of time, without To. The zero Span is unknown.
type Span struct{ From, To time.Time }

// IsZero reports whether the span is unknown.
func (s Span) IsZero() bool { return s.From.IsZero() && s.To.IsZero() }

func (s Span) holds(t time.Time) bool { return !t.Before(s.From) && t.Before(s.To) }
