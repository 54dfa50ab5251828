package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/amount"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/exit"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/files"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/match"
	htmlreport "github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/report"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/tabular"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/terminal"
)

// reportFlags say where a report goes.
type reportFlags struct {
	Out  string `placeholder:"FILE" help:"The page, NAME.html; NAME.csv and NAME.json are written beside it. reconcile-PERIOD.html if not given."`
	Rows int    `default:"200" help:"How many differences the page shows, the largest first; the CSV has all."`
}

type reportCommand struct {
	compareFlags
	reportFlags
}

// Help is shown below the flags.
func (*reportCommand) Help() string {
	return compareHelp + `

The page needs nothing from outside. It, the CSV and the JSON are replaced as a whole, and only this account may read them.
Stdout has the path of the page.

Examples:
  cardgateway reconcile report --db books.db --month last --list paid.csv --refund-list refunds.csv
  cardgateway reconcile report --db books.db --day yesterday --grace 0 --out /srv/reports/yesterday.html`
}

// Run compares and writes the report.
func (r *reportCommand) Run(c *call) (err error) {
	m, err := c.openCompared(&r.compareFlags)
	if err != nil {
		return err
	}
	defer func() { err = cmp.Or(err, m.books.Close()) }()
	return m.report(&r.reportFlags)
}

// report compares and writes the three files.
func (m *comparison) report(f *reportFlags) error {
	if f.Rows < 0 {
		return exit.Fail(exit.NoAnswer, "--rows must not be below zero")
	}
	base, err := m.reportBase(f.Out)
	if err != nil {
		return err
	}
	files, err := m.createReport(base)
	if err != nil {
		return exit.CannotWrite("report", err)
	}
	defer files.remove()
	shown, days := &htmlreport.Rows{Most: f.Rows}, htmlreport.NewDays(m.Period)
	m.Gateway = days.Add
	m.Found = func(d *match.Difference) error {
		shown.Add(d)
		return files.add(d)
	}
	summary, err := m.run()
	if err != nil {
		return err
	}
	page := m.page(summary, shown, days, filepath.Base(base))
	if err := m.nearest(page); err != nil {
		return err
	}
	if err := files.finish(page); err != nil {
		return exit.CannotWrite("report", err)
	}
	if _, err := fmt.Fprintln(m.out, base+".html"); err != nil {
		return exit.CannotWrite("path of the report", err)
	}
	return m.ended(summary)
}

// reportBase is the path of the files without their endings.
func (m *comparison) reportBase(out string) (string, error) {
	if out == "" {
		from, last := m.Period.From, m.Period.To.Add(-time.Second)
		name := "reconcile-" + from.Format(time.DateOnly)
		if day := last.Format(time.DateOnly); day != from.Format(time.DateOnly) {
			name += "-to-" + day
		}
		return name, nil
	}
	base, ok := strings.CutSuffix(out, ".html")
	if !ok || filepath.Base(base) == "." || strings.HasSuffix(base, string(filepath.Separator)) || base == "" {
		return "", exit.Fail(exit.NoAnswer, "--out: %s does not end with a name and .html", terminal.Clean(out))
	}
	return base, nil
}

func (m *comparison) page(s *match.Summary, shown *htmlreport.Rows, days *htmlreport.Days, name string) *htmlreport.Page {
	words := []string{"reconcile", "report", "--from", terminal.Wall(m.Period.From), "--to", terminal.Wall(m.Period.To), "--grace", m.flags.Grace}
	if m.flags.Known != "" {
		words = append(words, "--known", m.flags.Known)
	}
	command := terminal.CommandLine(append(words, m.settings.AsFlags()...)...)
	if m.isDemonstration {
		command = "cardgateway reconcile run"
	}
	return &htmlreport.Page{
		Period: m.Period, Grace: m.Grace, Now: m.Now,
		Gateway: m.info.Gateway, AppID: m.info.AppID, Copy: m.Copy, LastSync: m.info.LastSync,
		Payments: m.info.Payments, Refunds: m.info.ListedRefunds, Known: m.flags.Known,
		Summary: s, Rows: shown, Days: days, Notes: m.notes,
		CSV: name + ".csv", JSON: name + ".json", Command: command, Text: terminal.Clean,
		Demonstration: m.isDemonstration,
	}
}

// nearest finds for a period in which there is nothing the nearest days with payments.
func (m *comparison) nearest(page *htmlreport.Page) error {
	if page.Summary.Compared > 0 {
		return nil
	}
	before, after, err := m.books.Neighbours(m.ctx, m.Period.From, m.Period.To)
	if err != nil {
		return booksError("db: ", err)
	}
	if !before.IsZero() {
		page.Nearest = append(page.Nearest, "The last payment before is of "+before.Format("2 January 2006")+".")
	}
	if !after.IsZero() {
		page.Nearest = append(page.Nearest, "The first payment after is of "+after.Format("2 January 2006")+".")
	}
	return nil
}

// reportFiles are the page, the CSV and the JSON while they are written.
type reportFiles struct {
	html, csv, json *files.File
	columns         []tabular.Column[match.Difference]
	rows            tabular.Writer[match.Difference]
	n               int
	placed          bool
}

func (m *comparison) createReport(base string) (f *reportFiles, err error) {
	f = &reportFiles{columns: differenceColumns(m)}
	for _, file := range []struct {
		to   **files.File
		path string
	}{{&f.html, base + ".html"}, {&f.csv, base + ".csv"}, {&f.json, base + ".json"}} {
		if *file.to, err = files.Create(file.path); err != nil {
			f.remove()
			return nil, err
		}
	}
	f.rows = tabular.NewWriter(tabular.CSV, f.columns, false, f.csv)
	_, err = f.json.WriteString(`{"differences":[`)
	return f, err
}

// add writes a difference into the CSV and the JSON.
func (f *reportFiles) add(d *match.Difference) error {
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

// finish writes the page, and puts the files in their places: the page last, since it names the others.
func (f *reportFiles) finish(page *htmlreport.Page) error {
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
	if err := htmlreport.Write(f.html, page); err != nil {
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

// remove takes back what has not been put in its place.
func (f *reportFiles) remove() {
	for _, file := range []*files.File{f.html, f.csv, f.json} {
		if file != nil && !f.placed {
			file.Remove()
		}
	}
}

// summaryJSON is the summary in the JSON file. Amounts are texts.
type summaryJSON struct {
	From      time.Time    `json:"from"`
	To        time.Time    `json:"to"`
	Compared  int          `json:"compared"`
	TiedOut   int          `json:"tiedOut"`
	Elsewhere int          `json:"linesOfOtherPeriods"`
	Classes   []classJSON  `json:"classes"`
	Bridges   []bridgeJSON `json:"bridges"`
	Notes     []string     `json:"notes"`
	Lists     []listJSON   `json:"lists"`
}

type classJSON struct {
	Class    match.Class  `json:"class"`
	Currency string       `json:"currency"`
	Rows     int          `json:"rows"`
	Value    amount.Exact `json:"value"`
	Known    int          `json:"known"`
	Oldest   *time.Time   `json:"oldest"`
	ByAge    [4]int       `json:"byAge"` // up to 2, 7 and 30 days, and older
}

type bridgeJSON struct {
	Kind     match.Kind   `json:"kind"`
	Currency string       `json:"currency"`
	Books    amount.Exact `json:"books"`
	Steps    []stepJSON   `json:"steps"`
	Gateway  amount.Exact `json:"gateway"`
	LeftOver amount.Exact `json:"leftOver"`
}

type stepJSON struct {
	Class match.Class  `json:"class"`
	Known bool         `json:"known"`
	Rows  int          `json:"rows"`
	Sum   amount.Exact `json:"sum"`
}

type listJSON struct {
	List       string    `json:"list"`
	Name       string    `json:"name"`
	SHA256     string    `json:"sha256"`
	Rows       int       `json:"rows"`
	Unreadable int       `json:"unreadable"`
	ReadAt     time.Time `json:"readAt"`
}

func summaryOf(p *htmlreport.Page) summaryJSON {
	s := p.Summary
	j := summaryJSON{
		From: p.Period.From, To: p.Period.To, Compared: s.Compared, TiedOut: s.TiedOut, Elsewhere: s.Elsewhere,
		Classes: []classJSON{}, Bridges: []bridgeJSON{}, Notes: append([]string{}, p.Notes...),
		Lists: []listJSON{{"payments", p.Payments.Name, p.Payments.SHA256, p.Payments.Rows, p.Payments.Unreadable, p.Payments.ReadAt}},
	}
	if r := p.Refunds; !r.ReadAt.IsZero() {
		j.Lists = append(j.Lists, listJSON{"refunds", r.Name, r.SHA256, r.Rows, r.Unreadable, r.ReadAt})
	}
	for _, c := range s.Classes {
		row := classJSON{Class: c.Class, Currency: c.Currency, Rows: c.Rows, Value: amount.InJSON(c.Value, c.Currency), Known: c.Known, ByAge: c.ByAge}
		if !c.Oldest.IsZero() {
			row.Oldest = &c.Oldest
		}
		j.Classes = append(j.Classes, row)
	}
	for i := range s.Bridges {
		b := &s.Bridges[i]
		row := bridgeJSON{Kind: b.Kind, Currency: b.Currency, Books: amount.InJSON(b.Books, b.Currency), Steps: []stepJSON{}, Gateway: amount.InJSON(b.Gateway, b.Currency), LeftOver: amount.InJSON(b.LeftOver(), b.Currency)}
		for _, step := range b.Steps {
			row.Steps = append(row.Steps, stepJSON{step.Class, step.Known, step.Rows, amount.InJSON(step.Sum, b.Currency)})
		}
		j.Bridges = append(j.Bridges, row)
	}
	return j
}
