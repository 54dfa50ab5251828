package main

import (
	"errors"
	"net/http"
	"net/url"
	"slices"
	"time"
)

func (s *Shop) showOrders(w http.ResponseWriter, r *http.Request) error {
	orders, err := s.store.OrdersOf(r.Context(), s.customer(w, r))
	if err != nil {
		return err
	}
	return s.render(w, r, http.StatusOK, "orders", orders)
}

// ownOrder returns the order named in the path, if it belongs to the customer.
func (s *Shop) ownOrder(w http.ResponseWriter, r *http.Request) (Order, error) {
	o, err := s.store.Order(r.Context(), r.PathValue("id"))
	if err == nil && o.Customer != s.customer(w, r) {
		return Order{}, errNoOrder
	}
	return o, err
}

// orderPage is the data of an order's page.
type orderPage struct {
	Order
	Cards    []StoredCard // to choose from, if the order may be paid in another way
	Refund   Refund       // may be made; without an ID none may
	NoRefund string       // why
	Timeline []moment
}

// OnPage reports whether the gateway's page is offered too: what was refused with a stored card is only submitted again with another one.
func (o Order) OnPage() bool { return o.State != Refused }

// Pay returns the way to pay that is chosen at first: the id of a card, or empty for the gateway's page.
func (p orderPage) Pay() string {
	if p.OnPage() || len(p.Cards) == 0 {
		return ""
	}
	return p.Cards[0].ID
}

// Again returns after how many seconds the page is to be loaded again, or 0 if the order does not change by itself any more.
func (p orderPage) Again() int {
	open, since := !p.State.Final(), p.Created
	for _, r := range p.Refunds {
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
	if err := s.look(r.Context(), &o); err != nil {
		return err
	}
	page := orderPage{Order: o}
	page.Refund, page.NoRefund = o.nextRefund()
	if o.MayPayOtherwise() {
		if page.Cards, err = s.readyCards(r, o.Customer); err != nil {
			return err
		}
		page.Cards = slices.DeleteFunc(page.Cards, func(c StoredCard) bool { return o.State == Refused && c.ID == o.CardID })
	}
	if page.Timeline, err = s.timeline(r.Context(), &o); err != nil {
		return err
	}
	return s.render(w, r, http.StatusOK, "order", page)
}

// MayPay reports whether the customer may submit the attempt, with the same transactionId: it is proved that nothing was sent, or
// nothing is known, and then the journal decides. The data of a card typed into the shop is never stored, so such an attempt cannot be
// submitted again.
func (o Order) MayPay() bool {
	return (o.State == Open || o.State == Unsent) && o.Kind != KindWeeklyCard
}

// MayPayOtherwise reports whether the customer may pay with another card or on the gateway's page: the last attempt has ended without a
// payment, or the gateway has refused a stored card, as it does one that it no longer knows. After a decline on the gateway's page, that page may
// still take another card: a second payment there is prevented by the gateway, because the orderId is the same, and otherwise seen by a person.
func (o Order) MayPayOtherwise() bool {
	switch o.State {
	case Declined, Closed, Tested:
		return o.Kind == KindHosted || o.Kind == KindToken
	case Refused:
		return o.Kind == KindToken
	}
	return false
}

// MayAgain reports whether the same products may be ordered again: the payment was most likely not made, but that is not proved, so this order gets
// no other attempt.
func (o Order) MayAgain() bool {
	return (o.State == Refused || o.State == Unpaid) && (o.Kind == KindHosted || o.Kind == KindToken)
}

// showRedirect shows a page that redirects to the gateway's page, automatically and with a link. It is a separate page
// because of form-action; see withHeaders.
func (s *Shop) showRedirect(w http.ResponseWriter, r *http.Request) error {
	o, err := s.ownOrder(w, r)
	if err != nil {
		return err
	}
	if o.State != Waiting || o.RedirectURL == "" {
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
	var m means
	if o.Kind == KindToken {
		m.token, err = s.token(r.Context(), o.Customer, o.CardID)
		if errors.Is(err, errNoCard) && o.State == Unsent { // it was removed: only another order can be paid
			return s.backToCheckout(w, r, &o)
		}
		if err != nil {
			return err
		}
	}
	return s.payAndLead(w, r, &o, m)
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
	kind, card := KindHosted, field("pay")
	var m means
	if card != "" {
		kind = KindToken
		m.token, err = s.token(r.Context(), o.Customer, card)
	}
	may := o.MayPayOtherwise() && (o.OnPage() || kind == KindToken) && !errors.Is(err, errNoCard) // it was removed meanwhile
	switch {
	case !may:
		return redirect(w, r, "/orders/"+o.ID)
	case err != nil:
	case o.State == Refused:
		err = s.store.ReplaceCard(r.Context(), o.Attempt.ID, card)
	default:
		may, err = s.store.NextAttempt(r.Context(), &o, kind, card)
	}
	if err != nil {
		return err
	}
	if !may {
		return redirect(w, r, "/orders/"+o.ID)
	}
	return s.payAndLead(w, r, &o, m)
}

// orderAgain begins a new order with the same products.
func (s *Shop) orderAgain(w http.ResponseWriter, r *http.Request) error {
	o, err := s.ownOrder(w, r)
	if err != nil {
		return err
	}
	if !o.MayAgain() {
		return redirect(w, r, "/orders/"+o.ID)
	}
	return s.backToCheckout(w, r, &o)
}

// backToCheckout puts the products of an order that was not paid back into the cart.
func (s *Shop) backToCheckout(w http.ResponseWriter, r *http.Request, o *Order) error {
	for _, l := range o.Lines {
		if err := s.store.AddToCart(r.Context(), o.Customer, l.SKU); err != nil {
			return err
		}
		if err := s.store.SetQuantity(r.Context(), o.Customer, l.SKU, l.Quantity); err != nil {
			return err
		}
	}
	return redirect(w, r, "/checkout")
}
