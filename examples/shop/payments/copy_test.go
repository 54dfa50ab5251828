package payments

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/internal/test/clienttest"
	"github.com/cardgateway/cardgateway-go/journal"
	"github.com/cardgateway/cardgateway-go/sandbox"
	"github.com/shopspring/decimal"
)

// oddRows is a way to a gateway that changes a text in the rows of its searches.
type oddRows struct {
	http.RoundTripper
	from, to string
}

func (o *oddRows) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := o.RoundTripper.RoundTrip(r)
	if err != nil || !strings.Contains(r.URL.Path, "/search/list/") {
		return resp, err
	}
	body, err := io.ReadAll(resp.Body)
	body = bytes.ReplaceAll(body, []byte(o.from), []byte(o.to))
	resp.Body, resp.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	resp.Header.Del("Content-Length")
	return resp, err
}

// openOdd returns a Service with a sandbox that has two paid orders, and what changes the rows of its searches.
func openOdd(t *testing.T) (s *Service, g *sandbox.Gateway, rows *oddRows, ids [2]string) {
	t.Helper()
	g = sandbox.New(sandbox.Options{NoNotifications: true, RefundSettleAfter: -1})
	rows = &oddRows{RoundTripper: g.RoundTripper()}
	s = openWith(t, ":memory:", cardgateway.Config{
		BaseURL: "https://gateway.example", AppID: "1", TestPayments: true, HTTPClient: &http.Client{Transport: rows},
	})
	for i := range ids {
		o := placed(t, s, KindToken)
		r := clienttest.TokenPaymentRequest(o.ID)
		r.Amount = o.Amount
		paid, err := s.Client.TokenPayment(t.Context(), cardgateway.NewToken(g.NewToken(sandbox.Approved)), r)
		must(t, err)
		becomes(t, s, o.ID, Payment{State: Paid, UniqueID: paid.UniqueID, Version: 1})
		ids[i] = o.ID
	}
	return s, g, rows, ids
}

// TestRestoreOddRows: a row that cannot be restored costs only itself.
func TestRestoreOddRows(t *testing.T) {
	for name, odd := range map[string][2]string{
		"an order that cannot be read": {`"transactionId":"ID"`, `"transactionId":"ID","isTest":"perhaps"`},
		"an order without an id":       {`"transactionId":"ID"`, `"transactionId":null`},
		"a refund that cannot be read": {`"merchantRefundId":"ID-R1"`, `"merchantRefundId":"ID-R1","refundAmount":"perhaps"`},
		"a refund without an id":       {`"merchantRefundId":"ID-R1"`, `"merchantRefundId":null`},
		"a refund with another's id":   {`"merchantRefundId":"ID-R1"`, `"merchantRefundId":"OTHER-R1"`},
	} {
		for i := range 2 {
			t.Run(fmt.Sprintf("%s, of order %d", name, i), func(t *testing.T) {
				s, g, rows, ids := openOdd(t)
				bad, good := ids[i], ids[1-i]
				for _, id := range ids {
					if _, err := g.Refund(id, "1.50", id+"-R1"); err != nil {
						t.Fatal(err)
					}
				}
				words := strings.NewReplacer("ID", bad, "OTHER", good)
				rows.from, rows.to = words.Replace(odd[0]), words.Replace(odd[1])
				if _, err := g.Refund(good, "1.00", "goodwill"); err != nil {
					t.Fatal(err)
				}
				failed := s.Restore(t.Context(), time.Now())
				if _, err := s.Journal.Get(t.Context(), journal.RefundID("goodwill")); !errors.Is(err, journal.ErrNoEntry) {
					t.Errorf("the back office cannot give its id again, which the journal has now: %v", err)
				}
				for _, id := range []journal.ID{journal.PaymentID(good), journal.RefundID(good + "-R1")} {
					if _, err := s.Journal.Get(t.Context(), id); err != nil {
						t.Errorf("%v: %v; Restore: %v", id, err, failed)
					}
				}
				if unnamed := strings.Contains(name, "without an id"); unnamed != (failed == nil) {
					t.Errorf("Restore: %v", failed)
				}
			})
		}
	}
}

// TestRestoreClockBehind: with a clock that is behind, as after a virtual machine was restored with the database, the last payments are missing.
func TestRestoreClockBehind(t *testing.T) {
	s, _, rows, _ := openOdd(t)
	rows.from, rows.to = `"timestamp":1`, `"timestamp":2` // in milliseconds: years later
	if err := s.Restore(t.Context(), time.Now()); err == nil || !strings.Contains(err.Error(), "clock") {
		t.Errorf("got %v, want an error about the clock", err)
	}
}

// TestRestoreWrongZone: nor are they found where the gateway's clock, in another zone than the client's, shows a later time.
func TestRestoreWrongZone(t *testing.T) {
	s, _, rows, _ := openOdd(t)
	var err error
	s.Client, err = cardgateway.New(cardgateway.Config{
		BaseURL: "https://gateway.example", AppID: "1", Location: time.UTC, HTTPClient: &http.Client{Transport: rows},
	})
	if err == nil {
		err = s.Restore(t.Context(), time.Now())
	}
	if err == nil || !strings.Contains(err.Error(), "time zone") {
		t.Errorf("got %v, want an error about the zone", err)
	}
}

// TestRefundCameBack: a refund of the back office that was made, and came back, does not count as returned, and a person looks at it.
func TestRefundCameBack(t *testing.T) {
	s, _, _, ids := openOdd(t)
	o := shown(t, s, ids[0])
	r := &cardgateway.Refund{UniqueID: o.UniqueID, RefundUniqueID: "9", MerchantRefundID: "goodwill", RefundAmount: decimal.New(150, -2)}
	for _, step := range []struct {
		code     cardgateway.Code
		returned int64 // cents
	}{{cardgateway.CodeRefundAccepted, 0}, {cardgateway.CodeRefundSuccess, 150}, {cardgateway.CodeRefundFailed, 0}, {cardgateway.CodeRefundSuccess, 0}} {
		r.Code = step.code
		must(t, s.confirmRefund(t.Context(), r))
		o := shown(t, s, ids[0])
		sum, _ := o.Refunded()
		next, why := o.NextRefund()
		if !sum.Equal(decimal.New(step.returned, -2)) || (why == "") != (step.returned > 0) {
			t.Errorf("code %d: got %s returned, next %+v, %q", step.code, sum, next, why)
		}
	}
}

// TestCopyOddRow: a row that cannot be read does not keep others from being copied when they change.
func TestCopyOddRow(t *testing.T) {
	s, g, rows, ids := openOdd(t)
	for _, id := range ids {
		if _, err := g.Refund(id, "1.50", id+"-R1"); err != nil {
			t.Fatal(err)
		}
	}
	// The backup had the payments when they were not made, and the customers look after the restore.
	made, err := s.Order(t.Context(), ids[1])
	if err == nil {
		_, err = s.DB.ExecContext(t.Context(), `UPDATE attempts SET state = 'open', unique_id = '', version = -1`)
	}
	made.Version++
	if err = errors.Join(err, s.Restore(t.Context(), time.Now())); err == nil {
		err = s.setPayment(t.Context(), ids[1], made.Payment)
	}
	since := time.Now().Add(-time.Hour).UnixMicro()
	if err == nil { // and the clock was ahead when they were copied last
		_, err = s.DB.ExecContext(t.Context(), `INSERT INTO copies (name, since, due) VALUES ('refunds', $1, $2)`, since, time.Now().AddDate(1, 0, 0).UnixMicro())
	}
	must(t, err)
	rows.from, rows.to = `"merchantRefundId":"`+ids[0]+`-R1"`, `"merchantRefundId":"`+ids[0]+`-R1","refundAmount":"perhaps"`
	ctx, stop := context.WithCancel(t.Context())
	copied := make(chan struct{})
	s.RefundsEvery = time.Millisecond
	go func() {
		defer close(copied)
		s.copyRegularly(ctx)
	}()
	defer func() { stop(); <-copied }()
	for _, want := range []State{Processing, Refunded} {
		for {
			o := shown(t, s, ids[1])
			if len(o.Refunds) == 1 && o.Refunds[0].State == want {
				break
			}
			time.Sleep(time.Millisecond) // if it is never copied, the test runs until its time is over
		}
		if want == Processing {
			must(t, g.SettleRefund(ids[1]+"-R1", true))
		}
	}
	if next, err := one(Collect(ctx, s.DB, column[int64], `SELECT since FROM copies WHERE name = 'refunds'`)); err != nil || next < since {
		t.Errorf("the next copy begins at %d, %v, before %d: each one would, while nothing is known to be complete", next, err, since)
	}
}
