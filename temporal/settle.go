package temporal

import (
	"cmp"
	"errors"
	"time"

	sdk "go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/cardgateway/cardgateway-go/journal"
)

// Settlement is the input of the workflow Settle. Only the ID is required.
type Settlement struct {
	ID journal.ID

	// SubmitWithin is how long after the start of the workflow the first submission may begin. Zero means an hour. Negative
	// means that the workflow submits nothing, but follows a payment that was made with the journal elsewhere.
	SubmitWithin time.Duration
	// FirstQuery is after which time without a notification the gateway is first queried. Zero, or less, means 10 s. The next queries
	// come after an eighth of the time since the submission, but not sooner.
	FirstQuery time.Duration
	// KeepOpen is how long the workflow waits for another submission to be ordered, and keeps querying, if the state is NotSent,
	// Refused or PresumedAbsent: from the last submission, or from its own start if that is later. Zero means 30 days. The
	// journal keeps the entry.
	KeepOpen time.Duration

	// What is known so far. The workflow sets it when it continues as new; leave it empty.
	Begun    time.Time
	Status   Status
	Reported Status
}

const (
	submitName = "cardgateway.Submit"
	queryName  = "cardgateway.Query"
	reportName = "cardgateway.Report"

	notifiedSignal = "cardgateway.notified"
	orderSignal    = "cardgateway.submit-again"
	statusQuery    = "cardgateway.status"
)

// Mismatch, NotBegun and Lost are the types of the application errors with which Settle fails.
const (
	Mismatch = "Mismatch"
	NotBegun = "NotBegun"
	Lost     = "Lost"
)

// Settle makes a payment or a refund, and follows it until the journal has its outcome. It is the workflow that Engine.Start
// starts; a workflow of your own can call it as a child workflow, with the id that Engine.WorkflowID returns.
//
//  1. Submit, as an activity that the engine never repeats, and that tells the engine before it sends. If the engine does not learn how it
//     ended, the journal is read: if nothing had begun there, nor by what the engine was told, nothing was sent, and the submission is
//     made; otherwise nothing is sent again.
//  2. Report each change of the state.
//  3. Wait for a notification or a timer, and query the gateway, until the state is Succeeded, Tested, Declined, Abandoned or a conflict.
//     Refused, NotSent and PresumedAbsent are reported too, and another submission is made only if it is ordered: see
//     Engine.SubmitAgain and Engine.PayAgainRiskingSecondCharge.
//
// The result is the last status. The workflow fails with an application error of type NotBegun if nothing was submitted within
// SubmitWithin, and Mismatch if another payment has the id.
//
// A journal that knows less than the workflow has lost something, for example by a failover to a replica that was behind. Then nothing is
// submitted, and each time that the journal is read the workflow logs an error, so that somebody asks the gateway. It stays open,
// because a new workflow would know nothing of the submission, and after KeepOpen it fails with type Lost.
func Settle(ctx workflow.Context, in Settlement) (Status, error) {
	in.SubmitWithin = cmp.Or(in.SubmitWithin, time.Hour)
	in.FirstQuery = cmp.Or(max(in.FirstQuery, 0), 10*time.Second)
	in.KeepOpen = cmp.Or(in.KeepOpen, 30*24*time.Hour)
	if in.Begun.IsZero() {
		in.Begun = workflow.Now(ctx)
	}
	s := &settling{Settlement: in, notified: workflow.GetSignalChannel(ctx, notifiedSignal), orders: workflow.GetSignalChannel(ctx, orderSignal)}
	err := workflow.SetQueryHandler(ctx, statusQuery, func() (Status, error) { return s.Status, nil })
	if err != nil {
		return Status{}, err
	}
	var o *order // what is to be submitted; nil means that the gateway is queried
	for {
		if o == nil && s.Status.Submissions == 0 && s.timeToSubmit(ctx) > 0 {
			o = &order{Submission: 1}
		}
		known := false // what the journal has
		if o != nil {
			known, err = s.submit(ctx, *o)
		}
		if err == nil && !known {
			known = s.query(ctx)
		}
		if err == nil && s.toReport() {
			err = s.report(ctx)
		}
		if err != nil {
			return s.Status, err
		}
		since := s.Begun
		if s.Status.SentAt.After(since) {
			since = s.Status.SentAt
		}
		waited := workflow.Now(ctx).Sub(since) > s.KeepOpen
		switch {
		case s.lost && waited:
			return s.Status, sdk.NewNonRetryableApplicationError("the journal has lost a submission", Lost, nil)
		case s.Status == s.Reported && (s.Status.settled() || s.Status.isOver() && waited):
			return s.Status, nil
		case known && s.Status.Submissions == 0 && s.timeToSubmit(ctx) <= 0:
			return s.Status, sdk.NewNonRetryableApplicationError("nothing was submitted in time", NotBegun, nil)
		}
		if o = s.wait(ctx); ctx.Err() != nil { // canceled: the journal keeps what is known
			return s.Status, ctx.Err()
		}
		if o == nil && workflow.GetInfo(ctx).GetContinueAsNewSuggested() && s.notified.Len() == 0 && s.orders.Len() == 0 {
			return s.Status, workflow.NewContinueAsNewError(ctx, Settle, s.Settlement)
		}
	}
}

// isOver reports whether nothing more is expected, unless another submission is ordered.
func (s Status) isOver() bool {
	switch s.State {
	case journal.NotSent.String(), journal.Refused.String(), journal.PresumedAbsent.String():
		return true
	}
	return false
}

// settling is the state of the workflow.
type settling struct {
	Settlement
	notified, orders workflow.ReceiveChannel
	lost             bool // the journal knows less than Status
}

// learn takes over what the journal has. Status never shrinks, because a submission that the journal has lost may have been sent.
func (s *settling) learn(ctx workflow.Context, got Status) (known bool) {
	if s.lost = got.isLessThan(s.Status); s.lost {
		workflow.GetLogger(ctx).Error("the journal has lost a submission, or its outcome: nothing is sent again", "id", s.ID.String())
		return false
	}
	s.Status = got
	return true
}

// toReport reports whether the merchant has not been told the status.
func (s *settling) toReport() bool {
	return s.Status != s.Reported && s.Status.Submissions > 0 && !s.lost
}

// timeToSubmit returns how much time is left for the first submission.
func (s *settling) timeToSubmit(ctx workflow.Context) time.Duration {
	return s.Begun.Add(s.SubmitWithin).Sub(workflow.Now(ctx))
}

// submit runs the activity, at most once. After a failure it is not known what the activity has done, or is still doing.
func (s *settling) submit(ctx workflow.Context, o order) (known bool, err error) {
	within := maxSubmission
	if s.Status.Submissions == 0 {
		within = max(time.Second, min(within, s.timeToSubmit(ctx)))
	}
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		ScheduleToCloseTimeout: within, HeartbeatTimeout: heartbeatTimeout, RetryPolicy: &sdk.RetryPolicy{MaximumAttempts: 1},
	})
	var got Status
	err = workflow.ExecuteActivity(ctx, submitName, s.ID, o).Get(ctx, &got)
	if err == nil {
		return s.learn(ctx, got), nil
	}
	if failed, ok := errors.AsType[*sdk.ApplicationError](err); ok && failed.Type() == Mismatch {
		return false, err
	}
	if s.Status.Submissions < o.Submission && mayHaveBegun(err) {
		s.Status = Status{State: journal.Unknown.String(), Submissions: o.Submission, SentAt: workflow.Now(ctx).UTC()}
	}
	return false, nil
}

// maxSubmission limits the activity that submits, with the time that it waits for a worker.
const maxSubmission = 2 * time.Minute

// query reads the journal, and queries the gateway if it must. If that fails for ten minutes, the status stays as it is.
func (s *settling) query(ctx workflow.Context) (known bool) {
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		TaskQueue:              workflow.GetInfo(ctx).TaskQueueName + queriesQueue,
		ScheduleToCloseTimeout: 10 * time.Minute, StartToCloseTimeout: 2 * time.Minute, HeartbeatTimeout: heartbeatTimeout,
	})
	var got Status
	if err := workflow.ExecuteActivity(ctx, queryName, s.ID).Get(ctx, &got); err != nil {
		return false
	}
	return s.learn(ctx, got)
}

// report tells the merchant. If the gateway is still to be queried, it gives up after a while, and is called again after the next query.
func (s *settling) report(ctx workflow.Context) error {
	o := workflow.ActivityOptions{
		StartToCloseTimeout: time.Minute, HeartbeatTimeout: heartbeatTimeout, RetryPolicy: &sdk.RetryPolicy{MaximumInterval: time.Minute},
	}
	if !s.Status.settled() {
		o.ScheduleToCloseTimeout = maxReport
	}
	var got Status
	if workflow.ExecuteActivity(workflow.WithActivityOptions(ctx, o), reportName, s.ID).Get(ctx, &got) == nil {
		s.Reported = got
		s.learn(ctx, got)
	}
	return ctx.Err()
}

// maxReport limits the attempts to report between two queries, with the time that they wait for a worker.
const maxReport = 2 * time.Minute

// wait waits until it is time to query, a notification comes, or another submission is ordered. It returns the order.
func (s *settling) wait(ctx workflow.Context) (o *order) {
	pause := s.FirstQuery
	if left := s.timeToSubmit(ctx); s.Status.Submissions > 0 {
		pause = max(pause, workflow.Now(ctx).Sub(s.Status.SentAt)/8)
	} else if left > 0 {
		pause = min(pause, left)
	}
	if s.toReport() {
		pause = min(s.FirstQuery, time.Minute)
	}
	timerCtx, cancel := workflow.WithCancel(ctx)
	defer cancel()
	over := false
	selector := workflow.NewSelector(ctx).
		AddFuture(workflow.NewTimer(timerCtx, pause), func(workflow.Future) { over = true }).
		AddReceive(s.notified, func(c workflow.ReceiveChannel, _ bool) {
			for c.ReceiveAsync(nil) { // one query is enough for all of them
			}
			over = true
		}).
		AddReceive(s.orders, func(c workflow.ReceiveChannel, _ bool) {
			var got order
			// The engine logs what it cannot decode, and skips it. Skipped is also a stale order: the workflow knows of this submission,
			// although the journal may have lost it, or knows more of the one before.
			if over = c.ReceiveAsync(&got) && !s.lost && got.Submission > s.Status.Submissions; over {
				o = &got
			}
		})
	for !over {
		selector.Select(ctx)
	}
	return o
}
