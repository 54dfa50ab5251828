package main

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/journal"
	"github.com/cardgateway/cardgateway-go/notify"
)

// notifications receives the gateway's notifications. Package notify limits and checks them and queries the gateway;
// notified gets only confirmed transactions. Without notifications, updates are slower, and the tokens of cards do not
// arrive; nothing else depends on them.
func (s *Shop) notifications() http.Handler {
	options := notify.Options{TokenURLs: s.tokens, Logger: s.log}
	if s.secretKey != "" {
		options.Verify = notify.SignatureSHA256(s.secretKey)
	}
	return notify.NewHandler(s.client, options, s.notified)
}

// notified records one event. It may be called again for the same event, and for events in any order. An error makes the
// gateway repeat it.
func (s *Shop) notified(ctx context.Context, n *notify.Notification) error {
	came := time.Now()
	switch n.Claimed.Kind {
	case notify.KindRefund:
		err := s.confirmRefund(ctx, n.Refund)
		s.addEvent(ctx, n.Refund.MerchantRefundID, EventNotified, came)
		return err
	case notify.KindChargeback: // no query confirms it: it needs manual review
		s.log.Warn("a chargeback was notified", "uniqueId", n.Transaction.UniqueID)
		return nil
	}
	err := s.confirm(ctx, n.Transaction)
	if errors.Is(err, journal.ErrNoEntry) { // another program's transaction
		return nil
	}
	s.addEvent(ctx, n.Transaction.TransactionID, EventNotified, came)
	if err != nil || n.Token.IsZero() {
		return err
	}
	return s.tokenNotified(ctx, n)
}

var errTokenEarly = errors.New("a token came before the gateway shows its order as approved")

// tokenNotified stores the token of a card. No query confirms a token. The handler has verified that it came to the URL of this
// token order, which only the gateway and the shop know.
func (s *Shop) tokenNotified(ctx context.Context, n *notify.Notification) error {
	t := n.Transaction
	switch {
	case s.client.Paid(t):
		encrypted, err := s.cipher.Encrypt(n.Token, t.TransactionID)
		if err != nil {
			return err
		}
		return s.store.SaveToken(ctx, t.TransactionID, encrypted, t.TransactionCardNumber.Last4())
	case t.State() == cardgateway.StateDeclined, t.State() == cardgateway.StateApproved: // a test
		return nil
	}
	return errTokenEarly // so that the gateway repeats it
}
