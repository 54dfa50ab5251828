package payments

import (
	"context"
	"errors"
	"time"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/journal"
)

// State is what the shop knows of a payment or a refund. It follows from the journal's entry, and from nothing else: notifications and
// returning browsers are only reasons to query.
type State string

// The states of a payment, and of a refund.
const (
	Open       State = "open"       // stored, and not submitted as far as is known
	Unsent     State = "unsent"     // proved: nothing was sent
	Refused    State = "refused"    // the gateway did not accept the request
	Checking   State = "checking"   // the outcome is unknown, and is being resolved
	Unpaid     State = "unpaid"     // the gateway has not known it for a day
	Waiting    State = "waiting"    // for the cardholder, at RedirectURL
	Processing State = "processing" // accepted by the gateway
	Closed     State = "closed"     // the cardholder did not finish the gateway's page
	Declined   State = "declined"   // on the gateway's page, where another card may follow, or at all
	Paid       State = "paid"
	Tested     State = "tested"   // approved as a test, and this is no test system
	Conflict   State = "conflict" // contradictory outcomes
	Refunded   State = "refunded" // of a refund: the money was returned
)

// stateOf is what each state of the journal means.
var stateOf = map[journal.State]State{
	journal.Unknown:        Checking, // do not pay again: the journal finds out
	journal.NotSent:        Unsent,   // it can be paid by the same call
	journal.Refused:        Refused,  // correct the cause, then pay with AfterRefusal
	journal.PresumedAbsent: Unpaid,   // a person decides
	journal.Pending:        Waiting,  // or Processing, or Declined: see paymentOf
	journal.Abandoned:      Closed,   // the customer can pay in another way
	journal.Declined:       Declined, // the customer can pay with another card
	journal.Succeeded:      Paid,     // send the goods of the order, once
	journal.Tested:         Tested,   // the customer can pay with another card
	journal.Conflicting:    Conflict, // a person decides: perhaps it was paid twice
}

// Final reports whether the state does not change by itself any more.
func (s State) Final() bool { return s != Open && s != Checking && s != Waiting && s != Processing }

// Payment is what is known of a payment. Empty texts mean "not known".
type Payment struct {
	State       State
	Reason      string // the gateway's text for a decline
	UniqueID    string // the gateway's id
	Digits      string // the last four of the card
	RedirectURL string // where the cardholder goes on
	Version     int    // of the journal's entry, or -1: what has a greater one is newer
}

// paymentOf returns what an entry of the journal means for its attempt; t is the transaction of its outcome, or nil.
func paymentOf(e *journal.Entry, t *cardgateway.Transaction) Payment {
	p := Payment{State: stateOf[e.State()], Version: e.Version()}
	if t == nil {
		return p
	}
	p.UniqueID, p.Digits = t.UniqueID, t.TransactionCardNumber.Last4()
	switch t.State() {
	case cardgateway.StateDeclined:
		p.State, p.Reason = Declined, t.TransactionMessage
	case cardgateway.StateProcessing:
		p.State = Processing
	case cardgateway.StateRedirect:
		p.RedirectURL = t.RedirectURL
	}
	return p
}

// storeOutcome stores what the journal knows of a payment or a refund: after a call, after what a notification or the copy has confirmed, and when
// Run reports it. This alone brings every order into its right state, even if every notification is lost, and after a crash at any moment.
// It may be called for the same entry again, and for an older one, which changes nothing.
func (s *Service) storeOutcome(ctx context.Context, e journal.Entry) error {
	return e.Outcome(func(t *cardgateway.Transaction, _ error) error {
		id := e.ID().Text
		if e.Begun.IsTokenOrder() {
			return s.setCard(ctx, id, paymentOf(&e, t))
		}
		version, err := one(Collect(ctx, s.DB, column[int], `SELECT version FROM attempts WHERE id = $1`, id))
		if errors.Is(err, ErrNotFound) { // after Restore
			s.alertIf(ctx, true, "a payment belongs to no order of this database: deliver it, or refund it", "transactionId", id, "state", e.State())
			return nil
		}
		switch {
		case err != nil:
			return err
		case version < e.Version():
			if err := s.setPayment(ctx, id, paymentOf(&e, s.detailed(ctx, t))); err != nil {
				return err
			}
		case !e.Unacked():
			return nil
		}
		// Until it is acknowledged, who stored it may have ended before the alert.
		s.alertIf(ctx, e.State() == journal.Tested, "a live shop has received a test payment", "attempt", id)
		if e.State() != journal.Succeeded {
			return nil
		}
		paid, err := Collect(ctx, s.DB, column[string], `SELECT id FROM attempts WHERE state = 'paid'
			AND order_id = (SELECT order_id FROM attempts WHERE id = $1)`, id)
		s.alertIf(ctx, len(paid) > 1, "an order was paid twice: refund one of its attempts", "attempts", paid)
		return err
	}, func(r *cardgateway.Refund, _ error) error {
		return s.setRefund(ctx, refundOf(&e, r, s.Client.Location()))
	})
}

// setPayment stores what is known of an attempt, unless more is stored already: others may store it concurrently. Nothing else changes the
// state of an attempt.
func (s *Service) setPayment(ctx context.Context, id string, p Payment) error {
	_, err := s.DB.ExecContext(ctx, `UPDATE attempts SET state = $1, reason = $2, version = $3,
		unique_id = COALESCE(NULLIF($4, ''), unique_id), digits = COALESCE(NULLIF($5, ''), digits),
		redirect_url = COALESCE(NULLIF($6, ''), redirect_url) WHERE id = $7 AND version < $3`,
		p.State, p.Reason, p.Version, p.UniqueID, p.Digits, p.RedirectURL, id)
	return err
}

// storeAfter stores the outcome after a call, which returned err. If it cannot, Run reports it. What the journal knows covers every call in every
// process: the result of one call, such as "not sent", may say nothing of another one.
func (s *Service) storeAfter(ctx context.Context, id journal.ID, err error) error {
	failed := s.store(ctx, id)
	if errors.Is(failed, journal.ErrNoEntry) || failed == nil && errors.Is(err, cardgateway.ErrInvalidRequest) {
		return err // nothing was sent: the call could not record anything, or the order, or this program, is to be corrected
	}
	return failed
}

// store stores what the journal knows of a payment or a refund now.
func (s *Service) store(ctx context.Context, id journal.ID) error {
	e, err := s.Journal.Get(ctx, id)
	if err != nil {
		return err
	}
	return s.storeOutcome(ctx, e)
}

// confirm passes a transaction that a query has returned to the journal, and stores what that changes.
func (s *Service) confirm(ctx context.Context, t *cardgateway.Transaction) error {
	switch err := s.Journal.Confirm(ctx, t); {
	case errors.Is(err, journal.ErrNoEntry): // made by another program
		return nil
	case err != nil:
		return err
	}
	return s.store(ctx, journal.PaymentID(t.TransactionID))
}

// lookEvery is the minimum time between two queries of Look for an attempt.
const lookEvery = 2 * time.Second

// Look queries the gateway for an open order whose customer looks at it, so that somebody who returns from paying need not wait. It reports
// whether it has. The returning browser is only a reason to query: what it sends is not read.
func (s *Service) Look(ctx context.Context, o Order) (bool, error) {
	if o.State.Final() || o.UniqueID == "" {
		return false, nil // without the gateway's id it needs a search, which Run does
	}
	now := time.Now()
	may, err := changed(s.DB.ExecContext(ctx, `UPDATE attempts SET looked = $1 WHERE id = $2 AND looked <= $3`,
		now.UnixMicro(), o.Attempt.ID, now.Add(-lookEvery).UnixMicro()))
	if err != nil || !may {
		return false, err
	}
	if t := s.get(ctx, o.UniqueID, o.Attempt.ID); t != nil {
		err = s.confirm(ctx, t)
	}
	return true, err
}

// get queries a transaction, or returns nil: then Run, or a notification, brings what is to be known.
func (s *Service) get(ctx context.Context, uniqueID, transactionID string) *cardgateway.Transaction {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	t, err := s.Client.GetTransaction(ctx, uniqueID)
	if err != nil || t.TransactionID != transactionID {
		s.Logger.Warn("looking at a payment", "id", transactionID, "error", err)
		return nil
	}
	return t
}

// detailed returns a transaction that is approved or declined with the gateway's texts, which the journal does not keep. Without them the order
// is just as final, and its page shows less.
func (s *Service) detailed(ctx context.Context, t *cardgateway.Transaction) *cardgateway.Transaction {
	if t == nil || t.State() != cardgateway.StateApproved && t.State() != cardgateway.StateDeclined {
		return t
	}
	if full := s.get(ctx, t.UniqueID, t.TransactionID); full != nil && full.Code == t.Code {
		return full
	}
	return t
}
