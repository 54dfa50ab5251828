package cardgateway

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/shopspring/decimal"
)

// submission is what was asked of the gateway: what an answer must echo to be ours, and what an unknown outcome is
// looked up by.
type submission struct {
	transactionID string
	orderID       string
	amount        decimal.Decimal
	currency      string
	at            time.Time
}

// classify turns the facts of the last attempt into the one outcome of a payment call. It believes an answer only if
// it came whole, with HTTP 200 and about this very submission; of everything else that could have reached the
// gateway it says "unknown".
func classify(op *Operation, s *submission, r *reply) (*Transaction, error) {
	if failure := r.failure(); failure != nil {
		if r.unsent {
			return nil, s.notSent(op, failure)
		}
		return nil, s.unknown(op, nil, failure)
	}
	a, err := readAnswer(r.body)
	if err == nil {
		r.code = a.Code
	}
	switch {
	case isRefusalStatus(r.status):
		if !refuses(&a, s, r, err) {
			return nil, s.unknown(op, a.Transaction, fmt.Errorf("HTTP %d with an answer that is no refusal", r.status))
		}
		return nil, refusal(op, r, &a)
	case r.status != http.StatusOK:
		cause := fmt.Errorf("HTTP %d%s", r.status, misdirected(r.status, r.code, ""))
		if r.unsent {
			return nil, s.notSent(op, cause)
		}
		return nil, s.unknown(op, a.Transaction, cause)
	case err != nil:
		return nil, s.unknown(op, nil, err)
	case a.unread != nil:
		return nil, s.unknown(op, a.Transaction, a.unread.err())
	case a.badLink:
		return nil, s.unknown(op, a.Transaction, errBadLink)
	}
	return s.judge(op, r, &a)
}

var (
	errBadLink    = errors.New("the answer's redirectUrl is not an absolute http or https URL without user info")
	errNoLink     = errors.New("the answer asks for a redirect and has no redirectUrl")
	errNotOurs    = errors.New("the answer is about another transaction")
	errNoIdentity = errors.New("the answer does not say which transaction it is about")
)

// judge decides what a whole answer with HTTP 200 says.
func (s *submission) judge(op *Operation, r *reply, a *answer) (*Transaction, error) {
	t := a.Transaction
	switch {
	case t.TransactionID != "" && !s.matches(a):
		return nil, s.unknown(op, t, errNotOurs)
	case t.State() == StateDeclined && (t.TransactionID != "" || a.isBare()):
		return t, &DeclinedError{Op: op.Name, TransactionID: s.transactionID, Transaction: t}
	case isRefusalCode(t.Code) && t.UniqueID == "":
		return nil, refusal(op, r, a)
	case t.State() == StateUnknown:
		return nil, s.unknown(op, t, fmt.Errorf("the answer has code %v, which says nothing certain", t.Code))
	case t.TransactionID == "":
		return nil, s.unknown(op, t, errNoIdentity)
	case t.State() == StateRedirect && t.RedirectURL == "":
		return nil, s.unknown(op, t, errNoLink)
	}
	return t, nil
}

// matches reports whether the answer is about this submission: the same transactionId byte for byte, and the same
// amount and currency where they are said.
func (s *submission) matches(a *answer) bool {
	return a.TransactionID == s.transactionID &&
		(!a.hasAmount || a.TransactionAmount.Equal(s.amount)) &&
		(a.TransactionCurrency == "" || a.TransactionCurrency == s.currency)
}

// isBare reports whether the answer says nothing that could belong to another transaction. The interface shows bare
// failures, with code and message only.
func (a *answer) isBare() bool { return a.UniqueID == "" && a.isBareButForID() }

func (a *answer) isBareButForID() bool {
	return a.TransactionID == "" && !a.hasAmount && a.TransactionCurrency == "" && a.TransactionCardNumber == "" &&
		a.RedirectURL == ""
}

func (s *submission) notSent(op *Operation, cause error) error {
	return &NotSentError{Op: op.Name, TransactionID: s.transactionID, Cause: cause}
}

func (s *submission) unknown(op *Operation, t *Transaction, cause error) error {
	return &OutcomeUnknownError{
		Op: op.Name, TransactionID: s.transactionID, OrderID: s.orderID, Amount: s.amount, Currency: s.currency,
		SentAt: s.at, Transaction: t, Cause: cause,
	}
}

func refusal(op *Operation, r *reply, a *answer) error {
	e := &RefusedError{Op: op.Name, HTTPStatus: r.status, RetryAfter: r.retryAfter}
	if a.Transaction != nil {
		e.Code, e.Message = a.Code, inWords(a.Message, a.TransactionMessage)
	}
	return e
}

// inWords puts together what the gateway says of a failure: the second text often names what the first only counts
// to a kind.
func inWords(message, transactionMessage string) string {
	if message == "" || transactionMessage == "" || message == transactionMessage {
		return cmp.Or(message, transactionMessage)
	}
	return message + ": " + transactionMessage
}

// isRefusalStatus lists the statuses with which a server says that it did not take a request. 408 is not among them:
// what timed out may be the answer of a server further back.
func isRefusalStatus(status int) bool {
	return slices.Contains([]int{400, 401, 403, 404, 405, 413, 415, 422, 429}, status)
}

// isRefusalCode lists the codes with which gateways publish that they did not process a request. 501 (a repeated
// transactionId) is not among them: some submission of it exists, and its outcome is not said.
func isRefusalCode(c Code) bool {
	switch c {
	case CodeMerchantInactive, CodeRequestFailed, CodeUnauthorized, CodeNotFound, CodeParameterError:
		return true
	}
	return false
}

// refuses reports whether the body of a 4xx answer agrees that nothing was processed: it is a page for people or
// empty, or an object without uniqueId that is not about another transaction and whose code, if any, is a refusal, a
// decline or the status once more.
func refuses(a *answer, s *submission, r *reply, err error) bool {
	if err != nil {
		text := bytes.TrimSpace(bytes.TrimPrefix(r.body, []byte("\uFEFF")))
		return !bytes.HasPrefix(text, []byte("{")) && !bytes.Contains(text, []byte("uniqueId"))
	}
	known := a.Code == 0 || isRefusalCode(a.Code) || a.State() == StateDeclined || int(a.Code) == r.status
	return known && a.unread == nil && a.UniqueID == "" && (a.TransactionID == "" || s.matches(a))
}
