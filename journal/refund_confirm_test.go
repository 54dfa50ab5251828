package journal_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/shopspring/decimal"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/internal/test/clienttest"
	"github.com/cardgateway/cardgateway-go/journal"
	"github.com/cardgateway/cardgateway-go/sandbox"
)

// TestConfirmRefund: a refund from a notification or a walk is known without a query.
func TestConfirmRefund(t *testing.T) {
	inBubble(t, executing, func(t *testing.T, s *shop) {
		req := refund("r", s.paidFor("a"))
		s.lose()
		_, _ = s.CreateRefund(t.Context(), req)
		page, err := s.client.SearchRefunds(t.Context(), cardgateway.RefundQuery{
			UniqueID: req.UniqueID, Start: time.Now().Add(-time.Hour), End: time.Now().Add(time.Hour),
		}, cardgateway.PageRequest{})
		if err != nil || len(page.Data) != 1 {
			t.Fatalf("got %v, %v", page, err)
		}
		silence(s)
		for name, c := range map[string]struct {
			change func(*cardgateway.Refund)
			want   error
		}{
			"another amount":  {func(r *cardgateway.Refund) { r.RefundAmount = decimal.New(251, -2) }, journal.ErrMismatch},
			"no amount":       {func(r *cardgateway.Refund) { r.RefundAmount = decimal.Decimal{} }, journal.ErrMismatch},
			"another payment": {func(r *cardgateway.Refund) { r.UniqueID = "4711" }, journal.ErrMismatch},
			"another refund":  {func(r *cardgateway.Refund) { r.MerchantRefundID = "s" }, journal.ErrNoEntry},
			"no id":           {func(r *cardgateway.Refund) { r.MerchantRefundID = "" }, journal.ErrNoEntry},
		} {
			shown := page.Data[0]
			c.change(&shown)
			if err := s.ConfirmRefund(t.Context(), &shown); !errors.Is(err, c.want) {
				t.Errorf("%s: got %v, want %v", name, err, c.want)
			}
		}
		if err := s.ConfirmRefund(t.Context(), nil); err == nil {
			t.Error("no refund: no error")
		}
		wantRefunds(t, s.Journal, map[string]string{"r": "unknown"})
		for range 2 {
			succeeds(t, s.ConfirmRefund(t.Context(), &page.Data[0]))
		}
		if e, err := s.Get(t.Context(), journal.RefundID("r")); err != nil || e.State() != journal.Succeeded || len(e.Evidence) != 2 {
			t.Errorf("the entry is %v with %d pieces of evidence, %v", e.State(), len(e.Evidence), err)
		}
		succeeds(t, s.Ack(t.Context(), journal.RefundID("r"), journal.Succeeded))
		second := page.Data[0]
		second.RefundUniqueID = "4712" // money that was given back twice
		succeeds(t, s.ConfirmRefund(t.Context(), &second))
		wantRefunds(t, s.restarted(journal.Options{}), map[string]string{"r": "conflict"})
		_, err = s.CreateRefund(t.Context(), req)
		if conflict, ok := errors.AsType[*cardgateway.RefundConflictError](err); !ok || conflict.RefundTransactionID != "r" || len(conflict.Refunds) != 2 {
			t.Errorf("the next call: %v, want ErrConflict with both", err)
		}
	})
}

// TestNothingSecretOfARefundIsStored makes a refund at a gateway whose responses contain a card number and the merchant's
// remark in every text, and searches what is stored.
func TestNothingSecretOfARefundIsStored(t *testing.T) {
	const remark = "for Ada Example of 12 Example Road"
	inBubble(t, sandbox.Options{}, func(t *testing.T, s *shop) {
		s.network = roundTripper(func(r *http.Request) (*http.Response, error) {
			code, _ := r.Context().Value(codeKey{}).(string)
			id := strings.SplitN(code, " ", 2)[0]
			text := testNumber + " " + remark
			return clienttest.Respond(r, http.StatusOK, `{"code":`+id+`,"message":"`+text+`","refundTransactionId":"r`+id+`","uniqueId":"1","refundUniqueId":"2",`+
				`"refundCurrency":"USD","refundAmount":"2.50","refundMessage":"`+text+`","remark":"`+text+`","cardNumber":"`+testNumber+`"}`)
		})
		for _, code := range []string{"110", "111", "112", "999", "400"} {
			req := refund("r"+code, "1")
			req.Remark, req.Extra = remark, map[string]any{"note": testNumber}
			_, _ = s.CreateRefund(context.WithValue(t.Context(), codeKey{}, code), req)
		}
		var stored []byte
		for e, err := range s.store.Unacked(t.Context(), key("").Shop) {
			text, failed := json.Marshal(e)
			if err != nil || failed != nil {
				t.Fatal(err, failed)
			}
			stored = append(append(stored, text...), '\n')
			for _, ev := range e.Evidence { // as a store of somebody else's could keep it
				if r := ev.Refund; r != nil && (r.Message != "" || r.Extra != nil || r.Raw != nil) {
					t.Errorf("the evidence holds %q, %q, %v", r.Message, r.Extra, r.Raw)
				}
			}
		}
		if n := bytes.Count(stored, []byte(`"state"`)); n != 5 {
			t.Errorf("%d outcomes are stored, want 5: %s", n, stored)
		}
		if n := bytes.Count(stored, []byte(`"refundUniqueId":"2"`)); n != 3 {
			t.Errorf("%d refunds are stored, want 3: %s", n, stored)
		}
		for _, secret := range []string{testNumber, testNumber[:6], "Ada", "Road", "message", "remark", "note"} {
			if bytes.Contains(stored, []byte(secret)) {
				t.Errorf("the store holds %q", secret)
			}
		}
	})
}
