package notify

import (
	"fmt"

	"github.com/cardgateway/cardgateway-go"
)

// eventKey names a confirmed event for a Deduper. It is made of facts, since a key made of claims could be taken by a
// forger before the real notification comes. Where the event itself cannot be confirmed, the whole payload joins the key:
// only a true copy is a repetition.
func (n *Notification) eventKey() string {
	var refund cardgateway.Refund
	if n.Refund != nil {
		refund = *n.Refund
	}
	return n.key(n.Transaction.UniqueID, refund.RefundUniqueID, refund.MerchantRefundID, n.confirmedCode())
}

// claimedKey is the eventKey if all that is claimed is true.
func (n *Notification) claimedKey() string {
	c := &n.Claimed
	return n.key(c.UniqueID, c.RefundUniqueID, c.MerchantRefundID, c.Code)
}

// key is short whatever the ids are: a digest stands for what others than the gateway choose. The code is part of it, since
// a transaction has several events: on the hosted page a cardholder whose card was declined can try another. A notification
// with a token is another event than one without, which could come first and take the key.
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

// showsClaim reports whether the gateway shows an end, or no less than the payload claims; one without a code may claim
// any. A notification can overtake the gateway's own records; what it announces must not be lost by accepting it too early.
func (n *Notification) showsClaim() bool {
	return isFinal(n.confirmedCode()) || n.Claimed.Code != 0 && !isFinal(n.Claimed.Code)
}

func isFinal(c cardgateway.Code) bool {
	switch c {
	case cardgateway.CodeSuccess, cardgateway.CodeFailed, cardgateway.CodeClosed, cardgateway.CodeRefundSuccess, cardgateway.CodeRefundFailed:
		return true
	}
	return false
}
