package main

import (
	"context"
	"database/sql"
	"slices"
	"time"
)

// mostOfOne is the maximum quantity of a product in a cart.
const mostOfOne = 20

// AddToCart adds one of a product.
func (s *Store) AddToCart(ctx context.Context, customer, sku string) error {
	_, err := s.db.ExecContext(ctx, `INSERT INTO cart_lines (customer, sku, quantity, changed) VALUES ($1, $2, 1, $3)
		ON CONFLICT (customer, sku) DO UPDATE SET changed = $3,
			quantity = CASE WHEN cart_lines.quantity < $4 THEN cart_lines.quantity + 1 ELSE cart_lines.quantity END`,
		customer, sku, time.Now().UnixMicro(), mostOfOne)
	return err
}

// SetQuantity changes the quantity of a product in a cart; zero removes it.
func (s *Store) SetQuantity(ctx context.Context, customer, sku string, quantity int) error {
	if quantity <= 0 {
		_, err := s.db.ExecContext(ctx, `DELETE FROM cart_lines WHERE customer = $1 AND sku = $2`, customer, sku)
		return err
	}
	_, err := s.db.ExecContext(ctx, `UPDATE cart_lines SET quantity = $3, changed = $4 WHERE customer = $1 AND sku = $2`,
		customer, sku, min(quantity, mostOfOne), time.Now().UnixMicro())
	return err
}

// Cart returns the lines of a cart, at current prices.
func (s *Store) Cart(ctx context.Context, customer string) (Lines, error) {
	rows, err := s.db.QueryContext(ctx, `SELECT sku, quantity FROM cart_lines WHERE customer = $1 ORDER BY sku`, customer)
	return cartLines(rows, err)
}

// cartLines reads the lines of a cart, without products that are no longer in the catalog.
func cartLines(rows *sql.Rows, err error) (Lines, error) {
	lines, err := collect(rows, err, func(row scanner) (l Line, err error) {
		var sku string
		err = row.Scan(&sku, &l.Quantity)
		l.Product, _ = productOf(sku)
		return l, err
	})
	return slices.DeleteFunc(lines, func(l Line) bool { return l.SKU == "" }), err
}

// ForgetCarts deletes cart entries older than before.
func (s *Store) ForgetCarts(ctx context.Context, before time.Time) error {
	_, err := s.db.ExecContext(ctx, `DELETE FROM cart_lines WHERE changed < $1`, before.UnixMicro())
	return err
}
