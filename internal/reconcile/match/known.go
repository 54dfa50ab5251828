package match

import (
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/cardgateway/cardgateway-go/internal/reconcile/books"
	"github.com/shopspring/decimal"
)

// Mark is an entry of a file of known differences.
type Mark struct {
	Line   int // in the file
	Class  Class
	ID     string
	Value  *decimal.Decimal // the difference is known only with this value; nil means any
	Reason string
}

// Known are the differences that the merchant has marked. The zero Known has none.
type Known struct {
	marks map[knownKey]*Mark
	used  map[*Mark]bool
}

type knownKey struct {
	class Class
	id    string
}

// mostMarks is the maximum number of entries in a file.
const mostMarks = 100_000

// ReadKnown reads marks from CSV, as the merchant's lists are read, with the columns class, id and reason, and optionally value.
// A value has a decimal point or a decimal comma, and no thousands separators. Other columns and rows without a reason are
// ignored, so that rows of a report's CSV can be marked by filling in their reason.
func ReadKnown(from io.Reader) (Known, error) {
	k := Known{marks: map[knownKey]*Mark{}}
	class, id, reason, value := -1, -1, -1, -1
	choose := func(titles []string) error {
		column := func(name string) int {
			return slices.IndexFunc(titles, func(t string) bool { return strings.EqualFold(strings.TrimSpace(t), name) })
		}
		class, id, reason, value = column("class"), column("id"), column("reason"), column("value")
		if class < 0 || id < 0 || reason < 0 {
			return errors.New("the first line must name the columns class, id and reason")
		}
		return nil
	}
	err := books.ReadCSV(from, choose, func(line int, cells []string) error {
		field := func(i int) string {
			if i < 0 || i >= len(cells) {
				return ""
			}
			return plain(strings.TrimSpace(cells[i]))
		}
		m := &Mark{Line: line, Class: Class(field(class)), ID: field(id), Reason: field(reason)}
		switch {
		case m.Reason == "":
			return nil
		case !IsClass(string(m.Class)):
			return fmt.Errorf("line %d: there is no class %q", line, m.Class)
		case m.ID == "":
			return fmt.Errorf("line %d: the id is missing", line)
		case len(k.marks) == mostMarks:
			return fmt.Errorf("it has more than %d entries", mostMarks)
		}
		if text := field(value); text != "" {
			if !valuePattern.MatchString(text) {
				return fmt.Errorf("line %d: the value %.40q is not an amount", line, text)
			}
			v, err := decimal.NewFromString(strings.Replace(text, ",", ".", 1))
			if err != nil {
				return fmt.Errorf("line %d: the value %q is not an amount", line, text)
			}
			m.Value = &v
		}
		k.marks[knownKey{m.Class, m.ID}] = m
		return nil
	})
	return k, err
}

var valuePattern = regexp.MustCompile(`^-?[0-9]{1,25}([.,][0-9]{1,10})?$`)

// plain removes the apostrophe that this program's CSV adds before a text that a spreadsheet would interpret as a formula.
func plain(field string) string {
	if len(field) > 1 && field[0] == '\'' && strings.ContainsRune("=+-@\t\r", rune(field[1])) {
		return field[1:]
	}
	return field
}

func (k *Known) begin() { k.used = map[*Mark]bool{} }

// covers reports whether a difference is marked, and returns the reason.
func (k *Known) covers(d *Difference) (known bool, reason string) {
	m := k.marks[knownKey{d.Class, d.ID}]
	if m == nil || m.Value != nil && !m.Value.Equal(d.Value) {
		return false, ""
	}
	k.used[m] = true
	return true, m.Reason
}

// unused returns the marks that match no difference, by line.
func (k *Known) unused() (marks []Mark) {
	for _, m := range k.marks {
		if !k.used[m] {
			marks = append(marks, *m)
		}
	}
	slices.SortFunc(marks, func(a, b Mark) int { return a.Line - b.Line })
	return marks
}
