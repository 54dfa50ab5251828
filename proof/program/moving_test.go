//go:build unix

package program

import (
	"os/exec"
	"regexp"
	"testing"
)

// TestMoving runs the last program of docs/start.md: the code before charges twice and logs the token, the code after charges once. It prints
// what the page shows.
func TestMoving(t *testing.T) {
	t.Parallel()
	files := filesOf(t, "start.md", "file%d.go")
	shown := regexp.MustCompile("(?ms)^## From hand-written code\n.*?^```text\n(.*?)^```").FindSubmatch(read(t, startPage))
	if len(files) != 3 || shown == nil {
		t.Fatalf("the page has %d files, want 3, and what they print", len(files))
	}
	cmd := exec.CommandContext(t.Context(), "go", append([]string{"run"}, files...)...)
	cmd.Dir = root
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	comparable := func(printed []byte) string {
		return string(regexp.MustCompile(`(?m)^[\d/]+ [\d:]+ |127\.0\.0\.1:\d+|tok[A-Z2-7]{20,}`).ReplaceAll(printed, nil)) // times, ports, the token
	}
	if got, want := comparable(out), comparable(shown[1]); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
