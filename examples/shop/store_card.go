package main

import (
	"context"
	"database/sql"
	"errors"
	"time"
)

// StoredCard is a card that the gateway stores for a customer. The shop stores the last four digits and the encrypted token.
type StoredCard struct {
	ID          string // the token order's transactionId
	Customer    string
	State       CardState
	Card        string // the last four digits
	Encrypted   string // the token; see cardgateway.TokenCipher
	RedirectURL string // where the cardholder enters the card
	Changed     time.Time
}

// CardState is the state of storing a card.
type CardState string

// The states of a stored card.
const (
	CardOpen    CardState = "open"    // the card has not been entered, or its token has not arrived
	CardEntered CardState = "entered" // the gateway has the card; its token arrives only by notification
	CardReady   CardState = "ready"   // there is a token
	CardFailed  CardState = "failed"
	CardUnsent  CardState = "unsent" // the gateway could not be reached
)

// AddCard records that a customer wants to store a card. If there is one with this id, because the form was sent twice, it returns
// errCardExists.
func (s *Store) AddCard(ctx context.Context, c *StoredCard) error {
	c.Changed, c.State = time.Now(), CardOpen
	added, err := changed(s.db.ExecContext(ctx, `INSERT INTO cards (id, customer, state, created, changed) VALUES ($1, $2, $3, $4, $4)
		ON CONFLICT (id) DO NOTHING`, c.ID, c.Customer, c.State, c.Changed.UnixMicro()))
	if err == nil && !added {
		return errCardExists
	}
	return err
}

const cardColumns = `id, customer, state, card, token, redirect_url, changed`

func scanCard(row scanner) (c StoredCard, err error) {
	var changed int64
	err = row.Scan(&c.ID, &c.Customer, &c.State, &c.Card, &c.Encrypted, &c.RedirectURL, &changed)
	c.Changed = time.UnixMicro(changed)
	return c, err
}

// Card returns a card, or errNoCard.
func (s *Store) Card(ctx context.Context, id string) (StoredCard, error) {
	c, err := scanCard(s.db.QueryRowContext(ctx, `SELECT `+cardColumns+` FROM cards WHERE id = $1`, id))
	if errors.Is(err, sql.ErrNoRows) {
		return c, errNoCard
	}
	return c, err
}

// CardsOf returns a customer's cards, the newest first.
func (s *Store) CardsOf(ctx context.Context, customer string) ([]StoredCard, error) {
	rows, err := s.db.QueryContext(ctx,
		`SELECT `+cardColumns+` FROM cards WHERE customer = $1 ORDER BY created DESC, id LIMIT 20`, customer)
	return collect(rows, err, scanCard)
}

// SetCard stores the outcome of a token order. A card that has its token stays ready.
func (s *Store) SetCard(ctx context.Context, id string, p Payment) error {
	state := CardFailed
	switch p.State {
	case Paid:
		state = CardEntered
	case Waiting, Processing, Checking:
		state = CardOpen
	case Unsent:
		state = CardUnsent
	}
	_, err := s.db.ExecContext(ctx, `UPDATE cards SET state = $1, redirect_url = COALESCE(NULLIF($2, ''), redirect_url), changed = $5
		WHERE id = $3 AND state = $4`, state, p.RedirectURL, id, CardOpen, time.Now().UnixMicro())
	return err
}

// SaveToken stores the encrypted token of a card. The first one stays: a token order has only one.
func (s *Store) SaveToken(ctx context.Context, id, encrypted, lastFour string) error {
	_, err := s.db.ExecContext(ctx, `UPDATE cards SET token = $1, card = $2, state = $3, redirect_url = ''
		WHERE id = $4 AND token = ''`, encrypted, lastFour, CardReady, id)
	return err
}

// RemoveCard deletes a customer's card. The interface has no way to delete it at the gateway.
func (s *Store) RemoveCard(ctx context.Context, customer, id string) error {
	_, err := s.db.ExecContext(ctx, `DELETE FROM cards WHERE id = $1 AND customer = $2`, id, customer)
	return err
}
