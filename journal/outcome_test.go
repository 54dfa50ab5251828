package journal

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/shopspring/decimal"

	"github.com/cardgateway/cardgateway-go"
)

// TestOutcomeOfEachState: an entry's outcome is what the call of the payment or the refund returned, or would have
// returned.
func TestOutcomeOfEachState(t *testing.T) {
	why := errors.New("HTTP 401")
	for _, tt := range []struct {
		state    State
		want     []error // in the outcome; none for a success
		never    error
		shown    bool // there is a transaction, or a refund
		retry    bool
		askedWhy bool // the outcome wraps the error of the last query
	}{
		{state: Unknown, want: []error{cardgateway.ErrOutcomeUnknown, ErrOpen}, askedWhy: true},
		{state: NotSent, want: []error{cardgateway.ErrNotSent}, retry: true},
		{state: Refused, want: []error{cardgateway.ErrRefused}},
		{state: PresumedAbsent, want: []error{cardgateway.ErrOutcomeUnknown, ErrPresumedAbsent}, never: ErrOpen, askedWhy: true},
		{state: Pending, shown: true},
		{state: Abandoned, want: []error{cardgateway.ErrOutcomeUnknown, ErrAbandoned}, never: ErrOpen},
		{state: Declined, want: []error{cardgateway.ErrDeclined}, shown: true},
		{state: Succeeded, shown: true},
	} {
		for _, of := range []string{"payment", "refund"} {
			t.Run(of+" "+tt.state.String(), func(t *testing.T) {
				at := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
				in := Intent{ID: PaymentID("a"), Sender: "s"}
				ev := Evidence{At: at, Source: SourceAnswer, State: tt.state, Sender: "s", HTTPStatus: 401, Code: 7}
				if of == "refund" {
					in = Intent{ID: RefundID("a"), Sender: "s"}
				}
				switch {
				case tt.shown && of == "refund":
					ev.Refund = &cardgateway.Refund{RefundUniqueID: "1"}
				case tt.shown:
					ev.Transaction = &cardgateway.Transaction{UniqueID: "1"}
				}
				e := Entry{Begun: in, Evidence: []Evidence{ev}, queryErr: why}
				s, err := e.outcome()
				if len(tt.want) == 0 && err != nil {
					t.Errorf("got %v", err)
				}
				for _, want := range tt.want {
					if !errors.Is(err, want) {
						t.Errorf("got %v, want %v in it", err, want)
					}
				}
				if tt.never != nil && errors.Is(err, tt.never) || cardgateway.SafeToRetry(err) != tt.retry || errors.Is(err, why) != tt.askedWhy {
					t.Errorf("got %v", err)
				}
				if !reflect.DeepEqual(e.Transaction(), s.transaction) || !reflect.DeepEqual(e.Refund(), s.refund) || fmt.Sprint(e.Err()) != fmt.Sprint(err) {
					t.Errorf("the methods return %+v, %+v, %v", e.Transaction(), e.Refund(), e.Err())
				}
				if s.isNothing() == tt.shown {
					t.Errorf("the transaction or refund is %+v", s)
				}
				if s.transaction != nil && s.transaction == ev.Transaction || s.refund != nil && s.refund == ev.Refund {
					t.Error("the caller receives the entry's own value, and could change it")
				}
				if refused, ok := errors.AsType[*cardgateway.RefusedError](err); ok && (refused.HTTPStatus != 401 || refused.Code != 7) {
					t.Errorf("the refusal is %+v", refused)
				}
				e.Evidence = slices.Repeat([]Evidence{{Source: SourceQuery, State: Succeeded}}, 3)
				for i, id := range []string{"1", "2", "1"} {
					if of == "refund" {
						e.Evidence[i].Refund = &cardgateway.Refund{Code: 111, RefundUniqueID: id}
					} else {
						e.Evidence[i].Transaction = &cardgateway.Transaction{Code: 100, UniqueID: id}
					}
				}
				_, err = e.outcome()
				payments, ofPayment := errors.AsType[*cardgateway.ConflictError](err)
				refunds, ofRefund := errors.AsType[*cardgateway.RefundConflictError](err)
				if ofPayment == ofRefund || ofRefund != (of == "refund") || ofPayment && len(payments.Transactions) != 2 || ofRefund && len(refunds.Refunds) != 2 {
					t.Errorf("the conflict of two successes is %v", err)
				}
				called, failed := "", errors.New("not stored")
				err = e.Outcome(
					func(*cardgateway.Transaction, error) error { called += "payment"; return failed },
					func(*cardgateway.Refund, error) error { called += "refund"; return failed })
				if called != of || err != failed {
					t.Errorf("the function for a %q was called, and Outcome returns %v", called, err)
				}
				payment, refund := func(*cardgateway.Transaction, error) error { return nil }, func(*cardgateway.Refund, error) error { return nil }
				if of == "payment" {
					payment = nil
				} else {
					refund = nil
				}
				if err := e.Outcome(payment, refund); err == nil || !strings.Contains(err.Error(), "no function for "+in.ID.describe()) {
					t.Errorf("without its function: %v", err)
				}
			})
		}
	}
}

// TestUnfitIsNotSent: for a request that cannot be recorded, the client receives a context that has ended.
func TestUnfitIsNotSent(t *testing.T) {
	p := request{send: func(ctx context.Context) (gatewayResult, error) { return gatewayResult{}, context.Cause(ctx) }}
	if _, err := p.rejected(t.Context()); err != errUnfit {
		t.Errorf("the client received a context with the error %v", err)
	}
}

// TestMismatchError: the message contains what was requested and what is recorded.
func TestMismatchError(t *testing.T) {
	payment := Intent{ID: PaymentID("a"), OrderID: "o", Operation: opCheckout, Amount: decimal.New(1250, -2), Currency: "USD"}
	refund := Intent{ID: RefundID("r"), UniqueID: "1", Operation: opRefund, Amount: decimal.New(250, -2)}
	dearer, withoutOrder, ofAnother := payment, payment, refund
	dearer.Amount, ofAnother.UniqueID = decimal.NewFromInt(13), "2"
	withoutOrder.Operation, withoutOrder.OrderID = opTokenPayment, ""
	for _, tt := range []struct {
		err  MismatchError
		want string
	}{
		{MismatchError{dearer, payment}, `journal: CreateCheckout: transactionId "a" belongs to another payment: ` +
			`requested CreateCheckout of 13 USD for order "o", recorded CreateCheckout of 12.50 USD for order "o"`},
		{MismatchError{withoutOrder, payment}, `journal: TokenPayment: transactionId "a" belongs to another payment: ` +
			`requested TokenPayment of 12.50 USD, recorded CreateCheckout of 12.50 USD for order "o"`},
		{MismatchError{ofAnother, refund}, `journal: CreateRefund: refundTransactionId "r" belongs to another refund: ` +
			`requested CreateRefund of 2.50 of transaction "2", recorded CreateRefund of 2.50 of transaction "1"`},
	} {
		if got := tt.err.Error(); got != tt.want {
			t.Errorf("got  %s\nwant %s", got, tt.want)
		}
	}
	for in, want := range map[*Intent]string{&payment: `transaction "a"`, &refund: `refund "r"`} {
		if got := in.ID.describe(); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

// TestObserved: the evidence that results from a call. What is not certain is unknown, whatever other errors are in the
// chain.
func TestObserved(t *testing.T) {
	approved := gatewayResult{transaction: &cardgateway.Transaction{Code: cardgateway.CodeSuccess}}
	no := gatewayResult{transaction: &cardgateway.Transaction{Code: cardgateway.CodeFailed}}
	refused := &cardgateway.RefusedError{HTTPStatus: 401, Code: 7}
	for _, tt := range []struct {
		name    string
		shown   gatewayResult
		err     error
		certain bool
		want    State
	}{
		{"approved", approved, nil, true, Succeeded},
		{"approved, although it was submitted before", approved, nil, false, Succeeded},
		{"nothing at all", gatewayResult{}, nil, true, Unknown},
		{"declined", no, &cardgateway.DeclinedError{}, true, Declined},
		{"declined, and it was submitted before", no, &cardgateway.DeclinedError{}, false, Unknown},
		{"declined, and nothing is shown", gatewayResult{}, &cardgateway.DeclinedError{}, true, Unknown},
		{"refused", gatewayResult{}, refused, true, Refused},
		{"refused, and something is shown", no, refused, true, Refused},
		{"invalid", gatewayResult{}, &cardgateway.ValidationError{}, true, NotSent},
		{"not sent", gatewayResult{}, &cardgateway.NotSentError{}, true, NotSent},
		{"unknown", gatewayResult{}, &cardgateway.OutcomeUnknownError{}, true, Unknown},
		{"unknown after a refusal", gatewayResult{}, &cardgateway.OutcomeUnknownError{Cause: refused}, true, Unknown},
		{"unknown after a decline", no, &cardgateway.OutcomeUnknownError{Cause: &cardgateway.DeclinedError{}}, true, Unknown},
		{"unknown after an attempt that was not sent", gatewayResult{}, &cardgateway.OutcomeUnknownError{Cause: &cardgateway.NotSentError{}}, true, Unknown},
		{"a conflict", gatewayResult{}, errors.Join(&cardgateway.ConflictError{}, refused), true, Unknown},
		{"another error", gatewayResult{}, errors.New("?"), true, Unknown},
	} {
		t.Run(tt.name, func(t *testing.T) {
			ev := evidenceOfCall(tt.shown, tt.err, tt.certain)
			if ev.State != tt.want || ev.Source != SourceAnswer || ev.Invalid != errors.Is(tt.err, cardgateway.ErrInvalidRequest) {
				t.Errorf("got %+v, want %v", ev, tt.want)
			}
			if ev.State == Refused && (ev.HTTPStatus != 401 || ev.Code != 7) {
				t.Errorf("the refusal is recorded as %d, %d", ev.HTTPStatus, ev.Code)
			}
		})
	}
}
