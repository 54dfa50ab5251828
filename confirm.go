package cardgateway

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"time"
)

// confirmer asks the gateway about what notifications claim. It asks once: a notification that could not be confirmed
// comes again by itself.
type confirmer struct{ c *Client }

const (
	confirmTimeout = 20 * time.Second // for all queries about one notification
	confirmBefore  = 27 * 24 * time.Hour
	confirmAfter   = resolveAfter // with what is before, within the shortest month
)

func newConfirmer(c *Client) confirmer {
	once := *c
	once.cfg.Retry.MaxAttempts = 1
	once.cfg.Location = time.UTC // the ranges below are wide enough for the gateway's clock to be in any zone
	return confirmer{&once}
}

// Why a notification was not confirmed.
var (
	errNothingToAsk = errors.New("cardgateway: the notification names no transaction")
	errContradicted = errors.New("cardgateway: the notification names another transactionId than the gateway")
	errNotSettled   = errors.New("cardgateway: the gateway does not show yet what the notification claims")
	errNotOneOrder  = errors.New("cardgateway: the gateway does not show one transaction with the notification's transactionId")
	errNotOneRefund = errors.New("cardgateway: the gateway does not show one refund as the notification names it")
)

// subject is what is asked for: the gateway's id if there is one, else the merchant's.
func (c *NotificationClaims) subject() string {
	switch {
	case c.UniqueID != "":
		return "uniqueId " + c.UniqueID
	case c.TransactionID != "":
		return "transactionId " + c.TransactionID
	}
	return ""
}

// queries counts what confirm asks.
func (c *NotificationClaims) queries() int {
	if c.Kind == KindRefund {
		return mostQueries
	}
	return 1
}

// confirm sets what the gateway says about the notification's subject.
func (f confirmer) confirm(ctx context.Context, n *Notification) (err error) {
	ctx, cancel := context.WithTimeout(ctx, confirmTimeout)
	defer cancel()
	n.Transaction, err = f.transaction(ctx, &n.Claimed)
	if err != nil {
		return err
	}
	if claimed := n.Claimed.TransactionID; claimed != "" && claimed != n.Transaction.TransactionID {
		return errContradicted
	}
	if n.Claimed.Kind == KindRefund {
		n.Refund, err = f.refund(ctx, &n.Claimed, n.Transaction.UniqueID)
	}
	return err
}

// transaction asks by the gateway's id, which every published notification carries, and by the merchant's id where
// that is all there is.
func (f confirmer) transaction(ctx context.Context, claimed *NotificationClaims) (*Transaction, error) {
	if claimed.UniqueID != "" {
		return f.c.GetTransaction(ctx, claimed.UniqueID)
	}
	start, end := confirmRange(time.Now())
	page, err := f.c.SearchOrders(ctx, OrderQuery{TransactionID: claimed.TransactionID, Start: start, End: end})
	if err != nil {
		return nil, err
	}
	if len(page.Data) == 0 {
		return nil, fmt.Errorf("%w: %w", errNotOneOrder, ErrNotFound)
	}
	// The filter has been seen to return other orders.
	return onlyOne(page.Data, errNotOneOrder, func(t *Transaction) bool {
		return t.TransactionID == claimed.TransactionID && t.UniqueID != ""
	})
}

// refund looks for the refund of the transaction that has the claimed ids.
func (f confirmer) refund(ctx context.Context, claimed *NotificationClaims, uniqueID string) (*Refund, error) {
	start, end := confirmRange(time.Now())
	page, err := f.c.SearchRefunds(ctx, RefundQuery{
		UniqueID: uniqueID, RefundUniqueID: claimed.RefundUniqueID, RefundTransactionID: claimed.MerchantRefundID,
		Start: start, End: end,
	})
	if err != nil {
		return nil, err
	}
	return onlyOne(page.Data, errNotOneRefund, func(r *Refund) bool {
		return r.UniqueID == uniqueID &&
			(claimed.RefundUniqueID == "" || claimed.RefundUniqueID == r.RefundUniqueID) &&
			(claimed.MerchantRefundID == "" || claimed.MerchantRefundID == r.MerchantRefundID)
	})
}

func confirmRange(now time.Time) (start, end time.Time) {
	return now.Add(-confirmBefore), now.Add(confirmAfter)
}

func onlyOne[T any](rows []T, otherwise error, matches func(*T) bool) (*T, error) {
	var found *T
	for i := range rows {
		if matches(&rows[i]) {
			if found != nil {
				return nil, otherwise
			}
			found = &rows[i]
		}
	}
	if found == nil {
		return nil, otherwise
	}
	return found, nil
}

// isSettled reports whether the gateway shows an end, or no less than the payload claims; one without a code may claim
// any. A notification can overtake the gateway's own records; what it announces must not be lost by accepting it too
// early.
func (n *Notification) isSettled() bool {
	return isFinal(n.confirmedCode()) || n.Claimed.Code != 0 && !isFinal(n.Claimed.Code)
}

func isFinal(c Code) bool {
	switch c {
	case CodeSuccess, CodeFailed, CodeClosed, CodeRefundSuccess, CodeRefundFailed:
		return true
	}
	return false
}

func (n *Notification) confirmedCode() Code {
	if n.Refund != nil {
		return n.Refund.Code
	}
	return n.Transaction.Code
}

// eventKey names a confirmed event for a Deduper. It is made of facts, since a key made of claims could be taken by a
// forger before the real notification comes. Where the event itself cannot be confirmed, the whole payload joins the
// key: only a true copy is a repetition.
func (n *Notification) eventKey() string {
	var refund Refund
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

// key is short whatever the ids are: a digest stands for what others than the gateway choose. A notification with a
// token is another event than one without, which could come first and take the key.
func (n *Notification) key(uniqueID, refundUniqueID, merchantRefundID string, code Code) string {
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
	return key + " " + n.signed().digest()
}

// digest is a hash of the payload without what is or may be a token.
func (p payload) digest() string {
	var texts []string
	for _, m := range p.members {
		if !m.hidden {
			texts = append(texts, m.name, m.text)
		}
	}
	return digest(texts...)
}

// digest writes each text behind its length, so that texts cannot be shifted against each other.
func digest(texts ...string) string {
	hash := sha256.New()
	for _, text := range texts {
		hash.Write(binary.BigEndian.AppendUint32(nil, uint32(len(text))))
		hash.Write([]byte(text))
	}
	return hex.EncodeToString(hash.Sum(nil))
}
