// Package metrics writes gauges to a file for the textfile collector of Prometheus' node exporter.
package metrics

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Metric is one gauge.
type Metric struct {
	Name   string // such as cardgateway_journal_entries
	Help   string // the same for all of one name, in every file that the collector reads
	Labels []Label
	Value  float64
}

// Label distinguishes gauges with the same name.
type Label struct{ Name, Value string }

var (
	nameForm  = regexp.MustCompile(`^[a-zA-Z_:][a-zA-Z0-9_:]*$`)
	labelForm = regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_]*$`)
)

// Write replaces a file with these gauges atomically: a collector sees the old or the new ones. The name must end with .prom,
// because the collector reads no other files. The gauges have no timestamps, because the collector rejects files with them.
func Write(path string, all []Metric) error {
	if filepath.Ext(path) != ".prom" {
		return fmt.Errorf("%s: the name must end with .prom, because the node exporter reads no other files", path)
	}
	text, err := format(all)
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*.tmp")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // no effect once it is renamed
	_, err = f.WriteString(text)
	err = errors.Join(err, f.Chmod(0o644), f.Close()) // the exporter is another account
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	return err
}

// format writes the exposition format of Prometheus, all of one name together.
func format(all []Metric) (string, error) {
	all = slices.Clone(all)
	slices.SortFunc(all, func(a, b Metric) int { return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.series(), b.series())) })
	var b strings.Builder
	seen := map[string]bool{}
	for i, m := range all {
		series := m.series()
		switch {
		case !nameForm.MatchString(m.Name):
			return "", fmt.Errorf("%q is no name of a metric", m.Name)
		case slices.ContainsFunc(m.Labels, func(l Label) bool { return !labelForm.MatchString(l.Name) }):
			return "", fmt.Errorf("%s has a label that is no name", m.Name)
		case seen[series]:
			return "", fmt.Errorf("%s is there twice", series)
		case i > 0 && all[i-1].Name == m.Name && all[i-1].Help != m.Help:
			return "", fmt.Errorf("%s has two help texts", m.Name)
		}
		seen[series] = true
		if i == 0 || all[i-1].Name != m.Name {
			help := strings.NewReplacer(`\`, `\\`, "\n", `\n`).Replace(m.Help)
			fmt.Fprintf(&b, "# HELP %s %s\n# TYPE %s gauge\n", m.Name, help, m.Name)
		}
		fmt.Fprintf(&b, "%s %s\n", series, strconv.FormatFloat(m.Value, 'g', -1, 64))
	}
	return b.String(), nil
}

// series is the name with the labels, in the order of their names.
func (m *Metric) series() string {
	if len(m.Labels) == 0 {
		return m.Name
	}
	labels := slices.SortedFunc(slices.Values(m.Labels), func(a, b Label) int { return cmp.Compare(a.Name, b.Name) })
	var texts []string
	for _, l := range labels {
		value := strings.NewReplacer(`\`, `\\`, "\n", `\n`, `"`, `\"`).Replace(strings.ToValidUTF8(l.Value, "\ufffd"))
		texts = append(texts, l.Name+`="`+value+`"`)
	}
	return m.Name + "{" + strings.Join(texts, ",") + "}"
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

// largest bounds the file that Last reads.
const largest = 1 << 20

// Last returns the value that a file of Write has of a gauge, to be kept: the time of the last success, after a failure.
// It is false where there is no such file or no such gauge.
func Last(path, name string, labels ...Label) (value float64, ok bool, err error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, false, nil
	} else if err != nil {
		return 0, false, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, largest))
	if err != nil {
		return 0, false, err
	}
	prefix := (&Metric{Name: name, Labels: labels}).series() + " "
	for line := range strings.Lines(string(text)) {
		if number, found := strings.CutPrefix(strings.TrimSuffix(line, "\n"), prefix); found {
			value, err = strconv.ParseFloat(number, 64)
			return value, err == nil, nil // another program's line is none of ours
		}
	}
	return 0, false, nil
}
