package shell

import "testing"

func TestQuote(t *testing.T) {
	for word, want := range map[string]string{
		"t-1002": "t-1002", "": "''", "a b": "'a b'", "it's": `'it'\''s'`, "$(x)": "'$(x)'", "2026-11-22T03:10:00Z": "2026-11-22T03:10:00Z",
	} {
		if got := Quote(word); got != want {
			t.Errorf("got %s for %q, want %s", got, word, want)
		}
	}
}
