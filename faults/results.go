package faults

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/cardgateway/cardgateway-go/internal/reconcile/terminal"
)

// printTable writes a Markdown table. The head names its columns, separated by "|".
func printTable(w io.Writer, head string, rows [][]any) {
	fmt.Fprintf(w, "| %s |\n|%s\n", strings.ReplaceAll(head, "|", " | "), strings.Repeat("---|", 1+strings.Count(head, "|")))
	for _, cells := range rows {
		for _, cell := range cells {
			text := fmt.Sprint(cell)
			if n, ok := cell.(int); ok {
				text = terminal.Thousands(n)
			}
			fmt.Fprint(w, strings.TrimRight("| "+text, " "), " ")
		}
		fmt.Fprintln(w, "|")
	}
}

func micros(d time.Duration) string { return terminal.Thousands(int(d.Microseconds())) + " µs" }

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

// PrintKills writes what became of the payments of processes that were killed, for each store.
func PrintKills(w io.Writer, stores []string, rows []*KillResult) {
	var cells [][]any
	for i, r := range rows {
		cells = append(cells, []any{stores[i], r.Payments, r.Kills, r.Charged, r.Refunded, r.Forgotten, r.Twice, r.Wrong, r.Open})
	}
	printTable(w, "Store|Payments|Kills|Charged|Refunded|Lost|Twice|Reported wrong|Open at the end", cells)
}

// PrintRaces writes what two processes with one transactionId were told, for each store.
func PrintRaces(w io.Writer, stores []string, rows []*RaceResult) {
	var cells [][]any
	for i, r := range rows {
		cells = append(cells, []any{stores[i], 2 * raceCallers, int(r.Posts), r.Executed, len(r.Answers)})
	}
	printTable(w, "Store|Callers in two processes|Requests|Charges|Different results", cells)
}

// PrintOutages writes how long it takes to resolve n open payments after an outage, for each store.
func PrintOutages(w io.Writer, stores []string, n int, took []time.Duration) {
	var cells [][]any
	for i, d := range took {
		cells = append(cells, []any{stores[i], n, seconds(d)})
	}
	printTable(w, "Store|Open payments after an outage|Resolved after, with 50 ms per query", cells)
}
