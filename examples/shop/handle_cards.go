package main

import (
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/examples/shop/payments"
)

// tokenLate is after how long without a token the customer is told what to do. A gateway may repeat the notification for some
// minutes.
const tokenLate = 30 * time.Second

// cardsPage is the data of the page of saved cards.
type cardsPage struct {
	Cards []payments.Card
	ID    string // of the card that the form saves: sent twice, it saves one
	late  time.Duration
}

// Late reports whether the token of a card should have come.
func (p cardsPage) Late(c payments.Card) bool {
	return !c.Ready && c.State == payments.Paid && time.Since(c.Changed) >= p.late
}

// Again returns after how many seconds the page is to be loaded again, or 0 if no card and no token is awaited.
func (p cardsPage) Again() int {
	for _, c := range p.Cards { // the newest first
		if !c.Ready && (c.State == payments.Paid || !c.State.Final()) {
			return againAfter(c.Changed)
		}
	}
	return 0
}

func (s *Shop) showCards(w http.ResponseWriter, r *http.Request) error {
	cards, err := s.payments.Cards(r.Context(), s.customer(w, r))
	if err != nil {
		return err
	}
	return s.render(w, r, http.StatusOK, "cards", cardsPage{cards, newID("C"), s.tokenLate})
}

// readyCards returns the cards that can be used for payments.
func (s *Shop) readyCards(r *http.Request, customer string) ([]payments.Card, error) {
	cards, err := s.payments.Cards(r.Context(), customer)
	return slices.DeleteFunc(cards, func(c payments.Card) bool { return !c.Ready }), err
}

// storeCard starts a token order. The customer enters the card on the gateway's page.
func (s *Shop) storeCard(w http.ResponseWriter, r *http.Request) error {
	field, err := form(r)
	if err != nil {
		return err
	}
	id := field("id")
	if !isID("C", id) {
		return errBadForm
	}
	one := Lines{s.line(Product{SKU: "card", Name: "Saving a card", Price: price("1.00")}, 1)}
	terms := one.terms(cardgateway.Address{Country: countries[0].Code})
	err = s.payments.StoreCard(r.Context(), s.customer(w, r), id, one.Total(), terms, s.visitor(r))
	if err != nil && !errors.Is(err, payments.ErrExists) { // the form was sent twice
		return err
	}
	return redirect(w, r, "/cards/"+id+"/enter")
}

// showCardRedirect redirects to the page where the card is entered.
func (s *Shop) showCardRedirect(w http.ResponseWriter, r *http.Request) error {
	c, err := s.payments.Card(r.Context(), s.customer(w, r), r.PathValue("id"))
	if err != nil {
		return err
	}
	if c.Ready || c.State.Final() || c.RedirectURL == "" {
		return redirect(w, r, "/cards")
	}
	return s.leadTo(w, r, c.RedirectURL)
}

func (s *Shop) removeCard(w http.ResponseWriter, r *http.Request) error {
	if err := s.payments.RemoveCard(r.Context(), s.customer(w, r), r.PathValue("id")); err != nil {
		return err
	}
	return redirect(w, r, "/cards")
}
