package main

import (
	"context"
	"database/sql"
	"errors"
	"time"
)

// StoredCard is a card that the gateway keeps for a customer. The shop has the last four digits and a sealed token.
type StoredCard struct {
	ID          string // the token order's transactionId
	Customer    string
	State       CardState
	Card        string // the last four digits
	Sealed      string // the token; see Seal
	RedirectURL string // where the cardholder enters the card
	Created     time.Time
}

// CardState is how far the storing of a card has come.
type CardState string

// The states of a stored card.
const (
	CardOpen    CardState = "open"    // the card has not been entered, or its token has not come
	CardEntered CardState = "entered" // the gateway has the card; the token comes by notification and in no other way
	CardReady   CardState = "ready"   // there is a token
	CardFailed  CardState = "failed"
)

// AddCard writes down that a customer wants a card to be stored.
func (s *Store) AddCard(ctx context.Context, c *StoredCard) error {
	c.Created, c.State = time.Now(), CardOpen
	_, err := s.db.ExecContext(ctx, `INSERT INTO cards (id, customer, state, created) VALUES ($1, $2, $3, $4)`,
		c.ID, c.Customer, c.State, c.Created.UnixMicro())
	return err
}

const cardColumns = `id, customer, state, card, token, redirect_url, created`

func scanCard(row interface{ Scan(...any) error }) (c StoredCard, err error) {
	var created int64
	err = row.Scan(&c.ID, &c.Customer, &c.State, &c.Card, &c.Sealed, &c.RedirectURL, &created)
	c.Created = time.UnixMicro(created)
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
	return collect(rows, err, func(rows *sql.Rows) (StoredCard, error) { return scanCard(rows) })
}

// LearnCard adds what was learnt of a token order. A card that has its token stays ready.
func (s *Store) LearnCard(ctx context.Context, id string, f Fact) error {
	state := CardOpen
	switch f.State {
	case Paid: // of a token order that means "the card is stored": no money has moved
		state = CardEntered
	case Declined, Refused, Unsent, Conflict:
		state = CardFailed
	default:
		if f.RedirectURL == "" {
			return nil
		}
	}
	_, err := s.db.ExecContext(ctx, `UPDATE cards SET state = $1, redirect_url = $2 WHERE id = $3 AND state = $4`,
		state, f.RedirectURL, id, CardOpen)
	return err
}

// SaveToken keeps the sealed token of a card. The first one stays: a token order has only one.
func (s *Store) SaveToken(ctx context.Context, id, sealed, lastFour string) error {
	_, err := s.db.ExecContext(ctx, `UPDATE cards SET token = $1, card = $2, state = $3, redirect_url = ''
		WHERE id = $4 AND token = ''`, sealed, lastFour, CardReady, id)
	return err
}

// RemoveCard forgets a customer's card. The interface shows no way to have the gateway forget it too.
func (s *Store) RemoveCard(ctx context.Context, customer, id string) error {
	_, err := s.db.ExecContext(ctx, `DELETE FROM cards WHERE id = $1 AND customer = $2`, id, customer)
	return err
}
