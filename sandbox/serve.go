package sandbox

import (
	"crypto/sha256"
	"crypto/subtle"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/cardgateway/cardgateway-go/sandbox/internal/codes"
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
	if isControl(r.URL.Path) {
		return g.serveControl(r)
	}
	record := newRequestRecord(r)
	reply := g.dispatch(r, record)
	if g.opts.RequestLog >= 0 || g.opts.Log != nil {
		record.finish(reply)
		g.history.addRequest(record)
	}
	return reply
}

// serveControl serves requests below /_sandbox/. They are not logged.
func (g *Gateway) serveControl(r *http.Request) reply {
	if g.opts.Control == ControlOff {
		return refusal(codes.NotFound, "no such path").withStatus(http.StatusNotFound)
	}
	if reason := controlRefused(r, g.opts.Control); reason != "" {
		o := jsonobject.New().Text("error", reason).Text("hint", "see Options.Control and docs/sandbox.md")
		return jsonReply(o.End()).withStatus(http.StatusForbidden)
	}
	g.controlOnce.Do(func() {
		mux := http.NewServeMux()
		g.addAPI(mux)
		g.addDashboard(mux)
		mux.HandleFunc("GET "+openAPIPath, serveOpenAPI)
		g.control = mux
	})
	return handle(g.control, r)
}

// dispatch finds the operation of a request and calls it. It completes the record.
func (g *Gateway) dispatch(r *http.Request, record *requestRecord) reply {
	route, pathParam, ok := findRoute(r.URL.EscapedPath())
	if !ok {
		return refusal(codes.NotFound, "no such path").withStatus(http.StatusNotFound)
	}
	record.operation = route.op
	if route.op == OpTokenPayment {
		record.path = route.path + mask.Token(pathParam)
	}
	if route.op == opPage {
		return g.servePage(r, route.path, pathParam)
	}
	if r.Method != route.method {
		reply := refusal(codes.RequestFailed, "method not allowed").withStatus(http.StatusMethodNotAllowed)
		return reply.withHeader("Allow", route.method)
	}
	if isFromPage(r) { // a merchant's program is not a web page
		return refusal(codes.RequestFailed, "the request comes from a page of another site").withStatus(http.StatusForbidden)
	}
	if !g.authorized(r) {
		reply := g.refuse(codes.Unauthorized, "wrong merchant number or secret key")
		if reply.status == http.StatusUnauthorized {
			return reply.withHeader("WWW-Authenticate", `Basic realm="cardgateway"`)
		}
		return reply
	}
	body, status := readBody(r, g.opts.MaxBody)
	if status != http.StatusOK {
		return refusal(codes.RequestFailed, "the body could not be read, or is too large").withStatus(status)
	}
	if g.opts.RequestLog >= 0 {
		record.request = mask.Body(body)
	}
	c := g.newCall(r, route.op, pathParam, body)
	record.transactionID = c.transactionID
	return g.serveOperation(c, record)
}

// isFromPage reports whether a web page sends the request: one of another site, or one under a name that is not loopback's,
// which can have been resolved to this machine after the page was loaded (DNS rebinding).
func isFromPage(r *http.Request) bool {
	site := r.Header.Get("Sec-Fetch-Site")
	page := r.Header.Get("Origin") != "" || site != "" && site != "none"
	return page && !isLoopback(r.Host) || http.NewCrossOriginProtection().Check(r) != nil
}

// authorized compares digests, so that the time it takes reveals neither content nor length of the secret.
func (g *Gateway) authorized(r *http.Request) bool {
	if g.opts.MerchantID == "" {
		return true
	}
	user, password, _ := r.BasicAuth()
	got := sha256.Sum256([]byte(user + "\x00" + password))
	want := sha256.Sum256([]byte(g.opts.MerchantID + "\x00" + g.opts.SecretKey))
	return subtle.ConstantTimeCompare(got[:], want[:]) == 1
}

// serveOperation carries out a call, and applies the fault that was injected for it, if any.
func (g *Gateway) serveOperation(c *call, record *requestRecord) reply {
	g.mu.Lock()
	g.settleDue()
	c.orderPaid = g.ledger.paidOrders[c.pay.orderID]
	f := g.takeFault(c)
	g.mu.Unlock()
	if f == nil {
		return g.execute(c)
	}
	record.fault = f.describe()
	if !g.pause(f.Before) {
		return refusal(codes.SystemError, "the gateway is closed").withStatus(http.StatusServiceUnavailable)
	}
	var reply reply
	switch f.Commit {
	case CommitNow:
		reply = g.execute(c)
	case CommitLate:
		g.mu.Lock()
		g.later(f.Late, func() { g.execute(c) })
		g.mu.Unlock()
	}
	g.pause(f.After)
	return applyFault(f, reply, c)
}

func (g *Gateway) newCall(r *http.Request, op Operation, pathParam string, body []byte) *call {
	query, malformed := url.ParseQuery(r.URL.RawQuery)
	c := &call{op: op, pathParam: pathParam, query: query, base: g.baseURL(r), url: r.URL.String()}
	switch {
	case op.column() >= 0:
		c.pay, c.problems = decodePayment(op, body, g.opts.PublishedLimits)
		c.transactionID = c.pay.transactionID
		if want := g.opts.AppID; want != "" && c.pay.appID != "" && c.pay.appID != want {
			c.problems = append(c.problems, "appId: not one of this merchant's apps")
		}
	case op == OpRefund:
		c.pay, c.problems = decodeRefund(body)
		c.transactionID = c.pay.refundRequest
	case op == OpUploadTrackingNumbers:
		c.tracking, c.problems = decodeTracking(body)
	default:
		c.transactionID = c.query.Get("transactionId")
		if malformed != nil { // ParseQuery may have left out the filter
			c.problems = append(c.problems, "query: malformed")
		}
	}
	return c
}

func (g *Gateway) baseURL(r *http.Request) string {
	if g.opts.BaseURL != "" {
		return g.opts.BaseURL
	}
	host, scheme := r.Host, "http"
	if host == "" {
		host = r.URL.Host
	}
	if r.TLS != nil || r.URL.Scheme == "https" {
		scheme = "https"
	}
	return scheme + "://" + host
}

// execute carries out a call.
func (g *Gateway) execute(c *call) reply {
	if len(c.problems) > 0 {
		return g.refuse(codes.ParameterError, strings.Join(c.problems, "; "))
	}
	switch c.op {
	case OpSearchOrders, OpSearchRefunds:
		return g.search(c)
	case OpGetOrder:
		return g.getOrder(c)
	case OpRefund:
		return g.createRefund(c)
	case OpUploadTrackingNumbers:
		return g.uploadTrackingNumbers(c)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.settleDue()
	reply := g.pay(c)
	g.settleDue() // if SettleAfter is zero
	return reply
}

// readBody reads a request body of at most limit bytes, or returns the HTTP status of the refusal.
func readBody(r *http.Request, limit int64) (body []byte, status int) {
	body, err := io.ReadAll(io.LimitReader(r.Body, limit+1))
	switch {
	case err != nil:
		return nil, http.StatusBadRequest
	case int64(len(body)) > limit:
		return nil, http.StatusRequestEntityTooLarge
	}
	return body, http.StatusOK
}
