package main

import (
	"errors"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/examples/shop/payments"
)

func (s *Shop) showOrders(w http.ResponseWriter, r *http.Request) error {
	orders, err := s.payments.Orders(r.Context(), s.customer(w, r))
	if err != nil {
		return err
	}
	return s.render(w, r, http.StatusOK, "orders", orders)
}

// ownOrder returns the order named in the path, if it belongs to the customer.
func (s *Shop) ownOrder(w http.ResponseWriter, r *http.Request) (payments.Order, error) {
	o, err := s.payments.Order(r.Context(), r.PathValue("id"))
	if err == nil && o.Customer != s.customer(w, r) {
		return payments.Order{}, payments.ErrNotFound
	}
	return o, err
}

// orderPage is the data of an order's page.
type orderPage struct {
	payments.Order
	Cards    []payments.Card // to choose from, if the order may be paid in another way
	Timeline []moment
}

// OnPage reports whether the gateway's page is offered too: what was refused with a stored card is only submitted again with another one.
func (p orderPage) OnPage() bool { return p.State != payments.Refused }

// Pay returns the way to pay that is chosen at first: the id of a card, or empty for the gateway's page.
func (p orderPage) Pay() string {
	if p.OnPage() || len(p.Cards) == 0 {
		return ""
	}
	return p.Cards[0].ID
}

// MaySubscribeAgain reports whether the form of the subscription is offered again: this order has ended without a payment, and gets no other attempt.
func (p orderPage) MaySubscribeAgain() bool {
	repeats := p.Repeats.SubscriptionPeriod > 0
	return repeats && p.State.Final() && !p.MayPay() && p.State != payments.Paid && p.State != payments.Conflict
}

// Again returns after how many seconds the page is to be loaded again, or 0 if the order does not change by itself any more.
func (p orderPage) Again() int {
	open, since := !p.State.Final(), p.Created
	for _, r := range p.AllRefunds {
		if !r.State.Final() {
			open, since = true, r.Created
		}
	}
	if !open {
		return 0
	}
	return againAfter(since)
}

// againAfter returns after how many seconds a page is to be loaded again that waits since then: the longer, the rarer.
func againAfter(since time.Time) int { return int(max(2, min(time.Since(since).Seconds()/10, 30))) }

// showOrder is also the callbackUrl, to which the gateway sends the customer back. Anything that the gateway, or somebody
// who writes such a link, adds to the URL is ignored.
func (s *Shop) showOrder(w http.ResponseWriter, r *http.Request) error {
	o, err := s.ownOrder(w, r)
	if err != nil {
		return err
	}
	began := time.Now()
	looked, err := s.payments.Look(r.Context(), o)
	if err != nil {
		return err
	}
	if looked {
		s.addEvent(r.Context(), o.Attempt.ID, EventAsked, began)
		if o, err = s.payments.Order(r.Context(), o.ID); err != nil {
			return err
		}
	}
	page := orderPage{Order: o}
	if o.MayPayOtherwise() && !o.OnPageOnly {
		if page.Cards, err = s.readyCards(r, o.Customer); err != nil {
			return err
		}
		page.Cards = slices.DeleteFunc(page.Cards, func(c payments.Card) bool { return o.State == payments.Refused && c.ID == o.CardID })
	}
	if page.Timeline, err = s.timeline(r.Context(), o); err != nil {
		return err
	}
	return s.render(w, r, http.StatusOK, "order", page)
}

// showRedirect shows a page that redirects to the gateway's page, automatically and with a link. It is a separate page
// because of form-action; see withHeaders.
func (s *Shop) showRedirect(w http.ResponseWriter, r *http.Request) error {
	o, err := s.ownOrder(w, r)
	if err != nil {
		return err
	}
	if o.State != payments.Waiting || o.RedirectURL == "" {
		return redirect(w, r, "/orders/"+o.ID)
	}
	return s.leadTo(w, r, o.RedirectURL)
}

func (s *Shop) leadTo(w http.ResponseWriter, r *http.Request, to string) error {
	u, err := url.Parse(to)
	if err != nil {
		return err
	}
	// Not with a 3xx status: see withHeaders. The client has checked that this is an absolute http or https URL.
	w.Header().Set("Refresh", "0; url="+u.String())
	return s.render(w, r, http.StatusOK, "redirect", struct{ URL, Host string }{u.String(), u.Hostname()})
}

// payAgain submits the payment of an order that is recorded and, as far as is known, not sent. It is safe to send this form
// any number of times: the journal knows the outcome of the transactionId.
func (s *Shop) payAgain(w http.ResponseWriter, r *http.Request) error {
	o, err := s.ownOrder(w, r)
	if err != nil {
		return err
	}
	if !o.MayPay() {
		return redirect(w, r, "/orders/"+o.ID)
	}
	err = s.payAndLead(w, r, &o, cardgateway.Card{})
	if errors.Is(err, payments.ErrNotFound) && o.State == payments.Unsent { // its card was removed: only another order can be paid
		return s.backToCheckout(w, r, o)
	}
	return err
}

// payOtherwise pays an order with another card, or on the gateway's page. A form that is sent twice pays once.
func (s *Shop) payOtherwise(w http.ResponseWriter, r *http.Request) error {
	o, err := s.ownOrder(w, r)
	if err != nil {
		return err
	}
	field, err := form(r)
	if err != nil {
		return err
	}
	kind, card := payments.KindHosted, field("pay")
	if card != "" {
		kind = payments.KindToken
		c, err := s.payments.Card(r.Context(), o.Customer, card)
		if errors.Is(err, payments.ErrNotFound) || err == nil && !c.Ready { // it was removed meanwhile
			return redirect(w, r, "/orders/"+o.ID)
		}
		if err != nil {
			return err
		}
	}
	began, err := s.payments.Next(r.Context(), &o, kind, card)
	if err != nil {
		return err
	}
	if !began {
		return redirect(w, r, "/orders/"+o.ID)
	}
	return s.payAndLead(w, r, &o, cardgateway.Card{})
}

// backToCheckout puts the products of an order that was not paid back into the cart.
func (s *Shop) backToCheckout(w http.ResponseWriter, r *http.Request, o payments.Order) error {
	for _, l := range o.Products {
		if err := s.setQuantity(r.Context(), o.Customer, l.SKU, l.Quantity); err != nil {
			return err
		}
	}
	return redirect(w, r, "/checkout")
}

func (s *Shop) showRefunds(w http.ResponseWriter, r *http.Request) error {
	refunds, err := s.payments.Refunds(r.Context(), s.customer(w, r))
	if err != nil {
		return err
	}
	return s.render(w, r, http.StatusOK, "refunds", refunds)
}
