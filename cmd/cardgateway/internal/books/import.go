package books

import (
	"context"
	"errors"
)

// ListSource says where a list of the merchant is: in a CSV file, or in a database of his.
type ListSource struct {
	Path string // of a CSV file

	DSN   string // or: a SQLite file, postgres://, or mysql://; it is only read
	Query string // a SELECT, or the name of a table

	// Columns maps names of this program (transaction_id, amount, currency, state, order, at; for refunds refund_id,
	// transaction_id, amount, currency, at) to those of the list. An empty one means that there is no such column.
	Columns map[string]string

	Currency     string // of all lines, where the list has no column for it
	DecimalComma bool   // amounts are written 1.234,50
}

// ImportPayments replaces the merchant's list of payments.
func (b *Books) ImportPayments(ctx context.Context, s ListSource) (ListInfo, error) {
	return ListInfo{}, errors.New("not written yet")
}

// ImportRefunds replaces the merchant's list of refunds.
func (b *Books) ImportRefunds(ctx context.Context, s ListSource) (ListInfo, error) {
	return ListInfo{}, errors.New("not written yet")
}
