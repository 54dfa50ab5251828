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

// Notifier delivers notifications, with a goroutine for each until it is accepted or given up. It is safe for concurrent use.
// Create one with New.
type Notifier struct {
	client   *http.Client
	anywhere bool            // also to host names reserved for examples
	waits    []time.Duration // times of the repetitions, each counted from the first failure
	slots    chan struct{}   // one for each attempt in flight
	group    sync.WaitGroup

	ctx   context.Context // ends with Close
	close context.CancelFunc

	mu      sync.Mutex
	kept    context.Context // of what is added; ends with the next Drop
	drop    context.CancelFunc
	pending int           // not accepted and not given up
	idle    chan struct{} // closed while pending is zero
}

// Message is one notification.
type Message struct {
	URL   string
	Body  []byte        // JSON
	Delay time.Duration // before the first attempt

	// Report is called after every attempt. It is called without a lock held, from any goroutine, and must not
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

const (
	maxDeliveries   = 8
	deliveryTimeout = 10 * time.Second
)

// New returns a Notifier that sends through transport, and multiplies the pauses between repetitions by scale. If transport
// is nil, it sends to any host except the reserved names example.com, example.net, example.org, .example, .test and
// .invalid, where there cannot be a server.
func New(transport http.RoundTripper, scale float64) *Notifier {
	n := &Notifier{anywhere: transport != nil, slots: make(chan struct{}, maxDeliveries), idle: make(chan struct{})}
	for _, published := range []time.Duration{5 * time.Second, 5 * time.Minute, 15 * time.Minute, 30 * time.Minute} {
		n.waits = append(n.waits, time.Duration(scale*float64(published)))
	}
	if transport == nil {
		// Without keep-alives no goroutine remains between deliveries.
		transport = &http.Transport{DisableKeepAlives: true, TLSHandshakeTimeout: deliveryTimeout}
	}
	n.client = &http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	n.ctx, n.close = context.WithCancel(context.Background())
	n.kept, n.drop = context.WithCancel(n.ctx)
	close(n.idle)
	return n
}

// Add queues a notification. It does nothing once the Notifier is closed.
func (n *Notifier) Add(m Message) {
	if !n.anywhere && reserved(m.URL) {
		m.Report(Attempt{At: time.Now(), Err: ErrReserved})
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
	kept := n.kept
	n.group.Go(func() {
		n.deliver(kept, m)
		n.end()
	})
}

// deliver makes attempts until one is accepted, there have been five, or kept ends. One that has begun continues all the same.
func (n *Notifier) deliver(kept context.Context, m Message) {
	waits := n.waits
	var firstFailure time.Time
	for next := time.Now().Add(m.Delay); n.turn(kept, next); {
		a := n.post(m)
		<-n.slots
		if !a.Accepted() && len(waits) > 0 && kept.Err() == nil {
			if firstFailure.IsZero() {
				firstFailure = time.Now()
			}
			a.Next = firstFailure.Add(waits[0])
			waits = waits[1:]
		}
		m.Report(a) // while the notification is still pending, so that Flush also waits for the report
		if next = a.Next; next.IsZero() {
			return
		}
	}
}

// turn waits until that time, and then for a slot. It reports whether there is one before kept ends.
func (n *Notifier) turn(kept context.Context, at time.Time) bool {
	timer := time.NewTimer(time.Until(at))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-kept.Done():
		return false
	}
	select {
	case n.slots <- struct{}{}:
	case <-kept.Done():
		return false
	}
	if kept.Err() != nil { // both at once
		<-n.slots
		return false
	}
	return true
}

// end counts a notification that is no longer pending. What is given up by Close remains pending: Flush does not report that it ended.
func (n *Notifier) end() {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.pending--; n.pending == 0 && n.ctx.Err() == nil {
		close(n.idle)
	}
}

// Drop gives up everything that is waiting for an attempt. Attempts that have begun continue, and are not repeated.
func (n *Notifier) Drop() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.drop()
	n.kept, n.drop = context.WithCancel(n.ctx)
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
func (n *Notifier) post(m Message) Attempt {
	a := Attempt{At: time.Now()}
	a.Status, a.Body, a.Err = n.exchange(m)
	a.Took = time.Since(a.At)
	return a
}

func (n *Notifier) exchange(m Message) (status int, text string, err error) {
	ctx, cancel := context.WithTimeout(n.ctx, deliveryTimeout)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, m.URL, bytes.NewReader(m.Body))
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

// Flush waits until every notification has been accepted or given up.
func (n *Notifier) Flush(ctx context.Context) error {
	n.mu.Lock()
	idle := n.idle
	n.mu.Unlock()
	select {
	case <-idle: // also if ctx has ended, or the Notifier is closed
		return nil
	default:
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

// Close gives up everything that is waiting or in flight, and returns when all goroutines of the Notifier have ended.
func (n *Notifier) Close() {
	n.mu.Lock()
	n.close()
	n.mu.Unlock()
	n.group.Wait()
	n.client.CloseIdleConnections()
}
