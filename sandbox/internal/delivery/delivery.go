// Package delivery sends notifications to merchants: a queue ordered by due time, a bounded number of concurrent
// deliveries, and the published repetitions of notifications that were not accepted. It handles URLs and bodies, and knows
// nothing of payments.
package delivery

import (
	"bytes"
	"container/heap"
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"
)

// Notifier delivers notifications. It has goroutines only while something is waiting to be delivered. It is safe for
// concurrent use. Create one with New.
type Notifier struct {
	client   *http.Client
	anywhere bool // also to host names reserved for examples
	scale    float64

	ctx    context.Context // ends with Close
	cancel context.CancelFunc
	wake   chan struct{} // tells the dispatcher that the queue has changed
	slots  chan struct{} // bounds the deliveries in flight
	group  sync.WaitGroup

	mu      sync.Mutex
	queue   byTime
	pending int           // queued or in flight
	idle    chan struct{} // closed while pending is zero
	started bool          // a dispatcher is running

	generation int // of the queue; Drop begins a new one
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
	at           time.Time // of the next attempt
	failures     int
	firstFailure time.Time
	generation   int // of the queue that it belongs to
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
	n := &Notifier{anywhere: transport != nil, scale: scale}
	if transport == nil {
		// Without keep-alives no goroutine remains between deliveries.
		transport = &http.Transport{DisableKeepAlives: true, TLSHandshakeTimeout: deliveryTimeout}
	}
	n.client = &http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	n.ctx, n.cancel = context.WithCancel(context.Background())
	n.wake = make(chan struct{}, 1)
	n.slots = make(chan struct{}, maxDeliveries)
	n.idle = make(chan struct{})
	close(n.idle)
	return n
}

// Add queues a notification. It does nothing once the Notifier is closed.
func (n *Notifier) Add(m Message) {
	d := &queued{Message: m, at: time.Now().Add(m.Delay)}
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
	n.push(d)
	if !n.started {
		n.started = true
		n.group.Go(n.dispatch)
	}
}

// Drop removes everything from the queue. Attempts that have begun continue, and are not repeated.
func (n *Notifier) Drop() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.generation++
	if len(n.queue) == 0 {
		return
	}
	n.pending -= len(n.queue)
	n.queue = nil
	if n.pending == 0 {
		close(n.idle)
	}
	n.signal()
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

// push puts d into the queue and wakes the dispatcher. The caller holds n.mu.
func (n *Notifier) push(d *queued) {
	heap.Push(&n.queue, d)
	n.signal()
}

func (n *Notifier) signal() {
	select {
	case n.wake <- struct{}{}:
	default: // a signal is already pending
	}
}

// dispatch starts each delivery when it is due, and returns when there are none left.
func (n *Notifier) dispatch() {
	for {
		d, wait, done := n.next()
		switch {
		case done:
			return
		case d == nil:
			n.sleep(wait)
			continue
		}
		select {
		case n.slots <- struct{}{}:
			n.group.Go(func() {
				defer func() { <-n.slots }()
				n.conclude(d, n.post(d))
			})
		case <-n.ctx.Done():
			return
		}
	}
}

// next returns the delivery that is due, or how long to sleep; zero means until the next signal.
func (n *Notifier) next() (d *queued, wait time.Duration, done bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.pending == 0 || n.ctx.Err() != nil {
		n.started = false
		return nil, 0, true
	}
	if len(n.queue) == 0 {
		return nil, 0, false
	}
	if wait := time.Until(n.queue[0].at); wait > 0 {
		return nil, wait, false
	}
	return heap.Pop(&n.queue).(*queued), 0, false
}

func (n *Notifier) sleep(wait time.Duration) {
	var due <-chan time.Time
	if wait > 0 {
		t := time.NewTimer(wait)
		defer t.Stop()
		due = t.C
	}
	select {
	case <-due:
	case <-n.wake:
	case <-n.ctx.Done():
	}
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

// conclude ends an attempt. It queues a failed delivery again, until it has failed five times.
func (n *Notifier) conclude(d *queued, a Attempt) {
	n.mu.Lock()
	waits := repeats()
	again := !a.Accepted() && d.failures < len(waits) && n.ctx.Err() == nil && d.generation == n.generation
	if again {
		if d.failures == 0 {
			d.firstFailure = time.Now()
		}
		d.at = d.firstFailure.Add(time.Duration(n.scale * float64(waits[d.failures])))
		d.failures++
		a.Next = d.at
	}
	n.mu.Unlock()
	d.report(a) // while the notification is still pending, so that Flush also waits for the report
	n.mu.Lock()
	defer n.mu.Unlock()
	if again && d.generation == n.generation {
		n.push(d)
		return
	}
	if n.pending--; n.pending == 0 {
		close(n.idle)
	}
	n.signal()
}

// Flush waits until every notification has been accepted or given up.
func (n *Notifier) Flush(ctx context.Context) error {
	n.mu.Lock()
	idle := n.idle
	n.mu.Unlock()
	select {
	case <-idle:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-n.ctx.Done():
		return context.Canceled
	}
}

// Close drops everything in the queue and returns when all goroutines of the Notifier have ended.
func (n *Notifier) Close() {
	n.mu.Lock()
	n.cancel()
	n.mu.Unlock()
	n.group.Wait()
	n.client.CloseIdleConnections()
}

// byTime is a heap ordered by due time.
type byTime []*queued

func (q byTime) Len() int           { return len(q) }
func (q byTime) Less(i, j int) bool { return q[i].at.Before(q[j].at) }
func (q byTime) Swap(i, j int)      { q[i], q[j] = q[j], q[i] }
func (q *byTime) Push(x any)        { *q = append(*q, x.(*queued)) }

func (q *byTime) Pop() any {
	last := len(*q) - 1
	d := (*q)[last]
	*q = (*q)[:last]
	return d
}
