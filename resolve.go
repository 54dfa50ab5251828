package cardgateway

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/shopspring/decimal"

	"github.com/cardgateway/cardgateway-go/internal/check"
	"github.com/cardgateway/cardgateway-go/internal/recurring"
	"github.com/cardgateway/cardgateway-go/internal/resolve"
	"github.com/cardgateway/cardgateway-go/internal/verdict"
)

// ResolveQuery identifies a payment whose outcome is unknown; OutcomeUnknownError.Query returns one. TransactionID, Amount,
// Currency and SentAt are required.
type ResolveQuery struct {
	TransactionID string
	OrderID       string
	Amount        decimal.Decimal
	Currency      string
	// SentAt is a time before the payment was sent, and close to it; of one that was sent again, before the first time. A search reads from
	// then until now, for two years at most: for an older payment ErrNotFound is not possible. It finds a payment if the texts of the gateway's
	// clock are at most 13 hours behind UTC, and 15 ahead, zone and errors of both clocks together. What is beyond is ErrNotFound although
	// it was made, unless the Date of the responses shows that this machine's clock is more than an hour wrong: then the outcome is unknown.
	SentAt     time.Time
	Wait       time.Duration // how long to query, from the start of the call; zero means 2 min; at least one search is made
	HostedPage bool          // the cardholder pays on the hosted page, where a decline is one attempt; see Resolve
	Seen       bool          // the gateway has returned the transactionId before: see OutcomeUnknownError.Seen
	SentAgain  bool          // it may have been sent more than once, first at SentAt: a decline is not final; see Resolve

	SubscriptionCycle SubscriptionCycle // of a subscription, which has later charges; see Resolve
}

// Query returns the query with which Resolve finds this outcome.
func (e *OutcomeUnknownError) Query() ResolveQuery {
	return ResolveQuery{
		TransactionID: e.TransactionID, OrderID: e.OrderID, Amount: e.Amount, Currency: e.Currency, SentAt: e.SentAt,
		HostedPage: e.HostedPage, Seen: e.Seen, SentAgain: e.SentAgain, SubscriptionCycle: e.SubscriptionCycle,
	}
}

// Resolve finds an unknown outcome by searching the gateway for the payment, repeatedly until the outcome is known
// or Wait has passed; with the default Wait it takes up to two minutes. It considers only rows with exactly this
// transactionId, amount and currency, because some gateways return other orders too. A row with this transactionId that
// states another app (see Config.AnyAppID) decides nothing; while it is the only one, the outcome is unknown.
//
// It returns what the original call would have returned: the transaction, a *DeclinedError, a *TestPaymentError, or again an
// *OutcomeUnknownError, whose cause says why. A transaction that waits for the cardholder (code 301) is returned at once, unless one is
// in processing (code 102), or another row does not tell its state, or has another amount. For what is in processing, Resolve keeps
// querying, and returns it when Wait has passed. Two approved rows are a *ConflictError. One approved row means approved, even if
// there are declined rows too. A *ValidationError says that q is invalid, and that nothing was queried.
//
// On the hosted page, a cardholder whose card is declined can try another one. With HostedPage, a decline is therefore
// final only if the gateway returns code 103 (closed), or Config.HostedPageLifetime after SentAt; until then the outcome
// is unknown. If another attempt is in processing (code 102), that is returned when Wait has passed.
//
// A gateway may decline a payment that is sent again only because it is a repetition. With SentAgain, a decline is therefore never
// final, on the hosted page either: while the search shows no success, the outcome is unknown, and the error has the declined row. It
// is unknown, too, if there are charges a cycle apart, because each submission may have begun a subscription. A journal's Recover
// decides both, a decline after its Options.AbsentAfter; without a journal they need manual review.
//
// The interface does not say which transactionId the later charges of a subscription have. If they repeat that of the first one,
// Resolve returns the first: with SubscriptionCycle, approved rows are no conflict if each is at least 20 hours later than the one
// before for each day of the cycle, by transactionAt: 20 hours for DAY, and for a cycle without a constant in this package, 5 days
// 20 hours for WEEK, and 23 days 8 hours for MONTH. A month has 28 days here, three have 89, six have 181, and a year has 365.
//
// ErrNotFound means that the gateway responded, does not know the payment, and has never returned it before in any form.
// That is evidence, not proof: a request can arrive late, so query again hours later before you treat it as never sent.
//
// A transaction that waits for the cardholder may lack its RedirectURL, which the interface documents only in responses to
// payments. If ctx ends, the outcome is still unknown.
func (c *Client) Resolve(ctx context.Context, q ResolveQuery) (t *Transaction, err error) {
	if err := q.check(ctx); err != nil {
		return nil, err
	}
	secrets := new(callSecrets) // of the last query
	observed := c.newObservation(ctx, &Operation{Name: "Resolve", TransactionID: q.TransactionID})
	found := resolve.Result[Transaction]{Cause: errPanicked} // if a query or the observer panics
	defer func() {
		if t, err = q.outcome(&found); err == nil {
			err = c.testPayment("Resolve", t)
		}
		t.mask(secrets.masker(err != nil))
		secrets.complete(err, "", nil)
		info := CallInfo{Outcome: outcomeName(t, err), Err: err}
		if t != nil {
			info.Code = t.Code
			defer c.learnZone(ctx, t.TransactionAt.civil(), q.SentAt, time.Now(), t.Timestamp, true)
		}
		observed.end(info)
	}()
	found = resolve.Run(within(observed.begin()), &resolve.Config[Transaction]{
		SentAt: q.SentAt, Wait: q.Wait, Seen: q.Seen, SentAgain: q.SentAgain, Attempts: q.HostedPage, Gap: recurring.Gap(string(q.SubscriptionCycle)),
		Search: func(ctx context.Context, start, end time.Time, page int) (*resolve.Page[Transaction], error) {
			orders := OrderQuery{TransactionID: q.TransactionID, Start: start, End: end}
			p, err := runSearch(ctx, c, opSearchOrders, orders.search(time.UTC, PageRequest{CurrPage: page}), transactionRow)
			secrets = cmp.Or(p.secrets, secrets)
			return resolvePage(p, err)
		},
		Row: func(t *Transaction) resolve.Row {
			return resolve.Row{
				ID:        t.TransactionID + " " + t.rowID(),
				Generated: t.UniqueID == "", At: t.TransactionAt.civil(), Code: int(t.Code), State: verdict.State(t.State()),
				Ours:     t.TransactionID == q.TransactionID,
				OtherApp: c.IsOtherApp(t),
				Agrees:   t.TransactionAmount.Equal(q.Amount) && t.TransactionCurrency == q.Currency,
			}
		},
		NotFinal: func(declined []Transaction) error { return c.notFinal(&q, declined) },
	})
	return t, err
}

func (q *ResolveQuery) check(ctx context.Context) error {
	var v violations
	v.Context(ctx)
	if v.Require("transactionId", q.TransactionID != "", required) {
		v.ID("transactionId", q.TransactionID, maxID)
	}
	if v.Require("amount", q.Amount != decimal.Decimal{}, required) {
		v.Amount("amount", check.WithoutZeros(q.Amount, q.Currency))
	}
	if v.Require("currency", q.Currency != "", required) {
		v.UpperCase("currency", q.Currency, currencyLength)
	}
	v.sentAt(q.SentAt)
	v.AddIf(q.Wait < 0, "Wait", RuleRange, "must not be negative")
	return withID(v.err("Resolve"), q.TransactionID)
}

// notFinal returns why the declined rows are not final, or nil if they are. A request that was sent once is declined
// once: several rows of a direct payment contradict each other. On the hosted page they are attempts.
func (c *Client) notFinal(q *ResolveQuery, declined []Transaction) error {
	if !q.HostedPage {
		return severalDeclined(len(declined))
	}
	closed := slices.ContainsFunc(declined, func(t Transaction) bool { return t.Code == CodeClosed })
	if closed || time.Since(q.SentAt) >= c.HostedPageLifetime() {
		return nil
	}
	return resolve.ErrMayTryAgain
}

// severalDeclined returns why n declined rows of a request that was sent once are not final, or nil.
func severalDeclined(n int) error {
	if n > 1 {
		return resolve.ErrSeveralDeclined
	}
	return nil
}

// outcome converts what was found to a result of this package.
func (q *ResolveQuery) outcome(found *resolve.Result[Transaction]) (*Transaction, error) {
	const op = "Resolve"
	switch found.Finding {
	case resolve.Found:
		return found.Row, nil
	case resolve.Declined:
		return found.Row, &DeclinedError{Op: op, TransactionID: q.TransactionID, Transaction: found.Row}
	case resolve.Conflict:
		return nil, &ConflictError{TransactionID: q.TransactionID, Transactions: found.Rows}
	case resolve.Absent:
		return nil, fmt.Errorf("cardgateway: %s: transaction %s: %w", op, quoted(q.TransactionID), ErrNotFound)
	}
	return nil, &OutcomeUnknownError{
		Op: op, TransactionID: q.TransactionID, OrderID: q.OrderID, Amount: q.Amount, Currency: q.Currency, SentAt: q.SentAt,
		HostedPage: q.HostedPage, Seen: found.Seen, SentAgain: q.SentAgain, SubscriptionCycle: q.SubscriptionCycle, Transaction: found.Row,
		Cause: found.Cause,
	}
}

// resolvePage converts a page of a search, or the error if there is none, for the engine.
func resolvePage[T any](p decodedPage[T], err error) (*resolve.Page[T], error) {
	if p.Page == nil {
		return nil, &searchError{err}
	}
	return &resolve.Page[T]{Rows: p.Data, Total: p.TotalCount, Unreadable: err != nil, ClockApart: p.clock.fromDate}, nil
}

// searchError is the error of a failed query. It hides that it is one, so that the error of the call matches
// ErrOutcomeUnknown and not ErrQueryFailed.
type searchError struct{ query error }

func (e *searchError) Error() string { return e.query.Error() }

func (e *searchError) Unwrap() error { return errors.Unwrap(e.query) }
