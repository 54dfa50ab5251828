// Package files reads files of bounded size, and replaces files in one step.
package files

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// File is a file that is being written beside the one whose place it takes. Nobody sees half of it. Only this account may
// read it.
type File struct {
	*bufio.Writer
	file *os.File
	path string
}

// Create begins to write the file at path. What comes of it is for Finish and Place, or for Remove.
func Create(path string) (*File, error) {
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*.tmp")
	if err != nil {
		return nil, err
	}
	return &File{bufio.NewWriterSize(f, 64<<10), f, path}, nil
}

// Finish has everything on the disk, but not in its place yet.
func (f *File) Finish() error {
	err := errors.Join(f.Flush(), f.file.Sync(), f.file.Close())
	if err != nil {
		f.Remove()
	}
	return err
}

// Place puts the file in its place. It must be finished.
func (f *File) Place() error { return os.Rename(f.file.Name(), f.path) }

// Remove takes back what is not in its place.
func (f *File) Remove() {
	_ = f.file.Close() // it may be closed
	_ = os.Remove(f.file.Name())
}

// ReadBounded reads a file of at most so many bytes.
func ReadBounded(path string, most int64) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(text)) > most {
		err = fmt.Errorf("%s has more than %d KiB", path, most>>10)
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
