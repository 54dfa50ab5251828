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
	"testing/iotest"
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
	c.contact(r.Method + " " + r.URL.RequestURI())
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
	c.mayDie()
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
		resp.Body = io.NopCloser(io.MultiReader(bytes.NewReader(a.body[:len(a.body)/2]), iotest.ErrReader(io.ErrUnexpectedEOF)))
	case "no body":
		resp.Body = nil
	}
	return resp, nil
}

// fate returns what happens to the next request of a call.
func (c *call) fate(isPost bool) (string, time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if isPost {
		c.posts++
		if c.step.Post != "" && (c.step.PostTimes == 0 || c.posts <= c.step.PostTimes) {
			return c.step.Post, c.step.Delay
		}
		return c.process.shop.post, 0
	}
	c.queries++
	if c.step.Query != "" && (c.step.QueryTimes == 0 || c.queries <= c.step.QueryTimes) {
		return c.step.Query, 0
	}
	return c.process.shop.query, 0
}

// carry carries a request to the gateway and an answer back. With a fate that begins with "made" the gateway does what it is
// asked to, and something else comes back.
func (w *world) carry(ctx context.Context, c *call, in *request, fate string, delay time.Duration) answer {
	if fate != "" && in.thing != nil && in.isPost {
		w.tell("the request for %s: %s", in.thing.id, fate)
	}
	deliver := func() answer { return in.gateway.serve(in) }
	deliverLater := func() {
		time.AfterFunc(delay, func() {
			if !w.isOver() {
				w.tell("the late request for %s arrives", in.thing.name())
				deliver()
			}
		})
	}
	lost, refused := answer{err: syscall.ECONNRESET}, answer{status: 429, header: http.Header{"Retry-After": {"1"}}}
	answered, isMade := strings.CutPrefix(fate, "made, ")
	var a answer
	if isMade {
		a = deliver()
	}
	switch answered {
	case "lost":
		deliver()
		return lost
	case "dropped", "down":
		return lost
	case "late":
		deliverLater()
		return lost
	case "slow":
		if a = deliver(); !wait(ctx, delay) {
			return answer{err: ctx.Err()}
		}
		return a
	case "slow, then delivered":
		if wait(ctx, delay) {
			return deliver()
		}
		deliverLater() // nobody waits any more, but it is on its way
		return answer{err: ctx.Err()}
	case "twice", "twice, lost":
		a = deliver()
		w.doubled(in)
		deliver()
		if answered == "twice, lost" {
			return lost
		}
		return a
	case "twice, later":
		w.doubled(in)
		deliverLater()
		return deliver()
	case "refused, then delivered":
		deliverLater()
		return refused
	case "another's answer": // a mixed-up one; the request is lost
		g := in.gateway
		if g.config.Echoes { // no client can know the other one's secrets
			return lost
		}
		if g.lastThing == nil || in.thing == nil || g.lastThing == in.thing || g.lastThing.isRefund() != in.thing.isRefund() {
			return lost
		}
		return g.last
	case "201", "401":
		return jsonAnswer(`{"code":` + answered + `,"message":"not processed"}`)
	case "403":
		return pageAnswer(403, "Forbidden")
	case "429":
		return refused
	case "500":
		return answer{status: 500, header: http.Header{}}
	case "502":
		return pageAnswer(502, "Bad gateway")
	case "999":
		return jsonAnswer(`{"code":999,"message":"system error"}`)
	case "html":
		return pageAnswer(200, "Maintenance")
	case "empty":
		return answer{status: 200, header: http.Header{}}
	case "error with secrets":
		return answer{err: in.quotingError(c.step)}
	case "no code", "unlisted code", "other amount", "no id", "other app", "foreign", "echo", "no transactionId":
		a.body = in.gateway.changed(a.body, answered, in)
		return a
	}
	return deliver()
}

func jsonAnswer(body string) answer {
	return answer{status: 200, header: http.Header{"Content-Type": {"application/json"}}, body: []byte(body)}
}

func pageAnswer(status int, title string) answer {
	return answer{status: status, header: http.Header{"Content-Type": {"text/html"}}, body: []byte("<h1>" + title + "</h1>")}
}

// quotingError is the error of a foreign transport that quotes the request: as it is, with other escapes, or as a value.
func (in *request) quotingError(s *Step) error {
	switch s.Seed % 3 {
	case 1:
		return errors.New("sending with " + escaped(in.header.Get("Authorization")))
	case 2:
		return &holdingError{&http.Request{Method: in.method, Header: in.header}}
	}
	return fmt.Errorf("sending %s with %q: %w", in.url, in.header, errors.New(string(in.body)))
}

// escaped escapes a part of a text, as no function of the standard library does and a server may.
func escaped(text string) string { return strings.ReplaceAll(text, "Y", "%59") }

// holdingError is an error of a foreign transport that has the request. A printer that follows pointers shows its header.
type holdingError struct{ request *http.Request }

func (e *holdingError) Error() string { return "sending " + e.request.Method }

// wait lets time pass, and reports false if ctx ends before.
func wait(ctx context.Context, length time.Duration) bool {
	timer := time.NewTimer(length)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// placeOf returns a moment, shorter than a millisecond, after which a request is sent: so the requests that one call sends at the same
// time have an order that does not depend on the goroutines.
func placeOf(u *url.URL) time.Duration {
	return time.Duration(sumOf(u.RequestURI()) % uint64(time.Millisecond))
}
