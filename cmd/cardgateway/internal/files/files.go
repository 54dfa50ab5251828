// Package files reads files of limited size, and replaces files atomically.
package files

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// File is a temporary file that replaces another file atomically. Only the current user account can read it.
type File struct {
	*bufio.Writer
	file *os.File
	path string
}

// Create creates a temporary file next to path. Call Finish and Place to replace path, or Remove to discard the file.
func Create(path string) (*File, error) {
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*.tmp")
	if err != nil {
		return nil, err
	}
	return &File{bufio.NewWriterSize(f, 64<<10), f, path}, nil
}

// Finish writes everything to the disk, without replacing path yet.
func (f *File) Finish() error {
	err := errors.Join(f.Flush(), f.file.Sync(), f.file.Close())
	if err != nil {
		f.Remove()
	}
	return err
}

// Place replaces path with the file. Call Finish first.
func (f *File) Place() error { return os.Rename(f.file.Name(), f.path) }

// Path returns the path that it replaces.
func (f *File) Path() string { return f.path }

// Name returns the path of the temporary file.
func (f *File) Name() string { return f.file.Name() }

// Remove deletes the temporary file, if it has not replaced path.
func (f *File) Remove() {
	_ = f.file.Close() // it may be closed
	_ = os.Remove(f.file.Name())
}

// ReadBounded reads a file of at most so many bytes.
func ReadBounded(path string, limit int64) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(text)) > limit {
		err = fmt.Errorf("%s has more than %d KiB", path, limit>>10)
	}
	return string(text), err
}

// Replace writes a file in one step: it has the old or the new text at every moment, also after a power failure.
func Replace(path string, text []byte) error {
	f, err := Create(path)
	if err != nil {
		return err
	}
	defer f.Remove()     // of no effect once it is in its place
	_, _ = f.Write(text) // Finish reports it
	if err := f.Finish(); err != nil {
		return err
	}
	return f.Place()
}
