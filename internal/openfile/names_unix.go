//go:build unix

package openfile

import (
	"os"
	"syscall"
)

// names returns how many names a file has.
func names(info os.FileInfo) uint64 {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(s.Nlink)
	}
	return 1
}

// device returns the file system that a file is on.
func device(info os.FileInfo) uint64 {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(s.Dev)
	}
	return 0
}
