package cardgateway

import (
	"errors"
	"fmt"
	"time"

	"github.com/shopspring/decimal"

	"github.com/cardgateway/cardgateway-go/internal/verdict"
)

// Outcome says in one word how a call ended, for logs and metrics. In programs, use errors.Is and Transaction.State.
type Outcome string

// The outcomes of calls.
const (
	OutcomeOK         Outcome = "ok"           // a query got its response, a walk returned every row
	OutcomeApproved   Outcome = "approved"     // of a payment or a refund, or of Resolve or ResolveRefund
	OutcomeProcessing Outcome = "processing"   // of a payment or a refund, or of Resolve or ResolveRefund
	OutcomeRedirect   Outcome = "redirect"     // of a payment or Resolve
	OutcomeDeclined   Outcome = "declined"     // ErrDeclined
	OutcomeTest       Outcome = "test_payment" // ErrTestPayment
	OutcomeRefused    Outcome = "refused"      // ErrRefused
	OutcomeNotSent    Outcome = "not_sent"     // ErrNotSent
	OutcomeUnknown    Outcome = "outcome_unknown"
	OutcomeConflict   Outcome = "conflict"        // ErrConflict
	OutcomeNotFound   Outcome = "not_found"       // ErrNotFound
	OutcomeFailed     Outcome = "query_failed"    // ErrQueryFailed
	OutcomeUnsettled  Outcome = "unsettled"       // ErrUnsettled
	OutcomeUnreadable Outcome = "unreadable_rows" // ErrUnreadableRows
	OutcomeInvalid    Outcome = "invalid_request" // ErrInvalidRequest, of the Authenticate hook
	OutcomeCanceled   Outcome = "canceled"        // the context ended a walk, or its loop was left early
)

// outcomeName names the outcome of a call that passed validation. For a query, result is nil.
func outcomeName(result interface{ State() State }, err error) Outcome {
	if err == nil {
		switch {
		case result == nil:
			return OutcomeOK
		case result.State() == StateApproved:
			return OutcomeApproved
		case result.State() == StateProcessing:
			return OutcomeProcessing
		}
		return OutcomeRedirect
	}
	for _, o := range outcomes {
		if errors.Is(err, o.err) {
			return o.name
		}
	}
	return OutcomeCanceled
}

// outcomes are the errors that say how a call ended, and their names.
var outcomes = [...]struct {
	err  error
	name Outcome
}{
	{ErrOutcomeUnknown, OutcomeUnknown}, {ErrConflict, OutcomeConflict}, {ErrDeclined, OutcomeDeclined}, {ErrTestPayment, OutcomeTest},
	{ErrRefused, OutcomeRefused}, {ErrNotSent, OutcomeNotSent}, {ErrNotFound, OutcomeNotFound}, {ErrUnsettled, OutcomeUnsettled},
	{ErrUnreadableRows, OutcomeUnreadable}, {ErrQueryFailed, OutcomeFailed}, {ErrInvalidRequest, OutcomeInvalid}, {ErrWalked, OutcomeCanceled},
}

// isOutcome reports whether an error says how a call ended. None of a hook or a transport does: it can be that of another call.
func isOutcome(err error) bool {
	for _, o := range outcomes {
		if errors.Is(err, o.err) {
			return true
		}
	}
	return false
}

// sentPayment identifies the payment that was sent: what a response must repeat to be accepted, and what an unknown outcome
// is searched by.
type sentPayment struct {
	transactionID string
	orderID       string
	amount        decimal.Decimal
	currency      string
	hostedPage    bool // the cardholder pays on the hosted page
	cycle         SubscriptionCycle
	appID         AppID // the only one that a response may state; empty if any may
	at            time.Time
}

// classify turns the facts of the last attempt into the one outcome of a payment call. It notes the response's code in r.
func classify(op *Operation, p *sentPayment, r *attemptResult, decoded *decodedResponse) (*Transaction, error) {
	var t *Transaction
	var says verdict.Statement
	if r.failure() == nil {
		t = decoded.payment.Transaction
		if says.Unreadable = decoded.unreadable; t != nil {
			r.code = t.Code
			says = p.statement(&decoded.payment)
		}
	}
	v, cause := r.judge(&says)
	switch v {
	case verdict.Accepted:
		return t, nil
	case verdict.WasDeclined:
		return t, &DeclinedError{Op: op.Name, TransactionID: p.transactionID, Transaction: t}
	case verdict.Unknown:
		return nil, &OutcomeUnknownError{
			Op: op.Name, TransactionID: p.transactionID, OrderID: p.orderID, Amount: p.amount, Currency: p.currency,
			SentAt: p.at, HostedPage: p.hostedPage, SubscriptionCycle: p.cycle, Transaction: t, Cause: cause,
			Seen: says.Shows() && t.TransactionID == p.transactionID,
		}
	}
	var message string
	if t != nil {
		message = joinMessages(t.Message, t.TransactionMessage)
	}
	return nil, r.notProcessed(v, op.Name, p.transactionID, message, cause)
}

// notProcessed returns the error of a call that the gateway refused, or that was not sent: of a payment or of a refund.
func (r *attemptResult) notProcessed(v verdict.Verdict, op, id, message string, cause error) error {
	switch v {
	case verdict.Refused:
		return &RefusedError{Op: op, ID: id, HTTPStatus: r.Status, Code: r.code, Message: message, RetryAfter: r.retryAfter, hint: r.hint()}
	case verdict.NotSent:
		return &NotSentError{Op: op, ID: id, Cause: cause}
	}
	return cause // a *ValidationError of this side
}

// statement says what a decoded response claims, compared with what was sent.
func (p *sentPayment) statement(decoded *response) verdict.Statement {
	t := decoded.Transaction
	return verdict.Statement{
		Code: int(t.Code), State: verdict.State(t.State()), Refuses: isRefusalCode(t.Code), Bad: decoded.bad.err(),
		HasMerchantID: t.TransactionID != "",
		Contradicts:   p.contradiction(decoded),
		NamesNothing:  decoded.namesNothing(),
		HasGatewayID:  t.UniqueID != "",
		BadRedirect:   decoded.badRedirect,
		HasRedirect:   t.RedirectURL != "",
	}
}

// judge says what the attempt means, and why if that is unclear.
func (r *attemptResult) judge(says *verdict.Statement) (verdict.Verdict, error) {
	observed := verdict.Response{Status: r.Status, Body: r.Body, MayBeCut: r.MayBeCut, Unsent: r.Unsent, Failure: r.failure()}
	if permanent, ok := errors.AsType[*ValidationError](r.localErr); ok {
		observed.Invalid, observed.Failure = true, permanent
	}
	v, cause := verdict.Of(&observed, says)
	if cause == verdict.ErrUnclear {
		cause = fmt.Errorf("the response has code %v, which does not tell the outcome", Code(says.Code))
	}
	return v, cause
}

// contradiction returns why a response cannot be about this payment, or nil.
func (p *sentPayment) contradiction(decoded *response) error {
	switch {
	case p.appID.isContradicted(decoded.AppID, decoded.Extra):
		return verdict.ErrOtherApp
	case decoded.TransactionID != "" && !p.matches(decoded):
		return verdict.ErrNotOurs
	}
	return nil
}

// matches reports whether a response is about this payment: the same transactionId byte for byte, and the same amount and
// currency if the response has them.
func (p *sentPayment) matches(decoded *response) bool {
	return decoded.TransactionID == p.transactionID &&
		(!decoded.hasAmount || decoded.TransactionAmount.Equal(p.amount)) &&
		!decoded.badCurrency && (decoded.TransactionCurrency == "" || decoded.TransactionCurrency == p.currency)
}

// namesNothing reports whether a response has nothing that could belong to another transaction. The interface documents such
// failures, with code and message only.
func (r *response) namesNothing() bool { return r.UniqueID == "" && r.namesNothingButUniqueID() }

func (r *response) namesNothingButUniqueID() bool {
	return r.TransactionID == "" && !r.hasAmount && r.TransactionCurrency == "" && !r.badCurrency && r.TransactionCardNumber == "" &&
		r.RedirectURL == ""
}

// Err returns the error that the payment call itself would have returned with this transaction: a *DeclinedError if it is
// declined, otherwise nil. Use it for a transaction from a query, a walk or a notification; whether one that is approved is paid,
// says Client.Paid. The error holds a masked copy.
func (t *Transaction) Err() error {
	if t.State() != StateDeclined {
		return nil
	}
	return &DeclinedError{Op: "Transaction", TransactionID: t.TransactionID, Transaction: t.forError()}
}

// isRefusalCode lists the codes that are published to mean that a request was not processed. 501 (a repeated
// transactionId) is not among them: an earlier submission exists, and its outcome is unknown.
func isRefusalCode(c Code) bool {
	switch c {
	case CodeMerchantInactive, CodeRequestFailed, CodeUnauthorized, CodeNotFound, CodeParameterError:
		return true
	}
	return false
}
