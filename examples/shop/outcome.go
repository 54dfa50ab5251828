package main

import (
	"context"
	"errors"
	"time"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/journal"
)

// storeOutcome stores what the journal knows of an attempt, or of a refund: after a call, after a confirmed notification, and when Run
// reports it. This alone brings every order into its right state: even if every notification is lost, and after a crash at any
// moment. It may be called for the same entry again, and for an older one, which changes nothing.
func (s *Shop) storeOutcome(ctx context.Context, e journal.Entry) error {
	return e.Outcome(func(t *cardgateway.Transaction, err error) error {
		id := e.ID().Text
		if e.Begun.IsTokenOrder() {
			return s.store.SetCard(ctx, id, paymentOf(&e, t))
		}
		stored, failed := s.store.Evidence(ctx, id)
		if failed != nil || stored >= len(e.Evidence) { // Run reports again what a call has returned, until it is acknowledged
			return failed
		}
		added, failed := s.store.SetPayment(ctx, id, paymentOf(&e, s.detailed(ctx, t)))
		if failed == nil && added && needsAttention(e.State()) {
			s.log.Warn("a payment needs attention", "attempt", id, "state", e.State(), "error", err)
		}
		if failed == nil && added && e.State() == journal.Succeeded {
			var others []string
			if others, failed = s.store.PaidBeside(ctx, id); len(others) > 0 {
				s.log.Error("an order was paid twice: refund one of its attempts", "attempt", id, "others", others)
			}
		}
		return failed
	}, func(r *cardgateway.Refund, err error) error {
		stored, failed := s.store.SetRefund(ctx, refundOf(&e, r, s.client.Location()))
		if failed == nil && stored && needsAttention(e.State()) {
			s.log.Warn("a refund needs attention", "refund", e.ID().Text, "state", e.State(), "error", err)
		}
		return failed
	})
}

func needsAttention(s journal.State) bool {
	return s == journal.Unknown || s == journal.Refused || s == journal.Tested || s == journal.Conflicting
}

// storeLatest stores what the journal knows of a payment or a refund now. That covers every call with this id, in every process: the
// result of a single call, such as "not sent", may say nothing about an earlier one.
func (s *Shop) storeLatest(ctx context.Context, id journal.ID) error {
	e, err := s.payments.Get(ctx, id)
	if err != nil {
		return err
	}
	return s.storeOutcome(ctx, e)
}

// confirm passes a transaction that a query has returned to the journal, and stores what that changes.
func (s *Shop) confirm(ctx context.Context, t *cardgateway.Transaction) error {
	if err := s.payments.Confirm(ctx, t); err != nil {
		return err
	}
	return s.storeLatest(ctx, journal.PaymentID(t.TransactionID))
}

const (
	// lookEvery is the minimum time between queries for one order because its page is shown.
	lookEvery   = 2 * time.Second
	lookTimeout = 5 * time.Second
)

// detailed returns a transaction that is approved or declined with the gateway's texts, which the journal does not keep. Without
// them the order is just as final, and its page shows less.
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

// look queries the gateway for an open order when its customer looks at it, so that somebody who returns from paying need
// not wait. The returning browser is only a reason to query: what it sends is not read.
func (s *Shop) look(ctx context.Context, o *Order) error {
	if o.State.Final() || o.UniqueID == "" {
		return nil // without the gateway's id it needs a search, which Run does
	}
	may, err := s.store.MayLook(ctx, o.Attempt.ID, lookEvery)
	if err != nil || !may {
		return err
	}
	s.addEvent(ctx, o.Attempt.ID, EventAsked, time.Now())
	query, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	t, err := s.client.GetTransaction(query, o.UniqueID)
	if err == nil && t.TransactionID != o.Attempt.ID {
		err = errors.New("the gateway's transaction is another payment")
	}
	if err == nil {
		err = s.confirm(ctx, t)
	}
	if err != nil { // the page shows what is stored
		s.log.Warn("looking at an order", "order", o.ID, "error", err)
		return nil
	}
	*o, err = s.store.Order(ctx, o.ID)
	return err
}
