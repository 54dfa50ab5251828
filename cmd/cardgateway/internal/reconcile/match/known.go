package match

import (
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/reconcile/books"
	"github.com/shopspring/decimal"
)

// Known are the differences that the merchant has marked. The zero Known has none.
type Known struct {
	NoReason []int // lines without a reason

	all     []*knownEntry // by line
	entries map[knownKey][]*knownEntry
}

type knownKey struct {
	class Class
	kind  books.Kind // empty means any
	id    string
}

// knownEntry is an entry of a file of known differences.
type knownEntry struct {
	knownKey
	line   int              // in the file
	value  *decimal.Decimal // the difference is known only with this value; nil means any
	reason string
	isUsed bool // a difference matches it
}

// maxEntries is the maximum number of entries in a file.
const maxEntries = 100_000

// ReadKnown reads entries from CSV, as the merchant's lists are read, with the columns class, id and reason, and optionally kind and
// value. A value has a decimal point or a decimal comma, and no thousands separators. Other columns are ignored, and rows without a
// reason are only counted, so that rows of a report's CSV can be marked by filling in their reason.
func ReadKnown(from io.Reader) (Known, error) {
	k := Known{entries: map[knownKey][]*knownEntry{}}
	class, kind, id, reason, value := -1, -1, -1, -1, -1
	choose := func(titles []string) error {
		column := func(name string) int {
			return slices.IndexFunc(titles, func(t string) bool { return strings.EqualFold(strings.TrimSpace(t), name) })
		}
		class, kind, id, reason, value = column("class"), column("kind"), column("id"), column("reason"), column("value")
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
		e := &knownEntry{knownKey: knownKey{Class(field(class)), books.Kind(field(kind)), field(id)}, line: line, reason: field(reason)}
		switch {
		case e.reason == "":
			k.NoReason = append(k.NoReason, line)
			return nil
		case place(e.class) < 0:
			return fmt.Errorf("line %d: there is no class %q", line, e.class)
		case e.kind != "" && e.kind != books.Payment && e.kind != books.Refund:
			return fmt.Errorf("line %d: there is no kind %q", line, e.kind)
		case e.id == "":
			return fmt.Errorf("line %d: the id is missing", line)
		case len(k.all) == maxEntries:
			return fmt.Errorf("it has more than %d entries", maxEntries)
		}
		if text := field(value); text != "" {
			v, err := decimal.NewFromString(strings.Replace(text, ",", ".", 1))
			if err != nil || !valuePattern.MatchString(text) {
				return fmt.Errorf("line %d: the value %.40q is not an amount", line, text)
			}
			e.value = &v
		}
		k.all, k.entries[e.knownKey] = append(k.all, e), append(k.entries[e.knownKey], e)
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

// covers reports whether a difference is marked, and returns the reason.
func (k *Known) covers(d *Difference) (known bool, reason string) {
	for _, kind := range []books.Kind{d.Kind, ""} {
		for _, e := range k.entries[knownKey{d.Class, kind, d.ID}] {
			if e.value == nil || e.value.Equal(d.Value) {
				e.isUsed = true
				return true, e.reason
			}
		}
	}
	return false, ""
}

// unused returns the lines of the entries that match no difference.
func (k *Known) unused() (lines []int) {
	for _, e := range k.all {
		if !e.isUsed {
			lines = append(lines, e.line)
		}
	}
	return lines
}
