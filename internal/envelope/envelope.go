// Package envelope reads a page of a batch query ("Page envelope"): what the gateway says about the page, and its rows in
// sequence. It does not know what a row is.
package envelope

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/cardgateway/cardgateway-go/internal/wire"
)

// Page is what the gateway says about a page. The counts are the gateway's, not those of the received rows.
type Page struct {
	Code       int
	Message    string
	Reason     string    // more text about a refusal
	Timestamp  time.Time // zero if it cannot be read: nothing depends on it
	CurrPage   int
	PageSize   int
	TotalCount int
	TotalPage  int
	SaysRows   bool   // it has rows, or says how many there are
	Unreadable string // the first member that could not be read; empty if all could
}

// Read reads a page, which is an object, with at most so many rows. It calls row for each element of the data; row must
// read exactly the element, and reports whether it is usable. Unusable rows are left out.
//
// The reader's Finish reports whether the document was complete.
func Read[T any](r *wire.Reader, maxRows int, row func(i int, dst *T) bool) (p *Page, rows []T) {
	p = new(Page)
	for name := range r.Members {
		var ok, said bool
		switch string(name) {
		case "code":
			ok = r.Code(&p.Code)
		case "message":
			ok = r.Message(&p.Message)
		case "transactionMessage":
			r.Message(&p.Reason)
			ok = true
		case "timestamp":
			r.Instant(&p.Timestamp)
			ok = true
		case "currPage":
			ok, _ = r.Count(&p.CurrPage)
		case "pageSize":
			ok, _ = r.Count(&p.PageSize)
		case "totalCount":
			ok, said = r.Count(&p.TotalCount)
		case "totalPage":
			ok, said = r.Count(&p.TotalPage)
			said = said && p.TotalPage == 0 // no page means no row
		case "data":
			if ok = r.Peek() == '['; ok {
				said = true
				rows = readRows(r, min(p.PageSize, p.TotalCount), maxRows, row)
			} else {
				ok = r.Value().Kind == wire.Null
			}
		default: // in another spelling, an essential member could say something else
			r.Value()
			ok = !slices.ContainsFunc([]string{"code", "totalCount", "totalPage", "data"}, func(known string) bool { return strings.EqualFold(known, string(name)) })
		}
		p.SaysRows = p.SaysRows || said
		if !ok && p.Unreadable == "" {
			p.Unreadable = string(name)
		}
	}
	if p.Unreadable == "" && p.SaysRows && len(rows) == 0 && p.TotalCount == 0 && p.CurrPage <= 1 && p.TotalPage > 1 { // it contradicts itself
		p.Unreadable = "totalPage"
	}
	return p, rows
}

// readRows reads the rows of a page, of which so many were announced. There may be more than were requested: an older
// edition of the interface has no pageSize.
func readRows[T any](r *wire.Reader, announced, maxRows int, row func(i int, dst *T) bool) []T {
	const minRow = 100 // bytes; an announced number alone does not allocate memory
	rows := make([]T, 0, max(0, min(announced, maxRows, r.Remaining()/minRow)))
	for i := range r.Elements {
		if i == maxRows {
			r.Fail(fmt.Errorf("has more than %d rows", maxRows))
			break
		}
		rows = append(rows, *new(T))
		if last := len(rows) - 1; !row(i, &rows[last]) {
			rows = rows[:last]
		}
	}
	return rows
}
