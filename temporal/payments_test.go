package temporal

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shopspring/decimal"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	sdk "go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/internal/test/clienttest"
	"github.com/cardgateway/cardgateway-go/journal"
	"github.com/cardgateway/cardgateway-go/sandbox"
)

// shop is a merchant with a gateway that charges as often as it is asked to.
type shop struct {
	Payments
	gateway *sandbox.Server
	token   string
	paid    string       // uniqueId of the payment that is refunded
	calls   atomic.Int32 // of Submit
	told    []string     // what was reported
	fails   error        // of Submit, before it calls anything

	reporting func() error // what Report does instead, if it is not nil
	hook      func() error // what the client's Authenticate does instead, if it is not nil

	cannotSend atomic.Bool // every call to the gateway fails before it is sent
}

func newShop(t *testing.T) *shop {
	t.Helper()
	gateway, err := sandbox.Start(sandbox.Options{
		NoNotifications: true, Duplicates: sandbox.DuplicatesExecuted, RefundDuplicates: sandbox.RefundDuplicatesExecuted,
	})
	must(t, err)
	t.Cleanup(gateway.Close)
	s := &shop{gateway: gateway, token: gateway.NewToken(sandbox.Approved)}
	config := configFor(gateway.URL)
	config.Authenticate = func(*http.Request, []byte) error {
		if s.hook != nil {
			return s.hook()
		}
		if s.cannotSend.Load() {
			return errors.New("no key")
		}
		return nil
	}
	if s.Client, err = cardgateway.New(config); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Client.CloseIdleConnections)
	s.Store, s.Submit = journal.NewMemoryStore(), s.submit
	s.Report = func(_ context.Context, e journal.Entry) error {
		if s.reporting != nil {
			return s.reporting()
		}
		s.told = append(s.told, e.State().String())
		return nil
	}
	return s
}

func configFor(url string) cardgateway.Config {
	return cardgateway.Config{BaseURL: url, AppID: "1", TestPayments: true, AttemptTimeout: 5 * time.Second, InsecureHTTP: true}
}

func (s *shop) submit(ctx context.Context, m Methods, id journal.ID) error {
	s.calls.Add(1)
	if s.fails != nil {
		return s.fails
	}
	if id.Refund {
		_, err := m.CreateRefund(ctx, cardgateway.RefundRequest{UniqueID: s.paid, RefundTransactionID: id.Text, Amount: clienttest.Amount})
		return err
	}
	return pay(ctx, m, id, s.token)
}

// must ends the test at an error.
func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// pays makes the payment t-1, which can then be refunded.
func (s *shop) pays(t *testing.T) {
	t.Helper()
	paid, err := s.Client.TokenPayment(t.Context(), cardgateway.NewToken(s.token), clienttest.TokenPaymentRequest("t-1"))
	must(t, err)
	s.paid = paid.UniqueID
}

// recordHeartbeat sends a heartbeat as the test environments take it.
func recordHeartbeat(ctx context.Context, _ []byte, details ...any) error {
	activity.RecordHeartbeat(ctx, details...)
	return nil
}

// env returns a test environment with the shop's activities.
func (s *shop) env(t *testing.T) *testsuite.TestWorkflowEnvironment {
	t.Helper()
	p, err := newPayments(s.Payments, recordHeartbeat)
	must(t, err)
	env := newEnv()
	p.register(env, registry{env})
	return env
}

// newEnv returns a test environment for workflows, which does not take a busy machine for a deadlock.
func newEnv() *testsuite.TestWorkflowEnvironment {
	var suite testsuite.WorkflowTestSuite
	suite.SetLogger(quiet)
	env := suite.NewTestWorkflowEnvironment()
	env.SetWorkerOptions(worker.Options{DeadlockDetectionTimeout: time.Minute})
	env.SetTestTimeout(5 * time.Minute)
	return env
}

// activities returns a test environment in which a single activity of the shop can be run.
func (s *shop) activities(t *testing.T) *testsuite.TestActivityEnvironment {
	t.Helper()
	p, err := newPayments(s.Payments, recordHeartbeat)
	must(t, err)
	var suite testsuite.WorkflowTestSuite
	suite.SetLogger(quiet)
	env := suite.NewTestActivityEnvironment()
	for name, f := range map[string]any{submitName: p.submit, queryName: p.query, reportName: p.report} {
		env.RegisterActivityWithOptions(f, activity.RegisterOptions{Name: name})
	}
	return env
}

// registry lets two queues share the environment.
type registry struct {
	*testsuite.TestWorkflowEnvironment
}

// settle runs the workflow until its end.
func (s *shop) settle(t *testing.T, in Settlement, prepare ...func(*testsuite.TestWorkflowEnvironment)) Status {
	t.Helper()
	env := s.env(t)
	for _, do := range prepare {
		do(env)
	}
	env.ExecuteWorkflow(Settle, in)
	var got Status
	must(t, env.GetWorkflowError())
	must(t, env.GetWorkflowResult(&got))
	return got
}

// TestNoSecondSubmission: whatever starts the activity once more, and however often, the gateway gets one request.
func TestNoSecondSubmission(t *testing.T) {
	id := journal.PaymentID("t-1")
	activityOptions := func(ctx workflow.Context) workflow.Context {
		return workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
			StartToCloseTimeout: time.Minute, RetryPolicy: &sdk.RetryPolicy{MaximumAttempts: 10},
		})
	}
	for _, test := range []struct {
		name string
		run  func(t *testing.T, s *shop)
	}{
		{"a retry policy with ten attempts", func(t *testing.T, s *shop) {
			env := s.env(t)
			failing := func(ctx context.Context, id journal.ID) error { // as if the report of the result were lost
				p, err := newPayments(s.Payments, recordHeartbeat)
				if err != nil {
					return err
				}
				if _, err := p.submit(ctx, id, order{Submission: 1}); err != nil {
					return err
				}
				return errors.New("lost")
			}
			env.RegisterActivityWithOptions(failing, activity.RegisterOptions{Name: "failing"})
			env.ExecuteWorkflow(func(ctx workflow.Context) error {
				return workflow.ExecuteActivity(activityOptions(ctx), "failing", id).Get(ctx, nil)
			})
			if env.GetWorkflowError() == nil {
				t.Error("got no error")
			}
		}},
		{"the same workflow again", func(t *testing.T, s *shop) {
			for range 3 {
				if got := s.settle(t, Settlement{ID: id}); got.State != "succeeded" || got.Submissions != 1 {
					t.Errorf("got %+v", got)
				}
			}
		}},
		{"many at the same time", func(t *testing.T, s *shop) {
			env := s.env(t)
			env.ExecuteWorkflow(func(ctx workflow.Context) error {
				var all []workflow.Future
				for range 20 {
					all = append(all, workflow.ExecuteActivity(activityOptions(ctx), submitName, id, order{Submission: 1}))
				}
				for _, f := range all {
					if err := f.Get(ctx, nil); err != nil {
						return err
					}
				}
				return nil
			})
			if err := env.GetWorkflowError(); err != nil {
				t.Error(err)
			}
		}},
		{"an attempt that the engine has given up goes on", func(t *testing.T, s *shop) {
			s.pausesFirst(func() {
				if got := s.settle(t, Settlement{ID: id}); got.State != "succeeded" || got.Submissions != 1 {
					t.Errorf("got %+v", got)
				}
			})
			s.runSubmit(t, id, order{Submission: 1})
		}},
		{"an attempt to pay again that the engine has given up goes on", func(t *testing.T, s *shop) {
			s.presumeAbsent(t, id)
			again := order{Submission: 2, Risky: true, Accept: []journal.Acceptance{journal.AcceptNoOrderGuard}}
			s.pausesFirst(func() { s.runSubmit(t, id, again) })
			s.runSubmit(t, id, again)
		}},
		{"orders that are repeated, late or early", func(t *testing.T, s *shop) {
			s.gateway.Inject(sandbox.Fault{Operation: sandbox.OpTokenPayment, Commit: sandbox.CommitNow, Reply: sandbox.ReplyClose})
			s.settle(t, Settlement{ID: id, FirstQuery: time.Hour}, func(env *testsuite.TestWorkflowEnvironment) {
				env.RegisterDelayedCallback(func() {
					for _, n := range []int{0, 1, 2, 2, 3, 7} {
						env.SignalWorkflow(orderSignal, order{Submission: n, Risky: true, Accept: []journal.Acceptance{journal.AcceptNoOrderGuard}})
					}
				}, time.Minute)
			})
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newShop(t)
			test.run(t, s)
			if n := s.gateway.Executed("t-1"); n != 1 {
				t.Errorf("got %d charges, want 1", n)
			}
		})
	}
}

// pausesFirst makes the first call of Submit do something before it pays, as if its worker had been paused for that long.
func (s *shop) pausesFirst(meanwhile func()) {
	first := true
	s.Submit = func(ctx context.Context, m Methods, id journal.ID) error {
		if first {
			first = false
			meanwhile()
		}
		return s.submit(ctx, m, id)
	}
}

// presumeAbsent makes the journal presume that a payment is absent, whose worker was killed a day ago.
func (s *shop) presumeAbsent(t *testing.T, id journal.ID) {
	t.Helper()
	s.begin(t, id, time.Now().Add(-25*time.Hour))
	if got := s.settle(t, Settlement{ID: id, KeepOpen: time.Minute}); got.State != "presumed absent" || got.Submissions != 1 {
		t.Fatalf("got %+v", got)
	}
}

// begin records a payment that a worker begins and does not send, because it is killed.
func (s *shop) begin(t *testing.T, id journal.ID, at time.Time) {
	t.Helper()
	in := journal.Intent{
		Shop: journal.New(s.Client, s.Store, s.Journal).Shop(), ID: id, Operation: "TokenPayment", Amount: clienttest.Amount, Currency: "USD",
		At: at, Sender: "killed",
	}
	if strings.HasPrefix(id.Text, byCard) {
		r := clienttest.SubscriptionRequest(id.Text, cardgateway.Card{})
		in.Operation, in.OrderID, in.SubscriptionCycle = "CreateSubscription", r.OrderID, r.Extension.SubscriptionCycle
	}
	_, _, err := s.Store.Begin(t.Context(), in)
	must(t, err)
}

// runSubmit runs the activity that submits.
func (s *shop) runSubmit(t *testing.T, id journal.ID, o order) {
	t.Helper()
	if _, err := s.activities(t).ExecuteActivity(submitName, id, o); err != nil {
		t.Error(err)
	}
}

// TestPresumedAbsent: a payment that the gateway has not known for a day is paid again only by an order that accepts the risk,
// and only once by each order.
func TestPresumedAbsent(t *testing.T) {
	s, byToken, withOrder := newShop(t), journal.PaymentID("t-1"), journal.PaymentID(byCard+"1")
	s.presumeAbsent(t, byToken)
	s.presumeAbsent(t, withOrder)
	for _, test := range []struct {
		name     string
		id       journal.ID
		order    func(context.Context, Engine, journal.ID) error
		state    string
		executed int
	}{
		{"not the risk", withOrder, func(ctx context.Context, e Engine, id journal.ID) error {
			return e.SubmitAgain(ctx, id, 2)
		}, "presumed absent", 0},
		{"another submission", withOrder, func(ctx context.Context, e Engine, id journal.ID) error {
			return e.PayAgainRiskingSecondCharge(ctx, id, 1)
		}, "presumed absent", 0},
		{"accepted", withOrder, func(ctx context.Context, e Engine, id journal.ID) error {
			return e.PayAgainRiskingSecondCharge(ctx, id, 2)
		}, "succeeded", 1},
		{"by token, not the missing orderId", byToken, func(ctx context.Context, e Engine, id journal.ID) error {
			return e.PayAgainRiskingSecondCharge(ctx, id, 2)
		}, "presumed absent", 0},
		{"by token, accepted", byToken, func(ctx context.Context, e Engine, id journal.ID) error {
			return e.PayAgainRiskingSecondCharge(ctx, id, 2, journal.AcceptNoOrderGuard)
		}, "succeeded", 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			order := func(e Engine) error { return test.order(t.Context(), e, test.id) }
			got := s.settle(t, Settlement{ID: test.id, KeepOpen: time.Hour, FirstQuery: 10 * time.Minute}, s.orders(t, test.id, time.Minute, order))
			if n := s.gateway.Executed(test.id.Text); got.State != test.state || n != test.executed {
				t.Errorf("got %+v and %d charges, want %s and %d", got, n, test.state, test.executed)
			}
		})
	}
}

// orders lets the merchant give an order to the workflow, which has the id that Engine.Start gives it, after some time.
func (s *shop) orders(t *testing.T, id journal.ID, after time.Duration, give func(Engine) error) func(*testsuite.TestWorkflowEnvironment) {
	return func(env *testsuite.TestWorkflowEnvironment) {
		e := Engine{Client: signaler{env: env}, TaskQueue: queue}
		env.SetStartWorkflowOptions(client.StartWorkflowOptions{ID: e.WorkflowID(id)})
		env.RegisterDelayedCallback(func() {
			if err := give(e); err != nil {
				t.Error(err)
			}
		}, after)
	}
}

// signaler is a client of Temporal that signals the workflow of a test environment, and can do nothing else.
type signaler struct {
	client.Client
	env *testsuite.TestWorkflowEnvironment
}

func (s signaler) SignalWorkflow(_ context.Context, id, _, signal string, value any) error {
	return s.env.SignalWorkflowByID(id, signal, value)
}

// TestSubmitAgain: what the gateway has refused, and what was not sent, is submitted again only by an order, and once.
func TestSubmitAgain(t *testing.T) {
	for _, state := range []string{"refused", "not sent"} {
		t.Run(state, func(t *testing.T) {
			s, id := newShop(t), journal.PaymentID("t-1")
			if state == "not sent" {
				s.cannotSend.Store(true)
			} else {
				s.gateway.Inject(sandbox.Fault{Operation: sandbox.OpTokenPayment, Code: 401, Commit: sandbox.CommitNever})
			}
			got := s.settle(t, Settlement{ID: id, FirstQuery: 10 * time.Minute}, s.orders(t, id, 90*time.Minute, func(e Engine) error {
				if n := s.calls.Load(); n != 1 || !slices.Equal(s.told, []string{state}) {
					t.Errorf("before the order: got %d calls of Submit and the reports %q, want one of each", n, s.told)
				}
				s.cannotSend.Store(false)
				return errors.Join(e.SubmitAgain(t.Context(), id, 2), e.SubmitAgain(t.Context(), id, 2))
			}))
			if n := s.gateway.Executed("t-1"); got.State != "succeeded" || got.Submissions != 2 || n != 1 {
				t.Errorf("got %+v and %d charges, want one, by the second submission", got, n)
			}
		})
	}
}

// TestMismatch: an order for a payment whose amount has changed since does not pay, and the workflow fails, so that somebody looks.
func TestMismatch(t *testing.T) {
	s, id := newShop(t), journal.PaymentID("t-1")
	s.presumeAbsent(t, id)
	s.Submit = func(ctx context.Context, m Methods, id journal.ID) error {
		changed := clienttest.TokenPaymentRequest(id.Text)
		changed.Amount = decimal.NewFromInt(6)
		_, err := m.TokenPayment(ctx, cardgateway.NewToken(s.token), changed)
		return err
	}
	env := s.env(t)
	s.orders(t, id, time.Minute, func(e Engine) error {
		return e.PayAgainRiskingSecondCharge(t.Context(), id, 2, journal.AcceptNoOrderGuard)
	})(env)
	env.ExecuteWorkflow(Settle, Settlement{ID: id, KeepOpen: time.Hour})
	failed, ok := errors.AsType[*sdk.ApplicationError](env.GetWorkflowError())
	if n := s.gateway.Executed("t-1"); !ok || failed.Type() != Mismatch || n != 0 {
		t.Errorf("got %v and %d charges, want a mismatch", env.GetWorkflowError(), n)
	}
}

// TestMismatchAfterPaying: a payment is followed if Submit has made it, also if it then returns the mismatch of another call.
func TestMismatchAfterPaying(t *testing.T) {
	s, id := newShop(t), journal.PaymentID("t-1")
	s.Submit = func(ctx context.Context, m Methods, id journal.ID) error {
		changed := clienttest.TokenPaymentRequest(id.Text)
		changed.Amount = decimal.NewFromInt(6)
		paid := s.submit(ctx, m, id)
		_, err := m.TokenPayment(ctx, cardgateway.NewToken(s.token), changed)
		return errors.Join(paid, err)
	}
	if got := s.settle(t, Settlement{ID: id}); got.State != "succeeded" || !slices.Contains(s.told, "succeeded") {
		t.Errorf("got %+v, reported %q", got, s.told)
	}
}

// TestWorkflowID: a payment and a refund with the same id have two workflows.
func TestWorkflowID(t *testing.T) {
	var e Engine
	if p, r := e.WorkflowID(journal.PaymentID("x")), e.WorkflowID(journal.RefundID("x")); p == r {
		t.Errorf("both have the id %q", p)
	}
}

// TestRefund: a refund goes the same way.
func TestRefund(t *testing.T) {
	s := newShop(t)
	s.pays(t)
	s.gateway.Inject(sandbox.Fault{Operation: sandbox.OpCreateRefund, Reply: sandbox.ReplyClose})
	for range 2 {
		if got := s.settle(t, Settlement{ID: journal.RefundID("r-1")}); got.State != "succeeded" {
			t.Errorf("got %+v", got)
		}
	}
	if n := s.gateway.Refunded("r-1"); n != 1 {
		t.Errorf("got %d refunds, want 1", n)
	}
}

// TestQueryFails: the engine repeats a query that could not be made, and does not wait for the time of the next one.
func TestQueryFails(t *testing.T) {
	s := newShop(t)
	s.gateway.Inject(sandbox.Fault{Operation: sandbox.OpTokenPayment, Reply: sandbox.ReplyClose})
	var begun, ended time.Time
	got := s.settle(t, Settlement{ID: journal.PaymentID("t-1"), FirstQuery: time.Hour}, func(env *testsuite.TestWorkflowEnvironment) {
		begun = env.Now()
		env.RegisterDelayedCallback(func() { s.cannotSend.Store(true) }, 59*time.Minute)
		env.RegisterDelayedCallback(func() { s.cannotSend.Store(false) }, time.Hour+time.Second)
		env.SetOnActivityCompletedListener(func(*activity.Info, converter.EncodedValue, error) { ended = env.Now() })
	})
	if took := ended.Sub(begun); got.State != "succeeded" || took > 90*time.Minute {
		t.Errorf("got %+v after %v, want that it succeeded soon after an hour", got, took)
	}
}

// TestNothingBegun: what fails before the journal is reached is tried again, until the time is over.
func TestNothingBegun(t *testing.T) {
	s := newShop(t)
	s.fails = errors.New("the orders cannot be read: tok123")
	s.Submit = func(ctx context.Context, m Methods, id journal.ID) error {
		if deadline, _ := ctx.Deadline(); time.Until(deadline) > time.Minute {
			t.Errorf("the submission has %v left, want a minute at most", time.Until(deadline))
		}
		return s.submit(ctx, m, id)
	}
	env := s.env(t)
	env.ExecuteWorkflow(Settle, Settlement{ID: journal.PaymentID("t-1"), SubmitWithin: time.Minute})
	failed, ok := errors.AsType[*sdk.ApplicationError](env.GetWorkflowError())
	if !ok || failed.Type() != NotBegun || s.calls.Load() < 2 {
		t.Errorf("got %v after %d calls", env.GetWorkflowError(), s.calls.Load())
	}
}

// TestReported: each state is reported once, and the outcome is acknowledged only after Report has stored it.
func TestReported(t *testing.T) {
	s := newShop(t)
	s.gateway.Inject(sandbox.Fault{Operation: sandbox.OpTokenPayment, Reply: sandbox.ReplyClose})
	var acked []bool
	report := s.Report
	s.Report = func(ctx context.Context, e journal.Entry) error {
		acked = append(acked, !e.Unacked())
		if len(acked) == 2 {
			return errors.New("the database is down")
		}
		return report(ctx, e)
	}
	s.settle(t, Settlement{ID: journal.PaymentID("t-1")})
	e, err := journal.New(s.Client, s.Store, s.Journal).Get(t.Context(), journal.PaymentID("t-1"))
	if err != nil || e.Unacked() || len(s.told) != 2 || s.told[1] != "succeeded" {
		t.Errorf("got %v, %v, reported %q", e.Unacked(), err, s.told)
	}
	for i, a := range acked {
		if a {
			t.Errorf("report %d: it was acknowledged before", i+1)
		}
	}
}

// TestChangedWhileReporting: a notification that comes while an outcome is being reported, and contradicts it, is reported too, before
// the workflow ends and anything is acknowledged.
func TestChangedWhileReporting(t *testing.T) {
	s, id := newShop(t), journal.PaymentID("t-1")
	s.token = s.gateway.NewToken(sandbox.Declined)
	j, report := journal.New(s.Client, s.Store, s.Journal), s.Report
	s.Report = func(ctx context.Context, e journal.Entry) error {
		if e.State() == journal.Declined {
			err := j.Confirm(ctx, &cardgateway.Transaction{
				TransactionID: "t-1", UniqueID: "77", AppID: "1", Code: cardgateway.CodeSuccess,
				TransactionAmount: clienttest.Amount, TransactionCurrency: "USD",
			})
			if err != nil {
				t.Error(err)
			}
		}
		return report(ctx, e)
	}
	got := s.settle(t, Settlement{ID: id})
	e, err := j.Get(t.Context(), id)
	if err != nil || !e.Unacked() || got.State != "conflict" || !slices.Contains(s.told, "declined") || s.told[len(s.told)-1] != "conflict" {
		t.Errorf("got %+v, %v, unacknowledged %v, reported %q; want the conflict too", got, err, e.Unacked(), s.told)
	}
}

// TestNotSentAcknowledged: a payment that was not sent is acknowledged too, so that it can be forgotten.
func TestNotSentAcknowledged(t *testing.T) {
	s := newShop(t)
	s.gateway.Close() // nothing can be sent
	got := s.settle(t, Settlement{ID: journal.PaymentID("t-1"), KeepOpen: time.Minute})
	e, err := journal.New(s.Client, s.Store, s.Journal).Get(t.Context(), journal.PaymentID("t-1"))
	if err != nil || got.State != "not sent" || e.Unacked() {
		t.Errorf("got %+v, %v, unacknowledged %v; want that it was not sent, and acknowledged", got, err, e.Unacked())
	}
}

// TestMerchantErrorIsNotStored: the text of an error or a panic of the merchant's functions, which may contain anything, does not reach
// Temporal.
func TestMerchantErrorIsNotStored(t *testing.T) {
	for name, fails := range map[string]func() error{
		"error":               func() error { return errors.New("cannot store tok123") },
		"panic":               func() error { panic("cannot store tok123") },
		"panic with an error": func() error { panic(fmt.Errorf("order %v", []string{"tok123"})) },
	} {
		t.Run(name, func(t *testing.T) {
			s, id := newShop(t), journal.PaymentID("t-1")
			s.settle(t, Settlement{ID: id})
			s.Report = func(context.Context, journal.Entry) error { return fails() }
			s.Submit = func(context.Context, Methods, journal.ID) error { return fails() }
			if _, err := s.activities(t).ExecuteActivity(reportName, id); err == nil || strings.Contains(fmt.Sprintf("%+v", err), "tok123") {
				t.Errorf("Report: got %v, want an error without the function's text", err)
			}
			if _, err := s.activities(t).ExecuteActivity(submitName, journal.PaymentID("t-2"), order{Submission: 1}); err != nil {
				t.Errorf("Submit: got %v, want none: nothing was submitted", err)
			}
			open := journal.PaymentID("t-3")
			s.begin(t, open, time.Now())
			s.hook = fails
			if _, err := s.activities(t).ExecuteActivity(queryName, open); err == nil || strings.Contains(fmt.Sprintf("%+v", err), "tok123") {
				t.Errorf("a hook of the client, in a query: got %v, want an error without its text", err)
			}
		})
	}
}

// TestSlow: activities that take longer than the engine waits for a sign of life are not given up.
func TestSlow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const takes = heartbeatTimeout + 2*time.Second
		gateway := clienttest.NewClient(t, cardgateway.Config{
			BaseURL: "https://gateway.example", TestPayments: true, Retry: cardgateway.RetryPolicy{MaxAttempts: 1},
			HTTPClient: &http.Client{Transport: noResponse(takes)},
		})
		s := &shop{token: "token", Payments: Payments{Client: gateway, Store: journal.NewMemoryStore()}}
		s.Submit = s.submit
		s.Report = func(context.Context, journal.Entry) error { time.Sleep(takes); return nil }
		ended, env := map[string]int{}, s.env(t)
		env.SetTestTimeout(time.Hour)
		env.SetOnActivityCompletedListener(func(info *activity.Info, _ converter.EncodedValue, err error) {
			ended[info.ActivityType.Name]++
			if sdk.IsTimeoutError(err) {
				t.Errorf("%s: %v", info.ActivityType.Name, err)
			}
			if info.ActivityType.Name == queryName { // the last of the three: none is running
				env.CancelWorkflow()
			}
		})
		env.ExecuteWorkflow(Settle, Settlement{ID: journal.PaymentID("t-1")})
		if ended[submitName] != 1 || ended[queryName] == 0 || ended[reportName] == 0 {
			t.Errorf("got %v, want all three activities", ended)
		}
	})
}

// TestCanceledWhileSending: a request that is being sent is not interrupted if the workflow is canceled, so that its outcome is known.
func TestCanceledWhileSending(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gateway := clienttest.NewClient(t, cardgateway.Config{BaseURL: "https://gateway.example", TestPayments: true})
		s := &shop{Payments: Payments{Client: gateway, Store: journal.NewMemoryStore()}}
		s.Report = func(context.Context, journal.Entry) error { return nil }
		var env *testsuite.TestWorkflowEnvironment
		ended := make(chan error, 1)
		s.Submit = func(ctx context.Context, _ Methods, _ journal.ID) error {
			env.CancelWorkflow()
			time.Sleep(3 * heartbeatTimeout) // a heartbeat is answered by the cancellation
			ended <- ctx.Err()
			return nil
		}
		env = s.env(t)
		env.ExecuteWorkflow(Settle, Settlement{ID: journal.PaymentID("t-1")})
		if err := env.GetWorkflowError(); err == nil {
			t.Error("the workflow was not canceled")
		}
		if err := <-ended; err != nil {
			t.Errorf("got %v while the payment was being sent", err)
		}
		time.Sleep(heartbeatTimeout)
	})
}

// noResponse is a gateway from which no response comes, after some time.
type noResponse time.Duration

func (takes noResponse) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body != nil {
		_, _ = io.Copy(io.Discard, r.Body)
	}
	time.Sleep(time.Duration(takes))
	return nil, errors.New("no response")
}

// TestPaymentsInvalid: a worker without what it needs does not start.
func TestPaymentsInvalid(t *testing.T) {
	if _, err := newPayments(Payments{}, recordHeartbeat); err == nil {
		t.Error("got no error")
	}
}

// losing is a store that can lose what was written last.
type losing struct {
	journal.Store
	lost   atomic.Bool // everything
	behind atomic.Bool // all but the first piece of evidence
}

func (l *losing) Get(ctx context.Context, key journal.Key) (journal.Entry, error) {
	if l.lost.Load() {
		return journal.Entry{}, journal.ErrNoEntry
	}
	e, err := l.Store.Get(ctx, key)
	if l.behind.Load() {
		e.Evidence = e.Evidence[:1]
	}
	return e, err
}

func (l *losing) Begin(ctx context.Context, in journal.Intent) (journal.Entry, bool, error) {
	if l.lost.Swap(false) {
		l.Store = journal.NewMemoryStore()
	}
	return l.Store.Begin(ctx, in)
}

// TestLostEntry: a payment whose entry the journal loses is not submitted again, whatever else happens.
func TestLostEntry(t *testing.T) {
	for _, test := range []struct {
		name string
		with func(*testsuite.TestWorkflowEnvironment, *shop)
	}{
		{"nothing else", func(*testsuite.TestWorkflowEnvironment, *shop) {}},
		{"a notification", func(env *testsuite.TestWorkflowEnvironment, _ *shop) { env.SignalWorkflow(notifiedSignal, nil) }},
		{"the first submission is ordered", func(env *testsuite.TestWorkflowEnvironment, _ *shop) {
			env.SignalWorkflow(orderSignal, order{Submission: 1})
		}},
		{"another one is ordered", func(env *testsuite.TestWorkflowEnvironment, _ *shop) {
			env.SignalWorkflow(orderSignal, order{Submission: 2, Risky: true, Accept: []journal.Acceptance{journal.AcceptNoOrderGuard}})
		}},
		{"the merchant's function fails when the outcome is known", func(env *testsuite.TestWorkflowEnvironment, s *shop) {
			s.Store.(*losing).lost.Store(false)
			s.reporting = func() error {
				s.Store.(*losing).lost.Store(true)
				return errors.New("down")
			}
			env.SignalWorkflow(notifiedSignal, nil)
		}},
		{"the gateway is down", func(_ *testsuite.TestWorkflowEnvironment, s *shop) { s.cannotSend.Store(true) }},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newShop(t)
			store := &losing{Store: s.Store}
			s.Store = store
			s.gateway.Inject(sandbox.Fault{Operation: sandbox.OpTokenPayment, Reply: sandbox.ReplyClose})
			env := s.env(t)
			env.RegisterDelayedCallback(func() {
				store.lost.Store(true)
				test.with(env, s)
			}, time.Minute)
			env.ExecuteWorkflow(Settle, Settlement{ID: journal.PaymentID("t-1"), FirstQuery: 10 * time.Minute})
			failed, ok := errors.AsType[*sdk.ApplicationError](env.GetWorkflowError())
			if n := s.gateway.Executed("t-1"); !ok || failed.Type() != Lost || n != 1 || s.calls.Load() != 1 {
				t.Errorf("got %v, %d charges and %d calls of Submit, want one of each", env.GetWorkflowError(), n, s.calls.Load())
			}
		})
	}
}

// TestLostWhileSubmitting: the journal loses the entry, or cannot be read, when the payment has been sent, and its worker has not yet
// returned. Only what was certainly not sent is submitted again, whatever the merchant's function makes of the error.
func TestLostWhileSubmitting(t *testing.T) {
	t.Run("ordered", func(t *testing.T) {
		s := newShop(t)
		store := &losing{Store: s.Store}
		s.Store = store
		s.cannotSend.Store(true)
		s.Submit = func(_ context.Context, m Methods, id journal.ID) error {
			err := s.submit(context.Background(), m, id)
			s.cannotSend.Store(false)
			store.behind.Store(s.calls.Load() == 2)
			return err
		}
		env := s.env(t)
		for after := range 2 {
			env.RegisterDelayedCallback(func() { env.SignalWorkflow(orderSignal, order{Submission: 2}) }, time.Duration(after+1)*time.Minute)
		}
		env.ExecuteWorkflow(Settle, Settlement{ID: journal.PaymentID("t-1")})
		failed, ok := errors.AsType[*sdk.ApplicationError](env.GetWorkflowError())
		if n := s.gateway.Executed("t-1"); !ok || failed.Type() != Lost || n != 1 || s.calls.Load() != 2 {
			t.Errorf("got %v, %d charges and %d calls of Submit; want Lost, 1 and 2", env.GetWorkflowError(), n, s.calls.Load())
		}
	})
	for _, refund := range []bool{false, true} {
		for _, cannotSend := range []bool{false, true} {
			for name, returns := range map[string]error{"no error": nil, "an error of its own": errors.New("x"), "not sent": cardgateway.ErrNotSent} {
				t.Run(fmt.Sprintf("refund %v, not sent %v, %s", refund, cannotSend, name), func(t *testing.T) {
					s, id, executed := newShop(t), journal.PaymentID("t-1"), 0
					store := &losing{Store: s.Store}
					s.Store = store
					if refund {
						s.pays(t)
						id = journal.RefundID("r-1")
					}
					s.cannotSend.Store(cannotSend)
					s.Submit = func(_ context.Context, m Methods, id journal.ID) error {
						_ = s.submit(context.Background(), m, id) // its error is lost, and its context another one
						store.lost.Store(s.calls.Load() == 1)
						s.cannotSend.Store(false)
						return returns
					}
					env := s.env(t)
					env.ExecuteWorkflow(Settle, Settlement{ID: id})
					if executed = s.gateway.Executed("t-1"); refund {
						executed = s.gateway.Refunded("r-1")
					}
					failed, ok := errors.AsType[*sdk.ApplicationError](env.GetWorkflowError())
					if lost := ok && failed.Type() == Lost; executed != 1 || lost == cannotSend {
						t.Errorf("got %v and executed %d times, want 1", env.GetWorkflowError(), executed)
					}
				})
			}
		}
	}
}

// TestFunctionsThatDoNotReturn: a function of the merchant's that ignores its context keeps no place of the worker, and is not called again
// for its id until it has returned; one that ends its goroutine has failed.
func TestFunctionsThatDoNotReturn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var calls atomic.Int32
		p, stuck := &payments{}, make(chan struct{})
		call := func(id string, what func()) error {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			return p.guarded(ctx, running{reportName, journal.PaymentID(id)}, func() error {
				calls.Add(1)
				what()
				return nil
			})
		}
		wait := func() { <-stuck }
		for range 3 {
			if err := call("a", wait); err == nil {
				t.Error("a function that has not returned: no error")
			}
		}
		if err := call("b", func() {}); err != nil || calls.Load() != 2 {
			t.Errorf("%d calls, and %v for another id; want 2, and no error", calls.Load(), err)
		}
		close(stuck)
		synctest.Wait()
		if err := call("a", wait); err != nil {
			t.Errorf("once it has returned: %v", err)
		}
		if err := call("a", runtime.Goexit); err == nil {
			t.Error("a function that has ended its goroutine: no error")
		}
	})
}
