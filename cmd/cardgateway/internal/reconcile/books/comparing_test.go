package books

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestListsForMatching has the orders that stand in several lines, and the times of a list.
func TestListsForMatching(t *testing.T) {
	onEach(t, func(t *testing.T, db string) {
		b := open(t, db)
		text := "transaction_id,amount,currency,order,at\na,1,EUR,o-2,2026-10-02\nb,1,EUR,o-1,2026-10-01 08:00:00\n" +
			"c,1,EUR,o-3,\nd,1,EUR,o-1,\ne,1,EUR,,\nf,1,EUR,,2026-10-09\ng,1,EUR,o-2,\n"
		mustImport(t, b, Payment, csvList(t, text))
		var got []string
		for _, l := range collect(t, b.OrderLines(t.Context(), time.Time{})) {
			got = append(got, l.Line.Order+" "+l.Line.ID+l.Paid.UniqueID)
		}
		if diff := cmp.Diff([]string{"o-1 b", "o-1 d", "o-2 a", "o-2 g"}, got); diff != "" {
			t.Errorf("lines (-want +got):\n%s", diff)
		}
		first, last, err := b.ListSpan(t.Context(), Payment)
		if err != nil || first.Format(time.DateTime) != "2026-10-01 08:00:00" || last.Format(time.DateTime) != "2026-10-09 23:59:59" {
			t.Errorf("got %v to %v, %v", first, last, err)
		}
		if first, last, err := b.ListSpan(t.Context(), Refund); err != nil || !first.IsZero() || !last.IsZero() {
			t.Errorf("of no list: got %v to %v, %v", first, last, err)
		}
	})
}

// TestSpanWithoutTimes: a list without times reaches from its first to its last approved row at the gateway.
func TestSpanWithoutTimes(t *testing.T) {
	onEach(t, func(t *testing.T, db string) {
		b := open(t, db)
		at := plantCopy(t, b)
		for _, test := range []struct {
			list        Kind
			text        string
			first, last int
		}{
			{Payment, "transaction_id,amount,currency\na,1,EUR\nd,1,EUR\nlost,1,EUR\n", 0, 3},
			{Payment, "transaction_id,amount,currency\nlost,1,EUR\n", -1, -1},
			{Refund, "refund_id,amount,currency\nr-1,1,EUR\nru-4,1,EUR\n", 1, 4},
		} {
			t.Run(string(test.list), func(t *testing.T) {
				mustImport(t, b, test.list, csvList(t, test.text))
				first, last, err := b.ListSpan(t.Context(), test.list)
				if test.first < 0 {
					if err != nil || !first.IsZero() || !last.IsZero() {
						t.Errorf("%q: got %v to %v, %v, want none", test.text, first, last, err)
					}
				} else if err != nil || !first.Equal(at(test.first)) || !last.Equal(at(test.last)) {
					t.Errorf("%q: got %v to %v, %v, want %v to %v", test.text, first, last, err, at(test.first), at(test.last))
				}
			})
		}
	})
}

// TestRows: what a comparison reads of the copy: the rows of any time by their ids, and the rows with the ids of lines.
func TestRows(t *testing.T) {
	onEach(t, func(t *testing.T, db string) {
		b := open(t, db)
		at := plantCopy(t, b)
		mustImport(t, b, Payment, csvList(t,
			"transaction_id,unique_id,amount,currency,order\nb,,x,EUR,\nlost,,x,EUR,\nb,,1,EUR,o\nlost,,1,EUR,o\na,,1,EUR,p\na,,1,EUR,p\n,u-2,x,EUR,\n"))
		_, err := importOne(t.Context(), b, Refund, csvList(t, "refund_id,amount,currency\nru-4,x,EUR\nr-2,x,EUR\nru-1,x,EUR\n"))
		if _, refused := errors.AsType[*Refused](err); !refused { // no line can be read
			t.Fatal(err)
		}
		mustImport(t, b, Refund, csvList(t, "refund_id,amount,currency\nru-4,x,EUR\nr-2,x,EUR\nru-1,x,EUR\nr-9,1,EUR\n"))
		var got []string
		add := func(what string, r Row) {
			got = append(got, strings.Join([]string{what, r.ID, r.UniqueID, r.Payment, r.State, r.Amount.String(), r.Currency}, " "))
		}
		for _, kind := range []Kind{Payment, Refund} {
			rows, _ := read(t, b, kind)
			for _, r := range rows {
				add(string(kind), r)
			}
		}
		for _, l := range collect(t, b.OrderLines(t.Context(), time.Time{})) {
			add(fmt.Sprint("order ", l.Line.Order, " line ", l.Line.Line), l.Paid)
		}
		for _, kind := range []Kind{Payment, Refund} {
			for _, u := range collect(t, b.Unreadables(t.Context(), kind)) {
				add(fmt.Sprint("unreadable ", u.Line), u.Row)
			}
		}
		for _, r := range collect(t, b.RefundsOf(t.Context(), at(1), at(3))) {
			add("refund of "+r.Payment.ID, r.Refund)
		}
		want := []string{
			"payment u-6 u-6  approved 1 EUR", "payment u-7 u-7  approved 1 EUR", "payment a u-0  approved 1 EUR", "payment b u-1  approved 1 EUR",
			"payment b u-5  approved 1 EUR", "payment c u-2  approved 1 EUR", "payment d u-3  approved 1 EUR", "payment d u-4  declined 1 EUR",
			"refund r-0 ru-0 u-1 approved 1 EUR", "refund r-0 ru-3 u-1 declined 1 EUR", "refund r-1 ru-1 u-1 approved 1 EUR",
			"refund r-2 ru-2 u-1 approved 1 EUR", "refund r-2 ru-5 u-1 approved 1 EUR", "refund ru-4 ru-4 u-1 approved 1 EUR",
			"order o line 4 b u-1  approved 1 EUR", "order o line 4 b u-5  approved 1 EUR", "order o line 5     0 ",
			"unreadable 2 b u-1  approved 1 EUR", "unreadable 2 b u-5  approved 1 EUR", "unreadable 3     0 ",
			"unreadable 8 c u-2  approved 1 EUR",
			"unreadable 2 ru-4 ru-4 u-1 approved 1 EUR", "unreadable 3 r-2 ru-2 u-1 approved 1 EUR", "unreadable 3 r-2 ru-5 u-1 approved 1 EUR",
			"unreadable 4     0 ",
			"refund of b r-1 ru-1 u-1 approved 1 EUR", "refund of b r-2 ru-2 u-1 approved 1 EUR",
		}
		slices.Sort(got) // rows with one id are in no order
		slices.Sort(want)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("rows (-want +got):\n%s", diff)
		}
	})
}

// plantCopy writes rows to the copy. The nth row is of the nth day, and the last of each table is of another app.
func plantCopy(t *testing.T, b *Books) (at func(n int) time.Time) {
	t.Helper()
	at = func(n int) time.Time { return time.Date(2026, 10, 1+n, 0, 0, 0, 0, time.UTC) }
	exec(t, b, `INSERT INTO cardgateway_copy (one, gateway, app, zone, since, synced) VALUES (1, 'https://gw.test', '1', 'UTC', 1, 1)`)
	for n, row := range []string{"a approved", "b approved", "c approved", "d approved", "d declined", "b approved", " approved", " approved", "a approved 7"} {
		id, rest, _ := strings.Cut(row, " ")
		state, otherApp, _ := strings.Cut(rest, " ")
		exec(t, b, `INSERT INTO cardgateway_orders (id, unique_id, transaction_id, state, code, amount, currency, at, card, other_app, walk)
			VALUES ($1, $1, COALESCE(NULLIF($2, ''), $1), $3, 100, '1', 'EUR', $4, '', $5, 1)`,
			fmt.Sprint("u-", n), id, state, micro(at(n)), otherApp)
	}
	for n, row := range []string{"r-0 approved", "r-1 approved", "r-2 approved", "r-0 declined", " approved", "r-2 approved", "r-1 approved u-8"} {
		id, rest, _ := strings.Cut(row, " ")
		state, payment, found := strings.Cut(rest, " ")
		if !found {
			payment = "u-1"
		}
		exec(t, b, `INSERT INTO cardgateway_refunds (id, refund_unique_id, merchant_refund_id, unique_id, state, code, amount, currency, at, walk)
			VALUES ($1, $1, COALESCE(NULLIF($2, ''), $1), $5, $3, 111, '1', 'EUR', $4, 1)`,
			fmt.Sprint("ru-", n), id, state, micro(at(n)), payment)
	}
	return at
}
