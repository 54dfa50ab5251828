package files

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestReplace: a file is replaced as a whole, nobody else can read it, and nothing is left beside it.
func TestReplace(t *testing.T) {
	path := filepath.Join(t.TempDir(), "report.csv")
	if err := os.WriteFile(path, []byte("old"), 0o644); err != nil {
		t.Fatal(err)
	}
	f, err := Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString("half"); err != nil {
		t.Error(err)
	}
	f.Remove()
	want(t, path, "old")
	if err := Replace(path, []byte("new")); err != nil {
		t.Error(err)
	}
	want(t, path, "new")
	if info, err := os.Stat(path); err != nil || os.PathSeparator == '/' && info.Mode().Perm() != 0o600 {
		t.Errorf("got mode %v, %v, want 0600", info.Mode(), err)
	}
	if err := Replace(filepath.Join(path, "none"), nil); err == nil {
		t.Error("got no error for a folder that is not there")
	}
}

// want holds a file to its text, and its folder to that file alone.
func want(t *testing.T, path, text string) {
	t.Helper()
	if got, err := os.ReadFile(path); err != nil || string(got) != text {
		t.Errorf("got %q, %v, want %q", got, err, text)
	}
	if all, err := os.ReadDir(filepath.Dir(path)); err != nil || len(all) != 1 {
		t.Errorf("got the files %v, %v, want one", all, err)
	}
}

func TestReadBounded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(path, make([]byte, 2048), 0o600); err != nil {
		t.Fatal(err)
	}
	if text, err := ReadBounded(path, 2048); err != nil || len(text) != 2048 {
		t.Errorf("got %d bytes, %v, want all 2048", len(text), err)
	}
	if _, err := ReadBounded(path, 2047); err == nil || !strings.Contains(err.Error(), "has more than 1 KiB") {
		t.Errorf("got %v, want that it is too long", err)
	}
	if _, err := ReadBounded(path+"x", 1); !os.IsNotExist(err) {
		t.Errorf("got %v, want that it is not there", err)
	}
}
