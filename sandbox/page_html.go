package sandbox

import (
	"bytes"
	"html/template"
	"net/http"
	"strings"
)

// pageData is what the templates show.
type pageData struct {
	Title            string
	Amount, Currency string
	Token            bool // no money is taken, the card is stored
	Card             string
	Text, Link       string
	Fields           []pageField
	Failed           bool
}

// pageField is one input of the card form. The names are those of the interface's card object.
type pageField struct {
	Name, Label, Hint, Autocomplete string
	InputMode                       string
	MaxLength                       int
	Value, Error                    string
}

// Describe names the elements that explain the input, for aria-describedby.
func (f pageField) Describe() string {
	var ids []string
	if f.Hint != "" {
		ids = append(ids, f.Name+"-hint")
	}
	if f.Error != "" {
		ids = append(ids, f.Name+"-error")
	}
	return strings.Join(ids, " ")
}

// cardPage asks for a card. Of what was typed before it repeats only the name and the date: number and CVV are never
// sent back.
func cardPage(o *order, entry CardEntry, problems []fieldProblem) reply {
	fields := []pageField{
		{Name: "cardNumber", Label: "Card number", Hint: "Test card: 4300 0000 0000 0000",
			Autocomplete: "cc-number", InputMode: "numeric", MaxLength: 23},
		{Name: "expiredMonth", Label: "Expiry month", Hint: "Two digits, for example 09",
			Autocomplete: "cc-exp-month", InputMode: "numeric", MaxLength: 2, Value: entry.Month},
		{Name: "expiredYear", Label: "Expiry year", Hint: "The last two digits",
			Autocomplete: "cc-exp-year", InputMode: "numeric", MaxLength: 2, Value: entry.Year},
		{Name: "cvv", Label: "Security code",
			Hint:         "001–599 approves, 600–699 stays pending, 700–799 asks for 3D, 800–999 declines",
			Autocomplete: "cc-csc", InputMode: "numeric", MaxLength: 4},
		{Name: "cardholder", Label: "Name on the card",
			Autocomplete: "cc-name", InputMode: "text", MaxLength: 128, Value: entry.Cardholder},
	}
	for i := range fields {
		for _, p := range problems {
			if p.field == fields[i].Name {
				fields[i].Error = p.text
			}
		}
	}
	title := "Pay " + o.amount + " " + o.currency
	if o.op == OpTokenCreate {
		title = "Save your card"
	}
	if problems != nil {
		title = "Error: " + title
	}
	return page(http.StatusOK, "card", pageData{
		Title: title, Amount: o.amount, Currency: o.currency, Token: o.op == OpTokenCreate,
		Fields: fields, Failed: problems != nil,
	})
}

func threeDPage(o *order) reply {
	return page(http.StatusOK, "threed", pageData{
		Title: "Confirm your payment", Amount: o.amount, Currency: o.currency, Card: o.card.masked,
		Token: o.op == OpTokenCreate,
	})
}

// pages are parsed once and only read afterwards.
var pages = template.Must(template.New("").Parse(pagesHTML))

const pagesHTML = `
{{define "head"}}<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>{{.Title}} – card gateway sandbox</title>
<style>
*{box-sizing:border-box}
body{margin:0;font:1rem/1.5 system-ui,sans-serif;color:#1b1f24;background:#f3f4f6}
main{max-width:26rem;margin:0 auto;padding:1.5rem 1rem}
h1{font-size:1.5rem;line-height:1.25;margin:.5rem 0 1rem}
.note{border-left:.25rem solid #8a5a00;background:#fff8e6;padding:.5rem .75rem;margin:0 0 1rem}
.problem{border:2px solid #a8071a;background:#fff;padding:.5rem .75rem;margin:0 0 1rem}
label{display:block;font-weight:600;margin-top:1rem}
.hint{color:#4b5563;font-size:.9rem;margin:0}
.error{color:#a8071a;font-weight:600;margin:0}
input{display:block;width:100%;font:inherit;padding:.6rem;border:1px solid #6b7280;border-radius:.3rem;background:#fff}
input[aria-invalid=true]{border:2px solid #a8071a}
button{display:block;width:100%;font:inherit;font-weight:600;padding:.75rem;margin-top:1rem;border-radius:.3rem;border:1px solid #0b5394;background:#0b5394;color:#fff}
button.second{background:#fff;color:#0b5394}
input:focus-visible,button:focus-visible,a:focus-visible{outline:3px solid #d97706;outline-offset:2px}
</style>
</head>
<body>
<main>
<p class="note">Sandbox: no real card is charged. Do not enter a real card.</p>
{{end}}

{{define "foot"}}</main>
</body>
</html>
{{end}}

{{define "card"}}{{template "head" .}}
<h1>{{if .Token}}Save your card{{else}}Pay <span id="amount">{{.Amount}} {{.Currency}}</span>{{end}}</h1>
{{if .Failed}}<div class="problem" role="alert" id="problems"><p>Please correct the following:</p><ul>
{{range .Fields}}{{if .Error}}<li><a href="#{{.Name}}">{{.Label}}</a> {{.Error}}</li>{{end}}{{end}}
</ul></div>{{end}}
<form method="post" id="card-form" novalidate>
{{range .Fields}}<label for="{{.Name}}">{{.Label}}</label>
{{if .Hint}}<p class="hint" id="{{.Name}}-hint">{{.Hint}}</p>{{end}}
{{if .Error}}<p class="error" id="{{.Name}}-error">{{.Label}} {{.Error}}</p>{{end}}
<input id="{{.Name}}" name="{{.Name}}" type="text" inputmode="{{.InputMode}}" maxlength="{{.MaxLength}}" autocomplete="{{.Autocomplete}}" value="{{.Value}}" required{{with .Describe}} aria-describedby="{{.}}"{{end}}{{if .Error}} aria-invalid="true"{{end}}>
{{end}}
<button type="submit" id="pay" name="action" value="pay">{{if .Token}}Save card{{else}}Pay {{.Amount}} {{.Currency}}{{end}}</button>
<button type="submit" id="cancel" name="action" value="cancel" class="second">Cancel</button>
</form>
{{template "foot" .}}{{end}}

{{define "threed"}}{{template "head" .}}
<h1>Confirm your {{if .Token}}card{{else}}payment{{end}}</h1>
<p>Your bank asks whether it is you who {{if .Token}}saves this card{{else}}pays <strong id="amount">{{.Amount}} {{.Currency}}</strong>{{end}}{{if .Card}} with card <span id="card">{{.Card}}</span>{{end}}.</p>
<form method="post" id="threed-form">
<button type="submit" id="approve" name="decision" value="approve">Yes, approve</button>
<button type="submit" id="refuse" name="decision" value="refuse" class="second">No, refuse</button>
</form>
{{template "foot" .}}{{end}}

{{define "message"}}{{template "head" .}}
<h1>{{.Text}}</h1>
{{if .Link}}<p><a href="{{.Link}}" id="back">Back to the shop</a></p>{{end}}
{{template "foot" .}}{{end}}
`

// htmlReply is a page with the headers that a payment page needs. The policy has no form-action: browsers apply it
// to the redirect after the form as well, and that leads to the merchant.
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

func page(status int, name string, data pageData) reply {
	var b bytes.Buffer
	if err := pages.ExecuteTemplate(&b, name, data); err != nil {
		return htmlReply(http.StatusInternalServerError, []byte("<!doctype html><title>Error</title>"))
	}
	return htmlReply(status, b.Bytes())
}

func messagePage(status int, text, link string) reply {
	return page(status, "message", pageData{Title: "Payment", Text: text, Link: link})
}
