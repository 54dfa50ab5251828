package journal

import (
	"maps"
	"time"

	"github.com/cardgateway/cardgateway-go"
)

// shown is what the gateway returned: the transaction of a payment, or a refund, or neither.
type shown struct {
	transaction *cardgateway.Transaction
	refund      *cardgateway.Refund
}

// shown returns the transaction or the refund of the evidence.
func (ev *Evidence) shown() shown { return shown{ev.Transaction, ev.Refund} }

// set sets the transaction and the refund of the evidence.
func (ev *Evidence) set(s shown) { ev.Transaction, ev.Refund = s.transaction, s.refund }

func (s shown) isNothing() bool { return s.transaction == nil && s.refund == nil }

// copied returns a copy, so that no caller can change the result of another.
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

// id returns the gateway's own id.
func (s shown) id() string {
	switch {
	case s.transaction != nil:
		return s.transaction.UniqueID
	case s.refund != nil:
		return s.refund.RefundUniqueID
	}
	return ""
}

// at returns when the transaction was made, or the refund requested, according to the gateway.
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

// gatewayState returns what the code means.
func (s shown) gatewayState() cardgateway.State {
	switch {
	case s.transaction != nil:
		return s.transaction.State()
	case s.refund != nil:
		return s.refund.State()
	}
	return cardgateway.StateUnknown
}

// state returns the state that it means, if it came without an error.
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

// kept returns a copy of the members that may be stored. The gateway's texts are left out, because they could contain a
// card number or a token. The redirect URL is kept, because no query returns it.
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

// keptOfQuery does the same for the result of a query. The secrets of the payment are not known then, so a redirect URL
// is kept only for operations that have none.
func (s shown) keptOfQuery(op string) shown {
	k := s.kept()
	if k.transaction != nil && (op == opTokenPayment || op == opSubscription) {
		k.transaction.RedirectURL = ""
	}
	return k
}

// sameTime reports whether two times are equal, or one of them is missing.
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
