package doctest

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
)

// TestStatesAreListed: the pages that say what each state of the journal means have all of them. A refund is never abandoned.
func TestStatesAreListed(t *testing.T) {
	source, err := os.ReadFile(filepath.Join(root, "journal/entry.go"))
	if err != nil {
		t.Fatal(err)
	}
	declared := regexp.MustCompile(`(?s)\tUnknown +State = iota.*?\n\)`).Find(source)
	states := found(regexp.MustCompile(`(?m)^\t(\w+)`), declared)
	if len(states) < 9 {
		t.Fatalf("got the states %q, want at least 9", states)
	}
	ofRefund := slices.DeleteFunc(slices.Clone(states), func(s string) bool { return s == "Abandoned" })
	for _, tt := range []struct {
		page, pattern string
		want          []string
	}{
		{"docs/program.md", `(?m)^\t\t\tjournal\.(\w+):`, states},
		{"docs/journal.md", "(?m)^\\| `(\\w+)`(?:, code \\d+)? \\|", states},
		{"docs/refunds.md", "(?m)^\\| `(\\w+)` \\|", ofRefund},
	} {
		t.Run(tt.page, func(t *testing.T) {
			text, err := os.ReadFile(filepath.Join(root, tt.page))
			if err != nil {
				t.Fatal(err)
			}
			listed := found(regexp.MustCompile(tt.pattern), text)
			for _, state := range tt.want {
				if !slices.Contains(listed, state) {
					t.Errorf("got %q, want %s too", listed, state)
				}
			}
		})
	}
}

// found returns the first group of every match.
func found(pattern *regexp.Regexp, text []byte) (words []string) {
	for _, match := range pattern.FindAllSubmatch(text, -1) {
		words = append(words, string(match[1]))
	}
	return words
}
