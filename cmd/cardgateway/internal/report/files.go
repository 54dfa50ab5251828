package report

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/exit"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/files"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/match"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/tabular"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/terminal"
)

// Files are the page, the CSV and the JSON that are being written.
type Files struct {
	html, csv, json *files.File
	columns         []tabular.Column[match.Difference]
	rows            tabular.Writer[match.Difference]
	n               int
	placed          bool
}

// Create starts writing BASE.html, BASE.csv and BASE.json. Zone and now are those of Columns. Call Finish to complete the
// files, or Remove to discard them.
func Create(base string, zone *time.Location, now time.Time) (f *Files, err error) {
	f = &Files{columns: Columns(zone, now)}
	for _, file := range []struct {
		to   **files.File
		path string
	}{{&f.html, base + ".html"}, {&f.csv, base + ".csv"}, {&f.json, base + ".json"}} {
		if *file.to, err = files.Create(file.path); err != nil {
			f.Remove()
			return nil, err
		}
	}
	f.rows = tabular.NewWriter(tabular.CSV, f.columns, false, f.csv)
	_, err = f.json.WriteString(`{"differences":[`)
	return f, err
}

// Add writes a difference to the CSV and the JSON.
func (f *Files) Add(d *match.Difference) error {
	if err := f.rows.Write(d); err != nil {
		return exit.CannotWrite("CSV", err)
	}
	line, err := tabular.JSON(f.columns, d)
	if err != nil {
		return err
	}
	if f.n++; f.n > 1 {
		_ = f.json.WriteByte(',') // the next write reports it
	}
	_ = f.json.WriteByte('\n')
	if _, err := f.json.Write(line[:len(line)-1]); err != nil {
		return exit.CannotWrite("JSON", err)
	}
	return nil
}

// Finish writes the page, and moves the files to their paths: the page last, because it links to the others.
func (f *Files) Finish(page *Page) error {
	if err := f.rows.Flush(); err != nil {
		return err
	}
	summary, err := json.Marshal(summaryOf(page))
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(f.json, "\n],\"summary\":%s}\n", terminal.Clean(string(summary))); err != nil {
		return err
	}
	if err := Write(f.html, page); err != nil {
		return err
	}
	all := []*files.File{f.csv, f.json, f.html}
	for _, file := range all {
		if err := file.Finish(); err != nil {
			return err
		}
	}
	for _, file := range all {
		if err := file.Place(); err != nil {
			return err
		}
	}
	f.placed = true
	return nil
}

// Remove deletes the temporary files, unless Finish has succeeded.
func (f *Files) Remove() {
	for _, file := range []*files.File{f.html, f.csv, f.json} {
		if file != nil && !f.placed {
			file.Remove()
		}
	}
}
