// Package openfile notices that a file which a database has open is no longer the one at its path: then what is written to it is found by
// nobody after a restart.
package openfile

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
)

// File is a file that is open under a path. The zero value stands for a database without a file, which Check accepts.
type File struct {
	paths []Beside             // the file itself, and again under the path that the program was given
	lost  atomic.Pointer[Lost] // set once: connections may have been opened to another file meanwhile
}

type givenPath struct{}

// Given returns a context in which Note also notes the path under which a program opens the file: it can lead there by links, and later to
// another file, which the program would open after a restart.
func Given(ctx context.Context, path string) context.Context {
	return context.WithValue(ctx, givenPath{}, path)
}

// Opened says that a connection has opened the file at this path, or a database without a file if it is empty. The first one notes which file that
// is; nobody else may use f meanwhile. With another path, a link or the working directory has changed since: then some connections write to one
// file, and some to the other.
func (f *File) Opened(ctx context.Context, path string) error {
	switch {
	case path == "":
	case len(f.paths) == 0:
		return f.Note(ctx, path)
	case path != f.paths[0].path:
		f.lost.CompareAndSwap(nil, &Lost{f.paths[0].path, "is not the one that a new connection has opened, which is " + path})
	}
	return nil
}

// Note notes which file is at the path now. A file with another name, or one that is mounted without its directory, is an error: whoever opens it
// there has another log beside it.
func (f *File) Note(ctx context.Context, path string) error {
	was, err := os.Lstat(path)
	if err != nil {
		return err
	}
	directory, err := os.Stat(filepath.Dir(path))
	switch {
	case err != nil:
		return err
	case names(was) > 1:
		return fmt.Errorf("the file %s has another name, too (a hard link), under which the database would have another log: remove that one", path)
	case device(was) != device(directory):
		return fmt.Errorf("the file %s is mounted without its directory, so that the log of the database would not be kept with it: mount the directory", path)
	}
	f.paths = []Beside{{path, was, os.Lstat}} // SQLite says a path without links: one in the place of the file leads to it, and not to its log
	if given, ok := ctx.Value(givenPath{}).(string); ok && given != path {
		f.paths = append(f.paths, Beside{given, was, os.Stat})
	}
	return nil
}

// Beside is a file beside the open one, such as the log of a database.
type Beside struct {
	path string
	was  os.FileInfo
	stat func(string) (os.FileInfo, error)
}

// Beside notes which files are beside the open one now: "-wal" is the file with this end of its name. One that is missing is not noted.
func (f *File) Beside(ends ...string) (noted []Beside) {
	if len(f.paths) == 0 {
		return nil
	}
	for _, end := range ends {
		path := f.paths[0].path + end
		if was, err := os.Lstat(path); err == nil {
			noted = append(noted, Beside{path, was, os.Lstat})
		}
	}
	return noted
}

// Check returns a *Lost if another file is at the path now, or none, or was once when it was checked. The same holds for the files beside it.
func (f *File) Check(beside ...Beside) error {
	if len(f.paths) == 0 {
		return nil
	}
	for _, file := range slices.Concat(f.paths, beside) {
		if f.lost.Load() != nil {
			break
		}
		now, err := file.stat(file.path)
		switch {
		case err != nil:
			f.lost.CompareAndSwap(nil, &Lost{file.path, "is gone: it was moved or deleted, or its directory was"})
		case !os.SameFile(file.was, now):
			f.lost.CompareAndSwap(nil, &Lost{file.path, "is another file than the one that is open: a backup or a copy was put in its place"})
		case strings.HasSuffix(file.path, "-wal") && isHollow(file.path):
			f.lost.CompareAndSwap(nil, &Lost{file.path, "was emptied, with the beginning without which nobody reads what was written since"})
		}
	}
	if lost := f.lost.Load(); lost != nil {
		return lost
	}
	return nil
}

// Lose notes that the file is lost, and returns the *Lost. A database without a file cannot be.
func (f *File) Lose(what string) error {
	if len(f.paths) == 0 {
		return nil
	}
	f.lost.CompareAndSwap(nil, &Lost{f.paths[0].path, what})
	return f.lost.Load()
}

// isHollow reports whether a log begins with a zero, as none does: it was cut to nothing, and written to at a later place. The database itself must
// not be opened here: to close it would release its locks.
func isHollow(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false // it is looked at again
	}
	defer func() { _ = f.Close() }() // it was only read
	first := []byte{1}
	_, err = f.Read(first)
	return err == nil && first[0] == 0
}

// Lost says that a database writes to a file that is not at its path.
type Lost struct{ path, what string }

func (e *Lost) Error() string {
	return fmt.Sprintf("the file %s %s. What is written to the open one is lost: stop every process that uses it, put the right file in place, and start again",
		e.path, e.what)
}
