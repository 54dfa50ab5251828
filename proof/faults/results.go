package faults

import (
	"fmt"
	"strings"
	"time"

	"golang.org/x/text/language"
	"golang.org/x/text/message"
)

// english writes numbers with thousands separators.
var english = message.NewPrinter(language.English)

// table returns a Markdown table with a row for each result. The head names its columns, separated by "|".
func table[T any](head string, results []T, cells func(T) []any) string {
	var b strings.Builder
	fmt.Fprintf(&b, "| %s |\n|%s\n", strings.ReplaceAll(head, "|", " | "), strings.Repeat("---|", 1+strings.Count(head, "|")))
	for _, r := range results {
		for _, cell := range cells(r) {
			text := fmt.Sprint(cell)
			if n, ok := cell.(int); ok {
				text = english.Sprint(n)
			}
			b.WriteString(strings.TrimRight("| "+text, " ") + " ")
		}
		b.WriteString("|\n")
	}
	return b.String()
}

func micros(d time.Duration) string { return english.Sprint(d.Microseconds()) + " µs" }

func seconds(d time.Duration) string { return fmt.Sprintf("%.1f s", d.Seconds()) }

// medianAndWorst returns both of sorted durations; zeros if there are none.
func medianAndWorst(all []time.Duration) (median, worst string) {
	if len(all) == 0 {
		all = []time.Duration{0}
	}
	return seconds(all[len(all)/2]), seconds(all[len(all)-1])
}

// Section replaces the results of a part in the text of a results page: what stands between two comments, of which the first names
// the part. The results of other parts, and all other text, stay.
func Section(page, part, results string) (string, error) {
	begin, end := "<!-- results of "+part+" -->\n", "<!-- end of results -->\n"
	before, rest, found := strings.Cut(page, begin)
	_, after, ended := strings.Cut(rest, end)
	if !found || !ended {
		return "", fmt.Errorf("faults: the page has no results of %q", part)
	}
	return before + begin + results + end + after, nil
}
