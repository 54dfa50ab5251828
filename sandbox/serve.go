package sandbox

import (
	"crypto/sha256"
	"crypto/subtle"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"

	"github.com/cardgateway/cardgateway-go/sandbox/internal/codes"
	"github.com/cardgateway/cardgateway-go/sandbox/internal/console"
	"github.com/cardgateway/cardgateway-go/sandbox/internal/jsonobject"
	"github.com/cardgateway/cardgateway-go/sandbox/internal/mask"
)

// ServeHTTP serves the eight operations of the interface, the published POST /api/refund and POST /upload/trackingNumber,
// the hosted pages, and below /_sandbox/ the dashboard and the control API.
func (g *Gateway) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	g.respond(r).send(w, r)
}

// respond returns the reply to a request.
func (g *Gateway) respond(r *http.Request) reply {
	if r.Body == nil { // net/http's server always sets it, other callers may not
		r.Body = http.NoBody
	}
	if path := r.URL.Path; strings.HasPrefix(path, console.Path) || path+"/" == console.Path {
		return g.serveControl(r)
	}
	record := console.NewRequest(r)
	answer := g.dispatch(r, record)
	if g.opts.Console.RequestLog >= 0 || g.opts.Log != nil {
		g.log.AddRequest(record, answer.status, answer.code, answer.message, answer.body)
	}
	return answer
}

// dispatch finds the operation of a request and calls it. It completes the record.
func (g *Gateway) dispatch(r *http.Request, record *console.Request) reply {
	route, pathParam, ok := findRoute(r.URL.EscapedPath())
	if !ok {
		return refusalWithStatus(http.StatusNotFound, codes.NotFound, "no such path")
	}
	record.Operation = string(route.op)
	if route.op == OpTokenPayment {
		record.Path = route.path + mask.Token(pathParam)
	}
	if route.op == opPage {
		return replyOf(g.console.ServePage, r)
	}
	if r.Method != route.method {
		answer := refusalWithStatus(http.StatusMethodNotAllowed, codes.RequestFailed, "method not allowed")
		return answer.withHeader("Allow", route.method)
	}
	if isFromPage(r) { // a merchant's program is not a web page
		return refusalWithStatus(http.StatusForbidden, codes.RequestFailed, "the request comes from a page of another site")
	}
	if !g.opts.authorized(r) {
		answer := g.opts.refusal(codes.Unauthorized, "wrong merchant number or secret key")
		if answer.status == http.StatusUnauthorized {
			return answer.withHeader("WWW-Authenticate", `Basic realm="cardgateway"`)
		}
		return answer
	}
	body, status := readBody(r)
	if status != http.StatusOK {
		return refusalWithStatus(status, codes.RequestFailed, "the body could not be read, or is too large")
	}
	if g.opts.Console.RequestLog >= 0 {
		record.Request = mask.Body(body)
	}
	c := g.opts.newCall(r, route.op, pathParam, body)
	record.TransactionID = c.transactionID
	if route.method == http.MethodGet {
		g.mu.Lock()
		latency := g.opts.Search.Latency
		g.mu.Unlock()
		g.pause(latency)
	}
	return g.serveOperation(c, record)
}

// serveOperation carries out a call, with the fault that was injected for it, if any.
func (g *Gateway) serveOperation(c *call, record *console.Request) reply {
	g.lockSettled()
	c.orderPaid = g.ledger.isPaid(c.pay.orderID)
	f := g.faults.take(c)
	if f == nil {
		defer g.mu.Unlock()
		return g.execute(c)
	}
	g.mu.Unlock()
	record.Fault = f.describe()
	return g.serveFault(f, c)
}

// execute carries out a call. The caller holds g.mu.
func (g *Gateway) execute(c *call) reply {
	if len(c.problems) > 0 {
		return g.opts.refusal(codes.ParameterError, strings.Join(c.problems, "; "))
	}
	switch c.op {
	case OpSearchOrders, OpSearchRefunds:
		return g.searches.batch(c)
	case OpGetTransaction:
		return g.searches.single(c)
	case OpCreateRefund:
		return g.ledger.createRefund(c)
	case OpUploadTrackingNumbers:
		return g.ledger.uploadTrackingNumbers(c)
	}
	return g.ledger.pay(c)
}

// authorized compares digests, so that the time it takes reveals neither content nor length of the secret.
func (o *Options) authorized(r *http.Request) bool {
	if o.MerchantID == "" {
		return true
	}
	user, password, _ := r.BasicAuth()
	got := sha256.Sum256([]byte(user + "\x00" + password))
	want := sha256.Sum256([]byte(o.MerchantID + "\x00" + o.SecretKey))
	return subtle.ConstantTimeCompare(got[:], want[:]) == 1
}

// readBody reads a request body of at most maxBody bytes, or returns the HTTP status of the refusal.
func readBody(r *http.Request) (body []byte, status int) {
	body, err := io.ReadAll(io.LimitReader(r.Body, maxBody+1))
	switch {
	case err != nil:
		return nil, http.StatusBadRequest
	case len(body) > maxBody:
		return nil, http.StatusRequestEntityTooLarge
	}
	return body, http.StatusOK
}

// isFromPage reports whether a web page sends the request: one of another site, or one under a name that is not loopback's,
// which can have been resolved to this machine after the page was loaded (DNS rebinding).
func isFromPage(r *http.Request) bool {
	site := r.Header.Get("Sec-Fetch-Site")
	page := r.Header.Get("Origin") != "" || site != "" && site != "none"
	return page && !isLoopback(r.Host) || http.NewCrossOriginProtection().Check(r) != nil
}

// serveControl serves requests to the dashboard and the control API. They are not logged.
func (g *Gateway) serveControl(r *http.Request) reply {
	if g.opts.Console.Access == ControlOff {
		return refusalWithStatus(http.StatusNotFound, codes.NotFound, "no such path")
	}
	if reason := controlRefused(r, g.opts.Console.Access); reason != "" {
		o := jsonobject.New().Text("error", reason).Text("hint", "see Options.Console and docs/sandbox.md")
		return jsonReply(0, o).withStatus(http.StatusForbidden)
	}
	return replyOf(g.console.ServeHTTP, r)
}

// controlRefused returns why a request may not use the control API, or "". It checks three things: who sends it, because
// only this machine may; which host it names, because a web page can resolve a name of its own to a loopback address (DNS
// rebinding); and, for requests that change something, which page sends it (cross-site request forgery).
func controlRefused(r *http.Request, access ControlAccess) string {
	if access == ControlLoopback {
		if r.RemoteAddr != "" && !isLoopback(r.RemoteAddr) { // without an address, it comes from RoundTripper
			return "the control API accepts only requests from this machine"
		}
		if r.RemoteAddr != "" && !isLoopback(r.Host) {
			return "the control API accepts only requests that name a loopback host"
		}
		for _, header := range []string{"Forwarded", "X-Forwarded-For", "X-Real-Ip", "Via"} {
			if r.Header.Get(header) != "" {
				return "the control API does not accept requests through a proxy"
			}
		}
	}
	if err := http.NewCrossOriginProtection().Check(r); err != nil {
		return "the request comes from another site"
	}
	return ""
}

// isLoopback reports whether a host, with or without a port, is this machine.
func isLoopback(hostPort string) bool {
	host, _, err := net.SplitHostPort(hostPort)
	if err != nil {
		host = strings.Trim(hostPort, "[]")
	}
	if strings.EqualFold(host, "localhost") {
		return true
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.Unmap().IsLoopback()
}
