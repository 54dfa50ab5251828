package walk

import (
	"slices"

	"github.com/cardgateway/cardgateway-go/internal/civil"
)

// seenRows knows which rows a walk has yielded, and how many distinct rows it has read of the current month. Of earlier
// months it remembers only rows that a later query can bring again, so that its size does not grow with the range.
type seenRows struct {
	parts   []part
	counted map[uint64]struct{} // ids of the rows of the parts
	// yielded has ids of earlier months, and of rows of this month that the gateway no longer gives, each with the last
	// second that finds the row.
	yielded map[uint64]civil.Time
	// boundary has ids that the restored part has counted and that the part after it brings again. Only the number of rows
	// of a restored part is known, so that they must not be counted as rows of its neighbour too.
	boundary map[uint64]struct{}
}

// part is a window of the current month that was read completely.
type part struct {
	window span
	ids    []uint64 // of its rows, padding included

	restored     bool // from a checkpoint, which has only the number of its rows
	restoredRows int  // that number

	// uncertain says that the part may have rows in place of others: some have times outside the window, or nobody has
	// asked for this window by itself.
	uncertain bool
}

func newSeenRows() seenRows {
	return seenRows{counted: map[uint64]struct{}{}, yielded: map[uint64]civil.Time{}, boundary: map[uint64]struct{}{}}
}

// restore begins a month with what a checkpoint says of it.
func (s *seenRows) restore(window span, rows int, boundary []uint64) {
	if window.seconds() > 0 {
		s.parts = append(s.parts, part{window: window, restored: true, restoredRows: rows, uncertain: true})
	}
	for _, id := range boundary {
		s.yielded[id] = window.to
		if window.seconds() > 0 {
			s.boundary[id] = struct{}{}
		}
	}
}

// isNew reports whether a row has not been yielded before.
func (s *seenRows) isNew(id uint64) bool {
	_, counted := s.counted[id]
	_, yielded := s.yielded[id]
	return !counted && !yielded
}

// addPart adds a part, after its rows were yielded.
func (s *seenRows) addPart(p part) {
	s.parts = append(s.parts, p)
	s.include(p)
}

// include counts the rows of a part.
func (s *seenRows) include(p part) {
	for _, id := range p.ids {
		if _, ok := s.boundary[id]; !ok {
			s.counted[id] = struct{}{}
		}
	}
}

// remember keeps the id of a row that can come again after this month, in queries that begin at last or earlier.
func (s *seenRows) remember(id uint64, last civil.Time) { s.yielded[id] = max(s.yielded[id], last) }

// count returns how many distinct rows the parts have.
func (s *seenRows) count() int {
	n := len(s.counted)
	for _, p := range s.parts {
		n += p.restoredRows
	}
	return n
}

// distinct returns how many distinct rows parts i to j-1 have.
func (s *seenRows) distinct(i, j int) int {
	n := 0
	ids := make(map[uint64]struct{})
	for _, p := range s.parts[i:j] {
		n += p.restoredRows
		for _, id := range p.ids {
			ids[id] = struct{}{}
		}
	}
	if i == 0 {
		for id := range s.boundary {
			delete(ids, id)
		}
	}
	return n + len(ids)
}

// replace puts what was read anew in the place of part i. Rows that are no longer found remain yielded.
func (s *seenRows) replace(i int, by []part) {
	if i == 0 {
		clear(s.boundary)
	}
	s.parts = slices.Concat(s.parts[:i], by, s.parts[i+1:])
	end := s.parts[len(s.parts)-1].window.to
	for id := range s.counted {
		s.remember(id, end)
	}
	clear(s.counted)
	for _, p := range s.parts {
		s.include(p)
	}
}

// endMonth forgets what no query that begins at next or later can bring again.
func (s *seenRows) endMonth(next civil.Time) {
	for id, last := range s.yielded {
		switch {
		case last < next:
			delete(s.yielded, id)
		case last == forever: // without a time, it is found anywhere: kept for one more month
			s.yielded[id] = next
		}
	}
	s.parts = nil
	clear(s.counted)
	clear(s.boundary)
}
