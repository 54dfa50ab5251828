package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/exit"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/files"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/reconcile/match"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/reconcile/report"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/terminal"
)

// reportFlags configure a report.
type reportFlags struct {
	Out   string `placeholder:"FILE" help:"Path of the page, NAME.html; NAME.csv and NAME.json are written next to it. Default reconcile-PERIOD.html."`
	Force bool   `help:"Replace files with these names even if no report wrote them, if they were changed since, or if this report says something else, and what was compared of a month that the gateway has changed since."`
	Rows  uint32 `default:"200" help:"How many differences of each class and currency the page shows, largest first; the CSV contains all."`
}

type reportCommand struct {
	compareFlags
	reportFlags
}

// Help is shown below the flags.
func (*reportCommand) Help() string {
	return compareHelp + `

The page is self-contained. The page, the CSV and the JSON are each replaced atomically, and only your user account can read them.
Files that no report wrote, that were changed since, or that say something else (exit code 1) are replaced only with --force, and files that
the command reads never. The path of the page is printed on stdout.

Examples:
  cardgateway reconcile report --db books.db --month last --list paid.csv --refund-list refunds.csv
  cardgateway reconcile report --db books.db --day yesterday --grace 0 --out /srv/reports/yesterday.html`
}

// Run compares and writes the report.
func (r *reportCommand) Run(c *call) (err error) {
	if err := r.check(c); err != nil {
		return err
	}
	m, err := c.openAndImport(&r.compareFlags)
	if err != nil {
		return err
	}
	defer func() { err = cmp.Or(err, m.books.Close()) }()
	return m.report(&r.reportFlags)
}

// report compares and writes the three files.
func (r *reconciliation) report(f *reportFlags) error {
	base := strings.TrimSuffix(f.Out, ".html")
	if f.Out == "" {
		base = r.usualBase()
	}
	if err := f.mayWrite(r.call, base); err != nil { // also if check has looked: a sync since then may have taken hours
		return err
	}
	written, err := report.Create(base, &r.options, int(f.Rows))
	if err != nil {
		return exit.CannotWrite("report", err)
	}
	defer written.Remove()
	r.options.EachRow = written.AddRow
	r.options.Found = func(d *match.Difference) error { return exit.CannotWrite("report", written.Add(d)) }
	summary, err := r.run()
	if err != nil {
		return err
	}
	if f.Force {
		summary.OwnChanges = 0 // what was compared before is replaced
	}
	if err := written.Finish(r.page(summary, f), f.Force); errors.Is(err, report.ErrDiffers) {
		return exit.Fail(exit.Negative, "--out: %s.html exists, and says something else, which may have been signed: choose another name, or replace it with --force",
			base)
	} else if err != nil {
		return exit.CannotWrite("report", err)
	}
	if summary.OwnChanges == 0 && len(summary.Months) > 0 { // or another page was signed, and later reports have to say what has changed since
		if err := r.books.KeepMonths(r.call.ctx, summary.Months); err != nil {
			return booksError("db: ", err)
		}
	}
	if _, err := fmt.Fprintln(r.call.out, base+".html"); err != nil {
		return exit.CannotWrite("path of the report", err)
	}
	return r.ended(summary)
}

// check checks the flags, before anything is read or written.
func (f *reportFlags) check(c *call) error {
	if f.Out == "" {
		return nil
	}
	base, ok := strings.CutSuffix(f.Out, ".html")
	if !ok || filepath.Base(base) == "." || strings.HasSuffix(base, string(filepath.Separator)) {
		return exit.Fail(exit.Failed, "--out: %s must end with a file name and .html", f.Out)
	}
	if info, err := os.Stat(filepath.Dir(base)); err != nil || !info.IsDir() {
		return exit.Fail(exit.Failed, "--out: there is no directory %s", filepath.Dir(base))
	}
	if err := f.mayWrite(c, base); err != nil {
		return err
	}
	file, err := files.Create(base + ".html") // whether this directory can be written
	if err != nil {
		return exit.Fail(exit.Failed, "--out: %s", err)
	}
	file.Remove()
	return nil
}

// mayWrite returns an error if a report would replace a file that the command reads, or one that no report wrote.
func (f *reportFlags) mayWrite(c *call, base string) error {
	var written []files.Use
	for _, path := range report.Paths(base) {
		written = append(written, files.Use{What: "--out (" + filepath.Base(path) + ")", Path: path})
	}
	if err := c.keepApart(written...); err != nil || f.Force {
		return err
	}
	path, err := report.Foreign(base)
	switch {
	case err != nil:
		return exit.Fail(exit.Failed, "--out: %v", err)
	case path != "":
		return exit.Fail(exit.Failed, "--out: %s exists, and no report wrote it, or it was changed since; choose another name, or replace it with --force",
			path)
	}
	return nil
}

// usualBase returns the path of the files without their extensions, if there is no --out.
func (r *reconciliation) usualBase() string {
	from, last := r.options.Period.From, r.options.Period.To.Add(-time.Second)
	name := "reconcile-" + from.Format(time.DateOnly)
	if day := last.Format(time.DateOnly); day != from.Format(time.DateOnly) {
		name += "-to-" + day
	}
	return name
}

func (r *reconciliation) page(s *match.Summary, f *reportFlags) *report.Page {
	words := []string{"reconcile", "report", "--from", terminal.Wall(r.options.Period.From), "--to", terminal.Wall(r.options.Period.To), "--grace", r.flags.Grace}
	if r.flags.Known != "" {
		words = append(words, "--known", r.flags.Known)
	}
	words = append(words, fmt.Sprint("--rows=", f.Rows))
	if f.Out != "" {
		words = append(words, "--out="+f.Out)
	}
	command := r.call.commandLine(words...)
	if r.isDemonstration {
		command = "cardgateway reconcile run --demo"
	}
	return &report.Page{
		Info: r.info, Known: r.flags.Known, Summary: s, Notes: r.notes, OtherApps: r.otherApps, Command: command, Demonstration: r.isDemonstration,
	}
}
