package journal

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// batches is a commit group whose batches take a second each; it remembers what they have written.
func batches(most, atOnce int) (g *commitGroup, sizes *[]string) {
	sizes = new([]string)
	begun := time.Now()
	var mu sync.Mutex
	g = &commitGroup{most: most, batches: atOnce}
	g.apply = func(_ context.Context, batch []*write) {
		late := 0
		for _, w := range batch {
			if w.ctx == nil {
				late++
			}
		}
		mu.Lock()
		*sizes = append(*sizes, fmt.Sprintf("%v: %d, %d late", time.Since(begun), len(batch)-late, late))
		mu.Unlock()
		time.Sleep(time.Second)
		for _, w := range batch {
			w.changed = true
			w.finish()
		}
	}
	return g, sizes
}

func writeOf(id string) *write { return &write{key: Key{TransactionID: id}} }

func wantBatches(t *testing.T, got *[]string, want ...string) {
	t.Helper()
	synctest.Wait()
	if fmt.Sprint(*got) != fmt.Sprint(want) {
		t.Errorf("got batches\n%q, want\n%q", *got, want)
	}
}

// TestLateWrites: late writes wait for each other and delay no other write. A full batch of them starts at once, and so
// does hurry.
func TestLateWrites(t *testing.T) {
	for _, tt := range []struct {
		name string
		do   func(*testing.T, *commitGroup)
		want []string
	}{
		{"together", func(_ *testing.T, g *commitGroup) {
			g.later(writeOf("a"), func() {})
			time.Sleep(9 * time.Millisecond)
			g.later(writeOf("b"), func() {})
			time.Sleep(2 * time.Second)
			g.later(writeOf("c"), func() {})
			time.Sleep(2 * time.Second)
		}, []string{"10ms: 0, 2 late", "2.019s: 0, 1 late"}},
		{"beside one that is waited for", func(t *testing.T, g *commitGroup) {
			g.later(writeOf("a"), func() {})
			if err := g.do(t.Context(), writeOf("b")); err != nil {
				t.Error(err)
			}
			time.Sleep(2 * time.Second)
		}, []string{"0s: 1, 0 late", "1s: 0, 1 late"}},
		{"beside one that is waited for, after others were due", func(t *testing.T, g *commitGroup) {
			g.later(writeOf("a"), func() {})
			time.Sleep(2 * time.Second)
			g.later(writeOf("b"), func() {})
			if err := g.do(t.Context(), writeOf("c")); err != nil {
				t.Error(err)
			}
			time.Sleep(2 * time.Second)
		}, []string{"10ms: 0, 1 late", "2s: 1, 0 late", "3s: 0, 1 late"}},
		{"in its batch, if they are due", func(t *testing.T, g *commitGroup) {
			go func() { _ = g.do(t.Context(), writeOf("a")) }()
			synctest.Wait()
			g.later(writeOf("b"), func() {})
			time.Sleep(500 * time.Millisecond)
			if err := g.do(t.Context(), writeOf("c")); err != nil {
				t.Error(err)
			}
		}, []string{"0s: 1, 0 late", "1s: 1, 1 late"}},
		{"before others that fill every batch", func(t *testing.T, g *commitGroup) {
			for i := range 20 {
				go func() { _ = g.do(t.Context(), writeOf(fmt.Sprint("waited for ", i))) }()
			}
			synctest.Wait()
			g.later(writeOf("a"), func() {})
			time.Sleep(1500 * time.Millisecond)
			g.later(writeOf("b"), func() {})
			time.Sleep(10 * time.Second)
		}, []string{"0s: 1, 0 late", "1s: 3, 1 late", "2s: 3, 1 late", "3s: 4, 0 late", "4s: 4, 0 late", "5s: 4, 0 late", "6s: 1, 0 late"}},
		{"many", func(_ *testing.T, g *commitGroup) {
			for i := range 10 {
				g.later(writeOf(fmt.Sprint(i)), func() {})
			}
			time.Sleep(5 * time.Second)
		}, []string{"0s: 0, 4 late", "1s: 0, 4 late", "2s: 0, 2 late"}},
		{"a full batch", func(_ *testing.T, g *commitGroup) {
			for i := range 4 {
				g.later(writeOf(fmt.Sprint(i)), func() {})
			}
			time.Sleep(2 * time.Second)
		}, []string{"0s: 0, 4 late"}},
		{"hurried", func(_ *testing.T, g *commitGroup) {
			g.hurry()
			g.later(writeOf("a"), func() {})
			g.hurry()
			synctest.Wait()
			g.later(writeOf("b"), func() {})
			time.Sleep(3 * time.Second)
		}, []string{"0s: 0, 1 late", "1s: 0, 1 late"}},
		{"two of one entry", func(_ *testing.T, g *commitGroup) {
			g.later(writeOf("a"), func() {})
			g.later(writeOf("a"), func() {})
			time.Sleep(3 * time.Second)
		}, []string{"10ms: 0, 1 late", "1.01s: 0, 1 late"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g, got := batches(4, 1)
				tt.do(t, g)
				wantBatches(t, got, tt.want...)
			})
		})
	}
}

// TestStalledBatch: other writes wait for a stalled batch no longer than the limit, and then share a batch.
func TestStalledBatch(t *testing.T) {
	for _, tt := range []struct {
		name        string
		stall       time.Duration
		awaited     int
		late, again bool
		want        []string
	}{
		{"given up", 20 * time.Millisecond, 2, false, true, []string{"0s: 1, 0 late", "20ms: 2, 0 late", "1.5s: 1, 0 late"}},
		{"given up to late writes", 20 * time.Millisecond, 0, true, false, []string{"0s: 1, 0 late", "20ms: 0, 1 late"}},
		{"given up to nobody", 20 * time.Millisecond, 0, false, true, []string{"0s: 1, 0 late", "1.5s: 1, 0 late"}},
		{"waited for", 0, 2, true, true, []string{"0s: 1, 0 late", "1s: 2, 1 late", "2s: 1, 0 late"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g, got := batches(8, 1)
				g.stall = tt.stall
				awaited := func(id string) { go func() { _ = g.do(t.Context(), writeOf(id)) }() }
				awaited("first")
				time.Sleep(5 * time.Millisecond)
				for i := range tt.awaited {
					awaited(fmt.Sprint(i))
				}
				if tt.late {
					g.later(writeOf("late"), func() {})
				}
				time.Sleep(1495 * time.Millisecond)
				if tt.again {
					awaited("again")
				}
				time.Sleep(5 * time.Second)
				wantBatches(t, got, tt.want...)
				if g.running != 0 {
					t.Errorf("%d batches are counted as under way", g.running)
				}
			})
		})
	}
}

// TestCallersLeave: the context of a batch ends with that of its last caller. A write whose context ends before its batch
// begins is left out.
func TestCallersLeave(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		var ended []time.Duration
		var sizes []int
		g := &commitGroup{most: 8, batches: 1}
		g.apply = func(ctx context.Context, batch []*write) {
			sizes = append(sizes, len(batch))
			select {
			case <-ctx.Done():
				ended = append(ended, time.Since(begun))
			case <-time.After(10 * time.Second):
			}
			for _, w := range batch {
				w.finish()
			}
		}
		leave := func(id string, after time.Duration) {
			go func() {
				ctx, cancel := context.WithTimeout(t.Context(), after)
				defer cancel()
				_ = g.do(ctx, writeOf(id))
			}()
		}
		leave("first", time.Second)
		synctest.Wait()
		leave("gone by then", 500*time.Millisecond)
		leave("a", 3*time.Second)
		leave("b", 5*time.Second)
		time.Sleep(time.Minute)
		synctest.Wait()
		if fmt.Sprint(sizes) != "[1 2]" || fmt.Sprint(ended) != "[1s 5s]" {
			t.Errorf("batches of %v, which ended at %v; want [1 2] and [1s 5s]", sizes, ended)
		}
	})
}

// TestFlush: it returns when no late writes are left, or when its context ends.
func TestFlush(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, got := batches(2, 1)
		if err := g.flush(t.Context()); err != nil {
			t.Error(err)
		}
		var done atomic.Int32
		for i := range 3 {
			g.later(writeOf(fmt.Sprint(i)), func() { done.Add(1) })
		}
		ctx, cancel := context.WithTimeout(t.Context(), 1500*time.Millisecond)
		defer cancel()
		if err := g.flush(ctx); !errors.Is(err, context.DeadlineExceeded) || done.Load() != 2 {
			t.Errorf("got %v with %d written, want the deadline with 2", err, done.Load())
		}
		if err := g.flush(t.Context()); err != nil || done.Load() != 3 {
			t.Errorf("got %v with %d written, want 3", err, done.Load())
		}
		g.later(writeOf("alone"), func() {})
		if err := g.flush(t.Context()); err != nil {
			t.Error(err)
		}
		wantBatches(t, got, "0s: 0, 2 late", "1s: 0, 1 late", "2s: 0, 1 late")
	})
}
