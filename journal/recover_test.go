package journal_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/internal/test/clienttest"
	"github.com/cardgateway/cardgateway-go/journal"
	"github.com/cardgateway/cardgateway-go/sandbox"
)

// walk loops over Recover, and calls meanwhile after the first payment was yielded.
func walk(t *testing.T, s *shop, meanwhile func()) (told map[string]string) {
	t.Helper()
	told = map[string]string{}
	for e, err := range s.Recover(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		if len(told) == 0 {
			meanwhile()
		}
		told[e.ID().Text] = e.State().String()
	}
	return told
}

// TestRecoverTellsNoOldNews changes what is known about payment b while the loop handles payment a.
func TestRecoverTellsNoOldNews(t *testing.T) {
	inBubble(t, sandbox.Options{}, func(t *testing.T, s *shop) {
		s.refuse = errReset
		for _, id := range []string{"a", "b"} {
			if _, err := s.pay(id, approved); !errors.Is(err, cardgateway.ErrNotSent) {
				t.Fatal(err)
			}
			time.Sleep(time.Second)
		}
		s.refuse = nil
		told := walk(t, s, func() {
			if paid, err := s.pay("b", approved); err != nil || paid.State() != cardgateway.StateApproved {
				t.Errorf("b: got %v, %v", paid, err)
			}
		})
		if told["b"] != "succeeded" {
			t.Errorf("b was reported as paid, and then as %q", told["b"])
		}
		succeeds(t, s.Ack(t.Context(), journal.PaymentID("b"), journal.Succeeded))
	})
	inBubble(t, sandbox.Options{}, func(t *testing.T, s *shop) {
		for _, id := range []string{"a", "b"} {
			if _, err := s.pay(id, approved); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Second)
		}
		told := walk(t, s, func() {
			succeeds(t, s.Ack(t.Context(), journal.PaymentID("b"), journal.Succeeded))
		})
		if told["b"] != "" {
			t.Errorf("b was acknowledged, and then reported as %q", told["b"])
		}
	})
	inBubble(t, sandbox.Options{}, func(t *testing.T, s *shop) {
		s.refuse = errReset
		_, _ = s.pay("a", approved) // is not sent
		s.refuse = nil
		time.Sleep(time.Second)
		s.gateway.Inject(sandbox.Fault{Operation: sandbox.OpPayments, After: 3 * time.Second})
		s.gateway.Inject(sandbox.Fault{Operation: sandbox.OpSearches, Status: 503, Reply: sandbox.ReplyHTML, Times: -1})
		done := make(chan error)
		go func() {
			_, err := s.pay("b", approved)
			done <- err
		}()
		time.Sleep(time.Second) // b is in flight
		told := walk(t, s, func() {
			if err := <-done; err != nil {
				t.Error(err)
			}
		})
		if told["b"] != "succeeded" {
			t.Errorf("b was reported as paid, and then as %q", told["b"])
		}
	})
}

var errReset = errors.New("no network")

// rewriting changes the gateway's responses.
type rewriting struct {
	http.RoundTripper
	change func(*http.Request, []byte) []byte
}

func (r rewriting) RoundTrip(q *http.Request) (*http.Response, error) {
	resp, err := r.RoundTripper.RoundTrip(q)
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(resp.Body)
	if err := errors.Join(err, resp.Body.Close()); err != nil {
		return nil, err
	}
	body = r.change(q, body)
	resp.Body, resp.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	resp.Header.Del("Content-Length")
	return resp, nil
}

// TestQueriedTokenIsNotKept: the result of a query for a token payment is stored without its redirect URL, even if the
// entry began as another operation that was refused, or if it is not known which one it was.
func TestQueriedTokenIsNotKept(t *testing.T) {
	const token = "tok-0123456789abcdef"
	inBubble(t, sandbox.Options{}, func(t *testing.T, s *shop) {
		o := order("x", approved)
		_, err := s.CreateCheckout(t.Context(), cardgateway.CheckoutRequest{TransactionID: "x", OrderID: "o", Amount: o.Amount, Currency: "USD"})
		if !errors.Is(err, cardgateway.ErrInvalidRequest) {
			t.Fatal(err)
		}
		s.network = rewriting{s.network, func(q *http.Request, _ []byte) []byte {
			if q.Method == http.MethodPost {
				return nil // the response is lost
			}
			return []byte(`{"code":121,"totalCount":1,"data":[{"code":301,"uniqueId":"1","transactionId":"x","transactionAmount":"12.50",` +
				`"transactionCurrency":"USD","transactionAt":"` + time.Now().Format(time.DateTime) + `","redirectUrl":"https://gateway.test/?t=` + token + `"}]}`)
		}}
		_, err = s.TokenPayment(t.Context(), cardgateway.NewToken(token), clienttest.TokenPaymentRequest("x"))
		if !errors.Is(err, cardgateway.ErrOutcomeUnknown) {
			t.Fatal(err)
		}
		entries := recovered(t, s.Journal)
		if len(entries) != 1 || len(entries[0].Evidence) == 0 {
			t.Fatalf("got %+v", entries)
		}
		restored := shownAs(cardgateway.CodeRedirect, "1")
		restored.RedirectURL = "https://gateway.test/?t=" + token
		succeeds(t, s.Restore(t.Context(), restored))
		for _, ev := range append(entries[0].Evidence, s.stored("a").Evidence...) {
			text, err := ev.MarshalJSON()
			if err != nil || strings.Contains(string(text), token) {
				t.Errorf("kept: %s, %v", text, err)
			}
		}
	})
}

// ackAndForget acknowledges and forgets a payment that is older than a day.
func ackAndForget(t *testing.T, s *shop, id string) {
	t.Helper()
	succeeds(t, s.Ack(t.Context(), journal.PaymentID(id), s.stored(id).State()))
	if _, err := s.store.(*journal.MemoryStore).Forget(t.Context(), time.Now().Add(-25*time.Hour)); err != nil {
		t.Error(err)
	}
}

// TestForgottenStaysForgotten acknowledges and forgets a payment that a loop over Recover has already listed.
func TestForgottenStaysForgotten(t *testing.T) {
	inBubble(t, sandbox.Options{}, func(t *testing.T, s *shop) {
		for _, id := range []string{"a", "b"} {
			if _, err := s.pay(id, approved); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Second)
		}
		time.Sleep(50 * time.Hour)
		told := walk(t, s, func() { ackAndForget(t, s, "b") })
		if len(told) != 1 {
			t.Errorf("b was forgotten, and then reported: %q", told)
		}
		wantStates(t, s.Journal, map[string]string{"a": "succeeded"})
	})
}

// TestRecoverReadsOnce: an entry that was just listed, and that nobody has changed, is not read again.
func TestRecoverReadsOnce(t *testing.T) {
	inBubble(t, sandbox.Options{}, func(t *testing.T, s *shop) {
		for i := range 5 {
			_, _ = s.pay(fmt.Sprint(i), approved)
		}
		f := &faulty{Store: s.store, fail: map[string]bool{"Get": true}}
		told := 0
		for _, err := range journal.New(s.client, f, journal.Options{}).Recover(t.Context()) {
			if told++; err != nil {
				t.Error(err)
			}
		}
		if told != 5 {
			t.Errorf("%d are reported, want 5", told)
		}
	})
}

// TestRecoverLeft: a Recover whose loop was left is not complete, at whichever entry it was left.
func TestRecoverLeft(t *testing.T) {
	inBubble(t, sandbox.Options{}, func(t *testing.T, s *shop) {
		for _, id := range []string{"a", "b"} {
			_, _ = s.pay(id, approved)
			time.Sleep(time.Second)
		}
		for _, tt := range []struct {
			name     string
			at       int // the entry at which the loop is left
			complete bool
			told     int
		}{{"to its end", 3, true, 1}, {"at the first", 1, false, 1}, {"at one that cannot be read", 2, false, 1}} {
			var info journal.RecoverInfo
			j := journal.New(s.client, unreadable{s.store, map[string]bool{"a": true}}, journal.Options{
				Observe: func(_ context.Context, i journal.RecoverInfo) { info = i },
			})
			n := 0
			for range j.Recover(t.Context()) {
				if n++; n == tt.at {
					break
				}
			}
			if info.Complete != tt.complete || info.Reported != tt.told || info.Unreadable != tt.told && tt.at > 1 {
				t.Errorf("%s: %+v", tt.name, info)
			}
		}
	})
}

// TestLeftWhileAsking: leaving the loop waits for the queries in flight, so that nothing is queried or recorded
// afterwards.
func TestLeftWhileAsking(t *testing.T) {
	inBubble(t, sandbox.Options{}, func(t *testing.T, s *shop) {
		s.gateway.Inject(sandbox.Fault{Operation: sandbox.OpPayments, Commit: sandbox.CommitNever, Reply: sandbox.ReplyClose, Times: 4})
		for _, id := range []string{"a", "b", "c", "d"} {
			_, _ = s.pay(id, approved)
		}
		time.Sleep(time.Minute)
		asking := &slowToLeave{RoundTripper: s.network}
		s.network = asking
		j := s.restarted(journal.Options{Parallel: 2})
		for range j.Recover(t.Context()) {
			synctest.Wait() // the queries for b and c are in flight, and d waits for its turn
			break
		}
		if n := asking.under.Load(); n != 0 || asking.ended.Load() < 1 {
			t.Errorf("%d queries are in flight, %d have ended", n, asking.ended.Load())
		}
		var asked sync.Map // transactionId to true
		s.network = rewriting{asking.RoundTripper, func(q *http.Request, body []byte) []byte {
			asked.Store(q.URL.Query().Get("transactionId"), true)
			return body
		}}
		recovered(t, j)
		for id, want := range map[string]bool{"a": false, "b": true, "c": true, "d": true} {
			if _, got := asked.Load(id); got != want {
				t.Errorf("then it queries %s: %t, want %t: only a had a response", id, got, want)
			}
		}
	})
}

// slowToLeave responds to queries about payment a. It holds all others until 100 ms after their context has ended.
type slowToLeave struct {
	http.RoundTripper
	under, ended atomic.Int32
}

func (r *slowToLeave) RoundTrip(q *http.Request) (*http.Response, error) {
	if q.URL.Query().Get("transactionId") == "a" {
		return r.RoundTripper.RoundTrip(q)
	}
	r.under.Add(1)
	defer r.ended.Add(1)
	defer r.under.Add(-1)
	<-q.Context().Done()
	time.Sleep(100 * time.Millisecond)
	return nil, q.Context().Err()
}
