package cardgateway

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/shopspring/decimal"
)

// Every error of an operation matches exactly one of these with errors.Is; a walk can also end with the error of its
// context. See the package comment for how to handle each of them.
var (
	ErrInvalidRequest = errors.New("cardgateway: invalid request")              // *ValidationError: a limit is violated, nothing was sent
	ErrNotSent        = errors.New("cardgateway: not sent")                     // *NotSentError: provably nothing was submitted
	ErrDeclined       = errors.New("cardgateway: declined")                     // *DeclinedError, *RefundDeclinedError: final, no money moved
	ErrTestPayment    = errors.New("cardgateway: test payment")                 // *TestPaymentError: approved as a test, so not paid
	ErrRefused        = errors.New("cardgateway: refused")                      // *RefusedError: not accepted for processing
	ErrOutcomeUnknown = errors.New("cardgateway: outcome unknown")              // *OutcomeUnknownError, *RefundUnknownError: resolve it, do not repeat it
	ErrConflict       = errors.New("cardgateway: conflicting outcomes")         // *ConflictError, *RefundConflictError: needs manual review
	ErrNotFound       = errors.New("cardgateway: not found")                    // the gateway responded that it does not know it
	ErrQueryFailed    = errors.New("cardgateway: query failed")                 // *QueryError: a query got no usable response
	ErrUnsettled      = errors.New("cardgateway: a window did not settle")      // *UnsettledError: a walk could not be completed
	ErrUnreadableRows = errors.New("cardgateway: rows cannot be read")          // *UnreadableRowsError: a walk returned all other rows
	ErrWalked         = errors.New("cardgateway: a Walk can be used only once") // a second loop over a Walk
)

// SafeToRetry reports whether the payment call that returned err may be made again unchanged: true only if it is proved
// that nothing was sent. After any other error of a payment, correct the request, accept the decline or the test, or
// resolve the outcome first.
func SafeToRetry(err error) bool {
	if !errors.Is(err, ErrNotSent) {
		return false
	}
	for _, other := range []error{ErrOutcomeUnknown, ErrDeclined, ErrTestPayment, ErrRefused, ErrConflict} {
		if errors.Is(err, other) { // joined with the outcome of another call
			return false
		}
	}
	return true
}

// ValidationError lists every limit that a request violates. Nothing was sent.
type ValidationError struct {
	Op       string // the operation's name, such as TokenPayment
	ID       string // the merchant's id of the payment or the refund, if it is given and valid
	Problems []Problem
}

// Problem is one violated limit.
type Problem struct {
	Field   string // the member as the interface names it, such as productInfos[0].price, or the Go field where it has none
	Rule    string // one of the Rule constants
	Message string // the rule in words; never the value
}

// Rules that a Problem can name.
const (
	RuleRequired = "required" // the member must be given
	RuleLength   = "length"   // the text is too long or too short
	RuleFormat   = "format"   // the text or number does not have the required format
	RuleRange    = "range"    // the value is outside what is allowed
	RuleReserved = "reserved" // it is a key of Extra that a field sets
)

func (e *ValidationError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "cardgateway: %s%s: invalid request", e.Op, about(e.ID))
	for i, p := range e.Problems {
		separator := "; "
		if i == 0 {
			separator = ": "
		}
		b.WriteString(separator + cmp.Or(queryFields[p.Field], p.Field) + " " + p.Message)
	}
	return b.String()
}

// queryFields are the fields that set members of queries with other names: nobody who calls SearchOrders knows those.
var queryFields = map[string]string{"startDate": "Start", "endingDate": "End", "currPage": "CurrPage", "pageSize": "PageSize"}

// Is reports whether target is ErrInvalidRequest.
func (e *ValidationError) Is(target error) bool { return target == ErrInvalidRequest }

// NotSentError says that provably no complete request left this process: a DNS, connection or TLS failure, an error of
// the Authenticate hook or the Limiter, or a context that ended before sending. It is the only error after which the same
// call may be made again unchanged.
type NotSentError struct {
	Op    string // the operation's name: CreateRefund for a refund
	ID    string // the merchant's: the transactionId of a payment, the refundTransactionId of a refund
	Cause error
}

func (e *NotSentError) Error() string {
	return fmt.Sprintf("cardgateway: %s: %s was not sent: %v", e.Op, quoted(e.ID), e.Cause)
}

// Is reports whether target is ErrNotSent.
func (e *NotSentError) Is(target error) bool { return target == ErrNotSent }

// Unwrap returns the cause.
func (e *NotSentError) Unwrap() error { return e.Cause }

// DeclinedError says that the gateway declined the transaction: code 101, or the published 103 (closed). A decline is
// final, and a normal event rather than a fault. The interface: "transactionMessage holds the decline reason".
type DeclinedError struct {
	Op            string
	TransactionID string       // as sent; a response need not repeat it
	RequestID     string       // with which the gateway, or a proxy in front of it, identifies the request; empty if it gives none
	Transaction   *Transaction // the response, masked like everything that an error keeps: see Transaction
}

func (e *DeclinedError) Error() string {
	text := fmt.Sprintf("cardgateway: %s: transaction %s declined", e.Op, quoted(e.TransactionID))
	if t := e.Transaction; t != nil { // a shop's own tests may omit it
		text += fmt.Sprintf(": %v: %s", t.Code, quoted(cmp.Or(t.TransactionMessage, t.Message)))
	}
	return text + inRequest(e.RequestID)
}

// Is reports whether target is ErrDeclined.
func (e *DeclinedError) Is(target error) bool { return target == ErrDeclined }

// TestPaymentError says that the gateway approved the transaction and marked it as a test (isTest): the order is not paid, and
// the payment must not be repeated. It means that a test card or test credentials were used, unless this is a test system: then
// set Config.TestPayments.
type TestPaymentError struct {
	Op            string
	TransactionID string
	RequestID     string       // as in DeclinedError
	Transaction   *Transaction // the response, masked like everything that an error keeps
}

func (e *TestPaymentError) Error() string {
	return fmt.Sprintf("cardgateway: %s: transaction %s is approved as a test: it is not paid%s", e.Op, quoted(e.TransactionID), inRequest(e.RequestID))
}

// Is reports whether target is ErrTestPayment.
func (e *TestPaymentError) Is(target error) bool { return target == ErrTestPayment }

// RefundDeclinedError says that the gateway declined the refund for good: the published code 112.
type RefundDeclinedError struct {
	Op                  string
	RefundTransactionID string  // as sent; a response need not repeat it
	RequestID           string  // as in DeclinedError
	Refund              *Refund // the response, masked like everything that an error keeps
}

func (e *RefundDeclinedError) Error() string {
	text := fmt.Sprintf("cardgateway: %s: refund %s declined", e.Op, quoted(e.RefundTransactionID))
	if r := e.Refund; r != nil { // a shop's own tests may omit it
		text += fmt.Sprintf(": %v: %s", r.Code, quoted(r.Message))
	}
	return text + inRequest(e.RequestID)
}

// Is reports whether target is ErrDeclined.
func (e *RefundDeclinedError) Is(target error) bool { return target == ErrDeclined }

// RefusedError says that the gateway refused a payment or a refund before processing it: with HTTP 400, 401, 403, 404, 405,
// 413, 415, 422 or 429 and a response that is empty, a page, plain text, or an object, and that neither states a transaction nor
// speaks of one that was accepted, now or before; or with one of the published codes 201, 400, 401, 404 and 500 and no other trace
// of a transaction. A response without a length may have been cut off: it refuses only if it is an object, or a page that has its end.
// The same call, unchanged, would be refused again, except after 429 (too many requests).
//
// UploadTrackingNumbers returns it for any other code than success, and for these HTTP statuses except 429.
type RefusedError struct {
	Op         string
	ID         string // the merchant's: of the payment or the refund; empty for UploadTrackingNumbers
	RequestID  string // as in DeclinedError
	HTTPStatus int
	Code       Code          // zero if the response had none
	Message    string        // the gateway's text, masked
	RetryAfter time.Duration // requested by the gateway, however long; zero if none
	Raw        *RawResponse  // nil unless Config.KeepResponses

	hint string // what to check if the response is not from the gateway
}

func (e *RefusedError) Error() string {
	return "cardgateway: " + e.Op + about(e.ID) + ": refused: " + responseText(e.HTTPStatus, e.Code, e.Message) + e.hint + inRequest(e.RequestID)
}

// Is reports whether target is ErrRefused.
func (e *RefusedError) Is(target error) bool { return target == ErrRefused }

// OutcomeUnknownError says that a payment may or may not have happened: the request may have reached the gateway, and no
// response was received that settles it. Do not repeat the call. Pass Query to Client.Resolve, now or after a restart.
type OutcomeUnknownError struct {
	Op            string
	TransactionID string
	OrderID       string // empty for TokenPayment, which has none
	Amount        decimal.Decimal
	Currency      string
	SentAt        time.Time    // when sending first began
	HostedPage    bool         // the cardholder pays on the hosted page; see Resolve
	Seen          bool         // the gateway has returned this id in some form, so a later search that finds nothing does not prove it absent
	SentAgain     bool         // it may have been sent more than once; only a Journal knows that and sets it; see Resolve
	Transaction   *Transaction // what could be read of a response, not to be trusted; nil if nothing
	Cause         error
	RequestID     string       // as in DeclinedError; empty after Resolve, whose Cause has those of its queries
	Raw           *RawResponse // nil unless Config.KeepResponses and a response came

	SubscriptionCycle SubscriptionCycle // of a subscription; see Resolve
}

func (e *OutcomeUnknownError) Error() string {
	return fmt.Sprintf("cardgateway: %s: outcome of transaction %s unknown: %v%s", e.Op, quoted(e.TransactionID), e.Cause, inRequest(e.RequestID))
}

// Is reports whether target is ErrOutcomeUnknown.
func (e *OutcomeUnknownError) Is(target error) bool { return target == ErrOutcomeUnknown }

// Unwrap returns the cause.
func (e *OutcomeUnknownError) Unwrap() error { return e.Cause }

// RefundUnknownError says that a refund may or may not have been accepted, as OutcomeUnknownError does of a payment. Do not
// repeat the call. Pass Query to Client.ResolveRefund, now or after a restart.
type RefundUnknownError struct {
	Op                  string
	UniqueID            string // of the refunded transaction
	RefundTransactionID string
	Amount              decimal.Decimal
	SentAt              time.Time // when sending first began
	Seen, SentAgain     bool      // as in OutcomeUnknownError
	Refund              *Refund   // what could be read of a response, not to be trusted; nil if nothing
	Cause               error
	RequestID           string       // as in OutcomeUnknownError
	Raw                 *RawResponse // nil unless Config.KeepResponses and a response came
}

func (e *RefundUnknownError) Error() string {
	return fmt.Sprintf("cardgateway: %s: outcome of refund %s unknown: %v%s", e.Op, quoted(e.RefundTransactionID), e.Cause, inRequest(e.RequestID))
}

// Is reports whether target is ErrOutcomeUnknown.
func (e *RefundUnknownError) Is(target error) bool { return target == ErrOutcomeUnknown }

// Unwrap returns the cause.
func (e *RefundUnknownError) Unwrap() error { return e.Cause }

// ConflictError says that the gateway returned contradictory outcomes for one transactionId: two successes. Money may have
// moved twice.
type ConflictError struct {
	TransactionID string
	Transactions  []Transaction
}

func (e *ConflictError) Error() string {
	return fmt.Sprintf("cardgateway: transaction %s has conflicting outcomes: %s", quoted(e.TransactionID),
		listed(e.Transactions, func(t *Transaction) (string, State) { return t.UniqueID, t.State() }))
}

// Is reports whether target is ErrConflict.
func (e *ConflictError) Is(target error) bool { return target == ErrConflict }

// RefundConflictError says that the gateway returned two successes for one refund. Money may have been paid out twice.
type RefundConflictError struct {
	RefundTransactionID string
	Refunds             []Refund
}

func (e *RefundConflictError) Error() string {
	return fmt.Sprintf("cardgateway: refund %s has conflicting outcomes: %s", quoted(e.RefundTransactionID),
		listed(e.Refunds, func(r *Refund) (string, State) { return r.RefundUniqueID, r.State() }))
}

// Is reports whether target is ErrConflict.
func (e *RefundConflictError) Is(target error) bool { return target == ErrConflict }

// listed describes the first rows of a conflict by their ids and states.
func listed[T any](rows []T, row func(*T) (id string, s State)) string {
	const maxListed = 10
	var words []string
	for i := range rows[:min(len(rows), maxListed)] {
		id, state := row(&rows[i])
		words = append(words, fmt.Sprintf("%s %v", quoted(id), state))
	}
	if more := len(rows) - maxListed; more > 0 {
		words = append(words, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(words, ", ")
}

// QueryError says that a query got no usable response in the attempts that RetryPolicy allows. A walk that has received
// responses before keeps trying for two minutes, unless RetryPolicy allows a single attempt. A query changes nothing, so
// it is always safe to repeat.
type QueryError struct {
	Op         string
	ID         string        // that was queried; empty if it was none, or several
	RequestID  string        // of the last attempt, as in DeclinedError
	HTTPStatus int           // of the last attempt; zero if no response came
	Code       Code          // zero if the response had none
	Message    string        // the gateway's text, masked
	RetryAfter time.Duration // last requested by the gateway, however long; zero if none
	Cause      error         // why the response could not be used, or ErrNotFound; nil if the gateway itself reported the failure
	Raw        *RawResponse  // nil unless Config.KeepResponses and a response came

	hint string // what to check if the response is not from the gateway
}

func (e *QueryError) Error() string {
	text := "cardgateway: " + e.Op + about(e.ID)
	if e.HTTPStatus != 0 {
		text += ": " + responseText(e.HTTPStatus, e.Code, e.Message)
	}
	if e.Cause != nil {
		text += ": " + e.Cause.Error()
	}
	return text + e.hint + inRequest(e.RequestID)
}

// Is reports whether target is ErrQueryFailed. A query whose response is "not found" has not failed.
func (e *QueryError) Is(target error) bool { return target == ErrQueryFailed && e.Cause != ErrNotFound }

// Unwrap returns the cause.
func (e *QueryError) Unwrap() error { return e.Cause }

// RowError names a row of a page that could not be read. The other rows of the page are not affected.
type RowError struct {
	Start, End WallTime // of a walk: the range of the query that returned the page
	Page       int      // currPage as requested, counted from 1
	Row        int      // position in the page, counted from 1
	Member     string   // the first member that could not be read; data if it is the row itself
	Reason     string

	// The ids that could be read, masked like everything that an error keeps. Only a refund has the last two.
	UniqueID, TransactionID             string
	RefundUniqueID, RefundTransactionID string
}

func (e *RowError) Error() string {
	var where string
	if !e.End.IsZero() {
		where = fmt.Sprintf("window from %v to %v, ", e.Start, e.End)
	}
	where += fmt.Sprintf("page %d, row %d", e.Page, e.Row)
	for _, id := range [][2]string{
		{"uniqueId", e.UniqueID}, {"transactionId", e.TransactionID},
		{"refundUniqueId", e.RefundUniqueID}, {"refundTransactionId", e.RefundTransactionID},
	} {
		if id[1] != "" {
			where += ", " + id[0] + " " + quoted(id[1])
		}
	}
	return where + ": " + e.Member + " " + e.Reason
}

// UnreadableRowsError says that a walk has returned every row that can be read, and that there are others, which it could not
// read. CompleteUpTo, the checkpoint and the totals go on over them, and they are counted in the checkpoint: a walk that
// resumes from it reports them again. A single query, by one of their ids, may show more.
type UnreadableRowsError struct {
	Op    string     // OrderWalk, RefundWalk, Orders or Refunds
	Count int        // of all these rows, of this walk and of those that it has resumed
	Rows  []RowError // the first 1,000
}

func (e *UnreadableRowsError) Error() string {
	text := fmt.Sprintf("cardgateway: %s: %d rows cannot be read", e.Op, e.Count)
	const maxNamed = 3
	for i := range e.Rows[:min(len(e.Rows), maxNamed)] {
		text += "; " + e.Rows[i].Error()
	}
	if more := e.Count - maxNamed; more > 0 {
		text += fmt.Sprintf("; and %d more", more)
	}
	return text
}

// Is reports whether target is ErrUnreadableRows.
func (e *UnreadableRowsError) Is(target error) bool { return target == ErrUnreadableRows }

// Unwrap returns the first row, a *RowError.
func (e *UnreadableRowsError) Unwrap() error {
	if len(e.Rows) == 0 {
		return nil
	}
	return &e.Rows[0]
}

// about names what a call was about in the text of its error.
func about(id string) string {
	if id == "" {
		return ""
	}
	return " " + quoted(id)
}

// inRequest names the request in the text of an error.
func inRequest(id string) string {
	if id == "" {
		return ""
	}
	return " (request " + quoted(id) + ")"
}

// responseText describes a response in one line.
func responseText(status int, code Code, message string) string {
	text := "HTTP " + strconv.Itoa(status)
	if code != 0 {
		text += ", code " + code.String()
	}
	if message != "" {
		text += ", " + quoted(message)
	}
	return text
}

// quoted prepares external text for an error: quoted, and cut off after 128 characters.
func quoted(s string) string {
	const maxQuoted = 128
	if utf8.RuneCountInString(s) > maxQuoted {
		s = string([]rune(s)[:maxQuoted]) + "…"
	}
	return strconv.Quote(s)
}
