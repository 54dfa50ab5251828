package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/amount"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/exit"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/reconcile/books"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/tabular"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/terminal"
)

type tryCommand struct {
	File         string   `arg:"" placeholder:"FILE" help:"CSV file (.csv, .csv.gz) or workbook (.xlsx)."`
	Columns      []string `placeholder:"OURS=YOURS" help:"As in reconcile match, for what is not found or not sure."`
	ListCurrency string   `placeholder:"CODE" help:"As in reconcile match."`
	Amounts      string   `placeholder:"EXAMPLE" help:"As in reconcile match."`
	ListZone     string   `placeholder:"NAME" help:"As in reconcile match; default UTC."`
	Dates        string   `placeholder:"FORM" help:"As in reconcile match."`
	States       []string `placeholder:"YOURS=STATE" help:"As in reconcile match."`
}

// Help is shown below the flags.
func (*tryCommand) Help() string {
	return `Says what it takes the file for, shows five lines as it reads them, names everything that it cannot read, and prints the section for the
configuration file. It reads only the file, and writes nothing.

The exit code is 0 if every line can be read in one way, and 1 if not.`
}

// Run reads the file.
func (r *tryCommand) Run(c *call) error {
	flags := listsFlags{List: r.File, Columns: r.Columns, ListCurrency: r.ListCurrency, Amounts: r.Amounts, ListZone: r.ListZone, Dates: r.Dates, States: r.States}
	sources, err := flags.sources(c)
	if err != nil {
		return err
	}
	source := sources[0]
	source.Kind, source.Flag = "", "FILE"
	t, err := books.Try(c.ctx, source)
	if err != nil {
		return booksError("", err)
	}
	isSure, text := len(t.Unsure)+len(t.Problems) == 0 && t.Rows > 0, strings.Builder{}
	fmt.Fprintf(&text, "A list of %ss: %s lines can be read", t.Source.Kind, terminal.Thousands(t.Rows))
	if t.Totals > 0 {
		fmt.Fprintf(&text, ", and %s of totals or titles, or without an id and an amount, are left out", terminal.Thousands(t.Totals))
	}
	if t.Encoding != "" {
		text.WriteString(", with letters as " + t.Encoding)
	}
	text.WriteString("\n")
	for _, column := range t.Columns {
		fmt.Fprintf(&text, "  %s from %q\n", column.Column, column.Title)
	}
	if t.Unread != "" {
		fmt.Fprintf(&text, "  not read: %s\n", t.Unread)
	}
	rows := tabular.PlainTable()
	rows.AppendHeader(table.Row{"line", "id", "amount", "currency", "state", "order", "at"})
	for _, line := range t.First {
		at := ""
		if !line.At.IsZero() {
			at = terminal.Wall(line.At)
		}
		rows.AppendRow(table.Row{strconv.Itoa(line.Line), terminal.Clean(line.ID), amount.Text(line.Amount, line.Currency), line.Currency, line.State,
			terminal.Clean(line.Order), at})
	}
	if len(t.First) > 0 {
		text.WriteString("\n" + rows.Render() + "\n")
	}
	for _, unsure := range t.Unsure {
		text.WriteString("\nNot sure: " + unsure.Why + ". Say which.\n")
	}
	for _, p := range t.Problems {
		fmt.Fprintf(&text, "\nCannot be read: %s lines, the first is line %d: %s\n", terminal.Thousands(p.Lines), p.First, strings.TrimSpace(p.Column+" "+p.Why))
	}
	text.WriteString("\n" + section(t, r))
	for line := range strings.Lines(text.String()) {
		if _, err := fmt.Fprintln(c.out, terminal.Clean(strings.TrimSuffix(line, "\n"))); err != nil {
			return exit.CannotWrite("list", err)
		}
	}
	if !isSure {
		return &exit.Failure{Code: exit.Negative}
	}
	return nil
}

// section returns the section for the configuration file. What has to be said is there as a question mark, with which it is refused.
func section(t *books.Trial, r *tryCommand) string {
	isUnsure := func(setting string) bool {
		return slices.ContainsFunc(t.Unsure, func(d books.Doubt) bool { return d.Setting == setting })
	}
	inFlag := strings.NewReplacer(",", `\,`)
	var columns []string
	for _, column := range slices.Sorted(maps.Keys(t.Source.Columns)) { // also those that are to be ignored
		title := inFlag.Replace(t.Source.Columns[column])
		if isUnsure(column) {
			title = "?"
		}
		columns = append(columns, column+"="+title)
	}
	var states []string
	for _, pair := range r.States {
		states = append(states, inFlag.Replace(pair))
	}
	for _, word := range t.Words {
		states = append(states, inFlag.Replace(word)+"=?")
	}
	name := "columns"
	if t.Source.Kind == books.Refund {
		name = "refund-columns"
	}
	text := "[reconcile.shop]\n"
	for _, set := range [][2]string{{name, strings.Join(columns, ",")}, {"list-currency", t.Source.Currency}, {"amounts", t.Source.Amounts},
		{"dates", t.Source.Dates}, {"list-zone", cmp.Or(r.ListZone, t.Zone)}, {"states", strings.Join(states, ",")}} {
		if isUnsure(set[0]) {
			set[1] = "?"
		}
		if set[1] != "" {
			text += set[0] + " = " + strconv.Quote(set[1]) + "\n"
		}
	}
	return text
}
