package walk

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cardgateway/cardgateway-go/internal/civil"
)

// Report counts what a walk has done.
type Report struct {
	Windows       int // read completely
	Requests      int
	RowsAnnounced int // sum of the totals of those windows, paddings included
	RowsSeen      int // rows yielded
	Duplicates    int // rows that were returned again and dropped
	Reread        int // times that a window was read again
	CompleteUpTo  time.Time
	Unreadable    UnreadableRows
}

// UnreadableRows are the rows that cannot be read, of a walk and of those that it resumes.
type UnreadableRows struct {
	Count int        `json:"count"`
	First []RowError `json:"first"` // at most maxNamed
}

// maxNamed limits how many rows are named.
const maxNamed = 1000

func (u *UnreadableRows) add(name *RowError) {
	if u.Count++; len(u.First) < maxNamed {
		u.First = append(u.First, *name)
	}
}

// Progress reports how far a walk has come.
type Progress struct {
	Windows, Requests, Rows int
	CompleteUpTo            time.Time
	Fraction                float64 // of the range in time, 0 to 1
}

// Checkpoint is the position of a walk, from which another one can resume.
type Checkpoint struct {
	Block        civil.Time // start of the current block
	Next         civil.Time // before this, every row was yielded
	Counted      int        // distinct rows from Block to Next
	Boundary     []uint64   // hashed ids of rows that a query from Next on returns again
	CompleteUpTo time.Time
	Unreadable   UnreadableRows // before Next
}

// UnsettledError says that a window or a block could not be completed: the total that the gateway announces and the number
// of distinct rows kept differing.
type UnsettledError struct {
	From, To  civil.Time // bounds of the query
	Announced int        // rows, in the last response
	Seen      int        // distinct rows
	Rounds    int        // times that the window was read, or the block counted
}

func (e *UnsettledError) Error() string {
	return fmt.Sprintf("window from %v to %v did not settle: %d rows announced, %d seen in %d rounds",
		e.From, e.To, e.Announced, e.Seen, e.Rounds)
}

// WindowError says in which window a query failed.
type WindowError struct {
	From, To civil.Time // bounds of the query
	Err      error
}

func (e *WindowError) Error() string {
	return fmt.Sprintf("window from %v to %v: %v", e.From, e.To, e.Err)
}

func (e *WindowError) Unwrap() error { return e.Err }

// sharedState is the part of a walk that any goroutine can read at any time.
type sharedState struct {
	requests   atomic.Int64
	mu         sync.Mutex
	report     Report
	checkpoint *Checkpoint
}

// update changes the report and the checkpoint.
func (s *sharedState) update(change func(*Report, *Checkpoint)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(&s.report, s.checkpoint)
}
