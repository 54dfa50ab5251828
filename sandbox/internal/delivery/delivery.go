// Package delivery sends notifications to merchants: each at its time, a bounded number of them concurrently, with the
// published repetitions of notifications that were not accepted. It handles URLs and bodies, and knows
// nothing of payments.
package delivery

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"
)

// Notifier delivers notifications. It has goroutines only for what is due. It is safe for concurrent use. Create one with New.
type Notifier struct {
	client   *http.Client
	anywhere bool // also to host names reserved for examples
	scale    float64

	ctx    context.Context // ends with Close
	cancel context.CancelFunc
	group  sync.WaitGroup // workers, and timers of what is waiting

	mu         sync.Mutex
	waiting    map[*queued]*time.Timer // for the time of the next attempt
	due        []*queued               // in the order in which they became due
	workers    int                     // at most maxDeliveries
	pending    int                     // waiting, due or in flight
	idle       chan struct{}           // closed while pending is zero
	generation int                     // Drop begins a new one
}

// Message is one notification.
type Message struct {
	URL   string
	Body  []byte        // JSON
	Delay time.Duration // before the first attempt

	// Report, if not nil, is called after every attempt. It is called without a lock held, from any goroutine, and must not
	// block.
	Report func(Attempt)
}

// Attempt is one delivery of a notification.
type Attempt struct {
	At     time.Time
	Took   time.Duration
	Status int       // of the merchant's response; zero if there was none
	Body   string    // the first MaxKept bytes of the merchant's response
	Err    error     // why there was no response
	Next   time.Time // of the next attempt; zero if there is none
}

// Accepted reports whether the merchant accepted the notification, which means HTTP status 200.
func (a Attempt) Accepted() bool { return a.Status == http.StatusOK }

// MaxKept is how many bytes of a merchant's response are kept.
const MaxKept = 2 << 10

// ErrReserved is the error of a notification to a reserved host name, which is not sent.
var ErrReserved = errors.New("not sent: the host name is reserved for examples, so there cannot be a server")

// queued is a notification that has not been accepted yet.
type queued struct {
	Message
	failures     int
	firstFailure time.Time
	generation   int // of the Notifier when it was added
}

func (q *queued) report(a Attempt) {
	if q.Report != nil {
		q.Report(a)
	}
}

const (
	maxDeliveries   = 8
	deliveryTimeout = 10 * time.Second
)

// repeats returns the published times of the repetitions, each counted from the first failure.
func repeats() [4]time.Duration {
	return [4]time.Duration{5 * time.Second, 5 * time.Minute, 15 * time.Minute, 30 * time.Minute}
}

// New returns a Notifier that sends through transport, and multiplies the pauses between repetitions by scale. If transport
// is nil, it sends to any host except the reserved names example.com, example.net, example.org, .example, .test and
// .invalid, where there cannot be a server.
func New(transport http.RoundTripper, scale float64) *Notifier {
	n := &Notifier{anywhere: transport != nil, scale: scale, waiting: make(map[*queued]*time.Timer)}
	if transport == nil {
		// Without keep-alives no goroutine remains between deliveries.
		transport = &http.Transport{DisableKeepAlives: true, TLSHandshakeTimeout: deliveryTimeout}
	}
	n.client = &http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	n.ctx, n.cancel = context.WithCancel(context.Background())
	n.idle = make(chan struct{})
	close(n.idle)
	return n
}

// Add queues a notification. It does nothing once the Notifier is closed.
func (n *Notifier) Add(m Message) {
	d := &queued{Message: m}
	if !n.anywhere && reserved(m.URL) {
		d.report(Attempt{At: time.Now(), Err: ErrReserved})
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.ctx.Err() != nil {
		return
	}
	if n.pending == 0 {
		n.idle = make(chan struct{})
	}
	n.pending++
	d.generation = n.generation
	n.schedule(d, m.Delay)
}

// schedule makes the next attempt after a while. The caller holds n.mu.
func (n *Notifier) schedule(d *queued, after time.Duration) {
	if after <= 0 {
		n.deliver(d)
		return
	}
	n.group.Add(1)
	n.waiting[d] = time.AfterFunc(after, func() {
		defer n.group.Done()
		n.mu.Lock()
		defer n.mu.Unlock()
		if _, ok := n.waiting[d]; ok { // it was not dropped meanwhile
			delete(n.waiting, d)
			n.deliver(d)
		}
	})
}

// deliver makes an attempt as soon as a worker is free. The caller holds n.mu.
func (n *Notifier) deliver(d *queued) {
	n.due = append(n.due, d)
	if n.workers < maxDeliveries {
		n.workers++
		n.group.Go(n.work)
	}
}

// work makes attempts until nothing is due.
func (n *Notifier) work() {
	for {
		n.mu.Lock()
		if len(n.due) == 0 {
			n.workers--
			n.mu.Unlock()
			return
		}
		d := n.due[0]
		n.due[0] = nil // releases it
		n.due = n.due[1:]
		n.mu.Unlock()
		n.conclude(d, n.post(d))
	}
}

// unschedule removes everything that is waiting or due, and returns how many there were. The caller holds n.mu.
func (n *Notifier) unschedule() (count int) {
	for _, t := range n.waiting {
		if t.Stop() {
			n.group.Done()
		}
	}
	count = len(n.waiting) + len(n.due)
	clear(n.waiting)
	n.due = nil
	return count
}

// end counts notifications that are no longer pending. The caller holds n.mu.
func (n *Notifier) end(count int) {
	n.pending -= count
	if n.pending == 0 && count > 0 {
		close(n.idle)
	}
}

// Drop removes everything that is waiting or due. Attempts that have begun continue, and are not repeated.
func (n *Notifier) Drop() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.generation++
	n.end(n.unschedule())
}

// reserved reports whether the host name of a URL is reserved for examples.
func reserved(to string) bool {
	u, err := url.Parse(to)
	if err != nil {
		return true
	}
	host := "." + strings.TrimSuffix(u.Hostname(), ".")
	for _, suffix := range []string{".example", ".test", ".invalid", ".example.com", ".example.net", ".example.org"} {
		if strings.HasSuffix(host, suffix) {
			return true
		}
	}
	return false
}

// post makes one attempt.
func (n *Notifier) post(d *queued) Attempt {
	a := Attempt{At: time.Now()}
	a.Status, a.Body, a.Err = n.exchange(d)
	a.Took = time.Since(a.At)
	return a
}

func (n *Notifier) exchange(d *queued) (status int, text string, err error) {
	ctx, cancel := context.WithTimeout(n.ctx, deliveryTimeout)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, d.URL, bytes.NewReader(d.Body))
	if err != nil {
		return 0, "", withoutURL(err)
	}
	r.Header.Set("Content-Type", "application/json")
	resp, err := n.client.Do(r)
	if err != nil {
		return 0, "", withoutURL(err)
	}
	defer resp.Body.Close()
	kept, _ := io.ReadAll(io.LimitReader(resp.Body, MaxKept))
	_, _ = io.CopyN(io.Discard, resp.Body, 64<<10) // so that the merchant can finish its response
	return resp.StatusCode, string(kept), nil
}

// withoutURL removes the URL from an error, because its query may be the only protection of a token.
func withoutURL(err error) error {
	if failed, ok := errors.AsType[*url.Error](err); ok {
		return failed.Err
	}
	return err
}

// conclude ends an attempt. A failed one is repeated, until there have been five.
func (n *Notifier) conclude(d *queued, a Attempt) {
	n.mu.Lock()
	waits := repeats()
	again := !a.Accepted() && d.failures < len(waits) && n.ctx.Err() == nil && d.generation == n.generation
	if again {
		if d.failures == 0 {
			d.firstFailure = time.Now()
		}
		a.Next = d.firstFailure.Add(time.Duration(n.scale * float64(waits[d.failures])))
		d.failures++
	}
	n.mu.Unlock()
	d.report(a) // while the notification is still pending, so that Flush also waits for the report
	n.mu.Lock()
	defer n.mu.Unlock()
	if again && d.generation == n.generation && n.ctx.Err() == nil {
		n.schedule(d, time.Until(a.Next))
		return
	}
	n.end(1)
}

// Flush waits until every notification has been accepted or given up.
func (n *Notifier) Flush(ctx context.Context) error {
	n.mu.Lock()
	idle, none := n.idle, n.pending == 0
	n.mu.Unlock()
	if none { // also if ctx has ended, or the Notifier is closed
		return nil
	}
	select {
	case <-idle:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-n.ctx.Done():
		return context.Canceled
	}
}

// Close drops everything that is waiting or due, and returns when all goroutines of the Notifier have ended.
func (n *Notifier) Close() {
	n.mu.Lock()
	n.cancel()
	n.unschedule() // what was waiting remains pending: Flush does not report that it ended
	n.mu.Unlock()
	n.group.Wait()
	n.client.CloseIdleConnections()
}
