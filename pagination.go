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
	"github.com/cardgateway/cardgateway-go/internal/transport"
	"github.com/cardgateway/cardgateway-go/internal/walk"
	"github.com/cardgateway/cardgateway-go/internal/zone"
)

// Orders returns every order in [q.Start, q.End) once, for a range of any length, oldest window first ("Batch order query").
// Start and End are required; an End in the future means now. The gateway's times are whole seconds, and all orders in the
// seconds of Start and End are returned: let adjacent ranges begin and end at a whole second (time.Time.Truncate). If the
// query has an id, the gateway selects the rows, and some gateways also return rows with other ids. The rows are those of
// all apps that the credentials serve: see IsOtherApp.
//
// The loop ends with at most one error: a *ValidationError, a *QueryError, an *UnsettledError, the error of ctx, or, after all
// other rows, an *UnreadableRowsError if there are rows that cannot be read. Without an error, everything that the gateway
// returned with a time in the range, or without a time, was yielded. It may not list
// orders of the last 15 minutes yet: a job that reads the previous day at 00:05 must check WalkReport.CompleteUpTo of an
// OrderWalk, which is then 23:50. When a clock change repeats an hour, its wall-clock times are ambiguous; a bound of the
// range in that hour lets in too many rows rather than too few.
//
// The client queries time windows that each fit on one page, up to four concurrently. Breaking out of the loop stops the
// requests.
func (c *Client) Orders(ctx context.Context, q OrderQuery) iter.Seq2[*Transaction, error] {
	return func(yield func(*Transaction, error) bool) {
		w := c.OrderWalk(q, WalkOptions{})
		w.query.name = "Orders"
		w.All(ctx)(yield)
	}
}

// Refunds returns every refund in [q.Start, q.End) once, as Orders does for orders ("Batch refund query"). A refund
// is in the range if it was requested or made in it.
func (c *Client) Refunds(ctx context.Context, q RefundQuery) iter.Seq2[*Refund, error] {
	return func(yield func(*Refund, error) bool) {
		w := c.RefundWalk(q, WalkOptions{})
		w.query.name = "Refunds"
		w.All(ctx)(yield)
	}
}

// WalkOptions configures the queries of a walk, and where it begins. The zero value suits most programs.
//
// A window that announces more than PageSize rows, but at most SplitAbove, is paged until the number of distinct ids equals
// a total that no longer changes. If a single second holds more rows than a page, it is queried with a page size of 999.
type WalkOptions struct {
	PageSize   int            // rows per request, at most 999; zero means as many as the gateway returns
	Prefetch   int            // concurrent requests, at most 256; zero means 4, one means strictly sequential
	Window     time.Duration  // longest range of one query, at least a minute; zero means one calendar month
	SplitAbove int            // a window that announces more rows is split by time; zero means PageSize, more than 50,000 means 50,000
	Lag        time.Duration  // rows newer than this do not count as complete; zero means 15 min
	Resume     Checkpoint     // from an earlier walk with the same query at the same gateway, which is not checked; zero means from the beginning
	Progress   func(Progress) // called between windows, on the goroutine of the loop
}

const (
	defaultPrefetch = 4
	maxPrefetch     = 256
	minWindow       = time.Minute
	defaultLag      = 15 * time.Minute
	walkOutage      = 2 * time.Minute // how long a gateway that has responded before may be down
)

// Progress reports how far a walk has come.
type Progress struct {
	Windows      int       // read completely
	Requests     int       // queries sent, not counting what the client repeats within one
	Rows         int       // yielded
	CompleteUpTo time.Time // see WalkReport
	Fraction     float64   // of the range in time, 0 to 1
}

// WalkReport counts what a walk did.
type WalkReport struct {
	Windows       int       // windows read completely
	Requests      int       // queries sent, not counting what the client repeats within one
	RowsAnnounced int       // sum of the totals that the gateway announced for these windows, which overlap by two seconds
	RowsSeen      int       // rows yielded
	Duplicates    int       // rows that were returned again and dropped
	Reread        int       // times that a window was read again: responses were cut off, or rows were added to a part already read
	CompleteUpTo  time.Time // up to here every row that can be read was yielded, and the total was verified if there were several windows; advances with each verification

	Unreadable *UnreadableRowsError // rows so far that cannot be read, of this walk and of those that it has resumed; nil if there are none
	WrongZone  *WrongZone           // set if Config.Location is known to be wrong: CompleteUpTo is then the start of the range; otherwise nil
}

// UnsettledError says that a window, or a block of windows whose total is checked again, could not be completed: the total that
// the gateway announces and the number of distinct rows kept differing. The rows that were found have been yielded. Resume from
// the checkpoint, later or with smaller windows.
type UnsettledError struct {
	Start, End WallTime // as requested
	Zone       string   // of Start and End
	Announced  int      // rows, in the last response
	Seen       int      // distinct rows
	Rounds     int      // times that the window was read, or the block counted
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

// walkQuery is the query of a walk.
type walkQuery struct {
	op         Operation
	name       string    // of the method that the caller has used, for errors
	search     Operation // returns a page
	start, end time.Time
	ids        []idFilter
	hash       string // of what decides which rows there are
}

// OrderWalk prepares a walk over orders, as Orders does, with options, progress reports and checkpoints. It sends nothing
// before All.
func (c *Client) OrderWalk(q OrderQuery, opts WalkOptions) *Walk[Transaction] {
	query := walkQuery{
		op:     Operation{Name: "OrderWalk", TransactionID: q.TransactionID, UniqueID: q.UniqueID},
		search: opSearchOrders, start: q.Start, end: q.End, ids: q.ids(),
	}
	return newWalk(c, query, opts, timedTransactionRow)
}

// RefundWalk prepares a walk over refunds, as Refunds does, with options, progress reports and checkpoints. It sends
// nothing before All.
func (c *Client) RefundWalk(q RefundQuery, opts WalkOptions) *Walk[Refund] {
	query := walkQuery{
		op:     Operation{Name: "RefundWalk", TransactionID: q.TransactionID, RefundTransactionID: q.RefundTransactionID, UniqueID: q.UniqueID},
		search: opSearchRefunds, start: q.Start, end: q.End, ids: q.ids(),
	}
	return newWalk(c, query, opts, timedRefundRow)
}

// newWalk creates a walk over rows that are read with row.
func newWalk[T any, P listRow[T]](c *Client, q walkQuery, opts WalkOptions, row func(decoder, *T) *badMember) *Walk[T] {
	q.name = q.op.Name
	q.resume(&opts.Resume)
	q.hash = q.hashIn(c.cfg.Location)
	opts.Lag = cmp.Or(opts.Lag, defaultLag)
	var looked atomic.Bool // once, for rows that are later than now
	config := walk.Config[T]{
		Source: walk.Source[T]{
			Fetch: func(ctx context.Context, from, to civil.Time, page, size int) (*walk.Page[T], error) {
				p, err := runSearch[T, P](ctx, c, q.search, writeSearch(q.ids, from, to, PageRequest{CurrPage: page, PageSize: size}), row)
				if p.Page == nil {
					return nil, err
				}
				if q.end.After(time.Now().Add(-opts.Lag)) && !looked.Swap(true) {
					if later := c.rowsLaterThanNow(); later != nil {
						_, _ = runSearch[T, P](ctx, c, q.search, later, row)
					}
				}
				if p.clock.surely <= max(opts.Lag, zone.Tolerance) {
					p.clock.surely = 0
				}
				return &walk.Page[T]{
					Rows: p.Data, Total: p.TotalCount, Size: p.PageSize, Unreadable: unreadableRows[T, P](from, to, p.odd),
					ClockAhead: p.clock.surely,
				}, nil
			},
			ID:    func(row *T) string { return P(row).rowID() },
			Times: func(row *T) [2]civil.Time { return P(row).times() },
			Name:  func(row *T, e *walk.RowError) { P(row).nameRow(e) },
			Fault: c.fault,
		},
		Start: q.start, End: q.end, Location: c.cfg.Location,
		PageSize: opts.PageSize, MaxPageSize: maxPageSize,
		Prefetch: cmp.Or(opts.Prefetch, defaultPrefetch), Window: opts.Window, SplitAbove: opts.SplitAbove,
		Lag: opts.Lag,
	}
	if c.cfg.Retry.MaxAttempts > 1 {
		config.Outage = walkOutage
	}
	if !opts.Resume.IsZero() {
		config.Resume = &opts.Resume.saved.At
	}
	if opts.Progress != nil {
		config.Progress = func(p walk.Progress) {
			p.CompleteUpTo = c.completeUpTo(p.CompleteUpTo, q.start)
			opts.Progress(Progress(p))
		}
	}
	return &Walk[T]{client: c, query: q, opts: opts, engine: walk.New(config)}
}

// unreadableRows returns the unreadable rows of a page of the query from from to to.
func unreadableRows[T any, P listRow[T]](from, to civil.Time, odd []oddRow[T]) (rows []walk.Unreadable) {
	for i := range odd {
		bad := &odd[i]
		bad.name.From, bad.name.To = from, to
		rows = append(rows, walk.Unreadable{Key: bad.key, Times: P(&bad.row).times(), Name: bad.name})
	}
	return rows
}

// unreadable converts the unreadable rows that the engine reports.
func (q *walkQuery) unreadable(u *walk.UnreadableRows) *UnreadableRowsError {
	if u.Count == 0 {
		return nil
	}
	rows := make([]RowError, len(u.First))
	for i := range u.First {
		rows[i] = *rowError(&u.First[i])
	}
	return &UnreadableRowsError{Op: q.name, Count: u.Count, Rows: rows}
}

// rowError names a row that cannot be read. Only the rows of a walk have a range, which is never empty.
func rowError(e *walk.RowError) *RowError {
	named := &RowError{
		Page: e.Page, Row: e.Row, Member: e.Member, Reason: e.Reason, UniqueID: e.UniqueID, TransactionID: e.TransactionID,
		RefundUniqueID: e.RefundUniqueID, RefundTransactionID: e.RefundTransactionID,
	}
	if e.From < e.To {
		named.Start, named.End = wallTime(e.From), wallTime(e.To)
	}
	return named
}

// resume takes the range from the checkpoint if the query has none.
func (q *walkQuery) resume(c *Checkpoint) {
	if q.start.IsZero() && q.end.IsZero() {
		q.start, q.end = c.saved.Start, c.saved.End
	}
}

// hashIn identifies the query, on the gateway's clock.
func (q *walkQuery) hashIn(loc *time.Location) string {
	ids := make([]string, len(q.ids))
	for i, f := range q.ids {
		ids[i] = f.id
	}
	return walk.HashQuery(q.search.Name, q.start, q.end, loc, ids)
}

// isOther reports whether a checkpoint belongs to another query.
func (q *walkQuery) isOther(c *Checkpoint) bool { return !c.IsZero() && c.saved.Query != q.hash }

// Checkpoint returns the position of the walk: the end of the last window of which the loop has received every row and
// gone on to the next. Save it at any time; see WalkOptions.Resume.
func (w *Walk[T]) Checkpoint() Checkpoint {
	if w.engine == nil {
		return Checkpoint{}
	}
	if w.query.isOther(&w.opts.Resume) { // the walk cannot resume
		return w.opts.Resume
	}
	at, begun := w.engine.Checkpoint()
	if !begun {
		return Checkpoint{}
	}
	at.CompleteUpTo = w.client.completeUpTo(at.CompleteUpTo, w.query.start)
	return Checkpoint{walk.Saved{Query: w.query.hash, At: at, Start: w.query.start, End: w.query.end}}
}

// Report returns what the walk has done so far.
func (w *Walk[T]) Report() WalkReport {
	if w.engine == nil {
		return WalkReport{}
	}
	r := w.engine.Report()
	return WalkReport{
		Windows: r.Windows, Requests: r.Requests, RowsAnnounced: r.RowsAnnounced, RowsSeen: r.RowsSeen, Duplicates: r.Duplicates,
		Reread: r.Reread, CompleteUpTo: w.client.completeUpTo(r.CompleteUpTo, w.query.start), Unreadable: w.query.unreadable(&r.Unreadable),
		WrongZone: w.client.zone.wrong(),
	}
}

// completeUpTo returns up to when a walk from start is complete: with a wrong zone it is not.
func (c *Client) completeUpTo(upTo, start time.Time) time.Time {
	if c.zone.wrong() != nil && upTo.After(start) {
		return start
	}
	return upTo
}

var errNotMade = errors.New("cardgateway: a Walk is made by OrderWalk or RefundWalk")

// All returns the rows; see Client.Orders for its guarantees and errors. It can be used once: a second loop returns
// ErrWalked.
func (w *Walk[T]) All(ctx context.Context) iter.Seq2[*T, error] {
	return func(yield func(*T, error) bool) {
		if err := w.claim(ctx); err != nil {
			yield(nil, err)
			return
		}
		observed := w.client.newObservation(ctx, &w.query.op)
		err := walk.ErrStopped // also if the loop's body or a hook panics
		defer func() {
			if err == walk.ErrStopped {
				observed.end(CallInfo{Outcome: OutcomeCanceled})
			}
		}()
		ctx = observed.begin()
		if err = w.engine.Run(within(ctx), func(row *T) bool { return yield(row, nil) }); err == walk.ErrStopped {
			return
		}
		if err = w.failure(err); err == nil {
			if unreadable := w.Report().Unreadable; unreadable != nil {
				err = unreadable
			}
		}
		observed.end(CallInfo{Outcome: outcomeName(nil, err), Err: err})
		if err != nil {
			yield(nil, err)
		}
	}
}

// Batch is a part of a walk: some rows, and the position after them.
type Batch[T any] struct {
	Rows       []*T
	Checkpoint Checkpoint // a walk that resumes here misses none of the rows after these
	Last       bool       // the walk has ended without an error
}

// Batches returns the rows of All in batches of size, which must be at least 1. Store the rows and the checkpoint of a batch in one
// transaction: a program that was stopped anywhere then continues after the last batch that it has stored.
//
// The last batch can have fewer rows or none. So can a batch before an error, which has the rows that were read before it. The
// errors are those of All; like All, Batches can be used once.
func (w *Walk[T]) Batches(ctx context.Context, size int) iter.Seq2[Batch[T], error] {
	return func(yield func(Batch[T], error) bool) {
		var v violations
		v.AddIf(size < 1, "size", RuleRange, "must be at least 1")
		if err := v.err(w.query.name); err != nil {
			yield(Batch[T]{}, err)
			return
		}
		var rows []*T
		for row, err := range w.All(ctx) {
			if err != nil {
				if len(rows) == 0 || yield(Batch[T]{Rows: rows, Checkpoint: w.Checkpoint()}, nil) {
					yield(Batch[T]{}, err)
				}
				return
			}
			if rows = append(rows, row); len(rows) == size {
				if !yield(Batch[T]{Rows: rows, Checkpoint: w.Checkpoint()}, nil) {
					return
				}
				rows = nil
			}
		}
		yield(Batch[T]{Rows: rows, Checkpoint: w.Checkpoint(), Last: true}, nil)
	}
}

// failure converts the error that ended a walk into one of this package, or nil.
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

// claim marks the walk as used, and returns why it cannot begin, or nil. After a *ValidationError it is used up too.
func (w *Walk[T]) claim(ctx context.Context) error {
	switch {
	case w.engine == nil:
		return errNotMade
	case w.begun.Swap(true):
		return ErrWalked
	}
	return w.query.check(ctx, &w.opts, w.client.cfg.Location)
}

// lastEnd is the latest end of a walk: JSON has years of four digits, in any zone.
var lastEnd = time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC)

// check reports every problem of the query and the options. The queries for the pages are not validated again.
func (q *walkQuery) check(ctx context.Context, o *WalkOptions, loc *time.Location) error {
	var v violations
	v.Context(ctx)
	if v.order(q.start, q.end) {
		v.Year("startDate", q.start)
		v.AddIf(q.end.After(lastEnd), "endingDate", RuleRange, "must be 9999-12-31 UTC at the latest") // a Checkpoint has it
	}
	v.ids(q.ids)
	v.AddIf(o.PageSize < 0 || o.PageSize > maxPageSize, "PageSize", RuleRange, "must be 0 to %d", maxPageSize)
	v.AddIf(o.Prefetch < 0 || o.Prefetch > maxPrefetch, "Prefetch", RuleRange, "must be 0 to %d", maxPrefetch)
	v.AddIf(o.Window != 0 && o.Window < minWindow, "Window", RuleRange, "must be at least %v", minWindow)
	v.AddIf(o.SplitAbove < 0, "SplitAbove", RuleRange, "must not be negative")
	v.AddIf(o.Lag < 0, "Lag", RuleRange, "must not be negative")
	v.AddIf(q.isOther(&o.Resume), "Resume", RuleFormat, "is the checkpoint of another query")
	v.AddIf(!o.Resume.IsZero() && !o.Resume.saved.IsWithin(loc), "Resume", RuleFormat, "is a checkpoint outside of its range")
	return v.err(q.name)
}

// fault tells a walk which failures of queries are about the query itself.
func (c *Client) fault(err error) walk.Fault {
	e, ok := errors.AsType[*QueryError](err)
	if !ok {
		return walk.Fault{}
	}
	_, permanent := errors.AsType[*pageError](err)
	hasCode := e.Code != 0 && e.Code != CodeSearchSuccess && e.Code != CodeSystemError // which says nothing of the query
	switch {
	case e.HTTPStatus == http.StatusTooManyRequests:
	case errors.Is(err, transport.ErrTooLarge):
		return walk.Fault{Kind: walk.TooLarge}
	case hasCode || e.HTTPStatus == http.StatusBadRequest || e.HTTPStatus == http.StatusUnprocessableEntity:
		return walk.Fault{Kind: walk.Refused}
	case permanent || errors.Is(err, context.Canceled):
		return walk.Fault{}
	}
	return walk.Fault{Kind: walk.Transient, Pause: min(e.RetryAfter, c.cfg.Retry.MaxWait)}
}
