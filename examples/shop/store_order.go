package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/shopspring/decimal"
)

// PlaceOrder turns the customer's cart into an order. The same transaction empties the cart, so a form that is sent twice
// creates one order. If the total of the cart is not o.Amount, which the customer saw, it returns errCartChanged and
// changes nothing.
func (s *Store) PlaceOrder(ctx context.Context, o *Order) error {
	return s.transaction(ctx, func(tx *sql.Tx) error {
		rows, err := tx.QueryContext(ctx, `DELETE FROM cart_lines WHERE customer = $1 RETURNING sku, quantity`, o.Customer)
		lines, err := collect(rows, err, scanCartLine)
		if err != nil {
			return err
		}
		o.Lines = sold(lines)
		switch {
		case len(o.Lines) == 0:
			return errEmptyCart
		case !total(o.Lines).Equal(o.Amount):
			return errCartChanged
		}
		return insertOrder(ctx, tx, o)
	})
}

// AddOrder stores an order that does not come from the cart.
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
	o.Created, o.Fact = time.Now(), Fact{State: Open}
	_, err := tx.ExecContext(ctx, `INSERT INTO orders
		(id, customer, kind, card_id, amount, first_name, last_name, email, country, created, state, changed)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $10)`,
		o.ID, o.Customer, o.Kind, o.CardID, o.Amount.String(),
		o.Buyer.FirstName, o.Buyer.LastName, o.Buyer.Email, o.Buyer.Country, o.Created.UnixMicro(), o.State)
	for i := 0; err == nil && i < len(o.Lines); i++ {
		l := &o.Lines[i]
		_, err = tx.ExecContext(ctx, `INSERT INTO order_lines (order_id, position, sku, name, price, quantity)
			VALUES ($1, $2, $3, $4, $5, $6)`, o.ID, i, l.SKU, l.Name, l.Price.String(), l.Quantity)
	}
	return err
}

const orderColumns = `id, customer, kind, card_id, amount, first_name, last_name, email, country, created,
	state, reason, unique_id, card, redirect_url`

func scanOrder(row interface{ Scan(...any) error }) (o Order, err error) {
	var created int64
	err = row.Scan(&o.ID, &o.Customer, &o.Kind, &o.CardID, &o.Amount,
		&o.Buyer.FirstName, &o.Buyer.LastName, &o.Buyer.Email, &o.Buyer.Country, &created,
		&o.State, &o.Reason, &o.UniqueID, &o.Card, &o.RedirectURL)
	o.Created = time.UnixMicro(created)
	return o, err
}

// Order returns an order with its lines, or errNoOrder.
func (s *Store) Order(ctx context.Context, id string) (Order, error) {
	o, err := scanOrder(s.db.QueryRowContext(ctx, `SELECT `+orderColumns+` FROM orders WHERE id = $1`, id))
	if errors.Is(err, sql.ErrNoRows) {
		return o, errNoOrder
	}
	if err != nil {
		return o, err
	}
	rows, err := s.db.QueryContext(ctx,
		`SELECT sku, name, price, quantity FROM order_lines WHERE order_id = $1 ORDER BY position`, id)
	o.Lines, err = collect(rows, err, func(rows *sql.Rows) (l Line, err error) {
		return l, rows.Scan(&l.SKU, &l.Name, &l.Price, &l.Quantity)
	})
	return o, err
}

// OrdersOf returns a customer's last orders, the newest first, without their lines.
func (s *Store) OrdersOf(ctx context.Context, customer string) ([]Order, error) {
	rows, err := s.db.QueryContext(ctx,
		`SELECT `+orderColumns+` FROM orders WHERE customer = $1 ORDER BY created DESC, id LIMIT 100`, customer)
	return collect(rows, err, func(rows *sql.Rows) (Order, error) { return scanOrder(rows) })
}

// Learn adds a fact to what is known about an order's payment. It returns the resulting order, without its lines, and
// whether its state has changed. Apart from Reopen, nothing else changes the state.
func (s *Store) Learn(ctx context.Context, id string, n Fact) (_ Order, moved bool, _ error) {
	for range 10 { // other processes may add facts concurrently
		o, err := scanOrder(s.db.QueryRowContext(ctx, `SELECT `+orderColumns+` FROM orders WHERE id = $1`, id))
		if errors.Is(err, sql.ErrNoRows) {
			return o, false, errNoOrder
		}
		if err != nil {
			return o, false, err
		}
		known := o.Fact
		o.Fact = known.with(n)
		if o.Fact == known {
			return o, false, nil
		}
		done, err := s.changed(ctx, `UPDATE orders
			SET state = $1, reason = $2, unique_id = $3, card = $4, redirect_url = $5, changed = $6
			WHERE id = $7 AND state = $8 AND unique_id = $9`,
			o.State, o.Reason, o.UniqueID, o.Card, o.RedirectURL, time.Now().UnixMicro(), id, known.State, known.UniqueID)
		if err != nil || done {
			return o, o.State != known.State, err
		}
	}
	return Order{}, false, fmt.Errorf("order %s: %w", id, errContended)
}

// Reopen lets the payment of an order be submitted again, with the same transactionId, if it is proved that nothing was
// sent.
func (s *Store) Reopen(ctx context.Context, id string) error {
	_, err := s.db.ExecContext(ctx, `UPDATE orders SET state = $1 WHERE id = $2 AND state = $3`, Open, id, Unsent)
	return err
}

// MayLook reports true at most once in each interval: the gateway may then be queried because the order's page is shown.
func (s *Store) MayLook(ctx context.Context, id string, interval time.Duration) (bool, error) {
	now := time.Now()
	return s.changed(ctx, `UPDATE orders SET looked = $1 WHERE id = $2 AND looked <= $3`,
		now.UnixMicro(), id, now.Add(-interval).UnixMicro())
}

var _ sql.Scanner = (*decimal.Decimal)(nil) // amounts are read with the decimals that were written
