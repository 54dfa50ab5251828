// Command mutate makes small random changes of the code, one at a time, and says who notices each: the tests beside the code, the
// tests of packages that use it, or else the simulation. It prints a Markdown table.
//
//	go run ./cmd/mutate -n 60 -seed 1                                  # anywhere in the packages that move money
//	go run ./cmd/mutate -n 60 -files 'journal/(run|recover)\.go$'      # in these files only
//
// The repository is not changed: a changed file takes the place of the other with go build -overlay.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// root is the root of the repository, seen from the module in which the command runs.
const root = ".."

func main() {
	var (
		n        = flag.Int("n", 60, "how many changes")
		seed     = flag.Uint64("seed", 1, "selects the changes")
		packages = flag.String("packages", "journal,internal/verdict,internal/resolve,internal/walk", "where changes are made")
		files    = flag.String("files", "", "only in files whose path matches this expression")
		tests    = flag.String("tests", "journal,.", "packages whose tests judge after those of the changed package")
		length   = flag.Duration("for", time.Minute, "how long the simulation looks for what no test notices; zero means not at all")
	)
	flag.Parse()
	if err := mutate(*n, *seed, strings.Split(*packages, ","), *files, strings.Split(*tests, ","), *length); err != nil {
		fmt.Fprintln(os.Stderr, "mutate:", err)
		os.Exit(2)
	}
}

func mutate(n int, seed uint64, packages []string, files string, tests []string, length time.Duration) error {
	only, err := regexp.Compile(files)
	if err != nil {
		return err
	}
	mutants, err := sample(root, packages, only, n, seed)
	if err != nil {
		return err
	}
	repository, err := filepath.Abs(root)
	if err != nil {
		return err
	}
	fmt.Printf("%d changes, seed %d\n\n| Change | Noticed by |\n|---|---|\n", len(mutants), seed)
	noticed := 0
	for _, m := range mutants {
		by, err := noticedBy(repository, m, tests, length)
		if err != nil {
			return fmt.Errorf("%v: %w", m, err)
		}
		fmt.Printf("| %v | %s |\n", m, by)
		if by != "nobody" {
			noticed++
		}
	}
	fmt.Printf("\nNoticed: %d of %d.\n", noticed, len(mutants))
	return nil
}

// noticedBy says who notices a change first.
func noticedBy(repository string, m mutant, tests []string, length time.Duration) (by string, err error) {
	dir, err := os.MkdirTemp("", "mutate")
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	overlay, err := m.overlay(repository, dir)
	if err != nil {
		return "", err
	}
	beside := "./" + filepath.ToSlash(filepath.Dir(m.file))
	if !passes(repository, "go", "build", "-overlay", overlay, beside) {
		return "the compiler", nil
	}
	for _, tested := range append([]string{beside}, tests...) {
		tested = "./" + strings.TrimPrefix(tested, "./")
		if !passes(repository, "go", "test", "-overlay", overlay, "-failfast", "-timeout=5m", "-vet=off", tested) {
			return "tests of " + tested, nil
		}
	}
	// A worker that ends, for example without memory, is noticed too.
	if length > 0 && !passes(filepath.Join(repository, "proof"), "go", "run", "./cmd/simulate", "-overlay", overlay, "-first", "-store", "mixed",
		"-seeds", "1000000", fmt.Sprintf("-for=%v", length)) {
		return "the simulation", nil
	}
	return "nobody", nil
}

// passes runs a command. One that takes very long has not passed: a change can make a loop endless.
func passes(dir string, command ...string) bool {
	ctx, cancel := context.WithTimeout(context.Background(), 15*time.Minute)
	defer cancel()
	c := exec.CommandContext(ctx, command[0], command[1:]...)
	c.Dir = dir
	return c.Run() == nil
}

// overlay writes the changed file to dir, and returns the path of a file for go build -overlay.
func (m mutant) overlay(repository, dir string) (string, error) {
	path := filepath.Join(repository, m.file)
	text, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	if text, err = m.change(text); err != nil {
		return "", err
	}
	changed := filepath.Join(dir, "changed.go")
	if err := os.WriteFile(changed, text, 0o600); err != nil {
		return "", err
	}
	data, err := json.Marshal(map[string]map[string]string{"Replace": {path: changed}})
	if err != nil {
		return "", err
	}
	overlay := filepath.Join(dir, "overlay.json")
	return overlay, os.WriteFile(overlay, data, 0o600)
}
