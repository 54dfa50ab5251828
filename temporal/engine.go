package temporal

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"

	"github.com/cardgateway/cardgateway-go/journal"
)

// Engine starts the workflows of one shop, and signals them.
type Engine struct {
	Client    client.Client
	TaskQueue string // of one shop; other shops need other ones, because a transactionId is unique only within a shop
}

// WorkflowID returns the id of the workflow of a payment or a refund.
func (e Engine) WorkflowID(id journal.ID) string {
	kind := "payment"
	if id.Refund {
		kind = "refund"
	}
	return fmt.Sprintf("%s/%s/%s", e.TaskQueue, kind, id.Text)
}

// Start starts the workflow Settle. If it is running for this id, Start returns that run, and changes nothing. If it has ended,
// it is started again: it submits nothing that the journal has, and returns what the journal has. After a failure of type Lost, ask the
// gateway first.
func (e Engine) Start(ctx context.Context, s Settlement) (client.WorkflowRun, error) {
	if s.ID.Text == "" {
		return nil, errors.New("temporal: Start: the ID is empty")
	}
	return e.Client.ExecuteWorkflow(ctx, e.options(s.ID), Settle, s)
}

func (e Engine) options(id journal.ID) client.StartWorkflowOptions {
	return client.StartWorkflowOptions{
		ID: e.WorkflowID(id), TaskQueue: e.TaskQueue,
		WorkflowIDConflictPolicy: enums.WORKFLOW_ID_CONFLICT_POLICY_USE_EXISTING,
		WorkflowIDReusePolicy:    enums.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE,
	}
}

// Notified tells the workflow that the journal has something new: call it after journal.Journal.Confirm or ConfirmRefund has
// recorded what a notification or a walk has shown. If no workflow is running, one is started that submits nothing, and
// reports what the journal has.
func (e Engine) Notified(ctx context.Context, id journal.ID) error {
	_, err := e.Client.SignalWithStartWorkflow(ctx, e.WorkflowID(id), notifiedSignal, nil, e.options(id), Settle,
		Settlement{ID: id, SubmitWithin: -1})
	return err
}

// SubmitAgain orders a submission in the state NotSent or Refused. The number is Status.Submissions + 1, of the status on which
// you have decided: an order that is repeated, or comes too late, submits nothing. The journal queries the gateway before it
// submits what was refused. See journal.Journal.AfterRefusal.
func (e Engine) SubmitAgain(ctx context.Context, id journal.ID, submission int) error {
	return e.Client.SignalWorkflow(ctx, e.WorkflowID(id), "", orderSignal, order{Submission: submission})
}

// PayAgainRiskingSecondCharge orders a submission in the state PresumedAbsent. For the risk, and what must be accepted, see
// journal.Journal.PayAgainRiskingSecondCharge; for the number see SubmitAgain.
func (e Engine) PayAgainRiskingSecondCharge(ctx context.Context, id journal.ID, submission int, accept ...journal.Acceptance) error {
	return e.Client.SignalWorkflow(ctx, e.WorkflowID(id), "", orderSignal, order{Submission: submission, Risky: true, Accept: accept})
}

// Status returns the status of a workflow, also after its end, as long as Temporal keeps it.
func (e Engine) Status(ctx context.Context, id journal.ID) (s Status, err error) {
	v, err := e.Client.QueryWorkflow(ctx, e.WorkflowID(id), "", statusQuery)
	if err != nil {
		return s, err
	}
	return s, v.Get(&s)
}

// Worker makes the payments and refunds of one shop. Run it on any number of machines.
type Worker struct {
	TaskQueue string // as in Engine
	Payments  *Payments

	// QueriesPerSecond limits the queries for single payments, over all workers together. Temporal enforces it, in the
	// task queue. Zero means 50. All workers must have the same number.
	QueriesPerSecond float64

	// Options are those of Temporal's worker, for example how much it does concurrently. Zero WorkerStopTimeout means a minute:
	// a payment that is being sent when the worker stops gets its response.
	Options worker.Options
}

// queriesQueue is the end of the name of the task queue for queries, which QueriesPerSecond limits. TaskQueue itself is for the workflow
// Settle, submissions and reports.
const queriesQueue = "-queries"

const (
	defaultQueriesPerSecond = 50
	maxStop                 = time.Minute
)

// Run works until ctx ends, and then finishes what it is doing. The error is one of the fields, or why Temporal ended the
// worker; otherwise it is that of ctx.
func (w Worker) Run(ctx context.Context, c client.Client) error {
	if w.Payments == nil {
		return errors.New("temporal: Worker: Payments is nil")
	}
	p, err := newPayments(*w.Payments, c.RecordActivityHeartbeat)
	if err != nil {
		return err
	}
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	w.Options.OnFatalError = fail
	if w.Options.WorkerStopTimeout == 0 {
		w.Options.WorkerStopTimeout = maxStop
	}
	queue := func(name string, perSecond float64) worker.Worker {
		o := w.Options
		o.TaskQueueActivitiesPerSecond = perSecond
		return worker.New(c, w.TaskQueue+name, o)
	}
	main, queries := queue("", 0), queue(queriesQueue, cmp.Or(w.QueriesPerSecond, defaultQueriesPerSecond))
	p.register(main, queries)
	for _, started := range []worker.Worker{main, queries} {
		if err := started.Start(); err != nil {
			return err
		}
		defer started.Stop()
	}
	<-ctx.Done()
	return context.Cause(ctx)
}

// register registers the workflow, and the activities on their queues.
func (p *payments) register(main, queries worker.Registry) {
	main.RegisterWorkflow(Settle)
	main.RegisterActivityWithOptions(p.submit, activity.RegisterOptions{Name: submitName})
	main.RegisterActivityWithOptions(p.report, activity.RegisterOptions{Name: reportName})
	queries.RegisterActivityWithOptions(p.query, activity.RegisterOptions{Name: queryName})
}
