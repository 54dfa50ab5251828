package main

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/examples/shop/payments"
)

type country struct{ Code, Name string }

// countries lists where the shop delivers to, by the two-letter codes that the gateway requires.
var countries = []country{
	{"US", "United States"}, {"CA", "Canada"}, {"CN", "China"}, {"DE", "Germany"}, {"FR", "France"},
	{"GB", "United Kingdom"}, {"JP", "Japan"}, {"NL", "Netherlands"},
}

// buyerForm holds the input, and the errors by field.
type buyerForm struct {
	Buyer    cardgateway.Address
	Problems problems
}

// Countries returns those to choose from.
func (buyerForm) Countries() []country { return countries }

// problems are what is wrong with the fields of a form.
type problems []problem

type problem struct{ Field, Label, Text string }

func (p *problems) check(ok bool, field, label, text string) {
	if !ok {
		*p = append(*p, problem{field, label, text})
	}
}

// Wrong returns the error of a field, or "".
func (f buyerForm) Wrong(field string) string {
	for _, p := range f.Problems {
		if p.Field == field {
			return p.Text
		}
	}
	return ""
}

// newBuyerForm returns the form with what the customer has entered for the last order.
func (s *Shop) newBuyerForm(w http.ResponseWriter, r *http.Request) (buyerForm, error) {
	orders, err := s.payments.Orders(r.Context(), s.customer(w, r))
	if err != nil || len(orders) == 0 {
		return buyerForm{Buyer: cardgateway.Address{Country: countries[0].Code}}, err
	}
	return buyerForm{Buyer: orders[0].Billing}, nil
}

// readBuyer reads the fields that every kind of order has.
func readBuyer(field func(string) string) buyerForm {
	f := buyerForm{Buyer: cardgateway.Address{
		FirstName: field("firstName"), LastName: field("lastName"), Email: field("email"), Country: field("country"),
	}}
	needed := func(value, field, label string, most int) {
		f.Problems.check(value != "", field, label, "is missing")
		f.Problems.check(utf8.RuneCountInString(value) <= most, field, label, fmt.Sprintf("is longer than %d letters", most))
	}
	needed(f.Buyer.FirstName, "firstName", "First name", 64)
	needed(f.Buyer.LastName, "lastName", "Last name", 64)
	needed(f.Buyer.Email, "email", "Email", 254)
	local, domain, _ := strings.Cut(f.Buyer.Email, "@")
	f.Problems.check(f.Buyer.Email == "" || local != "" && domain != "", "email", "Email", "is not an address, such as ada@mail.test")
	known := slices.ContainsFunc(countries, func(c country) bool { return c.Code == f.Buyer.Country })
	f.Problems.check(known, "country", "Country", "is not one that we deliver to")
	return f
}

// checkoutPage is the form between the cart and the payment.
type checkoutPage struct {
	buyerForm
	Lines   Lines
	Cards   []payments.Card
	Pay     string // the choice: empty for the gateway's page, or the id of a card
	Changed bool   // the cart has changed since the form was shown
}

// OnPage reports whether the gateway's page is offered too.
func (checkoutPage) OnPage() bool { return true }

func (s *Shop) showCheckout(w http.ResponseWriter, r *http.Request) error {
	f, err := s.newBuyerForm(w, r)
	if err != nil {
		return err
	}
	return s.checkoutForm(w, r, http.StatusOK, checkoutPage{buyerForm: f})
}

func (s *Shop) checkoutForm(w http.ResponseWriter, r *http.Request, status int, p checkoutPage) (err error) {
	if p.Lines, err = s.cart(r.Context(), s.customer(w, r)); err != nil {
		return err
	}
	if len(p.Lines) == 0 {
		return redirect(w, r, "/cart")
	}
	if p.Cards, err = s.readyCards(r, s.customer(w, r)); err != nil {
		return err
	}
	if status == http.StatusOK && len(p.Cards) > 0 { // nothing was chosen yet
		p.Pay = p.Cards[0].ID
	}
	return s.render(w, r, status, "checkout", p)
}

// placeOrder turns the cart into an order and starts its payment.
func (s *Shop) placeOrder(w http.ResponseWriter, r *http.Request) error {
	field, err := form(r)
	if err != nil {
		return err
	}
	customer := s.customer(w, r)
	page := checkoutPage{buyerForm: readBuyer(field), Pay: field("pay")}
	if len(page.Problems) > 0 {
		return s.checkoutForm(w, r, http.StatusUnprocessableEntity, page)
	}
	o := &payments.Order{ID: newID("S"), Customer: customer, Attempt: payments.Attempt{Kind: payments.KindHosted}}
	o.Billing = page.Buyer
	if page.Pay != "" {
		c, err := s.payments.Card(r.Context(), customer, page.Pay)
		switch {
		case errors.Is(err, payments.ErrNotFound) || err == nil && !c.Ready: // it was removed since the form was shown
			page.Pay = ""
			page.Problems.check(false, "pay-hosted", "The card", "is no longer saved. Please look at how you pay")
			return s.checkoutForm(w, r, http.StatusUnprocessableEntity, page)
		case err != nil:
			return err
		}
		o.Kind, o.CardID = payments.KindToken, c.ID
	}
	err = s.orderCart(r.Context(), o, field("cart"))
	switch {
	case errors.Is(err, errEmptyCart): // the form was sent twice, and the first one made the order
		return redirect(w, r, "/orders")
	case errors.Is(err, errCartChanged):
		page.Changed = true
		return s.checkoutForm(w, r, http.StatusConflict, page)
	case err != nil:
		return err
	}
	return s.payAndLead(w, r, o, cardgateway.Card{})
}

// payAndLead submits an order's payment and redirects to the next page. Whatever the outcome, the order's page shows it.
func (s *Shop) payAndLead(w http.ResponseWriter, r *http.Request, o *payments.Order, card cardgateway.Card) error {
	if err := s.payments.Pay(r.Context(), o, s.visitor(r), card); err != nil {
		return err
	}
	now, err := s.payments.Order(r.Context(), o.ID)
	if err != nil {
		return err
	}
	to := "/orders/" + o.ID
	if now.State == payments.Waiting && now.RedirectURL != "" {
		to += "/pay"
	}
	return redirect(w, r, to)
}
