package books

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/internal/test/clienttest"
	"github.com/cardgateway/cardgateway-go/sandbox"
)

// payFor makes an approved payment of an app.
func payFor(t *testing.T, server *sandbox.Server, app cardgateway.AppID, transactionID string) *cardgateway.Transaction {
	t.Helper()
	token := cardgateway.NewToken(server.NewToken(sandbox.Approved))
	payment, err := clientOf(t, server, app).TokenPayment(t.Context(), token, clienttest.TokenPaymentRequest(transactionID))
	if err != nil {
		t.Fatal(err)
	}
	return payment
}

// TestOtherApps: the copy contains the rows of every app that the credentials can query. What is read and counted are those
// of its own app, and rows that state none, unless AnyApp is set. A refund is of the app of its payment.
func TestOtherApps(t *testing.T) {
	onEach(t, func(t *testing.T, db string) {
		server := gateway(t, sandbox.Options{Duplicates: sandbox.DuplicatesExecuted, RefundDuplicates: sandbox.RefundDuplicatesExecuted})
		from := time.Now().Add(-24 * time.Hour).Truncate(time.Second)
		server.SeedOrders(sandbox.SeedOptions{N: 1, From: from, To: time.Now().Add(-time.Hour), RefundEvery: -1}) // states no app
		for _, of := range [][2]string{{"7", "own"}, {"8", "another"}, {"77", "own"}} {                           // the last has the ids of the first, and of its refund
			payment := payFor(t, server, cardgateway.AppID(of[0]), of[1])
			if _, err := server.Refund(payment.UniqueID, "2", "refund of "+of[1]); err != nil {
				t.Fatal(err)
			}
		}
		b := open(t, db)
		for range 2 { // the second run finds nothing new
			if got := mustSync(t, b, SyncOptions{Client: clientOf(t, server, "7"), From: from}); got.Changed != 0 {
				t.Errorf("got %+v, want nothing changed", got)
			}
		}
		to := time.Now().Add(time.Hour)
		for _, test := range []struct {
			anyApp    bool
			want      []string
			info      [3]int // Orders, Refunds, OpenOrders
			otherApps OtherApps
		}{
			{false, []string{"book-transaction-0-0", "own", "refund of own"}, [3]int{2, 1, 0}, OtherApps{2, 2}},
			{true, []string{"another", "book-transaction-0-0", "own", "own", "refund of another", "refund of own", "refund of own"}, [3]int{4, 3, 0}, OtherApps{}},
		} {
			t.Run(fmt.Sprintf("any app %t", test.anyApp), func(t *testing.T) {
				b.AnyApp = test.anyApp
				var got []string
				for _, kind := range []Kind{Payment, Refund} {
					rows, _ := read(t, b, kind)
					for _, r := range rows {
						got = append(got, r.ID)
					}
				}
				if diff := cmp.Diff(test.want, got); diff != "" {
					t.Errorf("rows (-want +got):\n%s", diff)
				}
				refunds := collect(t, b.RefundsOf(t.Context(), from, to))
				if len(refunds) != test.info[1] {
					t.Errorf("got %d refunds with their payments, want %d", len(refunds), test.info[1])
				}
				for _, r := range refunds {
					if r.Payment.UniqueID != r.Refund.Payment || r.Payment.State != "approved" {
						t.Errorf("got the payment %+v for the refund %+v", r.Payment, r.Refund)
					}
				}
				listed := csvList(t, "transaction_id,amount,currency,order\nanother,5,USD,o\nown,5,USD,o\nown,x,USD,o\nanother,x,USD,o\n")
				mustImport(t, b, Payment, listed)
				var found []string
				for _, l := range collect(t, b.OrderLines(t.Context(), time.Time{})) {
					found = append(found, l.Line.ID+" "+l.Paid.ID)
				}
				for _, u := range collect(t, b.Unreadables(t.Context(), Payment)) {
					found = append(found, "unreadable "+u.ID+" "+u.Row.ID)
				}
				want := []string{"another ", "own own", "unreadable own own", "unreadable another "}
				if test.anyApp {
					want = []string{"another another", "own own", "own own", "unreadable own own", "unreadable own own", "unreadable another another"}
				}
				if diff := cmp.Diff(want, found); diff != "" {
					t.Errorf("lines with their rows (-want +got):\n%s", diff)
				}
				counts, err := b.Count(t.Context())
				if err != nil || [3]int{counts.Orders, counts.Refunds, counts.OpenOrders} != test.info || counts.Other != test.otherApps {
					t.Errorf("got %+v, %v", counts, err)
				}
				if got, err := b.OtherApps(t.Context(), to, to.Add(time.Hour)); err != nil || got != (OtherApps{}) {
					t.Errorf("in another period: got %+v, %v", got, err)
				}
			})
		}
	})
}

// TestOrderOfOtherApp: ids are compared as numbers, and one that cannot be read is another one.
func TestOrderOfOtherApp(t *testing.T) {
	extra := func(raw string) *cardgateway.Transaction {
		return &cardgateway.Transaction{Extra: map[string]json.RawMessage{"appId": json.RawMessage(raw)}}
	}
	for _, test := range []struct {
		name string
		row  *cardgateway.Transaction
		want string
	}{
		{"none", &cardgateway.Transaction{}, ""},
		{"its own", &cardgateway.Transaction{AppID: "7"}, ""},
		{"its own with zeros", &cardgateway.Transaction{AppID: "007"}, ""},
		{"another", &cardgateway.Transaction{AppID: "70"}, "70"},
		{"an empty text", extra(`""`), ""},
		{"unreadable", extra(`"x"`), "?"},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := orderRecord(test.row, "7", time.UTC, 1)
			if got := r[slices.Index(ordersTable.columns, "other_app")]; got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}
