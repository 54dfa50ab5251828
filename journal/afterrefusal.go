package journal

import (
	"context"

	"github.com/cardgateway/cardgateway-go"
)

// AfterRefusal submits payments again that the gateway refused. Journal.AfterRefusal returns it.
type AfterRefusal struct{ j *Journal }

// AfterRefusal returns the payment methods, and CreateRefund, in a form that submits a payment again after the gateway
// refused it: because of invalid credentials, too many requests, or an inactive merchant. Correct the cause, and call again
// with the same transactionId, amount, currency and order. If one of these was itself wrong, use a new transactionId.
//
// A refusal is the gateway's statement and not a proof, so the call queries the gateway first, and submits the payment only
// if the gateway does not know it. If the query fails, the call returns ErrNotSent; if the gateway has the payment, it
// returns its outcome. A search can show a payment late, so the first submission may still have been processed: as with
// PayAgainRiskingSecondCharge, a decline is not taken as the outcome before AbsentAfter; the call returns an
// *OutcomeUnknownError with cause ErrRepeatDeclined. A payment that was not refused is handled as by the normal method.
func (j *Journal) AfterRefusal() AfterRefusal { return AfterRefusal{j} }

// TokenPayment is Journal.TokenPayment, and also submits after a refusal.
func (a AfterRefusal) TokenPayment(ctx context.Context, token cardgateway.Token, req cardgateway.TokenPaymentRequest) (*cardgateway.Transaction, error) {
	return a.pay(ctx, a.j.tokenPayment(token, req))
}

// CreateTokenOrder is Journal.CreateTokenOrder, and also submits after a refusal.
func (a AfterRefusal) CreateTokenOrder(ctx context.Context, req cardgateway.TokenOrderRequest) (*cardgateway.Transaction, error) {
	return a.pay(ctx, a.j.tokenOrder(req))
}

// CreateSubscription is Journal.CreateSubscription, and also submits after a refusal.
func (a AfterRefusal) CreateSubscription(ctx context.Context, req cardgateway.SubscriptionRequest) (*cardgateway.Transaction, error) {
	return a.pay(ctx, a.j.subscription(req))
}

// CreateCheckout is Journal.CreateCheckout, and also submits after a refusal.
func (a AfterRefusal) CreateCheckout(ctx context.Context, req cardgateway.CheckoutRequest) (*cardgateway.Transaction, error) {
	return a.pay(ctx, a.j.checkout(req))
}

// CreateCheckoutSubscription is Journal.CreateCheckoutSubscription, and also submits after a refusal.
func (a AfterRefusal) CreateCheckoutSubscription(ctx context.Context, req cardgateway.CheckoutSubscriptionRequest) (*cardgateway.Transaction, error) {
	return a.pay(ctx, a.j.checkoutSubscription(req))
}

// CreateRefund is Journal.CreateRefund, and also submits after a refusal.
func (a AfterRefusal) CreateRefund(ctx context.Context, req cardgateway.RefundRequest) (*cardgateway.Refund, error) {
	refund := a.j.refund(req)
	refund.accepts = afterRefusal
	return a.j.payBack(ctx, refund)
}

func (a AfterRefusal) pay(ctx context.Context, p *payment) (*cardgateway.Transaction, error) {
	p.accepts = afterRefusal
	return a.j.pay(ctx, p)
}
