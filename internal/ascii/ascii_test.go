package ascii_test

import (
	"bytes"
	"testing"

	"github.com/cardgateway/cardgateway-go/internal/ascii"
)

func TestTexts(t *testing.T) {
	for _, tt := range []struct {
		text                     string
		digits, upper, printable bool
		count                    int
	}{
		{"", false, false, true, 0},
		{"0123456789", true, false, true, 10},
		{"12a", false, false, true, 2},
		{"/", false, false, true, 0}, // the characters beside the digits
		{":", false, false, true, 0},
		{"AZ", false, true, true, 0},
		{"@[", false, false, true, 0}, // beside the capital letters
		{"USd", false, false, true, 0},
		{" ~", false, false, true, 0},
		{"\x1f", false, false, false, 0}, // beside the printable characters
		{"\x7f", false, false, false, 0},
		{"١", false, false, false, 0}, // a digit that is not ASCII
	} {
		t.Run(tt.text, func(t *testing.T) {
			if got := ascii.IsDigits(tt.text); got != tt.digits {
				t.Errorf("IsDigits(%q): got %v, want %v", tt.text, got, tt.digits)
			}
			if got := ascii.IsUpper([]byte(tt.text)); got != tt.upper {
				t.Errorf("IsUpper(%q): got %v, want %v", tt.text, got, tt.upper)
			}
			if got := ascii.IsPrintable(tt.text); got != tt.printable {
				t.Errorf("IsPrintable(%q): got %v, want %v", tt.text, got, tt.printable)
			}
			if got := ascii.CountDigits(tt.text); got != tt.count {
				t.Errorf("CountDigits(%q): got %d, want %d", tt.text, got, tt.count)
			}
		})
	}
}

func TestIsAlphanumeric(t *testing.T) {
	const want = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	var got []byte
	for c := range 256 {
		if ascii.IsAlphanumeric(byte(c)) {
			got = append(got, byte(c))
		}
	}
	if string(got) != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestIsPrintable puts every byte at every place of texts of up to three words, beside every kind of neighbour.
func TestIsPrintable(t *testing.T) {
	for _, neighbour := range []byte{' ', '!', 'a', '~'} {
		for length := range 25 {
			text := bytes.Repeat([]byte{neighbour}, length)
			if !ascii.IsPrintable(text) {
				t.Fatalf("%q: got false", text)
			}
			for at := range text {
				for c := range 256 {
					text[at] = byte(c)
					want := ' ' <= c && c <= '~'
					if got := ascii.IsPrintable(text); got != want {
						t.Fatalf("%q: got %v", text, got)
					}
					if got := ascii.IsPrintable(string(text)); got != want {
						t.Fatalf("the text %q: got %v", text, got)
					}
				}
				text[at] = neighbour
			}
		}
	}
}
