package sandbox

import (
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/cardgateway/cardgateway-go/sandbox/internal/mask"
)

const maxForm = 16 << 10

// servePage serves a hosted page.
func (g *Gateway) servePage(r *http.Request, path, id string) reply {
	if r.Method != http.MethodGet && r.Method != http.MethodHead && r.Method != http.MethodPost {
		return messagePage(http.StatusMethodNotAllowed, "This page accepts only GET and POST requests.").
			withHeader("Allow", "GET, HEAD, POST")
	}
	var form url.Values
	if r.Method == http.MethodPost {
		r.Body = http.MaxBytesReader(nil, r.Body, maxForm)
		if err := r.ParseForm(); err != nil {
			return messagePage(http.StatusBadRequest, "The form could not be read, or is too long.")
		}
		form = r.PostForm
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.settleDue()
	o := g.ledger.pages[id]
	switch {
	case o == nil:
		return messagePage(http.StatusNotFound, "There is no such payment.")
	case o.stage != stageCard && o.stage != stage3D && !o.canRetry:
		if form != nil { // sent twice
			return redirect(o.callbackURL)
		}
		return g.finishedPage(o)
	case o.pagePath() != path+id:
		return redirect(o.pagePath())
	case form == nil && o.stage == stage3D:
		return g.threeDPage(o)
	case form == nil:
		return g.cardPage(o, chosenTestCard(r), nil)
	case o.stage == stage3D:
		return g.submit3D(o, form.Get("decision"))
	}
	return g.submitCard(o, form)
}

// chosenTestCard returns the test card selected with a button, or an empty one.
func chosenTestCard(r *http.Request) CardEntry {
	var o Outcome
	if o.UnmarshalText([]byte(r.URL.Query().Get("card"))) != nil {
		return CardEntry{}
	}
	return TestCard(o)
}

// submitCard handles the card form. An invalid card shows the form again with the errors; any outcome of a valid card,
// including a decline, ends this step.
func (g *Gateway) submitCard(o *order, form url.Values) reply {
	if form.Get("action") == "cancel" && o.canRetry { // the decline stands
		o.canRetry = false
		return redirect(o.callbackURL)
	}
	if form.Get("action") == "cancel" {
		g.finish(o, false, "Cancelled by the cardholder")
		return redirect(o.callbackURL)
	}
	entry := CardEntry{
		Number: form.Get("cardNumber"), Month: form.Get("expiredMonth"), Year: form.Get("expiredYear"),
		CVV: form.Get("cvv"), Cardholder: form.Get("cardholder"),
	}
	o, problems := g.enterCard(o, entry)
	if problems != nil {
		entry.Number, entry.CVV = "", "" // never sent back
		for _, field := range []*string{&entry.Month, &entry.Year, &entry.Cardholder} {
			if mask.LooksLikeCard(*field) { // a number in the wrong field
				*field = ""
			}
		}
		return g.cardPage(o, entry, problems).withStatus(http.StatusUnprocessableEntity)
	}
	return redirect(o.next())
}

// enterCard uses a card for an order that is waiting for one, or for a new order after a declined one. It returns the order
// that used the card.
func (g *Gateway) enterCard(o *order, entry CardEntry) (*order, []fieldProblem) {
	card, problems := readCard(entry)
	if problems != nil {
		return o, problems
	}
	if o.canRetry {
		o = g.retry(o)
	}
	o.card = card
	o.record("card entered")
	if g.blocked(o, g.ledger.paidOrders[o.orderID]) {
		g.finish(o, false, alreadyPaid)
	} else {
		g.useCard(o)
	}
	return o, nil
}

func (g *Gateway) submit3D(o *order, decision string) reply {
	if decision != "approve" && decision != "refuse" {
		return g.threeDPage(o).withStatus(http.StatusUnprocessableEntity)
	}
	g.authenticate(o, decision == "approve")
	return redirect(o.next())
}

func redirect(to string) reply {
	return htmlReply(http.StatusSeeOther, nil).withHeader("Location", to)
}

// EnterCard acts as the cardholder on the card page of a redirectUrl, and returns where the browser would be sent: the
// callbackUrl, or the path of the 3D page.
func (g *Gateway) EnterCard(redirectURL string, entry CardEntry) (next string, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	o, err := g.waitingAt(redirectURL, stageCard)
	if err != nil {
		return "", err
	}
	o, problems := g.enterCard(o, entry)
	if problems != nil {
		return "", errors.New("sandbox: card page: " + problems[0].field + " " + problems[0].text)
	}
	return o.next(), nil
}

// Authenticate acts as the cardholder on the 3D page of a redirectUrl, or of the path that EnterCard returned, and returns
// the callbackUrl.
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

// waitingAt returns the order that is waiting at the page with that URL.
func (g *Gateway) waitingAt(redirectURL string, s stage) (*order, error) {
	o := g.ledger.pages[redirectURL[strings.LastIndex(redirectURL, "/")+1:]]
	if o == nil || o.stage != s && !(s == stageCard && o.canRetry) || !strings.HasSuffix(redirectURL, o.pagePath()) {
		return nil, errors.New("sandbox: no payment is waiting at that page")
	}
	return o, nil
}
