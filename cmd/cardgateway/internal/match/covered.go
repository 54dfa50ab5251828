package match

import (
	"context"
	"time"
)

// Covered returns the period that a list without times covers: from the first to the last approved payment of the gateway that
// is in it. The zero Span means that there is none.
func Covered(ctx context.Context, b Books, whole Span) (Span, error) {
	var span Span
	key, keyOfLine := func(r *Row) string { return r.ID }, func(l *Line) string { return l.ID }
	err := join(groups("payments", convert(b.Orders(ctx, whole.From, whole.To), ofOrder), key), key,
		groups("lines of the list", convert(b.ListedPayments(ctx), ofListedPayment), keyOfLine), keyOfLine,
		func(rows []Row, lines []Line) error {
			if len(lines) == 0 {
				return nil
			}
			for i := range rows {
				if at := rows[i].At; rows[i].State == approved && !at.IsZero() {
					if span.From.IsZero() || at.Before(span.From) {
						span.From = at
					}
					if !at.Before(span.To) {
						span.To = at.Add(time.Second)
					}
				}
			}
			return nil
		})
	return span, err
}
