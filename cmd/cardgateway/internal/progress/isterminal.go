// Package progress shows how far a walk has come, on a terminal or as lines.
package progress

import (
	"io"
	"os"

	"golang.org/x/term"
)

// IsTerminal reports whether w is a terminal.
func IsTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// widthOf returns the width of a terminal. It is 0 if f is not a terminal, or if the width is unknown, as in many containers: a bar
// would be invisible there.
func widthOf(f *os.File) int {
	width, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return 0
	}
	return width
}
