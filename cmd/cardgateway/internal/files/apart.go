package files

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Use is a file that a command reads or writes. It may not exist yet.
type Use struct {
	What string // the flag or setting that names it, for errors
	Path string
	Open *os.File // the file itself, if it has no known path
}

// Apart returns an error if a file that is written is also read, or is written twice. It compares the files and not their names,
// because a file can have several: links, other directories, and names that differ only in case.
func Apart(written, read []Use) error {
	for i, w := range written {
		for _, other := range append(written[:i:i], read...) {
			if w.isSame(other) {
				return fmt.Errorf("%s is the same file as %s, which would be lost; choose another name", w.What, other.What)
			}
		}
	}
	return nil
}

func (u Use) isSame(other Use) bool {
	a, b := u.stat(), other.stat()
	switch {
	case a != nil && b != nil:
		return os.SameFile(a, b)
	case a != nil || b != nil || u.Path == "" || other.Path == "":
		return false
	}
	// Neither exists: they will be one file if they get the same name in the same directory. Many file systems ignore case.
	dir, name := filepath.Split(target(u.Path))
	otherDir, otherName := filepath.Split(target(other.Path))
	if !strings.EqualFold(name, otherName) {
		return false
	}
	a, b = Use{Path: filepath.Clean(dir)}.stat(), Use{Path: filepath.Clean(otherDir)}.stat()
	return a != nil && b != nil && os.SameFile(a, b)
}

// stat returns nil if the file does not exist, or if it is not known whether it does.
func (u Use) stat() (info os.FileInfo) {
	if u.Open != nil {
		info, _ = u.Open.Stat()
	} else {
		info, _ = os.Stat(u.Path)
	}
	return info
}

// target returns the path that symbolic links lead to, also if there is no file.
func target(path string) string {
	for range 40 { // a limit for links in a circle
		to, err := os.Readlink(path)
		if err != nil {
			break
		}
		if !filepath.IsAbs(to) {
			to = filepath.Join(filepath.Dir(path), to)
		}
		path = to
	}
	return path
}
