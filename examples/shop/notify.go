package main

import (
	"context"
	"errors"
	"net/http"

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
	switch n.Claimed.Kind {
	case notify.KindRefund:
		return nil // the page of refunds queries the gateway itself
	case notify.KindChargeback: // no query confirms it: it needs manual review
		s.log.Warn("a chargeback was notified", "uniqueId", n.Transaction.UniqueID)
		return nil
	}
	t := n.Transaction
	o, err := s.store.Order(ctx, t.TransactionID)
	switch {
	case err == nil:
		return s.learnFrom(ctx, &o, t)
	case !errors.Is(err, errNoOrder):
		return err
	}
	return s.cardNotified(ctx, n)
}

var errTokenEarly = errors.New("a token came before the gateway shows its order as approved")

// cardNotified records the end of a token order. No query confirms a token. The handler has verified that it came to the
// URL of this token order, which only the gateway and the shop know.
func (s *Shop) cardNotified(ctx context.Context, n *notify.Notification) error {
	t := n.Transaction
	c, err := s.store.Card(ctx, t.TransactionID)
	if errors.Is(err, errNoCard) {
		return nil // another program's transaction, or a card that its owner has removed
	}
	if err != nil {
		return err
	}
	if f := factOf(t, nil); n.Token.IsZero() || !t.Paid() {
		if err := s.store.LearnCard(ctx, c.ID, f); err != nil || n.Token.IsZero() || f.State.Final() {
			return err
		}
		return errTokenEarly // so that the gateway repeats it
	}
	return s.store.SaveToken(ctx, c.ID, s.seal.Close(c.ID, n.Token), t.TransactionCardNumber.Last4())
}
