// Command simulate runs histories of package simulation, each decided by a seed, and prints those that break a promise.
//
//	go run ./cmd/simulate -seeds 1000 -days 30
//	go run ./cmd/simulate -replay 17
//
// It builds the test of the package, because virtual time needs one, and runs it in as many processes as there are cores. It says
// once a minute how far it is. The last line has the sums. It exits with 1 if a promise was broken, and with 2 if a process ended
// before its seeds were done.
package main

import (
	"bufio"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"
)

func main() {
	var o options
	flag.IntVar(&o.seeds, "seeds", 100, "number of seeds; with -for, at most so many")
	flag.Uint64Var(&o.seed, "seed", 1, "first seed")
	flag.IntVar(&o.workers, "workers", runtime.NumCPU(), "processes")
	flag.StringVar(&o.overlay, "overlay", "", "a file for go test -overlay: changes of the code under test")
	passed := []string{"replay", "days", "store", "for", "whole", "shrink", "first"}
	replay := flag.Uint64("replay", 0, "tell the story of this seed, and the shortest one that breaks the same promise")
	flag.Int("days", 30, "days of a history")
	flag.String("store", "memory", "memory, sqlite, postgres or mixed")
	flag.Duration("for", 0, "begin no new seeds after this time")
	flag.Bool("whole", false, "with -replay: tell the whole story, too")
	flag.Duration("shrink", 20*time.Second, "how long to look for a shorter history that breaks the same promise")
	flag.Bool("first", false, "end with the first seed that breaks a promise")
	flag.Parse()
	for _, name := range passed {
		o.passed = append(o.passed, fmt.Sprintf("-%s=%v", name, flag.Lookup(name).Value))
	}
	if *replay != 0 {
		o.workers = 1
	}
	broken, err := o.run(os.Stdout)
	switch {
	case err != nil:
		fmt.Fprintln(os.Stderr, "simulate:", err)
		os.Exit(2)
	case broken:
		os.Exit(1)
	}
}

type options struct {
	seeds, workers int
	seed           uint64
	overlay        string
	passed         []string // flags of the test
}

func (o *options) run(out io.Writer) (broken bool, err error) {
	dir, err := os.MkdirTemp("", "simulate")
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	binary := filepath.Join(dir, "simulation.test")
	build := exec.Command("go", "test", "-c", "-overlay="+o.overlay, "-o", binary, "github.com/cardgateway/cardgateway-go/proof/simulation")
	build.Stderr = os.Stderr
	if err := build.Run(); err != nil {
		return false, fmt.Errorf("building the test: %w", err)
	}
	var sum sums
	var mu sync.Mutex
	var all sync.WaitGroup
	failed := make([]error, o.workers)
	for i := range o.workers {
		all.Go(func() {
			failed[i] = o.worker(binary, i, func(line string) {
				mu.Lock()
				defer mu.Unlock()
				if !sum.add(line) {
					fmt.Fprintln(out, line)
				}
			})
		})
	}
	begun := time.Now()
	go func() {
		for range time.Tick(time.Minute) {
			mu.Lock()
			fmt.Fprintf(os.Stderr, "after %v: %v\n", time.Since(begun).Round(time.Minute), sum)
			mu.Unlock()
		}
	}()
	all.Wait()
	mu.Lock()
	defer mu.Unlock()
	fmt.Fprintf(out, "%.0f days of virtual time\n%v\n", sum.days, sum)
	return sum.violations > 0, errors.Join(failed...)
}

// worker runs every n-th seed in a process of its own.
func (o *options) worker(binary string, i int, line func(string)) error {
	count := (o.seeds - i + o.workers - 1) / o.workers
	if count <= 0 {
		return nil
	}
	cmd := exec.Command(binary, append([]string{
		"-test.run=^TestSimulate$", "-test.timeout=0",
		fmt.Sprintf("-seeds=%d", count), fmt.Sprintf("-seed=%d", o.seed+uint64(i)), fmt.Sprintf("-step=%d", o.workers),
	}, o.passed...)...)
	cmd.Env = append(os.Environ(), "GOMAXPROCS=1")
	cmd.Stderr = os.Stderr
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	lines := bufio.NewScanner(stdout)
	lines.Buffer(nil, 1<<24)
	done := 0 // seeds
	for lines.Scan() {
		switch text := lines.Text(); {
		case text == "PASS", text == "FAIL", strings.HasPrefix(text, "--- "):
		case strings.HasPrefix(text, "sum "):
			done++
			line(text)
		default:
			line(text)
		}
	}
	err = cmd.Wait()
	if exit, ok := errors.AsType[*exec.ExitError](err); err != nil && !(ok && exit.ExitCode() == 1) { // 1: a promise was broken
		return fmt.Errorf("a worker ended with seed %d: %w", o.seed+uint64(i)+uint64(done*o.workers), err)
	}
	return nil
}

// sums adds up what the histories were.
type sums struct {
	seeds, steps, violations int
	days                     float64 // of virtual time
}

func (s sums) String() string {
	return fmt.Sprintf("seeds %d, steps %d, violations %d", s.seeds, s.steps, s.violations)
}

// add adds a line about one history, and reports false for any other line.
func (s *sums) add(line string) bool {
	var steps, violations int
	var days float64
	var after string
	if n, _ := fmt.Sscanf(line, "sum %d %d after %s %f days", &steps, &violations, &after, &days); n != 4 {
		return false
	}
	s.seeds, s.steps, s.violations, s.days = s.seeds+1, s.steps+steps, s.violations+violations, s.days+days
	return true
}
