//go:build !unix

package openfile

import "os"

func names(os.FileInfo) uint64 { return 1 }

func device(os.FileInfo) uint64 { return 0 }
