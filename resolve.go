package cardgateway

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/cardgateway/cardgateway-go/internal/civil"
	"github.com/cardgateway/cardgateway-go/internal/retry"
	"github.com/shopspring/decimal"
)

// ResolveQuery names a payment whose outcome is unknown; OutcomeUnknownError.Query fills it. Everything but OrderID
// and Wait is required.
type ResolveQuery struct {
	TransactionID string
	OrderID       string
	Amount        decimal.Decimal
	Currency      string
	SentAt        time.Time     // when the payment was sent, at the earliest; if that is about two years ago, absence cannot be proved
	Wait          time.Duration // how long to ask, counted from the start of Resolve; zero means 2 min; one search is always finished
}

// Query returns what Resolve needs to settle this outcome.
func (e *OutcomeUnknownError) Query() ResolveQuery {
	return ResolveQuery{
		TransactionID: e.TransactionID, OrderID: e.OrderID,
		Amount: e.Amount, Currency: e.Currency, SentAt: e.SentAt,
	}
}

const (
	defaultWait   = 2 * time.Minute
	resolveBefore = 13 * time.Hour // UTC-12, and an hour of difference between clocks
	resolveAfter  = 15 * time.Hour // UTC+14, and the same
	resolveMonths = 24             // that are searched, one at a time
	resolvePages  = 50             // of a search, beside the first of each month; more only if the gateway's filter does not work
	firstPause    = time.Second
	longestPause  = 30 * time.Second
)

// Resolve settles an unknown outcome by asking the gateway for the payment, again and again until it knows or Wait
// has passed. It believes only rows with exactly this transactionId, amount and currency: the filter of the search
// has been seen to return other orders.
//
// It returns what the original call would have: the transaction (301 at once, 102 only after Wait), a
// *DeclinedError, a *ConflictError, or again an *OutcomeUnknownError, whose cause says why. ErrNotFound means that
// the gateway answered and does not have it. That is evidence, not proof: a request can be delivered late, so ask
// again hours later before taking it for never sent. A transaction that waits for its cardholder may come without a
// RedirectURL, which the interface shows in answers only. Ending ctx stops the asking, not the need to ask.
func (c *Client) Resolve(ctx context.Context, q ResolveQuery) (*Transaction, error) {
	if err := q.check(); err != nil {
		return nil, err
	}
	wait := q.Wait
	if wait == 0 {
		wait = defaultWait
	}
	deadline := time.Now().Add(wait)
	seenBefore := false // an earlier search showed it
	for pause := firstPause; ; pause = min(2*pause, longestPause) {
		e, err := c.searchOnce(ctx, &q)
		ours := e.processing != nil || len(e.declined) > 0
		if seenBefore && !ours {
			e.doubt(errDoubtful)
		}
		seenBefore = seenBefore || ours
		last := time.Until(deadline) <= 0
		if t, verdict, final := q.decide(&e, err, last); final {
			e.secrets.redact(t, verdict)
			return t, verdict
		}
		jittered := pause/2 + time.Duration(rand.Float64()*float64(pause/2))
		if err := retry.Sleep(ctx, max(0, min(jittered, time.Until(deadline)))); err != nil {
			verdict := q.unknown(e.processing, err)
			e.secrets.redact(nil, verdict)
			return nil, verdict
		}
	}
}

func (q *ResolveQuery) check() error {
	var v violations
	if v.require("transactionId", q.TransactionID != "", required) {
		v.text("transactionId", q.TransactionID, maxID)
	}
	if v.require("amount", q.Amount != decimal.Decimal{}, required) {
		v.amount("amount", q.Amount)
	}
	if v.require("currency", q.Currency != "", required) {
		v.upperCase("currency", q.Currency, currencyLength)
	}
	if v.require("SentAt", !q.SentAt.IsZero(), required) && v.year("SentAt", q.SentAt.Add(-resolveBefore)) &&
		q.SentAt.After(time.Now().Add(resolveBefore)) {
		v.add("SentAt", RuleRange, "must not be in the future")
	}
	if q.Wait < 0 {
		v.add("Wait", RuleRange, "must not be negative")
	}
	return v.err("Resolve")
}

// evidence is what one search of the gateway showed of a payment.
type evidence struct {
	approved    []Transaction
	declined    []Transaction
	redirect    *Transaction
	processing  *Transaction
	codeChanged bool         // a row was seen with two codes: only the next search can tell
	uncertainty error        // why absence proves nothing, if it does not
	secrets     *callSecrets // of the last search

	seen  map[string]Code // by row
	pages int             // that may still be asked for, beside the first one of each month
}

// doubt notes why absence proves nothing. A reason that says more than errDoubtful stays.
func (e *evidence) doubt(reason error) {
	if e.uncertainty == nil || e.uncertainty == errDoubtful {
		e.uncertainty = reason
	}
}

// decide says what the evidence says; last is set once Wait has passed.
func (q *ResolveQuery) decide(e *evidence, failed error, last bool) (t *Transaction, err error, final bool) {
	switch {
	case len(e.approved) > 1 || len(e.approved) > 0 && len(e.declined) > 0:
		return nil, &ConflictError{TransactionID: q.TransactionID, Transactions: slices.Concat(e.approved, e.declined)}, true
	case len(e.approved) == 1 && !e.codeChanged:
		return &e.approved[0], nil, true
	case e.redirect != nil && !e.codeChanged:
		return e.redirect, nil, true
	case len(e.declined) == 1 && e.uncertainty == nil && failed == nil && e.processing == nil:
		t := &e.declined[0]
		return t, &DeclinedError{Op: "Resolve", TransactionID: q.TransactionID, Transaction: t}, true
	case !last:
		return nil, nil, false
	case failed != nil:
		return nil, q.unknown(e.processing, &searchError{failed}), true
	case e.processing != nil && len(e.declined) == 0 && !e.codeChanged:
		return e.processing, nil, true
	case e.uncertainty != nil || len(e.declined) > 0 || e.processing != nil:
		return nil, q.unknown(e.processing, cmp.Or(e.uncertainty, errDoubtful)), true
	}
	return nil, fmt.Errorf("cardgateway: Resolve: transaction %s: %w", quoted(q.TransactionID), ErrNotFound), true
}

// searchError is why the gateway could not be asked. It hides that this was a failed query, so that the outcome is
// unknown and nothing else.
type searchError struct{ query error }

func (e *searchError) Error() string { return e.query.Error() }

func (e *searchError) Unwrap() error { return errors.Unwrap(e.query) }

var (
	errDoubtful = errors.New("the search does not tell: it returned unreadable rows or those of other transactions, " +
		"rows that contradict each other, or not what it returned before")
	errOtherAmount = errors.New("the gateway has this transactionId with another amount or currency than was asked for, or without them")
	errLongAgo     = errors.New("SentAt is so long ago that the search did not reach to this day")
)

func (q *ResolveQuery) unknown(t *Transaction, cause error) error {
	p := sentPayment{transactionID: q.TransactionID, orderID: q.OrderID, amount: q.Amount, currency: q.Currency, at: q.SentAt}
	return p.unknown(&Operation{Name: "Resolve"}, t, cause)
}

// searchOnce asks for the payment once, from when it was sent to this day. The range is written as UTC and is wide enough
// for the gateway's clock to be in any zone.
func (c *Client) searchOnce(ctx context.Context, q *ResolveQuery) (e evidence, err error) {
	e = evidence{secrets: new(callSecrets), seen: make(map[string]Code), pages: resolvePages}
	start, last := q.SentAt.Add(-resolveBefore), time.Now().Add(resolveAfter)
	for months := 0; ; months++ {
		if months == resolveMonths {
			e.doubt(errLongAgo)
			break
		}
		end := civil.Of(start, time.UTC).NextMonth().UTC()
		if end.After(last) {
			end = last
		}
		if err := c.searchRange(ctx, q, start, end, &e); err != nil {
			return e, err
		}
		if end.Equal(last) {
			break
		}
		start = end.Add(-2 * overhang * time.Second) // whether a bound is inclusive is not shown
	}
	return e, nil
}

// searchRange adds what a range of at most a month shows, on all pages of the answer. A row that was seen before, with
// its code, counts once: pages move, and a gateway may not look at the range.
func (c *Client) searchRange(ctx context.Context, q *ResolveQuery, start, end time.Time, e *evidence) error {
	here := make(map[string]bool)
	for page := 1; page == 1 || e.pages > 0; page++ {
		if page > 1 {
			e.pages--
		}
		orders := OrderQuery{TransactionID: q.TransactionID, Start: start, End: end, CurrPage: page}
		found, secrets, err := runSearch(ctx, c, opSearchOrders, orders.search(time.UTC), transactionRow)
		if secrets != nil {
			e.secrets = secrets
		}
		if found == nil {
			return err
		}
		if err != nil { // rows that could not be read
			e.doubt(errDoubtful)
		}
		copies := make(map[string]int) // of rows that only their place on the page tells apart
		for _, t := range found.Data {
			id := orderRowID(&t)
			if t.UniqueID == "" {
				copies[id]++
				id = fmt.Sprint(id, " ", int(t.Code), " ", copies[id])
			}
			if code, known := e.seen[id]; !known {
				e.add(q, t)
			} else if code != t.Code {
				e.codeChanged = true
				e.doubt(errDoubtful)
			}
			e.seen[id], here[id] = t.Code, true
		}
		if len(found.Data) == 0 || len(here) >= found.TotalCount {
			if len(here) < found.TotalCount { // rows that were announced and not shown
				e.doubt(errDoubtful)
			}
			return nil
		}
	}
	e.doubt(errDoubtful)
	return nil
}

func (e *evidence) add(q *ResolveQuery, t Transaction) {
	switch {
	case t.TransactionID != q.TransactionID:
		e.doubt(errDoubtful)
	case !t.TransactionAmount.Equal(q.Amount) || t.TransactionCurrency != q.Currency:
		e.doubt(errOtherAmount)
	case t.State() == StateApproved:
		e.approved = append(e.approved, t)
	case t.State() == StateDeclined:
		e.declined = append(e.declined, t)
	case t.State() == StateRedirect:
		e.redirect = &t
	case t.State() == StateProcessing:
		e.processing = &t
	default:
		e.doubt(errDoubtful)
	}
}
