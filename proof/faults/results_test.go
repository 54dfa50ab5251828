package faults

import (
	"strings"
	"testing"
	"time"
)

func TestTable(t *testing.T) {
	rows := [][]any{{"sqlite", 999, seconds(1500 * time.Millisecond)}, {"mysql", 1_234_567, micros(4321 * time.Microsecond)}}
	got := table("Store|Payments|Took", rows, func(cells []any) []any { return cells })
	want := `| Store | Payments | Took |
|---|---|---|
| sqlite | 999 | 1.5 s |
| mysql | 1,234,567 | 4,321 µs |
`
	if got != want {
		t.Errorf("got\n%s, want\n%s", got, want)
	}
}

func TestSection(t *testing.T) {
	const page = "# Results\n<!-- results of kill -->\nold\n<!-- end of results -->\ntext\n<!-- results of race -->\nold\n<!-- end of results -->\n"
	for _, tt := range []struct{ name, page, part, want string }{
		{"the first", page, "kill", strings.Replace(page, "old", "new", 1)},
		{"the second", page, "race", strings.Replace(page, "race -->\nold", "race -->\nnew", 1)},
		{"not there", page, "cost", ""},
		{"without an end", strings.TrimSuffix(page, "<!-- end of results -->\n"), "race", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Section(tt.page, tt.part, "new\n")
			if got != tt.want || (err != nil) != (tt.want == "") {
				t.Errorf("got %q, %v, want %q", got, err, tt.want)
			}
		})
	}
}
