package resolve

import (
	"context"
	"fmt"
	"time"

	"github.com/cardgateway/cardgateway-go/internal/verdict"
)

// evidence is the result of one search.
type evidence[T any] struct {
	approved    []T
	declined    []T
	redirect    *T
	processing  *T
	shown       bool  // it was returned, or may exist: in an unreadable row, or one that was announced but not returned
	codeChanged bool  // a row was returned with two codes: only the next search can decide
	unclear     bool  // a row that is ours, or can be, does not tell its state
	clockApart  bool  // the range may be wrong: absence proves nothing
	otherApp    bool  // a row states another app: the same, as long as it is the only one
	uncertainty error // why absence proves nothing, or nil

	codes map[string]int // of the rows that were seen, by id
}

// found reports whether there is a row with its outcome.
func (e *evidence[T]) found() bool {
	return e.processing != nil || e.redirect != nil || len(e.approved)+len(e.declined) > 0
}

// hasShown reports whether the search has returned a row, with whatever code. A row without an id is another one with another code.
func (e *evidence[T]) hasShown(row Row) bool {
	_, ok := e.codes[row.ID]
	return ok || row.Generated
}

// doubt records why absence proves nothing. The first reason other than ErrDoubtful is kept.
func (e *evidence[T]) doubt(reason error) {
	if e.uncertainty == nil || e.uncertainty == ErrDoubtful {
		e.uncertainty = reason
	}
}

// doubtOurs records that a row which is ours, or can be, does not tell its state, and why.
func (e *evidence[T]) doubtOurs(reason error) {
	e.unclear = true
	e.doubt(reason)
}

// searchOnce searches once, from SentAt until now, and all pages: they shift, and a gateway may ignore the range. The range is wide
// enough for a gateway's clock in any zone.
func (c *Config[T]) searchOnce(ctx context.Context) (evidence[T], error) {
	e := evidence[T]{codes: make(map[string]int)}
	start, last := c.SentAt.Add(-Before), time.Now().Add(After)
	if latest := start.AddDate(maxYears, 0, 0); last.After(latest) {
		last = latest
		e.doubt(errLongAgo)
	}
	missing, hasMore, err := EachPage(start, last, MaxPages, func(start, end time.Time, number int) (Listed, error) {
		page, err := c.Search(ctx, start, end, number)
		if err != nil {
			return Listed{}, err
		}
		return Listed{IDs: c.addPage(page, &e), Total: page.Total}, nil
	})
	e.shown = e.shown || missing > 0
	if missing > 0 || hasMore {
		e.doubtOurs(ErrDoubtful)
	}
	return e, err
}

// addPage adds the rows of a page, and returns their ids. A row that was returned before with the same code counts once.
func (c *Config[T]) addPage(page *Page[T], e *evidence[T]) (ids []string) {
	e.clockApart = e.clockApart || page.ClockApart > maxApart
	if page.Unreadable { // any of these rows may be the one
		e.shown = true
		e.doubtOurs(ErrDoubtful)
	}
	copies := make(map[string]int) // number of rows with the same generated id
	for _, t := range page.Rows {
		row := c.Row(&t)
		if row.Generated {
			copies[row.ID]++
			row.ID = fmt.Sprint(row.ID, " ", row.Code, " ", copies[row.ID])
		}
		if code, known := e.codes[row.ID]; !known {
			e.add(t, &row)
		} else if code != row.Code {
			e.codeChanged = true
			e.doubt(ErrDoubtful)
		}
		e.codes[row.ID] = row.Code
		ids = append(ids, row.ID)
	}
	return ids
}

// add adds the meaning of a row.
func (e *evidence[T]) add(t T, row *Row) {
	if !row.Ours {
		e.shown = e.shown || row.Alike && row.Agrees
		if !row.Expected {
			e.doubt(ErrDoubtful)
		}
		return
	}
	if row.OtherApp {
		e.otherApp = true
		return
	}
	e.shown = true
	switch {
	case !row.Agrees:
		e.doubtOurs(ErrOtherAmount)
	case row.State == verdict.Approved:
		e.approved = append(e.approved, t)
	case row.State == verdict.Declined:
		e.declined = append(e.declined, t)
	case row.State == verdict.Redirect:
		e.redirect = &t
	case row.State == verdict.Processing:
		e.processing = &t
	default:
		e.doubtOurs(errOtherCode)
	}
}
