package sandbox

import (
	"cmp"
	"math"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/cardgateway/cardgateway-go/sandbox/internal/money"
	"github.com/cardgateway/cardgateway-go/sandbox/internal/pages"
)

// shownPayment returns what the hosted pages show of an order.
func (g *Gateway) shownPayment(o *order) pages.Payment {
	p := pages.Payment{
		Merchant: g.opts.MerchantName, OrderID: o.orderID, Amount: money.Shown(o.amount, o.currency),
		Token: o.op == OpTokenCreate,
	}
	if p.Merchant == "" {
		if u, err := url.Parse(o.callbackURL); err == nil {
			p.Merchant = u.Hostname()
		}
	}
	for _, product := range o.products {
		line := pages.Line{Name: product.name, Quantity: product.quantity}
		if product.price != "" {
			currency := product.currency
			if currency == "" {
				currency = o.currency
			}
			line.Price = money.Shown(product.price, currency)
			n, err := strconv.ParseInt(cmp.Or(product.quantity, "1"), 10, 64)
			switch each := money.Thousandths(product.price); {
			case err != nil, each > 0 && n > math.MaxInt64/each:
				line.Price = "" // too large to compute
			case each > 0 && n > 1:
				line.Price = money.Shown(money.Of(n*each, currency), currency)
			}
		}
		if line.Name != "" {
			p.Lines = append(p.Lines, line)
		}
	}
	return p
}

// cardPage returns the card page. The form is filled in with entry.
func (g *Gateway) cardPage(o *order, entry CardEntry, problems []fieldProblem) reply {
	data := pages.CardPage{
		Payment: g.shownPayment(o), Filled: entry.Number != "",
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
			{Value: Approved.String(), Label: "Approved", Hint: "001–599"},
			{Value: Pending.String(), Label: "Pending", Hint: "600–699"},
			{Value: Challenged.String(), Label: "Requires 3D", Hint: "700–799"},
			{Value: Declined.String(), Label: "Declined", Hint: "800–999"},
		},
	}
	if o.canRetry {
		data.Declined = "The card was declined. Try another card."
	}
	focused := false
	for i := range data.Fields {
		f := &data.Fields[i]
		for _, p := range problems {
			if p.field == f.Name {
				f.Error, f.Focus, f.Hint = f.Label+" "+p.text, !focused, "" // the error says the same as the hint
				focused = true
			}
		}
	}
	data.Title = "Pay " + data.Amount
	if data.Token {
		data.Title = "Save your card"
	}
	if problems != nil {
		data.Title = "Error: " + data.Title
	}
	return page(http.StatusOK, "CardPage", data)
}

func (g *Gateway) threeDPage(o *order) reply {
	return page(http.StatusOK, "ThreeDPage", pages.ThreeDPage{
		Title: "Confirm your payment", Payment: g.shownPayment(o), Card: o.card.masked,
		At: o.created.In(g.opts.Location).Format(time.DateTime),
	})
}

func (g *Gateway) finishedPage(o *order) reply {
	return page(http.StatusOK, "MessagePage", pages.MessagePage{
		Title: "Payment", Text: "This payment is finished.", Link: o.callbackURL, Payment: g.shownPayment(o),
	})
}

func messagePage(status int, text string) reply {
	return page(status, "MessagePage", pages.MessagePage{Title: "Payment", Text: text})
}

func page(status int, name string, data any) reply {
	text, err := pages.Render(name, data)
	if err != nil {
		return htmlReply(http.StatusInternalServerError, []byte("<!doctype html><title>Error</title>"))
	}
	return htmlReply(status, text)
}

// htmlReply returns a page with the headers of a payment page. The policy has no form-action, because browsers also apply
// it to the redirect after the form, which leads to the merchant.
func htmlReply(status int, body []byte) reply {
	return reply{status: status, body: body, header: http.Header{
		"Content-Type":               {"text/html; charset=utf-8"},
		"Cache-Control":              {"no-store"},
		"Content-Security-Policy":    {"default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'"},
		"Referrer-Policy":            {"no-referrer"},
		"X-Content-Type-Options":     {"nosniff"},
		"X-Frame-Options":            {"DENY"},
		"Cross-Origin-Opener-Policy": {"same-origin"},
	}}
}
