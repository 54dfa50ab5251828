package cardgateway

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/shopspring/decimal"
)

// sentPayment is what was asked of the gateway: what a response must echo to be ours, and what an unknown outcome is
// searched by.
type sentPayment struct {
	transactionID string
	orderID       string
	amount        decimal.Decimal
	currency      string
	hostedPage    bool  // the cardholder pays on the hosted page
	appID         AppID // what a response may not contradict; empty unless Config.CheckAppID
	at            time.Time
}

// classify turns the facts of the last attempt into the one outcome of a payment call. It notes the response's code in r.
func classify(op *Operation, p *sentPayment, r *attemptResult) (*Transaction, error) {
	var decoded response
	var err error
	if r.failure() == nil {
		decoded, err = decodeTransaction(r.Body)
	}
	t := decoded.Transaction
	var says statement
	if t != nil {
		r.code = t.Code
		says = statement{
			code: t.Code, state: t.State(), bad: decoded.bad,
			named:       t.TransactionID != "",
			contradicts: t.TransactionID != "" && !p.matches(&decoded) || t.isOtherApp(p.appID),
			anonymous:   decoded.isAnonymous(),
			assigned:    t.UniqueID != "",
			badRedirect: decoded.badRedirect,
			redirectURL: t.RedirectURL,
		}
	}
	switch verdict, cause := decide(r, &says, err); verdict {
	case verdictTaken:
		return t, nil
	case verdictDeclined:
		return t, &DeclinedError{Op: op.Name, TransactionID: p.transactionID, Transaction: t}
	case verdictRefused:
		e := r.refusal(op)
		if t != nil {
			e.Code, e.Message = t.Code, joinMessages(t.Message, t.TransactionMessage)
		}
		return nil, e
	case verdictNotSent:
		return nil, &NotSentError{Op: op.Name, TransactionID: p.transactionID, Cause: cause}
	case verdictInvalid:
		return nil, cause
	default:
		return nil, &OutcomeUnknownError{
			Op: op.Name, TransactionID: p.transactionID, OrderID: p.orderID, Amount: p.amount, Currency: p.currency,
			SentAt: p.at, HostedPage: p.hostedPage, Transaction: t, Cause: cause,
		}
	}
}

// statement is what a response says about itself: enough to decide what it means, whether a payment or a refund was sent.
type statement struct {
	code        Code
	state       State
	named       bool       // it has the merchant's id that was sent, or another
	contradicts bool       // an id, the amount, the currency or the app is not what was sent
	anonymous   bool       // it says nothing that could belong to anything else
	assigned    bool       // it has an id that the gateway gave, so that something exists
	bad         *badMember // the first essential member that could not be read
	badRedirect bool       // there is a redirectUrl to which nobody should be sent
	redirectURL string
}

// verdict is what became of what was sent.
type verdict int

const (
	verdictUnknown  verdict = iota // it may have happened
	verdictTaken                   // the gateway took it
	verdictDeclined                // the gateway declined it
	verdictRefused                 // the gateway did not process it
	verdictNotSent                 // provably nothing was submitted
	verdictInvalid                 // this side refused, for a reason that stays
)

var (
	errBadRedirect = errors.New("the response's redirectUrl is not an absolute http or https URL without user info")
	errNoRedirect  = errors.New("the response asks for a redirect and has no redirectUrl")
	errNotOurs     = errors.New("the response is about another transaction")
	errAnonymous   = errors.New("the response does not say which transaction it is about")
)

// decide says what the last attempt means, and why where it is not clear. A response is believed only if it came whole,
// with HTTP 200 and about the very thing that was sent; of everything else that could have reached the gateway the outcome
// is unknown. DecodeErr says why there is no statement.
func decide(r *attemptResult, says *statement, decodeErr error) (verdict, error) {
	if failure := r.failure(); failure != nil {
		if permanent, ok := errors.AsType[*ValidationError](r.localErr); ok {
			return verdictInvalid, permanent
		}
		return r.unsentOr(verdictUnknown), failure
	}
	switch {
	case isRefusalStatus(r.Status):
		if !refuses(r, says, decodeErr) {
			return verdictUnknown, fmt.Errorf("HTTP %d with a response that is no refusal", r.Status)
		}
		return verdictRefused, nil
	case r.Status != http.StatusOK:
		return r.unsentOr(verdictUnknown), fmt.Errorf("HTTP %d%s", r.Status, r.hint())
	case decodeErr != nil:
		return verdictUnknown, fmt.Errorf("%w%s", decodeErr, r.hint())
	case says.bad != nil:
		return verdictUnknown, says.bad.err()
	case says.badRedirect:
		return verdictUnknown, errBadRedirect
	case says.contradicts:
		return verdictUnknown, errNotOurs
	case says.state == StateDeclined && (says.named || says.anonymous):
		return verdictDeclined, nil
	case isRefusalCode(says.code) && !says.assigned:
		return verdictRefused, nil
	case says.state == StateUnknown:
		return verdictUnknown, fmt.Errorf("the response has code %v, which says nothing certain", says.code)
	case !says.named:
		return verdictUnknown, errAnonymous
	case says.state == StateRedirect && says.redirectURL == "":
		return verdictUnknown, errNoRedirect
	}
	return verdictTaken, nil
}

// unsentOr returns verdictNotSent if it is proved that nothing was sent, and otherwise what it is given.
func (r *attemptResult) unsentOr(otherwise verdict) verdict {
	if r.Unsent {
		return verdictNotSent
	}
	return otherwise
}

func (r *attemptResult) refusal(op *Operation) *RefusedError {
	return &RefusedError{Op: op.Name, HTTPStatus: r.Status, RetryAfter: r.retryAfter, hint: r.hint()}
}

// matches reports whether a response is about this payment: the same transactionId byte for byte, and the same amount,
// currency and app where they are said.
func (p *sentPayment) matches(decoded *response) bool {
	return decoded.TransactionID == p.transactionID && !decoded.isOtherApp(p.appID) &&
		(!decoded.hasAmount || decoded.TransactionAmount.Equal(p.amount)) &&
		(decoded.TransactionCurrency == "" || decoded.TransactionCurrency == p.currency)
}

// isAnonymous reports whether a response says nothing that could belong to another transaction. The interface shows such
// failures, with code and message only.
func (r *response) isAnonymous() bool { return r.UniqueID == "" && r.isAnonymousButForUniqueID() }

func (r *response) isAnonymousButForUniqueID() bool {
	return r.TransactionID == "" && !r.hasAmount && r.TransactionCurrency == "" && r.TransactionCardNumber == "" &&
		r.RedirectURL == ""
}

// isOtherApp reports whether a transaction states another app than the given one; none is given where that is not to be
// checked. An appId that cannot be read is kept in Extra, and is another.
func (t *Transaction) isOtherApp(app AppID) bool {
	if app == "" {
		return false
	}
	_, unreadable := t.Extra["appId"]
	return unreadable || t.AppID != "" && t.AppID != app
}

// Err returns what the payment's own call would have returned beside the transaction: a *DeclinedError if it is declined,
// nil otherwise. For a transaction that came from a query, a walk or a notification. The error holds a masked copy.
func (t *Transaction) Err() error {
	if t.State() != StateDeclined {
		return nil
	}
	return &DeclinedError{Op: "Transaction", TransactionID: t.TransactionID, Transaction: t.forError()}
}

// isRefusalStatus lists the statuses with which a server says that it did not take a request. 408 is not among them:
// what timed out may be the response of a server behind the first.
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

// refuses reports whether the body of a 4xx response agrees that nothing was processed. It is empty or a page for people;
// or an object without an id of the gateway's that contradicts nothing, and whose code, if any, is a refusal, a decline or
// the status once more.
func refuses(r *attemptResult, says *statement, decodeErr error) bool {
	if decodeErr != nil {
		text := bytes.TrimSpace(bytes.TrimPrefix(r.Body, []byte("\uFEFF")))
		return !bytes.HasPrefix(text, []byte("{")) && !bytes.Contains(bytes.ToLower(text), []byte("uniqueid"))
	}
	known := says.code == 0 || isRefusalCode(says.code) || says.state == StateDeclined || int(says.code) == r.Status
	return known && says.bad == nil && !says.assigned && !says.contradicts
}
