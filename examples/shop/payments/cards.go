package payments

import (
	"context"
	"errors"
	"time"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/journal"
	"github.com/cardgateway/cardgateway-go/notify"
	"github.com/shopspring/decimal"
)

// Card is a card that the gateway stores for a customer. The shop stores an encrypted token.
type Card struct {
	ID          string // the transactionId of its token order
	State       State  // of the token order: Paid means that the card was entered
	Ready       bool   // the token has come: the card can be used
	Digits      string // the last four
	RedirectURL string // where the cardholder enters the card
	Changed     time.Time
}

// StoreCard begins to store a card: the cardholder enters it on the gateway's page, and the token comes to a URL that nobody else can guess. The
// interface requires an amount here too, and does not say whether it is charged. It returns ErrExists if there is a card with this id.
func (s *Service) StoreCard(ctx context.Context, customer, id string, amount decimal.Decimal, t Terms, v Visitor) error {
	ctx, cancel := patient(ctx)
	defer cancel()
	notice, err := s.urls.URL(id, time.Now().Add(24*time.Hour))
	if err != nil {
		return err
	}
	added, err := changed(s.DB.ExecContext(ctx, `INSERT INTO cards (id, customer, state, changed) VALUES ($1, $2, 'open', $3)
		ON CONFLICT DO NOTHING`, id, customer, time.Now().UnixMicro()))
	if err != nil {
		return err
	}
	if !added {
		return ErrExists
	}
	_, err = s.Journal.CreateTokenOrder(ctx, cardgateway.TokenOrderRequest{
		TransactionID: id, OrderID: id, Currency: t.Currency, Amount: amount, TransactionIP: v.IP, CallbackURL: s.URL + "/cards",
		NotificationURL: notice, ProductInfos: t.Products, BillingAddress: t.Billing,
	})
	return s.storeAfter(ctx, journal.PaymentID(id), err)
}

// setCard stores the outcome of a token order. It stays open until that is final.
func (s *Service) setCard(ctx context.Context, id string, p Payment) error {
	_, err := s.DB.ExecContext(ctx, `UPDATE cards SET state = $1, redirect_url = COALESCE(NULLIF($2, ''), redirect_url), version = $3, changed = $4
		WHERE id = $5 AND version < $3`, p.State, p.RedirectURL, p.Version, time.Now().UnixMicro(), id)
	return err
}

var errTokenEarly = errors.New("payments: a token came before the gateway shows its order as approved")

// storeToken stores the token of a card for its customer. No query confirms a token: package notify has checked that it came to the URL of this
// token order, which only the gateway and the shop know. The first one stays.
func (s *Service) storeToken(ctx context.Context, n *notify.Notification) error {
	t := n.Transaction
	switch {
	case s.Client.Paid(t):
	case t.State() == cardgateway.StateDeclined, t.State() == cardgateway.StateApproved: // a test
		return nil
	default:
		return errTokenEarly // so that the gateway repeats it
	}
	customer, err := one(Collect(ctx, s.DB, column[string], `SELECT customer FROM cards WHERE id = $1`, t.TransactionID))
	if errors.Is(err, ErrNotFound) { // the customer has removed it
		s.Logger.InfoContext(ctx, "a card was confirmed that is not there any more", "transactionId", t.TransactionID)
		return nil
	}
	if err != nil {
		return err
	}
	encrypted, err := s.tokens.Encrypt(n.Token, customer+" "+t.TransactionID)
	if err != nil {
		return err
	}
	_, err = s.DB.ExecContext(ctx, `UPDATE cards SET token = $1, digits = $2 WHERE id = $3 AND token = ''`,
		encrypted, t.TransactionCardNumber.Last4(), t.TransactionID)
	return err
}

// token returns the token of a customer's card, or ErrNotFound. It is decrypted only for a call.
func (s *Service) token(ctx context.Context, customer, id string) (cardgateway.Token, error) {
	encrypted, err := one(Collect(ctx, s.DB, column[string], `SELECT token FROM cards WHERE id = $1 AND customer = $2 AND token <> ''`, id, customer))
	if err != nil {
		return cardgateway.Token{}, err
	}
	return s.tokens.Decrypt(encrypted, customer+" "+id)
}

// Cards returns a customer's cards, the newest first.
func (s *Service) Cards(ctx context.Context, customer string) ([]Card, error) {
	return s.cards(ctx, `customer = $1`, customer)
}

// Card returns a customer's card, or ErrNotFound.
func (s *Service) Card(ctx context.Context, customer, id string) (Card, error) {
	return one(s.cards(ctx, `customer = $1 AND id = $2`, customer, id))
}

func (s *Service) cards(ctx context.Context, where string, args ...any) ([]Card, error) {
	return Collect(ctx, s.DB, func(scan func(...any) error) (c Card, err error) {
		var changed int64
		err = scan(&c.ID, &c.State, &c.Ready, &c.Digits, &c.RedirectURL, &changed)
		c.Changed = time.UnixMicro(changed)
		return c, err
	}, `SELECT id, state, token <> '', digits, redirect_url, changed FROM cards WHERE `+where+` ORDER BY changed DESC, id LIMIT 20`, args...)
}

// RemoveCard removes a customer's card. The interface has no way to delete it at the gateway.
func (s *Service) RemoveCard(ctx context.Context, customer, id string) error {
	_, err := s.DB.ExecContext(ctx, `DELETE FROM cards WHERE id = $1 AND customer = $2`, id, customer)
	return err
}
