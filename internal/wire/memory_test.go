package wire

import "testing"

// TestReleaseOverwrites: memory shared by Writers never contains the text of another document.
func TestReleaseOverwrites(t *testing.T) {
	w := NewWriter()
	w.String("cardNumber", "4111111111111111")
	memory := w.buf[:cap(w.buf)]
	w.Release()
	for i, b := range memory {
		if b != 0 {
			t.Fatalf("byte %d is %q", i, b)
		}
	}
}
