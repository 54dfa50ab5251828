package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/shopspring/decimal"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/journal"
)

// Refund is money of an order that is returned: all of it, or a part.
type Refund struct {
	ID       string // the refundTransactionId
	OrderID  string
	Amount   decimal.Decimal
	Created  time.Time
	State    State
	Evidence int       // as in Payment
	Made     time.Time // when the money was returned
}

// refundOf returns what an entry of the journal means for its refund; r is the refund of its outcome, or nil. The gateway's times are
// those of a clock in the zone.
func refundOf(e *journal.Entry, r *cardgateway.Refund, zone *time.Location) Refund {
	refund := Refund{ID: e.ID().Text, State: stateOf[e.State()], Evidence: len(e.Evidence)}
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

// refunded returns how much of an order was returned, and when the last time.
func (o *Order) refunded() (sum decimal.Decimal, last time.Time) {
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

// nextRefund returns the refund that may be made now, or why there is none: of all that is left, or again one of which nothing was sent, that
// was refused, or of which nothing is known: then the shop may have been stopped before the call. A form that is sent twice gets the
// same refund, and the journal makes it once.
func (o *Order) nextRefund() (next Refund, why string) {
	if o.State != Paid {
		return Refund{}, "Only a paid order can be refunded."
	}
	for _, r := range o.Refunds {
		if r.Evidence < 0 {
			return r, ""
		}
		switch r.State {
		case Unsent, Refused:
			return r, ""
		case Refunded, Declined:
		case Conflict, Unpaid:
			return Refund{}, "Somebody looks at the refund first."
		default:
			return Refund{}, "A refund is under way."
		}
	}
	sum, _ := o.refunded()
	left := o.Amount.Sub(sum)
	if !left.IsPositive() {
		return Refund{}, "Nothing is left to refund."
	}
	return Refund{ID: fmt.Sprintf("%s-R%d", o.ID, len(o.Refunds)+1), OrderID: o.ID, Amount: left, State: Open, Evidence: -1}, ""
}

// refund makes the refund of an order that is possible now. In a real shop this is the staff's.
func (s *Shop) refund(w http.ResponseWriter, r *http.Request) error {
	o, err := s.ownOrder(w, r)
	if err != nil {
		return err
	}
	if next, why := o.nextRefund(); why == "" {
		if err := s.makeRefund(r.Context(), &o, &next); err != nil {
			return err
		}
	}
	return redirect(w, r, "/orders/"+o.ID)
}

// makeRefund stores a refund, makes it as pay makes a payment, and stores the outcome.
func (s *Shop) makeRefund(ctx context.Context, o *Order, r *Refund) error {
	if err := s.store.AddRefund(ctx, r); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), payTimeout)
	defer cancel()
	create := s.payments.CreateRefund
	if r.State == Refused {
		create = s.payments.AfterRefusal().CreateRefund
	}
	_, err := create(ctx, cardgateway.RefundRequest{UniqueID: o.UniqueID, RefundTransactionID: r.ID, Amount: r.Amount})
	return s.storeAfter(ctx, journal.RefundID(r.ID), err)
}

// confirmRefund passes a refund that a query has returned to the journal, and stores what that changes. A refund that was made in the
// gateway's back office has no entry there: it is only stored.
func (s *Shop) confirmRefund(ctx context.Context, r *cardgateway.Refund) error {
	err := s.payments.ConfirmRefund(ctx, r)
	switch {
	case err == nil:
		return s.storeLatest(ctx, journal.RefundID(r.MerchantRefundID))
	case !errors.Is(err, journal.ErrNoEntry):
		return err
	}
	refund := Refund{ID: cmp.Or(r.MerchantRefundID, r.RefundUniqueID), Amount: r.RefundAmount, State: Processing}
	switch r.State() {
	case cardgateway.StateApproved:
		refund.State, refund.Made, refund.Evidence = Refunded, madeAt(r, s.client.Location()), 1
	case cardgateway.StateDeclined:
		refund.State, refund.Evidence = Declined, 1
	}
	return s.store.SetOfficeRefund(ctx, refund, r.UniqueID)
}

const (
	refundDays    = 30
	refundsEvery  = time.Minute
	refundOverlap = 48 * time.Hour // how long a refund may be in processing
)

// followRefunds regularly confirms the refunds that the gateway has, at first those of the last month, until ctx ends. So it finds also
// those of the back office whose notification was lost.
func (s *Shop) followRefunds(ctx context.Context) {
	from := time.Now().AddDate(0, 0, -refundDays)
	every(ctx, s.refundsEvery, func() {
		now := time.Now()
		if err := s.confirmRefunds(ctx, from, now); err == nil {
			from = now.Add(-refundOverlap)
		} else if ctx.Err() == nil {
			s.log.Warn("following refunds", "error", err)
		}
	})
}

func (s *Shop) confirmRefunds(ctx context.Context, from, to time.Time) error {
	for r, err := range s.client.Refunds(ctx, cardgateway.RefundQuery{Start: from, End: to}) {
		if err == nil {
			err = s.confirmRefund(ctx, r)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (s *Shop) showRefunds(w http.ResponseWriter, r *http.Request) error {
	refunds, err := s.store.RefundsOf(r.Context(), s.customer(w, r))
	if err != nil {
		return err
	}
	return s.render(w, r, http.StatusOK, "refunds", refunds)
}
