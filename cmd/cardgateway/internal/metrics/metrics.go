// Package metrics writes gauges to a file for the textfile collector of Prometheus' node exporter.
package metrics

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/cardgateway/cardgateway-go/internal/reconcile/files"
)

// Metric is one gauge.
type Metric struct {
	Name  string // such as cardgateway_journal_entries
	Help  string // the same for all of one name, in every file that the collector reads
	Label Label  // zero: none
	Value float64
}

// Label distinguishes gauges with the same name.
type Label struct{ Name, Value string }

// Write replaces a file with these gauges atomically: a collector sees the old or the new ones. The gauges have no timestamps, because
// the collector rejects files with them.
func Write(path string, all []Metric) error {
	f, err := files.Create(path)
	if err != nil {
		return err
	}
	defer f.Remove() // no effect once it is in its place
	_, err = f.WriteString(format(all))
	if err := errors.Join(err, f.Finish(), os.Chmod(f.Name(), 0o644)); err != nil { // the exporter is another account
		return err
	}
	return f.Place()
}

// format writes the exposition format of Prometheus, all of one name together.
func format(all []Metric) string {
	all = slices.SortedFunc(slices.Values(all), func(a, b Metric) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Label.Value, b.Label.Value))
	})
	var b strings.Builder
	for i, m := range all {
		if i == 0 || all[i-1].Name != m.Name {
			help := strings.NewReplacer(`\`, `\\`, "\n", `\n`).Replace(m.Help)
			fmt.Fprintf(&b, "# HELP %s %s\n# TYPE %s gauge\n", m.Name, help, m.Name)
		}
		fmt.Fprintf(&b, "%s %s\n", series(m.Name, m.Label), strconv.FormatFloat(m.Value, 'g', -1, 64))
	}
	return b.String()
}

// series is the name with the label.
func series(name string, l Label) string {
	if l == (Label{}) {
		return name
	}
	value := strings.NewReplacer(`\`, `\\`, "\n", `\n`, `"`, `\"`).Replace(strings.ToValidUTF8(l.Value, "\ufffd"))
	return fmt.Sprintf(`%s{%s="%s"}`, name, l.Name, value)
}

// IsForeign reports whether a file exists that Write did not write. Its first gauge would not be one of this program.
func IsForeign(path string) (bool, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	} else if err != nil {
		return false, err
	}
	defer f.Close()
	const start = "# HELP cardgateway_"
	text, err := io.ReadAll(io.LimitReader(f, int64(len(start))))
	return len(text) > 0 && string(text) != start, err
}

// Last returns the value that a file of Write has of a gauge, to be kept: the time of the last success, after a failure.
// It is false where there is no such file or no such gauge.
func Last(path, name string, label Label) (value float64, ok bool, err error) {
	text, err := files.ReadBounded(path, 1<<20)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, false, nil
	} else if err != nil {
		return 0, false, err
	}
	prefix := series(name, label) + " "
	for line := range strings.Lines(text) {
		if number, found := strings.CutPrefix(strings.TrimSuffix(line, "\n"), prefix); found {
			value, err = strconv.ParseFloat(number, 64)
			return value, err == nil, nil // another program's line is none of ours
		}
	}
	return 0, false, nil
}
