package temporal

import (
	"errors"
	"time"

	"go.temporal.io/sdk/activity"
	sdk "go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"
)

// ReconcileOptions is the input of the workflow Reconcile. Only From is required, and only for the first run.
type ReconcileOptions struct {
	From time.Time // start of the copy
	// Window is the range that one worker reads, at least an hour. Zero means 31 days. A gap that is not longer is read by one
	// worker.
	Window time.Duration
	// Parallel is how many windows are read at the same time, by all workers together. Zero means 4.
	Parallel int
	// RequestsPerSecond limits the requests of the run to the gateway, by all workers together: each window that is being read
	// has its share. Zero means 10.
	RequestsPerSecond float64
}

const (
	completeName = "cardgateway.CompleteUpTo"
	windowName   = "cardgateway.CopyWindow"
	mergeName    = "cardgateway.MergeWindows"
	syncName     = "cardgateway.Sync"

	mostWindows = 100 // of one run; then the workflow continues as new
)

// span is a range of the copy: what one worker reads.
type span struct {
	Start, End        time.Time // whole seconds; End is not included
	RequestsPerSecond float64
}

// Reconcile updates the copy of the gateway's orders and refunds on which cardgateway reconcile match and report work. It is
// the workflow that Engine.Reconcile and Engine.ScheduleReconcile start.
//
// If the copy is new, or ends earlier than a window ago, windows are read by several workers at the same time. Each is kept in a
// schema of its own with its progress, so that another worker continues what a killed one has begun, and is then moved into
// the copy, in order. At the end one worker does what cardgateway reconcile sync does: it reads the last days again.
func Reconcile(ctx workflow.Context, in ReconcileOptions) error {
	o := in.withDefaults()
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: 24 * time.Hour, HeartbeatTimeout: heartbeat,
		RetryPolicy: &sdk.RetryPolicy{MaximumInterval: time.Minute},
	})
	var complete time.Time
	if err := workflow.ExecuteActivity(ctx, completeName, o.From).Get(ctx, &complete); err != nil {
		return err
	}
	windows := o.windows(complete, workflow.Now(ctx))
	if err := o.copyWindows(ctx, windows); err != nil {
		return err
	}
	if len(windows) == mostWindows {
		return workflow.NewContinueAsNewError(ctx, Reconcile, in)
	}
	return workflow.ExecuteActivity(ctx, syncName, span{Start: o.From, RequestsPerSecond: o.RequestsPerSecond}).Get(ctx, nil)
}

func (o ReconcileOptions) withDefaults() ReconcileOptions {
	if o.Window == 0 {
		o.Window = 31 * 24 * time.Hour
	}
	o.Window = max(o.Window, time.Hour)
	if o.Parallel <= 0 {
		o.Parallel = 4
	}
	if o.RequestsPerSecond <= 0 {
		o.RequestsPerSecond = 10
	}
	return o
}

// windows returns the next windows to be read. None is shorter than Window: the rest is left to the sync.
func (o ReconcileOptions) windows(from, now time.Time) (all []span) {
	for end := from.Add(o.Window); end.Before(now.Add(-settleTime)) && len(all) < mostWindows; end = end.Add(o.Window) {
		all = append(all, span{end.Add(-o.Window), end, o.RequestsPerSecond / float64(o.Parallel)})
	}
	return all
}

// settleTime is how far behind now the gateway's rows are taken to be complete, with a margin.
const settleTime = time.Hour

// copyWindows reads windows, at most Parallel at the same time, and moves them into the copy. One that fails does not keep the
// others from being read.
func (o ReconcileOptions) copyWindows(ctx workflow.Context, windows []span) error {
	if len(windows) == 0 {
		return nil
	}
	places, all := workflow.NewSemaphore(ctx, int64(o.Parallel)), workflow.NewWaitGroup(ctx)
	failed := make([]error, len(windows))
	for i, w := range windows {
		all.Add(1)
		workflow.Go(ctx, func(ctx workflow.Context) {
			defer all.Done()
			if failed[i] = places.Acquire(ctx, 1); failed[i] == nil {
				defer places.Release(1)
				failed[i] = workflow.ExecuteActivity(ctx, windowName, w).Get(ctx, nil)
			}
		})
	}
	all.Wait(ctx)
	if err := errors.Join(failed...); err != nil {
		return err
	}
	return workflow.ExecuteActivity(ctx, mergeName, windows).Get(ctx, nil)
}

// register registers the workflow and its activities.
func (r *reconciliation) register(w worker.Registry) {
	w.RegisterWorkflow(Reconcile)
	for name, f := range map[string]any{completeName: r.completeUpTo, windowName: r.copyWindow, mergeName: r.merge, syncName: r.sync} {
		w.RegisterActivityWithOptions(f, activity.RegisterOptions{Name: name})
	}
}
