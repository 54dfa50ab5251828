//go:build unix

package program

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
)

// TestReadme: the first program of README.md runs as it stands in an empty module.
func TestReadme(t *testing.T) {
	clone, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	first := regexp.MustCompile("(?s)```go\n(.*?)```").FindSubmatch(read(t, filepath.Join(root, "README.md")))
	if first == nil {
		t.Fatal("README.md has no program")
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "main.go"), first[1], 0o600); err != nil {
		t.Fatal(err)
	}
	var out []byte
	for _, args := range [][]string{
		{"mod", "init", "example.com/shop"},
		{"mod", "edit", "-replace", "github.com/cardgateway/cardgateway-go=" + clone, "-require", "github.com/cardgateway/cardgateway-go@v0.0.0"},
		{"run", "-mod=mod", "."},
	} {
		cmd := exec.CommandContext(t.Context(), "go", args...)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOWORK=off")
		if out, err = cmd.CombinedOutput(); err != nil {
			t.Fatalf("go %s: %v\n%s", args[0], err, out)
		}
	}
	if want := "t-1002 approved 12.50 USD\n"; string(out) != want {
		t.Errorf("got %q, want %q", out, want)
	}
}
