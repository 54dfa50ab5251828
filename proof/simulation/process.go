package simulation

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/journal"
)

// process is one run of a merchant's program. It reaches the outside only through its store and its RoundTripper. Once it
// is killed, each of its goroutines ends at its next contact with the outside; what it knew is gone.
type process struct {
	w        *world
	shop     *shop
	number   int
	settings Settings
	client   *cardgateway.Client
	journal  *journal.Journal
	store    *contacts // its journal's
	ctx      context.Context
	cancel   context.CancelFunc
	program  *call        // contacts that belong to no call of the merchant
	observed atomic.Int64 // calls that Observe has seen begin and not end
	dead     atomic.Bool

	stopRun context.CancelFunc // of Run; nil if it does not run
	ran     chan struct{}
	replica processReplica
}

func (p *process) name() string { return fmt.Sprintf("%s process %d", p.shop.name, p.number) }

func (p *process) isDead() bool { return p.dead.Load() }

// endIfDead ends the goroutine if the process is dead.
func (p *process) endIfDead() {
	if p.isDead() {
		runtime.Goexit()
	}
}

// start starts a process with these settings.
func (w *world) start(s *shop, number int, settings Settings) {
	p := &process{w: w, shop: s, number: number, settings: settings}
	p.ctx, p.cancel = context.WithCancel(context.Background())
	p.program = &call{process: p, step: &Step{}}
	p.store = w.medium.open(p)
	config := cardgateway.Config{
		BaseURL: cmp.Or(settings.BaseURL, s.base()), AppID: s.appID(), AnyAppID: s.config.Gateway.StatesApp != "",
		HTTPClient: &http.Client{Transport: p}, Authenticate: cardgateway.BasicAuth("merchant", secretKey), Location: s.gateway.location,
		Retry: cardgateway.RetryPolicy{MaxAttempts: settings.MaxAttempts}, HostedPageLifetime: settings.HostedPageLifetime, Logger: w.logger,
	}
	p.hook(&config)
	p.client = must(cardgateway.New(config))
	if got, want := p.client.HostedPageLifetime(), settings.hostedPageLifetime(); got != want {
		w.violate("a client has its settings", "the hosted page of %s lives %v, want %v", p.name(), got, want)
	}
	opts := journal.Options{
		AbsentAfter: settings.AbsentAfter, Wait: settings.Wait,
		Parallel: max(settings.Parallel, 1), WaitElsewhere: settings.WaitElsewhere, Gateway: settings.Gateway, Logger: w.logger,
	}
	var store journal.Store = p.store
	if s.config.Replicas {
		store = leasedStore{p.store, p}
	}
	p.journal = journal.New(p.client, store, opts)
	s.processes[number], s.settings = p, append(s.settings, settings)
}

// kill ends a process at once.
func (p *process) kill() {
	if p.dead.CompareAndSwap(false, true) {
		p.w.tell("%s is killed", p.name())
		p.runEnded()
		p.cancel()
		p.store.close()
	}
}

// stop ends a process in good order.
func (p *process) stop() {
	if p.isDead() {
		return
	}
	p.stopRunning()
	p.client.CloseIdleConnections()
	p.store.close()
	p.dead.Store(true)
	p.cancel()
}

// call is one call of the library by a merchant, with what disturbs it.
type call struct {
	process *process
	step    *Step // an empty one for the program's own

	mu          sync.Mutex
	contacts    int
	stored      int // calls of the store
	posts       int
	queries     int
	answered    int             // of the queries, those that were searches and were carried out
	whole       int             // complete requests that moved or could move money
	endsByError bool            // once the process is killed, its requests fail: their goroutine is waited for
	reported    int             // attempts that ObserveAttempt called sent
	saw         []*thing        // that the gateway has shown
	sawTwice    []*thing        // with two successes
	again       resubmission    // what the merchant accepts
	troubled    bool            // the store failed, or the call did not see everything
	sent        map[*thing]bool // what a complete request was sent for
}

type resubmission int

const (
	normally resubmission = iota
	afterRefusal
	riskingTwice
)

type callKey struct{}

// context returns the context of a call.
func (c *call) context() (context.Context, context.CancelFunc) {
	ctx := context.WithValue(c.process.ctx, callKey{}, c)
	if c.step.Timeout > 0 {
		return context.WithTimeout(ctx, c.step.Timeout)
	}
	return context.WithCancel(ctx)
}

// callOf returns the call to which a context belongs.
func (p *process) callOf(ctx context.Context) *call {
	if c, ok := ctx.Value(callKey{}).(*call); ok {
		return c
	}
	return p.program
}

// maxContacts is more than any call needs: a call that has more goes round in circles.
const maxContacts = 20_000

// contact is called before each contact with the outside. Its goroutine can be parked there.
func (c *call) contact(what string) {
	p := c.process
	if c.mayDie(); p.isDead() {
		return
	}
	p.w.scheduler.park(p.name() + " " + what)
	if p.isDead() {
		c.exit()
	}
}

// mayDie is called before and after each contact with the outside. The process can be killed there.
func (c *call) mayDie() {
	p := c.process
	c.mu.Lock()
	c.contacts++
	n := c.contacts
	c.mu.Unlock()
	if n == c.step.DieAt {
		p.kill()
	}
	if p.isDead() {
		c.exit()
		return
	}
	if n == maxContacts && c != p.program {
		p.w.violate("a call ends", "a call of %s contacts the store or the gateway %d times", p.name(), n)
		p.kill()
		c.exit()
	}
}

// exit ends a goroutine of a killed process. A goroutine that another one waits for gets an error instead: see
// endsByError.
func (c *call) exit() {
	if !c.endsByError {
		runtime.Goexit()
	}
}

// startRun runs Journal.Run in the background, as the step says: at its Delay.
func (p *process) startRun(s *Step) {
	if p.stopRun != nil {
		return
	}
	p.w.tell("%s starts Run", p.name())
	c := &call{process: p, step: &Step{}}
	ctx, cancel := context.WithCancel(context.WithValue(p.ctx, callKey{}, c))
	if p.shop.config.Replicas {
		ctx, cancel = context.WithTimeout(ctx, maxLeasedRun) // it ends with p.ctx, too
	}
	p.w.mu.Lock()
	p.replica.runs, p.replica.runSince, p.replica.every = true, time.Now(), cmp.Or(s.Delay, 5*time.Second)
	p.w.mu.Unlock()
	p.stopRun, p.ran = cancel, make(chan struct{})
	p.program = c
	p.w.scheduler.begin()
	ran := p.ran
	go func() {
		defer close(ran)
		defer p.w.scheduler.end()
		p.w.scheduler.park(p.name() + " Run")
		_ = p.journal.Run(ctx, s.Delay, func(ctx context.Context, e journal.Entry) error { return p.toldByRun(ctx, s, &e) })
		p.runEnded()
	}()
}

// runEnded remembers when Run has ended.
func (p *process) runEnded() {
	p.w.mu.Lock()
	defer p.w.mu.Unlock()
	if p.replica.runs {
		p.replica.runs, p.replica.ended = false, time.Now()
	}
}

// stopRunning ends Run and waits for it.
func (p *process) stopRunning() {
	if p.stopRun == nil {
		return
	}
	p.stopRun()
	p.stopRun = nil
	p.runEnded()
	p.w.scheduler.until(func() bool {
		select {
		case <-p.ran:
			return true
		default:
			return false
		}
	}, nil)
}

// logged receives the log of every process, at debug level.
type logged struct{ w *world }

func (l logged) Write(b []byte) (int, error) {
	l.w.searchSecrets("the log", b)
	return len(b), nil
}

func (w *world) newLogger() *slog.Logger {
	return slog.New(slog.NewTextHandler(logged{w}, &slog.HandlerOptions{Level: slog.LevelDebug}))
}
