package journal

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/internal/random"
)

// payment is one call of a payment method or of CreateRefund.
type payment struct {
	intent  Intent
	accepts resubmission
	secrets secrets
	send    func(context.Context) (shown, error)
}

// pay makes a payment, or waits for the call that is making it, or returns what is known about it.
func (j *Journal) pay(ctx context.Context, p *payment) (*cardgateway.Transaction, error) {
	s, err := j.do(ctx, p)
	return s.transaction, err
}

// do makes a payment or a refund.
func (j *Journal) do(ctx context.Context, p *payment) (shown, error) {
	p.intent.Shop = j.shop
	if err := needContext(ctx, p.intent.Operation); err != nil {
		return shown{}, j.unclaimed(p, err)
	}
	if !p.intent.recordable() {
		s, err := p.refuse(ctx)
		return s, j.unclaimed(p, err)
	}
	p.intent.At, p.intent.Sender = time.Now().Round(0), random.Text()
	c, mine := j.calls.start(&p.intent)
	if !mine {
		return c.wait(ctx, &p.intent)
	}
	defer j.calls.finish(c)
	c.shown, c.err = j.payOnce(ctx, p)
	return c.result()
}

// payOnce claims the payment for this call, sends it, and records the outcome.
func (j *Journal) payOnce(ctx context.Context, p *payment) (shown, error) {
	e, mine, err := j.claim(ctx, p.intent, p.accepts)
	if err != nil {
		return shown{}, j.unclaimed(p, err)
	}
	if !mine {
		j.memory.returned(&e, e.project())
		return e.outcome()
	}
	j.memory.returned(&e, e.project()) // Unknown: if this call never returns, its caller knows no more than that
	s, err := p.send(ctx)
	return j.conclude(ctx, p, e, s, err)
}

// unclaimed returns the error of a call that could not claim the payment: this call sent nothing. But if an earlier call
// of this Journal may have sent the payment, it returns an unknown outcome instead, because "not sent" would be taken for
// a statement about the payment. That is not so after a refusal, which the caller of AfterRefusal knows.
func (j *Journal) unclaimed(p *payment, err error) error {
	before := j.memory.get(p.intent.ID)
	notSent, ok := errors.AsType[*cardgateway.NotSentError](err)
	switch {
	case before.intent == nil || !ok || before.state == NotSent || before.state == Refused && p.accepts == afterRefusal:
		return err
	case !before.intent.same(&p.intent):
		return &MismatchError{Asked: p.intent, Recorded: *before.intent}
	}
	return before.intent.unknown(notSent.Cause)
}

// conclude records the result of a submission before it returns it. If another
// process has meanwhile recorded more from a query, it returns that instead.
func (j *Journal) conclude(ctx context.Context, p *payment, e Entry, s shown, err error) (shown, error) {
	ev := observed(s, err, e.project().once)
	ev.Sender = p.intent.Sender
	p.secrets.removeFrom(ev.Transaction)
	e, failed := j.record(ctx, e, ev)
	j.memory.setChanged(p.intent.ID)
	if failed != nil {
		return p.unrecorded(s, err, failed)
	}
	if ev.Invalid {
		_ = j.ack(context.WithoutCancel(ctx), &e) // best effort: otherwise Recover reports that it was not sent
		j.memory.returned(&e, e.project())
		return shown{}, err
	}
	known := e.project()
	j.memory.returned(&e, known)
	switch {
	case known.conflict || known.state >= Pending && known.state != ev.State:
		return e.outcome()
	case ev.State == Unknown && errors.Is(err, cardgateway.ErrDeclined):
		unknown := p.intent.unknown(ErrRepeatDeclined)
		unknown.Transaction, unknown.Refund = s.transaction, s.refund
		return shown{}, unknown
	}
	return s, err
}

// unrecorded returns the outcome of a payment whose outcome could not be recorded. If it is certain that this call sent
// nothing, it returns that error. Everything else it returns as unknown, because the journal does not know it: the
// payment is open, and Recover will report the outcome.
func (p *payment) unrecorded(s shown, err, failed error) (shown, error) {
	if errors.Is(err, cardgateway.ErrNotSent) || errors.Is(err, cardgateway.ErrInvalidRequest) {
		return shown{}, err // in the store the payment stays open, and Ack returns ErrOpen
	}
	unknown := p.intent.unknown(fmt.Errorf("journal: the outcome could not be recorded: %w", failed))
	unknown.Transaction, unknown.Refund = s.transaction, s.refund
	return shown{}, unknown
}

// refuse returns the client's own error for a request whose id or amount cannot be recorded. The client receives a
// context that has already ended, so that it sends nothing even if it does not reject the request.
func (p *payment) refuse(ctx context.Context) (shown, error) {
	over, cancel := context.WithCancelCause(ctx)
	cancel(errUnfit)
	return p.send(over)
}

var errUnfit = errors.New("journal: the request has an id or an amount that cannot be recorded")
