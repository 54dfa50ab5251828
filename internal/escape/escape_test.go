package escape_test

import (
	"strings"
	"testing"

	"github.com/cardgateway/cardgateway-go/internal/escape"
)

// TestHides: both find what is behind escapes, and only one of them what looks escaped itself, or the space in place of a line break.
func TestHides(t *testing.T) {
	for _, tt := range []struct {
		name, text, sought string
		once, exactly      bool
	}{
		{"not escaped", "a b", "a b", false, false},
		{"of JSON", `a\u0020b`, "a b", true, true},
		{"of a URL", "a%20b", "a b", true, true},
		{"of HTML", "a&#32;b", "a b", true, true},
		{"of HTML without a semicolon", "a&#32b", "a b", true, true},
		{"in UTF-16", "a\x00 \x00b", "a b", true, true},
		{"of full width", "a１b", "a1b", true, true},
		{"of other scripts", "a٠٩۴b७𝟎𝟿c", "a094b709c", true, true},
		{"one in the other", `a&#37;2\u0030b`, "a b", true, true},
		{"four times", "a%25252520b", "a b", true, false},
		{"five times", "a%2525252520b", "a b", false, false},
		{"a line break", `a\nb`, "a b", true, false},
		{"a line break as such", `a\nb`, "a\nb", false, true},
		{"what looks escaped, in JSON", `a%41\u0020b`, "a%41 b", false, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			found := func(text string) bool { return strings.Contains(text, tt.sought) }
			if got := escape.Hides(tt.text, found); got != tt.once {
				t.Errorf("Hides: got %t, want %t", got, tt.once)
			}
			if got := escape.HidesExactly(tt.text, found); got != tt.exactly {
				t.Errorf("HidesExactly: got %t, want %t", got, tt.exactly)
			}
		})
	}
}
