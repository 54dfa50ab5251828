package main

import (
	"context"
	"errors"
	"time"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/journal"
)

const (
	// giveUpAfter is when the shop stops asking about a customer who never came to the gateway's page. The interface
	// does not show when such a page expires; should it be used later, a notification or reconciliation says so.
	giveUpAfter = 7 * 24 * time.Hour
	// lookEvery is how often the gateway is asked about one order because somebody looks at it.
	lookEvery   = 2 * time.Second
	lookTimeout = 5 * time.Second
	cartAge     = 30 * 24 * time.Hour
)

// SettleEvery settles open payments, at once and then regularly, until ctx ends. Orders end in their right state by
// this alone: with every notification lost, and after a crash at any moment. One process of a shop does it.
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

// settle books everything that the journal has to tell.
func (s *Shop) settle(ctx context.Context) error {
	for e, err := range s.payments.Recover(ctx) {
		if err != nil {
			return err
		}
		t, err := e.Outcome()
		book := s.book
		if e.Intent().Operation == "CreateTokenOrder" {
			book = s.bookCard
		}
		if err := book(ctx, e.TransactionID(), s.detailed(ctx, t), err); err != nil {
			s.log.Error("booking a payment", "transactionId", e.TransactionID(), "error", err)
			continue // the journal tells it again
		}
		if e.State() == journal.Pending && time.Since(e.Begun.At) > giveUpAfter {
			s.acknowledge(ctx, e.TransactionID())
		}
	}
	return s.store.ForgetCarts(ctx, time.Now().Add(-cartAge))
}

// detailed returns a final transaction with the gateway's texts, which the journal does not keep. Without them the
// order is as final, and its page says less.
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

// book writes what a payment came to into the shop's books, and only then lets the journal forget it. A crash in
// between costs a repetition, which changes nothing.
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
		s.acknowledge(ctx, id)
	}
	return nil
}

// endsPayment reports whether the journal need not look any further. A refusal is the gateway's word and not a proof: the
// journal goes on asking for a while. A decline without an error is one attempt on the gateway's page.
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
		s.acknowledge(ctx, id)
	}
	return nil
}

// acknowledge tells the journal that the books hold the outcome. If it fails, the outcome is told again.
func (s *Shop) acknowledge(ctx context.Context, id string) {
	err := s.payments.Ack(ctx, id)
	if err != nil && !errors.Is(err, journal.ErrChanged) && !errors.Is(err, journal.ErrNoEntry) {
		s.log.Error("acknowledging a payment", "transactionId", id, "error", err)
	}
}

// look asks the gateway about an open order because its customer looks at it, so that somebody who comes back from
// paying is not told to wait. The browser that came back is a reason to ask and no more: what it brings is not read.
func (s *Shop) look(ctx context.Context, o *Order) {
	if o.State.Final() || o.UniqueID == "" {
		return // without the gateway's id it takes a search, which is the settler's work
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

// learnFrom takes what a query returned about an order's payment.
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
