//go:build unix

package program

import "testing"

// TestTesting runs the tests of docs/sandbox.md: each block that is a whole file is one of a package.
func TestTesting(t *testing.T) {
	t.Parallel()
	files := filesOf(t, "sandbox.md", "file%d_test.go")
	if len(files) < 3 {
		t.Fatalf("the page has %d files, want more: they are not found", len(files))
	}
	goCommand(t, append([]string{"test"}, files...)...)
}
