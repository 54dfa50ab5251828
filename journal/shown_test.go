package journal

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/cardgateway/cardgateway-go"
)

// TestKeptAddress: a redirect URL is stored only while it can be used, and from a query only if the operation has no
// secrets.
func TestKeptAddress(t *testing.T) {
	const address = "https://gateway.test/page"
	for op, ofQuery := range map[string]bool{
		opTokenOrder: true, opCheckout: true, opCheckoutSubscription: true, opTokenPayment: false, opSubscription: false,
	} {
		for code, waits := range map[cardgateway.Code]bool{301: true, 102: false, 100: false, 101: false} {
			s := gatewayResult{transaction: &cardgateway.Transaction{Code: code, RedirectURL: address}}
			if kept := s.kept().transaction.RedirectURL == address; kept != waits {
				t.Errorf("code %d in a response: kept is %t, want %t", code, kept, waits)
			}
			if kept := s.keptOfQuery(op).transaction.RedirectURL == address; kept != (waits && ofQuery) {
				t.Errorf("code %d of %s in a query: kept is %t, want %t", code, op, kept, waits && ofQuery)
			}
		}
	}
	if k := (gatewayResult{refund: &cardgateway.Refund{Code: 111}}).keptOfQuery(opRefund); k.transaction != nil || k.refund == nil {
		t.Errorf("stored of a refund is %+v", k)
	}
}

// TestCopied: no caller can change the result of another.
func TestCopied(t *testing.T) {
	s := gatewayResult{&cardgateway.Transaction{UniqueID: "1"}, &cardgateway.Refund{RefundUniqueID: "2"}}
	c := s.copied()
	if c.transaction == s.transaction || c.refund == s.refund || c.transaction.UniqueID != "1" || c.refund.RefundUniqueID != "2" {
		t.Errorf("got %+v of %+v", c, s)
	}
	if !(gatewayResult{}).copied().isNothing() {
		t.Error("a copy of nothing is something")
	}
	extra := func() map[string]json.RawMessage { return map[string]json.RawMessage{"a": json.RawMessage("1")} }
	original := func() gatewayResult {
		return gatewayResult{&cardgateway.Transaction{
			Extra: extra(), Is3D: new(true), BillingAddress: &cardgateway.Address{City: "Porto", Extra: map[string]any{"a": 1}},
		}, &cardgateway.Refund{Extra: extra()}}
	}
	s = original()
	c = s.copied()
	c.transaction.Extra["b"], c.refund.Extra["b"], c.transaction.BillingAddress.Extra["b"] = nil, nil, nil
	*c.transaction.Is3D, c.transaction.BillingAddress.City = false, "Lisbon"
	if want := original(); !reflect.DeepEqual(s, want) {
		t.Errorf("a caller has changed it: got %+v, want %+v", s, want)
	}
}

// TestRepeats: which evidence shows an outcome that an earlier piece has shown.
func TestRepeats(t *testing.T) {
	show := func(source Source, code cardgateway.Code, id, at string) *Evidence {
		tx := &cardgateway.Transaction{Code: code, UniqueID: id}
		if at != "" {
			tx.TransactionAt, _ = cardgateway.ParseWallTime(at)
		}
		return &Evidence{Source: source, Transaction: tx}
	}
	const noon, later = "2026-01-01 12:00:00", "2026-01-01 12:00:01"
	for _, tt := range []struct {
		name string
		a, b *Evidence
		want bool
	}{
		{"one id, at different times, from different sources", show(SourceAnswer, 100, "1", noon), show(SourceQuery, 100, "1", later), true},
		{"one id, and different codes", show(SourceAnswer, 100, "1", noon), show(SourceAnswer, 101, "1", noon), false},
		{"different ids", show(SourceAnswer, 100, "1", noon), show(SourceAnswer, 100, "2", noon), false},
		{"an id and none", show(SourceAnswer, 100, "1", noon), show(SourceAnswer, 100, "", noon), false},
		{"no id, at one time", show(SourceQuery, 100, "", noon), show(SourceQuery, 100, "", noon), true},
		{"no id, at different times", show(SourceQuery, 100, "", noon), show(SourceQuery, 100, "", later), false},
		{"no id, and one has no time", show(SourceQuery, 100, "", noon), show(SourceQuery, 100, "", ""), false},
		{"no id, from different sources", show(SourceQuery, 100, "", noon), show(SourceAnswer, 100, "", noon), false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			other := show(SourceQuery, 102, "3", noon)
			if there, back := tt.a.repeats([]*Evidence{other, tt.b}), tt.b.repeats([]*Evidence{tt.a, other}); there != tt.want || back != tt.want {
				t.Errorf("got %t, with the arguments exchanged %t", there, back)
			}
		})
	}
}
