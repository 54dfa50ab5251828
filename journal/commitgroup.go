package journal

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// commitGroup implements group commit: concurrent writers share a transaction, and with it the disk sync that each
// transaction costs. A write that arrives while a transaction is running waits for the next one, together with all
// others. No write is delayed to collect more of them: a single write starts its transaction at once.
//
// A late write is one that no caller waits for. It is delayed by lateAfter, so that other late writes can share its
// transaction, and then belongs to the next one.
//
// Transactions run in goroutines of their own, which end when nothing is left to write. A writer whose context ends can
// therefore return at once, whatever the database does, and nothing has to be closed.
type commitGroup struct {
	apply   func(context.Context, []*write) // performs the writes, and finishes each
	most    int                             // maximum number of writes in a batch
	batches int                             // maximum number of concurrent batches, not counting stalled ones
	stall   time.Duration                   // how long a batch may take before another one may start in its place; zero means forever

	mu      sync.Mutex
	waiting []*write
	running int

	late     []*write
	lateOpen int         // late writes that are not finished
	due      bool        // the late writes belong to the next batch
	timer    *time.Timer // sets due; nil if there is nothing to wait for
	allDone  chan nobody // closed when lateOpen is zero; nil if nobody waits for that
}

const (
	// lateAfter is how long a late write waits for others.
	lateAfter = 10 * time.Millisecond
	// batchTimeout limits a batch that has late writes, because the contexts of callers do not.
	batchTimeout = 10 * time.Second
	// stalledAfter is how long a batch on a database server may take before the next one starts without waiting for it: it
	// may be waiting for a lock.
	stalledAfter = 20 * time.Millisecond
)

// write is one change of one entry.
type write struct {
	key     Key
	kind    writeKind
	version int    // of the entry that is changed; the acknowledged version for an acknowledgement
	text    string // the intent or the evidence as JSON
	begun   int64  // of an intent, microseconds since 1970
	sender  string // of an intent
	durable bool   // it must survive a power failure once it is done

	ctx   context.Context // of the caller who waits; nil for a late write
	done  chan struct{}
	ended func() // for a late write: called instead of closing done
	// The result: set before done is closed or ended is called.
	changed bool  // this write changed the entry; else current is the entry as it is
	current Entry // if not changed
	err     error
}

func (w *write) finish() {
	if w.ended != nil {
		w.ended()
		return
	}
	close(w.done)
}

// context returns the context of a write that is made on its own and not in a batch.
func (w *write) context() (context.Context, context.CancelFunc) {
	if w.ctx == nil {
		return context.WithTimeout(context.Background(), batchTimeout)
	}
	return w.ctx, func() {}
}

type writeKind int

const (
	writeIntent writeKind = iota
	writeEvidence
	writeAck
)

// do waits until the write is done. If ctx ends first, the write may or may not be made.
func (g *commitGroup) do(ctx context.Context, w *write) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	w.ctx, w.done = ctx, make(chan struct{})
	g.mu.Lock()
	g.waiting = append(g.waiting, w)
	g.start()
	g.mu.Unlock()
	select {
	case <-w.done:
		return w.err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// start starts another batch, unless the maximum number is running. The caller holds mu.
func (g *commitGroup) start() {
	if g.running < g.batches {
		g.running++
		go g.run()
	}
}

// later adds a late write, and calls ended once it is done.
func (g *commitGroup) later(w *write, ended func()) {
	w.ended = func() {
		ended()
		g.mu.Lock()
		defer g.mu.Unlock()
		if g.lateOpen--; g.lateOpen == 0 && g.allDone != nil {
			close(g.allDone)
			g.allDone = nil
		}
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.late = append(g.late, w)
	g.lateOpen++
	switch {
	case len(g.late) >= g.most:
		g.hurryLocked()
	case g.timer == nil:
		g.timer = time.AfterFunc(lateAfter, g.hurry)
	}
}

// hurry starts the late writes without further delay.
func (g *commitGroup) hurry() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.hurryLocked()
}

func (g *commitGroup) hurryLocked() {
	if g.timer != nil {
		g.timer.Stop()
		g.timer = nil
	}
	if len(g.late) > 0 {
		g.due = true
		g.start()
	}
}

// flush waits until all late writes are done, or ctx ends.
func (g *commitGroup) flush(ctx context.Context) error {
	g.mu.Lock()
	if g.lateOpen == 0 {
		g.mu.Unlock()
		return nil
	}
	if g.allDone == nil {
		g.allDone = make(chan nobody)
	}
	done := g.allDone
	g.hurryLocked()
	g.mu.Unlock()
	select {
	case <-done:
		return nil
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
		keptPlace := g.watch()
		g.apply(ctx, batch)
		release()
		if !keptPlace() {
			return
		}
	}
}

// watch lets another batch start in the place of this one if it stalls. The function that it returns ends that, and
// reports whether the batch still has its place.
func (g *commitGroup) watch() (keptPlace func() bool) {
	if g.stall == 0 {
		return func() bool { return true }
	}
	return time.AfterFunc(g.stall, func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.running--
		if len(g.waiting) > 0 || g.due {
			g.start()
		}
	}).Stop
}

// take returns the next batch, oldest writes first. Late writes that are due come before those that are waited for, which
// could otherwise fill every batch for as long as the load lasts. A write whose context has ended is dropped. A second write to the
// same entry waits for the next batch, so that one statement can change many rows in any order.
func (g *commitGroup) take() (batch []*write) {
	g.mu.Lock()
	defer g.mu.Unlock()
	keys := make(map[Key]bool, min(len(g.waiting)+len(g.late), g.most))
	from := func(list []*write) []*write {
		left := list[:0]
		for _, w := range list {
			switch {
			case w.ctx != nil && w.ctx.Err() != nil:
			case len(batch) == g.most || keys[w.key]:
				left = append(left, w)
			default:
				keys[w.key] = true
				batch = append(batch, w)
			}
		}
		clear(list[len(left):])
		return left
	}
	if g.due {
		g.late = from(g.late)
		g.due = len(g.late) > 0
	}
	g.waiting = from(g.waiting)
	if len(batch) == 0 {
		g.running--
	}
	return batch
}

// whileWanted returns a context for a batch. It ends when the contexts of all callers have ended, or, if the batch has
// late writes, after batchTimeout.
func whileWanted(batch []*write) (ctx context.Context, release func()) {
	if slices.ContainsFunc(batch, func(w *write) bool { return w.ctx == nil }) {
		return context.WithTimeout(context.Background(), batchTimeout)
	}
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
