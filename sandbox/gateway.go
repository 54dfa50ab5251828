package sandbox

import (
	"net/http"
	"sync"
	"time"

	"github.com/cardgateway/cardgateway-go/sandbox/internal/codes"
	"github.com/cardgateway/cardgateway-go/sandbox/internal/delivery"
)

// Gateway is a card payment gateway in memory. It is an http.Handler for the gateway's own address; RoundTripper reaches it
// without a socket. It is safe for concurrent use. Create one with New.
type Gateway struct {
	notifier *delivery.Notifier
	history  *history
	started  time.Time

	controlOnce sync.Once
	control     http.Handler // serves /_sandbox/

	mu       sync.Mutex // guards everything below
	opts     Options    // only opts.Search changes after New
	ledger   ledger
	faults   []*activeFault
	injected int // faults so far
	searches int // batch searches so far

	generation int // of the ledger; Reset begins a new one

	closing chan struct{} // closed by Close
	running sync.WaitGroup
}

// New returns a gateway without any orders. It starts no goroutine. Goroutines for notifications and late commits of later
// payments end by themselves, or with Close.
func New(opts Options) *Gateway {
	g := &Gateway{opts: opts.withDefaults(), ledger: newLedger(), closing: make(chan struct{})}
	g.notifier = delivery.New(g.opts.NotificationTransport, g.opts.NotificationScale)
	g.history = newHistory(max(g.opts.RequestLog, 0), g.opts.Log)
	g.started = time.Now()
	return g
}

// Close drops pending notifications and late commits, and returns when all goroutines of the gateway have ended. The
// gateway still serves requests afterwards, but sends no notifications.
func (g *Gateway) Close() {
	g.mu.Lock()
	select {
	case <-g.closing:
	default:
		close(g.closing)
	}
	g.mu.Unlock()
	g.notifier.Close()
	g.running.Wait()
}

// pause waits for d, even if the caller no longer waits: a request that arrived is carried out all the same. It reports
// whether the time has passed; Close ends it early.
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

// later runs f after d, unless the gateway is closed or reset first. The caller holds g.mu, f is called without it.
func (g *Gateway) later(d time.Duration, f func()) {
	select {
	case <-g.closing:
		return
	default:
	}
	generation := g.generation
	g.running.Go(func() {
		if !g.pause(d) {
			return
		}
		g.mu.Lock()
		same := generation == g.generation
		g.mu.Unlock()
		if same {
			f()
		}
	})
}

// refuse returns a refusal with the HTTP status that the options require.
func (g *Gateway) refuse(code int, reason string) reply {
	return g.statusFor(code, refusal(code, reason))
}

func (g *Gateway) statusFor(code int, reply reply) reply {
	switch {
	case !g.opts.HTTPStatusFollowsCode || code < 400:
		return reply
	case code == codes.SystemError:
		return reply.withStatus(http.StatusInternalServerError)
	}
	return reply.withStatus(code)
}

// format returns the format of results in a response to a caller that reached the gateway at base.
func (g *Gateway) format(base string) resultFormat {
	f := resultFormat{
		billDescription: g.opts.BillDescription, location: g.opts.Location, base: base,
		booleanIs3D: g.opts.Is3DBoolean, refundID: "merchantRefundId",
	}
	if g.opts.RefundTransactionIDInRows {
		f.refundID = "refundTransactionId"
	}
	return f
}

// SetSearchBehavior replaces Options.Search.
func (g *Gateway) SetSearchBehavior(b SearchBehavior) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.opts.Search = b
}
