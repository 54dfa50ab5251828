package sqlstore

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cardgateway/cardgateway-go/journal"
)

// commitGroup implements group commit for SQLite: concurrent writers share a transaction, and with it the disk sync that each
// transaction costs. A write that arrives while a transaction is running waits for the next one, together with all
// others. No write is delayed to collect more of them: a single write starts its transaction at once.
//
// A transaction has a goroutine of its own, which ends with it. A writer whose context ends can therefore return at once, whatever
// the database does, and nothing has to be closed. Only a write that is alone in its transaction is made in the goroutine of the
// writer, because switches to another one and back would cost 35 microseconds: that writer returns when the transaction does. A
// journal.Journal does not wait for it.
type commitGroup struct {
	apply func(context.Context, []*write) // performs the writes, and finishes each

	mu      sync.Mutex
	waiting []*write
	running bool // a batch is
}

// maxInBatch limits the writes of a transaction.
const maxInBatch = 256

// write is one change of one entry.
type write struct {
	key       journal.Key
	statement string
	args      []any
	sender    string    // of a submission
	at        time.Time // of a submission

	ctx  context.Context // of the caller
	done chan struct{}
	// The result: set before done is closed.
	changed bool          // this write changed the entry; else current is the entry as it is
	current journal.Entry // if not changed
	err     error
}

func (w *write) finish() { close(w.done) }

// do waits until the write is done. If ctx ends first, the write may or may not be made.
func (g *commitGroup) do(ctx context.Context, w *write) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	w.ctx, w.done = ctx, make(chan struct{})
	g.mu.Lock()
	g.waiting = append(g.waiting, w)
	first := !g.running
	g.running = true
	g.mu.Unlock()
	if first {
		if batch := g.take(); len(batch) == 1 && batch[0] == w {
			g.write(batch)
		} else {
			go g.write(batch)
		}
	}
	select {
	case <-w.done:
	case <-ctx.Done():
		select {
		case <-w.done: // what was done counts
		default:
			return ctx.Err()
		}
	}
	if w.err != nil && ctx.Err() != nil && !errors.Is(w.err, ctx.Err()) {
		return errors.Join(w.err, ctx.Err()) // why it took so long
	}
	return w.err
}

// write makes the writes of a batch, if there are any, and then gives its place to the next one.
func (g *commitGroup) write(batch []*write) {
	ctx, release := whileWanted(batch)
	defer func() { // also if the driver panics
		release()
		g.handOver()
	}()
	if len(batch) > 0 {
		g.apply(ctx, batch)
	}
}

// handOver gives the place of a batch to the next one, if anything waits.
func (g *commitGroup) handOver() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.waiting) > 0 {
		go func() { g.write(g.take()) }()
	} else {
		g.running = false
	}
}

// take returns the next batch, oldest writes first. A write whose context has ended is dropped.
func (g *commitGroup) take() (batch []*write) {
	// The callers that can run now add their writes first: with 64 callers and SQLite, a batch has 23 writes instead of 7. No time
	// is spent if there are none.
	runtime.Gosched()
	g.mu.Lock()
	defer g.mu.Unlock()
	g.waiting = slices.DeleteFunc(g.waiting, func(w *write) bool { return w.ctx.Err() != nil })
	n := min(len(g.waiting), maxInBatch)
	batch = slices.Clone(g.waiting[:n])
	g.waiting = slices.Delete(g.waiting, 0, n)
	return batch
}

// whileWanted returns a context for a batch. It ends when the contexts of all callers have ended.
func whileWanted(batch []*write) (ctx context.Context, release func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var callers atomic.Int64
	callers.Store(int64(len(batch)))
	stops := make([]func() bool, len(batch))
	for i, w := range batch {
		stops[i] = context.AfterFunc(w.ctx, func() {
			if callers.Add(-1) == 0 {
				cancel()
			}
		})
	}
	return ctx, func() {
		for _, stop := range stops {
			stop()
		}
		cancel()
	}
}
