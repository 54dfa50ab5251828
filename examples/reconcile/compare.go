package main

import (
	"bufio"
	"context"
	"database/sql"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/shopspring/decimal"
)

// Difference is one thing in which the merchant's list and the gateway differ.
type Difference struct {
	What          string
	TransactionID string
	Gateway       string // what the gateway has
	List          string // what the list has
}

// comparisons find the differences that the database can see by itself, each with those three columns.
var comparisons = []struct{ what, query string }{
	{"paid, and not in the list", `
		SELECT o.transaction_id, o.amount || ' ' || o.currency, ''
		FROM orders o LEFT JOIN list l ON l.transaction_id = o.transaction_id
		WHERE o.state = 'approved' AND l.transaction_id IS NULL
		ORDER BY o.happened, o.id`},
	{"in the list, and not paid", `
		SELECT l.transaction_id, COALESCE((SELECT MAX(o.state) FROM orders o WHERE o.transaction_id = l.transaction_id), 'nothing'),
			l.amount || ' ' || l.currency
		FROM list l
		WHERE NOT EXISTS (SELECT 1 FROM orders o WHERE o.transaction_id = l.transaction_id AND o.state = 'approved')
		ORDER BY l.transaction_id`},
	{"another amount", `
		SELECT o.transaction_id, o.amount || ' ' || o.currency, l.amount || ' ' || l.currency
		FROM orders o JOIN list l ON l.transaction_id = o.transaction_id
		WHERE o.state = 'approved' AND (o.amount <> l.amount OR o.currency <> l.currency)
		ORDER BY o.happened, o.id`},
	{"given back in another currency", `
		SELECT o.transaction_id, r.amount || ' ' || r.currency || ' of ' || o.amount || ' ' || o.currency, ''
		FROM refunds r JOIN orders o ON o.unique_id = r.unique_id
		WHERE r.code = 111 AND r.unique_id <> '' AND r.currency NOT IN ('', o.currency)
		ORDER BY r.requested, r.id`},
	{"paid more than once", `
		SELECT transaction_id, COUNT(*) || ' payments', ''
		FROM orders WHERE state = 'approved' AND transaction_id <> ''
		GROUP BY transaction_id HAVING COUNT(*) > 1
		ORDER BY transaction_id`},
}

// Compare gives every difference to found, one after another.
func (b *Books) Compare(ctx context.Context, found func(Difference)) error {
	for _, c := range comparisons {
		err := b.each(ctx, func(scan func(...any) error) error {
			d := Difference{What: c.what}
			if err := scan(&d.TransactionID, &d.Gateway, &d.List); err != nil {
				return err
			}
			found(d)
			return nil
		}, c.query)
		if err != nil {
			return err
		}
	}
	return b.overRefunded(ctx, found)
}

// overRefunded finds orders of which more was given back than was paid. It adds up here, since SQLite has no type for
// amounts.
func (b *Books) overRefunded(ctx context.Context, found func(Difference)) error {
	var order string
	var paid, back decimal.Decimal
	d := Difference{What: "more given back than paid"}
	settle := func() {
		if back.GreaterThan(paid) {
			d.Gateway = fmt.Sprintf("%v of %v", back, paid)
			found(d)
		}
	}
	err := b.each(ctx, func(scan func(...any) error) error {
		var id, transaction string
		var amount, refunded decimal.Decimal
		if err := scan(&id, &transaction, &amount, &refunded); err != nil {
			return err
		}
		if id != order {
			settle()
			order, d.TransactionID, paid, back = id, transaction, amount, decimal.Zero
		}
		back = back.Add(refunded)
		return nil
	}, `
		SELECT o.id, o.transaction_id, CASE WHEN o.state = 'approved' THEN o.amount ELSE '0' END, r.amount
		FROM refunds r JOIN orders o ON o.unique_id = r.unique_id
		WHERE r.code = 111 AND r.unique_id <> '' AND r.currency IN ('', o.currency)
		ORDER BY o.id`)
	if err == nil {
		settle()
	}
	return err
}

// ReadList replaces the list in the books with one in CSV: a line of headings, then one payment in each line, which the
// merchant takes for paid.
func (b *Books) ReadList(ctx context.Context, from io.Reader) error {
	text := bufio.NewReader(from)
	if mark, err := text.Peek(3); err == nil && string(mark) == "\uFEFF" { // spreadsheets put one in front
		_, _ = text.Discard(len(mark)) // they have been read
	}
	lines := csv.NewReader(text)
	lines.TrimLeadingSpace = true
	head, err := lines.Read()
	if errors.Is(err, io.EOF) {
		return errors.New("list: it is empty, without even the names of its columns")
	}
	if err != nil {
		return fmt.Errorf("list: %w", err)
	}
	var columns [3]int
	for i, name := range []string{"transaction_id", "amount", "currency"} {
		columns[i] = slices.Index(head, name)
		if columns[i] < 0 || slices.Contains(head[columns[i]+1:], name) {
			return fmt.Errorf("list: there must be one column %q; there are %.300q", name, head)
		}
	}
	return b.change(ctx, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, `DELETE FROM list`); err != nil {
			return err
		}
		add, err := tx.PrepareContext(ctx, `
			INSERT INTO list (transaction_id, amount, currency) VALUES ($1, $2, $3) ON CONFLICT (transaction_id) DO NOTHING`)
		if err != nil {
			return err
		}
		defer func() { _ = add.Close() }() // the transaction's end closes it too
		for {
			fields, err := lines.Read()
			if errors.Is(err, io.EOF) {
				return nil
			}
			if err != nil {
				return fmt.Errorf("list: %w", err)
			}
			line, _ := lines.FieldPos(0)
			if err := addLine(ctx, add, fields[columns[0]], fields[columns[1]], fields[columns[2]]); err != nil {
				return fmt.Errorf("list, line %d: %w", line, err)
			}
		}
	})
}

// longestID is more than an id of the interface has.
const longestID = 255

// usualAmount is short enough, and without an exponent, to be parsed at no cost.
var usualAmount = regexp.MustCompile(`^\d{1,12}(\.\d{1,3})?$`)

var usualCurrency = regexp.MustCompile(`^[A-Z]{3}$`)

func addLine(ctx context.Context, add *sql.Stmt, transactionID, amount, currency string) error {
	switch {
	case transactionID == "" || utf8.RuneCountInString(transactionID) > longestID:
		return fmt.Errorf("transaction_id %.60q has not 1 to %d characters", transactionID, longestID)
	case !usualAmount.MatchString(amount):
		return fmt.Errorf("amount %.60q is not a number with at most three decimals", amount)
	case !usualCurrency.MatchString(currency):
		return fmt.Errorf("currency %.60q is not three capital letters", currency)
	}
	value, err := decimal.NewFromString(amount)
	if err != nil {
		return err
	}
	result, err := add.ExecContext(ctx, transactionID, value.String(), currency)
	if err != nil {
		return err
	}
	if n, err := result.RowsAffected(); err != nil || n == 0 {
		return errors.Join(err, fmt.Errorf("transaction_id %s is in the list twice", shown(transactionID)))
	}
	return nil
}

// shown makes a text from outside fit for a terminal.
func shown(text string) string {
	if runes := []rune(text); len(runes) > longestID {
		text = string(runes[:longestID]) + "…"
	}
	if quoted := strconv.QuoteToGraphic(text); quoted != `"`+text+`"` || strings.TrimSpace(text) != text {
		return quoted
	}
	return text
}
