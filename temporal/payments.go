package temporal

import (
	"context"
	"errors"
	"runtime/debug"
	"sync"
	"time"

	"go.temporal.io/sdk/activity"
	sdk "go.temporal.io/sdk/temporal"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/journal"
)

// Payments is what a worker needs to make the payments and refunds of one shop. All fields except Journal are required. A function should
// return when its context ends; until it has, it is not called again for the same id.
type Payments struct {
	Client  *cardgateway.Client
	Store   journal.Store   // shared by all workers: a database, not a SQLite file
	Journal journal.Options // Observe is not called: nothing here calls Recover

	// Submit makes the payment or the refund with this id, by one call of the method of m that it needs, and returns the error
	// of that call. It loads the request, and the token or the card, by the id: Temporal stores the id only. A second call
	// with the same id sends nothing. An error that it returns before the call is not stored anywhere: log it. Submit is
	// then called again, until Settlement.SubmitWithin has passed.
	Submit func(ctx context.Context, m Methods, id journal.ID) error

	// Report stores the entry's Outcome in your own database, as the function that is passed to journal.Journal.Run does, and
	// must be idempotent. It is called whenever the state or the number of submissions has changed, and again until it returns
	// nil; the gateway is queried meanwhile. After that, an entry that has an outcome (NotSent, Abandoned, Declined, Succeeded or
	// Tested) is acknowledged.
	Report func(ctx context.Context, e journal.Entry) error
}

// Methods are the methods that make a payment or a refund. *journal.Journal has them, and journal.Again.
type Methods interface {
	CreateTokenOrder(context.Context, cardgateway.TokenOrderRequest) (*cardgateway.Transaction, error)
	TokenPayment(context.Context, cardgateway.Token, cardgateway.TokenPaymentRequest) (*cardgateway.Transaction, error)
	CreateSubscription(context.Context, cardgateway.SubscriptionRequest) (*cardgateway.Transaction, error)
	CreateCheckout(context.Context, cardgateway.CheckoutRequest) (*cardgateway.Transaction, error)
	CreateCheckoutSubscription(context.Context, cardgateway.CheckoutSubscriptionRequest) (*cardgateway.Transaction, error)
	CreateRefund(context.Context, cardgateway.RefundRequest) (*cardgateway.Refund, error)
}

// Status is what the workflow knows about a payment or a refund. The journal's entry has the details.
type Status struct {
	State       string    // a journal.State in words; empty if nothing has begun
	Submissions int       // recorded in the journal, including those that are proved not sent; also if the journal has lost them since
	SentAt      time.Time // when the last of them was recorded
}

// isLessThan reports whether other knows more. As evidence is added, the state of a submission goes up in the order of
// journal.State, except that what was presumed absent can become unknown again.
func (s Status) isLessThan(other Status) bool {
	if s.Submissions != other.Submissions {
		return s.Submissions < other.Submissions
	}
	return rank(s.State) < rank(other.State) && other.State != journal.PresumedAbsent.String()
}

// rank returns the place of a state, in words, in the order of journal.State.
func rank(state string) (r journal.State) {
	for r = journal.Unknown; r < journal.Conflicting && r.String() != state; r++ {
	}
	return r
}

func statusOf(e *journal.Entry) Status {
	s := Status{State: e.State().String(), Submissions: 1, SentAt: e.Intent().At.UTC()}
	for i := range e.Evidence {
		if e.Evidence[i].Source == journal.SourceSubmission {
			s.Submissions++
		}
	}
	return s
}

// order says which submission is to be made, and which risk is accepted for it. It names the number of the submission, so that
// a repeated order, or one that is replayed when the workflow is reset, submits nothing.
type order struct {
	Submission int
	Risky      bool // pay again what is presumed absent
	Accept     []journal.Acceptance
}

// payments has the activities for payments and refunds.
type payments struct {
	Payments
	journal *journal.Journal
	beat    func(ctx context.Context, taskToken []byte, details ...any) error // sends a heartbeat to the engine

	running sync.Map // the calls of functions of the merchant's that have not returned
}

func newPayments(p Payments, beat func(ctx context.Context, taskToken []byte, details ...any) error) (*payments, error) {
	if p.Client == nil || p.Store == nil || p.Submit == nil || p.Report == nil {
		return nil, errors.New("temporal: Payments needs Client, Store, Submit and Report")
	}
	return &payments{Payments: p, journal: journal.New(p.Client, p.Store, p.Journal), beat: beat}, nil
}

// submit makes the ordered submission, unless the journal shows that it has been made, or that it must not be made. That a
// submission is sent at most once is the promise of the journal, however often the engine starts this activity.
func (p *payments) submit(ctx context.Context, id journal.ID, o order) (Status, error) {
	// If the workflow is terminated or reset, the engine cancels ctx. A request that is being sent is not interrupted by that.
	deadline, _ := ctx.Deadline()
	ctx, cancel := context.WithDeadline(context.WithoutCancel(ctx), deadline)
	defer cancel()
	n := &noting{id: id.Text, send: func(details ...any) error {
		return p.beat(ctx, activity.GetInfo(ctx).TaskToken, details...)
	}}
	defer beating(func() { _ = n.beat(0) })() // the next one may succeed, and without them the engine gives the activity up
	before, err := p.status(ctx, id)
	if err != nil || before.Submissions != o.Submission-1 {
		return before, err
	}
	switch before.State {
	case "", journal.NotSent.String():
		n.Methods = p.journal
	case journal.Refused.String():
		n.Methods = p.journal.AfterRefusal()
	case journal.PresumedAbsent.String():
		if !o.Risky {
			return before, nil
		}
		n.Methods = p.journal.PayAgainRiskingSecondCharge(o.Accept...)
	default:
		return before, nil
	}
	// What the call returned is in the journal; its error, which the merchant's function may have written, is not stored by
	// the engine.
	err = p.guarded(ctx, running{submitName, id}, func() error { return p.Submit(ctx, n, id) })
	if errors.Is(err, journal.ErrMismatch) && !n.mayHaveSent() { // otherwise the payment is followed, whatever else the function returns
		return Status{}, sdk.NewNonRetryableApplicationError("another payment or refund has this id", Mismatch, nil)
	}
	s, err := p.status(context.WithoutCancel(ctx), id)
	if n.mayHaveSent() && (err != nil || !before.isLessThan(s)) {
		return Status{}, sdk.NewNonRetryableApplicationError("the journal does not show what may have been sent", Lost, nil)
	}
	return s, err
}

// status reads the journal.
func (p *payments) status(ctx context.Context, id journal.ID) (Status, error) {
	e, err := p.journal.Get(ctx, id)
	switch {
	case errors.Is(err, journal.ErrNoEntry):
		return Status{}, nil
	case err != nil:
		return Status{}, err
	}
	return statusOf(&e), nil
}

// query queries the gateway if the journal has no outcome, and records what it returns.
func (p *payments) query(ctx context.Context, id journal.ID) (Status, error) {
	defer beating(func() { activity.RecordHeartbeat(ctx) })()
	s, err := p.status(ctx, id)
	if err != nil || s.Submissions == 0 || s.settled() {
		return s, err
	}
	var e journal.Entry
	err = p.guarded(ctx, running{queryName, id}, func() (err error) { // a hook of the client may panic, or not return
		e, err = p.journal.Resolve(ctx, id)
		return err
	})
	if err != nil {
		return s, err
	}
	if s = statusOf(&e); e.LastQueryError() != nil {
		return s, errors.New("the gateway could not be queried") // the journal's Logger has the reason
	}
	return s, nil
}

// report tells the merchant what the journal has, and acknowledges it as journal.Journal.Run does. It returns what was told.
func (p *payments) report(ctx context.Context, id journal.ID) (Status, error) {
	defer beating(func() { activity.RecordHeartbeat(ctx) })()
	e, err := p.journal.Get(ctx, id)
	if errors.Is(err, journal.ErrNoEntry) {
		return Status{}, sdk.NewNonRetryableApplicationError("the journal has lost the entry", Lost, nil)
	}
	if err != nil {
		return Status{}, err
	}
	if err := p.guarded(ctx, running{reportName, id}, func() error { return p.Report(ctx, e) }); err != nil {
		return Status{}, errors.New("the function Report has failed") // without its text, which the engine would store
	}
	s := statusOf(&e)
	if e.State() != journal.Conflicting && (s.settled() || e.State() == journal.NotSent) {
		return s, p.journal.Ack(ctx, id, e.State()) // if the state has changed since: ErrChanged, and the engine tries again
	}
	return s, nil
}

// running is a call of a function of the merchant's.
type running struct {
	name string
	id   journal.ID
}

// guarded calls a function of the merchant's, or what calls hooks of the client. A panic is an error, because the engine would store its text.
// A function that does not return is waited for until maxStop after the end of ctx, and not called again for this id until it has returned:
// otherwise each attempt would keep one of the worker's places, until no payment begins any more.
func (p *payments) guarded(ctx context.Context, what running, call func() error) error {
	if _, isRunning := p.running.LoadOrStore(what, true); isRunning {
		return errors.New("a function of Payments has not returned since an earlier call")
	}
	err, ended := errors.New("a function of Payments has ended its goroutine"), make(chan struct{})
	go func() {
		defer close(ended)
		defer p.running.Delete(what)
		defer func() {
			if recover() != nil {
				activity.GetLogger(ctx).Error("a function of Payments has panicked", "stack", string(debug.Stack())) // which has no values
				err = errors.New("a function of Payments has panicked")
			}
		}()
		err = call()
	}()
	over := make(chan struct{})
	defer context.AfterFunc(ctx, func() { time.AfterFunc(maxStop, func() { close(over) }) })()
	select {
	case <-ended:
		return err
	case <-over:
		return errors.New("a function of Payments has not returned")
	}
}

// settled reports whether the workflow ends with this status.
func (s Status) settled() bool {
	switch s.State {
	case journal.Abandoned.String(), journal.Declined.String(), journal.Succeeded.String(), journal.Tested.String(),
		journal.Conflicting.String():
		return true
	}
	return false
}

// heartbeatTimeout is after which time without a sign of life the engine gives an activity's worker up.
const heartbeatTimeout = 10 * time.Second

// beating calls send often enough until the function that it returns is called.
func beating(send func()) (stop func()) {
	done := make(chan struct{})
	var ends sync.WaitGroup
	ends.Go(func() {
		ticker := time.NewTicker(heartbeatTimeout / 4)
		defer ticker.Stop()
		for {
			select {
			case <-ticker.C:
				send()
			case <-done:
				return
			}
		}
	})
	return func() {
		close(done)
		ends.Wait()
	}
}
