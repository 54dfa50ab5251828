package sandbox

import (
	"sync"
	"time"

	"github.com/cardgateway/cardgateway-go/sandbox/internal/console"
	"github.com/cardgateway/cardgateway-go/sandbox/internal/delivery"
)

// Gateway is a card payment gateway in memory. It is an http.Handler for the gateway's own address; RoundTripper reaches it
// without a socket. It is safe for concurrent use. Create one with New.
//
// Where a method takes the id of a payment, that is its uniqueId, or its transactionId, which means the newest payment with it.
// The error of a method says why nothing was done: there is no such payment, or its state does not allow it. The control API
// and the buttons of the dashboard take the same ids, do the same, and refuse the same.
type Gateway struct {
	opts     Options // as New got them, with defaults; mu guards Search
	notifier *delivery.Notifier
	log      *console.Log
	console  *console.Console
	started  time.Time

	mu         sync.Mutex // guards everything below
	ledger     ledger
	searches   searches
	faults     faults
	generation int // of the ledger; Reset begins a new one

	closing chan struct{} // closed by Close
	running sync.WaitGroup
}

// New returns a gateway without any orders. It starts no goroutine. Goroutines for notifications and late commits of later
// payments end by themselves, or with Close.
func New(opts Options) *Gateway {
	g := &Gateway{opts: opts.withDefaults(), started: time.Now(), closing: make(chan struct{})}
	g.notifier = delivery.New(g.opts.Notifications.Transport, g.opts.Notifications.Scale)
	g.log = console.NewLog(g.opts.Console.RequestLog, g.opts.Log, g.notifier)
	g.console = newConsole(g)
	g.ledger = newLedger(&g.opts, &notices{opts: &g.opts, log: g.log}, g.settleAfter)
	g.searches = searches{Search: &g.opts.Search, opts: &g.opts, ledger: &g.ledger}
	g.faults.seed = g.opts.Seed
	return g
}

// lockSettled locks g.mu and settles what is due. The caller unlocks it.
func (g *Gateway) lockSettled() {
	g.mu.Lock()
	g.ledger.settleDue()
}

// settleAfter settles what is due in that time. The caller holds g.mu.
func (g *Gateway) settleAfter(d time.Duration) {
	g.later(d, g.ledger.settleDue)
}

// later runs f after d, unless the gateway is closed or reset first. The caller holds g.mu, and f is called with it.
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
		defer g.mu.Unlock()
		if generation == g.generation {
			f()
		}
	})
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

// SetSearch replaces Options.Search.
func (g *Gateway) SetSearch(s Search) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.opts.Search = s
}

// Reset removes all orders, refunds, tokens, faults, requests and notifications, including notifications and late commits
// that are still pending. The options remain, including those set by SetSearch. The uniqueIds of payments are not reused;
// those of seeded rows begin again.
func (g *Gateway) Reset() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.ledger.reset()
	g.faults.list, g.searches.count = nil, 0
	g.generation++
	g.notifier.Drop()
	g.log.Reset()
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
