package books

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestUnreadableID keeps the id of a line of which something else could not be read.
func TestUnreadableID(t *testing.T) {
	onEach(t, func(t *testing.T, db string) {
		b := open(t, db)
		text := "amount,transaction_id,currency\n1,good,EUR\n1.5.5,t-1,EUR\n1,t-2,euro\n1,,EUR\n1,t-3\n1\n"
		if _, err := b.ImportPayments(t.Context(), csvList(t, text)); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, u := range collect(t, b.Unreadables(t.Context())) {
			got = append(got, fmt.Sprintf("%d %q", u.Line, u.ID))
		}
		if diff := cmp.Diff([]string{`3 "t-1"`, `4 "t-2"`, `5 ""`, `6 "t-3"`, `7 ""`}, got); diff != "" {
			t.Errorf("ids (-want +got):\n%s", diff)
		}
	})
}

// TestListsForMatching has the orders that stand in several lines, and the times of a list.
func TestListsForMatching(t *testing.T) {
	onEach(t, func(t *testing.T, db string) {
		b := open(t, db)
		text := "transaction_id,amount,currency,order,at\na,1,EUR,o-2,2026-10-02\nb,1,EUR,o-1,2026-10-01 08:00:00\nc,1,EUR,o-3,\nd,1,EUR,o-1,\ne,1,EUR,,\nf,1,EUR,,2026-10-09\ng,1,EUR,o-2,\n"
		if _, err := b.ImportPayments(t.Context(), csvList(t, text)); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, l := range collect(t, b.RepeatedOrders(t.Context())) {
			got = append(got, l.Order+" "+l.TransactionID)
		}
		if diff := cmp.Diff([]string{"o-1 b", "o-1 d", "o-2 a", "o-2 g"}, got); diff != "" {
			t.Errorf("lines (-want +got):\n%s", diff)
		}
		first, last, err := b.ListSpan(t.Context(), PaymentList)
		if err != nil || first.Format(time.DateTime) != "2026-10-01 08:00:00" || last.Format(time.DateTime) != "2026-10-09 00:00:00" {
			t.Errorf("got %v to %v, %v", first, last, err)
		}
		if first, last, err := b.ListSpan(t.Context(), RefundList); err != nil || !first.IsZero() || !last.IsZero() {
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
			list, text  string
			first, last int
		}{
			{PaymentList, "transaction_id,amount,currency\na,1,EUR\nd,1,EUR\nlost,1,EUR\n", 0, 3},
			{PaymentList, "transaction_id,amount,currency\nlost,1,EUR\n", -1, -1},
			{RefundList, "refund_id,amount,currency\nr-1,1,EUR\nru-4,1,EUR\n", 1, 4},
		} {
			read := b.ImportPayments
			if test.list == RefundList {
				read = b.ImportRefunds
			}
			if _, err := read(t.Context(), csvList(t, test.text)); err != nil {
				t.Fatal(err)
			}
			first, last, err := b.ListSpan(t.Context(), test.list)
			if test.first < 0 {
				if err != nil || !first.IsZero() || !last.IsZero() {
					t.Errorf("%q: got %v to %v, %v, want none", test.text, first, last, err)
				}
			} else if err != nil || !first.Equal(at(test.first)) || !last.Equal(at(test.last)) {
				t.Errorf("%q: got %v to %v, %v, want %v to %v", test.text, first, last, err, at(test.first), at(test.last))
			}
		}
	})
}

// TestRepeated: the approved rows whose id several approved rows have.
func TestRepeated(t *testing.T) {
	onEach(t, func(t *testing.T, db string) {
		b := open(t, db)
		plantCopy(t, b)
		var got []string
		for _, o := range collect(t, b.RepeatedPayments(t.Context())) {
			got = append(got, o.TransactionID+" "+o.UniqueID)
		}
		for _, r := range collect(t, b.RepeatedRefunds(t.Context())) {
			got = append(got, r.MerchantRefundID+" "+r.RefundUniqueID+" "+r.Currency)
		}
		if diff := cmp.Diff([]string{"b u-1", "b u-5", "r-2 ru-2 EUR", "r-2 ru-5 EUR"}, got); diff != "" {
			t.Errorf("rows (-want +got):\n%s", diff)
		}
	})
}

// plantCopy writes rows to the copy. The nth row is of the nth day, and the last of each table is of another app.
func plantCopy(t *testing.T, b *Books) (at func(n int) time.Time) {
	t.Helper()
	at = func(n int) time.Time { return time.Date(2026, 10, 1+n, 0, 0, 0, 0, time.UTC) }
	write := func(statement string, args ...any) {
		t.Helper()
		if _, err := b.writer.ExecContext(t.Context(), statement, args...); err != nil {
			t.Fatal(err)
		}
	}
	write(`INSERT INTO cardgateway_copy (one, gateway, app, zone, since, synced) VALUES (1, 'https://gw.test', '1', 'UTC', 1, 1)`)
	for n, row := range []string{"a approved", "b approved", "c approved", "d approved", "d declined", "b approved", " approved", " approved", "a approved 7"} {
		id, rest, _ := strings.Cut(row, " ")
		state, otherApp, _ := strings.Cut(rest, " ")
		write(`INSERT INTO cardgateway_orders (id, unique_id, transaction_id, state, code, amount, currency, at, card, other_app, walk) VALUES ($1, $1, $2, $3, 100, '1', 'EUR', $4, '', $5, 1)`,
			fmt.Sprint("u-", n), id, state, micro(at(n)), otherApp)
	}
	for n, row := range []string{"r-0 approved", "r-1 approved", "r-2 approved", "r-0 declined", " approved", "r-2 approved", "r-1 approved u-8"} {
		id, rest, _ := strings.Cut(row, " ")
		state, payment, found := strings.Cut(rest, " ")
		if !found {
			payment = "u-1"
		}
		write(`INSERT INTO cardgateway_refunds (id, refund_unique_id, merchant_refund_id, unique_id, state, code, amount, currency, at, walk) VALUES ($1, $1, $2, $5, $3, 111, '1', '', $4, 1)`,
			fmt.Sprint("ru-", n), id, state, micro(at(n)), payment)
	}
	return at
}
