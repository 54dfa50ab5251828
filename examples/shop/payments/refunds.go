package payments

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/journal"
	"github.com/shopspring/decimal"
)

// Refund is money of an attempt that is returned: all of it, or a part.
type Refund struct {
	ID        string // the refundTransactionId
	OrderID   string
	AttemptID string
	Amount    decimal.Decimal
	Created   time.Time
	State     State
	Version   int       // as in Payment
	Made      time.Time // when the money was returned
}

// refundOf returns what an entry of the journal means for its refund; r is the refund of its outcome, or nil. The gateway's times are those of a
// clock in the zone.
func refundOf(e *journal.Entry, r *cardgateway.Refund, zone *time.Location) Refund {
	refund := Refund{ID: e.ID().Text, State: stateOf[e.State()], Version: e.Version()}
	switch e.State() {
	case journal.Pending:
		refund.State = Processing
	case journal.Succeeded:
		refund.State, refund.Made = Refunded, madeAt(r, zone)
	}
	return refund
}

func madeAt(r *cardgateway.Refund, zone *time.Location) time.Time {
	if at := cmp.Or(r.RefundAt, r.RefundRequestAt); !at.IsZero() {
		return at.In(zone)
	}
	return r.Timestamp
}

// Refunded returns how much of what has paid an order was returned, and when the last time.
func (o Order) Refunded() (sum decimal.Decimal, last time.Time) {
	for _, r := range o.Refunds {
		if r.State == Refunded {
			sum = sum.Add(r.Amount)
			if r.Made.After(last) {
				last = r.Made
			}
		}
	}
	return sum, last
}

// NextRefund returns the refund that may be made now, or why there is none: of all that is left, or again one of which nothing was sent, that was
// refused, or of which nothing is known, if that much is still left: the back office refunds too.
func (o Order) NextRefund() (next Refund, why string) {
	if o.State != Paid {
		return Refund{}, "Only a paid order can be refunded."
	}
	sum, _ := o.Refunded()
	left := o.Amount.Sub(sum)
	next = Refund{ID: fmt.Sprintf("%s-R%d", o.Attempt.ID, len(o.Refunds)+1), AttemptID: o.Attempt.ID, Amount: left, State: Open, Version: -1}
	for _, r := range o.Refunds {
		switch {
		case r.Version < 0, r.State == Unsent, r.State == Refused:
			next = r
		case r.State == Conflict, r.State == Unpaid:
			return Refund{}, "Somebody looks at the refund first."
		case r.State != Refunded && r.State != Declined:
			return Refund{}, "A refund is under way."
		}
	}
	switch {
	case !left.IsPositive():
		return Refund{}, "Nothing is left to refund."
	case next.Amount.GreaterThan(left):
		return Refund{}, "Somebody looks at the refund first."
	}
	return next, ""
}

// Refund makes the refund with this id, if it is the one that is possible now, and stores the outcome. It is stored first, as an attempt is. So a
// form that is sent twice gets the same refund, which the journal makes once, also if the order was paid twice.
func (s *Service) Refund(ctx context.Context, o Order, id string) error {
	r, why := o.NextRefund()
	if why != "" || r.ID != id {
		return nil
	}
	_, err := s.DB.ExecContext(ctx, `INSERT INTO refunds (id, attempt_id, amount, created, state, version) VALUES ($1, $2, $3, $4, $5, $6)
		ON CONFLICT DO NOTHING`, r.ID, r.AttemptID, r.Amount.String(), time.Now().UnixMicro(), r.State, r.Version)
	if err != nil {
		return err
	}
	ctx, cancel := patient(ctx)
	defer cancel()
	create := s.Journal.CreateRefund
	if r.State == Refused {
		create = s.Journal.AfterRefusal().CreateRefund
	}
	_, err = create(ctx, cardgateway.RefundRequest{UniqueID: o.UniqueID, RefundTransactionID: r.ID, Amount: r.Amount})
	return s.storeAfter(ctx, journal.RefundID(r.ID), err)
}

func (s *Service) setRefund(ctx context.Context, r Refund) error {
	_, err := s.DB.ExecContext(ctx, `UPDATE refunds SET state = $1, version = $2, made = $3 WHERE id = $4 AND version < $2`,
		r.State, r.Version, micro(r.Made), r.ID)
	return err
}

// confirmRefund passes a refund that a query has returned to the journal, and stores what that changes. One that was made in the gateway's back
// office has no entry there, and one that Restore has recorded can be missing here: it is added.
func (s *Service) confirmRefund(ctx context.Context, r *cardgateway.Refund) error {
	err := s.Journal.ConfirmRefund(ctx, r)
	if err == nil {
		err = s.store(ctx, journal.RefundID(r.MerchantRefundID))
	}
	if err != nil && !errors.Is(err, journal.ErrNoEntry) {
		return err
	}
	return s.addRefund(ctx, r)
}

// addRefund stores a refund that the shop has not made itself, if its payment is that of an order. Several refunds of the back office may
// have the same id, their own or the gateway's, so only an id that the shop gives to a refund of this attempt is that refund's. If the amount is
// not known, nobody knows what is left.
func (s *Service) addRefund(ctx context.Context, r *cardgateway.Refund) error {
	state, made, version := Processing, time.Time{}, 0
	switch r.State() {
	case cardgateway.StateApproved:
		state, made, version = Refunded, madeAt(r, s.Client.Location()), 1
		if !r.RefundAmount.IsPositive() {
			state = Conflict
		}
	case cardgateway.StateDeclined:
		state, version = Declined, 2 // also after it was made: then it came back
	}
	_, err := s.DB.ExecContext(ctx, `INSERT INTO refunds (id, attempt_id, amount, created, state, version, made)
		SELECT CASE WHEN $1 LIKE id || '-R%' THEN $1 ELSE $8 END, id, $2, CAST($3 AS BIGINT), $4, CAST($5 AS INTEGER), CAST($6 AS BIGINT)
		FROM attempts WHERE unique_id = $7 AND unique_id <> ''
		ON CONFLICT (id) DO UPDATE SET state = CASE refunds.state WHEN 'refunded' THEN 'conflict' ELSE $4 END, version = $5, made = $6
		WHERE refunds.version < $5`,
		r.MerchantRefundID, r.RefundAmount.String(), time.Now().UnixMicro(), state, version, micro(made), r.UniqueID,
		strings.TrimSpace(r.MerchantRefundID+" "+cmp.Or(r.RefundUniqueID, r.UniqueID+" "+r.RefundRequestAt.String())))
	return err
}

// Refunds returns the last refunds of a customer, the newest first.
func (s *Service) Refunds(ctx context.Context, customer string) ([]Refund, error) {
	return s.refunds(ctx, `o.customer = $1 ORDER BY r.created DESC, r.id DESC LIMIT 100`, customer)
}

func (s *Service) refunds(ctx context.Context, where string, args ...any) ([]Refund, error) {
	return Collect(ctx, s.DB, func(scan func(...any) error) (r Refund, err error) {
		var created, made int64
		err = scan(&r.ID, &r.OrderID, &r.AttemptID, &r.Amount, &created, &r.State, &r.Version, &made)
		if r.Created = time.UnixMicro(created); made != 0 {
			r.Made = time.UnixMicro(made)
		}
		return r, err
	}, `SELECT r.id, o.id, a.id, r.amount, r.created, r.state, r.version, r.made FROM refunds r JOIN attempts a ON a.id = r.attempt_id
		JOIN orders o ON o.id = a.order_id WHERE `+where, args...)
}
