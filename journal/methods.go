package journal

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/cardgateway/cardgateway-go"
)

// CreateTokenOrder is cardgateway.Client.CreateTokenOrder, recorded in the journal. The errors are those of the client, and a
// *MismatchError, a *cardgateway.ConflictError, or causes of this package in a *cardgateway.NotSentError (the store
// cannot be written) and in a *cardgateway.OutcomeUnknownError (ErrOpen, ErrPresumedAbsent, ErrAbandoned). A refusal that an earlier
// call has recorded is a *cardgateway.RefusedError in a *RecordedError.
func (j *Journal) CreateTokenOrder(ctx context.Context, req cardgateway.TokenOrderRequest) (*cardgateway.Transaction, error) {
	return Again{j: j}.CreateTokenOrder(ctx, req)
}

// TokenPayment is cardgateway.Client.TokenPayment, recorded in the journal. The token is not recorded. For errors see
// CreateTokenOrder.
func (j *Journal) TokenPayment(ctx context.Context, token cardgateway.Token, req cardgateway.TokenPaymentRequest) (*cardgateway.Transaction, error) {
	return Again{j: j}.TokenPayment(ctx, token, req)
}

// CreateSubscription is cardgateway.Client.CreateSubscription, recorded in the journal. No card data is recorded. For
// errors see CreateTokenOrder. An unknown outcome is especially serious here: a recurring charge may have been set up,
// and the interface documents no way to cancel it.
func (j *Journal) CreateSubscription(ctx context.Context, req cardgateway.SubscriptionRequest) (*cardgateway.Transaction, error) {
	return Again{j: j}.CreateSubscription(ctx, req)
}

// CreateCheckout is cardgateway.Client.CreateCheckout, recorded in the journal. For errors see CreateTokenOrder.
func (j *Journal) CreateCheckout(ctx context.Context, req cardgateway.CheckoutRequest) (*cardgateway.Transaction, error) {
	return Again{j: j}.CreateCheckout(ctx, req)
}

// CreateCheckoutSubscription is cardgateway.Client.CreateCheckoutSubscription, recorded in the journal. For errors
// see CreateTokenOrder.
func (j *Journal) CreateCheckoutSubscription(ctx context.Context, req cardgateway.CheckoutSubscriptionRequest) (*cardgateway.Transaction, error) {
	return Again{j: j}.CreateCheckoutSubscription(ctx, req)
}

// CreateRefund is cardgateway.Client.CreateRefund, recorded in the journal. The remark is not recorded. A second call with
// the same RefundTransactionID sends nothing after anything may have been sent; it returns what is known. The errors are those
// of CreateTokenOrder, with *cardgateway.RefundConflictError and *cardgateway.RefundUnknownError; a *MismatchError says that a refund
// of another payment or amount has this id.
//
// An accepted refund (code 110) is Pending; Recover reports when it has been made (111), or declined (112).
func (j *Journal) CreateRefund(ctx context.Context, req cardgateway.RefundRequest) (*cardgateway.Refund, error) {
	return Again{j: j}.CreateRefund(ctx, req)
}

// Get returns what the store has about a payment or a refund, or ErrNoEntry. It does not query the gateway.
func (j *Journal) Get(ctx context.Context, id ID) (Entry, error) {
	if err := needContext(ctx, "Get"); err != nil {
		return Entry{}, err
	}
	return j.get(ctx, j.key(id))
}

// Unacked yields what the store has about every payment and refund that you have not acknowledged, as Store.Unacked does. It does
// not query the gateway: see Recover.
func (j *Journal) Unacked(ctx context.Context) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		for e, err := range j.store.Unacked(ctx, j.shop) {
			if !yield(j.own(e), err) {
				return
			}
		}
	}
}

// Resolve queries the gateway for one payment or refund now, records what it shows, and returns the entry as it is then. It queries nothing
// for an entry that is final, acknowledged, or in flight in this Journal. A query that fails, or finds nothing, leaves the state as it is, and
// is no error of Resolve: see Entry.LastQueryError. Options.Wait is how long it queries. The error is ErrNoEntry, an *EntryError, a
// failure of the store, or that of ctx.
//
// Run and Recover do the same for everything that is open. Use Resolve if something else decides when to query for which payment.
func (j *Journal) Resolve(ctx context.Context, id ID) (Entry, error) {
	if err := needContext(ctx, "Resolve"); err != nil {
		return Entry{}, err
	}
	j.cared.Store(true)
	e, err := j.get(ctx, j.key(id))
	if err != nil || !j.shouldAsk(&e, true) {
		return e, err
	}
	e, queryErr, err := j.query(ctx, e, 0)
	e.queryErr = queryErr
	j.soon.change(id)
	return e, err
}

// Ack acknowledges that you have stored the state of a payment or a refund, and what belongs to it: it will not be reported
// again. The state is that of what a payment method returned, see StateOf, or of the Entry. For an entry that is
// Pending, Refused or PresumedAbsent it also means that the journal no longer queries the gateway for it. Acknowledge a
// pending payment only if something else, such as the notification, will report how it ends, and a presumed absent one
// only when it is too late for the request to arrive.
//
// Ack acknowledges the entry if it has this state now, and otherwise nothing. What was recorded since you were told, and has not
// changed the state, is acknowledged with it, such as another attempt on the hosted page of a pending payment. It returns ErrOpen
// for an entry without an outcome (Unknown), ErrChanged for an entry with another state (Recover reports it until it is
// acknowledged), ErrNoEntry for what was never begun, and any failure of the store. A repeated Ack does nothing. It makes no
// difference which process acknowledges, or whether it was restarted since.
func (j *Journal) Ack(ctx context.Context, id ID, stored State) error {
	if err := needContext(ctx, "Ack"); err != nil {
		return err
	}
	for range maxChanges {
		e, err := j.get(ctx, j.key(id))
		if err != nil {
			return err
		}
		switch now := e.State(); {
		case now == Unknown:
			return ErrOpen
		case now != stored:
			return fmt.Errorf("%w: it is %v, and not %v", ErrChanged, now, stored)
		case !e.Unacked():
			return nil
		}
		if err := j.ack(ctx, &e); !errors.Is(err, ErrChanged) {
			return err
		}
	}
	return ErrChanged
}

// StateOf returns the state that the results of a payment method or of CreateRefund state, for Ack. It is Unknown, which is
// never acknowledged, for every error that says something about the call only and not about the payment: not sent, invalid,
// mismatch, or a failure of the store.
func StateOf[R *cardgateway.Transaction | *cardgateway.Refund](result R, err error) State {
	switch {
	case err == nil:
		switch r := any(result).(type) {
		case *cardgateway.Transaction:
			return gatewayResult{transaction: r}.state()
		case *cardgateway.Refund:
			return gatewayResult{refund: r}.state()
		}
	case errors.Is(err, cardgateway.ErrNotSent), errors.Is(err, cardgateway.ErrInvalidRequest): // it may wrap any other
	case errors.Is(err, ErrPresumedAbsent):
		return PresumedAbsent
	case errors.Is(err, ErrAbandoned):
		return Abandoned
	case errors.Is(err, cardgateway.ErrOutcomeUnknown): // it may wrap an outcome that is not certain
	case errors.Is(err, cardgateway.ErrConflict):
		return Conflicting
	case errors.Is(err, cardgateway.ErrTestPayment):
		return Tested
	case errors.Is(err, cardgateway.ErrDeclined):
		return Declined
	case errors.Is(err, cardgateway.ErrRefused):
		return Refused
	}
	return Unknown
}

// Again has the payment methods, and CreateRefund, in a form that submits again. Journal.AfterRefusal and
// Journal.PayAgainRiskingSecondCharge return it. The request must be the same as the first time; another amount, currency or
// order is a *MismatchError. A payment in a state that does not allow another submission is not submitted: the call returns
// what is known, as the normal method does.
type Again struct {
	j        *Journal
	accepts  resubmission
	accepted []Acceptance
}

// AfterRefusal submits a payment again after the gateway refused it: because of invalid credentials, too many requests, or an
// inactive merchant. Correct the cause, and call again with the same transactionId, amount, currency and order. If one of these
// was itself wrong, use a new transactionId.
//
// A refusal is the gateway's statement and not a proof, so the call queries the gateway first, and submits the payment only
// if the gateway does not know it. If the query fails, or the gateway has shown the payment without its outcome, now or
// before, the call returns ErrNotSent; if the gateway has the payment, it returns its outcome. A search can show a payment
// late, so the first submission may still have been processed: as with PayAgainRiskingSecondCharge, a decline is not taken
// as the outcome before AbsentAfter; the call returns an *OutcomeUnknownError with cause ErrRepeatDeclined. A payment that
// was not refused is handled as by the normal method.
func (j *Journal) AfterRefusal() Again { return Again{j: j, accepts: afterRefusal} }

// PayAgainRiskingSecondCharge submits a payment again after it was presumed absent, or refused. Apart from AfterRefusal,
// nothing else in this package ever does. A token payment needs AcceptNoOrderGuard too, and a refund AcceptSecondRefund:
// without it, the method sends nothing and returns a *cardgateway.ValidationError.
//
// What the gateway shows by now is not submitted again: the call queries it first, and if that fails after a presumed absence, it returns
// ErrNotSent. The risk that you accept: absence is only presumed. If the first request is still on its way, or not shown yet, the customer
// can be charged twice. Two ids may prevent that, and both are kept: the transactionId, which "is generally used to
// prevent repeated submission of one order", and the orderId, of which "only one successful transaction exists".
//
// A customer who is redirected to the pages of two token orders or checkouts could pay twice.
// If two requests of CreateSubscription arrive, and the gateway checks neither id, the customer has two subscriptions.
//
// A payment that was never begun, or is NotSent, is submitted as by the normal method. A decline of the repeated submission is
// not taken as the outcome, because it may only mean that the gateway detected the repetition: the call returns an
// *OutcomeUnknownError with cause ErrRepeatDeclined, and Recover resolves it by queries.
func (j *Journal) PayAgainRiskingSecondCharge(accept ...Acceptance) Again {
	return Again{j, riskingTwice, slices.Clone(accept)}
}

// Acceptance states in your source code which risk you accept beyond that of PayAgainRiskingSecondCharge.
type Acceptance int

const (
	// AcceptNoOrderGuard accepts that a token payment has no orderId, so that the gateway's documented rule of one
	// successful transaction per order cannot prevent a second charge.
	AcceptNoOrderGuard Acceptance = 1
	// AcceptSecondRefund accepts that a refund has no id but its own, and that no gateway publishes whether it rejects
	// a repeated one: the refund can be made twice, as far as the payment's amount allows.
	AcceptSecondRefund Acceptance = 2
)

// What the methods submit, for the first time or again. Those of Journal have the zero Again.

// TokenPayment is Journal.TokenPayment, submitted again.
func (a Again) TokenPayment(ctx context.Context, token cardgateway.Token, req cardgateway.TokenPaymentRequest) (*cardgateway.Transaction, error) {
	if a.lacks(AcceptNoOrderGuard) {
		return nil, invalid(opTokenPayment, "accept", "must contain AcceptNoOrderGuard to charge a token again")
	}
	in := Intent{ID: PaymentID(req.TransactionID), Operation: opTokenPayment, Amount: req.Amount, Currency: req.Currency}
	return a.pay(ctx, in, secrets{token: token}, func(ctx context.Context) (*cardgateway.Transaction, error) {
		return a.j.client.TokenPayment(ctx, token, req)
	})
}

// CreateTokenOrder is Journal.CreateTokenOrder, submitted again.
func (a Again) CreateTokenOrder(ctx context.Context, req cardgateway.TokenOrderRequest) (*cardgateway.Transaction, error) {
	in := Intent{ID: PaymentID(req.TransactionID), OrderID: req.OrderID, Operation: opTokenOrder, Amount: req.Amount, Currency: req.Currency}
	return a.pay(ctx, in, secrets{}, func(ctx context.Context) (*cardgateway.Transaction, error) {
		return a.j.client.CreateTokenOrder(ctx, req)
	})
}

// CreateSubscription is Journal.CreateSubscription, submitted again.
func (a Again) CreateSubscription(ctx context.Context, req cardgateway.SubscriptionRequest) (*cardgateway.Transaction, error) {
	in := Intent{
		ID: PaymentID(req.TransactionID), OrderID: req.OrderID, Operation: opSubscription, Amount: req.Amount, Currency: req.Currency,
		SubscriptionCycle: req.Extension.SubscriptionCycle,
	}
	card := secrets{number: req.Card.CardNumber, code: req.Card.CVV}
	return a.pay(ctx, in, card, func(ctx context.Context) (*cardgateway.Transaction, error) {
		return a.j.client.CreateSubscription(ctx, req)
	})
}

// CreateCheckout is Journal.CreateCheckout, submitted again.
func (a Again) CreateCheckout(ctx context.Context, req cardgateway.CheckoutRequest) (*cardgateway.Transaction, error) {
	in := Intent{ID: PaymentID(req.TransactionID), OrderID: req.OrderID, Operation: opCheckout, Amount: req.Amount, Currency: req.Currency}
	return a.pay(ctx, in, secrets{}, func(ctx context.Context) (*cardgateway.Transaction, error) {
		return a.j.client.CreateCheckout(ctx, req)
	})
}

// CreateCheckoutSubscription is Journal.CreateCheckoutSubscription, submitted again.
func (a Again) CreateCheckoutSubscription(ctx context.Context, req cardgateway.CheckoutSubscriptionRequest) (*cardgateway.Transaction, error) {
	in := Intent{
		ID: PaymentID(req.TransactionID), OrderID: req.OrderID, Operation: opCheckoutSubscription, Amount: req.Amount, Currency: req.Currency,
		SubscriptionCycle: req.Extension.SubscriptionCycle,
	}
	return a.pay(ctx, in, secrets{}, func(ctx context.Context) (*cardgateway.Transaction, error) {
		return a.j.client.CreateCheckoutSubscription(ctx, req)
	})
}

// CreateRefund is Journal.CreateRefund, submitted again.
func (a Again) CreateRefund(ctx context.Context, req cardgateway.RefundRequest) (*cardgateway.Refund, error) {
	if a.lacks(AcceptSecondRefund) {
		return nil, invalid(opRefund, "accept", "must contain AcceptSecondRefund to submit a refund again")
	}
	in := Intent{ID: RefundID(req.RefundTransactionID), UniqueID: req.UniqueID, Operation: opRefund, Amount: req.Amount}
	got, err := a.j.submit(ctx, &request{in, a.accepts, secrets{}, func(ctx context.Context) (gatewayResult, error) {
		r, err := a.j.client.CreateRefund(ctx, req)
		return gatewayResult{refund: r}, err
	}})
	return got.refund, err
}

func (a Again) lacks(needed Acceptance) bool {
	return a.accepts == riskingTwice && !slices.Contains(a.accepted, needed)
}

// pay makes a payment, which send sends.
func (a Again) pay(ctx context.Context, in Intent, s secrets, send func(context.Context) (*cardgateway.Transaction, error)) (*cardgateway.Transaction, error) {
	got, err := a.j.submit(ctx, &request{in, a.accepts, s, func(ctx context.Context) (gatewayResult, error) { return ofPayment(send(ctx)) }})
	return got.transaction, err
}

// ofPayment converts the results of a payment method.
func ofPayment(t *cardgateway.Transaction, err error) (gatewayResult, error) {
	return gatewayResult{transaction: t}, err
}
