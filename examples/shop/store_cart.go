package main

import (
	"context"
	"database/sql"
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
	lines, err := collect(rows, err, scanCartLine)
	return sold(lines), err
}

func scanCartLine(rows *sql.Rows) (l Line, err error) {
	var sku string
	if err := rows.Scan(&sku, &l.Quantity); err != nil {
		return l, err
	}
	l.Product, _ = productOf(sku)
	return l, nil
}

// sold removes products that are no longer in the catalog.
func sold(lines Lines) (kept Lines) {
	for _, l := range lines {
		if l.SKU != "" {
			kept = append(kept, l)
		}
	}
	return kept
}
