package walk

import "github.com/cardgateway/cardgateway-go/internal/civil"

// A window that announces more rows than fit on a page is split. Its first page is not wasted: if its rows are in order of
// time, it contains one end of the window completely, and only the rest has to be queried again.

// shownEnd finds the end of the window that its first page contains completely. It returns the second at which the
// window can be cut: the page has every row up to this second or, if the newest rows come first, from this second on.
//
// More rows of the last row's second may be on the next page, so the cut is between two rows of the page, as close to
// its last row as possible. It is a second without rows, because it is unknown whether the gateway includes a bound: both
// the end that is kept and the query for the rest stop there, and neither may lose a row of that second.
//
// If a row has two times there is no such end, because the page may be sorted by either.
func (r *windowReader[T]) shownEnd() (cutSecond civil.Time, newestFirst, ok bool) {
	if r.requests != 1 || len(r.rows) != r.granted || r.inside != len(r.rows) {
		return 0, false, false
	}
	newestFirst = r.rows[0].times[0] > r.rows[len(r.rows)-1].times[0]
	for i, row := range r.rows {
		if row.times[0] == civil.None || row.times[1] != civil.None {
			return 0, false, false
		}
		step := row.times[0] - r.rows[max(i-1, 0)].times[0]
		if step != 0 && newestFirst != (step < 0) {
			return 0, false, false // the page is not in the order of time
		}
		switch {
		case step > 1:
			cutSecond, ok = row.times[0]-1, true
		case step < -1:
			cutSecond, ok = row.times[0]+1, true
		}
	}
	return cutSecond, newestFirst, ok
}

// restrictedTo returns the reader as if it had queried only an end of its window, which its first page contains completely.
func (r *windowReader[T]) restrictedTo(from, to civil.Time) windowReader[T] {
	shown := windowReader[T]{from: from, to: to, rounds: 1, generation: r.generation, state: complete}
	for _, row := range r.rows {
		if row.within(from, to) {
			shown.rows = append(shown.rows, row)
		}
	}
	shown.total, shown.inside, shown.distinct = len(shown.rows), len(shown.rows), len(shown.rows)
	return shown
}
