package main

import (
	"time"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/exit"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/period"
)

// idSearch is a search for an id.
type idSearch[T any] struct {
	page    func(from, to time.Time, n int) (*cardgateway.Page[T], error)
	matches func(*T) bool   // some gateways give rows with other ids, too
	key     func(*T) string // tells rows apart; empty if a row has none
}

// all gives every row with the id in [from, to), once each. It is no walk: a walk holds the rows against the total that the
// gateway announces, and does not end where there are more.
func (s *idSearch[T]) all(from, to time.Time) (found []*T, err error) {
	const longest = 28 * 24 * time.Hour // a search takes one month at most
	seen := map[string]bool{}
	for ; from.Before(to); from = from.Add(longest) {
		rows, err := s.window(from, period.Earlier(from.Add(longest), to))
		if err != nil {
			return nil, err
		}
		for _, row := range rows { // windows share their bounds
			if key := s.key(row); s.matches(row) && !seen[key] {
				seen[key] = key != ""
				found = append(found, row)
			}
		}
	}
	return found, nil
}

// window reads all pages of a range. Fewer rows than the gateway announces are no answer: the one that is missing may be the
// one that is looked for.
func (s *idSearch[T]) window(from, to time.Time) (rows []*T, err error) {
	const most = 100 // pages
	seen := map[string]bool{}
	for n := 1; n <= most; n++ {
		page, err := s.page(from, to, n)
		if err != nil {
			return nil, err
		}
		for i := range page.Data {
			row := &page.Data[i]
			if key := s.key(row); !seen[key] {
				seen[key] = key != ""
				rows = append(rows, row)
			}
		}
		if n < page.TotalPage && len(page.Data) > 0 {
			continue
		}
		if len(rows) < page.TotalCount {
			return nil, exit.Fail(exit.NoAnswer, "the gateway announced %d rows and gave %d; ask again", page.TotalCount, len(rows))
		}
		return rows, nil
	}
	return nil, exit.Fail(exit.NoAnswer, "the gateway gives more than %d pages for one id", most)
}
