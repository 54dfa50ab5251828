package main

import (
	"net/http"
	"strconv"
)

func (s *Shop) showCatalog(w http.ResponseWriter, r *http.Request) error {
	return s.render(w, r, http.StatusOK, "catalog", struct {
		Products []Product
		Weekly   Product
	}{catalog, weekly})
}

// cartPage is the data of the cart page.
type cartPage struct{ Lines Lines }

// Quantities returns the quantities of a product to choose from.
func (cartPage) Quantities() (all []int) {
	for n := range maxQuantity {
		all = append(all, n+1)
	}
	return all
}

func (s *Shop) showCart(w http.ResponseWriter, r *http.Request) error {
	lines, err := s.cart(r.Context(), s.customer(w, r))
	if err != nil {
		return err
	}
	return s.render(w, r, http.StatusOK, "cart", cartPage{lines})
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
		err = s.setQuantity(r.Context(), customer, p.SKU, 0)
	case field("quantity") == "":
		err = s.addToCart(r.Context(), customer, p.SKU)
	case notNumber != nil:
		err = errBadForm
	default:
		err = s.setQuantity(r.Context(), customer, p.SKU, n)
	}
	if err != nil {
		return err
	}
	return redirect(w, r, "/cart")
}
