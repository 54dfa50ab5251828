package cardgateway

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/shopspring/decimal"

	"github.com/cardgateway/cardgateway-go/internal/civil"
	"github.com/cardgateway/cardgateway-go/internal/retry"
)

// ResolveQuery names a payment whose outcome is unknown; OutcomeUnknownError.Query fills it. TransactionID, Amount,
// Currency and SentAt are required.
type ResolveQuery struct {
	TransactionID string
	OrderID       string
	Amount        decimal.Decimal
	Currency      string
	SentAt        time.Time     // a time before the payment was sent, and close to it; after about two years absence can no longer be shown
	Wait          time.Duration // how long to ask, counted from the start of Resolve; zero means 2 min; at least one search is made
	HostedPage    bool          // the cardholder pays on the hosted page: a decline there is one attempt, see Resolve
	Seen          bool          // the gateway has shown the transactionId before: it is never absent, see OutcomeUnknownError.Seen
}

// HostedPageLifetime is how long after SentAt a cardholder is expected to be able to use the hosted page. The interface
// does not show when it ends; a row with code 103 (closed) ends it earlier.
const HostedPageLifetime = 24 * time.Hour

// Query returns what Resolve needs to settle this outcome.
func (e *OutcomeUnknownError) Query() ResolveQuery {
	return ResolveQuery{
		TransactionID: e.TransactionID, OrderID: e.OrderID, Amount: e.Amount, Currency: e.Currency, SentAt: e.SentAt,
		HostedPage: e.HostedPage, Seen: e.Seen,
	}
}

const (
	defaultWait       = 2 * time.Minute
	resolveAfter      = 15 * time.Hour  // UTC+14, and an hour of difference between clocks; before SentAt see resolveBefore
	resolveOverlap    = 2 * time.Second // of neighbouring ranges: whether a bound is inclusive is not shown
	resolveMonths     = 24              // that are searched, one at a time
	resolvePages      = 50              // of a search, beside the first of each month; more only if the gateway's filter does not work
	firstResolvePause = time.Second
	maxResolvePause   = 30 * time.Second
)

// Resolve settles an unknown outcome by searching the gateway for the payment, again and again until the outcome is known
// or Wait has passed; with the default Wait it takes up to two minutes. It believes only rows with exactly this
// transactionId, amount and currency: the filter of the search has been seen to return other orders.
//
// It returns what the original call would have returned: the transaction, a *DeclinedError, or again an
// *OutcomeUnknownError, whose cause says why. A transaction that waits for its cardholder (code 301) is returned at once; for
// one in processing (code 102) Resolve keeps asking, and returns it when Wait has passed. Two approved rows are a *ConflictError. One approved row is approved, whatever declined rows stand beside it.
//
// On the hosted page a cardholder whose card is declined can try another one. With HostedPage, a decline is therefore
// final only once the gateway shows code 103 (closed), or HostedPageLifetime after SentAt; until then the outcome is
// unknown.
//
// ErrNotFound means that the gateway answered and does not have the payment, and has not shown it before in any form. That
// is evidence, not proof: a request can be delivered late, so ask again hours later before taking it for never sent.
//
// A transaction that waits for its cardholder may come without a RedirectURL, which the interface shows in responses to
// payments only. Ending ctx stops the asking, not the need to ask.
func (c *Client) Resolve(ctx context.Context, q ResolveQuery) (*Transaction, error) {
	if err := q.check(ctx); err != nil {
		return nil, err
	}
	ctx, end := c.begin(ctx, Operation{Name: "Resolve", TransactionID: q.TransactionID})
	t, err := c.payment(&q).resolve(within(ctx))
	info := CallInfo{Outcome: outcomeName(t, err), Err: err}
	if t != nil {
		info.Code = t.Code
	}
	end(info)
	return t, err
}

func (q *ResolveQuery) check(ctx context.Context) error {
	var v violations
	v.Context(ctx)
	if v.Require("transactionId", q.TransactionID != "", required) {
		v.ID("transactionId", q.TransactionID, maxID)
	}
	if v.Require("amount", q.Amount != decimal.Decimal{}, required) {
		v.Amount("amount", q.Amount, maxAmountDigits, maxDecimals)
	}
	if v.Require("currency", q.Currency != "", required) {
		v.UpperCase("currency", q.Currency, currencyLength)
	}
	v.sentAt(q.SentAt)
	if q.Wait < 0 {
		v.Add("Wait", RuleRange, "must not be negative")
	}
	return v.err("Resolve")
}

// subject is what is resolved: a payment or a refund, whose rows are T.
type subject[T any] struct {
	sentAt time.Time
	wait   time.Duration
	seen   bool // it was shown before; see OutcomeUnknownError.Seen

	search     func(ctx context.Context, start, end time.Time, page int) (*Page[T], *callSecrets, error)
	facts      func(*T) rowFacts
	isDeclined func(declined []T) bool // declined rows are the end
	notTheEnd  error                   // why they are not, where they are not

	// What is returned.
	declined func(*T) error
	conflict func([]T) error
	unknown  func(t *T, seen bool, cause error) error
	absent   func() error
	redact   func(*callSecrets, *T, error)
}

// rowFacts is what Resolve needs to know of a row.
type rowFacts struct {
	id       string // tells rows apart
	hasID    bool   // the id is the gateway's
	at       WallTime
	code     Code
	state    State
	isOurs   bool // it has the ids that were sent
	expected bool // it is not ours, but the search asks for it too
	agrees   bool // and what else was sent
}

// resolve searches until the outcome is known or the time is over.
func (s *subject[T]) resolve(ctx context.Context) (*T, error) {
	deadline := time.Now().Add(cmp.Or(s.wait, defaultWait))
	var row *T // the last that was found
	for pause := firstResolvePause; ; pause = min(2*pause, maxResolvePause) {
		e, searchErr := s.searchOnce(ctx)
		s.seen = s.seen || e.shown
		if s.seen && !e.found() {
			e.doubt(errSeenBefore)
		}
		if e.row = s.newest(&e); e.row == nil {
			e.row = row
		}
		row = e.row
		t, err, final := s.decide(&e, searchErr, time.Until(deadline) <= 0)
		if !final {
			jittered := pause/2 + time.Duration(rand.Float64()*float64(pause/2))
			if ended := retry.Sleep(ctx, max(0, min(jittered, time.Until(deadline)))); ended != nil {
				t, err, final = nil, s.unknown(e.row, s.seen, ended), true
			}
		}
		if final {
			s.redact(e.secrets, t, err)
			return t, err
		}
	}
}

// evidence is what one search showed.
type evidence[T any] struct {
	approved    []T
	declined    []T
	redirect    *T
	processing  *T
	shown       bool         // it was shown, or may have been: in a row that cannot be used, or one that was announced
	codeChanged bool         // a row was seen with two codes: only the next search can tell
	row         *T           // to go with an unknown outcome: of this search or of an earlier one
	uncertainty error        // why absence proves nothing, if it does not
	secrets     *callSecrets // of the last query

	seen  map[string]Code // by row
	pages int             // that may still be asked for, beside the first one of each month
}

// found reports whether there is a row that says what became of it.
func (e *evidence[T]) found() bool {
	return e.processing != nil || e.redirect != nil || len(e.approved)+len(e.declined) > 0
}

// doubt notes why absence proves nothing. The first reason that says more than errDoubtful stays.
func (e *evidence[T]) doubt(reason error) {
	if e.uncertainty == nil || e.uncertainty == errDoubtful {
		e.uncertainty = reason
	}
}

// newest returns what an unknown outcome should show, or nil.
func (s *subject[T]) newest(e *evidence[T]) *T {
	if e.processing != nil || len(e.declined) == 0 {
		return e.processing
	}
	return s.latest(e.declined)
}

// latest returns the row with the latest time. Of equal ones it is the last.
func (s *subject[T]) latest(rows []T) *T {
	t := &rows[0]
	for i := range rows {
		if s.facts(&rows[i]).at.Compare(s.facts(t).at) >= 0 {
			t = &rows[i]
		}
	}
	return t
}

// decide says what the evidence means, if that is final; last is set once the time is over.
func (s *subject[T]) decide(e *evidence[T], searchErr error, last bool) (t *T, err error, final bool) {
	certain := e.uncertainty == nil && searchErr == nil
	switch {
	case len(e.approved) > 1:
		return nil, s.conflict(slices.Concat(e.approved, e.declined)), true
	case len(e.approved) == 1 && !e.codeChanged:
		return &e.approved[0], nil, true
	case e.redirect != nil && !e.codeChanged:
		return e.redirect, nil, true
	case certain && len(e.declined) > 0 && e.processing == nil && !e.codeChanged && s.isDeclined(e.declined):
		t := s.latest(e.declined)
		return t, s.declined(t), true
	case !last:
		return nil, nil, false
	case searchErr != nil:
		return nil, s.unknown(e.row, s.seen, &searchError{searchErr}), true
	case e.processing != nil && len(e.declined) == 0 && !e.codeChanged:
		return e.processing, nil, true
	case e.uncertainty != nil:
		return nil, s.unknown(e.row, s.seen, e.uncertainty), true
	case len(e.declined) > 0 && e.processing == nil:
		return nil, s.unknown(e.row, s.seen, cmp.Or(s.notTheEnd, errDoubtful)), true
	case e.found() || e.shown:
		return nil, s.unknown(e.row, s.seen, errDoubtful), true
	}
	return nil, s.absent(), true
}

// searchError is why the gateway could not be asked. It hides that this was a failed query, so that the outcome is
// unknown and nothing else.
type searchError struct{ query error }

func (e *searchError) Error() string { return e.query.Error() }

func (e *searchError) Unwrap() error { return errors.Unwrap(e.query) }

var (
	errDoubtful = errors.New("the search does not tell: it returned unreadable rows or those of other transactions, " +
		"rows that contradict each other, or not what it returned before")
	errSeenBefore  = errors.New("the gateway has shown this id before, but does not tell what became of it")
	errOtherAmount = errors.New("the gateway has this id with another amount or currency than was asked for, or without them")
	errOtherCode   = errors.New("the gateway has this id with a code that says nothing certain")
	errMayTryAgain = errors.New("declined so far: the cardholder can try another card on the hosted page")
	errLongAgo     = errors.New("SentAt is so long ago that the search did not reach to this day")
)

// searchOnce searches once, from when it was sent to this day. The range is written as UTC and is wide enough for the
// gateway's clock to be in any zone.
func (s *subject[T]) searchOnce(ctx context.Context) (e evidence[T], err error) {
	e = evidence[T]{secrets: new(callSecrets), seen: make(map[string]Code), pages: resolvePages}
	start, last := s.sentAt.Add(-resolveBefore), time.Now().Add(resolveAfter)
	for months := 0; ; months++ {
		if months == resolveMonths {
			e.doubt(errLongAgo)
			break
		}
		end := civil.Of(start, time.UTC).NextMonth().UTC()
		if end.After(last) {
			end = last
		}
		if err := s.searchRange(ctx, start, end, &e); err != nil {
			return e, err
		}
		if end.Equal(last) {
			break
		}
		start = end.Add(-resolveOverlap)
	}
	return e, nil
}

// searchRange adds what a range of at most a month shows, on all pages of the result. A row that was seen before, with
// its code, counts once: pages move, and a gateway may not look at the range.
func (s *subject[T]) searchRange(ctx context.Context, start, end time.Time, e *evidence[T]) error {
	inRange := make(map[string]bool)
	for page := 1; page == 1 || e.pages > 0; page++ {
		if page > 1 {
			e.pages--
		}
		found, secrets, err := s.search(ctx, start, end, page)
		if secrets != nil {
			e.secrets = secrets
		}
		if found == nil {
			return err
		}
		if err != nil { // rows that could not be read: any of them can be the one
			e.shown = true
			e.doubt(errDoubtful)
		}
		copies := make(map[string]int) // of rows that only their place on the page tells apart
		for _, t := range found.Data {
			row := s.facts(&t)
			if !row.hasID {
				copies[row.id]++
				row.id = fmt.Sprint(row.id, " ", int(row.code), " ", copies[row.id])
			}
			if code, known := e.seen[row.id]; !known {
				e.add(t, &row)
			} else if code != row.code {
				e.codeChanged = true
				e.doubt(errDoubtful)
			}
			e.seen[row.id], inRange[row.id] = row.code, true
		}
		if len(found.Data) == 0 || len(inRange) >= found.TotalCount {
			if len(inRange) < found.TotalCount { // rows that were announced and not given
				e.shown = true
				e.doubt(errDoubtful)
			}
			return nil
		}
	}
	e.doubt(errDoubtful)
	return nil
}

// add adds what a row says.
func (e *evidence[T]) add(t T, row *rowFacts) {
	if !row.isOurs {
		if !row.expected {
			e.doubt(errDoubtful)
		}
		return
	}
	e.shown = true
	switch {
	case !row.agrees:
		e.doubt(errOtherAmount)
	case row.state == StateApproved:
		e.approved = append(e.approved, t)
	case row.state == StateDeclined:
		e.declined = append(e.declined, t)
	case row.state == StateRedirect:
		e.redirect = &t
	case row.state == StateProcessing:
		e.processing = &t
	default:
		e.doubt(errOtherCode)
	}
}

// payment is the subject of a ResolveQuery.
func (c *Client) payment(q *ResolveQuery) *subject[Transaction] {
	return &subject[Transaction]{
		sentAt: q.SentAt, wait: q.Wait, seen: q.Seen,
		search: func(ctx context.Context, start, end time.Time, page int) (*Page[Transaction], *callSecrets, error) {
			orders := OrderQuery{TransactionID: q.TransactionID, Start: start, End: end, CurrPage: page}
			return runSearch(ctx, c, opSearchOrders, orders.search(time.UTC), transactionRow)
		},
		facts: func(t *Transaction) rowFacts {
			return rowFacts{
				id: orderRowID(t), hasID: t.UniqueID != "", at: t.TransactionAt, code: t.Code, state: t.State(),
				isOurs: t.TransactionID == q.TransactionID && !t.isOtherApp(c.checkedApp()),
				agrees: t.TransactionAmount.Equal(q.Amount) && t.TransactionCurrency == q.Currency,
			}
		},
		isDeclined: q.isDeclined, notTheEnd: q.notTheEnd(),
		declined: func(t *Transaction) error {
			return &DeclinedError{Op: "Resolve", TransactionID: q.TransactionID, Transaction: t}
		},
		conflict: func(rows []Transaction) error {
			return &ConflictError{TransactionID: q.TransactionID, Transactions: rows}
		},
		unknown: func(t *Transaction, seen bool, cause error) error {
			return &OutcomeUnknownError{
				Op: "Resolve", TransactionID: q.TransactionID, OrderID: q.OrderID, Amount: q.Amount, Currency: q.Currency,
				SentAt: q.SentAt, HostedPage: q.HostedPage, Seen: seen, Transaction: t, Cause: cause,
			}
		},
		absent: func() error {
			return fmt.Errorf("cardgateway: Resolve: transaction %s: %w", quoted(q.TransactionID), ErrNotFound)
		},
		redact: (*callSecrets).redact,
	}
}

// isDeclined reports whether the declined rows are the end of the payment. A request that was sent once is declined once:
// several rows of a direct payment contradict each other. On the hosted page they are attempts.
func (q *ResolveQuery) isDeclined(declined []Transaction) bool {
	if !q.HostedPage {
		return len(declined) == 1
	}
	closed := slices.ContainsFunc(declined, func(t Transaction) bool { return t.Code == CodeClosed })
	return closed || time.Since(q.SentAt) > HostedPageLifetime
}

// notTheEnd says why a decline is not the end, where it is not.
func (q *ResolveQuery) notTheEnd() error {
	if q.HostedPage {
		return errMayTryAgain
	}
	return nil
}
