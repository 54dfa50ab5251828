package journal

import (
	"context"
	"sync"
	"sync/atomic"
)

// commitGroup makes concurrent writers share transactions, and so the sync of the disk that each transaction costs: group
// commit. Whoever writes while a transaction is under way waits for the next one, together with all others. There is no
// delay in the hope of company: a single writer's transaction starts at once.
//
// Transactions run in goroutines of their own, which end when nothing is left to be written. So a writer whose context
// ends can leave at once, whatever the database does, and nothing has to be closed.
type commitGroup struct {
	apply   func(context.Context, []*write) // makes the writes, and finishes each
	most    int                             // writes in one batch, at most
	batches int                             // batches under way at the same time, at most

	mu      sync.Mutex
	waiting []*write
	running int
}

// write is one change of one entry.
type write struct {
	key     Key
	kind    writeKind
	version int    // of the entry that is changed; the acknowledged version for an acknowledgement
	text    string // the intent or the evidence as JSON
	begun   int64  // of an intent, microseconds since 1970
	sender  string // of an intent
	durable bool   // it must survive a power failure once it is done

	ctx  context.Context
	done chan struct{}
	// The result, which is set before done is closed.
	changed bool  // this write changed the entry; else current is the entry as it is
	current Entry // if not changed
	err     error
}

func (w *write) finish() { close(w.done) }

type writeKind int

const (
	writeIntent writeKind = iota
	writeEvidence
	writeAck
)

// do returns once the write is done, or its context over; then it may be done or not.
func (g *commitGroup) do(ctx context.Context, w *write) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	w.ctx, w.done = ctx, make(chan struct{})
	g.mu.Lock()
	g.waiting = append(g.waiting, w)
	start := g.running < g.batches
	if start {
		g.running++
	}
	g.mu.Unlock()
	if start {
		go g.run()
	}
	select {
	case <-w.done:
		return w.err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// run writes batches until nothing waits.
func (g *commitGroup) run() {
	for {
		batch := g.take()
		if len(batch) == 0 {
			return
		}
		ctx, release := whileWanted(batch)
		g.apply(ctx, batch)
		release()
	}
}

// take returns the next batch, oldest writes first. A write whose caller has left is dropped. A second write of an entry
// waits for the next batch, so that a batch's statements can be about many rows without regard to their order.
func (g *commitGroup) take() (batch []*write) {
	g.mu.Lock()
	defer g.mu.Unlock()
	keys := make(map[Key]bool, min(len(g.waiting), g.most))
	left := g.waiting[:0]
	for _, w := range g.waiting {
		switch {
		case w.ctx.Err() != nil:
		case len(batch) == g.most || keys[w.key]:
			left = append(left, w)
		default:
			keys[w.key] = true
			batch = append(batch, w)
		}
	}
	clear(g.waiting[len(left):])
	g.waiting = left
	if len(batch) == 0 {
		g.running--
	}
	return batch
}

// whileWanted is a context for a batch, which ends when the last caller who waits for it has left.
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
