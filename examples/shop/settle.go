package main

import (
	"context"
	"errors"
	"time"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/journal"
)

const (
	// lookEvery is the minimum time between queries for one order because its page is shown.
	lookEvery   = 2 * time.Second
	lookTimeout = 5 * time.Second
	cartAge     = 30 * 24 * time.Hour
)

// SettleEvery settles open payments, at once and then regularly, until ctx ends. This alone brings every order into its
// right state: even if every notification is lost, and after a crash at any moment. One process of a shop runs it.
func (s *Shop) SettleEvery(ctx context.Context, interval time.Duration) {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		if err := s.settle(ctx); err != nil && ctx.Err() == nil {
			s.log.Error("settling", "error", err)
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
	}
}

// settle records everything that the journal's Recover yields.
func (s *Shop) settle(ctx context.Context) error {
	for e, err := range s.payments.Recover(ctx) {
		if err != nil {
			return err
		}
		book := s.book
		if e.Intent().Operation == "CreateTokenOrder" {
			book = s.bookCard
		}
		failed := e.Outcome(func(t *cardgateway.Transaction, err error) error {
			return book(ctx, e.ID().Text, s.detailed(ctx, t), err)
		}, nil) // this shop makes no refunds
		if failed != nil {
			s.log.Error("booking a payment", "transactionId", e.ID().Text, "error", failed)
			continue // the journal yields it again
		}
		if e.State() == journal.Abandoned { // if the customer pays after all, a notification or reconciliation shows it
			s.acknowledge(ctx, e.ID().Text, e.State())
		}
	}
	return s.store.ForgetCarts(ctx, time.Now().Add(-cartAge))
}

// detailed returns a final transaction with the gateway's texts, which the journal does not keep. Without them the order is
// just as final, and its page shows less.
func (s *Shop) detailed(ctx context.Context, t *cardgateway.Transaction) *cardgateway.Transaction {
	if t == nil || t.State() != cardgateway.StateApproved && t.State() != cardgateway.StateDeclined {
		return t
	}
	ctx, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	full, err := s.client.GetTransaction(ctx, t.UniqueID)
	if err != nil || full.TransactionID != t.TransactionID || full.Code != t.Code {
		return t
	}
	return full
}

// book writes the outcome of a payment into the shop's database, and only then acknowledges it in the journal. A crash in
// between causes a repetition, which changes nothing.
func (s *Shop) book(ctx context.Context, id string, t *cardgateway.Transaction, err error) error {
	f := factOf(t, err)
	o, moved, failed := s.store.Learn(ctx, id, f)
	if failed != nil {
		return failed
	}
	if moved && (o.State == Checking || o.State == Refused || o.State == Conflict) {
		s.log.Warn("a payment needs attention", "order", id, "state", o.State, "error", err)
	}
	if o.State.Final() && endsPayment(f, err) {
		s.acknowledge(ctx, id, journal.StateOf(t, err))
	}
	return nil
}

// endsPayment reports whether the journal need not query a payment any more. A refusal is a statement of the gateway and
// not a proof: the journal continues to query for a while. A decline without an error is one attempt on the gateway's page.
func endsPayment(f Fact, err error) bool {
	return f.State.Final() && f.State != Refused && !(f.State == Declined && err == nil)
}

// bookCard does the same for a token order.
func (s *Shop) bookCard(ctx context.Context, id string, t *cardgateway.Transaction, err error) error {
	f := factOf(t, err)
	if err := s.store.LearnCard(ctx, id, f); err != nil {
		return err
	}
	if endsPayment(f, err) {
		s.acknowledge(ctx, id, journal.StateOf(t, err))
	}
	return nil
}

// acknowledge tells the journal which state is stored. If it fails, the journal yields the outcome again.
func (s *Shop) acknowledge(ctx context.Context, id string, stored journal.State) {
	err := s.payments.Ack(ctx, journal.PaymentID(id), stored)
	if err != nil && !errors.Is(err, journal.ErrChanged) && !errors.Is(err, journal.ErrNoEntry) {
		s.log.Error("acknowledging a payment", "transactionId", id, "error", err)
	}
}

// look queries the gateway for an open order when its customer looks at it, so that somebody who returns from paying need
// not wait. The returning browser is only a reason to query: what it sends is not read.
func (s *Shop) look(ctx context.Context, o *Order) {
	if o.State.Final() || o.UniqueID == "" {
		return // without the gateway's id it needs a search, which SettleEvery does
	}
	may, err := s.store.MayLook(ctx, o.ID, lookEvery)
	if err != nil || !may {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	t, err := s.client.GetTransaction(ctx, o.UniqueID)
	if err != nil {
		s.log.Info("looking at an order", "order", o.ID, "error", err)
		return
	}
	if err := s.learnFrom(ctx, o, t); err != nil {
		s.log.Error("looking at an order", "order", o.ID, "error", err)
	}
}

var errOtherPayment = errors.New("the gateway's transaction has another amount or currency than the order")

// learnFrom records the result of a query for an order's payment.
func (s *Shop) learnFrom(ctx context.Context, o *Order, t *cardgateway.Transaction) error {
	if !o.isOf(t) {
		return errOtherPayment
	}
	now, _, err := s.store.Learn(ctx, o.ID, factOf(t, nil))
	if err == nil {
		o.Fact = now.Fact
	}
	return err
}
