package journal

import (
	"context"

	"github.com/cardgateway/cardgateway-go"
)

// PayAgain submits payments again. Journal.PayAgainRiskingSecondCharge returns it; its name is the warning.
type PayAgain struct{ j *Journal }

// PayAgainRiskingSecondCharge returns the payment methods, and CreateRefund, in a form that submits a payment again
// after it was presumed absent, or refused. Apart from AfterRefusal, nothing else in this package ever does.
//
// The risk that you accept: absence is only presumed. If the first request is still on its way, the customer can be
// charged twice. Two ids may prevent that, and both are kept: the transactionId, which "is generally used to
// prevent repeated submission of one order", and the orderId, of which "only one successful transaction exists". So
// the request must be the same as the first time; another amount, currency or order is a *MismatchError.
//
// A payment that was never begun, or is NotSent, is submitted as by the normal method. A payment in any other state is not
// submitted: the call returns what is known, as the normal method does. A decline of the repeated submission is not taken
// as the outcome, because it may only mean that the gateway detected the repetition: the call returns an
// *OutcomeUnknownError with cause ErrRepeatDeclined, and Recover resolves it by queries.
func (j *Journal) PayAgainRiskingSecondCharge() PayAgain { return PayAgain{j} }

// Acceptance states in your source code which risk you accept beyond that of PayAgainRiskingSecondCharge.
type Acceptance int

// AcceptNoOrderGuard accepts that a token payment has no orderId, so that the gateway's documented rule of one
// successful transaction per order cannot prevent a second charge.
const AcceptNoOrderGuard Acceptance = 1

// AcceptSecondRefund accepts that a refund has no id but its own, and that no gateway publishes whether it rejects
// a repeated one: the refund can be made twice, as far as the payment's amount allows.
const AcceptSecondRefund Acceptance = 2

// TokenPayment charges the card again. Without AcceptNoOrderGuard it sends nothing and returns a
// *cardgateway.ValidationError.
func (p PayAgain) TokenPayment(ctx context.Context, token cardgateway.Token, req cardgateway.TokenPaymentRequest, accept Acceptance) (*cardgateway.Transaction, error) {
	if accept != AcceptNoOrderGuard {
		return nil, notAccepted(opTokenPayment, "AcceptNoOrderGuard to charge a token again")
	}
	return p.pay(ctx, p.j.tokenPayment(token, req))
}

// CreateTokenOrder creates the order again. This moves no money.
func (p PayAgain) CreateTokenOrder(ctx context.Context, req cardgateway.TokenOrderRequest) (*cardgateway.Transaction, error) {
	return p.pay(ctx, p.j.tokenOrder(req))
}

// CreateSubscription starts the subscription again. If both requests arrive, and the gateway checks neither id, the
// customer has two subscriptions.
func (p PayAgain) CreateSubscription(ctx context.Context, req cardgateway.SubscriptionRequest) (*cardgateway.Transaction, error) {
	return p.pay(ctx, p.j.subscription(req))
}

// CreateCheckout creates the checkout again. This moves no money, but a customer who is redirected to both pages could pay
// twice.
func (p PayAgain) CreateCheckout(ctx context.Context, req cardgateway.CheckoutRequest) (*cardgateway.Transaction, error) {
	return p.pay(ctx, p.j.checkout(req))
}

// CreateCheckoutSubscription creates the checkout again, as CreateCheckout does.
func (p PayAgain) CreateCheckoutSubscription(ctx context.Context, req cardgateway.CheckoutSubscriptionRequest) (*cardgateway.Transaction, error) {
	return p.pay(ctx, p.j.checkoutSubscription(req))
}

// CreateRefund submits the refund again. Without AcceptSecondRefund it sends nothing and returns a
// *cardgateway.ValidationError.
func (p PayAgain) CreateRefund(ctx context.Context, req cardgateway.RefundRequest, accept Acceptance) (*cardgateway.Refund, error) {
	if accept != AcceptSecondRefund {
		return nil, notAccepted(opRefund, "AcceptSecondRefund to submit a refund again")
	}
	refund := p.j.refund(req)
	refund.accepts = riskingTwice
	return p.j.payBack(ctx, refund)
}

func notAccepted(operation, what string) error { return invalid(operation, "accept", "must be "+what) }

func (p PayAgain) pay(ctx context.Context, pay *payment) (*cardgateway.Transaction, error) {
	pay.accepts = riskingTwice
	return p.j.pay(ctx, pay)
}
