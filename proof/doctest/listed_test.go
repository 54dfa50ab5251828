package doctest

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestStatesAreListed: the pages that say what each state of the journal means have all of them. A refund is never abandoned.
func TestStatesAreListed(t *testing.T) {
	declared := regexp.MustCompile(`(?s)\tUnknown +State = iota.*?\n\)`).FindString(readFile(t, "journal/entry.go"))
	states := found(regexp.MustCompile(`(?m)^\t(\w+)`), declared)
	if len(states) < 9 {
		t.Fatalf("got the states %q, want at least 9", states)
	}
	ofRefund := slices.DeleteFunc(slices.Clone(states), func(s string) bool { return s == "Abandoned" })
	for _, tt := range []struct {
		page, pattern string
		want          []string
	}{
		{"docs/program.md", `(?m)^\tjournal\.(\w+):`, states},
		{"docs/journal.md", "(?m)^\\| `(\\w+)`(?:, code \\d+)? \\|", states},
		{"docs/refunds.md", "(?m)^\\| `(\\w+)` \\|", ofRefund},
	} {
		t.Run(tt.page, func(t *testing.T) {
			listed := found(regexp.MustCompile(tt.pattern), readFile(t, tt.page))
			for _, state := range tt.want {
				if !slices.Contains(listed, state) {
					t.Errorf("got %q, want %s too", listed, state)
				}
			}
		})
	}
}

// TestReportIsDescribed: docs/reconcile.md has every class of differences with the title that the report gives it, in their order, and
// the heading of every part of the report.
func TestReportIsDescribed(t *testing.T) {
	const engine = "cmd/cardgateway/internal/reconcile/"
	page, classes, report := readFile(t, "docs/reconcile.md"), readFile(t, engine+"match/class.go"), readFile(t, engine+"report/page.html")
	names := found(regexp.MustCompile(`(?m)^\tClass\w+ +Class = "(\w+)"`), classes)
	titles := found(regexp.MustCompile(`(?m)^\t\{Class\w+, "([^"]+)"`), classes)
	headings := found(regexp.MustCompile(`<h2[^>]*>(\w[^<{]*\w)`), report)
	if len(names) < 18 || len(titles) != len(names) || len(headings) < 4 {
		t.Fatalf("got the classes %q, their titles %q and the headings %q, want more: they are not found", names, titles, headings)
	}
	rest := page
	for i, name := range names {
		row := "\n| " + titles[i] + "<br>`" + name + "` | "
		_, after, ok := strings.Cut(rest, row)
		if !ok {
			t.Errorf("got no row %q after that of the class before", row)
			continue
		}
		rest = after
	}
	for _, heading := range headings {
		if !strings.Contains(page, "\n| "+heading+" | ") {
			t.Errorf("got no row of the part %q", heading)
		}
	}
}

// TestFaultsAreListed: docs/sandbox.md has every member of a fault, and every operation and reply that it can have.
func TestFaultsAreListed(t *testing.T) {
	page := readFile(t, "docs/sandbox.md")
	_, page, _ = strings.Cut(page, "\n### Faults\n")
	fault := readFile(t, "sandbox/fault.go")
	words := found(regexp.MustCompile("json:\"(\\w+)\"`"), fault)
	words = append(words, found(regexp.MustCompile(`(?m)^\tOp\w+ +Operation = "(\w+)"`), readFile(t, "sandbox/operation.go"))...)
	_, replies, _ := strings.Cut(fault, `"asIs"`)
	replies, _, _ = strings.Cut(replies, "}")
	words = append(words, found(regexp.MustCompile(`"(\w+)"`), replies)...)
	if len(words) < 15+12+11 {
		t.Fatalf("got %q, want more: they are not found", words)
	}
	for _, word := range words {
		if !strings.Contains(page, "`"+word+"`") {
			t.Errorf("got no %s", word)
		}
	}
}

// found returns the first group of every match.
func found(pattern *regexp.Regexp, text string) (words []string) {
	for _, match := range pattern.FindAllStringSubmatch(text, -1) {
		words = append(words, match[1])
	}
	return words
}
