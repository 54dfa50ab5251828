package cardgateway

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync/atomic"
	"time"
)

// Orders gives every order in [q.Start, q.End) once, over any range, oldest window first ("Batch order query"). Start
// and End are required; an End in the future means now. CurrPage must be zero; PageSize, if set, is how many rows are
// asked for at once. The gateway counts in whole seconds: of the seconds in which Start and End lie, all orders are given,
// so ranges that are to adjoin should begin and end with one (time.Time.Truncate). Where the query has an id, the gateway
// chooses the rows, and some have been seen to give others too.
//
// The loop ends with at most one error: a *ValidationError, a *QueryError, an *UnsettledError, or that of ctx. Without
// one, everything was given. Orders of the last 15 minutes may still lack some that the gateway does not show yet;
// OrderWalk says up to when the result is complete, and can be resumed. In the hour that a clock change repeats, rows
// cannot be told apart, so that the bounds of a range there let in too many rather than too few.
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
	Reread        int       // times that a window was read again: answers were cut, or rows came in behind the reader
	CompleteUpTo  time.Time // every row from the start of the range up to here was given; moves by whole months
}

// UnsettledError says that a window did not come to rest: its total and its distinct rows kept differing. What was
// found has been yielded. Walk again from the checkpoint, later or with smaller windows.
type UnsettledError struct {
	Start, End WallTime // as asked for
	Announced  int      // rows, in the last answer
	Seen       int      // distinct rows
	Rounds     int      // times that the window was read
}

func (e *UnsettledError) Error() string {
	return fmt.Sprintf("cardgateway: window from %v to %v did not settle: %d rows announced, %d seen in %d rounds",
		e.Start, e.End, e.Announced, e.Seen, e.Rounds)
}

// Is reports whether target is ErrUnsettled.
func (e *UnsettledError) Is(target error) bool { return target == ErrUnsettled }

// Walk is one pass over the rows of a query, made by Client.OrderWalk or Client.RefundWalk. Checkpoint and Report may
// be called at any time and from any goroutine.
type Walk[T any] struct {
	op         string
	source     source[T]
	start, end time.Time
	query      string // hash of what decides which rows it gives
	page, size int    // of the query
	loc        *time.Location
	patience   time.Duration
	opts       WalkOptions

	begun atomic.Bool
	state walkState
}

// OrderWalk prepares a walk over orders, as Orders makes one, that can be tuned, watched and resumed. It sends nothing
// before All.
func (c *Client) OrderWalk(q OrderQuery, opts WalkOptions) *Walk[Transaction] {
	return newWalk(c, &Walk[Transaction]{
		op: "OrderWalk", start: q.Start, end: q.End, page: q.CurrPage, size: q.PageSize, opts: opts,
		query: hashQuery(opSearchOrders.Name, q.Start, q.End, c.cfg.Location, q.UniqueID, q.OrderID, q.TransactionID),
		source: source[Transaction]{
			fetch: func(ctx context.Context, from, to WallTime, page, size int) (*Page[Transaction], error) {
				q := q
				q.Start, q.End, q.CurrPage, q.PageSize = from.asUTC(), to.asUTC(), page, size
				return searchOrders(ctx, c, q, time.UTC)
			},
			id:    orderRowID,
			times: func(t *Transaction) [2]WallTime { return [2]WallTime{t.TransactionAt} },
		},
	})
}

// orderRowID tells rows of orders apart.
func orderRowID(t *Transaction) string {
	if t.UniqueID == "" { // the interface does not promise it
		return "transactionId " + t.TransactionID + " " + t.TransactionAt.String()
	}
	return t.UniqueID
}

// RefundWalk prepares a walk over refunds, as Refunds makes one, that can be tuned, watched and resumed. It sends
// nothing before All.
func (c *Client) RefundWalk(q RefundQuery, opts WalkOptions) *Walk[Refund] {
	return newWalk(c, &Walk[Refund]{
		op: "RefundWalk", start: q.Start, end: q.End, page: q.CurrPage, size: q.PageSize, opts: opts,
		query: hashQuery(opSearchRefunds.Name, q.Start, q.End, c.cfg.Location,
			q.UniqueID, q.TransactionID, q.RefundTransactionID, q.RefundUniqueID),
		source: source[Refund]{
			fetch: func(ctx context.Context, from, to WallTime, page, size int) (*Page[Refund], error) {
				q := q
				q.Start, q.End, q.CurrPage, q.PageSize = from.asUTC(), to.asUTC(), page, size
				return searchRefunds(ctx, c, q, time.UTC)
			},
			id: func(f *Refund) string {
				if f.RefundUniqueID == "" {
					return "merchantRefundId " + f.MerchantRefundID + " " + f.UniqueID + " " + f.RefundRequestAt.String()
				}
				return f.RefundUniqueID
			},
			times: func(f *Refund) [2]WallTime { return [2]WallTime{f.RefundRequestAt, f.RefundAt} },
		},
	})
}

func newWalk[T any](c *Client, w *Walk[T]) *Walk[T] {
	w.loc = c.cfg.Location
	if c.cfg.Retry.MaxAttempts > 1 {
		w.patience = outage
	}
	w.state.checkpoint = w.opts.Resume
	return w
}

// Checkpoint returns where the walk stands: at the end of the last window of which the caller has taken every row and
// asked for more. Save it at any time; see WalkOptions.Resume.
func (w *Walk[T]) Checkpoint() Checkpoint {
	w.state.mu.Lock()
	defer w.state.mu.Unlock()
	return w.state.checkpoint
}

// Report returns what the walk has done so far.
func (w *Walk[T]) Report() WalkReport {
	w.state.mu.Lock()
	defer w.state.mu.Unlock()
	report := w.state.report
	report.Requests = int(w.state.requests.Load())
	return report
}

var errWalked = errors.New("cardgateway: a Walk is walked once; make another one")

// All gives the rows; see Client.Orders for what it promises and its errors. It is called once: a second loop gets an
// error.
func (w *Walk[T]) All(ctx context.Context) iter.Seq2[*T, error] {
	return func(yield func(*T, error) bool) {
		if w.begun.Swap(true) {
			yield(nil, errWalked)
			return
		}
		if err := w.check(); err != nil {
			yield(nil, err)
			return
		}
		ctx, cancel := context.WithCancel(ctx)
		walker := w.walker(time.Now(), yield)
		defer walker.ahead.stop()
		defer cancel()
		if err := walker.run(ctx); err != nil && err != errStopped {
			yield(nil, err)
		}
	}
}

// check reports every problem of the query and the options.
func (w *Walk[T]) check() error {
	var v violations
	if v.order(w.start, w.end) {
		v.year("startDate", w.start) // the end is now at the latest
	}
	if w.page != 0 {
		v.add("currPage", RuleReserved, "is set by the walk")
	}
	v.page(0, w.size)
	o := &w.opts
	if o.PageSize < 0 || o.PageSize > maxPageSize {
		v.add("PageSize", RuleRange, "must be 0 to %d", maxPageSize)
	}
	if o.Prefetch < 0 || o.Prefetch > maxPrefetch {
		v.add("Prefetch", RuleRange, "must be 0 to %d", maxPrefetch)
	}
	if o.Window != 0 && o.Window < shortestWindow {
		v.add("Window", RuleRange, "must be at least %v", shortestWindow)
	}
	if o.SplitAbove < 0 {
		v.add("SplitAbove", RuleRange, "must not be negative")
	}
	if o.Lag < 0 {
		v.add("Lag", RuleRange, "must not be negative")
	}
	if !o.Resume.IsZero() && o.Resume.query != w.query {
		v.add("Resume", RuleFormat, "is the checkpoint of another query")
	}
	return v.err(w.op)
}

// walker puts the parts together, for a walk that begins now.
func (w *Walk[T]) walker(now time.Time, yield func(*T, error) bool) *walker[T] {
	o := w.opts.withDefaults(w.size)
	end := w.end
	if end.After(now) {
		end = later(w.start, now)
	}
	cal := calendar{loc: w.loc, widest: int64(o.Window / time.Second)}
	whole := cal.cover(w.start, end)
	settled := whole.to
	if mark := now.Add(-o.Lag); mark.Before(end) {
		settled = cal.cover(later(w.start, mark), end).from
	}
	walker := &walker[T]{
		ahead:  newAhead(w.patientSource(), cal, whole, settled, o),
		ledger: newLedger(), state: &w.state, yield: yield,
		start: w.start, end: end,
		from: wallSecond(whole.from), to: wallSecond(whole.to - 1),
	}
	walker.changed = func(upTo int64) {
		if o.Progress != nil {
			r := w.Report()
			o.Progress(Progress{
				Windows: r.Windows, Requests: r.Requests, Rows: r.RowsSeen, CompleteUpTo: r.CompleteUpTo,
				Fraction: float64(upTo-whole.from) / float64(whole.seconds()),
			})
		}
	}
	if o.Resume.IsZero() {
		o.Resume = Checkpoint{query: w.query, month: whole.from, next: whole.from, completeUpTo: w.start}
	}
	walker.resume(o.Resume)
	return walker
}

func (o WalkOptions) withDefaults(size int) WalkOptions {
	if o.PageSize == 0 {
		o.PageSize = size
	}
	if o.Prefetch == 0 {
		o.Prefetch = defaultPrefetch
	}
	if o.Lag == 0 {
		o.Lag = defaultLag
	}
	return o
}

// patientSource returns the source with every query counted, and asked again after a while if the gateway has
// answered before and is down now.
func (w *Walk[T]) patientSource() source[T] {
	s, fetch := w.source, w.source.fetch
	var answered atomic.Bool
	s.fetch = func(ctx context.Context, from, to WallTime, page, size int) (*Page[T], error) {
		var limit time.Duration
		if answered.Load() {
			limit = w.patience
		}
		p, err := patiently(ctx, limit, func() (*Page[T], error) {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			w.state.requests.Add(1)
			return fetch(ctx, from, to, page, size)
		})
		if p != nil {
			answered.Store(true)
		}
		return p, err
	}
	return s
}
