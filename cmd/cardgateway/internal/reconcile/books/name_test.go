package books

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestName: what is no name of a file is refused in words (see database.TestParse), and nothing is created for it.
func TestName(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	for _, test := range []struct{ name, want string }{
		{"u:hunter2@tcp(localhost:3306)/rec", "looks like a database server"},
		{"mysql://u:hunter2@localhost/rec", "is a MySQL database"},
		{".", "is a directory"},
		{"none/books.db", "no such file or directory"},
	} {
		t.Run(test.name, func(t *testing.T) {
			b, err := Open(t.Context(), test.name)
			if err == nil {
				t.Fatal(b.Close())
			}
			if !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "hunter2") {
				t.Errorf("got %v, want in it %q and no password", err, test.want)
			}
		})
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 0 {
		t.Errorf("got files %v, %v, want none", entries, err)
	}
	for _, name := range []string{"books.db", "a b.db", "50%25.db", "what?.db", "number#1.db", "plus+and&.db", "ü.db", "./u:p@x.db", "equals=.db",
		filepath.Join(dir, "whole.db")} {
		b := open(t, name)
		succeeds(t, b.Close())
		if info, err := os.Stat(name); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: got %v, %v, want a file that others cannot read", name, info, err)
		}
	}
}
