// Package tabular writes rows of payments, refunds and others as a table, CSV or JSON lines, and computes their totals.
package tabular

import (
	"bufio"
	"encoding/csv"
	"io"
	"unicode/utf8"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/shopspring/decimal"
)

// The formats of rows.
const (
	Table    = "table"
	CSV      = "csv"
	JSONL    = "jsonl"
	Details  = "details" // one member per line, for a few rows
	SumsOnly = "sum"     // no rows
)

// Writer writes rows in one format. The output is complete after Flush.
type Writer[T any] interface {
	Write(*T) error
	Flush() error
}

// NewWriter creates the writer of a format. If headed is set, the header line has been written.
func NewWriter[T any](format string, columns []Column[T], headed bool, out io.Writer) Writer[T] {
	buffered := bufio.NewWriterSize(out, 64<<10)
	switch format {
	case CSV:
		w := &csvWriter[T]{columns, csv.NewWriter(out)}
		if !headed { // a list without rows has a header line too
			_ = w.line(func(c Column[T]) string { return c.name }) // Flush writes it, and reports errors
		}
		return w
	case JSONL:
		return &textWriter[T]{buffered, func(row *T) ([]byte, error) { return JSON(columns, row) }}
	case SumsOnly:
		return &textWriter[T]{buffered, func(*T) ([]byte, error) { return nil, nil }}
	case Details:
		return &textWriter[T]{buffered, details(columns)}
	}
	w := &tableWriter[T]{headed: headed, out: out}
	for _, c := range columns {
		if c.title != "" {
			w.columns = append(w.columns, c)
		}
	}
	w.widths = make([]int, len(w.columns))
	return w
}

type csvWriter[T any] struct {
	columns []Column[T]
	out     *csv.Writer
}

func (w *csvWriter[T]) Write(row *T) error {
	return w.line(func(c Column[T]) string { return csvText(c.Value(row)) })
}

// line writes a line with one cell for each column.
func (w *csvWriter[T]) line(cell func(Column[T]) string) error {
	var cells []string
	for _, c := range w.columns {
		cells = append(cells, cell(c))
	}
	return w.out.Write(cells)
}

func (w *csvWriter[T]) Flush() error {
	w.out.Flush()
	return w.out.Error()
}

// textWriter writes a text for each row.
type textWriter[T any] struct {
	out  *bufio.Writer
	text func(*T) ([]byte, error)
}

func (w *textWriter[T]) Write(row *T) error {
	text, err := w.text(row)
	if err == nil {
		_, err = w.out.Write(text)
	}
	return err
}

func (w *textWriter[T]) Flush() error { return w.out.Flush() }

// details returns a function that writes a row with one member per line, and an empty line before all but the first.
func details[T any](columns []Column[T]) func(*T) ([]byte, error) {
	between := ""
	return func(row *T) ([]byte, error) {
		b := []byte(between)
		between = "\n"
		for _, c := range columns {
			if cell := Cell(c.Value(row)); cell != "" {
				b = append(b, text.Pad(c.name, 23, ' ')+cell+"\n"...)
			}
		}
		return b, nil
	}
}

// tableWriter writes rows in pieces, so that a long list needs little memory. Columns become wider from piece to piece,
// never narrower.
type tableWriter[T any] struct {
	columns []Column[T]
	headed  bool // the header line is written, or omitted
	widths  []int
	rows    []table.Row
	out     io.Writer
}

// The maximum number of characters of a table cell.
const (
	maxCell   = 40
	maxReason = 160 // that says why
)

func (w *tableWriter[T]) Write(row *T) error {
	var cells table.Row
	for i, c := range w.columns {
		value, longest := c.Value(row), maxCell
		if _, ok := value.(Reason); ok {
			longest = maxReason
		}
		cell := Cell(value)
		if utf8.RuneCountInString(cell) > longest {
			cell = string([]rune(cell)[:longest-1]) + "…"
		}
		w.widths[i] = max(w.widths[i], text.StringWidth(cell))
		cells = append(cells, cell)
	}
	w.rows = append(w.rows, cells)
	if len(w.rows) >= 500 {
		return w.Flush()
	}
	return nil
}

func (w *tableWriter[T]) Flush() error {
	if len(w.rows) == 0 {
		return nil
	}
	t := PlainTable()
	var titles table.Row
	var configs []table.ColumnConfig
	for i, c := range w.columns {
		titles = append(titles, c.title)
		w.widths[i] = max(w.widths[i], len(c.title))
		config := table.ColumnConfig{Number: i + 1, WidthMin: w.widths[i]}
		if _, isAmount := c.Value(new(T)).(decimal.Decimal); isAmount {
			config.Align, config.AlignHeader = text.AlignRight, text.AlignRight
		}
		configs = append(configs, config)
	}
	if !w.headed {
		t.AppendHeader(titles)
	}
	w.headed = true
	t.SetColumnConfigs(configs)
	t.AppendRows(w.rows)
	w.rows = w.rows[:0]
	return Render(t, w.out)
}

// PlainTable returns a table without lines and colours, which can be copied to a ticket. The columns of these numbers, the first of which
// is 1, are aligned to the right.
func PlainTable(right ...int) table.Writer {
	t := table.NewWriter()
	style := table.StyleDefault
	style.Options = table.OptionsNoBordersAndSeparators
	style.Format.Header = text.FormatDefault
	style.Box.PaddingLeft, style.Box.PaddingRight = "", "  "
	t.SetStyle(style)
	t.SuppressTrailingSpaces()
	var configs []table.ColumnConfig
	for _, n := range right {
		configs = append(configs, table.ColumnConfig{Number: n, Align: text.AlignRight, AlignHeader: text.AlignRight})
	}
	t.SetColumnConfigs(configs)
	return t
}

// Render writes a table, ended by a newline.
func Render(t table.Writer, out io.Writer) error {
	_, err := io.WriteString(out, t.Render()+"\n")
	return err
}
