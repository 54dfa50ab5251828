package main

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"time"

	"github.com/shopspring/decimal"
)

// PlaceOrder turns the customer's cart into an order. The same transaction empties the cart, so a form that is sent twice
// creates one order. If the cart is not the one that the customer saw, it returns errCartChanged and changes nothing.
func (s *Store) PlaceOrder(ctx context.Context, o *Order, seen contents) error {
	return s.transaction(ctx, func(tx *sql.Tx) error {
		rows, err := tx.QueryContext(ctx, `DELETE FROM cart_lines WHERE customer = $1 RETURNING sku, quantity`, o.Customer)
		if o.Lines, err = cartLines(rows, err); err != nil {
			return err
		}
		o.Amount = o.Lines.Total()
		switch {
		case len(o.Lines) == 0:
			return errEmptyCart
		case o.Lines.Contents() != seen:
			return errCartChanged
		}
		return insertOrder(ctx, tx, o)
	})
}

// AddOrder stores an order that does not come from the cart. If there is one with this id, because the form was sent twice, it returns
// errOrderExists.
func (s *Store) AddOrder(ctx context.Context, o *Order) error {
	return s.transaction(ctx, func(tx *sql.Tx) error { return insertOrder(ctx, tx, o) })
}

func (s *Store) transaction(ctx context.Context, do func(*sql.Tx) error) error {
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // does nothing after Commit
	if err := do(tx); err != nil {
		return err
	}
	return tx.Commit()
}

func insertOrder(ctx context.Context, tx *sql.Tx, o *Order) error {
	o.Created, o.Attempt = time.Now(), Attempt{Kind: o.Kind, CardID: o.CardID}
	added, err := changed(tx.ExecContext(ctx, `INSERT INTO orders (id, customer, amount, first_name, last_name, email, country, created)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT (id) DO NOTHING`,
		o.ID, o.Customer, o.Amount.String(), o.Buyer.FirstName, o.Buyer.LastName, o.Buyer.Email, o.Buyer.Country, o.Created.UnixMicro()))
	switch {
	case err != nil:
		return err
	case !added:
		return errOrderExists
	}
	if _, err := addAttempt(ctx, tx, o); err != nil {
		return err
	}
	for i, l := range o.Lines {
		_, err := tx.ExecContext(ctx, `INSERT INTO order_lines (order_id, position, sku, name, price, quantity)
			VALUES ($1, $2, $3, $4, $5, $6)`, o.ID, i, l.SKU, l.Name, l.Price.String(), l.Quantity)
		if err != nil {
			return err
		}
	}
	return nil
}

// NextAttempt begins the next attempt to pay an order, which o then has. It reports false if a form that was sent twice has begun it
// already, or if an attempt is open or has paid.
func (s *Store) NextAttempt(ctx context.Context, o *Order, kind Kind, cardID string) (bool, error) {
	o.Attempt = Attempt{Number: o.Number, Kind: kind, CardID: cardID}
	return addAttempt(ctx, s.db, o)
}

// execer is a database or a transaction.
type execer interface {
	ExecContext(context.Context, string, ...any) (sql.Result, error)
}

// addAttempt stores the next attempt of an order. Of those who do it at once, one stores it: all choose the same id.
func addAttempt(ctx context.Context, db execer, o *Order) (bool, error) {
	o.Number++
	o.Attempt.ID, o.Payment = attemptID(o.ID, o.Number), Payment{State: Open, Evidence: -1}
	return changed(db.ExecContext(ctx, `INSERT INTO attempts (id, order_id, number, kind, card_id, state, evidence)
		SELECT $1, id, CAST($2 AS INTEGER), $3, $4, $5, CAST($6 AS INTEGER) FROM orders WHERE id = $7
		AND NOT EXISTS (SELECT 1 FROM attempts WHERE order_id = orders.id AND state NOT IN ('`+string(Declined)+`', '`+string(Closed)+`', '`+string(Tested)+`'))
		ON CONFLICT DO NOTHING`, o.Attempt.ID, o.Number, o.Kind, o.CardID, o.State, o.Evidence, o.ID))
}

// ReplaceCard lets a refused attempt use another stored card.
func (s *Store) ReplaceCard(ctx context.Context, attempt, cardID string) error {
	_, err := s.db.ExecContext(ctx, `UPDATE attempts SET card_id = $1 WHERE id = $2 AND kind = $3 AND state = $4`, cardID, attempt, KindToken, Refused)
	return err
}

// fromOrders selects orders, each with the attempt that Order has.
const fromOrders = `SELECT o.id, customer, amount, first_name, last_name, email, country, created,
	a.id, number, kind, card_id, state, reason, unique_id, card, redirect_url, evidence
	FROM orders o JOIN attempts a ON a.id = (SELECT id FROM attempts WHERE order_id = o.id
		ORDER BY CASE WHEN state IN ('` + string(Paid) + `', '` + string(Conflict) + `') THEN 0 ELSE 1 END, number DESC LIMIT 1) `

func scanOrder(row scanner) (o Order, err error) {
	var created int64
	err = row.Scan(&o.ID, &o.Customer, &o.Amount, &o.Buyer.FirstName, &o.Buyer.LastName, &o.Buyer.Email, &o.Buyer.Country, &created,
		&o.Attempt.ID, &o.Number, &o.Kind, &o.CardID, &o.State, &o.Reason, &o.UniqueID, &o.Card, &o.RedirectURL, &o.Evidence)
	o.Created = time.UnixMicro(created)
	return o, err
}

// Order returns an order with its lines, or errNoOrder.
func (s *Store) Order(ctx context.Context, id string) (Order, error) {
	o, err := scanOrder(s.db.QueryRowContext(ctx, fromOrders+`WHERE o.id = $1`, id))
	if errors.Is(err, sql.ErrNoRows) {
		return o, errNoOrder
	}
	if err != nil {
		return o, err
	}
	rows, err := s.db.QueryContext(ctx,
		`SELECT sku, name, price, quantity FROM order_lines WHERE order_id = $1 ORDER BY position`, id)
	o.Lines, err = collect(rows, err, func(row scanner) (l Line, err error) {
		err = row.Scan(&l.SKU, &l.Name, &l.Price, &l.Quantity)
		return l, err
	})
	if err == nil {
		o.Refunds, err = s.refundsOfOrder(ctx, id)
	}
	return o, err
}

// OrdersOf returns a customer's last orders, the newest first, without their lines.
func (s *Store) OrdersOf(ctx context.Context, customer string) ([]Order, error) {
	rows, err := s.db.QueryContext(ctx, fromOrders+`WHERE customer = $1 ORDER BY created DESC, o.id LIMIT 100`, customer)
	orders, err := collect(rows, err, scanOrder)
	if err != nil {
		return nil, err
	}
	refunds, err := s.RefundsOf(ctx, customer)
	for _, r := range slices.Backward(refunds) {
		if i := slices.IndexFunc(orders, func(o Order) bool { return o.ID == r.OrderID }); i >= 0 {
			orders[i].Refunds = append(orders[i].Refunds, r)
		}
	}
	return orders, err
}

// BuyerOf returns what the customer has entered for the last order. It is empty if there is none.
func (s *Store) BuyerOf(ctx context.Context, customer string) (b Buyer, err error) {
	err = s.db.QueryRowContext(ctx, `SELECT first_name, last_name, email, country FROM orders WHERE customer = $1
		ORDER BY created DESC, id LIMIT 1`, customer).Scan(&b.FirstName, &b.LastName, &b.Email, &b.Country)
	if errors.Is(err, sql.ErrNoRows) {
		return Buyer{}, nil
	}
	return b, err
}

// SetPayment stores what is known of an attempt, unless more is stored already: others may store it concurrently. It
// reports whether it has. Nothing else changes the state of an attempt.
func (s *Store) SetPayment(ctx context.Context, id string, p Payment) (bool, error) {
	return changed(s.db.ExecContext(ctx, `UPDATE attempts SET state = $1, reason = $2, evidence = $3,
		unique_id = COALESCE(NULLIF($4, ''), unique_id), card = COALESCE(NULLIF($5, ''), card),
		redirect_url = COALESCE(NULLIF($6, ''), redirect_url) WHERE id = $7 AND evidence < $3`,
		p.State, p.Reason, p.Evidence, p.UniqueID, p.Card, p.RedirectURL, id))
}

// Attempts returns the ids of an order's attempts, the first one first.
func (s *Store) Attempts(ctx context.Context, orderID string) ([]string, error) {
	rows, err := s.db.QueryContext(ctx, `SELECT id FROM attempts WHERE order_id = $1 ORDER BY number`, orderID)
	return collect(rows, err, scanText)
}

// PaidBeside returns the other attempts of the same order that have paid it too.
func (s *Store) PaidBeside(ctx context.Context, attempt string) ([]string, error) {
	rows, err := s.db.QueryContext(ctx, `SELECT id FROM attempts WHERE state = $1 AND id <> $2
		AND order_id = (SELECT order_id FROM attempts WHERE id = $3)`, Paid, attempt, attempt)
	return collect(rows, err, scanText)
}

func scanText(row scanner) (text string, err error) { return text, row.Scan(&text) }

// Evidence returns how much of the journal's evidence the state of an attempt includes.
func (s *Store) Evidence(ctx context.Context, attempt string) (n int, err error) {
	err = s.db.QueryRowContext(ctx, `SELECT evidence FROM attempts WHERE id = $1`, attempt).Scan(&n)
	if errors.Is(err, sql.ErrNoRows) {
		err = errNoOrder
	}
	return n, err
}

// MayLook reports true at most once in each interval: the gateway may then be queried for an attempt because the order's page is shown.
func (s *Store) MayLook(ctx context.Context, id string, interval time.Duration) (bool, error) {
	now := time.Now()
	return changed(s.db.ExecContext(ctx, `UPDATE attempts SET looked = $1 WHERE id = $2 AND looked <= $3`,
		now.UnixMicro(), id, now.Add(-interval).UnixMicro()))
}

var _ sql.Scanner = (*decimal.Decimal)(nil) // amounts are read with the decimals that were written
