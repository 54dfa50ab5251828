package main

import (
	"bufio"
	"errors"
	"os"
	"path/filepath"
)

// newFile is a file that is being written beside the one whose place it takes. Nobody sees half of it. Only this account may
// read it.
type newFile struct {
	*bufio.Writer
	file *os.File
	path string
}

func createFile(path string) (*newFile, error) {
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*.tmp")
	if err != nil {
		return nil, err
	}
	return &newFile{bufio.NewWriterSize(f, 64<<10), f, path}, nil
}

// finish has everything on the disk, but not in its place yet.
func (f *newFile) finish() error {
	err := errors.Join(f.Flush(), f.file.Sync(), f.file.Close())
	if err != nil {
		f.remove()
	}
	return err
}

// place puts the file in its place. It must be finished.
func (f *newFile) place() error { return os.Rename(f.file.Name(), f.path) }

// remove takes back what is not in its place.
func (f *newFile) remove() {
	_ = f.file.Close() // it may be closed
	_ = os.Remove(f.file.Name())
}
