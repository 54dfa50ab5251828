// Package listener receives notifications of a gateway, and forwards them.
package listener

import (
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/relay"
	"github.com/cardgateway/cardgateway-go/notify"
)

// Options configure a listener.
type Options struct {
	SecretKey  string // verifies signatures
	SkipVerify bool   // do not verify signatures; notifications are still confirmed by a query
	Ack        bool   // respond with 200 to notifications that are not forwarded; otherwise with 503, so that they are sent again

	Forwarder *relay.Forwarder // nil: nothing is forwarded
	Printer   *relay.Printer   // required, as is the function below

	Tell func(format string, args ...any) // prints a message
}

// Listener receives notifications. Package notify verifies each and confirms it by a query; those that pass are printed
// and forwarded.
type Listener struct {
	o       Options
	handler http.Handler // bounds how many notifications are processed at once
	number  atomic.Int64 // of the last delivery

	mu     sync.Mutex
	totals Totals
}

// Totals count notifications by outcome.
type Totals [relay.Held + 1]int

// Timeouts of the server. Package notify waits up to 5 s for its turn, and queries the gateway for up to 20 s.
const (
	readTimeout   = 10 * time.Second
	beforeForward = 5*time.Second + 20*time.Second
)

// New creates a listener that confirms notifications by queries with the client.
func New(client *cardgateway.Client, o Options) *Listener {
	l := &Listener{o: o}
	opts := notify.Options{
		AllowUnboundTokens: true, // the program checks its own URLs
		Observe: func(ctx context.Context, info notify.Info) {
			ctx.Value(deliveryKey{}).(*delivery).info = info
		},
	}
	if !o.SkipVerify {
		opts.Verify = notify.SignatureSHA256(o.SecretKey)
	}
	l.handler = notify.NewHandler(client, opts, l.confirmed)
	return l
}

// Serve receives notifications until ctx ends, or printing fails. It then finishes those in flight.
func (l *Listener) Serve(ctx context.Context, socket net.Listener) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	l.o.Printer.Stopped = stop
	maxTime := beforeForward + 5*time.Second
	if l.o.Forwarder != nil {
		maxTime += l.o.Forwarder.Timeout
	}
	server := &http.Server{
		Handler: l, ReadHeaderTimeout: readTimeout, ReadTimeout: readTimeout, WriteTimeout: readTimeout + maxTime,
		MaxHeaderBytes: 64 << 10, ErrorLog: log.New(lineWriter(l.o.Tell), "", 0),
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve(socket) }()
	select {
	case err := <-served:
		return err
	case <-ctx.Done():
	}
	defer time.AfterFunc(time.Second, func() { l.o.Tell("waiting for requests in flight; press Ctrl-C again to exit at once") }).Stop()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), maxTime)
	defer cancel()
	err := server.Shutdown(ctx)
	if err != nil {
		err = errors.Join(err, server.Close())
	}
	<-served
	return err
}

// lineWriter prints the log lines of the server as messages.
type lineWriter func(format string, args ...any)

func (tell lineWriter) Write(p []byte) (int, error) {
	tell("%s", strings.TrimSuffix(string(p), "\n"))
	return len(p), nil
}

// Totals returns the totals of the finished notifications.
func (l *Listener) Totals() Totals {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.totals
}

// ServeHTTP receives one notification.
func (l *Listener) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	d := &delivery{
		name: relay.Name(int(l.number.Add(1))), at: time.Now(), header: r.Header, query: r.URL.RawQuery,
		hidden: relay.Hide(l.o.SecretKey, cardgateway.Token{}),
	}
	l.receive(d, r)
	line := l.outcome(d)
	l.o.Printer.Answer(line)
	d.respond(w, line.Status)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.totals[line.Outcome]++
}

// receive lets package notify read, verify and confirm, which calls confirmed, and then sets d.info.
func (l *Listener) receive(d *delivery, r *http.Request) {
	body := r.Body
	r.Body = struct {
		io.Reader
		io.Closer
	}{io.TeeReader(body, &d.body), body}
	l.handler.ServeHTTP(noResponse{}, r.WithContext(context.WithValue(r.Context(), deliveryKey{}, d)))
	_, _ = io.CopyN(io.Discard, body, 256<<10) // so that a sender of too much can read the response
}

// errAgain makes package notify pass on repeated notifications too, so that the program can be tested with them.
var errAgain = errors.New("the listener accepts repeated notifications")

// confirmed receives a notification that is verified and confirmed.
func (l *Listener) confirmed(ctx context.Context, n *notify.Notification) error {
	d := ctx.Value(deliveryKey{}).(*delivery)
	d.n, d.hidden = n, relay.Hide(l.o.SecretKey, n.Token)
	note := "signature good, confirmed by query"
	if l.o.SkipVerify {
		note = "signature not checked, confirmed by query"
	}
	if !n.Token.IsZero() {
		note += ", with a token"
	}
	if claim := relay.OtherClaim(n); claim != "" {
		note += ", CLAIMS " + d.hidden.Text(claim)
	}
	l.o.Printer.Event(d.at, d.name, relay.ConfirmedEvent(n, d.hidden), note)
	if l.o.Forwarder == nil {
		return errAgain
	}
	// The program's response is shown even if the gateway closes the connection before it.
	d.answer = l.o.Forwarder.Send(context.WithoutCancel(ctx), d.header, d.query, d.body.Bytes())
	d.hungUp = ctx.Err() != nil
	return errAgain
}

// outcome returns the line about the outcome of a delivery, and prints the one before it if package notify refused it. The gateway receives
// its status.
func (l *Listener) outcome(d *delivery) relay.AnswerLine {
	switch {
	case d.answer != nil:
		line := relay.NewAnswerLine(d.name, l.o.Forwarder.Shown, d.answer, d.hidden)
		if d.hungUp {
			line.Note = strings.TrimPrefix(line.Note+"; the gateway closed the connection before the response", "; ")
		}
		return line
	case d.n != nil:
		status := http.StatusServiceUnavailable // the gateway sends it again
		if l.o.Ack {
			status = http.StatusOK
		}
		return relay.AnswerLine{Delivery: d.name, Outcome: relay.Held, Status: status, Note: "not forwarded"}
	}
	l.printRefusal(d)
	return relay.AnswerLine{
		Delivery: d.name, Outcome: relay.Refused, Status: d.info.Status, MS: time.Since(d.at).Milliseconds(), Note: "not forwarded",
	}
}
