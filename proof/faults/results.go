package faults

import (
	"fmt"
	"io"
	"strings"
	"time"

	"golang.org/x/text/language"
	"golang.org/x/text/message"
)

// english writes numbers with thousands separators.
var english = message.NewPrinter(language.English)

// printTable writes a Markdown table. The head names its columns, separated by "|".
func printTable(w io.Writer, head string, rows [][]any) {
	fmt.Fprintf(w, "| %s |\n|%s\n", strings.ReplaceAll(head, "|", " | "), strings.Repeat("---|", 1+strings.Count(head, "|")))
	for _, cells := range rows {
		for _, cell := range cells {
			text := fmt.Sprint(cell)
			if n, ok := cell.(int); ok {
				text = english.Sprint(n)
			}
			fmt.Fprint(w, strings.TrimRight("| "+text, " "), " ")
		}
		fmt.Fprintln(w, "|")
	}
}

func micros(d time.Duration) string { return english.Sprint(d.Microseconds()) + " µs" }

func seconds(d time.Duration) string { return fmt.Sprintf("%.1f s", d.Seconds()) }

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
