package main

import (
	"time"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/exit"
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
// Fewer rows than the gateway announces are an error: a missing row may be one with the id.
func (s *idSearch[T]) all(from, now time.Time) (found []T, err error) {
	const maxPages = 1000
	seen := map[string]bool{}
	missing, hasMore, err := resolve.EachPage(from.Add(-resolve.Before), now.Add(resolve.After), maxPages, func(from, to time.Time, n int) (listed resolve.Listed, err error) {
		page, err := s.page(from, to, n)
		if err != nil {
			return listed, err
		}
		for i := range page.Data {
			row := &page.Data[i]
			key := s.key(row)
			if listed.IDs = append(listed.IDs, key); s.matches(row) && !seen[key] {
				seen[key] = key != ""
				found = append(found, *row)
			}
		}
		listed.Total, listed.Pages = page.TotalCount, page.TotalPage
		return listed, nil
	})
	switch {
	case err != nil:
		return nil, err
	case missing > 0:
		return nil, exit.Fail(exit.Failed, "the gateway announced %d rows more than it returned; try again", missing)
	case hasMore:
		return nil, exit.Fail(exit.Failed, "the gateway returns more than %d pages for one id", maxPages)
	}
	return found, nil
}
