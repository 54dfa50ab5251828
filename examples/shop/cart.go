package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/shopspring/decimal"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/examples/shop/payments"
)

// Lines are what is in a cart or an order, as its payments say it.
type Lines []cardgateway.ProductInfo

// line returns a product at its price, as payments say it.
func (s *Shop) line(p Product, quantity int) cardgateway.ProductInfo {
	return cardgateway.ProductInfo{ProductName: p.Name, SKU: p.SKU, ProductLink: s.url + "/", Currency: currency, Price: p.Price, Quantity: quantity}
}

// lineTotal is the price of a line.
func lineTotal(l cardgateway.ProductInfo) decimal.Decimal {
	return l.Price.Mul(decimal.NewFromInt(int64(l.Quantity)))
}

// Total is the price of all lines.
func (all Lines) Total() (sum decimal.Decimal) {
	for _, l := range all {
		sum = sum.Add(lineTotal(l))
	}
	return sum
}

// Secure reports whether 3D authentication is required.
func (all Lines) Secure() bool { return all.Total().GreaterThanOrEqual(secureFrom) }

// Contents says what is in a cart, at which prices: what a customer agrees to. It is the same for the same lines in any order. The form that
// orders them has it.
func (all Lines) Contents() string {
	var texts []string
	for _, l := range all {
		texts = append(texts, fmt.Sprintf("%d %s %s", l.Quantity, l.SKU, l.Price))
	}
	slices.Sort(texts)
	return strings.Join(texts, ", ")
}

// terms returns what the payments of these lines say.
func (all Lines) terms(billing cardgateway.Address) payments.Terms {
	return payments.Terms{Currency: currency, Products: all, Billing: billing, Secure: all.Secure()}
}

// tables are those of the pages, beside those of package payments: the carts, and what the journal does not record of an order; see Event.
const tables = `
CREATE TABLE IF NOT EXISTS cart_lines (customer TEXT NOT NULL, sku TEXT NOT NULL, quantity INTEGER NOT NULL,
	PRIMARY KEY (customer, sku));
CREATE TABLE IF NOT EXISTS order_events (id TEXT NOT NULL, what TEXT NOT NULL, first_at BIGINT NOT NULL, last_at BIGINT NOT NULL,
	times INTEGER NOT NULL, PRIMARY KEY (id, what))`

// maxQuantity is the maximum quantity of a product in a cart.
const maxQuantity = 20

// addToCart adds one of a product.
func (s *Shop) addToCart(ctx context.Context, customer, sku string) error {
	_, err := s.payments.DB.ExecContext(ctx, `INSERT INTO cart_lines (customer, sku, quantity) VALUES ($1, $2, 1) ON CONFLICT (customer, sku)
		DO UPDATE SET quantity = CASE WHEN cart_lines.quantity < $3 THEN cart_lines.quantity + 1 ELSE cart_lines.quantity END`,
		customer, sku, maxQuantity)
	return err
}

// setQuantity sets the quantity of a product in a cart; zero removes it.
func (s *Shop) setQuantity(ctx context.Context, customer, sku string, quantity int) error {
	if quantity <= 0 {
		_, err := s.payments.DB.ExecContext(ctx, `DELETE FROM cart_lines WHERE customer = $1 AND sku = $2`, customer, sku)
		return err
	}
	_, err := s.payments.DB.ExecContext(ctx, `INSERT INTO cart_lines (customer, sku, quantity) VALUES ($1, $2, $3) ON CONFLICT (customer, sku)
		DO UPDATE SET quantity = $3`, customer, sku, min(quantity, maxQuantity))
	return err
}

// cart returns the lines of a cart, at current prices.
func (s *Shop) cart(ctx context.Context, customer string) (Lines, error) {
	return s.cartLines(ctx, s.payments.DB, `SELECT sku, quantity FROM cart_lines WHERE customer = $1 ORDER BY sku`, customer)
}

// cartLines runs a query for the lines of a cart, and returns them without products that are no longer in the catalog.
func (s *Shop) cartLines(ctx context.Context, db payments.Querier, query, customer string) (Lines, error) {
	lines, err := payments.Collect(ctx, db, func(scan func(...any) error) (cardgateway.ProductInfo, error) {
		var sku string
		var quantity int
		err := scan(&sku, &quantity)
		p, _ := productOf(sku)
		return s.line(p, quantity), err
	}, query, customer)
	return slices.DeleteFunc(lines, func(l cardgateway.ProductInfo) bool { return l.SKU == "" }), err
}

var (
	errEmptyCart   = errors.New("the cart is empty")
	errCartChanged = errors.New("the cart is not what the customer saw")
)

// orderCart turns the customer's cart into an order. The same transaction empties the cart, so a form that is sent twice creates one order. If
// the cart is not the one that the customer saw, it returns errCartChanged and changes nothing.
func (s *Shop) orderCart(ctx context.Context, o *payments.Order, seen string) error {
	return s.payments.Transaction(ctx, func(tx *sql.Tx) error {
		lines, err := s.cartLines(ctx, tx, `DELETE FROM cart_lines WHERE customer = $1 RETURNING sku, quantity`, o.Customer)
		switch {
		case err != nil:
			return err
		case len(lines) == 0:
			return errEmptyCart
		case lines.Contents() != seen:
			return errCartChanged
		}
		o.Amount, o.Terms = lines.Total(), lines.terms(o.Billing)
		return s.payments.Place(ctx, tx, o)
	})
}
