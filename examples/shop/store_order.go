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
	o.Created, o.Payment = time.Now(), Payment{State: Open, Evidence: -1}
	added, err := changed(tx.ExecContext(ctx, `INSERT INTO orders
		(id, customer, kind, card_id, amount, first_name, last_name, email, country, created, state, evidence)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
		ON CONFLICT (id) DO NOTHING`,
		o.ID, o.Customer, o.Kind, o.CardID, o.Amount.String(),
		o.Buyer.FirstName, o.Buyer.LastName, o.Buyer.Email, o.Buyer.Country, o.Created.UnixMicro(), o.State, o.Evidence))
	switch {
	case err != nil:
		return err
	case !added:
		return errOrderExists
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

const orderColumns = `id, customer, kind, card_id, amount, first_name, last_name, email, country, created,
	state, reason, unique_id, card, redirect_url, evidence`

func scanOrder(row scanner) (o Order, err error) {
	var created int64
	err = row.Scan(&o.ID, &o.Customer, &o.Kind, &o.CardID, &o.Amount,
		&o.Buyer.FirstName, &o.Buyer.LastName, &o.Buyer.Email, &o.Buyer.Country, &created,
		&o.State, &o.Reason, &o.UniqueID, &o.Card, &o.RedirectURL, &o.Evidence)
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
	rows, err := s.db.QueryContext(ctx,
		`SELECT `+orderColumns+` FROM orders WHERE customer = $1 ORDER BY created DESC, id LIMIT 100`, customer)
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

// SetPayment stores what is known of an order's payment, unless more is stored already: others may store it concurrently. It
// reports whether it has. Nothing else changes the state of an order.
func (s *Store) SetPayment(ctx context.Context, id string, p Payment) (bool, error) {
	return changed(s.db.ExecContext(ctx, `UPDATE orders SET state = $1, reason = $2, evidence = $3,
		unique_id = COALESCE(NULLIF($4, ''), unique_id), card = COALESCE(NULLIF($5, ''), card),
		redirect_url = COALESCE(NULLIF($6, ''), redirect_url) WHERE id = $7 AND evidence < $3`,
		p.State, p.Reason, p.Evidence, p.UniqueID, p.Card, p.RedirectURL, id))
}

// MayLook reports true at most once in each interval: the gateway may then be queried because the order's page is shown.
func (s *Store) MayLook(ctx context.Context, id string, interval time.Duration) (bool, error) {
	now := time.Now()
	return changed(s.db.ExecContext(ctx, `UPDATE orders SET looked = $1 WHERE id = $2 AND looked <= $3`,
		now.UnixMicro(), id, now.Add(-interval).UnixMicro()))
}

var _ sql.Scanner = (*decimal.Decimal)(nil) // amounts are read with the decimals that were written
