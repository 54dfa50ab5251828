package walk

import (
	"slices"

	"github.com/cardgateway/cardgateway-go/internal/civil"
)

// seenRows stores which rows a walk has yielded, and how many distinct rows it has read of the current block. Of earlier
// blocks it stores only rows that a later query can return again, so that its size does not grow with the range.
type seenRows struct {
	windows []readWindow
	counted map[uint64]struct{} // ids of the rows of the windows
	// yielded has ids of earlier blocks, and of rows of this block that the gateway no longer returns, each with the last
	// second at which a query finds the row.
	yielded map[uint64]civil.Time
	// boundary has ids that the restored window has counted and that the next window returns again. Only the number of rows of
	// a restored window is known, so they must not be counted as rows of the next window, too.
	boundary map[uint64]struct{}
}

// readWindow is a window of the current block that was read completely.
type readWindow struct {
	span span
	ids  []uint64 // of its rows, padding included

	restored     bool // from a checkpoint, which has only the number of its rows
	restoredRows int  // that number

	// uncertain says that the window may have wrong rows instead of right ones: some have times outside the window, or there
	// was no separate query for this window.
	uncertain bool
}

func newSeenRows() seenRows {
	return seenRows{counted: map[uint64]struct{}{}, yielded: map[uint64]civil.Time{}, boundary: map[uint64]struct{}{}}
}

// restore begins a block with the window that a checkpoint describes.
func (s *seenRows) restore(window span, rows int, boundary []uint64) {
	if window.seconds() > 0 {
		s.windows = append(s.windows, readWindow{span: window, restored: true, restoredRows: rows, uncertain: true})
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

// add adds a window, after its rows were yielded.
func (s *seenRows) add(read readWindow) {
	s.windows = append(s.windows, read)
	s.include(read)
}

// include counts the rows of a window.
func (s *seenRows) include(read readWindow) {
	for _, id := range read.ids {
		if _, ok := s.boundary[id]; !ok {
			s.counted[id] = struct{}{}
		}
	}
}

// remember stores the id of a row that queries beginning at last or earlier can return again after this block.
func (s *seenRows) remember(id uint64, last civil.Time) { s.yielded[id] = max(s.yielded[id], last) }

// count returns the number of distinct rows of all windows.
func (s *seenRows) count() int {
	n := len(s.counted)
	for _, read := range s.windows {
		n += read.restoredRows
	}
	return n
}

// distinct returns the number of distinct rows of windows i to j-1.
func (s *seenRows) distinct(i, j int) int {
	n := 0
	ids := make(map[uint64]struct{})
	for _, read := range s.windows[i:j] {
		n += read.restoredRows
		for _, id := range read.ids {
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

// replace replaces window i by the windows that were read again. Rows that are no longer found remain in yielded: their time may have changed.
func (s *seenRows) replace(i int, by []readWindow) {
	if i == 0 {
		clear(s.boundary)
	}
	s.windows = slices.Concat(s.windows[:i], by, s.windows[i+1:])
	before := s.counted
	s.counted = make(map[uint64]struct{}, len(before))
	for _, read := range s.windows {
		s.include(read)
	}
	end := s.windows[len(s.windows)-1].span.to
	for id := range before {
		if _, found := s.counted[id]; !found {
			s.remember(id, end)
		}
	}
}

// endBlock removes everything that no query beginning at next or later can return again.
func (s *seenRows) endBlock(next civil.Time) {
	for id, last := range s.yielded {
		switch {
		case last < next:
			delete(s.yielded, id)
		case last == forever: // without a time, any query may return it: keep it for one block after the last one that returned it
			s.yielded[id] = next
		}
	}
	s.windows = nil
	clear(s.counted)
	clear(s.boundary)
}
