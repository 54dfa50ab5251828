//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// lock takes the lock of a directory's store by creating a file. If the process dies the file stays, and a person has
// to remove it.
func lock(path string) (release func() error, err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("%w: remove it if no process uses the journal", err)
	}
	if err != nil {
		return nil, err
	}
	return func() error { return errors.Join(f.Close(), os.Remove(path)) }, nil
}

// syncDir does nothing where directories cannot be synced.
func syncDir(string) error { return nil }
