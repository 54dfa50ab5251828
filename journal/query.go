package journal

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/internal/recurring"
	"github.com/cardgateway/cardgateway-go/internal/resolve"
)

// queryPause returns the shortest time between two queries of the gateway for an entry, and whether there is anything to query.
func (j *Journal) queryPause(e *Entry) (time.Duration, bool) {
	known := e.project()
	if !known.queryable() || !e.Unacked() || j.calls.inFlight(e.ID()) {
		return 0, false
	}
	age := j.age(known)
	pause := age / 8
	ends := j.opts.AbsentAfter
	if known.state == Pending {
		ends = j.client.HostedPageLifetime()
	}
	if old := age - ends; old >= 0 && (known.state == Unknown || known.state == Pending) {
		pause = min(pause, old) // the first query that can presume it absent, or abandoned, is not put off
	}
	return pause, true
}

// isDue reports whether it is time to query the gateway for an entry; it always is for a planned query.
func (j *Journal) isDue(e *Entry, planned bool) bool {
	pause, ok := j.queryPause(e)
	r, now := j.memory.get(e.ID()), j.clock.now()
	return ok && (planned || now.UnixNano()-r.asked >= int64(pause) && !r.record.isPausing(now))
}

// shouldAsk reports whether a query is due. If so, it remembers that it is made now.
func (j *Journal) shouldAsk(e *Entry, planned bool) bool {
	due := j.isDue(e, planned)
	if due {
		j.memory.update(e.ID(), func(r *remembered) { r.asked = j.clock.now().UnixNano() })
	}
	return due
}

// query queries the gateway for a payment or a refund, and returns the entry with what the gateway returned. The error queryErr
// says why it did not tell the outcome. If limit is not zero, a query takes no longer.
func (j *Journal) query(ctx context.Context, e Entry, limit time.Duration) (_ Entry, queryErr, err error) {
	id, known := e.ID(), e.project()
	defer func() {
		switch {
		case err == nil:
			j.memory.update(id, func(r *remembered) { r.record = trouble{} })
		case ctx.Err() == nil && !errors.Is(err, ErrNoEntry):
			j.recordFailed(ctx, id, err)
			queryErr = fmt.Errorf("journal: what the gateway has shown could not be recorded: %w", err)
			j.memory.setQueryErr(id, queryErr)
			fallthrough
		default: // interrupted, or not recorded: the next query is due at once, or after the pause
			j.memory.update(id, func(r *remembered) { r.asked = 0 })
		}
	}()
	if j.isKnownUnsent(known) {
		e, err = j.recordUnsent(ctx, e, known)
		return e, nil, err
	}
	queries, absent := known.queries(), 0
	for _, at := range queries {
		if j.isOld(known) { // it is not absent only because this machine's clock was ahead when it was sent
			at = at.Add(-searchedAhead)
		}
		got, beside, failed := j.resolve(ctx, known, at, limit)
		if ctx.Err() != nil {
			return e, ctx.Err(), ctx.Err()
		}
		sole := queryErr == nil // after a query that failed, there may be other rows
		if sole {
			queryErr = queryErrOf(failed)
		}
		j.memory.setQueryErr(id, queryErr)
		if errors.Is(failed, cardgateway.ErrNotFound) {
			if absent++; absent < len(queries) {
				continue // no other query may find it either
			}
		}
		for _, row := range beside {
			if e, err = j.recordChanges(ctx, e, func(known *projection) []Evidence { return j.evidenceOfRow(row, known, false) }); err != nil {
				return e, queryErr, err
			}
		}
		e, err = j.recordChanges(ctx, e, func(known *projection) []Evidence { return j.evidenceOfResolve(got, failed, known, sole) })
		if err != nil {
			return e, queryErr, err
		}
	}
	return e, queryErr, nil
}

// searchedAhead is how far ahead this machine's clock may have been when a payment was sent, if no answer says so: see the package comment.
const searchedAhead = 2 * 24 * time.Hour

// resolve queries the gateway for a payment or a refund that was sent at a time. Of several declines that are not contradictory, it
// returns the latest: evidenceOfRow decides whether that is final. Beside are the rows of cards that were in processing before.
func (j *Journal) resolve(ctx context.Context, known *projection, at time.Time, limit time.Duration) (got gatewayResult, beside []gatewayResult, err error) {
	if limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, limit)
		defer cancel()
	}
	got, err = j.resolveOnce(ctx, known, at)
	unknown, ok := asUnknown(err)
	if ok && (errors.Is(err, resolve.ErrMayTryAgain) || !known.once && errors.Is(err, resolve.ErrSeveralDeclined)) {
		got, err = unknown.got, nil // the gateway has answered: these are attempts on the hosted page, or the declines of several submissions
	}
	if known.intent.OnHostedPage() && !got.isNothing() && got.state() != Succeeded {
		beside = j.rowsBeside(ctx, known, got)
	}
	return got, beside, err
}

// rowsBeside queries each row that was in processing, and is not the one that a search has returned: its card may have been declined since.
func (j *Journal) rowsBeside(ctx context.Context, known *projection, got gatewayResult) (rows []gatewayResult) {
	for _, before := range known.processing {
		if id := before.facts().id; id != "" && id != got.facts().id {
			if row, err := ofPayment(j.client.GetTransaction(ctx, id)); err == nil && new(row.intent()).same(&known.intent) {
				rows = append(rows, row)
			}
		}
	}
	return rows
}

func (j *Journal) resolveOnce(ctx context.Context, known *projection, at time.Time) (gatewayResult, error) {
	in := &known.intent
	if in.ID.Refund {
		r, err := j.client.ResolveRefund(ctx, cardgateway.ResolveRefundQuery{
			RefundTransactionID: in.ID.Text, UniqueID: in.UniqueID, Amount: in.Amount, SentAt: at, Wait: j.opts.Wait,
		})
		return gatewayResult{refund: r}, err
	}
	cycle := in.SubscriptionCycle
	if !known.once { // two charges a cycle apart can be those of two submissions: all are wanted, see projection.isLater
		cycle = ""
	}
	return ofPayment(j.client.Resolve(ctx, cardgateway.ResolveQuery{
		TransactionID: in.ID.Text, OrderID: in.OrderID, Amount: in.Amount, Currency: in.Currency, SentAt: at, Wait: j.opts.Wait,
		// SentAgain is not set: Resolve then returns declines, and evidenceOfRow decides whether they are final.
		HostedPage: in.OnHostedPage(), SubscriptionCycle: cycle,
	}))
}

// queryFirst queries the gateway for a payment that it refused or did not know, and returns the entry with what it returned. An error
// means that the payment must not be submitted with this intent: the gateway may have it after all. With evenUnclear, which a caller can
// accept of a refusal, only an outcome keeps it from being submitted.
func (j *Journal) queryFirst(ctx context.Context, e Entry, in *Intent, evenUnclear bool) (Entry, error) {
	e, queryErr, err := j.query(ctx, e, 0)
	switch known := e.project(); {
	case err != nil:
		return e, in.notSent(err)
	case evenUnclear:
	case queryErr != nil:
		return e, in.notSent(fmt.Errorf("journal: the gateway could not be queried for what it refused, or did not know: %w", queryErr))
	case known.state == Refused && known.seen: // now or before
		return e, in.notSent(errors.New("journal: the gateway has shown what it refused, in a form that does not tell the outcome"))
	}
	return e, nil
}

// queryErrOf returns why Resolve failed, or nil if it returned an outcome or the gateway does not have the payment.
func queryErrOf(err error) error {
	if unknown, ok := asUnknown(err); ok {
		return unknown.cause
	}
	if errors.Is(err, cardgateway.ErrInvalidRequest) { // it cannot be queried, for example because its time is in the future
		return errors.New(err.Error()) // as text: the payment itself is not an invalid request
	}
	return nil
}

// recordChanges records what the gateway returned, as far as it changes what is known. What it means depends on the entry: meaning
// returns the evidence. If something was recorded meanwhile, such as another submission, it decides again with the entry as it
// is now.
func (j *Journal) recordChanges(ctx context.Context, e Entry, meaning func(*projection) []Evidence) (_ Entry, err error) {
	for range maxChanges {
		for _, ev := range meaning(e.project()) {
			ev.At = j.clock.now()
			if e.project().changedBy(&ev, &e) {
				if err = j.recordOnce(ctx, &e, ev); err != nil {
					break
				}
			}
		}
		if !errors.Is(err, ErrChanged) {
			return e, err
		}
		now, failed := j.getChanged(ctx, e.Key())
		if failed != nil {
			return e, failed
		}
		e, err = now, nil
	}
	return e, ErrChanged
}

// evidenceOfResolve converts what Resolve returned to evidence. For sole see evidenceOfRow.
func (j *Journal) evidenceOfResolve(got gatewayResult, err error, known *projection, sole bool) []Evidence {
	unknown, isUnknown := asUnknown(err)
	switch {
	case errors.Is(err, cardgateway.ErrConflict):
		return successesOf(err, known.intent.Operation)
	case errors.Is(err, cardgateway.ErrNotFound):
		switch { // nothing in the interface says that a page which nobody has finished, of a checkout or of 3D, has a row
		case known.state == Pending && len(known.processing) == 0 && !known.seen && j.isAbandoned(known):
			return []Evidence{{Source: SourceQuery, State: Abandoned}}
		case j.isOld(known):
			return []Evidence{{Source: SourceQuery, State: PresumedAbsent}}
		}
	case isUnknown && (unknown.seen || !unknown.got.isNothing()):
		return []Evidence{{Source: SourceQuery, Seen: true}}
	case !got.isNothing() && (err == nil || errors.Is(err, cardgateway.ErrDeclined) || errors.Is(err, cardgateway.ErrTestPayment)):
		return j.evidenceOfRow(got, known, sole)
	}
	return nil
}

// evidenceOfRow converts a transaction or a refund that the gateway returned to evidence. Sole means that no other row
// tells an outcome: on the hosted page each attempt is a row, and so is each repeated submission.
func (j *Journal) evidenceOfRow(got gatewayResult, known *projection, sole bool) []Evidence {
	ev := Evidence{Source: SourceQuery, State: got.state()}
	ev.setResult(got.keptOfQuery(known.intent.Operation))
	abandoned := sole && j.isAbandoned(known) && !known.isProcessingBeside(&ev) // the cardholder is no longer expected to pay
	switch {
	case ev.State == Unknown:
		return []Evidence{{Source: SourceQuery, Seen: true}}
	case ev.State == Declined && known.state == Succeeded && (known.intent.OnHostedPage() || !known.reverses(&ev)):
		return nil // another attempt than the one that succeeded
	case ev.State == Declined && known.intent.OnHostedPage() && (got.facts().code == cardgateway.CodeFailed && !abandoned || !sole):
		ev.State = Pending // one attempt: the cardholder may try another card, or has before the page was closed
	case ev.State == Declined && !sole && j.isOfAnother(&ev, known):
		return []Evidence{{Source: SourceQuery, Seen: true}}
	case ev.State == Declined && !sole && known.isProcessingBeside(&ev):
		ev.State = Pending // that row can still succeed
	case ev.State == Declined && !known.once && !known.reverses(&ev) && !(sole && j.isOld(known)):
		// It may be the gateway's rejection of a repeated submission, and the first one can still arrive, or has.
		return []Evidence{{Source: SourceQuery, Seen: true}}
	case got.facts().state == cardgateway.StateRedirect && abandoned:
		return []Evidence{ev, {Source: SourceQuery, State: Abandoned}}
	}
	return []Evidence{ev}
}

// isOfAnother reports whether a row was, by the gateway's time, made long before what was submitted, when the id was used for something else, or
// is a later charge of the subscription, which has a first one then. Only a query of all rows shows what became of the submission.
func (j *Journal) isOfAnother(ev *Evidence, known *projection) bool {
	if before := known.rows[ev.row()]; before != nil { // the same one, perhaps with the time of its end by now
		ev = before
	}
	in, at := &known.intent, ev.facts().at
	if at.IsZero() {
		return false
	}
	after, gap := at.In(j.client.Location()).Sub(known.sentAt), recurring.Gap(string(in.SubscriptionCycle))
	return after < -resolve.After || gap > 0 && after >= gap && !in.OnHostedPage()
}

// successesOf returns the successes of a conflict one by one, so that the projection is a conflict too. A decline among
// them is an earlier attempt, or the gateway's rejection of a repeated submission. Those without an id come first: a success
// whose id is known already is recorded only if it contradicts one without.
func successesOf(conflict error, operation string) (all []Evidence) {
	add := func(got gatewayResult) {
		if got.state() == Succeeded {
			ev := Evidence{Source: SourceQuery, State: Succeeded}
			ev.setResult(got.keptOfQuery(operation))
			all = append(all, ev)
		}
	}
	if c, ok := errors.AsType[*cardgateway.ConflictError](conflict); ok {
		for i := range c.Transactions {
			add(gatewayResult{transaction: &c.Transactions[i]})
		}
	}
	if c, ok := errors.AsType[*cardgateway.RefundConflictError](conflict); ok {
		for i := range c.Refunds {
			add(gatewayResult{refund: &c.Refunds[i]})
		}
	}
	slices.SortStableFunc(all, func(a, b Evidence) int { return cmp.Compare(a.facts().id, b.facts().id) })
	return all
}

// isOld reports whether a submission is at least AbsentAfter old, so that it is no longer expected to arrive. If the
// gateway does not know the payment and never has, it is presumed absent; see projection.add.
func (j *Journal) isOld(known *projection) bool { return j.age(known) >= j.opts.AbsentAfter }

// isAbandoned reports whether a submission is at least the client's HostedPageLifetime old, so that the cardholder is no
// longer expected to pay.
func (j *Journal) isAbandoned(known *projection) bool {
	return j.age(known) >= j.client.HostedPageLifetime()
}

// age returns how long ago the latest submission was made. If this machine's clock was behind or ahead then, by days perhaps, the gateway's
// response says so.
func (j *Journal) age(known *projection) time.Duration {
	now, at := j.clock.earliest(), known.intent.At
	if said := known.answeredAt; !said.IsZero() && !said.After(now) && (said.After(at) || at.After(now)) {
		at = said
	}
	return now.Sub(at)
}
