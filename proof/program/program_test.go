//go:build unix

package program

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// root is the directory of the repository.
const root = "../.."

// goCommand runs the go command in the repository. It ends the test if that fails.
func goCommand(t *testing.T, args ...string) {
	t.Helper()
	cmd := exec.Command("go", args...)
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go %s: %v\n%s", args[0], err, out)
	}
}

// read returns what a file contains.
func read(t *testing.T, path string) []byte {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// filesOf writes the blocks of a page that are whole Go files, names them with the format and their number, and returns their paths.
func filesOf(t *testing.T, page, format string) (paths []string) {
	t.Helper()
	dir, text := t.TempDir(), read(t, filepath.Join(root, "docs", page))
	for i, found := range regexp.MustCompile("(?ms)^```go\n(package .*?)^```").FindAllSubmatch(text, -1) {
		paths = append(paths, filepath.Join(dir, fmt.Sprintf(format, i)))
		if err := os.WriteFile(paths[i], found[1], 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return paths
}

func await(t *testing.T, most time.Duration, what string, done func() bool) {
	t.Helper()
	for deadline := time.Now().Add(most); !done(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("no %s within %v", what, most)
		}
	}
}

const programPage = root + "/docs/program.md"

// TestProgramIsShown: docs/program.md shows files of examples/shop/payments as they are, at most 600 lines. With -write it writes them into the
// page.
func TestProgramIsShown(t *testing.T) {
	page := read(t, programPage)
	lines, files := 0, 0
	shown := regexp.MustCompile("(?ms)^## (\\w+\\.go)[^\n]*\n.*?^```go\n.*?^```").ReplaceAllStringFunc(string(page), func(section string) string {
		name, _, _ := strings.Cut(strings.TrimPrefix(section, "## "), ":")
		file := read(t, filepath.Join(root, "examples/shop/payments", name))
		before, _, _ := strings.Cut(section, "```go\n")
		files++
		lines += strings.Count(string(file), "\n")
		return before + "```go\n" + string(file) + "```"
	})
	if files < 3 || lines > 600 {
		t.Errorf("the page shows %d files with %d lines, want at least 3, and at most 600 lines", files, lines)
	}
	if *writeOutput {
		if err := os.WriteFile(programPage, []byte(shown), 0o644); err != nil {
			t.Error(err)
		}
	} else if shown != string(page) {
		t.Error("the page does not show the files as they are: run this test with -write")
	}
}

// TestProgramCanBeCopied does what the page says: the shop in a module of its own.
func TestProgramCanBeCopied(t *testing.T) {
	t.Parallel()
	page := read(t, programPage)
	clone, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	commands := regexp.MustCompile("(?s)```sh\ngit clone [^\n]*\n(.*?)```").FindSubmatch(page)
	if commands == nil {
		t.Fatal("the page has no commands after git clone")
	}
	cmd := exec.CommandContext(t.Context(), "bash", "-ec", strings.NewReplacer("../cardgateway-go", clone, " cardgateway-go/", " "+clone+"/").Replace(string(commands[1])))
	cmd.Dir, cmd.Env = t.TempDir(), append(os.Environ(), "GOWORK=off", "GOFLAGS=")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}
