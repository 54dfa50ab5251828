package tabular

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/amount"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/terminal"
	"github.com/shopspring/decimal"
)

// Column is one member of a row: in every format it has the same value.
type Column[T any] struct {
	name  string       // in CSV and JSON, as the gateway names it where it has such a member
	title string       // in a table; empty: not in a table
	Value func(*T) any // a string, a Reason, a number, a decimal.Decimal, a bool, or nil for "not said"
}

// ColumnOf makes a column.
func ColumnOf[T any](name, title string, value func(*T) any) Column[T] {
	return Column[T]{name, title, value}
}

// Reason is a text of this program, of which a table shows more than of others.
type Reason string

// Flags are those of every list.
type Flags struct {
	Format string `enum:",table,csv,jsonl" default:"" placeholder:"FORMAT" help:"table, csv or jsonl; default table on a terminal, csv otherwise."`
}

// Cell writes a value for people and for CSV.
func Cell(value any) string {
	switch v := value.(type) {
	case nil:
		return ""
	case string:
		return terminal.Clean(v)
	case decimal.Decimal:
		return amount.Plain(v)
	}
	return terminal.Clean(fmt.Sprint(value))
}

// csvText writes a value for CSV. A spreadsheet runs a text that begins like a formula, in quotation marks too: an apostrophe
// before it prevents that. Amounts are no texts and stay as they are.
func csvText(value any) string {
	text := Cell(value)
	if raw, ok := value.(string); ok && raw != "" && strings.ContainsRune("=+-@\t\r", rune(raw[0])) {
		return "'" + text
	}
	return text
}

// JSON writes a row as one JSON object, with its members in the order of the columns. Amounts are texts: a JSON number
// would be read as binary floating point.
func JSON[T any](columns []Column[T], row *T) ([]byte, error) {
	b := []byte{'{'}
	for i, c := range columns {
		value := c.Value(row)
		if d, ok := value.(decimal.Decimal); ok {
			value = amount.Plain(d)
		}
		text, err := json.Marshal(value)
		if err != nil {
			return nil, err
		}
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(append(b, '"'), c.name...), '"', ':')
		b = append(b, terminal.Clean(string(text))...)
	}
	return append(b, '}', '\n'), nil
}
