// Package terminal writes for people: what others wrote is made harmless, commands can be pasted into a shell, and progress
// is a bar where a person looks.
package terminal

import (
	"io"
	"os"

	"golang.org/x/term"
)

// Is reports whether a person looks at w.
func Is(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// widthOf is that of a terminal: 0 where f is none, and where it does not tell, as in many containers. A bar would be
// invisible there.
func widthOf(f *os.File) int {
	width, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return 0
	}
	return width
}
