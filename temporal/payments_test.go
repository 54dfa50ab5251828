package temporal

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/log"
	sdk "go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/workflow"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/journal"
	"github.com/cardgateway/cardgateway-go/sandbox"
)

// shop is a merchant with a gateway that charges as often as it is asked to.
type shop struct {
	Payments
	gateway *sandbox.Server
	token   string
	calls   atomic.Int32 // of Submit
	told    []string     // what was reported
	fails   error        // of Submit, before it calls anything
}

func newShop(t *testing.T) *shop {
	t.Helper()
	gateway, err := sandbox.Start(sandbox.Options{
		NoNotifications: true, Duplicates: sandbox.DuplicatesExecuted, RefundDuplicates: sandbox.RefundDuplicatesExecuted,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(gateway.Close)
	client, err := cardgateway.New(configFor(gateway.URL))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.CloseIdleConnections)
	s := &shop{gateway: gateway, token: gateway.NewToken(sandbox.Approved)}
	s.Payments = Payments{
		Client: client, Store: journal.NewMemoryStore(), Submit: s.submit,
		Report: func(_ context.Context, e journal.Entry) error {
			s.told = append(s.told, e.State().String())
			return nil
		},
	}
	return s
}

func configFor(url string) cardgateway.Config {
	return cardgateway.Config{BaseURL: url, AppID: "1", AttemptTimeout: 5 * time.Second, InsecureHTTP: true}
}

// request is the payment that a shop makes for an id.
func request(id string) cardgateway.TokenPaymentRequest {
	return cardgateway.TokenPaymentRequest{
		TransactionID: id, Currency: "USD", Amount: decimal.NewFromInt(5), TransactionIP: "203.0.113.7",
		CallbackURL: "https://shop.example/", NotificationURL: "https://shop.example/n",
		ProductInfos: []cardgateway.ProductInfo{{ProductName: "Candle"}},
	}
}

func (s *shop) submit(ctx context.Context, m Methods, id journal.ID) error {
	s.calls.Add(1)
	if s.fails != nil {
		return s.fails
	}
	if id.Refund {
		_, err := m.CreateRefund(ctx, cardgateway.RefundRequest{UniqueID: "1", RefundTransactionID: id.Text, Amount: decimal.NewFromInt(5)})
		return err
	}
	_, err := m.TokenPayment(ctx, cardgateway.NewToken(s.token), request(id.Text))
	return err
}

// env returns a test environment with the shop's activities.
func (s *shop) env(t *testing.T) *testsuite.TestWorkflowEnvironment {
	t.Helper()
	p, err := newPayments(s.Payments)
	if err != nil {
		t.Fatal(err)
	}
	var suite testsuite.WorkflowTestSuite
	suite.SetLogger(log.NewStructuredLogger(slog.New(slog.DiscardHandler)))
	env := suite.NewTestWorkflowEnvironment()
	env.SetTestTimeout(time.Minute)
	p.register(env, registry{env})
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
	env.ExecuteWorkflow(settleName, in)
	var got Status
	if err := env.GetWorkflowError(); err != nil {
		t.Fatal(err)
	}
	if err := env.GetWorkflowResult(&got); err != nil {
		t.Fatal(err)
	}
	return got
}

// TestLostResponse: the response to a payment, or its request, is lost, and the workflow finds the outcome.
func TestLostResponse(t *testing.T) {
	for _, fault := range sandbox.Faults(10 * time.Second) {
		if fault.Before > 0 || fault.After > 0 || fault.Late > 0 {
			continue // takes as long in reality
		}
		t.Run(fault.Name, func(t *testing.T) {
			s := newShop(t)
			fault.Operation = sandbox.OpTokenPayment
			s.gateway.Inject(fault.Fault)
			in := Settlement{ID: journal.PaymentID("t-1"), KeepOpen: time.Minute}
			executed := fault.Commit == sandbox.CommitNow
			env := s.env(t)
			if !executed {
				env.RegisterDelayedCallback(env.CancelWorkflow, time.Hour)
			}
			env.ExecuteWorkflow(settleName, in)
			var got Status
			if err := env.GetWorkflowError(); err == nil {
				err = env.GetWorkflowResult(&got)
				if err != nil {
					t.Fatal(err)
				}
			}
			want := map[bool]int{true: 1}[executed]
			if n := s.gateway.Executed("t-1"); n != want {
				t.Errorf("got %d charges, want %d", n, want)
			}
			if executed && got.State != "succeeded" {
				t.Errorf("got %+v, want that it succeeded", got)
			}
			if s.calls.Load() != 1 {
				t.Errorf("got %d calls of Submit, want 1", s.calls.Load())
			}
		})
	}
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
				p, err := newPayments(s.Payments)
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

// TestPresumedAbsent: a payment that the gateway has not known for a day is paid again only by an order that accepts the risk,
// and only once by each order.
func TestPresumedAbsent(t *testing.T) {
	s := newShop(t)
	id := journal.PaymentID("t-1")
	in := journal.Intent{
		Shop: journal.New(s.Client, s.Store, s.Journal).Shop(), ID: id, Operation: "TokenPayment", Amount: decimal.NewFromInt(5), Currency: "USD",
		At: time.Now().Add(-25 * time.Hour), Sender: "killed",
	}
	if _, _, err := s.Store.Begin(t.Context(), in); err != nil {
		t.Fatal(err)
	}
	again := func(o order) func(*testsuite.TestWorkflowEnvironment) {
		return func(env *testsuite.TestWorkflowEnvironment) {
			env.RegisterDelayedCallback(func() { env.SignalWorkflow(orderSignal, o) }, time.Minute)
		}
	}
	accepted := []journal.Acceptance{journal.AcceptNoOrderGuard}
	for _, test := range []struct {
		name     string
		order    order
		state    string
		executed int
	}{
		{"not the risk", order{Submission: 2}, "presumed absent", 0},
		{"not the risk, although the missing order", order{Submission: 2, Accept: accepted}, "presumed absent", 0},
		{"not the missing order", order{Submission: 2, Risky: true}, "presumed absent", 0},
		{"another submission", order{Submission: 1, Risky: true, Accept: accepted}, "presumed absent", 0},
		{"accepted", order{Submission: 2, Risky: true, Accept: accepted}, "succeeded", 1},
		{"accepted once more", order{Submission: 2, Risky: true, Accept: accepted}, "succeeded", 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := s.settle(t, Settlement{ID: id, KeepOpen: time.Hour, FirstQuery: 10 * time.Minute}, again(test.order))
			if n := s.gateway.Executed("t-1"); got.State != test.state || n != test.executed {
				t.Errorf("got %+v and %d charges, want %s and %d", got, n, test.state, test.executed)
			}
		})
	}
}

// TestRefund: a refund goes the same way.
func TestRefund(t *testing.T) {
	s := newShop(t)
	paid, err := s.Client.TokenPayment(t.Context(), cardgateway.NewToken(s.token), request("t-1"))
	if err != nil {
		t.Fatal(err)
	}
	s.Submit = func(ctx context.Context, m Methods, id journal.ID) error {
		_, err := m.CreateRefund(ctx, cardgateway.RefundRequest{UniqueID: paid.UniqueID, RefundTransactionID: id.Text, Amount: decimal.NewFromInt(5)})
		return err
	}
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

// TestNothingBegun: what fails before the journal is reached is tried again, until the time is over.
func TestNothingBegun(t *testing.T) {
	s := newShop(t)
	s.fails = errors.New("the orders cannot be read: tok123")
	env := s.env(t)
	env.ExecuteWorkflow(settleName, Settlement{ID: journal.PaymentID("t-1"), SubmitWithin: time.Minute})
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

// TestReportErrorIsNotStored: the text of an error of the merchant's function, which may contain anything, does not reach Temporal.
func TestReportErrorIsNotStored(t *testing.T) {
	s := newShop(t)
	s.settle(t, Settlement{ID: journal.PaymentID("t-1")})
	s.Report = func(context.Context, journal.Entry) error { return errors.New("cannot store tok123") }
	p, err := newPayments(s.Payments)
	if err != nil {
		t.Fatal(err)
	}
	var suite testsuite.WorkflowTestSuite
	suite.SetLogger(quiet)
	env := suite.NewTestActivityEnvironment()
	env.RegisterActivity(p.report)
	if _, err := env.ExecuteActivity(p.report, journal.PaymentID("t-1")); err == nil || strings.Contains(fmt.Sprintf("%+v", err), "tok123") {
		t.Errorf("got %v, want an error without the function's text", err)
	}
}

// TestPaymentsInvalid: a worker without what it needs does not start.
func TestPaymentsInvalid(t *testing.T) {
	if _, err := newPayments(Payments{}); err == nil {
		t.Error("got no error")
	}
}
