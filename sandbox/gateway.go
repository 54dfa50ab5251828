package sandbox

import (
	"crypto/sha256"
	"crypto/subtle"
	"net/http"
	"sync"
	"time"
)

// Gateway is a card payment gateway in memory. It is an http.Handler for the gateway's own address; RoundTripper
// reaches it without a socket. It is safe for concurrent use. Make one with New.
type Gateway struct {
	notes *notifier

	mu       sync.Mutex // guards everything below
	opts     Options    // only opts.Search changes after New
	ledger   ledger
	faults   []*activeFault
	injected int // faults so far
	searches int // batch searches so far

	closing chan struct{} // closed by Close
	running sync.WaitGroup
}

// New returns a gateway without any orders. It starts no goroutine; what later payments start (notifications,
// late commits) ends by itself, or with Close.
func New(opts Options) *Gateway {
	g := &Gateway{opts: opts.withDefaults(), ledger: newLedger(), closing: make(chan struct{})}
	g.notes = newNotifier(g.opts.NotificationTransport, g.opts.NotificationScale)
	return g
}

// Close gives up what is still waiting to happen, notifications and late commits, and returns when nothing of
// the gateway runs any more. The gateway still answers afterwards, but notifies nobody.
func (g *Gateway) Close() {
	g.mu.Lock()
	select {
	case <-g.closing:
	default:
		close(g.closing)
	}
	g.mu.Unlock()
	g.notes.close()
	g.running.Wait()
}

// ServeHTTP answers the eight operations, the hosted pages, and POST /api/refund.
func (g *Gateway) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	g.answer(r).send(w, r)
}

// answer is the whole gateway: one request in, one reply out.
func (g *Gateway) answer(r *http.Request) reply {
	route, arg, ok := findRoute(r.URL.EscapedPath())
	if !ok {
		return refusal(codeNotFound, "no such path").withStatus(http.StatusNotFound)
	}
	if route.op == opPage {
		return g.servePage(r, route.path, arg)
	}
	if r.Method != route.method {
		rep := refusal(codeRequestFailed, "method not allowed").withStatus(http.StatusMethodNotAllowed)
		return rep.withHeader("Allow", route.method)
	}
	if !g.authorized(r) {
		rep := g.refuse(codeUnauthorized, "wrong merchant number or secret key")
		if rep.status == http.StatusUnauthorized {
			return rep.withHeader("WWW-Authenticate", `Basic realm="cardgateway"`)
		}
		return rep
	}
	body, status := readBody(r, g.opts.MaxBody)
	if status != http.StatusOK {
		return refusal(codeRequestFailed, "the body could not be read, or is too large").withStatus(status)
	}
	return g.serveOperation(g.newCall(r, route.op, arg, body))
}

// authorized compares digests, so that neither content nor length of the secret shows in the time it takes.
func (g *Gateway) authorized(r *http.Request) bool {
	if g.opts.MerchantID == "" {
		return true
	}
	user, password, _ := r.BasicAuth()
	got := sha256.Sum256([]byte(user + "\x00" + password))
	want := sha256.Sum256([]byte(g.opts.MerchantID + "\x00" + g.opts.SecretKey))
	return subtle.ConstantTimeCompare(got[:], want[:]) == 1
}

// serveOperation carries a call out and lets a fault, if one was injected for it, come between.
func (g *Gateway) serveOperation(c *call) reply {
	g.mu.Lock()
	g.settleDue()
	c.orderPaid = g.ledger.paidOrders[c.pay.orderID]
	f := g.takeFault(c)
	g.mu.Unlock()
	if f == nil {
		return g.execute(c)
	}
	if !g.pause(f.Before) {
		return refusal(codeSystemError, "the gateway is closed").withStatus(http.StatusServiceUnavailable)
	}
	var rep reply
	switch f.Commit {
	case CommitNow:
		rep = g.execute(c)
	case CommitLate:
		g.mu.Lock()
		g.later(f.Late, func() { g.execute(c) })
		g.mu.Unlock()
	}
	g.pause(f.After)
	return f.disturb(rep, c)
}

// pause waits, whether or not the caller still does: a request that arrived is carried out all the same. It reports
// whether the time has passed; the end of the gateway ends it too.
func (g *Gateway) pause(d time.Duration) bool {
	if d <= 0 {
		return true
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-g.closing:
		return false
	}
}

// later runs f after d, unless the gateway is closed before. The caller holds g.mu, f must not.
func (g *Gateway) later(d time.Duration, f func()) {
	select {
	case <-g.closing:
		return
	default:
	}
	g.running.Go(func() {
		if g.pause(d) {
			f()
		}
	})
}

// Executed returns how many times money was moved for a transactionId: 0 for a declined, open or unknown
// transaction, 1 for a charged one, and more only where Options.Duplicates lets a payment be repeated. Creating a
// token moves no money here.
func (g *Gateway) Executed(transactionID string) int {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.settleDue()
	return g.ledger.executed[transactionID]
}
