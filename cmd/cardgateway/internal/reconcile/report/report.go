// Package report writes the result of a comparison as a self-contained HTML page, as CSV and as JSON.
package report

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/files"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/reconcile/books"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/reconcile/match"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/tabular"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/terminal"
)

// Page is what a report says beside the differences.
type Page struct {
	Info    books.Info // of the copy and the lists
	Known   string     // file of known differences; may be empty
	Summary *match.Summary

	Demonstration bool
	OtherApps     books.OtherApps
	Notes         []string // limits of the comparison, such as where a list ends
	Command       string   // the command that creates this report again
}

// Files are the page, the CSV and the JSON that are being written.
type Files struct {
	options         *match.Options // of the comparison
	html, csv, json *files.File
	columns         []tabular.Column[match.Difference]
	rows            tabular.Writer[match.Difference]
	separator       string    // before the next difference in the JSON
	content         hash.Hash // of what the report says, without times and ages
	shown           *shownRows
	days            *daily
}

// Create starts writing BASE.html, BASE.csv and BASE.json for a comparison with these options, in the zone of its period. The page shows
// at most so many differences of each class and currency. Call Finish to complete the files, or Remove to discard them.
func Create(base string, o *match.Options, most int) (f *Files, err error) {
	f = &Files{options: o, columns: Columns(o.Period.From.Location(), o.Now), shown: &shownRows{most: most}, days: newDaily(o.Period),
		content: sha256.New()}
	paths := Paths(base)
	for i, file := range []**files.File{&f.html, &f.csv, &f.json} {
		if *file, err = files.Create(paths[i]); err != nil {
			f.Remove()
			return nil, err
		}
	}
	f.rows = tabular.NewWriter(tabular.CSV, f.columns, false, f.csv)
	_, err = f.json.WriteString(`{"differences":[`)
	return f, err
}

// AddRow adds a payment or a refund of the period to the charts.
func (f *Files) AddRow(kind books.Kind, r *books.Row) { f.days.add(kind, r) }

// Add adds a difference. The caller must not change it afterwards.
func (f *Files) Add(d *match.Difference) error {
	if d.Since.IsZero() { // those of earlier months have a section of their own
		f.shown.add(d)
	}
	if err := f.rows.Write(d); err != nil {
		return fmt.Errorf("the CSV cannot be written: %w", err)
	}
	fmt.Fprintf(f.content, "%s %q %t %q %s %s\n", d.Class, d.ID, d.Known, d.Currency, d.Value, d.Since.UTC())
	line, err := tabular.JSON(f.columns, d)
	if err != nil {
		return err
	}
	_, _ = f.json.WriteString(f.separator + "\n") // the next write reports it
	f.separator = ","
	if _, err := f.json.Write(line[:len(line)-1]); err != nil {
		return fmt.Errorf("the JSON cannot be written: %w", err)
	}
	return nil
}

// ErrDiffers means that there is a page already, and that it says something else.
var ErrDiffers = errors.New("says something else")

// Finish writes the page, and moves the files to their paths: the page last, because it links to the others. Unless mayDiffer is set, it is
// ErrDiffers if there is a page of the same period, or of a month that is kept, whose content is another one; times, ages and notes do not
// count.
func (f *Files) Finish(p *Page, mayDiffer bool) error {
	s := p.Summary
	for i := range s.Earlier {
		fmt.Fprintf(f.content, "%q %s\n", s.Earlier[i].ID, s.Earlier[i].Class)
	}
	fmt.Fprintf(f.content, "%s %s %d %d %v %v %v\n", f.options.Period.From.UTC(), f.options.Period.To.UTC(), s.Compared, s.TiedOut, s.Bridges, s.ChangedTotals, LeftOut(s))
	content := hex.EncodeToString(f.content.Sum(nil))
	before, period, err := contentOf(f.html.Path())
	isSame := before == content || period != periodOf(f.options) && !strings.HasPrefix(period, "month ")
	if err != nil || !mayDiffer && before != "" && !isSame {
		return cmp.Or(err, ErrDiffers)
	}
	if err := f.rows.Flush(); err != nil {
		return err
	}
	summary, err := json.Marshal(summaryOf(p, f.options.Period))
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(f.json, "\n],\"summary\":%s}\n", terminal.Clean(string(summary))); err != nil {
		return err
	}
	v := &view{Page: p, Options: f.options, Content: content, shown: f.shown, days: f.days}
	v.verdict()
	v.facts()
	for _, file := range []struct {
		*files.File
		shown *attachment
	}{{f.csv, &v.CSV}, {f.json, &v.JSON}} {
		if err := file.Finish(); err != nil {
			return err
		}
		file.shown.Name = filepath.Base(file.Path())
		if file.shown.SHA256, err = fileSHA256(file.Name()); err != nil {
			return err
		}
	}
	sum := sha256.New()
	if err := page.Execute(io.MultiWriter(f.html, sum), v); err != nil {
		return err
	}
	if _, err := fmt.Fprintf(f.html, pageSum, sum.Sum(nil)); err != nil {
		return err
	}
	if err := f.html.Finish(); err != nil {
		return err
	}
	for _, file := range []*files.File{f.csv, f.json, f.html} {
		if err := file.Place(); err != nil {
			return err
		}
	}
	return nil
}

// Remove deletes the temporary files, if Finish has not moved them to their paths.
func (f *Files) Remove() {
	for _, file := range []*files.File{f.html, f.csv, f.json} {
		if file != nil {
			file.Remove()
		}
	}
}

// Paths returns the paths of the page, the CSV and the JSON.
func Paths(base string) []string { return []string{base + ".html", base + ".csv", base + ".json"} }

// Foreign returns the first of these paths at which there is a file that no report wrote, or that was changed since, or "" if there
// is none. A page contains the SHA-256 of the other files, and at its end that of itself.
func Foreign(base string) (string, error) {
	paths := Paths(base)
	page, err := files.ReadBounded(paths[0], 256<<20)
	if is, err := isThere(paths[0], err); err != nil || is && !isUnchanged(page) {
		return paths[0], err
	}
	for _, path := range paths[1:] {
		sum, err := fileSHA256(path)
		isOurs := err == nil && strings.Contains(page, sum)
		if is, err := isThere(path, err); err != nil || is && !isOurs {
			return path, err
		}
	}
	return "", nil
}

// periodOf says what a page is about.
func periodOf(o *match.Options) string {
	text := o.Period.From.UTC().Format(time.RFC3339) + " " + o.Period.To.UTC().Format(time.RFC3339)
	if !o.Month.IsZero() {
		text = "month " + text
	}
	return text
}

// contentOf returns the SHA-256 of what a page says, and its period; both are empty if there is no page.
func contentOf(path string) (content, period string, err error) {
	page, err := files.ReadBounded(path, 256<<20)
	if errors.Is(err, fs.ErrNotExist) {
		return "", "", nil
	}
	meta := func(name string) string {
		_, after, _ := strings.Cut(page, `<meta name="`+name+`" content="`)
		value, _, _ := strings.Cut(after, `"`)
		return value
	}
	return meta("content-sha256"), meta("period"), err
}

// isThere reports whether there is a file, which was read with this error: also a link that leads nowhere, which would be replaced.
func isThere(path string, err error) (bool, error) {
	if !errors.Is(err, fs.ErrNotExist) {
		return err == nil, err
	}
	info, err := os.Lstat(path)
	return err == nil && info.Mode()&fs.ModeSymlink != 0, nil
}

// pageSum is the last line of a page, with the SHA-256 of everything before it.
const pageSum = "<!-- cardgateway reconcile report, sha256 %x -->\n"

// isUnchanged reports whether a page is as a report wrote it.
func isUnchanged(page string) bool {
	before, _, _ := strings.Cut(pageSum, "%")
	i := strings.LastIndex(page, before)
	return i >= 0 && page[i:] == fmt.Sprintf(pageSum, sha256.Sum256([]byte(page[:i])))
}

// fileSHA256 returns the SHA-256 of a file, in hex.
func fileSHA256(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	sum := sha256.New()
	_, err = io.Copy(sum, f)
	return hex.EncodeToString(sum.Sum(nil)), err
}
