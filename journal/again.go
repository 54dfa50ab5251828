package journal

import (
	"context"
	"slices"

	"github.com/cardgateway/cardgateway-go"
)

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
// if the gateway does not know it. If the query fails, the call returns ErrNotSent; if the gateway has the payment, it
// returns its outcome. A search can show a payment late, so the first submission may still have been processed: as with
// PayAgainRiskingSecondCharge, a decline is not taken as the outcome before AbsentAfter; the call returns an
// *OutcomeUnknownError with cause ErrRepeatDeclined. A payment that was not refused is handled as by the normal method.
func (j *Journal) AfterRefusal() Again { return Again{j: j, accepts: afterRefusal} }

// PayAgainRiskingSecondCharge submits a payment again after it was presumed absent, or refused. Apart from AfterRefusal,
// nothing else in this package ever does. A token payment needs AcceptNoOrderGuard too, and a refund AcceptSecondRefund:
// without it, the method sends nothing and returns a *cardgateway.ValidationError.
//
// The risk that you accept: absence is only presumed. If the first request is still on its way, the customer can be
// charged twice. Two ids may prevent that, and both are kept: the transactionId, which "is generally used to
// prevent repeated submission of one order", and the orderId, of which "only one successful transaction exists".
//
// CreateTokenOrder and CreateCheckout move no money themselves, but a customer who is redirected to two pages could pay twice.
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

// TokenPayment is Journal.TokenPayment, submitted again.
func (a Again) TokenPayment(ctx context.Context, token cardgateway.Token, req cardgateway.TokenPaymentRequest) (*cardgateway.Transaction, error) {
	if a.lacks(AcceptNoOrderGuard) {
		return nil, invalid(opTokenPayment, "accept", "must contain AcceptNoOrderGuard to charge a token again")
	}
	return a.j.pay(ctx, a.submission(a.j.tokenPayment(token, req)))
}

// CreateTokenOrder is Journal.CreateTokenOrder, submitted again.
func (a Again) CreateTokenOrder(ctx context.Context, req cardgateway.TokenOrderRequest) (*cardgateway.Transaction, error) {
	return a.j.pay(ctx, a.submission(a.j.tokenOrder(req)))
}

// CreateSubscription is Journal.CreateSubscription, submitted again.
func (a Again) CreateSubscription(ctx context.Context, req cardgateway.SubscriptionRequest) (*cardgateway.Transaction, error) {
	return a.j.pay(ctx, a.submission(a.j.subscription(req)))
}

// CreateCheckout is Journal.CreateCheckout, submitted again.
func (a Again) CreateCheckout(ctx context.Context, req cardgateway.CheckoutRequest) (*cardgateway.Transaction, error) {
	return a.j.pay(ctx, a.submission(a.j.checkout(req)))
}

// CreateCheckoutSubscription is Journal.CreateCheckoutSubscription, submitted again.
func (a Again) CreateCheckoutSubscription(ctx context.Context, req cardgateway.CheckoutSubscriptionRequest) (*cardgateway.Transaction, error) {
	return a.j.pay(ctx, a.submission(a.j.checkoutSubscription(req)))
}

// CreateRefund is Journal.CreateRefund, submitted again.
func (a Again) CreateRefund(ctx context.Context, req cardgateway.RefundRequest) (*cardgateway.Refund, error) {
	if a.lacks(AcceptSecondRefund) {
		return nil, invalid(opRefund, "accept", "must contain AcceptSecondRefund to submit a refund again")
	}
	return a.j.payBack(ctx, a.submission(a.j.refund(req)))
}

func (a Again) lacks(needed Acceptance) bool {
	return a.accepts == riskingTwice && !slices.Contains(a.accepted, needed)
}

func (a Again) submission(p *payment) *payment {
	p.accepts = a.accepts
	return p
}
