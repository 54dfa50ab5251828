package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/shopspring/decimal"
)

// sum counts the rows of one state in one currency. Sums of several currencies would say nothing.
type sum struct {
	Currency string `json:"currency"`
	State    string `json:"state"`
	Rows     int    `json:"rows"`
	Amount   exact  `json:"amount"`
}

// exact keeps the decimals of an amount in JSON: 12.50 comes back as 12.50.
type exact struct{ decimal.Decimal }

// MarshalJSON writes the amount as a text.
func (e exact) MarshalJSON() ([]byte, error) { return []byte(`"` + amountText(e.Decimal) + `"`), nil }

// sums are sorted by currency and state.
type sums []sum

func (s *sums) add(currency, state string, amount decimal.Decimal) {
	key := sum{Currency: currency, State: state}
	i, found := slices.BinarySearchFunc(*s, key, func(a, b sum) int {
		return cmp.Or(cmp.Compare(a.Currency, b.Currency), cmp.Compare(a.State, b.State))
	})
	if !found {
		*s = slices.Insert(*s, i, key)
	}
	at := &(*s)[i]
	at.Rows++
	at.Amount = exact{at.Amount.Add(amount)}
}

// rows is the number of all rows.
func (s sums) rows() (n int) {
	for _, at := range s {
		n += at.Rows
	}
	return n
}

// print writes one line for each currency and state.
func (s sums) print(out io.Writer) error {
	if len(s) == 0 {
		_, err := fmt.Fprintln(out, "no rows")
		return err
	}
	t := plainTable()
	t.SetColumnConfigs([]table.ColumnConfig{{Number: 1, Align: text.AlignRight}, {Number: 3, Align: text.AlignRight}})
	for _, at := range s {
		amount, currency := amountText(at.Amount.Decimal), clean(at.Currency)
		if currency == "" { // they can be of several
			amount, currency = "", "of unknown currency"
		}
		t.AppendRow(table.Row{fmt.Sprint(at.Rows), clean(at.State), amount, currency})
	}
	return render(t, out)
}
