package walk

import (
	"crypto/sha256"
	"encoding/binary"
	"math"

	"github.com/cardgateway/cardgateway-go/internal/civil"
)

// row is a row with what the walk needs to know about it.
type row[T any] struct {
	value      *T
	unreadable *RowError // instead of a value
	id         uint64    // hash of its id
	times      [2]civil.Time
	generation int // of the window's total, when the row was last seen; see windowReader
	request    int // of the window, whose response was the last with the row
}

// hashID returns a 64-bit hash of an id, which is what a walk stores of a row. The hash must be the same in every process,
// because checkpoints contain some.
func hashID(id string) uint64 {
	sum := sha256.Sum256([]byte(id))
	return binary.LittleEndian.Uint64(sum[:])
}

// within reports whether one of the row's times is between from and to, inclusive. A row without a time is within every
// range.
func (r *row[T]) within(from, to civil.Time) bool {
	stated := false
	for _, t := range r.times {
		if t != civil.None {
			stated = true
			if from <= t && t <= to {
				return true
			}
		}
	}
	return !stated
}

// isInside reports whether all of the row's times are later than from and earlier than to.
func (r *row[T]) isInside(from, to civil.Time) bool {
	a, b := r.times[0], r.times[1]
	return from < a && a < to && (b == civil.None || from < b && b < to)
}

// forever is later than any time of a row.
const forever civil.Time = math.MaxInt64

// lastSecond returns the last second at which a query finds the row: the later of its times, or forever if it has none. A
// query that begins later does not return the row again, so its id need not be stored any more.
func (r *row[T]) lastSecond() civil.Time {
	if last := max(r.times[0], r.times[1]); last != civil.None {
		return last
	}
	return forever
}
