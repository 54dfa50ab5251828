// Package resolve resolves an unknown outcome: it searches the gateway repeatedly, until the rows that it returns tell the
// outcome of a payment or a refund. It knows neither HTTP nor the members of a row: its caller provides the meaning of a
// row.
package resolve

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/cardgateway/cardgateway-go/internal/civil"
	"github.com/cardgateway/cardgateway-go/internal/retry"
)

// Result is the result of Run.
type Result[T any] struct {
	Finding Finding
	Row     *T    // with the outcome; if that is unknown, the last row that was found, or nil
	Rows    []T   // for Conflict
	Seen    bool  // the gateway has returned it, now or before
	Cause   error // why the outcome is unknown
}

// Finding says what Run has found out.
type Finding int

// The findings.
const (
	Unknown  Finding = iota
	Found            // Row is approved, waiting for the cardholder, or still in processing at the end of Wait
	Declined         // Row is declined, and that is final
	Conflict         // Rows has two successes of one payment
	Absent           // the gateway responded, and does not have it
)

const (
	firstPause = time.Second
	maxPause   = 30 * time.Second
)

// Run searches until the outcome is known, Wait has passed, or ctx ends.
func Run[T any](ctx context.Context, c *Config[T]) Result[T] {
	deadline := time.Now().Add(cmp.Or(c.Wait, DefaultWait))
	seen := c.Seen
	var row, processing *T // the last one that was found, and the last that was in processing
	for again := (retry.Backoff{Pause: firstPause, Max: maxPause}); ; {
		e, searchErr := c.searchOnce(ctx)
		seen = seen || e.shown
		if processing = cmp.Or(e.processing, processing); e.found() && processing != nil && !e.hasShown(c.Row(processing)) {
			e.processing = processing // another replica has shown it
		}
		switch {
		case e.found():
		case e.otherApp:
			e.doubt(errOtherApp)
		case seen:
			e.doubt(errSeenBefore)
		}
		row = cmp.Or(c.newest(&e), row)
		result, final := c.decide(&e, searchErr, time.Until(deadline) <= 0)
		if !final {
			if ended := retry.Sleep(ctx, max(0, min(again.Next(), time.Until(deadline)))); ended != nil {
				result, final = Result[T]{Cause: ended}, true
			}
		}
		if final {
			if result.Finding == Unknown {
				result.Row = row
			}
			result.Seen = seen
			return result
		}
	}
}

// decide returns what the evidence of one search means, and whether that is final; last is set for the last search.
func (c *Config[T]) decide(e *evidence[T], searchErr error, last bool) (result Result[T], final bool) {
	var notFinal error // why declined rows are not final
	if c.SentAgain {
		notFinal = ErrRepeated
	} else if len(e.declined) > 0 {
		notFinal = c.NotFinal(e.declined)
	}
	certain := e.uncertainty == nil && searchErr == nil
	unknown := func(cause error) (Result[T], bool) { return Result[T]{Cause: cause}, true }
	switch {
	case !c.areCharges(e.approved):
		return Result[T]{Finding: Conflict, Rows: slices.Concat(e.approved, e.declined)}, true
	case len(e.approved) > 1 && c.SentAgain:
		return Result[T]{Cause: ErrRepeated}, last
	case len(e.approved) > 0 && !e.codeChanged:
		return Result[T]{Finding: Found, Row: &e.approved[0]}, true
	case e.redirect != nil && e.processing == nil && !e.codeChanged && !e.unclear:
		return Result[T]{Finding: Found, Row: e.redirect}, true
	case certain && len(e.declined) > 0 && e.processing == nil && !e.codeChanged && notFinal == nil:
		return Result[T]{Finding: Declined, Row: c.latest(e.declined)}, true
	case !last:
		return Result[T]{}, false
	case searchErr != nil:
		return unknown(searchErr)
	case e.processing != nil && (c.Attempts || len(e.declined) == 0) && !e.codeChanged:
		return Result[T]{Finding: Found, Row: e.processing}, true
	case e.uncertainty != nil:
		return unknown(e.uncertainty)
	case len(e.declined) > 0 && e.processing == nil:
		return unknown(notFinal) // otherwise it would have been final above
	case e.found():
		return unknown(ErrDoubtful)
	case e.clockApart:
		return unknown(errClock)
	}
	return Result[T]{Finding: Absent}, true
}

// areCharges sorts approved rows by time, and reports whether they are at most one success: the payment, and later charges of the
// subscription that it began.
func (c *Config[T]) areCharges(approved []T) bool {
	slices.SortStableFunc(approved, func(a, b T) int { return cmp.Compare(c.Row(&a).At, c.Row(&b).At) })
	for i := 1; i < len(approved); i++ {
		before, at := c.Row(&approved[i-1]).At, c.Row(&approved[i]).At
		if c.Gap == 0 || before == civil.None || at-before < civil.Time(c.Gap/time.Second) {
			return false
		}
	}
	return true
}

// newest returns the row to return with an unknown outcome, or nil.
func (c *Config[T]) newest(e *evidence[T]) *T {
	if e.processing != nil || len(e.declined) == 0 {
		return e.processing
	}
	return c.latest(e.declined)
}

// latest returns the row with the latest time; if several have it, the last of them.
func (c *Config[T]) latest(rows []T) *T {
	latest := &rows[0]
	for i := range rows {
		if c.Row(&rows[i]).At >= c.Row(latest).At {
			latest = &rows[i]
		}
	}
	return latest
}
