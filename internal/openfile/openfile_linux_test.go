package openfile

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestNote: a file whose log would not be found by whoever opens it under another name is refused.
func TestNote(t *testing.T) {
	for _, tt := range []struct {
		name, want string
		prepare    func(t *testing.T, file, path string) error
	}{
		{"a file", "", func(_ *testing.T, file, path string) error { return os.Rename(file, path) }},
		{"a hard link", "has another name", func(_ *testing.T, file, path string) error { return os.Link(file, path) }},
		{"mounted without its directory", "mount the directory", func(t *testing.T, _, path string) error {
			disk := t.TempDir()
			if err := syscall.Mount("tmpfs", disk, "tmpfs", 0, ""); err != nil {
				t.Skip("this account may not mount: ", err)
			}
			t.Cleanup(func() { _ = syscall.Unmount(disk, syscall.MNT_DETACH) })
			file := filepath.Join(disk, "a.db")
			for _, name := range []string{file, path} {
				if err := os.WriteFile(name, nil, 0o600); err != nil {
					return err
				}
			}
			t.Cleanup(func() { _ = syscall.Unmount(path, syscall.MNT_DETACH) })
			return syscall.Mount(file, path, "", syscall.MS_BIND, "")
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			file, path := filepath.Join(dir, "a.db"), filepath.Join(dir, "b.db")
			if err := os.WriteFile(file, nil, 0o600); err != nil {
				t.Fatal(err)
			}
			if err := tt.prepare(t, file, path); err != nil {
				t.Fatal(err)
			}
			if err := new(File).Note(t.Context(), path); (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want an error with %q", err, tt.want)
			}
		})
	}
}
