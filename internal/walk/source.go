package walk

import (
	"context"
	"time"

	"github.com/cardgateway/cardgateway-go/internal/civil"
)

// Source is where the rows of a walk come from. Its functions are called by several goroutines at once.
type Source[T any] struct {
	// Fetch asks for one page, counted from 1, of the rows between two wall times. Whether the gateway includes the
	// bounds is not known. Where some rows of a page cannot be read, the page comes together with an error.
	Fetch func(ctx context.Context, from, to civil.Time, page, size int) (*Page[T], error)
	// ID tells rows apart. The same row has the same id in every process.
	ID func(*T) string
	// Times returns when a row happened: one time, or two of which either may be the one by which the gateway finds the
	// row. What the row does not state is civil.None.
	Times func(*T) [2]civil.Time
	// IsRefused reports whether an error is the gateway's "no" to what was asked for: to the length of the range, to the
	// size of the page, or to the merchant.
	IsRefused func(error) bool
	// IsTransient reports whether an error says nothing about what was asked for, so that asking again later may help,
	// and the pause that the gateway wants before that.
	IsTransient func(error) (pause time.Duration, ok bool)
}

// Page is one page of rows.
type Page[T any] struct {
	Rows  []T
	Total int // rows of the range, on all pages, as the gateway announces it
	Size  int // rows that fit a page, as the gateway announces it; zero where it does not
}
