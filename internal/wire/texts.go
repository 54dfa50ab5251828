package wire

import "strings"

// texts makes strings of the texts that are read. Strings that follow each other share a chunk of memory, so that a row needs
// one allocation or less. A chunk is small, because a program that keeps one string keeps its chunk.
type texts struct {
	chunk   strings.Builder // never grows beyond its first capacity: its strings would be copied
	scratch []byte          // the last text that had escapes
}

const chunkSize = 2 << 10

// add returns text as a string. Of the document, so many bytes are left. About a third of them are texts, which matters for a
// response that is smaller than a chunk.
func (t *texts) add(text []byte, left int) string {
	if t.chunk.Cap()-t.chunk.Len() < len(text) {
		t.chunk = strings.Builder{}
		t.chunk.Grow(len(text) + min(left/3, max(0, chunkSize-len(text))))
	}
	start := t.chunk.Len()
	t.chunk.Write(text)
	return t.chunk.String()[start:]
}
