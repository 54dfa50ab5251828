package console

import (
	"cmp"
	"errors"
	"math"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/cardgateway/cardgateway-go/sandbox/internal/mask"
	"github.com/cardgateway/cardgateway-go/sandbox/internal/money"
	"github.com/cardgateway/cardgateway-go/sandbox/internal/pages"
)

const maxForm = 16 << 10

// ServePage serves a hosted page, which is a form for a cardholder.
func (c *Console) ServePage(w http.ResponseWriter, r *http.Request) {
	var form url.Values
	switch r.Method {
	case http.MethodGet, http.MethodHead:
	case http.MethodPost:
		r.Body = http.MaxBytesReader(nil, r.Body, maxForm)
		if err := r.ParseForm(); err != nil {
			message(w, http.StatusBadRequest, "The form could not be read, or is too long.")
			return
		}
		form = r.PostForm
	default:
		w.Header().Set("Allow", "GET, HEAD, POST")
		message(w, http.StatusMethodNotAllowed, "This page accepts only GET and POST requests.")
		return
	}
	p, err := c.gateway.HostedPage(r.URL.Path)
	switch {
	case err != nil:
		message(w, http.StatusNotFound, "There is no such payment.")
	case p.Page == "" && form == nil:
		render(w, http.StatusOK, "MessagePage", pages.MessagePage{
			Title: "Payment", Text: "This payment is finished.", Link: p.Callback, Payment: c.shown(p),
		})
	case p.Page == "": // sent twice
		redirect(w, p.Callback)
	case p.Page != r.URL.Path:
		redirect(w, p.Page)
	case form == nil && p.WaitsFor == "3d":
		c.show3D(w, http.StatusOK, p)
	case form == nil:
		entry, _ := c.gateway.TestCard(r.URL.Query().Get("card")) // selected with a button; empty without one
		c.showCard(w, http.StatusOK, p, entry, nil)
	case p.WaitsFor == "3d":
		c.submit3D(w, p, form.Get("decision"))
	default:
		c.submitCard(w, p, form)
	}
}

// submitCard handles the card form. An invalid card shows the form again with the errors; any outcome of a valid card,
// including a decline, ends this step.
func (c *Console) submitCard(w http.ResponseWriter, p Payment, form url.Values) {
	if form.Get("action") == "cancel" {
		c.act(w, p, Action{Kind: Cancel})
		return
	}
	entry := Card{
		Number: form.Get("cardNumber"), Month: form.Get("expiredMonth"), Year: form.Get("expiredYear"),
		CVV: form.Get("cvv"), Cardholder: form.Get("cardholder"),
	}
	err := c.act(w, p, Action{Kind: EnterCard, Card: entry})
	if err == nil {
		return
	}
	entry.Number, entry.CVV = "", "" // never sent back
	for _, field := range []*string{&entry.Month, &entry.Year, &entry.Cardholder} {
		if mask.LooksLikeCard(*field) { // a number in the wrong field
			*field = ""
		}
	}
	c.showCard(w, http.StatusUnprocessableEntity, p, entry, err.Fields)
}

func (c *Console) submit3D(w http.ResponseWriter, p Payment, decision string) {
	if decision != "approve" && decision != "refuse" {
		c.show3D(w, http.StatusUnprocessableEntity, p)
		return
	}
	c.act(w, p, Action{Kind: Authenticate, Approve: decision == "approve"})
}

// act carries out an action of the cardholder and sends the browser to where the payment waits now, or to the shop, also if
// somebody else was faster. It returns an error, and sends nothing, if the card is invalid.
func (c *Console) act(w http.ResponseWriter, p Payment, a Action) *Error {
	payment, err := c.gateway.Act(p.Page, a)
	if e, ok := errors.AsType[*Error](err); ok && e.Fields != nil {
		return e
	}
	redirect(w, cmp.Or(payment.Next(), p.Callback)) // there is no payment after an error
	return nil
}

// shown returns what the hosted pages show of a payment.
func (c *Console) shown(p Payment) pages.Payment {
	shown := pages.Payment{
		Merchant: c.settings.MerchantName, OrderID: p.OrderID, Amount: money.Shown(p.Amount, p.Currency), Token: p.MakesToken,
	}
	if u, err := url.Parse(p.Callback); err == nil && shown.Merchant == "" {
		shown.Merchant = u.Hostname()
	}
	for _, product := range p.Products {
		line := pages.Line{Name: product.Name, Quantity: product.Quantity}
		if product.Price != "" {
			currency := cmp.Or(product.Currency, p.Currency)
			line.Price = money.Shown(product.Price, currency)
			n, err := strconv.ParseInt(cmp.Or(product.Quantity, "1"), 10, 64)
			switch each := money.Thousandths(product.Price); {
			case err != nil, each > 0 && n > math.MaxInt64/each:
				line.Price = "" // too large to compute
			case each > 0 && n > 1:
				line.Price = money.Shown(money.Of(n*each, currency), currency)
			}
		}
		if line.Name != "" {
			shown.Lines = append(shown.Lines, line)
		}
	}
	return shown
}

// showCard shows the card page. The form is filled in with entry.
func (c *Console) showCard(w http.ResponseWriter, status int, p Payment, entry Card, invalid []FieldError) {
	data := pages.CardPage{
		Payment: c.shown(p), Filled: entry.Number != "",
		Fields: []pages.Field{
			{Name: "cardNumber", Label: "Card number", Autocomplete: "cc-number", InputMode: "numeric", MaxLength: 23,
				Hint: "Test card: 4300 0000 0000 0000", Value: entry.Number},
			{Name: "expiredMonth", Label: "Expiry month", Autocomplete: "cc-exp-month", InputMode: "numeric", MaxLength: 2,
				Hint: "Two digits: 09", Value: entry.Month, Half: true},
			{Name: "expiredYear", Label: "Expiry year", Autocomplete: "cc-exp-year", InputMode: "numeric", MaxLength: 2,
				Hint: "The last two: 39", Value: entry.Year, Half: true},
			{Name: "cvv", Label: "Security code", Autocomplete: "cc-csc", InputMode: "numeric", MaxLength: 4,
				Hint: "Three or four digits", Value: entry.CVV},
			{Name: "cardholder", Label: "Name on the card", Autocomplete: "cc-name", InputMode: "text", MaxLength: 128,
				Value: entry.Cardholder},
		},
		TestCards: []pages.TestCard{
			{Value: "approved", Label: "Approved", Hint: "001–599"},
			{Value: "pending", Label: "Pending", Hint: "600–699"},
			{Value: "challenged", Label: "Requires 3D", Hint: "700–799"},
			{Value: "declined", Label: "Declined", Hint: "800–999"},
		},
	}
	if p.Retry {
		data.Declined = "The card was declined. Try another card."
	}
	focused := false
	for i := range data.Fields {
		f := &data.Fields[i]
		for _, e := range invalid {
			if e.Name == f.Name {
				f.Error, f.Focus, f.Hint = f.Label+" "+e.Text, !focused, "" // the error says the same as the hint
				focused = true
			}
		}
	}
	data.Title = "Pay " + data.Amount
	if data.Token {
		data.Title = "Save your card"
	}
	if invalid != nil {
		data.Title = "Error: " + data.Title
	}
	render(w, status, "CardPage", data)
}

func (c *Console) show3D(w http.ResponseWriter, status int, p Payment) {
	render(w, status, "ThreeDPage", pages.ThreeDPage{
		Title: "Confirm your payment", Payment: c.shown(p), Card: p.CardNumber, At: p.CreatedAt.In(c.settings.Zone).Format(time.DateTime),
	})
}

func message(w http.ResponseWriter, status int, text string) {
	render(w, status, "MessagePage", pages.MessagePage{Title: "Payment", Text: text})
}

func redirect(w http.ResponseWriter, to string) {
	w.Header().Set("Location", to)
	sendPage(w, http.StatusSeeOther, nil)
}

func render(w http.ResponseWriter, status int, name string, data any) {
	text, err := pages.Render(name, data)
	if err != nil {
		status, text = http.StatusInternalServerError, []byte("<!doctype html><title>Error</title>")
	}
	sendPage(w, status, text)
}

// sendPage sends a page with the headers of a payment page, unless the caller has set them already. The policy has no
// form-action, because browsers also apply it to the redirect after the form, which leads to the merchant.
func sendPage(w http.ResponseWriter, status int, body []byte) {
	h := w.Header()
	for name, value := range map[string]string{
		"Content-Type":               "text/html; charset=utf-8",
		"Cache-Control":              "no-store",
		"Content-Security-Policy":    policy,
		"Referrer-Policy":            "no-referrer",
		"X-Content-Type-Options":     "nosniff",
		"X-Frame-Options":            "DENY",
		"Cross-Origin-Opener-Policy": "same-origin",
	} {
		if h.Get(name) == "" {
			h.Set(name, value)
		}
	}
	w.WriteHeader(status)
	_, _ = w.Write(body)
}

const policy = "default-src 'none'; img-src data:; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'"
