package main

import (
	"database/sql"
	"errors"
	"net/http"
	"strings"

	"github.com/shopspring/decimal"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/examples/shop/payments"
)

// weeklyPage offers the subscription.
type weeklyPage struct {
	buyerForm
	ID string // of the order that the form makes: sent twice, it makes one
}

// Product returns what is offered.
func (weeklyPage) Product() Product { return weekly }

// Weeks returns for how long.
func (weeklyPage) Weeks() int { return weeks }

// Total returns the sum of all charges.
func (weeklyPage) Total() decimal.Decimal { return weekly.Price.Mul(decimal.NewFromInt(weeks)) }

// showWeekly returns a function that shows one of the two forms.
func (s *Shop) showWeekly(name string) func(http.ResponseWriter, *http.Request) error {
	return func(w http.ResponseWriter, r *http.Request) error {
		f, err := s.newBuyerForm(w, r)
		if err != nil {
			return err
		}
		return s.render(w, r, http.StatusOK, name, weeklyPage{f, newID("W")})
	}
}

// subscribe starts a subscription on the gateway's page.
func (s *Shop) subscribe(w http.ResponseWriter, r *http.Request) error {
	field, err := form(r)
	if err != nil {
		return err
	}
	f := readBuyer(field)
	if len(f.Problems) > 0 {
		return s.render(w, r, http.StatusUnprocessableEntity, "weekly", weeklyPage{f, field("id")})
	}
	return s.placeSubscription(w, r, payments.KindWeekly, field("id"), f.Buyer, cardgateway.Card{})
}

// placeSubscription stores the order with the id of the form, and starts its payment.
func (s *Shop) placeSubscription(w http.ResponseWriter, r *http.Request, kind payments.Kind, id string, b cardgateway.Address, card cardgateway.Card) error {
	if !isID("W", id) {
		return errBadForm
	}
	lines := Lines{s.line(weekly, 1)}
	o := &payments.Order{ID: id, Customer: s.customer(w, r), Amount: lines.Total(), Terms: lines.terms(b), Attempt: payments.Attempt{Kind: kind}}
	o.Repeats = cardgateway.SubscriptionExtension{
		SubscriptionCycle: cardgateway.CycleWeek, SubscriptionPeriod: weeks, SubscriptionDescription: weekly.Name,
	}
	err := s.payments.Transaction(r.Context(), func(tx *sql.Tx) error { return s.payments.Place(r.Context(), tx, o) })
	switch {
	case errors.Is(err, payments.ErrExists): // the form was sent twice
		return redirect(w, r, "/orders/"+id)
	case err != nil:
		return err
	}
	return s.payAndLead(w, r, o, card)
}

// subscribeWithCard starts a subscription with a card that is typed into the shop. It is the only place where the shop
// receives a card number, and a shop is better off without it: handling card numbers requires PCI DSS compliance.
//
// Nothing of the card is stored, logged, or sent back: the card fields of the form are empty when it is shown again. The
// form parser creates strings, which cannot be wiped; they are garbage after the request.
func (s *Shop) subscribeWithCard(w http.ResponseWriter, r *http.Request) error {
	field, err := form(r)
	if err != nil {
		return err
	}
	f := readBuyer(field)
	f.Problems.checkCard(field)
	id, card := field("id"), readCard(field)
	defer card.Wipe()
	clear(r.PostForm)
	clear(r.Form)
	if len(f.Problems) > 0 {
		return s.render(w, r, http.StatusUnprocessableEntity, "weekly-card", weeklyPage{f, id})
	}
	return s.placeSubscription(w, r, payments.KindWeeklyCard, id, f.Buyer, card)
}

func readCard(field func(string) string) cardgateway.Card {
	return cardgateway.Card{
		CardNumber:   cardgateway.NewCardNumber(strings.ReplaceAll(field("cardNumber"), " ", "")),
		CVV:          cardgateway.NewCVV(field("cvv")),
		ExpiredMonth: field("expiredMonth"),
		ExpiredYear:  field("expiredYear"),
		Cardholder:   field("cardholder"),
	}
}

// checkCard adds the errors of a card's fields, without quoting the input.
func (p *problems) checkCard(field func(string) string) {
	number, month := strings.ReplaceAll(field("cardNumber"), " ", ""), field("expiredMonth")
	p.check(isDigits(number, 12, 19), "cardNumber", "Card number", "must have 12 to 19 digits")
	p.check(isDigits(month, 2, 2) && month >= "01" && month <= "12", "expiredMonth", "Expiry month", "must be two digits, 01 to 12")
	p.check(isDigits(field("expiredYear"), 2, 2), "expiredYear", "Expiry year", "must be two digits")
	p.check(isDigits(field("cvv"), 3, 4), "cvv", "Security code", "must be three or four digits")
	p.check(field("cardholder") != "", "cardholder", "Name on the card", "is missing")
}

func isDigits(s string, least, most int) bool {
	return len(s) >= least && len(s) <= most && strings.Trim(s, "0123456789") == ""
}
