// Package openfile notices that a file which a database has open is no longer the one at its path: then what is written to it is found by
// nobody after a restart.
package openfile

import (
	"fmt"
	"os"
	"sync/atomic"
)

// File is a file that is open under a path. The zero value stands for a database without a file, which Check accepts.
type File struct {
	path string
	was  os.FileInfo
	lost atomic.Pointer[Lost] // set once: connections may have been opened to another file meanwhile
}

// Note notes which file is at the path now. The path may be empty.
func (f *File) Note(path string) (err error) {
	if path != "" {
		f.path = path
		f.was, err = os.Stat(path)
	}
	return err
}

// Check returns a *Lost if another file is at the path now, or none, or was once when it was checked. Each of the others, such as the log
// of the database, must exist: "-wal" is the file with this end of its name.
func (f *File) Check(others ...string) error {
	if f.was == nil {
		return nil
	}
	if lost := f.lost.Load(); lost != nil {
		return lost
	}
	now, err := os.Stat(f.path)
	path := f.path
	for _, end := range others {
		if err == nil {
			path = f.path + end
			_, err = os.Stat(path)
		}
	}
	switch {
	case err != nil:
		f.lost.CompareAndSwap(nil, &Lost{path, "is gone: it was moved or deleted, or its directory was"})
	case !os.SameFile(f.was, now):
		f.lost.CompareAndSwap(nil, &Lost{f.path, "is another file than the one that is open: a backup or a copy was put in its place"})
	default:
		return nil
	}
	return f.lost.Load()
}

// Lost says that a database writes to a file that is not at its path.
type Lost struct{ path, what string }

func (e *Lost) Error() string {
	return fmt.Sprintf("the file %s %s. What is written to the open one is lost: stop every process that uses it, put the right file in place, and start again",
		e.path, e.what)
}
