package journal_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/journal"
	"github.com/cardgateway/cardgateway-go/sandbox"
)

var refusal = sandbox.Fault{Operation: sandbox.OpPayments, Status: 401, Commit: sandbox.CommitNever, Reply: sandbox.ReplyHTML}

// lost is a request to pay that does not arrive.
var lost = sandbox.Fault{Operation: sandbox.OpPayments, Commit: sandbox.CommitNever, Reply: sandbox.ReplyReset}

// TestAfterRefusal: only a refused payment is submitted again, and only if the gateway does not have it.
func TestAfterRefusal(t *testing.T) {
	for _, tt := range []struct {
		name    string
		first   sandbox.Fault // what the first submission met
		before  func(*shop)   // the second
		cvv     string
		want    error
		sent    int32
		charged int
		state   string
	}{
		{"refused", refusal, nil, approved, nil, 2, 1, "succeeded"},
		{"refused, then declined", refusal, nil, declined, journal.ErrRepeatDeclined, 2, 0, "unknown"}, // perhaps only as a repetition
		{"refused twice", refusal, func(s *shop) { s.gateway.Inject(refusal) }, approved, cardgateway.ErrRefused, 2, 0, "refused"},
		{"the gateway cannot be queried", refusal, silence, approved, cardgateway.ErrNotSent, 1, 0, "refused"},
		{"refused and charged all the same", sandbox.Fault{Operation: sandbox.OpPayments, Status: 403, Reply: sandbox.ReplyHTML}, nil, approved,
			cardgateway.ErrConflict, 1, 1, "conflict"},
		{"its outcome is unknown", lost, nil, approved,
			journal.ErrOpen, 1, 0, "unknown"},
	} {
		runInBubble(t, tt.name, sandbox.Options{Duplicates: sandbox.DuplicatesExecuted}, func(t *testing.T, s *shop) {
			s.gateway.Inject(tt.first)
			_, _ = s.pay("a", tt.cvv)
			if tt.before != nil {
				tt.before(s)
			}
			time.Sleep(time.Minute)
			got, err := s.AfterRefusal().CreateSubscription(t.Context(), order("a", tt.cvv))
			if !errors.Is(err, tt.want) || err == nil && got.State() != cardgateway.StateApproved {
				t.Errorf("got %v, %v; want %v", got, err, tt.want)
			}
			if n := s.sent.Load(); n != tt.sent {
				t.Errorf("%d requests, want %d", n, tt.sent)
			}
			wantExecuted(t, s, "a", tt.charged)
			s.gateway.ClearFaults()
			wantStates(t, s.restarted(journal.Options{}), map[string]string{"a": tt.state})
		})
	}
}

// TestDeclineAfterRefusal: a refusal is no proof, so after it the payment may have been submitted twice, and a decline of the
// second submission may only be the gateway's rejection of a repetition. It is final once the first is no longer expected.
func TestDeclineAfterRefusal(t *testing.T) {
	for _, tt := range []struct {
		name    string
		first   sandbox.Fault
		cvv     string
		charged int
		hourly  string // what Recover reports after an hour
		daily   string // and after 25 hours
		fails   int32  // so often the store writes the second submission and returns an error
	}{
		{"charged all the same, and shown only later", sandbox.Fault{Operation: sandbox.OpPayments, Status: 403, Reply: sandbox.ReplyHTML}, approved, 1,
			"succeeded", "succeeded", 0},
		{"not processed", refusal, declined, 0, "unknown", "declined", 0},
		{"not processed, and the store fails", refusal, declined, 0, "unknown", "declined", 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			lag := sandbox.Search{Lag: 10 * time.Minute}
			inBubble(t, sandbox.Options{Duplicates: sandbox.DuplicatesDeclined, Search: lag}, func(t *testing.T, s *shop) {
				s.gateway.Inject(tt.first)
				if _, err := s.pay("a", tt.cvv); !errors.Is(err, cardgateway.ErrRefused) {
					t.Fatalf("got %v, want ErrRefused", err)
				}
				time.Sleep(time.Minute)
				store := &failing{Store: s.store, wrote: true}
				store.records.Store(tt.fails)
				j := journal.New(s.client, store, journal.Options{})
				_, err := j.AfterRefusal().CreateSubscription(t.Context(), order("a", tt.cvv))
				if !errors.Is(err, cardgateway.ErrOutcomeUnknown) || !errors.Is(err, journal.ErrRepeatDeclined) {
					t.Errorf("got %v, want ErrRepeatDeclined", err)
				}
				time.Sleep(time.Hour)
				wantStates(t, s.restarted(journal.Options{}), map[string]string{"a": tt.hourly})
				time.Sleep(24 * time.Hour)
				wantStates(t, s.restarted(journal.Options{}), map[string]string{"a": tt.daily})
				wantExecuted(t, s, "a", tt.charged)
			})
		})
	}
}

// TestResolveOfRepetition: the error of a payment that was submitted again says when it was sent first, and that a decline is not final.
// So Resolve is not misled by the only row that it finds.
func TestResolveOfRepetition(t *testing.T) {
	for _, tt := range []struct {
		name  string
		fault sandbox.Fault // of the second submission, which is declined; one of OpTokenPayment meets nothing here
		fails int32         // so often its outcome cannot be recorded
	}{
		{"declined", sandbox.Fault{Operation: sandbox.OpTokenPayment}, 0},
		{"without an answer", sandbox.Fault{Operation: sandbox.OpPayments, Reply: sandbox.ReplyClose}, 0},
		{"declined, and not recorded", sandbox.Fault{Operation: sandbox.OpTokenPayment}, 1000},
	} {
		runInBubble(t, tt.name, sandbox.Options{}, func(t *testing.T, s *shop) {
			begun := time.Now()
			s.gateway.Inject(refusal)
			_, _ = s.pay("a", declined)
			time.Sleep(40 * 24 * time.Hour)
			s.gateway.Inject(tt.fault)
			store := &failing{Store: s.store}
			store.recordsAfter.Store(1) // the submission
			store.records.Store(tt.fails)
			again := journal.New(s.client, store, journal.Options{}).AfterRefusal()
			var unknown *cardgateway.OutcomeUnknownError
			for range 2 { // the second call sends nothing: the store fails
				_, err := again.CreateSubscription(t.Context(), order("a", declined))
				var ok bool
				if unknown, ok = errors.AsType[*cardgateway.OutcomeUnknownError](err); !ok || !unknown.SentAt.Equal(begun) || !unknown.SentAgain {
					t.Fatalf("got %+v (%v), want an unknown outcome, sent again, and first at %v", unknown, err, begun)
				}
				store.begins.Store(1000)
			}
			_, err := s.client.Resolve(t.Context(), unknown.Query())
			unknown, ok := errors.AsType[*cardgateway.OutcomeUnknownError](err)
			if !ok || !unknown.SentAgain || !unknown.Seen || unknown.Transaction.Code != cardgateway.CodeFailed {
				t.Errorf("Resolve: got %+v (%v), want an unknown outcome with the declined row", unknown, err)
			}
		})
	}
}

// TestDeclineThatIsHidden: a decline of a repeated submission is not the outcome, but it shows that the gateway has the
// payment. If no query finds it later, it is not presumed absent.
func TestDeclineThatIsHidden(t *testing.T) {
	for _, tt := range []struct {
		name   string
		answer sandbox.Reply // to the repeated submission
	}{{"shown by the answer", sandbox.ReplyAsIs}, {"shown by a query", sandbox.ReplyReset}} {
		runInBubble(t, tt.name, sandbox.Options{Duplicates: sandbox.DuplicatesExecuted}, func(t *testing.T, s *shop) {
			s.gateway.Inject(refusal)
			_, _ = s.pay("a", declined)
			s.gateway.Inject(sandbox.Fault{Operation: sandbox.OpPayments, Reply: tt.answer})
			_, _ = s.AfterRefusal().CreateSubscription(t.Context(), order("a", declined))
			if tt.answer == sandbox.ReplyReset {
				time.Sleep(time.Hour)
				wantStates(t, s.Journal, map[string]string{"a": "unknown"})
			}
			searchShows(s)
			time.Sleep(48 * time.Hour)
			wantStates(t, s.restarted(journal.Options{}), map[string]string{"a": "unknown"})
		})
	}
}

// TestRecordedRefusal: if a refusal is returned again, the error says when it was recorded, that nothing was sent now, and how
// to submit the payment again.
func TestRecordedRefusal(t *testing.T) {
	inBubble(t, sandbox.Options{}, func(t *testing.T, s *shop) {
		s.gateway.Inject(refusal)
		at := time.Now()
		_, first := s.pay("a", approved)
		time.Sleep(time.Hour)
		_, err := s.pay("a", approved)
		recorded, ok := errors.AsType[*journal.RecordedError](err)
		if !ok || !recorded.At.Equal(at) || !errors.Is(err, cardgateway.ErrRefused) || cardgateway.SafeToRetry(err) {
			t.Fatalf("got %v, want a *RecordedError of %v", err, at)
		}
		for _, want := range []string{at.UTC().Format(time.RFC3339) + ", nothing was sent now", "AfterRefusal submits it again"} {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("got %q, want it to have %q", err, want)
			}
		}
		if _, ok := errors.AsType[*journal.RecordedError](first); ok {
			t.Errorf("the refusal itself is returned as a recorded one: %v", first)
		}
		if n := s.sent.Load(); n != 1 {
			t.Errorf("%d requests, want 1", n)
		}
	})
}
