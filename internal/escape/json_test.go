package escape_test

import (
	"testing"

	"github.com/cardgateway/cardgateway-go/internal/escape"
)

// TestJSON: the escapes of JSON and of programming languages are decoded; text that is not an escape is unchanged.
func TestJSON(t *testing.T) {
	for text, want := range map[string]string{
		"": "", "plain": "plain", `a\/b`: "a/b", `\"\\\/\b\f\n\r\t`: "\"\\/\b\f\n\r\t", `\u0041\u00e9\uD83C\uDF70`: "Aé🍰", `\\u0041`: `\u0041`, `\ud800`: "\ufffd",
		`\ud800\u0041`: "\ufffdA", `\x \u00 \`: `\x \u00 \`, `\u004g`: `\u004g`, `\`: `\`, `\\`: `\`, `\\\`: `\\`, "\xff\\n": "\xff\n", `%2f`: "%2f",
		`\x41\'\u{1F370}\u{}`: `A'🍰\u{}`, `\u{0041`: `\u{0041`, `\u{0000041}`: `\u{0000041}`, `\x4g`: `\x4g`, `\\x41`: `\x41`,
	} {
		t.Run(text, func(t *testing.T) {
			if got := escape.JSON(text); got != want {
				t.Errorf("%s: got %q, want %q", text, got, want)
			}
			if got := escape.JSON([]byte(text)); got != want {
				t.Errorf("%s as bytes: got %q, want %q", text, got, want)
			}
		})
	}
}
