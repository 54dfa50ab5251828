package walk

import (
	"crypto/sha256"
	"encoding/binary"
	"math"

	"github.com/cardgateway/cardgateway-go/internal/civil"
)

// row is a row with what the walk needs to know of it.
type row[T any] struct {
	value      *T
	id         uint64 // hash of its id
	times      [2]civil.Time
	generation int // of the window's total, when the row was last seen; see windowReader
}

// hashID makes 64 bits of an id: what a walk remembers of a row. The hash must be the same in another process, since
// checkpoints hold some.
func hashID(id string) uint64 {
	sum := sha256.Sum256([]byte(id))
	return binary.LittleEndian.Uint64(sum[:])
}

// within reports whether one of the row's times is from from to to, both included. A row that states no time counts as
// within every range.
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

// forever is later than every time that a row can state.
const forever civil.Time = math.MaxInt64

// lastSecond returns the last second that finds the row: the later of its times, or forever if it states none. A query
// that begins after it does not bring the row again, so that nothing need be remembered of it.
func (r *row[T]) lastSecond() civil.Time {
	if last := max(r.times[0], r.times[1]); last != civil.None {
		return last
	}
	return forever
}
