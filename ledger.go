package cardgateway

import (
	"math"
	"slices"
)

// ledger knows which rows a walk has given, and how many distinct rows the month being read should hold. Beyond that
// month it remembers only rows that a later query can bring again, so that its size does not grow with the range.
type ledger struct {
	parts []part
	here  map[uint64]struct{} // ids of the parts
	given map[uint64]int64    // ids given before this month, or no longer found, and the last second that can bring them again
	edge  map[uint64]struct{} // ids that the restored part has counted and that its neighbour brings again
}

// part is a window that was read whole.
type part struct {
	core     span
	ids      []uint64 // of its rows, overhang included
	restored bool     // from a checkpoint, which has kept only the number of its rows
	rows     int      // that number
	doubtful bool     // it may have rows in place of others: some say that they belong elsewhere, or nobody asked for it by itself
}

// forever keeps an id until the next month ends, whatever it is.
const forever = math.MaxInt64

func newLedger() ledger {
	return ledger{here: map[uint64]struct{}{}, given: map[uint64]int64{}, edge: map[uint64]struct{}{}}
}

// restore begins a month with what a checkpoint says of it.
func (l *ledger) restore(core span, rows int, edge []uint64) {
	if core.seconds() > 0 {
		l.parts = append(l.parts, part{core: core, restored: true, rows: rows, doubtful: true})
	}
	for _, id := range edge {
		l.given[id] = core.to
		if core.seconds() > 0 {
			l.edge[id] = struct{}{}
		}
	}
}

// isNew reports whether a row has not been given before.
func (l *ledger) isNew(id uint64) bool {
	_, isHere := l.here[id]
	_, wasGiven := l.given[id]
	return !isHere && !wasGiven
}

// note adds a part, after its rows were given.
func (l *ledger) note(p part) {
	l.parts = append(l.parts, p)
	l.include(p)
}

func (l *ledger) include(p part) {
	for _, id := range p.ids {
		if _, counted := l.edge[id]; !counted {
			l.here[id] = struct{}{}
		}
	}
}

// keep remembers a row that can come again after this month, up to the second until.
func (l *ledger) keep(id uint64, until int64) { l.given[id] = max(l.given[id], until) }

// count returns how many distinct rows the parts have.
func (l *ledger) count() int {
	n := len(l.here)
	for _, p := range l.parts {
		n += p.rows
	}
	return n
}

// distinct returns how many distinct rows parts i to j-1 have.
func (l *ledger) distinct(i, j int) int {
	n := 0
	ids := make(map[uint64]struct{})
	for _, p := range l.parts[i:j] {
		n += p.rows
		for _, id := range p.ids {
			ids[id] = struct{}{}
		}
	}
	if i == 0 {
		for id := range l.edge {
			delete(ids, id)
		}
	}
	return n + len(ids)
}

// replace puts what was read anew in the place of part i. Rows that are no longer found stay given.
func (l *ledger) replace(i int, by []part) {
	if i == 0 {
		clear(l.edge)
	}
	l.parts = slices.Concat(l.parts[:i], by, l.parts[i+1:])
	for id := range l.here {
		l.given[id] = max(l.given[id], l.parts[len(l.parts)-1].core.to)
	}
	clear(l.here)
	for _, p := range l.parts {
		l.include(p)
	}
}

// close ends the month. What no query from the second next on can bring again is forgotten.
func (l *ledger) close(next int64) {
	for id, until := range l.given {
		switch {
		case until < next:
			delete(l.given, id)
		case until == forever:
			l.given[id] = next
		}
	}
	l.parts = nil
	clear(l.here)
	clear(l.edge)
}
