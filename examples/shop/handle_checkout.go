package main

import (
	"cmp"
	"errors"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"
)

type country struct{ Code, Name string }

// countries lists where the shop delivers to, by the two-letter codes that the gateway requires.
var countries = []country{
	{"US", "United States"}, {"CA", "Canada"}, {"CN", "China"}, {"DE", "Germany"}, {"FR", "France"},
	{"GB", "United Kingdom"}, {"JP", "Japan"}, {"NL", "Netherlands"},
}

// buyerForm holds the input, and the errors by field.
type buyerForm struct {
	Buyer
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
	b, err := s.store.BuyerOf(r.Context(), s.customer(w, r))
	b.Country = cmp.Or(b.Country, countries[0].Code)
	return buyerForm{Buyer: b}, err
}

// readBuyer reads the fields that every kind of order has.
func readBuyer(field func(string) string) buyerForm {
	f := buyerForm{Buyer: Buyer{
		FirstName: field("firstName"), LastName: field("lastName"), Email: field("email"), Country: field("country"),
	}}
	name := func(s string) bool { return s != "" && utf8.RuneCountInString(s) <= 64 }
	f.Problems.check(name(f.FirstName), "firstName", "First name", "is needed, with at most 64 letters")
	f.Problems.check(name(f.LastName), "lastName", "Last name", "is needed, with at most 64 letters")
	local, domain, _ := strings.Cut(f.Email, "@")
	f.Problems.check(local != "" && domain != "" && len(f.Email) <= 254, "email", "Email", "does not look like an address")
	known := slices.ContainsFunc(countries, func(c country) bool { return c.Code == f.Country })
	f.Problems.check(known, "country", "Country", "is not one that we deliver to")
	return f
}

// checkoutPage is the form between the cart and the payment.
type checkoutPage struct {
	buyerForm
	Lines   Lines
	Cards   []StoredCard
	Pay     string // the choice: empty for the gateway's page, or the id of a card
	Changed bool   // the cart has changed since the form was shown
}

// OnPage reports whether the gateway's page is offered too.
func (checkoutPage) OnPage() bool { return true }

// Secure reports whether 3D authentication will be required.
func (p checkoutPage) Secure() bool { return p.Lines.Total().GreaterThanOrEqual(secureFrom) }

func (s *Shop) showCheckout(w http.ResponseWriter, r *http.Request) error {
	f, err := s.newBuyerForm(w, r)
	if err != nil {
		return err
	}
	page := checkoutPage{buyerForm: f}
	cards, err := s.readyCards(r, s.customer(w, r))
	if err != nil {
		return err
	}
	if len(cards) > 0 {
		page.Pay = cards[0].ID
	}
	return s.checkoutForm(w, r, http.StatusOK, page)
}

func (s *Shop) checkoutForm(w http.ResponseWriter, r *http.Request, status int, p checkoutPage) (err error) {
	if p.Lines, err = s.store.Cart(r.Context(), s.customer(w, r)); err != nil {
		return err
	}
	if len(p.Lines) == 0 {
		return redirect(w, r, "/cart")
	}
	if p.Cards, err = s.readyCards(r, s.customer(w, r)); err != nil {
		return err
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
	o := &Order{ID: newID("S"), Customer: customer, Attempt: Attempt{Kind: KindHosted}, Buyer: page.Buyer}
	var m means
	if page.Pay != "" {
		o.Kind, o.CardID = KindToken, page.Pay
		m.token, err = s.token(r.Context(), customer, o.CardID) // before the order exists
		if errors.Is(err, errNoCard) {                          // it was removed since the form was shown
			page.Pay = ""
			page.Problems.check(false, "pay-hosted", "The card", "is no longer saved. Please look at how you pay")
			return s.checkoutForm(w, r, http.StatusUnprocessableEntity, page)
		}
		if err != nil {
			return err
		}
	}
	err = s.store.PlaceOrder(r.Context(), o, contents(field("cart")))
	switch {
	case errors.Is(err, errEmptyCart): // the form was sent twice, and the first one made the order
		return redirect(w, r, "/orders")
	case errors.Is(err, errCartChanged):
		page.Changed = true
		return s.checkoutForm(w, r, http.StatusConflict, page)
	case err != nil:
		return err
	}
	return s.payAndLead(w, r, o, m)
}

// payAndLead submits an order's payment and redirects to the next page. Whatever the outcome, the order's page shows it.
func (s *Shop) payAndLead(w http.ResponseWriter, r *http.Request, o *Order, m means) error {
	if err := s.pay(r.Context(), o, s.visitor(r), m); err != nil {
		return err
	}
	now, err := s.store.Order(r.Context(), o.ID)
	if err != nil {
		return err
	}
	to := "/orders/" + o.ID
	if now.State == Waiting && now.RedirectURL != "" {
		to += "/pay"
	}
	return redirect(w, r, to)
}
