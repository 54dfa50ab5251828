package journal

import (
	"context"

	"github.com/cardgateway/cardgateway-go"
)

// CreateTokenOrder is cardgateway.Client.CreateTokenOrder, recorded in the journal. The errors are those of the client, and a
// *MismatchError, a *cardgateway.ConflictError, or causes of this package in a *cardgateway.NotSentError (the store
// cannot be written) and in a *cardgateway.OutcomeUnknownError (ErrOpen, ErrPresumedAbsent).
func (j *Journal) CreateTokenOrder(ctx context.Context, req cardgateway.TokenOrderRequest) (*cardgateway.Transaction, error) {
	return j.pay(ctx, j.tokenOrder(req))
}

// TokenPayment is cardgateway.Client.TokenPayment, recorded in the journal. The token is not recorded. For errors see
// CreateTokenOrder.
func (j *Journal) TokenPayment(ctx context.Context, token cardgateway.Token, req cardgateway.TokenPaymentRequest) (*cardgateway.Transaction, error) {
	return j.pay(ctx, j.tokenPayment(token, req))
}

// CreateSubscription is cardgateway.Client.CreateSubscription, recorded in the journal. No card data is recorded. For
// errors see CreateTokenOrder. An unknown outcome is especially serious here: a recurring charge may have been set up,
// and the interface documents no way to cancel it.
func (j *Journal) CreateSubscription(ctx context.Context, req cardgateway.SubscriptionRequest) (*cardgateway.Transaction, error) {
	return j.pay(ctx, j.subscription(req))
}

// CreateCheckout is cardgateway.Client.CreateCheckout, recorded in the journal. For errors see CreateTokenOrder.
func (j *Journal) CreateCheckout(ctx context.Context, req cardgateway.CheckoutRequest) (*cardgateway.Transaction, error) {
	return j.pay(ctx, j.checkout(req))
}

// CreateCheckoutSubscription is cardgateway.Client.CreateCheckoutSubscription, recorded in the journal. For errors
// see CreateTokenOrder.
func (j *Journal) CreateCheckoutSubscription(ctx context.Context, req cardgateway.CheckoutSubscriptionRequest) (*cardgateway.Transaction, error) {
	return j.pay(ctx, j.checkoutSubscription(req))
}

// ofPayment converts the results of a payment method.
func ofPayment(t *cardgateway.Transaction, err error) (shown, error) {
	return shown{transaction: t}, err
}

func (j *Journal) tokenOrder(req cardgateway.TokenOrderRequest) *payment {
	return &payment{
		intent: Intent{
			ID: PaymentID(req.TransactionID), OrderID: req.OrderID, Operation: opTokenOrder,
			Amount: req.Amount, Currency: req.Currency,
		},
		send: func(ctx context.Context) (shown, error) {
			return ofPayment(j.client.CreateTokenOrder(ctx, req))
		},
	}
}

func (j *Journal) tokenPayment(token cardgateway.Token, req cardgateway.TokenPaymentRequest) *payment {
	return &payment{
		intent: Intent{
			ID: PaymentID(req.TransactionID), Operation: opTokenPayment, Amount: req.Amount, Currency: req.Currency,
		},
		secrets: secrets{token: token},
		send: func(ctx context.Context) (shown, error) {
			return ofPayment(j.client.TokenPayment(ctx, token, req))
		},
	}
}

func (j *Journal) subscription(req cardgateway.SubscriptionRequest) *payment {
	return &payment{
		intent: Intent{
			ID: PaymentID(req.TransactionID), OrderID: req.OrderID, Operation: opSubscription,
			Amount: req.Amount, Currency: req.Currency,
		},
		secrets: secrets{number: req.Card.CardNumber, code: req.Card.CVV},
		send: func(ctx context.Context) (shown, error) {
			return ofPayment(j.client.CreateSubscription(ctx, req))
		},
	}
}

func (j *Journal) checkout(req cardgateway.CheckoutRequest) *payment {
	return &payment{
		intent: Intent{
			ID: PaymentID(req.TransactionID), OrderID: req.OrderID, Operation: opCheckout,
			Amount: req.Amount, Currency: req.Currency,
		},
		send: func(ctx context.Context) (shown, error) { return ofPayment(j.client.CreateCheckout(ctx, req)) },
	}
}

func (j *Journal) checkoutSubscription(req cardgateway.CheckoutSubscriptionRequest) *payment {
	return &payment{
		intent: Intent{
			ID: PaymentID(req.TransactionID), OrderID: req.OrderID, Operation: opCheckoutSubscription,
			Amount: req.Amount, Currency: req.Currency,
		},
		send: func(ctx context.Context) (shown, error) {
			return ofPayment(j.client.CreateCheckoutSubscription(ctx, req))
		},
	}
}
