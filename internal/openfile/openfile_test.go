package openfile

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// TestCheck: whatever happens to the file, or to its directory, is noticed, and stays so.
func TestCheck(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(dir, file string) error
		lost   bool
	}{
		{"nothing", func(string, string) error { return nil }, false},
		{"written to", func(_, file string) error { return os.WriteFile(file, []byte("more"), 0o600) }, false},
		{"moved away", func(_, file string) error { return os.Rename(file, file+".old") }, true},
		{"deleted", func(_, file string) error { return os.Remove(file) }, true},
		{"deleted and created again", func(_, file string) error {
			err := errors.Join(os.Remove(file), os.WriteFile(file+".filler", nil, 0o600)) // so that the new one has another number
			return errors.Join(err, os.WriteFile(file, nil, 0o600))
		}, true},
		{"a backup renamed into its place", func(_, file string) error {
			return errors.Join(os.WriteFile(file+".backup", nil, 0o600), os.Rename(file+".backup", file))
		}, true},
		{"a link to another file", func(dir, file string) error {
			other := filepath.Join(dir, "other")
			return errors.Join(os.WriteFile(other, nil, 0o600), os.Rename(file, file+".old"), os.Symlink(other, file))
		}, true},
		{"a link to itself", func(_, file string) error {
			return errors.Join(os.Rename(file, file+".old"), os.Symlink(file+".old", file))
		}, true}, // whoever opens it there has another log
		{"a directory in its place", func(_, file string) error {
			return errors.Join(os.Remove(file), os.Mkdir(file, 0o700))
		}, true},
		{"the directory renamed", func(dir, _ string) error { return os.Rename(dir, dir+".old") }, true},
		{"its log deleted", func(_, file string) error { return os.Remove(file + "-wal") }, true},
		{"its log replaced", func(_, file string) error {
			return errors.Join(os.Rename(file+"-wal", file+".old"), os.WriteFile(file+"-wal", []byte("x"), 0o600))
		}, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "data")
			file := filepath.Join(dir, "a.db")
			err := errors.Join(os.Mkdir(dir, 0o700), os.WriteFile(file, []byte("x"), 0o600), os.WriteFile(file+"-wal", []byte("x"), 0o600))
			if err != nil {
				t.Fatal(err)
			}
			open, err := os.Open(file) // as a database does: its number is not used again
			if err != nil {
				t.Fatal(err)
			}
			defer open.Close()
			var f File
			if err := f.Note(t.Context(), file); err != nil {
				t.Fatal(err)
			}
			beside := f.Beside("-wal", "-none")
			if err := f.Check(beside...); err != nil {
				t.Fatal(err)
			}
			if err := tt.change(dir, file); err != nil {
				t.Skip(err) // some systems do not let an open file be moved
			}
			err = f.Check(beside...)
			if (err != nil) != tt.lost {
				t.Errorf("got %v, want an error: %t", err, tt.lost)
			}
			if tt.lost && f.Check() == nil {
				t.Error("it is accepted again")
			}
		})
	}
}

func TestNoFile(t *testing.T) {
	var f File
	if err := f.Opened(t.Context(), ""); err != nil || f.Check(f.Beside("-wal")...) != nil {
		t.Error("a database without a file is not accepted")
	}
}
