package journal

import (
	"maps"
	"time"

	"github.com/cardgateway/cardgateway-go"
)

// shown is what the gateway has shown: the transaction of a payment, or a refund, or neither.
type shown struct {
	transaction *cardgateway.Transaction
	refund      *cardgateway.Refund
}

// shown returns what the evidence rests on.
func (ev *Evidence) shown() shown { return shown{ev.Transaction, ev.Refund} }

// set makes it what the evidence rests on.
func (ev *Evidence) set(s shown) { ev.Transaction, ev.Refund = s.transaction, s.refund }

func (s shown) isNothing() bool { return s.transaction == nil && s.refund == nil }

// copied returns a copy, so that no caller can change what others have.
func (s shown) copied() shown {
	if s.transaction != nil {
		t := *s.transaction
		t.Extra = maps.Clone(t.Extra)
		if t.BillingAddress != nil {
			address := *t.BillingAddress
			address.Extra = maps.Clone(address.Extra)
			t.BillingAddress = &address
		}
		if t.Is3D != nil {
			t.Is3D = new(*t.Is3D)
		}
		s.transaction = &t
	}
	if s.refund != nil {
		r := *s.refund
		r.Extra = maps.Clone(r.Extra)
		s.refund = &r
	}
	return s
}

// id is the gateway's own.
func (s shown) id() string {
	switch {
	case s.transaction != nil:
		return s.transaction.UniqueID
	case s.refund != nil:
		return s.refund.RefundUniqueID
	}
	return ""
}

// at is when the gateway says that it was asked for.
func (s shown) at() cardgateway.WallTime {
	switch {
	case s.transaction != nil:
		return s.transaction.TransactionAt
	case s.refund != nil:
		return s.refund.RefundRequestAt
	}
	return cardgateway.WallTime{}
}

func (s shown) code() cardgateway.Code {
	switch {
	case s.transaction != nil:
		return s.transaction.Code
	case s.refund != nil:
		return s.refund.Code
	}
	return 0
}

// gatewayState is what the code means.
func (s shown) gatewayState() cardgateway.State {
	switch {
	case s.transaction != nil:
		return s.transaction.State()
	case s.refund != nil:
		return s.refund.State()
	}
	return cardgateway.StateUnknown
}

// state says what it stands for if it came without an error.
func (s shown) state() State {
	switch s.gatewayState() {
	case cardgateway.StateApproved:
		return Succeeded
	case cardgateway.StateDeclined:
		return Declined
	case cardgateway.StateProcessing, cardgateway.StateRedirect:
		return Pending
	}
	return Unknown
}

// kept copies the members that a store may hold. Texts of the gateway are not among them: they could echo a card number or
// a token. The address to which a cardholder is to be sent is, since it cannot be asked for again.
func (s shown) kept() (k shown) {
	if t := s.transaction; t != nil {
		k.transaction = &cardgateway.Transaction{
			Code: t.Code, IsTest: t.IsTest, UniqueID: t.UniqueID, TransactionID: t.TransactionID, Timestamp: t.Timestamp,
			TransactionAmount: t.TransactionAmount, TransactionCurrency: t.TransactionCurrency,
			TransactionAt: t.TransactionAt, Is3D: t.Is3D,
		}
		if t.State() == cardgateway.StateRedirect {
			k.transaction.RedirectURL = t.RedirectURL
		}
	}
	if r := s.refund; r != nil {
		k.refund = &cardgateway.Refund{
			Code: r.Code, UniqueID: r.UniqueID, MerchantRefundID: r.MerchantRefundID, RefundUniqueID: r.RefundUniqueID,
			Timestamp: r.Timestamp, RefundAmount: r.RefundAmount, RefundCurrency: r.RefundCurrency,
			RefundRequestAt: r.RefundRequestAt, RefundAt: r.RefundAt,
		}
	}
	return k
}

// keptOfQuery does the same for what a query showed. The secrets of the payment are not at hand then, so that an
// address is kept only of payments that have none.
func (s shown) keptOfQuery(op string) shown {
	k := s.kept()
	if k.transaction != nil && (op == opTokenPayment || op == opSubscription) {
		k.transaction.RedirectURL = ""
	}
	return k
}

// sameTime reports whether two can have been asked for at one time.
func (s shown) sameTime(other shown) bool {
	a, b := s.at(), other.at()
	return a == b || a.IsZero() || b.IsZero()
}

// timeOf returns a time for JSON, or nil for none.
func timeOf(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC()
	return &t
}
