package temporal

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"
	sdk "go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/workflow"

	"github.com/cardgateway/cardgateway-go/journal"
)

// script is what a journal would say, without a journal: the states that the activities return, in turn. The last one stays.
type script struct {
	Submits, Queries []string // states, "" is a journal without an entry; otherwise how an activity ends without a state: see status
	orders           []order
	queries          int
	reported         []string
	submissions      int
	last             Status // that was returned
	begun            time.Time
	reportFails      int
	now              func() time.Time
	during           func() // the first submission
}

func next(states []string, n int) string { return states[min(n, len(states)-1)] }

func (s *script) status(state string) (Status, error) {
	switch {
	case state == "fails":
		return Status{}, errors.New("worker lost")
	case state == Mismatch, state == Lost:
		return Status{}, sdk.NewNonRetryableApplicationError("", state, nil)
	case state == "times out":
		return Status{}, sdk.NewHeartbeatTimeoutError()
	case state == "times out after it began":
		return Status{}, sdk.NewHeartbeatTimeoutError("begun")
	case state == "":
		return Status{}, nil
	}
	if s.submissions == 0 {
		s.submissions, s.begun = 1, s.now()
	}
	s.last = Status{State: state, Submissions: s.submissions, SentAt: s.begun.UTC()}
	return s.last, nil
}

func (s *script) submit(_ context.Context, _ journal.ID, o order) (Status, error) {
	s.orders = append(s.orders, o)
	if s.during != nil && len(s.orders) == 1 {
		s.during()
	}
	state := next(s.Submits, len(s.orders)-1)
	before := s.submissions
	got, err := s.status(state)
	if got.State != "" && o.Submission > before {
		s.submissions, s.begun = o.Submission, s.now()
		return s.status(state)
	}
	return got, err
}

func (s *script) query(context.Context, journal.ID) (Status, error) {
	s.queries++
	return s.status(next(s.Queries, s.queries-1))
}

func (s *script) report(context.Context, journal.ID) (Status, error) {
	if s.reportFails > 0 {
		s.reportFails--
		return Status{}, errors.New("Report has failed")
	}
	s.reported = append(s.reported, s.last.State)
	return s.last, nil
}

// env returns a test environment in which the script plays the journal.
func (s *script) env(t *testing.T) *testsuite.TestWorkflowEnvironment {
	t.Helper()
	env := newEnv()
	s.now = env.Now
	env.RegisterWorkflow(Settle)
	for name, f := range map[string]any{submitName: s.submit, queryName: s.query, reportName: s.report} {
		env.RegisterActivityWithOptions(f, activity.RegisterOptions{Name: name})
	}
	return env
}

// TestSettle goes every way through the workflow, in virtual time.
func TestSettle(t *testing.T) {
	signal := func(after time.Duration, name string, value any) func(*testsuite.TestWorkflowEnvironment) {
		return func(env *testsuite.TestWorkflowEnvironment) {
			env.RegisterDelayedCallback(func() { env.SignalWorkflow(name, value) }, after)
		}
	}
	first := order{Submission: 1}
	for _, test := range []struct {
		name     string
		in       Settlement
		script   script
		signal   func(*testsuite.TestWorkflowEnvironment)
		want     string // state
		failure  string // type of the application error
		orders   []order
		reported []string
		queries  int           // at most; negative: exactly that many
		takes    time.Duration // at least
		within   time.Duration // if it is not zero
	}{
		{
			name: "approved at once", script: script{Submits: []string{"succeeded"}},
			want: "succeeded", orders: []order{first}, reported: []string{"succeeded"},
		},
		{
			name:   "a negative time until the first query",
			in:     Settlement{FirstQuery: -1},
			script: script{Submits: []string{"pending"}, Queries: []string{"pending", "pending", "succeeded"}},
			want:   "succeeded", orders: []order{first}, reported: []string{"pending", "succeeded"}, queries: 3, takes: 30 * time.Second,
		},
		{
			name: "declined at once", script: script{Submits: []string{"declined"}},
			want: "declined", orders: []order{first}, reported: []string{"declined"},
		},
		{
			name:   "a notification ends the waiting",
			in:     Settlement{FirstQuery: time.Hour},
			script: script{Submits: []string{"pending"}, Queries: []string{"succeeded"}},
			signal: signal(5*time.Minute, notifiedSignal, nil),
			want:   "succeeded", orders: []order{first}, reported: []string{"pending", "succeeded"}, queries: -1, takes: 5 * time.Minute, within: 6 * time.Minute,
		},
		{
			name:   "many notifications are one query",
			in:     Settlement{FirstQuery: time.Hour},
			script: script{Submits: []string{"pending"}, Queries: []string{"pending", "succeeded"}},
			signal: func(env *testsuite.TestWorkflowEnvironment) {
				env.RegisterDelayedCallback(func() {
					for range 5 {
						env.SignalWorkflowSkippingWorkflowTask(notifiedSignal, nil)
					}
					env.SignalWorkflow(notifiedSignal, nil)
				}, 5*time.Minute)
			},
			want: "succeeded", orders: []order{first}, reported: []string{"pending", "succeeded"}, queries: -2, takes: time.Hour,
		},
		{
			name:   "100 hours of timers",
			script: script{Submits: []string{"pending"}, Queries: append(slices.Repeat([]string{"pending"}, 80), "abandoned")},
			want:   "abandoned", orders: []order{first}, reported: []string{"pending", "abandoned"}, queries: -81, takes: 100 * time.Hour,
		},
		{
			name:   "the worker is lost after it has submitted",
			script: script{Submits: []string{"fails"}, Queries: []string{"unknown", "unknown", "succeeded"}},
			want:   "succeeded", orders: []order{first}, reported: []string{"unknown", "succeeded"}, queries: -3,
		},
		{
			name:   "the worker is lost before it has submitted",
			script: script{Submits: []string{"fails", "succeeded"}, Queries: []string{""}},
			want:   "succeeded", orders: []order{first, first}, reported: []string{"succeeded"}, queries: -1,
		},
		{
			name:    "nothing is submitted in time",
			script:  script{Submits: []string{"fails"}, Queries: []string{""}},
			failure: NotBegun, queries: 1000, takes: time.Hour,
		},
		{
			name:    "nothing is submitted later, although the next look would be",
			in:      Settlement{SubmitWithin: time.Minute, FirstQuery: 10 * time.Minute},
			script:  script{Submits: []string{"fails"}, Queries: []string{""}},
			failure: NotBegun, orders: []order{first}, queries: 2, takes: time.Minute, within: 2 * time.Minute,
		},
		{
			name:   "the journal cannot be read until it is too late to submit, and the payment had begun",
			in:     Settlement{SubmitWithin: time.Minute},
			script: script{Submits: []string{"fails"}, Queries: append(slices.Repeat([]string{"fails"}, 200), "succeeded")},
			want:   "succeeded", reported: []string{"succeeded"}, queries: -201, takes: 2 * time.Minute,
		},
		{
			name:    "another payment has the id",
			script:  script{Submits: []string{Mismatch}},
			failure: Mismatch, orders: []order{first},
		},
		{
			name:   "only followed",
			in:     Settlement{SubmitWithin: -1},
			script: script{Queries: []string{"pending", "conflict"}},
			want:   "conflict", reported: []string{"pending", "conflict"}, queries: -2,
		},
		{
			name:    "only followed, and there is nothing",
			in:      Settlement{SubmitWithin: -1},
			script:  script{Queries: []string{""}},
			failure: NotBegun, queries: -1,
		},
		{
			name:   "presumed absent, and nothing is ordered",
			script: script{Submits: []string{"unknown"}, Queries: []string{"presumed absent"}},
			want:   "presumed absent", orders: []order{first}, reported: []string{"unknown", "presumed absent"},
			queries: 200, takes: 30 * 24 * time.Hour,
		},
		{
			name:   "presumed absent, and found after all",
			script: script{Submits: []string{"unknown"}, Queries: append(slices.Repeat([]string{"presumed absent"}, 30), "conflict")},
			want:   "conflict", orders: []order{first}, reported: []string{"unknown", "presumed absent", "conflict"}, queries: -31,
		},
		{
			name:   "presumed absent, and paid again by order",
			script: script{Submits: []string{"unknown", "succeeded"}, Queries: []string{"presumed absent"}},
			signal: signal(48*time.Hour, orderSignal, order{Submission: 2, Risky: true, Accept: []journal.Acceptance{journal.AcceptNoOrderGuard}}),
			want:   "succeeded", queries: 200,
			orders: []order{first, {Submission: 2, Risky: true, Accept: []journal.Acceptance{journal.AcceptNoOrderGuard}}},
		},
		{
			name:   "kept open from the last submission",
			in:     Settlement{KeepOpen: time.Hour},
			script: script{Submits: []string{"refused"}, Queries: []string{"refused"}},
			signal: signal(50*time.Minute, orderSignal, order{Submission: 2}),
			want:   "refused", orders: []order{first, {Submission: 2}}, queries: 200, takes: 110 * time.Minute,
		},
		{
			name:   "not sent, and nothing is ordered",
			in:     Settlement{KeepOpen: time.Hour},
			script: script{Submits: []string{"not sent"}, Queries: []string{"not sent"}},
			want:   "not sent", orders: []order{first}, reported: []string{"not sent"}, queries: 200, takes: time.Hour,
		},
		{
			name:    "the journal loses the entry",
			script:  script{Submits: []string{"unknown"}, Queries: []string{"unknown", ""}},
			failure: Lost, orders: []order{first}, reported: []string{"unknown"}, queries: 200, takes: 30 * 24 * time.Hour,
		},
		{
			name:    "the journal loses the entry of what was only followed",
			in:      Settlement{SubmitWithin: -1, KeepOpen: time.Hour},
			script:  script{Queries: []string{"pending", ""}},
			failure: Lost, reported: []string{"pending"}, queries: 200, takes: time.Hour,
		},
		{
			name:    "the worker is lost after it began, and the journal loses the entry",
			script:  script{Submits: []string{"times out after it began", "succeeded"}, Queries: []string{""}},
			failure: Lost, orders: []order{first}, queries: 200, takes: 30 * 24 * time.Hour,
		},
		{
			name:   "the worker is lost after it began, and the journal cannot be read for long",
			script: script{Submits: []string{"times out after it began", "fails"}, Queries: []string{"fails", "unknown", "succeeded"}},
			want:   "succeeded", orders: []order{first}, queries: 200,
		},
		{
			name:    "the journal loses the entry while the worker submits",
			script:  script{Submits: []string{Lost, "succeeded"}, Queries: []string{"fails", "", "fails", ""}},
			failure: Lost, orders: []order{first}, queries: 2000, takes: 30 * 24 * time.Hour,
		},
		{
			name:   "the worker is lost after an ordered submission began, the journal loses it, and the order is repeated",
			in:     Settlement{KeepOpen: time.Hour},
			script: script{Submits: []string{"refused", "times out after it began", "succeeded"}, Queries: []string{"refused"}},
			signal: func(env *testsuite.TestWorkflowEnvironment) {
				for after := range 3 {
					signal(time.Duration(after+1)*time.Minute, orderSignal, order{Submission: 2})(env)
				}
			},
			failure: Lost, orders: []order{first, {Submission: 2}}, reported: []string{"refused"}, queries: 200, takes: time.Hour,
		},
		{
			name:   "the worker is lost before it began",
			script: script{Submits: []string{"times out", "succeeded"}, Queries: []string{""}},
			want:   "succeeded", orders: []order{first, first}, reported: []string{"succeeded"}, queries: -1,
		},
		{
			name:   "the journal has the entry again",
			script: script{Submits: []string{"pending"}, Queries: []string{"", "", "", "succeeded"}},
			want:   "succeeded", orders: []order{first}, reported: []string{"pending", "succeeded"}, queries: -4,
		},
		{
			name:   "the journal loses evidence",
			script: script{Submits: []string{"pending"}, Queries: []string{"unknown", "presumed absent", "pending", "succeeded"}},
			want:   "succeeded", orders: []order{first}, reported: []string{"pending", "succeeded"}, queries: -4,
		},
		{
			name:    "the journal loses the entry, and the first submission is ordered",
			in:      Settlement{KeepOpen: time.Hour},
			script:  script{Submits: []string{"refused", "succeeded"}, Queries: []string{""}},
			signal:  signal(30*time.Minute, orderSignal, order{Submission: 1}),
			failure: Lost, orders: []order{first}, queries: 200,
		},
		{
			name:   "an order is repeated, of a submission that the journal may have lost",
			in:     Settlement{KeepOpen: time.Hour, FirstQuery: 24 * time.Hour},
			script: script{Submits: []string{"refused", "refused", "succeeded"}, Queries: []string{"refused"}},
			signal: func(env *testsuite.TestWorkflowEnvironment) {
				for after := range 3 {
					signal(time.Duration(after+1)*time.Minute, orderSignal, order{Submission: 2})(env)
				}
			},
			want: "refused", orders: []order{first, {Submission: 2}}, queries: 1,
		},
		{
			name:   "orders that cannot be decoded",
			in:     Settlement{FirstQuery: time.Hour},
			script: script{Submits: []string{"refused", "succeeded"}, Queries: []string{"refused"}},
			signal: func(env *testsuite.TestWorkflowEnvironment) {
				for i, text := range []any{"no order", 7, []string{}, map[string]any{"Submission": "2"}, order{Submission: 2}} {
					signal(time.Duration(i+1)*time.Minute, orderSignal, text)(env)
				}
			},
			want: "succeeded", orders: []order{first, {Submission: 2}}, takes: 5 * time.Minute, within: 6 * time.Minute,
		},
		{
			name:   "an order that cannot be decoded, and a notification",
			in:     Settlement{FirstQuery: time.Hour},
			script: script{Submits: []string{"pending"}, Queries: []string{"succeeded"}},
			signal: func(env *testsuite.TestWorkflowEnvironment) {
				signal(time.Minute, orderSignal, "no order")(env)
				signal(2*time.Minute, notifiedSignal, "anything")(env)
			},
			want: "succeeded", orders: []order{first}, queries: -1, takes: 2 * time.Minute, within: 3 * time.Minute,
		},
		{
			name:   "an order that cannot be decoded, and time passes",
			in:     Settlement{FirstQuery: time.Hour},
			script: script{Submits: []string{"pending"}, Queries: []string{"succeeded"}},
			signal: signal(time.Minute, orderSignal, "no order"),
			want:   "succeeded", orders: []order{first}, queries: -1, takes: time.Hour, within: 61 * time.Minute,
		},
		{
			name:   "the report of an open payment fails for long, and the gateway is queried",
			script: script{Submits: []string{"pending"}, Queries: []string{"pending", "pending", "succeeded"}, reportFails: 30},
			want:   "succeeded", orders: []order{first}, reported: []string{"succeeded"}, queries: -3,
		},
		{
			name:   "the report fails at first",
			script: script{Submits: []string{"succeeded"}, reportFails: 5},
			want:   "succeeded", orders: []order{first}, reported: []string{"succeeded"}, takes: 30 * time.Second,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := &test.script
			if s.Queries == nil {
				s.Queries = []string{"fails"}
			}
			env := s.env(t)
			if test.signal != nil {
				test.signal(env)
			}
			begun, real := env.Now(), time.Now()
			test.in.ID = journal.PaymentID("t-1")
			env.ExecuteWorkflow(Settle, test.in)
			var got Status
			err := env.GetWorkflowError()
			if failed, ok := errors.AsType[*sdk.ApplicationError](err); ok != (test.failure != "") || ok && failed.Type() != test.failure {
				t.Fatalf("got %v, want %q", err, test.failure)
			}
			if err == nil {
				must(t, env.GetWorkflowResult(&got))
			}
			if got.State != test.want {
				t.Errorf("got state %q, want %q", got.State, test.want)
			}
			if diff := cmp.Diff(test.orders, s.orders); test.orders != nil && diff != "" {
				t.Errorf("submissions (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.reported, s.reported); test.reported != nil && diff != "" {
				t.Errorf("reports (-want +got):\n%s", diff)
			}
			if test.in.SubmitWithin < 0 && len(s.orders) != 0 {
				t.Errorf("got the submissions %v, want none", s.orders)
			}
			if s.queries > max(test.queries, -test.queries) || test.queries < 0 && s.queries != -test.queries {
				t.Errorf("got %d queries, want %d", s.queries, test.queries)
			}
			if took := env.Now().Sub(begun); took < test.takes || test.within > 0 && took > test.within {
				t.Errorf("got an end after %v, want it after %v, and within %v if that is not zero", took, test.takes, test.within)
			}
			if took := time.Since(real); took > 20*time.Second {
				t.Errorf("took %v", took)
			}
			t.Logf("%d queries, %v in %v", s.queries, env.Now().Sub(begun), time.Since(real))
		})
	}
}

// TestCanceled: a workflow that is canceled ends at once.
func TestCanceled(t *testing.T) {
	s := &script{Submits: []string{"pending"}, Queries: []string{"pending"}}
	env := s.env(t)
	env.RegisterDelayedCallback(env.CancelWorkflow, time.Minute)
	begun := env.Now()
	env.ExecuteWorkflow(Settle, Settlement{ID: journal.PaymentID("t-1")})
	if err := env.GetWorkflowError(); !sdk.IsCanceledError(errors.Unwrap(err)) || env.Now().Sub(begun) > time.Minute {
		t.Errorf("got %v after %v", err, env.Now().Sub(begun))
	}
}

// TestContinueAsNew: a long workflow continues with what it knows, and submits nothing.
func TestContinueAsNew(t *testing.T) {
	s := &script{Submits: []string{"pending"}, Queries: []string{"pending"}}
	env := s.env(t)
	env.SetContinueAsNewSuggested(true)
	env.ExecuteWorkflow(Settle, Settlement{ID: journal.PaymentID("t-1")})
	again, ok := errors.AsType[*workflow.ContinueAsNewError](env.GetWorkflowError())
	if !ok {
		t.Fatalf("got %v", env.GetWorkflowError())
	}
	var in Settlement
	must(t, converter.GetDefaultDataConverter().FromPayloads(again.Input, &in))
	then := &script{Queries: []string{"succeeded"}, submissions: 1, begun: in.Status.SentAt}
	env = then.env(t)
	env.ExecuteWorkflow(Settle, in)
	if err := env.GetWorkflowError(); err != nil || len(then.orders) != 0 {
		t.Errorf("got %v and the submissions %v, want none", err, then.orders)
	}
}

// TestContinueAsNewBeforeSubmission: a workflow whose Submit fails for days, with a SubmitWithin that allows it, does not outgrow its history.
func TestContinueAsNewBeforeSubmission(t *testing.T) {
	s := &script{Submits: []string{"fails"}, Queries: []string{""}}
	env := s.env(t)
	env.SetContinueAsNewSuggested(true)
	env.ExecuteWorkflow(Settle, Settlement{ID: journal.PaymentID("t-1"), SubmitWithin: 48 * time.Hour})
	if _, ok := errors.AsType[*workflow.ContinueAsNewError](env.GetWorkflowError()); !ok || len(s.orders) != 1 {
		t.Fatalf("got %v after %d submissions, want another history after one", env.GetWorkflowError(), len(s.orders))
	}
}

// TestContinueAsNewKeepsOrders: an order that is waiting behind a notification is carried out first, because a workflow that continues
// as new does not get the signals of the one before.
func TestContinueAsNewKeepsOrders(t *testing.T) {
	s := &script{Submits: []string{"pending"}, Queries: []string{"pending"}}
	env := s.env(t)
	env.SetContinueAsNewSuggested(true)
	s.during = func() {
		env.SignalWorkflow(notifiedSignal, nil)
		env.SignalWorkflow(orderSignal, order{Submission: 2})
	}
	env.ExecuteWorkflow(Settle, Settlement{ID: journal.PaymentID("t-1")})
	if _, ok := errors.AsType[*workflow.ContinueAsNewError](env.GetWorkflowError()); !ok {
		t.Fatalf("got %v", env.GetWorkflowError())
	}
	if diff := cmp.Diff([]order{{Submission: 1}, {Submission: 2}}, s.orders); diff != "" {
		t.Errorf("submissions (-want +got):\n%s", diff)
	}
}
