package cardgateway

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/cardgateway/cardgateway-go/internal/civil"
	"github.com/cardgateway/cardgateway-go/internal/walk"
)

// Orders gives every order in [q.Start, q.End) once, over any range, oldest window first ("Batch order query"). Start
// and End are required; an End in the future means now. CurrPage must be zero; PageSize, if set, is how many rows are
// asked for at once. The gateway counts in whole seconds, and all orders of the seconds in which Start and End lie are given:
// let ranges that adjoin begin and end with a whole second (time.Time.Truncate). Where the query has an id, the gateway
// chooses the rows, and some gateways give rows with other ids, too.
//
// The loop ends with at most one error: a *ValidationError, a *QueryError, an *UnsettledError, or that of ctx. Without one,
// everything was given that the gateway showed with a time in the range, or without one. It may not show orders of the last
// 15 minutes yet: a job that reads the day before at five past midnight must look at WalkReport.CompleteUpTo of an OrderWalk,
// which is 23:50 then. In the hour that a clock change repeats, wall-clock times cannot be told apart, so that the bounds of
// a range there let in too many rows rather than too few.
//
// The gateway is asked for time windows that each fit one page, up to four at once. Breaking out of the loop stops the
// requests.
func (c *Client) Orders(ctx context.Context, q OrderQuery) iter.Seq2[*Transaction, error] {
	return func(yield func(*Transaction, error) bool) {
		c.OrderWalk(q, WalkOptions{}).All(ctx)(yield)
	}
}

// Refunds gives every refund in [q.Start, q.End) once, as Orders does for orders ("Batch refund query"). A refund
// is in the range if it was requested or made in it.
func (c *Client) Refunds(ctx context.Context, q RefundQuery) iter.Seq2[*Refund, error] {
	return func(yield func(*Refund, error) bool) {
		c.RefundWalk(q, WalkOptions{}).All(ctx)(yield)
	}
}

// WalkOptions changes how a walk asks, and where it begins. The zero value is right for most.
//
// A window that announces more than PageSize rows and no more than SplitAbove is paged until its distinct ids equal a
// total that stays the same. A single second that holds more rows than a page is asked for with 999.
type WalkOptions struct {
	PageSize   int            // rows asked for at once, at most 999; zero means that of the query, or all the gateway grants
	Prefetch   int            // requests in flight, at most 256; zero means 4, one means strictly one after another
	Window     time.Duration  // longest range of one query, at least a minute; zero means one calendar month
	SplitAbove int            // a window that announces more rows is narrowed in time; zero means PageSize, more than 50,000 that
	Lag        time.Duration  // how far behind now rows count as complete; zero means 15 min
	Resume     Checkpoint     // of an earlier walk with the same query at the same gateway, which it does not name; zero means from the beginning
	Progress   func(Progress) // called between windows, on the goroutine of the loop
}

const (
	defaultPrefetch = 4
	maxPrefetch     = 256
	shortestWindow  = time.Minute
	defaultLag      = 15 * time.Minute
	walkOutage      = 2 * time.Minute // how long a gateway that has answered a walk may be down
)

// Progress says how far a walk has come.
type Progress struct {
	Windows      int       // read whole
	Requests     int       // queries sent, not counting what the client repeats within one
	Rows         int       // yielded
	CompleteUpTo time.Time // see WalkReport
	Fraction     float64   // of the range in time, 0 to 1
}

// WalkReport counts what a walk did.
type WalkReport struct {
	Windows       int       // windows that were read whole
	Requests      int       // queries sent, not counting what the client repeats within one
	RowsAnnounced int       // sum of the totals that the gateway announced for those windows, which overlap by two seconds
	RowsSeen      int       // rows yielded
	Duplicates    int       // rows that came again and were dropped
	Reread        int       // times that a window was read again: responses were cut, or rows arrived behind the reader
	CompleteUpTo  time.Time // up to here every row was given, and counted once more where that took several windows; moves with each count
}

// UnsettledError says that a window did not come to rest: its total and its distinct rows kept differing. What was
// found has been yielded. Walk again from the checkpoint, later or with smaller windows.
type UnsettledError struct {
	Start, End WallTime // as asked for
	Zone       string   // in which they are
	Announced  int      // rows, in the last response
	Seen       int      // distinct rows
	Rounds     int      // times that the window was read
}

func (e *UnsettledError) Error() string {
	return fmt.Sprintf("cardgateway: window from %v to %v%s did not settle: %d rows announced, %d seen in %d rounds",
		e.Start, e.End, inZone(e.Zone), e.Announced, e.Seen, e.Rounds)
}

func inZone(name string) string {
	if name == "" {
		return ""
	}
	return " (" + name + ")"
}

// Is reports whether target is ErrUnsettled.
func (e *UnsettledError) Is(target error) bool { return target == ErrUnsettled }

// Walk is one pass over the rows of a query, made by Client.OrderWalk or Client.RefundWalk. Checkpoint and Report may
// be called at any time and from any goroutine.
type Walk[T any] struct {
	client *Client
	query  walkQuery
	opts   WalkOptions
	engine *walk.Walk[T] // nil in a Walk that was not made by a Client
	begun  atomic.Bool
}

// walkQuery is what a walk was asked for.
type walkQuery struct {
	op         string
	search     string // the operation that gives a page
	start, end time.Time
	page, size int
	ids        []idFilter
	hash       string // of what decides which rows there are
	id         string // the transactionId that is looked for, if one is
}

// OrderWalk prepares a walk over orders, as Orders makes one, that can be tuned, watched and resumed. It sends nothing
// before All.
func (c *Client) OrderWalk(q OrderQuery, opts WalkOptions) *Walk[Transaction] {
	query := walkQuery{
		op: "OrderWalk", search: opSearchOrders.Name, start: q.Start, end: q.End, page: q.CurrPage, size: q.PageSize,
		ids: q.ids(), id: q.TransactionID,
	}
	return newWalk(c, query, opts, c.searchOrders, orderRowID, func(t *Transaction) [2]civil.Time {
		return [2]civil.Time{t.TransactionAt.civil(), civil.None}
	})
}

// RefundWalk prepares a walk over refunds, as Refunds makes one, that can be tuned, watched and resumed. It sends
// nothing before All.
func (c *Client) RefundWalk(q RefundQuery, opts WalkOptions) *Walk[Refund] {
	query := walkQuery{
		op: "RefundWalk", search: opSearchRefunds.Name, start: q.Start, end: q.End, page: q.CurrPage, size: q.PageSize,
		ids: q.ids(), id: q.TransactionID,
	}
	return newWalk(c, query, opts, c.searchRefunds, refundRowID, func(f *Refund) [2]civil.Time {
		return [2]civil.Time{f.RefundRequestAt.civil(), f.RefundAt.civil()}
	})
}

// newWalk puts a walk together: fetch sends the query for one page, and id and times say of a row what the engine needs.
func newWalk[T any](
	c *Client, q walkQuery, opts WalkOptions, fetch func(context.Context, *search) (*Page[T], error),
	id func(*T) string, times func(*T) [2]civil.Time,
) *Walk[T] {
	q.resume(&opts.Resume)
	q.hash = q.hashIn(c.cfg.Location)
	config := walk.Config[T]{
		Source: walk.Source[T]{
			Fetch: func(ctx context.Context, from, to civil.Time, page, size int) (*walk.Page[T], error) {
				p, err := fetch(ctx, writeSearch(q.ids, from, to, page, size))
				if p == nil {
					return nil, err
				}
				return &walk.Page[T]{Rows: p.Data, Total: p.TotalCount, Size: p.PageSize}, err
			},
			ID: id, Times: times, IsRefused: isRefused, IsTransient: isTransient,
		},
		Start: q.start, End: q.end, Location: c.cfg.Location,
		PageSize: cmp.Or(opts.PageSize, q.size), LargestPageSize: maxPageSize,
		Prefetch: cmp.Or(opts.Prefetch, defaultPrefetch), Window: opts.Window, SplitAbove: opts.SplitAbove,
		Lag: cmp.Or(opts.Lag, defaultLag),
	}
	if c.cfg.Retry.MaxAttempts > 1 {
		config.Outage = walkOutage
	}
	if !opts.Resume.IsZero() {
		config.Resume = &opts.Resume.saved.At
	}
	if opts.Progress != nil {
		config.Progress = func(p walk.Progress) { opts.Progress(Progress(p)) }
	}
	return &Walk[T]{client: c, query: q, opts: opts, engine: walk.New(config)}
}

// resume takes the range of a checkpoint where the query has none.
func (q *walkQuery) resume(c *Checkpoint) {
	if q.start.IsZero() && q.end.IsZero() {
		q.start, q.end = c.saved.Start, c.saved.End
	}
}

// hashIn identifies what is asked for, on a gateway's clock.
func (q *walkQuery) hashIn(loc *time.Location) string {
	ids := make([]string, len(q.ids))
	for i, f := range q.ids {
		ids[i] = f.id
	}
	return walk.HashQuery(q.search, q.start, q.end, loc, ids)
}

// isOther reports whether a checkpoint is that of another query.
func (q *walkQuery) isOther(c *Checkpoint) bool { return !c.IsZero() && c.saved.Query != q.hash }

// Checkpoint returns where the walk stands: at the end of the last window of which the caller has taken every row and
// asked for more. Save it at any time; see WalkOptions.Resume.
func (w *Walk[T]) Checkpoint() Checkpoint {
	if w.engine == nil {
		return Checkpoint{}
	}
	if w.query.isOther(&w.opts.Resume) { // the walk refuses to resume
		return w.opts.Resume
	}
	at, begun := w.engine.Checkpoint()
	if !begun {
		return Checkpoint{}
	}
	return Checkpoint{walk.Saved{Query: w.query.hash, At: at, Start: w.query.start, End: w.query.end}}
}

// Report returns what the walk has done so far.
func (w *Walk[T]) Report() WalkReport {
	if w.engine == nil {
		return WalkReport{}
	}
	return WalkReport(w.engine.Report())
}

var errNotMade = errors.New("cardgateway: a Walk is made by OrderWalk or RefundWalk")

// All gives the rows; see Client.Orders for what it promises and its errors. It is called once: a second loop gets
// ErrWalked.
func (w *Walk[T]) All(ctx context.Context) iter.Seq2[*T, error] {
	return func(yield func(*T, error) bool) {
		if err := w.begin(ctx); err != nil {
			yield(nil, err)
			return
		}
		ctx, end := w.client.begin(ctx, Operation{Name: w.query.op, TransactionID: w.query.id})
		err := walk.ErrStopped // also if the loop's body panics
		defer func() {
			if err == walk.ErrStopped {
				end(CallInfo{Outcome: OutcomeCanceled})
			}
		}()
		if err = w.engine.Run(within(ctx), func(row *T) bool { return yield(row, nil) }); err == walk.ErrStopped {
			return
		}
		err = w.failure(err)
		end(CallInfo{Outcome: outcomeName(nil, err), Err: err})
		if err != nil {
			yield(nil, err)
		}
	}
}

// failure says in the words of this package why a walk has ended, or nil.
func (w *Walk[T]) failure(err error) error {
	zone := w.client.cfg.Location.String()
	switch e := err.(type) {
	case *walk.UnsettledError:
		return &UnsettledError{
			Start: wallTime(e.From), End: wallTime(e.To), Zone: zone, Announced: e.Announced, Seen: e.Seen, Rounds: e.Rounds,
		}
	case *walk.WindowError:
		return fmt.Errorf("cardgateway: window from %v to %v%s: %w", e.From, e.To, inZone(zone), e.Err)
	}
	return err
}

// begin says why a walk cannot begin, or nil.
func (w *Walk[T]) begin(ctx context.Context) error {
	switch {
	case w.engine == nil:
		return errNotMade
	case w.begun.Swap(true):
		return ErrWalked
	}
	return w.query.check(ctx, &w.opts)
}

// check reports every problem of the query and the options. The queries for the pages need no check of their own.
func (q *walkQuery) check(ctx context.Context, o *WalkOptions) error {
	var v violations
	v.Context(ctx)
	if v.order(q.start, q.end) {
		v.Year("startDate", q.start) // the end is now at the latest
	}
	v.AddIf(q.page != 0, "currPage", RuleReserved, "is set by the walk")
	v.page(0, q.size)
	v.ids(q.ids)
	v.AddIf(o.PageSize < 0 || o.PageSize > maxPageSize, "PageSize", RuleRange, "must be 0 to %d", maxPageSize)
	v.AddIf(o.Prefetch < 0 || o.Prefetch > maxPrefetch, "Prefetch", RuleRange, "must be 0 to %d", maxPrefetch)
	v.AddIf(o.Window != 0 && o.Window < shortestWindow, "Window", RuleRange, "must be at least %v", shortestWindow)
	v.AddIf(o.SplitAbove < 0, "SplitAbove", RuleRange, "must not be negative")
	v.AddIf(o.Lag < 0, "Lag", RuleRange, "must not be negative")
	v.AddIf(q.isOther(&o.Resume), "Resume", RuleFormat, "is the checkpoint of another query")
	return v.err(q.op)
}

// isTransient reports whether a query failed for a reason that says nothing about what was asked, and how long the gateway
// wants to be left alone.
func isTransient(err error) (pause time.Duration, ok bool) {
	e, ok := errors.AsType[*QueryError](err)
	if !ok {
		return 0, false
	}
	ok = !isRefused(err) && !errors.Is(err, context.Canceled) || e.HTTPStatus == http.StatusTooManyRequests
	return e.RetryAfter, ok
}

// isRefused reports whether the gateway answered a query with a code that says no. What is refused may be the range,
// the size of the page, or the merchant.
func isRefused(err error) bool {
	e, ok := errors.AsType[*QueryError](err)
	if !ok || e.HTTPStatus == http.StatusTooManyRequests {
		return false
	}
	switch e.Code {
	case 0, CodeSearchSuccess, CodeSystemError: // unreadable, or a failure that is not about the question
		return e.HTTPStatus == http.StatusBadRequest || e.HTTPStatus == http.StatusUnprocessableEntity
	}
	return true
}

// Checkpoint is where a walk stands: how far it has given rows, what it must still count again, and a hash of the
// query. It becomes JSON and comes back with encoding/json; what is inside may change between versions of this
// package, which read older ones. It holds no row and no id, only hashes of ids. The zero value is the beginning.
//
// Set as WalkOptions.Resume, it continues the walk of the same query. It carries the range: leave Start and End of the
// query zero, or set both to what they were. An End that was in the future then means the same instant, which may have
// passed since. No row is missed; some can be given again, those of the window that was being given above all, and with
// another Window those of its whole month: store rows under their id.
type Checkpoint struct{ saved walk.Saved }

// IsZero reports whether the checkpoint is the beginning of a walk.
func (c Checkpoint) IsZero() bool { return c.saved.IsZero() }

// CompleteUpTo is WalkReport.CompleteUpTo at the time of the checkpoint.
func (c Checkpoint) CompleteUpTo() time.Time { return c.saved.At.CompleteUpTo }

// MarshalJSON returns null for the zero Checkpoint.
func (c Checkpoint) MarshalJSON() ([]byte, error) { return c.saved.MarshalJSON() }

// UnmarshalJSON reads what MarshalJSON wrote. The error does not quote its input.
func (c *Checkpoint) UnmarshalJSON(data []byte) error {
	if err := c.saved.UnmarshalJSON(data); err != nil {
		return fmt.Errorf("cardgateway: %w", err)
	}
	return nil
}
