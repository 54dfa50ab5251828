package sqlstore

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cardgateway/cardgateway-go/journal"
)

// batches is a commit group whose batches take a second each; it remembers what they have written.
func batches() (g *commitGroup, sizes *[]string) {
	sizes = new([]string)
	begun := time.Now()
	var mu sync.Mutex
	g = new(commitGroup)
	g.apply = func(_ context.Context, batch []*write) {
		mu.Lock()
		*sizes = append(*sizes, fmt.Sprintf("%v: %d", time.Since(begun), len(batch)))
		mu.Unlock()
		time.Sleep(time.Second)
		for _, w := range batch {
			w.changed = true
			w.finish()
		}
	}
	return g, sizes
}

func writeOf(id string) *write {
	return &write{key: journal.Key{ID: journal.PaymentID(id)}}
}

func wantBatches(t *testing.T, got *[]string, want ...string) {
	t.Helper()
	synctest.Wait()
	if fmt.Sprint(*got) != fmt.Sprint(want) {
		t.Errorf("got batches\n%q, want\n%q", *got, want)
	}
}

// TestSharedBatch: other writes wait for a batch that is under way, and then share one.
func TestSharedBatch(t *testing.T) {
	for _, tt := range []struct {
		name   string
		others []string // that write meanwhile
		want   []string
	}{
		{"nobody", nil, []string{"0s: 1", "1.5s: 1"}},
		{"two", []string{"a", "b"}, []string{"0s: 1", "1s: 2", "2s: 1"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g, got := batches()
				awaited := func(id string) { go func() { _ = g.do(t.Context(), writeOf(id)) }() }
				awaited("first")
				time.Sleep(5 * time.Millisecond)
				for _, id := range tt.others {
					awaited(id)
				}
				time.Sleep(1495 * time.Millisecond)
				awaited("again")
				time.Sleep(5 * time.Second)
				wantBatches(t, got, tt.want...)
				if g.running {
					t.Error("a batch is still taken as under way")
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
		g := new(commitGroup)
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

// TestLeaderLeaves: a lone writer is told what was done, although its context ended meanwhile.
func TestLeaderLeaves(t *testing.T) {
	for range 20 { // a choice by chance would be noticed
		synctest.Test(t, func(t *testing.T) {
			g, _ := batches()
			ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
			defer cancel()
			if err := g.do(ctx, writeOf("a")); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// TestFailsTooLate: the database's error of a write that has failed after its caller's time is kept: it says why it took so long.
func TestFailsTooLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		errLocked := errors.New("database is locked")
		g := &commitGroup{apply: func(_ context.Context, batch []*write) {
			time.Sleep(time.Second)
			batch[0].err = errLocked
			batch[0].finish()
		}}
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		if err := g.do(ctx, writeOf("a")); !errors.Is(err, errLocked) || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v, want %v and %v", err, errLocked, context.DeadlineExceeded)
		}
	})
}

// TestPanicInABatch: a driver that panics in one batch stops none that follows.
func TestPanicInABatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, got := batches()
		sound := g.apply
		g.apply = func(ctx context.Context, batch []*write) {
			g.apply = sound
			time.Sleep(10 * time.Millisecond)
			panic("in the driver")
		}
		go func() {
			time.Sleep(5 * time.Millisecond)
			if err := g.do(t.Context(), writeOf("waits meanwhile")); err != nil {
				t.Error(err)
			}
		}()
		func() {
			defer func() {
				if recover() == nil {
					t.Error("the panic does not reach the caller")
				}
			}()
			_ = g.do(t.Context(), writeOf("a"))
		}()
		time.Sleep(100 * time.Millisecond)
		if err := g.do(t.Context(), writeOf("comes later")); err != nil {
			t.Error(err)
		}
		wantBatches(t, got, "10ms: 1", "1.01s: 1")
		if g.running {
			t.Error("a batch is still taken as under way")
		}
	})
}

// TestOthersAreNotAwaited: every writer returns when its own write is made, also the one that starts a batch.
func TestOthersAreNotAwaited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		made, returned, largest := map[string]time.Time{}, map[string]time.Time{}, 0
		g := new(commitGroup)
		g.apply = func(_ context.Context, batch []*write) {
			for i, w := range batch {
				if i > 0 {
					time.Sleep(time.Second)
				}
				mu.Lock()
				made[w.key.ID.Text], largest = time.Now(), max(largest, len(batch))
				mu.Unlock()
				w.finish()
			}
		}
		for i := range 8 {
			go func() {
				w := writeOf(fmt.Sprint(i))
				_ = g.do(t.Context(), w)
				mu.Lock()
				defer mu.Unlock()
				returned[w.key.ID.Text] = time.Now()
			}()
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if len(made) != 8 || !maps.Equal(made, returned) {
			t.Errorf("made at\n%v, returned at\n%v", made, returned)
		}
		if largest == 1 {
			t.Error("no batch was shared")
		}
	})
}
