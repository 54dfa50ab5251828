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

// classify turns the facts of the last attempt into the one outcome of a payment call. It believes a response only if
// it came whole, with HTTP 200 and about this very payment; of everything else that could have reached the gateway it
// says "unknown". It notes the response's code in r.
func classify(op *Operation, p *sentPayment, r *attemptResult) (*Transaction, error) {
	if failure := r.failure(); failure != nil {
		if invalid, ok := errors.AsType[*ValidationError](r.localErr); ok {
			return nil, invalid
		}
		if r.Unsent {
			return nil, p.notSent(op, failure)
		}
		return nil, p.unknown(op, nil, failure)
	}
	decoded, err := decodeTransaction(r.Body)
	if err == nil {
		r.code = decoded.Code
	}
	switch {
	case isRefusalStatus(r.Status):
		if !refuses(&decoded, p, r, err) {
			return nil, p.unknown(op, decoded.Transaction, fmt.Errorf("HTTP %d with a response that is no refusal", r.Status))
		}
		return nil, refusal(op, r, &decoded)
	case r.Status != http.StatusOK:
		cause := fmt.Errorf("HTTP %d%s", r.Status, r.hint())
		if r.Unsent {
			return nil, p.notSent(op, cause)
		}
		return nil, p.unknown(op, decoded.Transaction, cause)
	case err != nil:
		return nil, p.unknown(op, nil, fmt.Errorf("%w%s", err, r.hint()))
	case decoded.bad != nil:
		return nil, p.unknown(op, decoded.Transaction, decoded.bad.err())
	case decoded.badRedirect:
		return nil, p.unknown(op, decoded.Transaction, errBadRedirect)
	}
	return p.decide(op, r, &decoded)
}

var (
	errBadRedirect = errors.New("the response's redirectUrl is not an absolute http or https URL without user info")
	errNoRedirect  = errors.New("the response asks for a redirect and has no redirectUrl")
	errNotOurs     = errors.New("the response is about another transaction")
	errAnonymous   = errors.New("the response does not say which transaction it is about")
)

// decide says what a whole response with HTTP 200 means.
func (p *sentPayment) decide(op *Operation, r *attemptResult, decoded *response) (*Transaction, error) {
	t := decoded.Transaction
	switch {
	case t.TransactionID != "" && !p.matches(decoded), t.isOtherApp(p.appID):
		return nil, p.unknown(op, t, errNotOurs)
	case t.State() == StateDeclined && (t.TransactionID != "" || decoded.isAnonymous()):
		return t, &DeclinedError{Op: op.Name, TransactionID: p.transactionID, Transaction: t}
	case isRefusalCode(t.Code) && t.UniqueID == "":
		return nil, refusal(op, r, decoded)
	case t.State() == StateUnknown:
		return nil, p.unknown(op, t, fmt.Errorf("the response has code %v, which says nothing certain", t.Code))
	case t.TransactionID == "":
		return nil, p.unknown(op, t, errAnonymous)
	case t.State() == StateRedirect && t.RedirectURL == "":
		return nil, p.unknown(op, t, errNoRedirect)
	}
	return t, nil
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

func (p *sentPayment) notSent(op *Operation, cause error) error {
	return &NotSentError{Op: op.Name, TransactionID: p.transactionID, Cause: cause}
}

func (p *sentPayment) unknown(op *Operation, t *Transaction, cause error) error {
	return &OutcomeUnknownError{
		Op: op.Name, TransactionID: p.transactionID, OrderID: p.orderID, Amount: p.amount, Currency: p.currency,
		SentAt: p.at, HostedPage: p.hostedPage, Transaction: t, Cause: cause,
	}
}

func refusal(op *Operation, r *attemptResult, decoded *response) error {
	e := &RefusedError{Op: op.Name, HTTPStatus: r.Status, RetryAfter: r.retryAfter, hint: r.hint()}
	if decoded.Transaction != nil {
		e.Code, e.Message = decoded.Code, joinMessages(decoded.Message, decoded.TransactionMessage)
	}
	return e
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

// refuses reports whether the body of a 4xx response agrees that nothing was processed. It is empty or a page for people;
// or an object without uniqueId that is not about another transaction, and whose code, if any, is a refusal, a decline or
// the status once more.
func refuses(decoded *response, p *sentPayment, r *attemptResult, err error) bool {
	if err != nil {
		text := bytes.TrimSpace(bytes.TrimPrefix(r.Body, []byte("\uFEFF")))
		return !bytes.HasPrefix(text, []byte("{")) && !bytes.Contains(text, []byte("uniqueId"))
	}
	known := decoded.Code == 0 || isRefusalCode(decoded.Code) || decoded.State() == StateDeclined || int(decoded.Code) == r.Status
	return known && decoded.bad == nil && decoded.UniqueID == "" && !decoded.isOtherApp(p.appID) &&
		(decoded.TransactionID == "" || p.matches(decoded))
}
