package journal

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strings"
	"time"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/internal/escape"
)

// Causes of the unknown outcomes that a Journal returns; errors.Is finds them.
var (
	// ErrOpen: the payment is in flight, here or in another process, or the process that sent it crashed. Recover resolves it.
	ErrOpen = errors.New("journal: the payment is open")
	// ErrPresumedAbsent: the gateway has not known the payment for longer than Options.AbsentAfter. It was most
	// likely never made; see Journal.PayAgainRiskingSecondCharge.
	ErrPresumedAbsent = errors.New("journal: the payment is presumed absent; only PayAgainRiskingSecondCharge submits it again")
	// ErrAbandoned: the payment waited for the cardholder for longer than the client's HostedPageLifetime. Most likely
	// it will never be paid. If it is, a notification or a walk shows it; pass that to Journal.Confirm.
	ErrAbandoned = errors.New("journal: abandoned: the cardholder did not finish the hosted page")
	// ErrRepeatDeclined: a further submission was declined, perhaps only because it was a repetition.
	ErrRepeatDeclined = errors.New("journal: a repeated submission was declined, which does not tell the outcome of the first")
)

// Outcome calls one of two functions, and returns its error: payment for a payment, and refund for a refund. They receive what
// the payment method or CreateRefund itself returned, or would have returned: the transaction or the refund if it succeeded or is
// pending, or an error of package cardgateway. A transaction or refund has only the members that identify it and determine its
// outcome; for the gateway's texts use Client.GetTransaction.
//
//	Succeeded, Pending       the transaction or refund
//	Tested                   the transaction and a *cardgateway.TestPaymentError
//	Declined                 the transaction and a *cardgateway.DeclinedError, the refund and a *cardgateway.RefundDeclinedError
//	Refused                  a *cardgateway.RefusedError in a *RecordedError, which says when
//	NotSent                  a *cardgateway.NotSentError
//	Unknown                  a *cardgateway.OutcomeUnknownError with cause ErrOpen
//	PresumedAbsent           a *cardgateway.OutcomeUnknownError with cause ErrPresumedAbsent
//	Abandoned                a *cardgateway.OutcomeUnknownError with cause ErrAbandoned
//	Conflicting              a *cardgateway.ConflictError
//
// For a refund, the last four are a *cardgateway.RefundUnknownError and a *cardgateway.RefundConflictError.
//
// In an entry that Recover yields, the error of an unknown outcome also wraps the error of the last query, if it failed:
// for example, because the secret key is no longer valid.
//
// A program that makes no refunds through a journal may pass nil for refund; Outcome then returns an error for one, so that
// Run does not acknowledge it.
func (e *Entry) Outcome(payment func(*cardgateway.Transaction, error) error, refund func(*cardgateway.Refund, error) error) error {
	got, err := e.outcome()
	switch {
	case e.ID().Refund && refund != nil:
		return refund(got.refund, err)
	case !e.ID().Refund && payment != nil:
		return payment(got.transaction, err)
	}
	return fmt.Errorf("journal: Outcome: there is no function for %s", e.ID().describe())
}

// Transaction returns the transaction of the outcome of a payment, as Outcome passes it: it is set if the payment succeeded, is pending or was
// declined, and nil otherwise, and for a refund. It does not say whether the payment succeeded: see State and Err.
func (e *Entry) Transaction() *cardgateway.Transaction {
	got, _ := e.outcome()
	return got.transaction
}

// Refund returns the refund of the outcome of a refund, as Transaction does for a payment.
func (e *Entry) Refund() *cardgateway.Refund {
	got, _ := e.outcome()
	return got.refund
}

// Err returns the error of the outcome, as Outcome passes it: nil if the payment or refund succeeded or is pending.
func (e *Entry) Err() error {
	_, err := e.outcome()
	return err
}

func (e *Entry) outcome() (gatewayResult, error) {
	known := e.project()
	in := &known.intent
	if known.conflict {
		return gatewayResult{}, in.conflict(known.outcomes)
	}
	switch known.state {
	case Succeeded, Pending:
		got := known.deciding.result().copied()
		if known.isTest() {
			got.transaction.IsTest = true // also if only other evidence says so
		}
		if known.current() == Tested {
			return got, &cardgateway.TestPaymentError{Op: in.Operation, TransactionID: in.ID.Text, Transaction: got.transaction}
		}
		return got, nil
	case Declined:
		got := known.deciding.result().copied()
		return got, in.declined(got)
	case Refused:
		refused := &cardgateway.RefusedError{Op: in.Operation, HTTPStatus: known.deciding.HTTPStatus, Code: known.deciding.Code}
		return gatewayResult{}, &RecordedError{At: known.deciding.At, Err: refused}
	case NotSent:
		return gatewayResult{}, in.notSent(fmt.Errorf("recorded in the journal at %s", known.deciding.At.UTC().Format(time.RFC3339)))
	case PresumedAbsent:
		return gatewayResult{}, known.unknown(e.because(ErrPresumedAbsent))
	case Abandoned:
		return gatewayResult{}, known.unknown(ErrAbandoned)
	}
	return gatewayResult{}, known.unknown(e.because(ErrOpen))
}

// because adds the error of the last query to a cause, if that query failed.
func (e *Entry) because(cause error) error {
	if e.queryErr == nil {
		return cause
	}
	return fmt.Errorf("%w: the last query failed: %w", cause, e.queryErr)
}

// RecordedError is a refusal that was recorded by an earlier call. The call that returns it has sent nothing: once the cause
// of the refusal is corrected, Journal.AfterRefusal submits the payment or the refund again.
type RecordedError struct {
	At  time.Time // when it was recorded
	Err error     // a *cardgateway.RefusedError
}

func (e *RecordedError) Error() string {
	return fmt.Sprintf("journal: recorded at %s, nothing was sent now (once the cause is corrected, AfterRefusal submits it again): %v",
		e.At.UTC().Format(time.RFC3339), e.Err)
}

// Unwrap returns the recorded refusal.
func (e *RecordedError) Unwrap() error { return e.Err }

func (in *Intent) notSent(cause error) error {
	return &cardgateway.NotSentError{Op: in.Operation, ID: in.ID.Text, Cause: cause}
}

func (in *Intent) declined(got gatewayResult) error {
	if in.ID.Refund {
		return &cardgateway.RefundDeclinedError{Op: in.Operation, RefundTransactionID: in.ID.Text, Refund: got.refund}
	}
	return &cardgateway.DeclinedError{Op: in.Operation, TransactionID: in.ID.Text, Transaction: got.transaction}
}

// unknown returns the error of an unknown outcome; got is what could be read of a response, not to be trusted.
func (in *Intent) unknown(got gatewayResult, cause error) error {
	if in.ID.Refund {
		return &cardgateway.RefundUnknownError{
			Op: in.Operation, UniqueID: in.UniqueID, RefundTransactionID: in.ID.Text, Amount: in.Amount, SentAt: in.At,
			Refund: got.refund, Cause: cause,
		}
	}
	return &cardgateway.OutcomeUnknownError{
		Op: in.Operation, TransactionID: in.ID.Text, OrderID: in.OrderID, Amount: in.Amount, Currency: in.Currency, SentAt: in.At,
		HostedPage: in.OnHostedPage(), SubscriptionCycle: in.SubscriptionCycle, Transaction: got.transaction, Cause: cause,
	}
}

// unknown returns the error of an unknown outcome.
func (p *projection) unknown(cause error) error {
	return p.complete(p.intent.unknown(gatewayResult{}, cause))
}

// complete adds to the error of an unknown outcome what only the entry says: when it was sent first, whether it may have been sent
// more than once, and what the gateway has shown before. It returns other errors as they are. It changes a copy, because a hook of the
// client may still use the error itself.
func (p *projection) complete(err error) error {
	shown := p.shown()
	switch unknown := err.(type) {
	case *cardgateway.OutcomeUnknownError:
		all := *unknown
		all.SentAt, all.SentAgain, all.Seen = p.sentAt, !p.once, all.Seen || shown
		return &all
	case *cardgateway.RefundUnknownError:
		all := *unknown
		all.SentAt, all.SentAgain, all.Seen = p.sentAt, !p.once, all.Seen || shown
		return &all
	}
	return err
}

// shown reports whether the gateway has returned the payment or the refund in some form.
func (p *projection) shown() bool {
	return p.seen || p.state == Abandoned || p.deciding != nil && p.deciding.facts().id != ""
}

// unknownWithoutEntry returns the error of an unknown outcome if the entry could not be read: it says what this process has returned
// before. If that is nothing, it may have been sent more than once, and may have been shown: then Resolve ends with a success or
// remains unknown. A call that is under way, and accepts that it is submitted again, may be about to do so.
func (j *Journal) unknownWithoutEntry(in *Intent, underWay resubmission, cause error) error {
	known := projection{intent: *in, sentAt: in.At, seen: true}
	if before := j.memory.get(in.ID); before.returned {
		known.sentAt, known.once, known.seen = time.Unix(0, before.sentAt), !before.sentAgain && underWay == onlyUnsent, before.seen
	}
	return known.unknown(cause)
}

// unknownOutcome is what the error of an unknown outcome says, of a payment or of a refund.
type unknownOutcome struct {
	got   gatewayResult // what could be read of a response
	seen  bool          // the gateway has shown the payment or the refund
	cause error
}

// asUnknown returns what an error says, if it is that of an unknown outcome.
func asUnknown(err error) (unknown unknownOutcome, ok bool) {
	if e, is := errors.AsType[*cardgateway.OutcomeUnknownError](err); is {
		return unknownOutcome{gatewayResult{transaction: e.Transaction}, e.Seen, e.Cause}, true
	}
	if e, is := errors.AsType[*cardgateway.RefundUnknownError](err); is {
		return unknownOutcome{gatewayResult{refund: e.Refund}, e.Seen, e.Cause}, true
	}
	return unknownOutcome{}, false
}

// conflict returns the error that lists outcomes of which not all can be true, each of them once.
func (in *Intent) conflict(outcomes []*Evidence) error {
	var transactions []cardgateway.Transaction
	var refunds []cardgateway.Refund
	known := make(map[outcomeID]bool)
	for _, ev := range outcomes {
		if known[ev.outcomeID()] {
			continue
		}
		known[ev.outcomeID()] = true
		if ev.Transaction != nil {
			transactions = append(transactions, *ev.Transaction)
		}
		if ev.Refund != nil {
			refunds = append(refunds, *ev.Refund)
		}
	}
	if in.ID.Refund {
		return &cardgateway.RefundConflictError{RefundTransactionID: in.ID.Text, Refunds: refunds}
	}
	return &cardgateway.ConflictError{TransactionID: in.ID.Text, Transactions: transactions}
}

// evidenceOfCall converts the results of a call to evidence. A decline is an outcome only if certain is true: otherwise it may
// be the gateway's rejection of a repeated submission.
func evidenceOfCall(got gatewayResult, err error, certain bool) Evidence {
	ev := Evidence{Source: SourceAnswer}
	refused, isRefused := errors.AsType[*cardgateway.RefusedError](err)
	unknown, isUnknown := asUnknown(err)
	switch {
	case (err == nil || errors.Is(err, cardgateway.ErrTestPayment)) && !got.isNothing():
		ev.State = got.state()
		ev.setResult(got.kept())
	case isUnknown:
		ev.Seen = unknown.seen
	case errors.Is(err, cardgateway.ErrConflict):
	case errors.Is(err, cardgateway.ErrDeclined) && !got.isNothing():
		ev.setResult(got.kept())
		if certain {
			ev.State = Declined
		} else {
			ev.Seen = got.facts().id != "" // with an id of the gateway, something exists
		}
	case isRefused:
		ev.State, ev.HTTPStatus, ev.Code = Refused, refused.HTTPStatus, refused.Code
	case errors.Is(err, cardgateway.ErrInvalidRequest):
		ev.State, ev.Invalid = NotSent, true
	case errors.Is(err, cardgateway.ErrNotSent):
		ev.State = NotSent
	}
	return ev
}

// ErrMismatch matches a *MismatchError with errors.Is.
var ErrMismatch = errors.New("journal: the id belongs to another payment or refund")

// MismatchError says that the requested transactionId belongs to a recorded payment with another amount, currency, order or
// operation. Nothing was sent. It matches ErrMismatch, and no error of package cardgateway: the request itself may be valid, and a
// new payment needs a new transactionId. It says nothing about the outcome of the recorded payment. The same applies to the id of a
// refund of another payment or amount. While the store fails, only the process that made the recorded payment can tell; for any
// other the outcome is unknown, and nothing was sent by this call either.
type MismatchError struct {
	Asked    Intent // what the call, or the transaction given to Confirm or Restore, is about
	Recorded Intent // what the journal has under the id
}

func (e *MismatchError) Error() string {
	what := "payment"
	if e.Asked.ID.Refund {
		what = "refund"
	}
	return fmt.Sprintf("journal: %s: %s %q belongs to another %s: requested %s, recorded %s",
		e.Asked.Operation, e.Asked.ID.member(), e.Asked.ID.Text, what, e.Asked.describe(), e.Recorded.describe())
}

// Is reports whether target is ErrMismatch.
func (e *MismatchError) Is(target error) bool { return target == ErrMismatch }

func (in *Intent) describe() string {
	if in.ID.Refund {
		return fmt.Sprintf("%s of %s of transaction %q", in.Operation, amountText(in.Amount), in.UniqueID)
	}
	text := fmt.Sprintf("%s of %s %s", in.Operation, amountText(in.Amount), in.Currency)
	if in.OrderID != "" {
		text += fmt.Sprintf(" for order %q", in.OrderID)
	}
	return text
}

// gatewayResult is what the gateway returned: the transaction of a payment, or a refund, or neither.
type gatewayResult struct {
	transaction *cardgateway.Transaction
	refund      *cardgateway.Refund
}

// result returns the transaction or the refund of the evidence.
func (ev *Evidence) result() gatewayResult { return gatewayResult{ev.Transaction, ev.Refund} }

// setResult sets the transaction and the refund of the evidence.
func (ev *Evidence) setResult(g gatewayResult) { ev.Transaction, ev.Refund = g.transaction, g.refund }

// StatesOtherApp is that of the transaction or the refund.
func (g gatewayResult) StatesOtherApp(app cardgateway.AppID) bool {
	if g.refund != nil {
		return g.refund.StatesOtherApp(app)
	}
	return g.transaction.StatesOtherApp(app)
}

// intent returns what the gateway shows of the intent to which a transaction or a refund belongs: see Journal.Restore.
func (g gatewayResult) intent() Intent {
	if r := g.refund; r != nil {
		return Intent{ID: RefundID(r.MerchantRefundID), Operation: opRestore, Amount: r.RefundAmount, UniqueID: r.UniqueID}
	}
	t := g.transaction
	return Intent{ID: PaymentID(t.TransactionID), Operation: opRestore, Amount: t.TransactionAmount, Currency: t.TransactionCurrency}
}

// secondName returns the id under which a refund was sent, perhaps, if the gateway shows it under an id of its own beside that.
func (g gatewayResult) secondName() (name string) {
	if g.refund == nil || json.Unmarshal(g.refund.Extra["refundTransactionId"], &name) != nil {
		return ""
	}
	return name
}

func (g gatewayResult) isNothing() bool { return g.transaction == nil && g.refund == nil }

// copied returns a copy, so that no caller can change the result of another.
func (g gatewayResult) copied() gatewayResult {
	if g.transaction != nil {
		t := *g.transaction
		t.Extra = maps.Clone(t.Extra)
		if t.BillingAddress != nil {
			address := *t.BillingAddress
			address.Extra = maps.Clone(address.Extra)
			t.BillingAddress = &address
		}
		if t.Is3D != nil {
			t.Is3D = new(*t.Is3D)
		}
		g.transaction = &t
	}
	if g.refund != nil {
		r := *g.refund
		r.Extra = maps.Clone(r.Extra)
		g.refund = &r
	}
	return g
}

// facts are what identifies a transaction or a refund, and what its code means, according to the gateway.
type facts struct {
	id    string               // the gateway's own
	at    cardgateway.WallTime // when the transaction was made, or the refund requested
	code  cardgateway.Code
	state cardgateway.State

	timestamp time.Time // when the gateway responded
}

func (g gatewayResult) facts() facts {
	switch {
	case g.transaction != nil:
		t := g.transaction
		return facts{t.UniqueID, t.TransactionAt, t.Code, t.State(), t.Timestamp}
	case g.refund != nil:
		r := g.refund
		return facts{r.RefundUniqueID, r.RefundRequestAt, r.Code, r.State(), r.Timestamp}
	}
	return facts{}
}

// facts returns those of the transaction or the refund of the evidence.
func (ev *Evidence) facts() facts { return ev.result().facts() }

// state returns the state that it means, if it came without an error. An approval is one whether it is marked as a test or not, but
// not if its mark cannot be read.
func (g gatewayResult) state() State {
	switch g.facts().state {
	case cardgateway.StateApproved:
		if t := g.transaction; t != nil && !t.IsTest && !t.Paid() {
			return Unknown
		}
		return Succeeded
	case cardgateway.StateDeclined:
		return Declined
	case cardgateway.StateProcessing, cardgateway.StateRedirect:
		return Pending
	}
	return Unknown
}

// kept returns a copy of the members that may be stored. The gateway's texts are left out, because they could contain a
// card number or a token. The redirect URL is kept, because no query returns it.
func (g gatewayResult) kept() (k gatewayResult) {
	if t := g.transaction; t != nil {
		k.transaction = &cardgateway.Transaction{
			Code: t.Code, IsTest: t.IsTest, UniqueID: t.UniqueID, TransactionID: t.TransactionID, Timestamp: t.Timestamp,
			TransactionAmount: t.TransactionAmount, TransactionCurrency: t.TransactionCurrency,
			TransactionAt: t.TransactionAt, Is3D: t.Is3D,
		}
		if t.State() == cardgateway.StateRedirect {
			k.transaction.RedirectURL = t.RedirectURL
		}
	}
	if r := g.refund; r != nil {
		k.refund = &cardgateway.Refund{
			Code: r.Code, UniqueID: r.UniqueID, MerchantRefundID: r.MerchantRefundID, RefundUniqueID: r.RefundUniqueID,
			Timestamp: r.Timestamp, RefundAmount: r.RefundAmount, RefundCurrency: r.RefundCurrency,
			RefundRequestAt: r.RefundRequestAt, RefundAt: r.RefundAt,
		}
	}
	return k
}

// keptOfQuery does the same for the result of a query. The secrets of the payment are not known then, so a redirect URL
// is kept only for operations that are known to have none.
func (g gatewayResult) keptOfQuery(op string) gatewayResult {
	k := g.kept()
	if k.transaction != nil && (op == opTokenPayment || op == opSubscription || op == opRestore) {
		k.transaction.RedirectURL = ""
	}
	return k
}

// secrets are the values of a payment that must not be stored. The client masks them in the gateway's texts, which are
// not stored anyway. That leaves the uniqueId, the currency and the redirect URL.
type secrets struct {
	token  cardgateway.Token
	number cardgateway.CardNumber
	code   cardgateway.CVV
}

// removeFrom empties every stored text that contains a secret.
func (s *secrets) removeFrom(t *cardgateway.Transaction) {
	if t == nil {
		return
	}
	for _, text := range []*string{&t.RedirectURL, &t.UniqueID, &t.TransactionCurrency} {
		if s.foundIn(*text) {
			*text = ""
		}
	}
}

// foundIn searches a text for the secrets: as it is, and URL-decoded once and twice.
func (s *secrets) foundIn(text string) bool {
	once := escape.Percent(text)
	twice := escape.Percent(once)
	for _, plain := range []string{text, once, twice, strings.ReplaceAll(twice, "+", " ")} {
		if token := s.token.Reveal(); token != "" && strings.Contains(plain, token) {
			return true
		}
		if s.hasNumber(separators.Replace(plain)) {
			return true
		}
	}
	return s.hasCode(once) || s.hasCode(twice) // not the text as it is: the digits of its escapes are not a code
}

// separators are the characters that can separate the groups of a card number.
var separators = strings.NewReplacer(" ", "", "-", "", "+", "", ".", "", "_", "", "/", "", ",", "")

// hasCode searches the numbers in a text for the verification code.
func (s *secrets) hasCode(text string) bool {
	if s.code.IsZero() {
		return false
	}
	for _, number := range strings.FieldsFunc(text, func(r rune) bool { return r < '0' || r > '9' }) {
		if s.code.Equal(cardgateway.NewCVV(number)) {
			return true
		}
	}
	return false
}

// hasNumber compares every run of 12 to 19 digits in a text with the card number, because a CardNumber does not reveal
// its digits.
func (s *secrets) hasNumber(text string) bool {
	const minDigits, maxDigits = 12, 19
	for from := range len(text) {
		for n := 0; n < maxDigits && from+n < len(text) && '0' <= text[from+n] && text[from+n] <= '9'; n++ {
			if n+1 >= minDigits && s.number.Equal(cardgateway.NewCardNumber(text[from:from+n+1])) {
				return true
			}
		}
	}
	return false
}
