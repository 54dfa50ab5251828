package sqlstore

import (
	"errors"
	"strings"
	"testing"

	"github.com/cardgateway/cardgateway-go/journal"
)

// TestEntryFromRow: what this version did not write is an entry that cannot be read.
func TestEntryFromRow(t *testing.T) {
	intent := []byte(`{"transactionId":"a","operation":"CreateCheckout","amount":"1.00","at":"2026-01-02T03:04:05Z","sender":"s"}`)
	evidence := []byte(`{"at":"2026-01-02T03:04:05Z","source":"answer","state":"refused","sender":"s"}` + "\n")
	for _, tt := range []struct {
		name string
		row  storedEntry
		want bool
	}{
		{"just begun", storedEntry{intent: intent, evidence: []byte{}, acked: wholeNumber{n: -1}}, true},
		{"with evidence", storedEntry{intent: intent, evidence: evidence, version: wholeNumber{n: 1}, acked: wholeNumber{n: 1}}, true},
		{"of another id", storedEntry{intent: []byte(strings.Replace(string(intent), `"a"`, `"a "`, 1)), evidence: []byte{}, acked: wholeNumber{n: -1}}, false},
		{"of a refund", storedEntry{intent: []byte(strings.Replace(string(intent), `transactionId`, `refundTransactionId`, 1)), evidence: []byte{}, acked: wholeNumber{n: -1}}, false},
		{"id in another form", storedEntry{id: "payment a", intent: intent, evidence: []byte{}, acked: wholeNumber{n: -1}}, false},
		{"evidence is NULL", storedEntry{intent: intent, acked: wholeNumber{n: -1}}, false},
		{"intent is NULL", storedEntry{evidence: []byte{}, acked: wholeNumber{n: -1}}, false},
		{"version is NULL", storedEntry{intent: intent, evidence: []byte{}, version: wholeNumber{bad: true}, acked: wholeNumber{n: -1}}, false},
		{"more is acknowledged", storedEntry{intent: intent, evidence: evidence, version: wholeNumber{n: 1}, acked: wholeNumber{n: 2}}, false},
		{"less than nothing is acknowledged", storedEntry{intent: intent, evidence: evidence, version: wholeNumber{n: 1}, acked: wholeNumber{n: -2}}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := new(Store).entry(&tt.row, journal.Key{ID: journal.PaymentID("a")})
			if _, unreadable := errors.AsType[*journal.EntryError](err); unreadable == tt.want || tt.want && err != nil {
				t.Errorf("got %v, want it to be readable: %t", err, tt.want)
			}
		})
	}
}
