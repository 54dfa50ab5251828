package mask_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/cardgateway/cardgateway-go/internal/mask"
)

func FuzzDigits(f *testing.F) {
	for _, text := range []string{"4111111111111111", "4111 1111-1111 1111", "ref 123456789012", "4111  1111", "1-2-3-4-5-6-7-8-9-0-1-2-3", "é4111111111111111é"} {
		f.Add(text)
	}
	run := regexp.MustCompile(`[0-9]([ -]?[0-9]){12,}`)
	digits := regexp.MustCompile(`[0-9*]+`)
	f.Fuzz(func(t *testing.T, text string) {
		masked := mask.Digits(text)
		if found := run.FindString(masked); found != "" {
			t.Errorf("%q is masked as %q, which shows %q", text, masked, found)
		}
		if again := mask.Digits(masked); again != masked {
			t.Errorf("%q is masked as %q, and again as %q", text, masked, again)
		}
		if !run.MatchString(text) && masked != text {
			t.Errorf("%q has no card number and is masked as %q", text, masked)
		}
		drop := func(s string) string {
			return strings.NewReplacer(" ", "", "-", "").Replace(digits.ReplaceAllString(s, ""))
		}
		if drop(masked) != drop(text) {
			t.Errorf("%q loses more than digits: %q", text, masked)
		}
	})
}
