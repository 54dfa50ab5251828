package console

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/cardgateway/cardgateway-go/sandbox/internal/mask"
	"github.com/cardgateway/cardgateway-go/sandbox/internal/params"
)

const maxWait = 5 * time.Minute

// reading reads what a request says, and returns what is to be done unless something is wrong with it. What that returns is
// written as JSON.
type reading func(r *http.Request, p *params.Reader) (do func() (any, error))

// run does what a request asks for, whose parameters p has.
func (read reading) run(r *http.Request, p *params.Reader) (any, error) {
	do := read(r, p)
	if err := checked(p); err != nil {
		return nil, err
	}
	return do()
}

func checked(p *params.Reader) error {
	if err := p.Err(); err != nil {
		return Invalid(err.Error())
	}
	return nil
}

// plain is a request without parameters. The id is the one in its path, or empty.
func plain(do func(id string) (any, error)) reading {
	return func(r *http.Request, _ *params.Reader) func() (any, error) {
		return func() (any, error) { return do(r.PathValue("id")) }
	}
}

// route is a request that is found by its path, after the prefix.
type route struct {
	path string
	read reading
}

// paymentActions are the actions on a payment that need nothing but its id, with the label of their button.
var paymentActions = []struct {
	path, label string
	Action
}{
	{"settle", "Settle", Action{Kind: Settle, Approve: true}}, {"decline", "Decline", Action{Kind: Settle}}, {"close", "Close", Action{Kind: Close}},
	{"chargeback", "Charge back", Action{Kind: Chargeback}}, {"notify", "Notify again", Action{Kind: Notify}}, {"renew", "Renew", Action{Kind: Renew}},
}

// actions are what both the dashboard and the control API offer.
func (c *Console) actions() []route {
	on := func(a Action) reading {
		return plain(func(id string) (any, error) { return c.gateway.Act(id, a) })
	}
	endRefund := func(approved bool) reading {
		return plain(func(id string) (any, error) { return c.gateway.EndRefund(id, approved) })
	}
	routes := []route{
		{"payments/{id}/card", c.enterCard},
		{"payments/{id}/authenticate", func(r *http.Request, p *params.Reader) func() (any, error) {
			return on(Action{Kind: Authenticate, Approve: p.Bool("approve", true)})(r, p)
		}},
		{"payments/{id}/refund", func(r *http.Request, p *params.Reader) func() (any, error) {
			m := RefundRequest{Amount: p.Text("amount", 0), RefundTransactionID: p.Text("refundTransactionId", 0), Remark: p.Text("remark", 0)}
			return func() (any, error) { return c.gateway.MakeRefund(r.PathValue("id"), m) }
		}},
		{"refunds/{id}/settle", endRefund(true)},
		{"refunds/{id}/decline", endRefund(false)},
		{"notifications/{id}/resend", plain(func(id string) (any, error) { return c.log.resend(id) })},
		{"tokens", func(_ *http.Request, p *params.Reader) func() (any, error) {
			name := cmp.Or(p.Text("testCard", 0), usualTestCard)
			return func() (any, error) {
				token, err := c.gateway.MakeToken(name)
				return map[string]string{"token": token}, err
			}
		}},
		{"reset", plain(func(string) (any, error) {
			c.gateway.Reset()
			return done("everything is reset"), nil
		})},
	}
	for _, a := range paymentActions {
		routes = append(routes, route{"payments/{id}/" + a.path, on(a.Action)})
	}
	return routes
}

const usualTestCard = "approved"

// enterCard acts as the cardholder on the card page. Without a number it uses a test card.
func (c *Console) enterCard(r *http.Request, p *params.Reader) func() (any, error) {
	name := cmp.Or(p.Text("testCard", 0), usualTestCard)
	entry := Card{
		Number: p.Text("cardNumber", 0), Month: p.Text("expiredMonth", 0), Year: p.Text("expiredYear", 0), CVV: p.Text("cvv", 0),
		Cardholder: p.Text("cardholder", 0),
	}
	return func() (any, error) {
		usual, err := c.gateway.TestCard(name)
		if err != nil {
			return nil, err
		}
		if entry.Number == "" {
			entry = Card{
				usual.Number, cmp.Or(entry.Month, usual.Month), cmp.Or(entry.Year, usual.Year), cmp.Or(entry.CVV, usual.CVV),
				cmp.Or(entry.Cardholder, usual.Cardholder),
			}
		}
		return c.gateway.Act(r.PathValue("id"), Action{Kind: EnterCard, Card: entry})
	}
}

func done(text string) any { return map[string]string{"done": text} }

// addAPI registers the control API. docs/sandbox.md describes it.
func (c *Console) addAPI(mux *http.ServeMux) {
	handle := func(pattern string, serve func(r *http.Request) (any, error)) {
		method, path, _ := strings.Cut(pattern, " ")
		mux.HandleFunc(method+" "+apiPath+path, func(w http.ResponseWriter, r *http.Request) {
			value, err := serve(r)
			writeJSON(w, value, err)
		})
	}
	withBody := func(pattern string, f func(body []byte, r *http.Request) (any, error)) {
		handle(pattern, func(r *http.Request) (any, error) {
			body, err := readBody(r)
			if err != nil {
				return nil, err
			}
			return f(body, r)
		})
	}
	for _, q := range c.queries() {
		handle("GET "+q.path, func(r *http.Request) (any, error) { return q.read.run(r, params.Of(r.URL.Query())) })
	}
	for _, a := range c.actions() {
		withBody("POST "+a.path, func(body []byte, r *http.Request) (any, error) {
			p, err := params.JSON(body)
			if err != nil {
				return nil, Invalid(err.Error())
			}
			return a.read.run(r, p)
		})
	}
	withBody("POST faults", func(body []byte, _ *http.Request) (any, error) { return c.gateway.Inject(body, slowInAPI) })
	removeFaults := func(_ []byte, r *http.Request) (any, error) {
		n, err := c.gateway.RemoveFaults(r.PathValue("id"))
		return done(fmt.Sprintf("%d faults removed", n)), err
	}
	withBody("DELETE faults", removeFaults)
	withBody("DELETE faults/{id}", removeFaults)
	mux.HandleFunc(apiPath, func(w http.ResponseWriter, r *http.Request) {
		writeJSON(w, nil, &Error{
			Status: http.StatusNotFound, Text: "no such path, or not for method " + r.Method, Hint: "docs/sandbox.md lists them",
		})
	})
}

// queries are the requests that only read.
func (c *Console) queries() []route {
	routes := []route{
		{"info", plain(func(string) (any, error) { return c.info(), nil })},
		{"payments/{id}", plain(func(id string) (any, error) { return c.gateway.Payment(id) })},
		{"refunds/{id}", plain(func(id string) (any, error) { return c.gateway.Refund(id) })},
		{"requests/{id}", plain(func(id string) (any, error) { return c.log.request(id) })},
		{"notifications/{id}", plain(func(id string) (any, error) {
			n, err := c.log.notification(id)
			return n.Notification, err
		})},
		{"payments/{id}/token", plain(func(id string) (any, error) {
			token, err := c.gateway.Token(id)
			return map[string]string{"token": token}, err
		})},
		{"faults", plain(func(string) (any, error) { return List[Fault]{Data: c.gateway.Faults()}, nil })},
		{"faults/names", plain(func(string) (any, error) { return List[string]{Data: c.settings.FaultNames}, nil })},
		{"wait", c.wait},
	}
	for _, kind := range lists() {
		routes = append(routes, route{kind, func(_ *http.Request, p *params.Reader) func() (any, error) {
			f := readFilter(p, kind)
			return func() (any, error) { return c.list(kind, f), nil }
		}})
	}
	return routes
}

func lists() []string { return []string{"payments", "refunds", "requests", "notifications"} }

func (c *Console) info() Info {
	info := c.gateway.Info()
	info.Label = c.settings.Label
	info.Requests, info.Notifications = c.log.totals()
	return info
}

// list returns the rows of a list.
func (c *Console) list(kind string, f Filter) interface{ total() int } {
	switch kind {
	case "requests":
		return c.log.listRequests(f)
	case "notifications":
		return c.log.listNotifications(f)
	case "refunds":
		return c.gateway.Refunds(f)
	}
	return c.gateway.Payments(f)
}

// wait responds as soon as a list has enough rows. At the timeout it responds with HTTP 408 and the rows that there are.
func (c *Console) wait(r *http.Request, p *params.Reader) func() (any, error) {
	kind := p.Text("for", 0)
	count := p.Number("count", 1, maxRows)
	timeout := p.Duration("timeout", 10*time.Second, maxWait)
	if !slices.Contains(lists(), kind) {
		p.Problem("for", "must be one of "+strings.Join(lists(), ", "))
	}
	f := readFilter(p, kind)
	return func() (any, error) {
		deadline := time.NewTimer(timeout)
		defer deadline.Stop()
		again := time.NewTicker(20 * time.Millisecond)
		defer again.Stop()
		for {
			found := c.list(kind, f)
			if found.total() >= count {
				return found, nil
			}
			select {
			case <-again.C:
			case <-deadline.C:
				return found, errTooFew
			case <-r.Context().Done():
				return nil, errTooFew
			case <-c.gateway.Closing():
				return nil, errTooFew
			}
		}
	}
}

var errTooFew = &Error{Status: http.StatusRequestTimeout, Text: "not enough rows before the timeout"}

// readBody reads the JSON body of a request. It refuses forms, which a page of another site could send.
func readBody(r *http.Request) ([]byte, error) {
	body, err := io.ReadAll(io.LimitReader(r.Body, mask.MaxBody+1))
	switch kind, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";"); {
	case err != nil || len(body) > mask.MaxBody:
		return nil, Invalid("the body could not be read, or is too large")
	case len(body) > 0 && strings.TrimSpace(kind) != "application/json":
		return nil, &Error{Status: http.StatusUnsupportedMediaType, Text: "the Content-Type is not application/json"}
	}
	return body, nil
}

// writeJSON responds with a value, with an error, or, for a wait that timed out, with both.
func writeJSON(w http.ResponseWriter, value any, err error) {
	status := http.StatusOK
	if err != nil {
		e := asError(err)
		failure := map[string]any{"error": e.Text}
		if e.Hint != "" {
			failure["hint"] = e.Hint
		}
		if e == errTooFew {
			failure["soFar"] = value
		}
		status, value = e.Status, failure
	}
	text, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		status, text = http.StatusInternalServerError, []byte(`{"error":"the response could not be written"}`)
	}
	sendJSON(w, status, append(text, '\n'))
}

func sendJSON(w http.ResponseWriter, status int, text []byte) {
	h := w.Header()
	h.Set("Content-Type", "application/json; charset=utf-8")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	_, _ = w.Write(text)
}
