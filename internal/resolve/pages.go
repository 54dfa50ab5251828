package resolve

import "time"

const (
	// maxRange is the range of one query. It is less than a month on every clock, also on one that is changed within it.
	maxRange = 27 * 24 * time.Hour
	overlap  = 2 * time.Second // of adjacent ranges, because it is unknown whether a bound is inclusive
)

// Listed are the rows of a page by their ids, which are empty for rows without one.
type Listed struct {
	IDs   []string
	Total int // rows of all pages, as announced
	Pages int // as announced; zero if the total says whether there are more
}

// EachPage queries every page of a time of any length, in ranges of maxRange: of each range page after page, counted from 1, and of all
// ranges together at most maxPages beside their first ones. It returns how many rows the gateway announced and did not return, and
// whether there were more pages.
func EachPage(start, last time.Time, maxPages int, query func(start, end time.Time, page int) (Listed, error)) (missing int, hasMore bool, err error) {
	for ; ; start = start.Add(maxRange - overlap) {
		end := start.Add(maxRange)
		if end.After(last) {
			end = last
		}
		seen := make(map[string]bool)
		rows, announced := 0, 0 // different ones, and the largest total of any page
		for page := 1; ; page++ {
			listed, err := query(start, end, page)
			if err != nil {
				return missing, hasMore, err
			}
			known := rows
			for _, id := range listed.IDs {
				if id == "" || !seen[id] {
					seen[id] = true
					rows++
				}
			}
			announced = max(announced, listed.Total)
			isLast := rows >= listed.Total
			if listed.Pages > 0 {
				isLast = page >= listed.Pages
			}
			mayBeFull := rows > known && len(listed.IDs)%10 == 0 // some gateways announce only what is on the page
			if len(listed.IDs) == 0 || isLast && !mayBeFull {
				missing += max(0, announced-rows)
				break
			}
			if maxPages--; maxPages < 0 {
				hasMore = true
				break
			}
		}
		if end.Equal(last) {
			return missing, hasMore, nil
		}
	}
}
