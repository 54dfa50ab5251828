package main

import (
	"time"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/exit"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/period"
	"github.com/cardgateway/cardgateway-go/internal/resolve"
)

// idSearch searches for an id.
type idSearch[T any] struct {
	page    func(from, to time.Time, n int) (*cardgateway.Page[T], error)
	matches func(*T) bool   // some gateways also return rows with other ids
	key     func(*T) string // identifies a row; empty if it has none
}

// all returns every row with the id since from once. It searches as far back and ahead as Resolve, because the clock of this
// machine and the setting for the gateway's zone can be wrong: a refund that is not seen is made again. It is not a walk: a
// walk compares the rows with the total that the gateway announces, and ends in an error if the gateway returns rows with other ids.
func (s *idSearch[T]) all(from, now time.Time) (found []*T, err error) {
	const maxRange = 28 * 24 * time.Hour // a query covers at most one month
	from, to := from.Add(-resolve.Before), now.Add(resolve.After)
	seen := map[string]bool{}
	for ; from.Before(to); from = from.Add(maxRange) {
		rows, err := s.window(from, period.Earlier(from.Add(maxRange), to))
		if err != nil {
			return nil, err
		}
		for _, row := range rows { // adjacent windows share their limits
			if key := s.key(row); s.matches(row) && !seen[key] {
				seen[key] = key != ""
				found = append(found, row)
			}
		}
	}
	return found, nil
}

// window reads all pages of a range. Fewer rows than the gateway announces are an error: a missing row may be one with the id.
func (s *idSearch[T]) window(from, to time.Time) (rows []*T, err error) {
	const maxPages = 100
	seen := map[string]bool{}
	for n := 1; n <= maxPages; n++ {
		page, err := s.page(from, to, n)
		if err != nil {
			return nil, err
		}
		known := len(rows)
		for i := range page.Data {
			row := &page.Data[i]
			if key := s.key(row); !seen[key] {
				seen[key] = key != ""
				rows = append(rows, row)
			}
		}
		// Some gateways announce only what they return on a page, which is then full: it has a round number of rows.
		if n < page.TotalPage && len(page.Data) > 0 || len(rows) > known && len(page.Data)%10 == 0 {
			continue
		}
		if len(rows) < page.TotalCount {
			return nil, exit.Fail(exit.Failed, "the gateway announced %d rows and returned %d; try again", page.TotalCount, len(rows))
		}
		return rows, nil
	}
	return nil, exit.Fail(exit.Failed, "the gateway returns more than %d pages for one id", maxPages)
}
