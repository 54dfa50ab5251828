package wire

import "testing"

// TestReleaseOverwrites: memory shared by Writers never contains the text of another document, nor text removed by Reset.
func TestReleaseOverwrites(t *testing.T) {
	w := NewWriter()
	w.String("cardNumber", "4111111111111111")
	w.Reset()
	w.Open('{')
	memory := w.buf[:cap(w.buf)]
	w.Release()
	for i, b := range memory {
		if b != 0 {
			t.Fatalf("byte %d is %q", i, b)
		}
	}
}
