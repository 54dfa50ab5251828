package simulation

import (
	"flag"
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/cardgateway/cardgateway-go/internal/test/pgserver"
)

var (
	seeds     = flag.Int("seeds", 0, "number of seeds; zero: the fixed ones")
	seed      = flag.Uint64("seed", 1, "first seed")
	step      = flag.Uint64("step", 1, "to the next seed")
	days      = flag.Int("days", 30, "days of a history")
	store     = flag.String("store", "memory", "memory, sqlite, postgres or mixed")
	length    = flag.Duration("for", 0, "begin no new seeds after this time")
	replay    = flag.Uint64("replay", 0, "tell the story of this seed")
	whole     = flag.Bool("whole", false, "with replay: tell the whole story, too")
	shrinkFor = flag.Duration("shrink", 20*time.Second, "how long to look for a shorter history that breaks the same promise")
	onlyOne   = flag.Bool("first", false, "end with the first broken seed")
)

// TestSimulate runs histories. Without flags, a few fixed ones; cmd/simulate sets the flags and reads what is printed.
func TestSimulate(t *testing.T) {
	n := *seeds
	switch {
	case *replay != 0:
		n, *seed = 1, *replay
	case n == 0:
		n = 30
	}
	if *store == "postgres" || *store == "mixed" {
		server, err := pgserver.Start()
		if err != nil {
			t.Fatal(err)
		}
		defer server.Stop()
		Postgres = server
	}
	begun := time.Now()
	for i := range n {
		if *length > 0 && time.Since(begun) > *length {
			break
		}
		current := *seed + uint64(i)**step
		h := Plan(current, *days, *store)
		stop := watch(func() {
			if Postgres != nil {
				_ = Postgres.Stop()
			}
			panic(fmt.Sprintf("a step of seed %d does not end", current))
		})
		r := Run(t, h, *replay != 0)
		stop()
		if n, grown := leftOver(); n > 0 {
			r.Broken = append(r.Broken, Violation{"nothing is left", fmt.Sprintf("%d goroutines more, a heap of %d MB", n, grown>>20), len(h.Steps)})
		}
		if *whole {
			for _, line := range r.Story {
				fmt.Println(line)
			}
		}
		if len(r.Broken) > 0 {
			r2 := Run(t, h, false)
			same := len(r2.Broken) > 0 && r2.Broken[0] == r.Broken[0]
			fmt.Printf("seed %d breaks a promise; the same one when it runs again: %v\n", current, same)
		}
		for _, v := range r.Broken {
			fmt.Printf("seed %d, after step %d of %d: %s: %s\n", current, v.Step, len(h.Steps), v.Promise, v.Text)
		}
		fmt.Printf("sum %d %d after %v, %.0f days\n", r.Steps, len(r.Broken), time.Since(begun).Round(time.Millisecond), r.Days)
		if len(r.Broken) > 0 {
			if *shrinkFor > 0 {
				printShort(t, h)
			}
			t.Errorf("seed %d breaks a promise", current)
			if *onlyOne {
				return
			}
		}
	}
}

// watch calls stuck if five minutes pass without a step, and without virtual time between the calls of a store, until it is stopped. A
// whole history has no limit, nor has a week in which Run lists a database every five seconds: on a busy machine they take longer.
func watch(stuck func()) (stop func()) {
	done := make(chan struct{})
	go func() {
		now := func() [2]int64 { return [2]int64{stepsTaken.Load(), asked.Load()} }
		for before := now(); ; before = now() {
			select {
			case <-done:
				return
			case <-time.After(5 * time.Minute):
			}
			if now() == before {
				stuck()
			}
		}
	}()
	return func() { close(done) }
}

// leftOver returns how many goroutines there are beyond what a few connections need, or how large the heap is if it is
// larger than a history needs.
func leftOver() (goroutines int, heap uint64) {
	var m runtime.MemStats
	for range 20 { // what is about to end may do so
		if goroutines = max(0, runtime.NumGoroutine()-30); goroutines == 0 {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	if runtime.ReadMemStats(&m); m.HeapInuse > 256<<20 {
		runtime.GC()
		if runtime.ReadMemStats(&m); m.HeapInuse > 128<<20 {
			return max(goroutines, 1), m.HeapInuse
		}
	}
	return goroutines, m.HeapInuse
}

// printShort prints the shortest history found, as a story and as a test.
func printShort(t *testing.T, h *History) {
	begun := time.Now()
	short, r := Shrink(t, h, *shrinkFor)
	fmt.Printf("\nseed %d: %d of its %d steps break a promise (found in %v):\n", h.Seed, len(short.Steps), len(h.Steps), time.Since(begun).Round(time.Second))
	for _, line := range r.Story {
		fmt.Println("  " + line)
	}
	fmt.Printf("\n%s\n", short.Code())
}
