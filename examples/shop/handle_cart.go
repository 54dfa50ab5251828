package main

import (
	"net/http"
	"strconv"

	"github.com/shopspring/decimal"
)

func (s *Shop) showCatalog(w http.ResponseWriter, r *http.Request) error {
	return s.render(w, r, http.StatusOK, "catalog", struct {
		Products []Product
		Weekly   Product
	}{catalog, weekly})
}

// cart is the data of the cart page.
type cart struct {
	Lines []Line
	Total decimal.Decimal
	Most  []int // quantities to choose from
}

// Contents says what the customer sees, for the form that orders it.
func (c cart) Contents() contents { return contentsOf(c.Lines) }

func (s *Shop) cart(w http.ResponseWriter, r *http.Request) (c cart, err error) {
	c.Lines, err = s.store.Cart(r.Context(), s.customer(w, r))
	c.Total = total(c.Lines)
	for n := range mostOfOne {
		c.Most = append(c.Most, n+1)
	}
	return c, err
}

func (s *Shop) showCart(w http.ResponseWriter, r *http.Request) error {
	c, err := s.cart(w, r)
	if err != nil {
		return err
	}
	return s.render(w, r, http.StatusOK, "cart", c)
}

// changeCart adds one of a product, or sets its quantity.
func (s *Shop) changeCart(w http.ResponseWriter, r *http.Request) error {
	field, err := form(r)
	if err != nil {
		return err
	}
	p, ok := productOf(field("sku"))
	if !ok {
		return errNotFound
	}
	customer := s.customer(w, r)
	switch n, notNumber := strconv.Atoi(field("quantity")); {
	case field("remove") != "":
		err = s.store.SetQuantity(r.Context(), customer, p.SKU, 0)
	case field("quantity") == "":
		err = s.store.AddToCart(r.Context(), customer, p.SKU)
	case notNumber != nil:
		err = errBadForm
	default:
		err = s.store.SetQuantity(r.Context(), customer, p.SKU, n)
	}
	if err != nil {
		return err
	}
	return redirect(w, r, "/cart")
}
