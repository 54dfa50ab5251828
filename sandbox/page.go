package sandbox

import (
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
)

const maxForm = 16 << 10

// servePage answers a cardholder's browser.
func (g *Gateway) servePage(r *http.Request, path, id string) reply {
	if r.Method != http.MethodGet && r.Method != http.MethodHead && r.Method != http.MethodPost {
		return messagePage(http.StatusMethodNotAllowed, "This page can only be read or sent.", "").
			withHeader("Allow", "GET, HEAD, POST")
	}
	var form url.Values
	if r.Method == http.MethodPost {
		r.Body = io.NopCloser(io.LimitReader(r.Body, maxForm))
		if err := r.ParseForm(); err != nil {
			return messagePage(http.StatusBadRequest, "The form could not be read.", "")
		}
		form = r.PostForm
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.settleDue()
	o := g.ledger.pages[id]
	switch {
	case o == nil:
		return messagePage(http.StatusNotFound, "There is no such payment.", "")
	case o.stage != stageCard && o.stage != stage3D:
		if form != nil { // sent twice
			return redirect(o.callbackURL)
		}
		return messagePage(http.StatusOK, "This payment is finished.", o.callbackURL)
	case o.pagePath() != path+id:
		return redirect(o.pagePath())
	case form == nil && o.stage == stageCard:
		return cardPage(o, CardEntry{}, nil)
	case form == nil:
		return threeDPage(o)
	case o.stage == stage3D:
		return g.submit3D(o, form.Get("decision"))
	}
	return g.submitCard(o, form)
}

// submitCard deals with the card form. A card that cannot be one is shown again with what is wrong; a declined one
// ends the payment, as everything else that the card does.
func (g *Gateway) submitCard(o *order, form url.Values) reply {
	if form.Get("action") == "cancel" {
		g.finish(o, false, "Cancelled by the cardholder")
		return redirect(o.callbackURL)
	}
	entry := CardEntry{
		Number: form.Get("cardNumber"), Month: form.Get("expiredMonth"), Year: form.Get("expiredYear"),
		CVV: form.Get("cvv"), Cardholder: form.Get("cardholder"),
	}
	if problems := g.enterCard(o, entry); problems != nil {
		return cardPage(o, entry, problems).withStatus(http.StatusUnprocessableEntity)
	}
	return redirect(o.next())
}

// enterCard uses a card for an order that waits for one.
func (g *Gateway) enterCard(o *order, entry CardEntry) []fieldProblem {
	card, problems := readCard(entry)
	if problems != nil {
		return problems
	}
	o.card = card
	if g.blocked(o, g.ledger.paidOrders[o.orderID]) {
		g.finish(o, false, alreadyPaid)
	} else {
		g.useCard(o)
	}
	return nil
}

func (g *Gateway) submit3D(o *order, decision string) reply {
	if decision != "approve" && decision != "refuse" {
		return threeDPage(o).withStatus(http.StatusUnprocessableEntity)
	}
	g.authenticate(o, decision == "approve")
	return redirect(o.next())
}

func (g *Gateway) authenticate(o *order, approve bool) {
	o.is3d = true
	switch {
	case !approve:
		g.finish(o, false, "3D authentication failed")
	case g.blocked(o, g.ledger.paidOrders[o.orderID]):
		g.finish(o, false, alreadyPaid)
	default:
		g.finish(o, true, "")
	}
}

func redirect(to string) reply {
	return htmlReply(http.StatusSeeOther, nil).withHeader("Location", to)
}

// EnterCard plays the cardholder on the card page that a redirectUrl leads to, and returns where the browser
// would be sent: the callbackUrl, or the path of the 3D page.
func (g *Gateway) EnterCard(redirectURL string, entry CardEntry) (next string, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	o, err := g.waitingAt(redirectURL, stageCard)
	if err != nil {
		return "", err
	}
	if problems := g.enterCard(o, entry); problems != nil {
		return "", errors.New("sandbox: card page: " + problems[0].field + " " + problems[0].text)
	}
	return o.next(), nil
}

// Authenticate plays the cardholder on the 3D page that a redirectUrl, or what EnterCard returned, leads to, and
// returns the callbackUrl.
func (g *Gateway) Authenticate(redirectURL string, approve bool) (next string, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	o, err := g.waitingAt(redirectURL, stage3D)
	if err != nil {
		return "", err
	}
	g.authenticate(o, approve)
	return o.next(), nil
}

// waitingAt returns the order whose page a URL is, if it waits there.
func (g *Gateway) waitingAt(redirectURL string, s stage) (*order, error) {
	o := g.ledger.pages[redirectURL[strings.LastIndex(redirectURL, "/")+1:]]
	if o == nil || o.stage != s || !strings.HasSuffix(redirectURL, o.pagePath()) {
		return nil, errors.New("sandbox: no payment waits at that page")
	}
	return o, nil
}
