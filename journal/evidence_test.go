package journal

import (
	"context"
	"errors"
	"iter"
	"testing"
	"time"

	"github.com/cardgateway/cardgateway-go"
)

// offline is a journal whose gateway cannot be reached.
func offline(t *testing.T, store Store) *Journal {
	t.Helper()
	client, err := cardgateway.New(cardgateway.Config{BaseURL: "http://127.0.0.1:1", AppID: "7"}) // nobody listens
	if err != nil {
		t.Fatal(err)
	}
	return New(client, store, Options{})
}

// TestEvidenceFrom: the evidence that results from a query.
func TestEvidenceFrom(t *testing.T) {
	j := offline(t, NewMemoryStore())
	paid := cardgateway.Transaction{Code: cardgateway.CodeSuccess, UniqueID: "1"}
	again, no := paid, paid
	again.UniqueID, no.Code = "2", cardgateway.CodeFailed
	refunded := cardgateway.Refund{Code: 111, RefundUniqueID: "1"}
	const young, old = time.Hour, 25 * time.Hour
	for _, tt := range []struct {
		name string
		age  time.Duration
		got  gatewayResult
		err  error
		want []State
		seen bool
	}{
		{"paid", young, gatewayResult{transaction: &paid}, nil, []State{Succeeded}, false},
		{"paid back", young, gatewayResult{refund: &refunded}, nil, []State{Succeeded}, false},
		{"declined", young, gatewayResult{transaction: &no}, &cardgateway.DeclinedError{}, []State{Declined}, false},
		{"not there", young, gatewayResult{}, cardgateway.ErrNotFound, nil, false},
		{"not there for long", old, gatewayResult{}, cardgateway.ErrNotFound, []State{PresumedAbsent}, false},
		{"no response", old, gatewayResult{}, &cardgateway.OutcomeUnknownError{}, nil, false},
		{"seen", old, gatewayResult{}, &cardgateway.OutcomeUnknownError{Seen: true}, []State{Unknown}, true},
		{"an odd row", old, gatewayResult{}, &cardgateway.OutcomeUnknownError{Transaction: &paid}, []State{Unknown}, true},
		{"an odd row of a refund", old, gatewayResult{}, &cardgateway.RefundUnknownError{Refund: &refunded}, []State{Unknown}, true},
		{"seen, of a refund", old, gatewayResult{}, &cardgateway.RefundUnknownError{Seen: true}, []State{Unknown}, true},
		{
			"paid twice, and declined", young, gatewayResult{},
			&cardgateway.ConflictError{Transactions: []cardgateway.Transaction{no, paid, again}}, []State{Succeeded, Succeeded}, false,
		},
		{
			"paid back twice", young, gatewayResult{},
			&cardgateway.RefundConflictError{Refunds: []cardgateway.Refund{refunded, refunded}}, []State{Succeeded, Succeeded}, false,
		},
		{"nothing", old, gatewayResult{}, nil, nil, false},
		{"another error", old, gatewayResult{transaction: &paid}, errors.New("?"), nil, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e := Entry{Begun: Intent{ID: PaymentID("a"), Operation: opSubscription, At: time.Now().Add(-tt.age)}}
			got := j.evidenceOfResolve(tt.got, tt.err, e.project(), true)
			if len(got) != len(tt.want) {
				t.Fatalf("got %+v, want %v", got, tt.want)
			}
			for i, ev := range got {
				if ev.State != tt.want[i] || ev.Seen != tt.seen || ev.Source != SourceQuery || (ev.State >= Pending) == ev.result().isNothing() {
					t.Errorf("got %+v, want %v", ev, tt.want[i])
				}
			}
		})
	}
}

// taking is a store that accepts all evidence and stores none.
type taking struct{}

func (taking) Begin(context.Context, Intent) (Entry, bool, error)    { return Entry{}, true, nil }
func (taking) Get(context.Context, Key) (Entry, error)               { return Entry{}, ErrNoEntry }
func (taking) Record(context.Context, Key, int, Evidence) error      { return nil }
func (taking) Ack(context.Context, Key, int) error                   { return nil }
func (taking) Unacked(context.Context, Shop) iter.Seq2[Entry, error] { return nil }

// TestAppendCopies: append must not write into an entry that the store has returned, because it may still belong to the
// store or be shared.
func TestAppendCopies(t *testing.T) {
	j := offline(t, taking{})
	shared := make([]Evidence, 1, 4)
	a, b := Entry{Evidence: shared}, Entry{Evidence: shared}
	for e, sender := range map[*Entry]string{&a: "a", &b: "b"} {
		if err := j.recordOnce(t.Context(), e, Evidence{Sender: sender}); err != nil {
			t.Fatal(err)
		}
	}
	if len(a.Evidence) != 2 || len(b.Evidence) != 2 || a.Evidence[1].Sender != "a" || b.Evidence[1].Sender != "b" {
		t.Errorf("got %+v and %+v", a.Evidence, b.Evidence)
	}
}
