package shell

import (
	"os/exec"
	"testing"

	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/terminal"
)

func TestQuote(t *testing.T) {
	for word, want := range map[string]string{
		"t-1002": "t-1002", "": "''", "a b": "'a b'", "it's": `'it'\''s'`, "$(x)": "'$(x)'", "2026-11-22T03:10:00Z": "2026-11-22T03:10:00Z",
	} {
		if got := Quote(word); got != want {
			t.Errorf("got %s for %q, want %s", got, word, want)
		}
	}
}

// TestQuoteRestores: a printed word is the same word again in a shell, and the terminal shows it as it was printed.
func TestQuoteRestores(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("there is no bash")
	}
	for _, word := range []string{
		"r-\u202e1", "r\u2028", "\u2066'a\\b\"$(x)`é", "tab\tand\nbreak ", "\x1b[2J", "it's", "\u00e9 \U0001f370", "~*?[a]{b}!#", "-\u200f", "\u0085\u061c",
	} {
		t.Run(word, func(t *testing.T) {
			quoted := Quote(word)
			if shown := terminal.Clean(quoted); shown != quoted {
				t.Errorf("%s is shown as %s", quoted, shown)
			}
			if got, err := exec.Command(bash, "-c", "printf %s. "+quoted).Output(); err != nil || string(got) != word+"." {
				t.Errorf("%s: got %q, %v, want %q", quoted, got, err, word)
			}
		})
	}
}
