// Command plant changes the code under test in one place at a time, and lets the simulation look for the fault. It prints a
// Markdown page: a table of what was found, after how long and with which seed, a table of faults that no history can show, and
// the stories.
//
//	go run ./cmd/plant -for 10m >simulation/PLANTED.md     # the faults listed in faults.go
//	go run ./cmd/plant -sample 60 -for 1m                  # small changes anywhere in the packages that move money
//	go run ./cmd/plant -sample 60 -for 1m -tests           # and whether the tests notice each; faults and kills if neither does
//
// The repository is not changed: the changed files take the place of the others with go build -overlay.
package main

import (
	"bytes"
	"cmp"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

func main() {
	var (
		length   = flag.Duration("for", 10*time.Minute, "how long to look for each")
		days     = flag.Int("days", 30, "days of a history")
		store    = flag.String("store", "memory", "memory, sqlite, postgres or mixed")
		only     = flag.String("only", "", "only the faults whose names match this expression")
		samples  = flag.Int("sample", 0, "so many sampled changes, instead of the listed faults")
		seed     = flag.Uint64("seed", 1, "of the sample")
		tests    = flag.Bool("tests", false, "also say whether the tests beside the code notice each, and those of this module if nothing else does")
		packages = flag.String("packages", "journal,internal/verdict,internal/resolve,internal/walk", "which are sampled")
	)
	flag.Parse()
	s := search{length: *length, days: *days, store: *store}
	if *tests {
		s.judges = judges
	}
	planted, err := plants(*only, *samples, *seed, strings.Split(*packages, ","))
	if err == nil {
		err = s.all(planted)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "plant:", err)
		os.Exit(2)
	}
}

// root is the root of the repository, seen from the module in which the command runs.
const root = ".."

// plant is one change to look for.
type plant struct {
	name, says string
	texts      map[string]string // of the changed files
	store      string            // if it needs one
}

// plants returns the listed faults, or a sample of changes.
func plants(only string, samples int, seed uint64, packages []string) (all []plant, err error) {
	if samples > 0 {
		mutants, err := sample(root, packages, samples, seed)
		if err != nil {
			return nil, err
		}
		for _, m := range mutants {
			texts, err := m.texts(root)
			if err != nil {
				return nil, err
			}
			all = append(all, plant{m.String(), "", texts, ""})
		}
		return all, nil
	}
	wanted, err := regexp.Compile(only)
	if err != nil {
		return nil, err
	}
	for _, f := range faults {
		if !wanted.MatchString(f.Name) {
			continue
		}
		texts, err := edited(root, f.Edits)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.Name, err)
		}
		all = append(all, plant{f.Name, f.Says, texts, stores[f.Name]})
	}
	return all, nil
}

// search looks for planted faults.
type search struct {
	length time.Duration
	days   int
	store  string
	judges []judge
}

// judge is what may notice a change beside the simulation.
type judge struct {
	name string
	// notices reports whether a change is noticed, or says why it was not asked.
	notices func(repository, overlay string, p *plant, r *result) string
}

var judges = []judge{
	{"Tests beside the code", func(repository, overlay string, p *plant, _ *result) string {
		for path := range p.texts { // the package itself first: it is the fastest
			if failing(repository, overlay, "./"+filepath.ToSlash(filepath.Dir(path))) == "yes" {
				return "yes"
			}
		}
		return failing(repository, overlay, "./journal", ".")
	}},
	{"Faults, kills", func(repository, overlay string, _ *plant, r *result) string {
		if r.verdict != "no" || slices.Contains(r.others, "yes") {
			return "not asked"
		}
		return failing(filepath.Join(repository, "faults"), overlay, "-run=^(TestMix|TestRefunds|TestEvery|TestRace|TestKill)", ".")
	}},
}

// failing says whether tests fail with a change.
func failing(dir, overlay string, args ...string) string {
	test := exec.Command("go", append([]string{"test", "-overlay", overlay, "-failfast", "-timeout=5m", "-vet=off"}, args...)...)
	test.Dir = dir
	if test.Run() != nil {
		return "yes"
	}
	return "no"
}

// all looks for one after another, and prints the page.
func (s *search) all(planted []plant) error {
	fmt.Printf("# Planted faults\n\nEach was looked for in histories of %d days for %v at most, at commit %s.\n\n", s.days, s.length, commit())
	fmt.Print("| Planted | What goes wrong | Found | After | Seed |")
	for _, j := range s.judges {
		fmt.Printf(" %s |", j.name)
	}
	fmt.Printf("\n|%s\n", strings.Repeat("---|", 5+len(s.judges)))
	var stories strings.Builder
	found, noticed := 0, make([]int, len(s.judges))
	for _, p := range planted {
		r, err := s.one(&p)
		if err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
		fmt.Printf("| %s | %s | %s | %v | %s |", p.name, p.says, r.verdict, r.took.Round(100*time.Millisecond), r.seed)
		for i, verdict := range r.others {
			fmt.Printf(" %s |", verdict)
			if verdict == "yes" {
				noticed[i]++
			}
		}
		fmt.Println()
		if r.seed != "" {
			found++
			fmt.Fprintf(&stories, "\n### %s\n\n```\n%s\n```\n", p.name, shortened(r.story))
		}
	}
	fmt.Printf("\nFound %d of %d.", found, len(planted))
	for i, j := range s.judges {
		fmt.Printf(" %s: %d.", j.name, noticed[i])
	}
	fmt.Printf("\n\n## Out of reach\n\n| Fault | Why no history shows it |\n|---|---|\n")
	for _, f := range outOfReach {
		fmt.Printf("| %s | %s |\n", f.Fault, f.Why)
	}
	fmt.Printf("\n## Stories\n%s", stories.String())
	return nil
}

// result is what the simulation said of one change.
type result struct {
	verdict string // yes, no, or does not compile
	seed    string
	story   string
	took    time.Duration
	others  []string // of the judges
}

var (
	brokenSeed = regexp.MustCompile(`(?m)^seed (\d+), after step .*$`)
	endedSeed  = regexp.MustCompile(`(?m)^a worker ended with seed (\d+)`)
	shortStory = regexp.MustCompile(`(?ms)^seed \d+: .*?(?:\n\n|\z)`)
)

func (s *search) one(p *plant) (r result, err error) {
	dir, err := os.MkdirTemp("", "plant")
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	absolute, err := filepath.Abs(root)
	if err != nil {
		return r, err
	}
	path, err := overlay(absolute, dir, p.texts)
	if err != nil {
		return r, err
	}
	build := exec.Command("go", "build", "-overlay", path, ".", "./journal", "./notify", "./internal/reconcile/match")
	build.Dir = absolute
	if out, err := build.CombinedOutput(); err != nil {
		return result{verdict: "does not compile: " + strings.ReplaceAll(string(out), "\n", " ")}, nil
	}
	begun := time.Now()
	var out bytes.Buffer
	run := exec.Command("go", "run", "./cmd/simulate", "-overlay", path, "-first", "-seeds", "1000000",
		fmt.Sprintf("-for=%v", s.length), fmt.Sprintf("-days=%d", s.days), "-store", cmp.Or(p.store, s.store))
	run.Stdout, run.Stderr = &out, &out
	failed := run.Run()
	r = result{verdict: "no", took: time.Since(begun)}
	if m := brokenSeed.FindSubmatch(out.Bytes()); m != nil {
		r.verdict, r.seed = "yes", string(m[1])
		r.story = strings.TrimSpace(string(shortStory.Find(out.Bytes())))
	} else if failed != nil { // for example, a worker that panicked or ran out of memory: also noticed
		r.verdict, r.seed, r.story = "yes", "-", tail(out.String())
		if m := endedSeed.FindSubmatch(out.Bytes()); m != nil {
			r.seed = string(m[1])
		}
	}
	for _, j := range s.judges {
		r.others = append(r.others, j.notices(absolute, path, p, &r))
	}
	return r, nil
}

// commit returns the commit of the repository, as short text.
func commit() string {
	out, err := exec.Command("git", "-C", root, "rev-parse", "--short", "HEAD").Output()
	if err != nil {
		return "unknown"
	}
	return strings.TrimSpace(string(out))
}

// shortened leaves out the middle of a long story, and the end of a long line.
func shortened(story string) string {
	const most, begin, width = 40, 6, 300
	lines := strings.Split(story, "\n")
	if left := len(lines) - most; left > 0 {
		lines = slices.Concat(lines[:begin], []string{fmt.Sprintf("  … %d lines", left)}, lines[begin+left:])
	}
	for i, line := range lines {
		if len(line) > width {
			lines[i] = strings.ToValidUTF8(line[:width], "") + "…"
		}
	}
	return strings.Join(lines, "\n")
}

// tail returns the last lines of a text.
func tail(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.Join(lines[max(0, len(lines)-20):], "\n")
}
