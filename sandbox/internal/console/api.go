package console

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/cardgateway/cardgateway-go/sandbox/internal/mask"
	"github.com/cardgateway/cardgateway-go/sandbox/internal/params"
)

const (
	maxWait     = 5 * time.Minute
	maxExpected = 100_000 // ids in one response
)

// action is an action that both the dashboard and the control API offer. The id is the one in its path, or empty. What do
// returns is written as JSON.
type action struct {
	path string // after the prefix
	do   func(id string, p *params.Reader) (any, error)
}

func (c *Console) actions() []action {
	// on returns an action on a payment without parameters.
	on := func(a Action) func(string, *params.Reader) (any, error) {
		return func(id string, p *params.Reader) (any, error) {
			return after(p, func() (any, error) { return c.gateway.Act(id, a) })
		}
	}
	endRefund := func(approved bool) func(string, *params.Reader) (any, error) {
		return func(id string, p *params.Reader) (any, error) {
			return after(p, func() (any, error) { return c.gateway.EndRefund(id, approved) })
		}
	}
	return []action{
		{"payments/{id}/settle", on(Action{Kind: Settle, Approve: true})},
		{"payments/{id}/decline", on(Action{Kind: Settle})},
		{"payments/{id}/close", on(Action{Kind: Close})},
		{"payments/{id}/chargeback", on(Action{Kind: Chargeback})},
		{"payments/{id}/notify", on(Action{Kind: Notify})},
		{"payments/{id}/renew", on(Action{Kind: Renew})},
		{"payments/{id}/card", c.enterCard},
		{"payments/{id}/authenticate", func(id string, p *params.Reader) (any, error) {
			return on(Action{Kind: Authenticate, Approve: p.Bool("approve", true)})(id, p)
		}},
		{"payments/{id}/refund", func(id string, p *params.Reader) (any, error) {
			m := RefundRequest{Amount: p.Text("amount", 0), RefundTransactionID: p.Text("refundTransactionId", 0), Remark: p.Text("remark", 0)}
			return after(p, func() (any, error) { return c.gateway.MakeRefund(id, m) })
		}},
		{"refunds/{id}/settle", endRefund(true)},
		{"refunds/{id}/decline", endRefund(false)},
		{"notifications/{id}/resend", func(id string, p *params.Reader) (any, error) {
			return after(p, func() (any, error) { return c.log.resend(id) })
		}},
		{"tokens", func(_ string, p *params.Reader) (any, error) {
			name := cmp.Or(p.Text("testCard", 0), usualTestCard)
			return after(p, func() (any, error) {
				token, err := c.gateway.MakeToken(name)
				return map[string]string{"token": token}, err
			})
		}},
		{"reset", func(_ string, p *params.Reader) (any, error) {
			return after(p, func() (any, error) {
				c.gateway.Reset()
				return done("everything is reset"), nil
			})
		}},
	}
}

const usualTestCard = "approved"

// enterCard acts as the cardholder on the card page. Without a number it uses a test card.
func (c *Console) enterCard(id string, p *params.Reader) (any, error) {
	entry, err := c.gateway.TestCard(cmp.Or(p.Text("testCard", 0), usualTestCard))
	if err != nil {
		return nil, err
	}
	if number := p.Text("cardNumber", 0); number != "" {
		entry = Card{Number: number}
	}
	entry.Month = cmp.Or(p.Text("expiredMonth", 0), entry.Month)
	entry.Year = cmp.Or(p.Text("expiredYear", 0), entry.Year)
	entry.CVV = cmp.Or(p.Text("cvv", 0), entry.CVV)
	entry.Cardholder = cmp.Or(p.Text("cardholder", 0), entry.Cardholder)
	return after(p, func() (any, error) { return c.gateway.Act(id, Action{Kind: EnterCard, Card: entry}) })
}

// after calls do, unless something is wrong with the parameters, all of which have been read.
func after(p *params.Reader, do func() (any, error)) (any, error) {
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

func done(text string) any { return map[string]string{"done": text} }

// addAPI registers the control API. docs/sandbox.md describes it.
func (c *Console) addAPI(mux *http.ServeMux) {
	get := func(path string, f func(p *params.Reader, r *http.Request) (any, error)) {
		mux.HandleFunc("GET "+apiPath+path, func(w http.ResponseWriter, r *http.Request) {
			value, err := f(params.Of(r.URL.Query()), r)
			writeJSON(w, value, err)
		})
	}
	withBody := func(pattern string, f func(body []byte, r *http.Request) (any, error)) {
		method, path, _ := strings.Cut(pattern, " ")
		mux.HandleFunc(method+" "+apiPath+path, func(w http.ResponseWriter, r *http.Request) {
			body, err := readBody(r)
			if err != nil {
				writeJSON(w, nil, err)
				return
			}
			value, err := f(body, r)
			writeJSON(w, value, err)
		})
	}
	c.addQueries(get)
	for _, a := range c.actions() {
		withBody("POST "+a.path, func(body []byte, r *http.Request) (any, error) {
			p, err := params.JSON(body)
			if err != nil {
				return nil, Invalid(err.Error())
			}
			return a.do(r.PathValue("id"), p)
		})
	}
	withBody("POST faults", func(body []byte, _ *http.Request) (any, error) { return c.gateway.Inject(body, slowInAPI) })
	withBody("DELETE faults", func([]byte, *http.Request) (any, error) { return c.removeFaults("") })
	withBody("DELETE faults/{id}", func(_ []byte, r *http.Request) (any, error) { return c.removeFaults(r.PathValue("id")) })
	withBody("POST seed", func(body []byte, _ *http.Request) (any, error) {
		n, err := c.gateway.Seed(body)
		return done(fmt.Sprintf("%d orders added", n)), err
	})
	withBody("PUT search", func(body []byte, _ *http.Request) (any, error) {
		if err := c.gateway.SetSearch(body); err != nil {
			return nil, err
		}
		return c.gateway.Search(), nil
	})
	mux.HandleFunc(apiPath, func(w http.ResponseWriter, r *http.Request) {
		writeJSON(w, nil, &Error{
			Status: http.StatusNotFound, Text: "no such path, or not for method " + r.Method, Hint: "docs/sandbox.md lists them",
		})
	})
}

func (c *Console) removeFaults(number string) (any, error) {
	n, err := c.gateway.RemoveFaults(number)
	return done(fmt.Sprintf("%d faults removed", n)), err
}

// addQueries registers the requests that only read.
func (c *Console) addQueries(get func(path string, f func(p *params.Reader, r *http.Request) (any, error))) {
	// plain registers a query without parameters.
	plain := func(path string, f func(id string) (any, error)) {
		get(path, func(p *params.Reader, r *http.Request) (any, error) {
			return after(p, func() (any, error) { return f(r.PathValue("id")) })
		})
	}
	plain("info", func(string) (any, error) { return c.info(), nil })
	plain("search", func(string) (any, error) { return c.gateway.Search(), nil })
	for _, kind := range lists() {
		get(kind, func(p *params.Reader, _ *http.Request) (any, error) {
			f := readFilter(p, kind)
			return after(p, func() (any, error) {
				found, _ := c.list(kind, f)
				return found, nil
			})
		})
	}
	plain("payments/{id}", func(id string) (any, error) { return c.gateway.Payment(id) })
	plain("refunds/{id}", func(id string) (any, error) { return c.gateway.Refund(id) })
	plain("requests/{id}", func(id string) (any, error) { return c.request(id) })
	plain("notifications/{id}", func(id string) (any, error) { return c.notification(id) })
	plain("payments/{id}/token", func(id string) (any, error) {
		token, err := c.gateway.Token(id)
		return map[string]string{"token": token}, err
	})
	plain("faults", func(string) (any, error) { return List[Fault]{Data: c.gateway.Faults()}, nil })
	plain("faults/names", func(string) (any, error) { return List[string]{Data: c.settings.FaultNames}, nil })
	get("executed", func(p *params.Reader, _ *http.Request) (any, error) {
		transaction, refund := p.Text("transactionId", 0), p.Text("refundTransactionId", 0)
		if err := checked(p); err != nil {
			return nil, err
		}
		switch {
		case transaction != "" && refund == "":
			return map[string]int{"executed": c.gateway.Executed(transaction)}, nil
		case refund != "" && transaction == "":
			return map[string]int{"executed": c.gateway.Refunded(refund)}, nil
		}
		return nil, Invalid("either transactionId or refundTransactionId is required")
	})
	for kind, ids := range map[string]func(from, to time.Time) iter.Seq[string]{
		"orders": c.gateway.OrderIDs, "refunds": c.gateway.RefundIDs,
	} {
		get("expected/"+kind, func(p *params.Reader, _ *http.Request) (any, error) {
			from, to, limit := p.Time("from"), p.Time("to"), p.Number("limit", maxExpected, maxExpected)
			if err := checked(p); err != nil {
				return nil, err
			}
			found := List[string]{Data: []string{}}
			for id := range ids(from, to) {
				found.Add(limit, func() string { return id })
			}
			return found, nil
		})
	}
	get("wait", c.wait)
	get("flush", func(p *params.Reader, r *http.Request) (any, error) {
		timeout := p.Duration("timeout", 10*time.Second, maxWait)
		if err := checked(p); err != nil {
			return nil, err
		}
		ctx, cancel := context.WithTimeout(r.Context(), timeout)
		defer cancel()
		if c.gateway.Flush(ctx) == nil {
			return done("every notification has been accepted or given up"), nil
		}
		return nil, &Error{
			Status: http.StatusRequestTimeout, Text: "notifications are still waiting", Hint: "GET " + apiPath + "notifications?state=will+be+repeated",
		}
	})
}

func lists() []string { return []string{"payments", "refunds", "requests", "notifications"} }

func (c *Console) info() Info {
	info := c.gateway.Info()
	info.Label = c.settings.Label
	info.Requests, info.Notifications, _ = c.log.totals()
	return info
}

// list returns the rows of a list, and a channel that is closed when there may be more.
func (c *Console) list(kind string, f Filter) (found interface{ total() int }, changed <-chan struct{}) {
	switch kind {
	case "requests":
		return c.log.listRequests(f)
	case "notifications":
		return c.log.listNotifications(f)
	}
	_, _, changed = c.log.totals() // every change of a payment other than settling begins or ends with a request
	if kind == "refunds" {
		return c.gateway.Refunds(f), changed
	}
	return c.gateway.Payments(f), changed
}

func (c *Console) request(number string) (Request, error) {
	l, _ := c.log.listRequests(Filter{Limit: math.MaxInt32})
	if i := slices.IndexFunc(l.Data, func(r Request) bool { return fmt.Sprint(r.Number) == number }); i >= 0 {
		return l.Data[i], nil
	}
	return Request{}, NotFound("request", number)
}

func (c *Console) notification(number string) (Notification, error) {
	l, _ := c.log.listNotifications(Filter{Limit: math.MaxInt32})
	if i := slices.IndexFunc(l.Data, func(n Notification) bool { return fmt.Sprint(n.Number) == number }); i >= 0 {
		return l.Data[i], nil
	}
	return Notification{}, NotFound("notification", number)
}

// wait responds as soon as a list has enough rows. At the timeout it responds with HTTP 408 and the rows that there are.
func (c *Console) wait(p *params.Reader, r *http.Request) (any, error) {
	kind := p.Text("for", 0)
	count := p.Number("count", 1, maxRows)
	timeout := p.Duration("timeout", 10*time.Second, maxWait)
	if !slices.Contains(lists(), kind) {
		return nil, Invalid("for must be one of " + strings.Join(lists(), ", "))
	}
	f := readFilter(p, kind)
	if err := checked(p); err != nil {
		return nil, err
	}
	deadline := time.NewTimer(timeout)
	defer deadline.Stop()
	again := time.NewTicker(50 * time.Millisecond) // a payment can settle without a request
	defer again.Stop()
	for {
		found, changed := c.list(kind, f)
		if found.total() >= count {
			return found, nil
		}
		select {
		case <-changed:
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

var errTooFew = errors.New("not enough rows before the timeout")

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
		status = http.StatusInternalServerError
		failure := map[string]any{"error": err.Error()}
		if e, ok := errors.AsType[*Error](err); ok {
			status, failure["error"] = e.Status, e.Text
			if e.Hint != "" {
				failure["hint"] = e.Hint
			}
		}
		if errors.Is(err, errTooFew) {
			status = http.StatusRequestTimeout
			failure["soFar"] = value
		}
		value = failure
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
