package temporal

import (
	"context"
	"errors"
	"sync"

	sdk "go.temporal.io/sdk/temporal"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/journal"
)

// noting are methods of the journal that have the engine note, in a heartbeat, that a payment may be sent from now on. So the workflow
// knows it also if the worker and what the journal wrote last are lost together.
type noting struct {
	Methods
	id   string
	send func(details ...any) error // a heartbeat; an error means that it may not have been noted

	mu    sync.Mutex // heartbeats are sent in turn, because each replaces what the one before noted
	begun int        // calls that may have sent the payment
}

// beat sends a heartbeat. It has details if the payment may have been sent, or is about to be.
func (n *noting) beat(begins int) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	var details []any
	if n.begun+begins > 0 {
		details = []any{"begun"}
	}
	err := n.send(details...)
	if err == nil {
		n.begun += begins
	}
	return err
}

// mayHaveSent reports whether a call may have sent the payment.
func (n *noting) mayHaveSent() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.begun > 0
}

// note makes a call after it has been noted.
func note[R any](n *noting, op string, call func() (*R, error)) (*R, error) {
	if err := n.beat(1); err != nil {
		return nil, &cardgateway.NotSentError{Op: op, ID: n.id, Cause: err}
	}
	got, err := call()
	if errors.Is(err, cardgateway.ErrNotSent) || errors.Is(err, cardgateway.ErrInvalidRequest) || errors.Is(err, journal.ErrMismatch) {
		n.mu.Lock()
		defer n.mu.Unlock()
		n.begun--
	}
	return got, err
}

func (n *noting) CreateTokenOrder(ctx context.Context, r cardgateway.TokenOrderRequest) (*cardgateway.Transaction, error) {
	return note(n, "CreateTokenOrder", func() (*cardgateway.Transaction, error) { return n.Methods.CreateTokenOrder(ctx, r) })
}

func (n *noting) TokenPayment(ctx context.Context, t cardgateway.Token, r cardgateway.TokenPaymentRequest) (*cardgateway.Transaction, error) {
	return note(n, "TokenPayment", func() (*cardgateway.Transaction, error) { return n.Methods.TokenPayment(ctx, t, r) })
}

func (n *noting) CreateSubscription(ctx context.Context, r cardgateway.SubscriptionRequest) (*cardgateway.Transaction, error) {
	return note(n, "CreateSubscription", func() (*cardgateway.Transaction, error) { return n.Methods.CreateSubscription(ctx, r) })
}

func (n *noting) CreateCheckout(ctx context.Context, r cardgateway.CheckoutRequest) (*cardgateway.Transaction, error) {
	return note(n, "CreateCheckout", func() (*cardgateway.Transaction, error) { return n.Methods.CreateCheckout(ctx, r) })
}

func (n *noting) CreateCheckoutSubscription(ctx context.Context, r cardgateway.CheckoutSubscriptionRequest) (*cardgateway.Transaction, error) {
	return note(n, "CreateCheckoutSubscription", func() (*cardgateway.Transaction, error) {
		return n.Methods.CreateCheckoutSubscription(ctx, r)
	})
}

func (n *noting) CreateRefund(ctx context.Context, r cardgateway.RefundRequest) (*cardgateway.Refund, error) {
	return note(n, "CreateRefund", func() (*cardgateway.Refund, error) { return n.Methods.CreateRefund(ctx, r) })
}

// mayHaveBegun reports whether the activity that submits, which has failed with this error, may have sent the payment.
func mayHaveBegun(err error) bool {
	if timeout, ok := errors.AsType[*sdk.TimeoutError](err); ok {
		return timeout.HasLastHeartbeatDetails()
	}
	failed, ok := errors.AsType[*sdk.ApplicationError](err)
	return ok && failed.Type() == Lost
}
