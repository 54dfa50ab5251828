package walk

import (
	"context"
	"time"

	"github.com/cardgateway/cardgateway-go/internal/civil"
)

// Source provides the rows of a walk. Its functions are called concurrently.
type Source[T any] struct {
	// Fetch queries one page, counted from 1, of the rows between two wall-clock times. It is unknown whether the gateway
	// includes the bounds. If some rows of a page cannot be read, it returns the page together with an error.
	Fetch func(ctx context.Context, from, to civil.Time, page, size int) (*Page[T], error)
	// ID identifies a row. The same row has the same id in every process.
	ID func(*T) string
	// Times returns when a row happened: one time, or two times by either of which the gateway may find the row. A missing
	// time is civil.None.
	Times func(*T) [2]civil.Time
	// IsRefused reports whether an error is a refusal of the request by the gateway: of the length of the range, of the
	// page size, or of the merchant.
	IsRefused func(error) bool
	// IsTransient reports whether an error says nothing about the request, so that a later repetition may succeed, and the
	// pause that the gateway requests before that.
	IsTransient func(error) (pause time.Duration, ok bool)
}

// Page is one page of rows.
type Page[T any] struct {
	Rows  []T
	Total int // rows of the range on all pages, as the gateway announces
	Size  int // rows per page, as the gateway announces; zero if it does not
}
