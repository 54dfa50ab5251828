package books

import (
	"context"
	"database/sql"
	"fmt"
	"iter"
	"strings"
	"testing"
	"time"

	"github.com/cardgateway/cardgateway-go"
	"github.com/shopspring/decimal"
)

// changesSince returns the changes that were seen since a time, in this order.
func (b *Books) changesSince(ctx context.Context, since time.Time) iter.Seq2[Change, error] {
	return b.Changes(ctx, since, time.Now().AddDate(100, 0, 0))
}

// TestRowChanges: a row is what it was at every mark, whatever has happened to it since, and also if the clock is set back.
func TestRowChanges(t *testing.T) {
	at, err := cardgateway.ParseWallTime("2026-01-15 10:07:09")
	if err != nil {
		t.Fatal(err)
	}
	order := func(code cardgateway.Code, amount, id string) cardgateway.Transaction {
		return cardgateway.Transaction{UniqueID: "7", TransactionID: id, Code: code, TransactionAmount: decimal.RequireFromString(amount), TransactionCurrency: "EUR",
			TransactionAt: at}
	}
	asTest := func(o cardgateway.Transaction) cardgateway.Transaction {
		o.IsTest = true
		return o
	}
	ofAnotherApp := func(o cardgateway.Transaction) cardgateway.Transaction {
		o.AppID = "8"
		return o
	}
	clock := time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC)
	steps := []struct {
		rows []cardgateway.Transaction // nil: the row is gone
		want string
	}{
		{[]cardgateway.Transaction{order(102, "3", "t")}, "t processing 3"},
		{[]cardgateway.Transaction{order(100, "3", "t")}, "t approved 3"},
		{[]cardgateway.Transaction{order(100, "4", "v")}, "v approved 4"},
		{nil, "none"},
		{[]cardgateway.Transaction{order(101, "4", "v")}, "v declined 4"},
		{[]cardgateway.Transaction{asTest(order(101, "4", "v"))}, "v declined 4 test"},
		{[]cardgateway.Transaction{ofAnotherApp(order(101, "4", "v"))}, "none"},
	}
	onEach(t, func(t *testing.T, db string) {
		b := open(t, db)
		marks := []int64{0}
		for i, step := range steps {
			now := clock.Add(-time.Duration(i) * time.Hour)
			if step.rows == nil {
				change(t, b, func(tx *sql.Tx) error { return b.drop(t.Context(), tx, &ordersTable, now, `id = '7'`) })
			} else {
				save(t, b, &ordersTable, micro(clock), now, orderRecord(&step.rows[0], "7", time.UTC, 1))
			}
			mark, err := b.LastChange(t.Context())
			if err != nil || mark <= marks[i] {
				t.Fatalf("got mark %d after %d, %v", mark, marks[i], err)
			}
			marks = append(marks, mark)
		}
		for i, mark := range marks {
			want := "none"
			if i > 0 {
				want = steps[i-1].want
			}
			n := len(collect(t, b.ChangesSince(t.Context(), Payment, mark)))
			for _, c := range collect(t, b.ChangesSince(t.Context(), Payment, 0)) { // as for a month that was compared before another one
				got := "none"
				if _, err := c.At(0); err != nil { // which changes nothing
					t.Error(err)
				}
				if r, err := c.At(mark); err != nil {
					t.Error(err)
				} else if r != nil {
					got = strings.TrimSuffix(fmt.Sprint(r.ID, " ", r.State, " ", r.Amount, " ", map[bool]string{true: "test"}[r.Test]), " ")
				}
				if got != want {
					t.Errorf("at mark %d: got %s, want %s", i, got, want)
				}
			}
			if isLast := i == len(steps); n != 1 && !isLast || n != 0 && isLast {
				t.Errorf("at mark %d: %d rows have changed since", i, n)
			}
		}
	})
}

// TestRefundChanges: a refund that has no id of the merchant has the gateway's, one that states no currency that which its payment had, and what has
// changed of other apps is left out.
func TestRefundChanges(t *testing.T) {
	onEach(t, func(t *testing.T, db string) {
		b := open(t, db)
		for i, state := range []string{"processing", "approved"} {
			now := time.Date(2026, 2, 1+i, 0, 0, 0, 0, time.UTC)
			save(t, b, &ordersTable, 0, now, record{"p", "p", "t", "approved", int64(100), "3", "EUR", int64(1), "", "8", int64(0), int64(1)},
				record{"q", "q", "u", "approved", int64(100), "3", []string{"EUR", "USD"}[i], int64(1), "", "", int64(0), int64(1)})
			save(t, b, &refundsTable, 0, now,
				record{"own", "own", "own", "", state, int64(100), "3", "EUR", int64(1), int64(1)},
				record{"other", "other", "other", "p", state, int64(100), "3", "EUR", int64(1), int64(1)},
				record{"plain", "plain", "plain", "q", state, int64(100), "3", "", int64(1), int64(1)})
		}
		got := ""
		for _, c := range collect(t, b.ChangesSince(t.Context(), Refund, 0)) {
			for _, at := range []func() (*Row, error){func() (*Row, error) { return c.At(0) }, c.Now} {
				if r, err := at(); err != nil {
					t.Error(err)
				} else if r != nil {
					got += r.ID + " " + r.State + " " + r.Currency + "\n"
				}
			}
		}
		if want := "own processing EUR\nown approved EUR\nplain processing EUR\nplain approved EUR\n"; got != want {
			t.Errorf("got\n%swant\n%s", got, want)
		}
	})
}

// TestChangeTimes: a change has the time that its row had before, and after it, whatever has become of the row since.
func TestChangeTimes(t *testing.T) {
	at := func(day int) int64 { return micro(time.Date(2026, 1, day, 0, 0, 0, 0, time.UTC)) }
	row := func(id, state string, day int, app string) record {
		return record{id, id, "t" + id, state, int64(100), "3", "EUR", at(day), "", app, int64(0), int64(1)}
	}
	onEach(t, func(t *testing.T, db string) {
		b := open(t, db)
		for i, rows := range [][]record{
			{row("moved", "approved", 1, ""), row("gone", "approved", 2, ""), row("other", "approved", 3, "")},
			{row("moved", "declined", 1, ""), row("gone", "declined", 2, "")},
			{row("moved", "approved", 8, ""), row("other", "approved", 3, "8")},
			nil,
			{row("gone", "approved", 9, "")},
		} {
			now := time.Date(2026, 2, 1+i, 0, 0, 0, 0, time.UTC)
			if rows == nil {
				change(t, b, func(tx *sql.Tx) error { return b.drop(t.Context(), tx, &ordersTable, now, `id = 'gone'`) })
			} else {
				save(t, b, &ordersTable, at(20)*int64(min(i, 1)), now, rows...)
			}
		}
		got := ""
		for _, c := range collect(t, b.changesSince(t.Context(), time.Time{})) {
			got += fmt.Sprintln(c.ID, c.What, c.At.Day(), c.After.Day())
		}
		want := "gone state 2 2\nmoved state 1 1\nmoved at 1 8\nmoved state 1 8\nother other_app 3 3\ngone gone 2 2\ngone late 9 9\n"
		if got != want {
			t.Errorf("got\n%swant\n%s", got, want)
		}
	})
}
