package books

import (
	"fmt"
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
