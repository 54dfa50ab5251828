package match

import "time"

// Span is a range of time; To is not in it. The zero Span is unknown.
type Span struct{ From, To time.Time }

// IsZero reports whether it is unknown.
func (s Span) IsZero() bool { return s.From.IsZero() && s.To.IsZero() }

func (s Span) holds(t time.Time) bool { return !t.Before(s.From) && t.Before(s.To) }
