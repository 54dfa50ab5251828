package sandbox

import "testing"

// TestTokenOrderCharges: an approved token order moves its amount or not, and everything that follows from that agrees: counts, the one
// success of an order, refunds. Its token pays in both cases.
func TestTokenOrderCharges(t *testing.T) {
	for _, charges := range []bool{false, true} {
		for _, card := range []Outcome{Approved, Challenged} {
			g := New(Options{NoNotifications: true, Cards: Cards{TokenOrderCharges: charges, TokenOrderUsesCard: true}})
			defer g.Close()
			created := send(t, g, "POST", "/checkout/tokenization/create", body("t", nil))
			next, err := g.EnterCard("t", TestCard(card))
			if err == nil && card == Challenged {
				_, err = g.Authenticate("t", true)
			}
			if err != nil {
				t.Fatalf("%v: %v, %s", card, err, next)
			}
			want := 0
			if charges {
				want = 1
			}
			if got := g.Executed("t"); got != want || len(g.Moves(0)) != want {
				t.Errorf("charges %t: executed %d times, %d moves", charges, got, len(g.Moves(0)))
			}
			if token, err := g.Token("t"); err != nil || token == "" {
				t.Errorf("charges %t: got the token %q, %v", charges, token, err)
			}
			if row := send(t, g, "GET", "/search/order/"+created.str("uniqueId"), nil); row.code() != 100 {
				t.Errorf("charges %t: the row has code %d", charges, row.code())
			}
			again := send(t, g, "POST", "/checkout/payment", body("t2", map[string]any{"orderId": "order-t"}))
			if refused := again.code() == 101; refused != charges {
				t.Errorf("charges %t: another payment of the order has code %d", charges, again.code())
			}
			if _, err := g.Refund("t", "1.00", "r"); (err == nil) != charges {
				t.Errorf("charges %t: a refund: %v", charges, err)
			}
		}
	}
}
