package walk

import (
	"context"
	"time"

	"github.com/cardgateway/cardgateway-go/internal/civil"
)

// Source provides the rows of a walk. Its functions are called concurrently.
type Source[T any] struct {
	// Fetch queries one page, counted from 1, of the rows between two wall-clock times. It is unknown whether the gateway
	// includes the bounds. It returns either a page or an error.
	Fetch func(ctx context.Context, from, to civil.Time, page, size int) (*Page[T], error)
	// ID identifies a row. The same row has the same id in every process.
	ID func(*T) string
	// Times returns when a row happened: one time, or two times by either of which the gateway may find the row. A missing
	// time is civil.None.
	Times func(*T) [2]civil.Time
	// Name sets the ids of a row that is reported instead of yielded.
	Name func(*T, *RowError)
	// Fault tells what an error of Fetch says about the request; nil says nothing.
	Fault func(error) Fault
}

// Fault is what an error says about a request.
type Fault struct {
	Kind  FaultKind
	Pause time.Duration // that the gateway requests before a repetition, if the error is Transient
}

// FaultKind tells which request may succeed instead.
type FaultKind int

// Kinds of faults.
const (
	Permanent FaultKind = iota // none
	Refused                    // the gateway refuses the length of the range, the page size, or the merchant
	TooLarge                   // the page is too large to be read: with fewer rows it may not be
	Transient                  // the same one, later
)

// Page is one page of rows.
type Page[T any] struct {
	Rows  []T
	Total int // rows of the range on all pages, as the gateway announces
	Size  int // rows per page, as the gateway announces; zero if it does not

	ClockAhead time.Duration // by how much this machine's clock is certainly before the gateway's, beyond what Config.Lag allows for

	Unreadable []Unreadable // rows that cannot be read, in addition to Rows
}

// Unreadable is a row that cannot be read. It is counted like any other, and reported instead of yielded.
type Unreadable struct {
	Key   string        // recognizes the row in another response
	Times [2]civil.Time // as Source.Times, if they can be read
	Name  RowError
}

// RowError names a row that cannot be read. The JSON is that of checkpoints.
type RowError struct {
	From   civil.Time `json:"from"` // bounds of the query
	To     civil.Time `json:"to"`
	Page   int        `json:"page"` // counted from 1
	Row    int        `json:"row"`  // counted from 1
	Member string     `json:"member"`
	Reason string     `json:"reason"`

	// The ids that can be read.
	UniqueID            string `json:"uniqueId,omitempty"`
	TransactionID       string `json:"transactionId,omitempty"`
	RefundUniqueID      string `json:"refundUniqueId,omitempty"`
	RefundTransactionID string `json:"refundTransactionId,omitempty"`
}
