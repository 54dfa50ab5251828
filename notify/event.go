package notify

import (
	"fmt"

	"github.com/cardgateway/cardgateway-go"
)

// eventKey identifies a confirmed event for a Deduper. It is made of confirmed facts: a forger could use up a key made of
// claims before the real notification arrives. If no query can confirm the event itself, the whole payload is part of the
// key: only an identical payload is a repetition.
func (n *Notification) eventKey() string {
	var refund cardgateway.Refund
	if n.Refund != nil {
		refund = *n.Refund
	}
	return n.key(n.Transaction.UniqueID, refund.RefundUniqueID, refund.MerchantRefundID, n.confirmedCode())
}

// claimedKey is the eventKey that the notification has if all its claims are true.
func (n *Notification) claimedKey() string {
	c := &n.Claimed
	return n.key(c.UniqueID, c.RefundUniqueID, c.MerchantRefundID, c.Code)
}

// key returns a key of bounded length: refund ids, which the gateway does not choose alone, are part of it as a digest. The
// code is part of it, because a transaction has several events: on the hosted page a cardholder whose card was declined can
// try another one. A notification with a token is a different event from one without, which could otherwise arrive first
// and use up the key.
func (n *Notification) key(uniqueID, refundUniqueID, merchantRefundID string, code cardgateway.Code) string {
	key := fmt.Sprintf("%v %s %d", n.Claimed.Kind, uniqueID, int(code))
	if !n.Token.IsZero() {
		key += " token"
	}
	switch n.Claimed.Kind {
	case KindPayment:
		return key
	case KindRefund:
		return key + " " + digest(refundUniqueID, merchantRefundID)
	}
	return key + " " + n.covered().digest()
}

func (n *Notification) confirmedCode() cardgateway.Code {
	if n.Refund != nil {
		return n.Refund.Code
	}
	return n.Transaction.Code
}

// shown returns an error unless the gateway's state is final, or no less than what the payload claims; a payload without a
// code may claim anything. A notification can arrive before the gateway's own records are updated; if it were accepted too
// early, its event would be lost. One with a token is accepted in any state, because no query returns a lost token.
//
// A decline is final, unless the payload claims an approval, which can follow it on the hosted page. That token would be taken
// for one of the declined card, and the token of a decline that is not shown for the only one of the approved card.
func (n *Notification) shown() error {
	confirmed, claimed := n.confirmedCode(), n.Claimed.Code
	switch {
	case claimed == cardgateway.CodeSuccess && confirmed == cardgateway.CodeFailed,
		claimed == cardgateway.CodeFailed && confirmed != cardgateway.CodeFailed && !n.Token.IsZero():
		return errNotShown
	case !n.Token.IsZero(), isFinal(confirmed), claimed != 0 && !isFinal(claimed):
		return nil
	}
	return errNotShown
}

func isFinal(c cardgateway.Code) bool {
	switch c {
	case cardgateway.CodeSuccess, cardgateway.CodeFailed, cardgateway.CodeClosed, cardgateway.CodeRefundSuccess, cardgateway.CodeRefundFailed:
		return true
	}
	return false
}
