package wire

import (
	"bytes"
	"testing"
)

// plainByByte is plainPrefix byte by byte, without SWAR.
func plainByByte(d []byte, start int) (first int) {
	for i := start; i < len(d); i++ {
		if c := d[i]; c < 0x20 || c == '"' || c == '\\' || c >= 0x80 {
			return i
		}
	}
	return len(d)
}

// checkPlainPrefix: what was found is the first one; where none was found, fewer than eight bytes are left.
func checkPlainPrefix(t *testing.T, d []byte, start int) {
	t.Helper()
	got, first := plainPrefix(d, start), plainByByte(d, start)
	tail := start + (len(d)-start)/8*8 // in which the caller checks each byte
	if got != min(first, tail) {
		t.Errorf("%q from %d on: got %d, want %d", d, start, got, min(first, tail))
	}
}

// TestPlainPrefix puts every byte at every position of up to three words, at every alignment, after and before every kind
// of neighbour: a borrow of the subtraction must not affect a byte below the first match.
func TestPlainPrefix(t *testing.T) {
	neighbours := []byte{' ', '!', '"' + 1, '#', '[', ']', '\\' - 1, '\\' + 1, '~', 0x7f, 'a', 0x20, 0x21}
	tried := 0
	for _, length := range []int{0, 1, 7, 8, 9, 15, 16, 17, 24} {
		for _, fill := range neighbours {
			whole := bytes.Repeat([]byte{fill}, length+8)
			for start := range 8 {
				d := whole[:start+length]
				checkPlainPrefix(t, d, start)
				for at := start; at < len(d); at++ {
					for c := range 256 {
						d[at] = byte(c)
						checkPlainPrefix(t, d, start)
						tried++
					}
					d[at] = fill
				}
			}
		}
	}
	t.Logf("%d texts", tried)
}

// TestPlainPrefixOfPairs puts every byte above every byte that ends a plain text, and below it.
func TestPlainPrefixOfPairs(t *testing.T) {
	for _, end := range []byte{0, 1, 0x1f, '"', '\\', 0x80, 0xff} {
		for c := range 256 {
			for at := range 7 {
				d := []byte("aaaaaaaa")
				d[at], d[at+1] = end, byte(c)
				checkPlainPrefix(t, d, 0)
				d[at], d[at+1] = byte(c), end
				checkPlainPrefix(t, d, 0)
			}
		}
	}
}

func FuzzPlainPrefix(f *testing.F) {
	for _, text := range []string{
		"", "plain text of more than sixteen bytes", `a "quoted" text`, "\\\"", "é🍰", "\x1f\x20\x21", "#####\"##", "!\"!\"!\"!\"", "]\\]\\]\\]\\",
	} {
		f.Add([]byte(text), 0)
	}
	f.Fuzz(func(t *testing.T, d []byte, start int) {
		if start < 0 || start > len(d) {
			start = 0
		}
		checkPlainPrefix(t, d, start)
	})
}
