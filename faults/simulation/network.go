package simulation

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"syscall"
	"time"
)

// request is a request on its way to a gateway.
type request struct {
	gateway *gateway
	method  string
	url     string
	header  http.Header
	body    []byte
	thing   *thing // that it is about; nil for a query without an id of the merchant
	isPost  bool
}

// answer is a gateway's response.
type answer struct {
	status int
	header http.Header
	body   []byte
	err    error
}

// RoundTrip is the network of a process. A request that has left goes on, whatever happens to the process.
func (p *process) RoundTrip(r *http.Request) (*http.Response, error) {
	c := p.callOf(r.Context())
	if !p.w.scheduler.isOn() {
		time.Sleep(placeOf(r.URL))
	}
	isPost := r.Method == http.MethodPost && !strings.HasSuffix(r.URL.Path, "/trackingNumber")
	c.contact(true, func() string { return r.Method + " " + r.URL.RequestURI() })
	if p.isDead() {
		return nil, context.Canceled
	}
	c.checkRefused()
	fate, delay := c.fate(isPost)
	if fate == "unsent" {
		return nil, syscall.ECONNREFUSED
	}
	in := &request{gateway: p.shop.gateway, method: r.Method, url: r.URL.String(), header: r.Header.Clone(), isPost: isPost}
	if r.Body != nil {
		var err error
		in.body, err = io.ReadAll(r.Body)
		_ = r.Body.Close()
		if err != nil {
			return nil, err
		}
		if r.Context().Err() != nil {
			return nil, r.Context().Err()
		}
	}
	if ahead := p.settings.ClockAhead; ahead != 0 && !isPost {
		in.url = shiftQuery(in.url, ahead)
	}
	in.thing = p.w.thingOfRequest(p.shop, r, in.body)
	if isPost {
		p.w.leaves(c, in.thing)
	}
	a := p.w.carry(r.Context(), c, in, fate, delay)
	c.contact(false, nil)
	if p.isDead() {
		return nil, context.Canceled
	}
	if a.err != nil {
		return nil, a.err
	}
	if fate != "cut" && fate != "no body" {
		p.w.arrives(c, in, a)
	}
	if ahead := p.settings.ClockAhead; ahead != 0 {
		a.body = shiftAnswer(a.body, -ahead)
	}
	resp := &http.Response{
		StatusCode: a.status, Status: fmt.Sprint(a.status), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: a.header, Body: io.NopCloser(bytes.NewReader(a.body)), ContentLength: int64(len(a.body)), Request: r,
	}
	switch fate {
	case "cut":
		resp.Body = io.NopCloser(io.MultiReader(bytes.NewReader(a.body[:len(a.body)/2]), cutReader{}))
	case "no body":
		resp.Body = nil
	}
	return resp, nil
}

type cutReader struct{}

func (cutReader) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

// fate returns what happens to the next request of a call.
func (c *call) fate(isPost bool) (string, time.Duration) {
	if c.step == nil {
		return c.process.shop.weather(isPost), 0
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if isPost {
		c.posts++
		if c.step.Post != "" && (c.step.PostTimes == 0 || c.posts <= c.step.PostTimes) {
			return c.step.Post, c.step.Delay
		}
		return c.process.shop.weather(true), 0
	}
	c.queries++
	if c.step.Query != "" && (c.step.QueryTimes == 0 || c.queries <= c.step.QueryTimes) {
		return c.step.Query, 0
	}
	return c.process.shop.weather(false), 0
}

// carry carries a request to the gateway and an answer back.
func (w *world) carry(ctx context.Context, c *call, in *request, fate string, delay time.Duration) answer {
	if fate != "" && in.thing != nil && in.isPost {
		w.tell("the request for %s: %s", in.thing.id, fate)
	}
	deliver := func() answer { return in.gateway.serve(in) }
	lost := answer{err: syscall.ECONNRESET}
	ok := func(body string, status int) answer {
		return answer{status: status, header: http.Header{"Content-Type": {"application/json"}}, body: []byte(body)}
	}
	switch fate {
	case "lost":
		deliver()
		return lost
	case "dropped", "down":
		return lost
	case "late":
		time.AfterFunc(delay, func() {
			if !w.isOver() {
				w.tell("the late request for %s arrives", in.thing.name())
				deliver()
			}
		})
		return lost
	case "slow":
		a := deliver()
		return waitFor(ctx, delay, a)
	case "slow, then delivered":
		timer := time.NewTimer(delay)
		defer timer.Stop()
		select {
		case <-timer.C:
			return deliver()
		case <-ctx.Done(): // nobody waits any more, but it is on its way
			time.AfterFunc(delay, func() {
				if !w.isOver() {
					deliver()
				}
			})
			return answer{err: ctx.Err()}
		}
	case "twice":
		a := deliver()
		w.doubled(in)
		deliver()
		return a
	case "twice, lost":
		deliver()
		w.doubled(in)
		deliver()
		return lost
	case "twice, later":
		a := deliver()
		w.doubled(in)
		time.AfterFunc(delay, func() {
			if !w.isOver() {
				deliver()
			}
		})
		return a
	case "refused, then delivered":
		time.AfterFunc(delay, func() {
			if !w.isOver() {
				w.tell("the refused request for %s arrives", in.thing.name())
				deliver()
			}
		})
		return answer{status: 429, header: http.Header{"Retry-After": {"1"}}}
	case "another's answer": // a mixed-up one; the request is lost
		g := in.gateway
		if g.config.Echoes { // no client can know the other one's secrets
			return lost
		}
		if g.lastThing == nil || in.thing == nil || g.lastThing == in.thing || g.lastThing.isRefund() != in.thing.isRefund() {
			return lost
		}
		return g.last
	case "403":
		return answer{status: 403, header: http.Header{"Content-Type": {"text/html"}}, body: []byte("<h1>Forbidden</h1>")}
	case "429":
		return answer{status: 429, header: http.Header{"Retry-After": {"1"}}}
	case "201", "401":
		return ok(`{"code":`+fate+`,"message":"not processed"}`, 200)
	case "made, 201", "made, 401":
		deliver()
		return ok(`{"code":`+strings.TrimPrefix(fate, "made, ")+`,"message":"not processed"}`, 200)
	case "made, 403":
		deliver()
		return answer{status: 403, header: http.Header{"Content-Type": {"text/html"}}, body: []byte("<h1>Forbidden</h1>")}
	case "500":
		return answer{status: 500, header: http.Header{}}
	case "made, 502":
		deliver()
		return answer{status: 502, header: http.Header{"Content-Type": {"text/html"}}, body: []byte("<h1>Bad gateway</h1>")}
	case "made, 999":
		deliver()
		return ok(`{"code":999,"message":"system error"}`, 200)
	case "html":
		return answer{status: 200, header: http.Header{"Content-Type": {"text/html"}}, body: []byte("<h1>Maintenance</h1>")}
	case "made, empty":
		deliver()
		return answer{status: 200, header: http.Header{}}
	case "made, error with secrets":
		deliver()
		return answer{err: in.quotingError(c.step)}
	case "made, no code", "made, unlisted code", "made, other amount", "made, no id", "made, other app", "made, foreign", "made, echo", "made, no transactionId":
		a := deliver()
		a.body = in.gateway.changed(a.body, strings.TrimPrefix(fate, "made, "), in)
		return a
	case "empty page":
		in.gateway.shop.blurred = true
		return ok(`{"code":121,"message":"Search success","currPage":1,"pageSize":10,"totalCount":0,"totalPage":0,"data":[]}`, 200)
	}
	return deliver()
}

// quotingError is the error of a foreign transport that quotes the request: as it is, with other escapes, or as a value.
func (in *request) quotingError(s *Step) error {
	switch {
	case s != nil && s.Seed%3 == 1:
		return errors.New("sending with " + escaped(in.header.Get("Authorization")))
	case s != nil && s.Seed%3 == 2:
		return &holdingError{&http.Request{Method: in.method, Header: in.header}}
	}
	return fmt.Errorf("sending %s with %q: %w", in.url, in.header, errors.New(string(in.body)))
}

// escaped escapes a part of a text, as no function of the standard library does and a server may.
func escaped(text string) string { return strings.ReplaceAll(text, "Y", "%59") }

// holdingError is an error of a foreign transport that has the request. A printer that follows pointers shows its header.
type holdingError struct{ request *http.Request }

func (e *holdingError) Error() string { return "sending " + e.request.Method }

// waitFor returns an answer after a while, unless ctx ends before.
func waitFor(ctx context.Context, delay time.Duration, a answer) answer {
	timer := time.NewTimer(delay)
	defer timer.Stop()
	select {
	case <-timer.C:
		return a
	case <-ctx.Done():
		return answer{err: ctx.Err()}
	}
}

// placeOf returns a moment, shorter than a millisecond, after which a request is sent: so the requests that one call sends at the same
// time have an order that does not depend on the goroutines.
func placeOf(u *url.URL) time.Duration {
	return time.Duration(sumOf(u.RequestURI()) % uint64(time.Millisecond))
}
