package sandbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/cardgateway/cardgateway-go/sandbox/internal/jsonobject"
	"github.com/cardgateway/cardgateway-go/sandbox/internal/mask"
)

const (
	apiPath      = controlPath + "api/v1/"
	mostWait     = 5 * time.Minute
	mostExpected = 100_000 // ids in one response
)

// addAPI registers the control API. docs/sandbox.md describes it.
func (g *Gateway) addAPI(mux *http.ServeMux) {
	get := func(path string, f func(p *params, r *http.Request) (any, error)) {
		mux.HandleFunc("GET "+apiPath+path, func(w http.ResponseWriter, r *http.Request) {
			value, err := f(formParams(r.URL.Query()), r)
			writeJSON(w, value, err)
		})
	}
	withBody := func(pattern string, f func(body []byte, r *http.Request) (any, error)) {
		method, path, _ := strings.Cut(pattern, " ")
		mux.HandleFunc(method+" "+apiPath+path, func(w http.ResponseWriter, r *http.Request) {
			body, err := controlBody(r)
			if err != nil {
				writeJSON(w, nil, err)
				return
			}
			value, err := f(body, r)
			writeJSON(w, value, err)
		})
	}
	g.addLists(get)
	for _, a := range actions() {
		withBody("POST "+a.path, func(body []byte, r *http.Request) (any, error) {
			p, err := jsonParams(body)
			if err != nil {
				return nil, badRequest(err.Error())
			}
			return a.do(g, r.PathValue("id"), p)
		})
	}
	withBody("POST faults", func(body []byte, _ *http.Request) (any, error) {
		f, err := decodeFault(body)
		if err != nil {
			return nil, err
		}
		return g.injectFault(f)
	})
	withBody("DELETE faults", func([]byte, *http.Request) (any, error) { return g.removeFault("") })
	withBody("DELETE faults/{id}", func(_ []byte, r *http.Request) (any, error) { return g.removeFault(r.PathValue("id")) })
	withBody("POST seed", func(body []byte, _ *http.Request) (any, error) {
		var o SeedOptions
		if err := decodeSettings(body, &o); err != nil {
			return nil, badRequest(err.Error())
		}
		if o.N < 1 || !o.From.Before(o.To) {
			return nil, badRequest("n must be at least 1, and from before to")
		}
		g.SeedOrders(o)
		return done(fmt.Sprintf("%d orders added", o.N)), nil
	})
	withBody("PUT search", func(body []byte, _ *http.Request) (any, error) {
		var b SearchBehavior
		if err := decodeSettings(body, &b); err != nil {
			return nil, badRequest(err.Error())
		}
		g.SetSearchBehavior(b)
		return encodeSettings(b), nil
	})
	mux.HandleFunc(apiPath, func(w http.ResponseWriter, r *http.Request) {
		writeJSON(w, nil, &controlError{http.StatusNotFound, "no such path, or not for method " + r.Method, "docs/sandbox.md lists them"})
	})
}

// addLists registers the requests that only read.
func (g *Gateway) addLists(get func(path string, f func(p *params, r *http.Request) (any, error))) {
	locked := func(p *params, f func() (any, error)) (any, error) {
		if err := p.check(); err != nil {
			return nil, err
		}
		g.mu.Lock()
		defer g.mu.Unlock()
		g.settleDue()
		return f()
	}
	get("info", func(p *params, _ *http.Request) (any, error) {
		return locked(p, func() (any, error) { return g.info(), nil })
	})
	get("search", func(p *params, _ *http.Request) (any, error) {
		return locked(p, func() (any, error) { return encodeSettings(g.opts.Search), nil })
	})
	for _, kind := range []string{"payments", "refunds", "requests", "notifications"} {
		get(kind, func(p *params, _ *http.Request) (any, error) {
			f := readFilter(p)
			if err := p.check(); err != nil {
				return nil, err
			}
			value, _, _ := g.listed(kind, f)
			return value, nil
		})
		get(kind+"/{id}", func(p *params, r *http.Request) (any, error) {
			if err := p.check(); err != nil {
				return nil, err
			}
			return g.one(kind, r.PathValue("id"))
		})
	}
	get("payments/{id}/token", func(p *params, r *http.Request) (any, error) {
		return locked(p, func() (any, error) {
			o := g.payment(r.PathValue("id"))
			switch {
			case o == nil:
				return nil, notThere("payment", r.PathValue("id"), "payments")
			case o.token == "":
				return nil, conflict("the payment has made no token", "POST "+apiPath+"tokens makes one")
			}
			return tokenView{o.token}, nil
		})
	})
	get("faults", func(p *params, _ *http.Request) (any, error) {
		return locked(p, func() (any, error) { return list[faultView]{Data: g.faultViews()}, nil })
	})
	get("faults/names", func(p *params, _ *http.Request) (any, error) {
		var names []string
		for _, f := range Faults(0) {
			names = append(names, f.Name)
		}
		return list[string]{Data: names}, p.check()
	})
	get("executed", func(p *params, _ *http.Request) (any, error) {
		transaction, refund := p.text("transactionId"), p.text("refundTransactionId")
		if err := p.check(); err != nil {
			return nil, err
		}
		switch {
		case transaction != "" && refund == "":
			return map[string]int{"executed": g.Executed(transaction)}, nil
		case refund != "" && transaction == "":
			return map[string]int{"executed": g.Refunded(refund)}, nil
		}
		return nil, badRequest("either transactionId or refundTransactionId is required")
	})
	for kind, ids := range map[string]func(from, to time.Time) func(func(string) bool){
		"orders":  func(from, to time.Time) func(func(string) bool) { return g.OrderIDs(from, to) },
		"refunds": func(from, to time.Time) func(func(string) bool) { return g.RefundIDs(from, to) },
	} {
		get("expected/"+kind, func(p *params, _ *http.Request) (any, error) {
			from, to, limit := p.time("from"), p.time("to"), p.number("limit", mostExpected, mostExpected)
			if err := p.check(); err != nil {
				return nil, err
			}
			l := list[string]{Data: []string{}}
			for id := range ids(from, to) {
				l.add(id, limit)
			}
			return l, nil
		})
	}
	get("wait", g.waitFor)
	get("flush", func(p *params, r *http.Request) (any, error) {
		timeout := p.duration("timeout", 10*time.Second, mostWait)
		if err := p.check(); err != nil {
			return nil, err
		}
		ctx, cancel := context.WithTimeout(r.Context(), timeout)
		defer cancel()
		if g.Flush(ctx) == nil {
			return done("every notification has been accepted or given up"), nil
		}
		return nil, &controlError{http.StatusRequestTimeout, "notifications are still waiting", "GET " + apiPath + "notifications?state=will+be+repeated"}
	})
}

func readFilter(p *params) filter {
	return filter{
		limit: p.number("limit", usualLimit, mostRows), since: p.number("since", 0, math.MaxInt32),
		transactionID: p.text("transactionId"), orderID: p.text("orderId"), uniqueID: p.text("uniqueId"),
		refundTransactionID: p.text("refundTransactionId"), operation: p.text("operation"), kind: p.text("transactionType"),
		state: p.text("state"), code: p.number("code", 0, 999),
	}
}

// listed returns the rows of a list, how many there are, and a channel that is closed when there may be more.
func (g *Gateway) listed(kind string, f filter) (value any, n int, changed <-chan struct{}) {
	switch kind {
	case "requests":
		l, changed := g.history.listRequests(f)
		return l, len(l.Data) + l.LeftOff, changed
	case "notifications":
		l, changed := g.history.listNotifications(f)
		return l, len(l.Data) + l.LeftOff, changed
	}
	changed = g.history.changes() // every change of a payment other than settling begins or ends with a request
	g.mu.Lock()
	defer g.mu.Unlock()
	g.settleDue()
	if kind == "refunds" {
		l := g.refunds(f)
		return l, len(l.Data) + l.LeftOff, changed
	}
	l := g.payments(f)
	return l, len(l.Data) + l.LeftOff, changed
}

// one returns one row of a list.
func (g *Gateway) one(kind, id string) (any, error) {
	switch kind {
	case "requests":
		l, _ := g.history.listRequests(filter{limit: math.MaxInt32})
		if i := slices.IndexFunc(l.Data, func(v requestView) bool { return fmt.Sprint(v.Number) == id }); i >= 0 {
			return l.Data[i], nil
		}
	case "notifications":
		l, _ := g.history.listNotifications(filter{limit: math.MaxInt32})
		if i := slices.IndexFunc(l.Data, func(v notificationView) bool { return fmt.Sprint(v.Number) == id }); i >= 0 {
			return l.Data[i], nil
		}
	case "payments":
		g.mu.Lock()
		defer g.mu.Unlock()
		g.settleDue()
		if o := g.payment(id); o != nil {
			return g.paymentView(o), nil
		}
	case "refunds":
		g.mu.Lock()
		defer g.mu.Unlock()
		g.settleDue()
		if r := g.refundNamed(id); r != nil {
			return g.refundView(r), nil
		}
	}
	return nil, notThere(strings.TrimSuffix(kind, "s"), id, kind)
}

// waitFor responds as soon as a list has enough rows. At the timeout it responds with HTTP 408 and the rows that there are.
func (g *Gateway) waitFor(p *params, r *http.Request) (any, error) {
	kind := p.text("for")
	count := p.number("count", 1, mostRows)
	timeout := p.duration("timeout", 10*time.Second, mostWait)
	f := readFilter(p)
	if err := p.check(); err != nil {
		return nil, err
	}
	if !slices.Contains([]string{"payments", "refunds", "requests", "notifications"}, kind) {
		return nil, badRequest("for must be one of payments, refunds, requests, notifications")
	}
	deadline := time.NewTimer(timeout)
	defer deadline.Stop()
	again := time.NewTicker(50 * time.Millisecond) // a payment can settle without a request
	defer again.Stop()
	for {
		value, n, changed := g.listed(kind, f)
		if n >= count {
			return value, nil
		}
		select {
		case <-changed:
		case <-again.C:
		case <-deadline.C:
			return value, errTooFew
		case <-r.Context().Done():
			return nil, errTooFew
		case <-g.closing:
			return nil, errTooFew
		}
	}
}

var errTooFew = errors.New("not enough rows before the timeout")

// decodeFault reads a Fault, or the name of a named fault with further members.
func decodeFault(body []byte) (Fault, error) {
	m, err := jsonobject.Members(body)
	if err != nil {
		return Fault{}, badRequest(err.Error())
	}
	var f Fault
	if text, named := m["name"]; named {
		var name string
		wait := 5 * time.Second
		if json.Unmarshal(text, &name) != nil {
			return Fault{}, badRequest("name is not a string")
		}
		if f, err = namedFault(name, wait); err != nil {
			return Fault{}, err
		}
		delete(m, "name")
	}
	rest, err := json.Marshal(m)
	if err != nil {
		return Fault{}, badRequest(err.Error())
	}
	if err := decodeSettings(rest, &f); err != nil {
		return Fault{}, badRequest(err.Error())
	}
	return f, nil
}

// controlBody reads the JSON body of a request. It refuses forms, which a page of another site could send.
func controlBody(r *http.Request) ([]byte, error) {
	body, err := io.ReadAll(io.LimitReader(r.Body, mask.MaxBody+1))
	switch kind, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";"); {
	case err != nil || len(body) > mask.MaxBody:
		return nil, badRequest("the body could not be read, or is too large")
	case len(body) > 0 && strings.TrimSpace(kind) != "application/json":
		return nil, &controlError{http.StatusUnsupportedMediaType, "the Content-Type is not application/json", ""}
	}
	return body, nil
}

// writeJSON responds with a value, with an error, or, for a wait that timed out, with both.
func writeJSON(w http.ResponseWriter, value any, err error) {
	status := http.StatusOK
	if err != nil {
		status = http.StatusInternalServerError
		failure := map[string]any{"error": err.Error()}
		if c, ok := errors.AsType[*controlError](err); ok {
			status = c.status
			if c.hint != "" {
				failure["hint"] = c.hint
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
	h := w.Header()
	h.Set("Content-Type", "application/json; charset=utf-8")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	_, _ = w.Write(append(text, '\n'))
}
