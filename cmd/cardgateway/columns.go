package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/cardgateway/cardgateway-go"
	"github.com/shopspring/decimal"
)

// column is one member of a row: in every format it has the same value.
type column[T any] struct {
	name  string       // in CSV and JSON, as the gateway names it where it has such a member
	title string       // in a table; empty: not in a table
	value func(*T) any // a string, a reason, a number, a decimal.Decimal, a bool, or nil for "not said"
}

// reason is a text of this program, of which a table shows more than of others.
type reason string

// rowFlags are those of every list.
type rowFlags struct {
	Format   string   `enum:",table,csv,jsonl" default:"" placeholder:"FORMAT" help:"table, csv or jsonl; table on a terminal, csv otherwise."`
	Columns  []string `placeholder:"NAMES" help:"Only these columns, in this order, such as id,amount,state: names of CSV, or titles of the table."`
	NoHeader bool     `name:"no-header" help:"No line with the names of the columns."`
}

// chooseColumns returns the columns that are asked for: by their names, or by their titles in a table, with a hyphen or
// a space in them. None asked for are all.
func chooseColumns[T any](all []column[T], asked []string) ([]column[T], error) {
	if len(asked) == 0 {
		return all, nil
	}
	var chosen []column[T]
	for _, word := range asked {
		i := slices.IndexFunc(all, func(c column[T]) bool {
			return strings.EqualFold(word, c.name) || c.title != "" && strings.EqualFold(strings.ReplaceAll(word, "-", " "), c.title)
		})
		if i < 0 {
			var names []string
			for _, c := range all {
				names = append(names, c.name)
			}
			return nil, fail(exitNoAnswer, "--columns: there is no column %q; there are %s", clean(word), strings.Join(names, ", "))
		}
		c := all[i]
		if slices.ContainsFunc(chosen, func(other column[T]) bool { return other.name == c.name }) {
			return nil, fail(exitNoAnswer, "--columns: %s is there twice", c.name)
		}
		c.title = cmp.Or(c.title, c.name)
		chosen = append(chosen, c)
	}
	return chosen, nil
}

// orderColumns are the members of a payment. Nothing else of it is printed: not its address, its redirect, or members that
// the library does not know.
func orderColumns(zone *time.Location) []column[cardgateway.Transaction] {
	type row = cardgateway.Transaction
	return []column[row]{
		{"transactionAt", "time", func(r *row) any { return r.TransactionAt.String() }},
		{"at", "", func(r *row) any { return instant(r.TransactionAt, zone) }},
		{"state", "state", func(r *row) any { return r.State().String() }},
		{"transactionAmount", "amount", func(r *row) any { return r.TransactionAmount }},
		{"transactionCurrency", "currency", func(r *row) any { return r.TransactionCurrency }},
		{"transactionCardNumber", "card", func(r *row) any { return string(r.TransactionCardNumber) }},
		{"transactionId", "transaction", func(r *row) any { return r.TransactionID }},
		{"uniqueId", "unique id", func(r *row) any { return r.UniqueID }},
		{"code", "", func(r *row) any { return int(r.Code) }},
		{"message", "", func(r *row) any { return r.Message }},
		{"transactionMessage", "message", func(r *row) any { return r.TransactionMessage }},
		{"transactionMethod", "", func(r *row) any { return string(r.TransactionMethod) }},
		{"transactionType", "", func(r *row) any { return string(r.TransactionType) }},
		{"is3d", "", func(r *row) any {
			if r.Is3D == nil {
				return nil
			}
			return *r.Is3D
		}},
		{"isTest", "", func(r *row) any { return r.IsTest }},
		{"appId", "", func(r *row) any { return string(r.AppID) }},
	}
}

// refundColumns are the members of a refund.
func refundColumns(zone *time.Location) []column[cardgateway.Refund] {
	type row = cardgateway.Refund
	return []column[row]{
		{"refundRequestAt", "requested", func(r *row) any { return r.RefundRequestAt.String() }},
		{"requestedAt", "", func(r *row) any { return instant(r.RefundRequestAt, zone) }},
		{"refundAt", "refunded", func(r *row) any { return r.RefundAt.String() }},
		{"state", "state", func(r *row) any { return refundState(r) }},
		{"refundAmount", "amount", func(r *row) any { return r.RefundAmount }},
		{"refundCurrency", "currency", func(r *row) any { return r.RefundCurrency }},
		{"merchantRefundId", "refund", func(r *row) any { return r.MerchantRefundID }},
		{"refundUniqueId", "refund unique id", func(r *row) any { return r.RefundUniqueID }},
		{"uniqueId", "of payment", func(r *row) any { return r.UniqueID }},
		{"code", "", func(r *row) any { return int(r.Code) }},
		{"message", "", func(r *row) any { return r.Message }},
	}
}

// refundState says the state of a refund in words that cannot be taken for those of a payment.
func refundState(r *cardgateway.Refund) string {
	switch r.State() {
	case cardgateway.StateApproved:
		return "refunded"
	case cardgateway.StateProcessing:
		return "accepted"
	case cardgateway.StateDeclined:
		return "refused"
	}
	return "unknown"
}

// instant is a time of the gateway's clock with the offset of its zone.
func instant(t cardgateway.WallTime, zone *time.Location) any {
	if t.IsZero() {
		return nil
	}
	return t.In(zone).Format(time.RFC3339)
}

// amountText writes an amount with the decimals that the gateway sent.
func amountText(d decimal.Decimal) string { return d.StringFixed(max(0, -d.Exponent())) }

// cellText writes a value for people and for CSV.
func cellText(value any) string {
	switch v := value.(type) {
	case nil:
		return ""
	case string:
		return clean(v)
	case reason:
		return clean(string(v))
	case decimal.Decimal:
		return amountText(v)
	}
	return fmt.Sprint(value)
}

// csvText writes a value for CSV. A spreadsheet runs a text that begins like a formula, in quotation marks too: an apostrophe
// before it prevents that. Amounts are no texts and stay as they are.
func csvText(value any) string {
	text := cellText(value)
	if raw, ok := value.(string); ok && raw != "" && strings.ContainsRune("=+-@\t\r", rune(raw[0])) {
		return "'" + text
	}
	return text
}

// jsonText writes a row as one JSON object, with its members in the order of the columns. Amounts are texts: a JSON number
// would be read as binary floating point.
func jsonText[T any](columns []column[T], row *T) ([]byte, error) {
	b := []byte{'{'}
	for i, c := range columns {
		value := c.value(row)
		if d, ok := value.(decimal.Decimal); ok {
			value = amountText(d)
		}
		text, err := json.Marshal(value)
		if err != nil {
			return nil, err
		}
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(append(b, '"'), c.name...), '"', ':')
		b = append(b, clean(string(text))...)
	}
	return append(b, '}', '\n'), nil
}
