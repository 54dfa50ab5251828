package tabular

import (
	"cmp"
	"fmt"
	"io"
	"slices"

	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/amount"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/terminal"
	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/shopspring/decimal"
)

// Sum is the number of rows in one state and one currency, and the total of their amounts.
type Sum struct {
	Currency string       `json:"currency"`
	State    string       `json:"state"`
	Rows     int          `json:"rows"`
	Amount   amount.Exact `json:"amount"`
}

// Sums are sorted by currency and state.
type Sums []Sum

// Add counts a row.
func (s *Sums) Add(currency, state string, d decimal.Decimal) {
	key := Sum{Currency: currency, State: state}
	i, found := slices.BinarySearchFunc(*s, key, func(a, b Sum) int {
		return cmp.Or(cmp.Compare(a.Currency, b.Currency), cmp.Compare(a.State, b.State))
	})
	if !found {
		*s = slices.Insert(*s, i, key)
	}
	at := &(*s)[i]
	at.Rows++
	at.Amount.Decimal = at.Amount.Add(d)
}

// Rows returns the number of all rows.
func (s Sums) Rows() (n int) {
	for _, at := range s {
		n += at.Rows
	}
	return n
}

// Print writes one line for each currency and state.
func (s Sums) Print(out io.Writer) error {
	if len(s) == 0 {
		_, err := fmt.Fprintln(out, "no rows")
		return err
	}
	t := PlainTable(1, 3)
	for _, at := range s {
		money, currency := amount.Plain(at.Amount.Decimal), terminal.Clean(at.Currency)
		if currency == "" { // they can be of several
			money, currency = "", "of unknown currency"
		}
		t.AppendRow(table.Row{fmt.Sprint(at.Rows), terminal.Clean(at.State), money, currency})
	}
	return Render(t, out)
}
