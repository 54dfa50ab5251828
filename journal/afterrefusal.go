package journal

import (
	"context"

	"github.com/cardgateway/cardgateway-go"
)

// AfterRefusal submits payments once more that the gateway refused. Journal.AfterRefusal makes it.
type AfterRefusal struct{ j *Journal }

// AfterRefusal returns the payment methods, and CreateRefund, in a form that submits a payment again after the gateway
// said that it did not process it: a key that was not valid, too many requests, a merchant who was not active. Correct
// what was wrong, and call again with the same transactionId and the same amount, currency and order; where the request
// itself was wrong in one of those, a new transactionId is needed.
//
// A refusal is the gateway's word and no proof, so it is asked first: only if it answers that it does not have the payment
// is it submitted. If it cannot be asked, the call returns an ErrNotSent; if it has the payment, what became of it. A
// payment that was not refused is treated as by the plain method.
func (j *Journal) AfterRefusal() AfterRefusal { return AfterRefusal{j} }

// TokenPayment is Journal.TokenPayment, also after a refusal.
func (a AfterRefusal) TokenPayment(ctx context.Context, token cardgateway.Token, req cardgateway.TokenPaymentRequest) (*cardgateway.Transaction, error) {
	return a.pay(ctx, a.j.tokenPayment(token, req))
}

// CreateTokenOrder is Journal.CreateTokenOrder, also after a refusal.
func (a AfterRefusal) CreateTokenOrder(ctx context.Context, req cardgateway.TokenOrderRequest) (*cardgateway.Transaction, error) {
	return a.pay(ctx, a.j.tokenOrder(req))
}

// CreateSubscription is Journal.CreateSubscription, also after a refusal.
func (a AfterRefusal) CreateSubscription(ctx context.Context, req cardgateway.SubscriptionRequest) (*cardgateway.Transaction, error) {
	return a.pay(ctx, a.j.subscription(req))
}

// CreateCheckout is Journal.CreateCheckout, also after a refusal.
func (a AfterRefusal) CreateCheckout(ctx context.Context, req cardgateway.CheckoutRequest) (*cardgateway.Transaction, error) {
	return a.pay(ctx, a.j.checkout(req))
}

// CreateCheckoutSubscription is Journal.CreateCheckoutSubscription, also after a refusal.
func (a AfterRefusal) CreateCheckoutSubscription(ctx context.Context, req cardgateway.CheckoutSubscriptionRequest) (*cardgateway.Transaction, error) {
	return a.pay(ctx, a.j.checkoutSubscription(req))
}

// CreateRefund is Journal.CreateRefund, also after a refusal.
func (a AfterRefusal) CreateRefund(ctx context.Context, req cardgateway.RefundRequest) (*cardgateway.Refund, error) {
	refund := a.j.refund(req)
	refund.accepts = afterRefusal
	return a.j.payBack(ctx, refund)
}

func (a AfterRefusal) pay(ctx context.Context, p *payment) (*cardgateway.Transaction, error) {
	p.accepts = afterRefusal
	return a.j.pay(ctx, p)
}
