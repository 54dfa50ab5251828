package mask

import (
	"regexp/syntax"
	"strings"
	"testing"
)

// TestCVVGap: a number is masked that is near the last name before it.
func TestCVVGap(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		masked     bool
	}{
		{"near", "cvv" + strings.Repeat(".", 80) + "973", true},
		{"too far", "cvv" + strings.Repeat(".", 81) + "973", false},
		{"near, not in ASCII", "cvv" + strings.Repeat("号", 80) + "973", true},
		{"too far from the first name", "cvv" + strings.Repeat(".", 81) + "cvv: 973", true},
		{"much too far", "cvv" + strings.Repeat(".", 1000) + "973", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := cvvs(tt.text); got != tt.text != tt.masked || tt.masked && strings.Contains(got, "973") {
				t.Errorf("got %q", got)
			}
		})
	}
}

// TestCVVCost: whoever sends a notification decides how often a text names a CVV. The time for each byte grows with the expression.
func TestCVVCost(t *testing.T) {
	parsed, err := syntax.Parse(cvv().String(), syntax.Perl)
	if err != nil {
		t.Fatal(err)
	}
	program, err := syntax.Compile(parsed.Simplify())
	if err != nil {
		t.Fatal(err)
	}
	if n := len(program.Inst); n > 400 {
		t.Errorf("got %d instructions", n)
	}
}
