// Package delivery sends notifications to merchants: a queue by due time, a bounded number of deliveries at once, and
// the published repeats of what was not accepted. It knows URLs and bodies, and nothing of payments.
package delivery

import (
	"bytes"
	"container/heap"
	"context"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"
)

// Notifier delivers notifications. Its goroutines exist only while something is waiting to be delivered. It is safe for
// concurrent use. Make one with New.
type Notifier struct {
	client   *http.Client
	anywhere bool // also to host names that are reserved for examples
	scale    float64

	ctx    context.Context // ends with close
	cancel context.CancelFunc
	wake   chan struct{} // tells the dispatcher that the queue has changed
	slots  chan struct{} // bounds the deliveries in flight
	group  sync.WaitGroup

	mu      sync.Mutex
	queue   deliveries
	pending int           // queued or in flight
	idle    chan struct{} // closed while pending is zero
	started bool          // a dispatcher runs
}

// delivery is one notification that has not been accepted yet.
type delivery struct {
	url          string
	body         []byte
	at           time.Time // of the next attempt
	failures     int
	firstFailure time.Time
}

const (
	maxDeliveries   = 8
	deliveryTimeout = 10 * time.Second
)

// repeats are the published waits, each counted from the first failure.
func repeats() [4]time.Duration {
	return [4]time.Duration{5 * time.Second, 5 * time.Minute, 15 * time.Minute, 30 * time.Minute}
}

// New returns a Notifier that sends through transport, and multiplies the waits between repeats by scale. Without a
// transport it sends to any host except the reserved names example.com, example.net, example.org, .example, .test and
// .invalid, where nobody can be listening.
func New(transport http.RoundTripper, scale float64) *Notifier {
	n := &Notifier{anywhere: transport != nil, scale: scale}
	if transport == nil {
		// Without kept connections nothing is left behind between deliveries.
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

// Add queues a notification, to be sent after delay. It does nothing once the Notifier is closed.
func (n *Notifier) Add(to string, body []byte, delay time.Duration) {
	if !n.anywhere && reserved(to) {
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
	n.push(&delivery{url: to, body: body, at: time.Now().Add(delay)})
	if !n.started {
		n.started = true
		n.group.Go(n.dispatch)
	}
}

// reserved reports whether nobody can be listening at a URL, because its host name is reserved for examples.
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
func (n *Notifier) push(d *delivery) {
	heap.Push(&n.queue, d)
	n.signal()
}

func (n *Notifier) signal() {
	select {
	case n.wake <- struct{}{}:
	default: // it is being woken already
	}
}

// dispatch starts each delivery when it is due, and returns when there is nothing left to do.
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

// next returns the delivery that is due, or how long to sleep: zero means until something changes.
func (n *Notifier) next() (d *delivery, wait time.Duration, done bool) {
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
	return heap.Pop(&n.queue).(*delivery), 0, false
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

// post makes one attempt. Only HTTP status 200 counts as accepted.
func (n *Notifier) post(d *delivery) (accepted bool) {
	ctx, cancel := context.WithTimeout(n.ctx, deliveryTimeout)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, d.url, bytes.NewReader(d.body))
	if err != nil {
		return false
	}
	r.Header.Set("Content-Type", "application/json")
	resp, err := n.client.Do(r)
	if err != nil {
		return false
	}
	defer resp.Body.Close()
	_, _ = io.CopyN(io.Discard, resp.Body, 64<<10) // what it says does not matter
	return resp.StatusCode == http.StatusOK
}

// conclude queues a failed delivery again, until it has failed five times.
func (n *Notifier) conclude(d *delivery, accepted bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	waits := repeats()
	if !accepted && d.failures < len(waits) && n.ctx.Err() == nil {
		if d.failures == 0 {
			d.firstFailure = time.Now()
		}
		d.at = d.firstFailure.Add(time.Duration(n.scale * float64(waits[d.failures])))
		d.failures++
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

// Close gives up what is queued and returns when no goroutine of the Notifier runs any more.
func (n *Notifier) Close() {
	n.mu.Lock()
	n.cancel()
	n.mu.Unlock()
	n.group.Wait()
	n.client.CloseIdleConnections()
}

// deliveries is a heap, the next one due first.
type deliveries []*delivery

func (q deliveries) Len() int           { return len(q) }
func (q deliveries) Less(i, j int) bool { return q[i].at.Before(q[j].at) }
func (q deliveries) Swap(i, j int)      { q[i], q[j] = q[j], q[i] }
func (q *deliveries) Push(x any)        { *q = append(*q, x.(*delivery)) }

func (q *deliveries) Pop() any {
	last := len(*q) - 1
	d := (*q)[last]
	*q = (*q)[:last]
	return d
}
