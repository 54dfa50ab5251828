package main

import (
	"errors"
	"net/http"
	"slices"
	"time"
)

// tokenLate is after how long without a token the customer is told what to do. A gateway may repeat the notification for some
// minutes.
const tokenLate = 30 * time.Second

// cardsPage is the data of the page of saved cards.
type cardsPage struct {
	Cards []StoredCard
	ID    string // of the card that the form saves: sent twice, it saves one
	late  time.Duration
}

// Late reports whether the token of a card should have come.
func (p cardsPage) Late(c StoredCard) bool {
	return c.State == CardEntered && time.Since(c.Changed) >= p.late
}

// Again returns after how many seconds the page is to be loaded again, or 0 if no card and no token is awaited.
func (p cardsPage) Again() int {
	for _, c := range p.Cards { // the newest first
		if c.State == CardOpen || c.State == CardEntered {
			return againAfter(c.Changed)
		}
	}
	return 0
}

func (s *Shop) showCards(w http.ResponseWriter, r *http.Request) error {
	cards, err := s.store.CardsOf(r.Context(), s.customer(w, r))
	if err != nil {
		return err
	}
	return s.render(w, r, http.StatusOK, "cards", cardsPage{cards, newID("C"), s.tokenLate})
}

// readyCards returns the cards that can be used for payments.
func (s *Shop) readyCards(r *http.Request, customer string) ([]StoredCard, error) {
	cards, err := s.store.CardsOf(r.Context(), customer)
	return slices.DeleteFunc(cards, func(c StoredCard) bool { return c.State != CardReady }), err
}

// storeCard starts a token order. The customer enters the card on the gateway's page.
func (s *Shop) storeCard(w http.ResponseWriter, r *http.Request) error {
	field, err := form(r)
	if err != nil {
		return err
	}
	c := &StoredCard{ID: field("id"), Customer: s.customer(w, r)}
	if !isID("C", c.ID) {
		return errBadForm
	}
	err = s.store.AddCard(r.Context(), c)
	if err == nil {
		err = s.storeToken(r.Context(), c, s.visitor(r))
	}
	if err != nil && !errors.Is(err, errCardExists) { // it exists if the form was sent twice
		return err
	}
	return redirect(w, r, "/cards/"+c.ID+"/enter")
}

// showCardRedirect redirects to the page where the card is entered.
func (s *Shop) showCardRedirect(w http.ResponseWriter, r *http.Request) error {
	c, err := s.store.Card(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	if c.Customer != s.customer(w, r) {
		return errNoCard
	}
	if c.State != CardOpen || c.RedirectURL == "" {
		return redirect(w, r, "/cards")
	}
	return s.leadTo(w, r, c.RedirectURL)
}

func (s *Shop) removeCard(w http.ResponseWriter, r *http.Request) error {
	if err := s.store.RemoveCard(r.Context(), s.customer(w, r), r.PathValue("id")); err != nil {
		return err
	}
	return redirect(w, r, "/cards")
}
