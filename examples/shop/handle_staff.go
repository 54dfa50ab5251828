package main

import (
	"net/http"

	"github.com/cardgateway/cardgateway-go/examples/shop/payments"
)

// staffOrder is an order on the page of the staff.
type staffOrder struct {
	payments.Order
	Refund   payments.Refund // may be made; without an ID none may
	NoRefund string          // why
}

// showStaff shows the last orders of all customers.
func (s *Shop) showStaff(w http.ResponseWriter, r *http.Request) error {
	orders, err := s.payments.Orders(r.Context(), "")
	if err != nil {
		return err
	}
	var all []staffOrder
	for _, o := range orders {
		refund, why := o.NextRefund()
		all = append(all, staffOrder{o, refund, why})
	}
	return s.render(w, r, http.StatusOK, "staff", all)
}

// refund makes the refund that a button has named, if it is still possible.
func (s *Shop) refund(w http.ResponseWriter, r *http.Request) error {
	o, err := s.payments.Order(r.Context(), r.PathValue("id"))
	if err == nil {
		err = s.payments.Refund(r.Context(), o, r.PathValue("refund"))
	}
	if err != nil {
		return err
	}
	return redirect(w, r, "/staff")
}
