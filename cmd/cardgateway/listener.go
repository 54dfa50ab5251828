package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/exit"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/relay"
	"github.com/cardgateway/cardgateway-go/notify"
)

// listener receives notifications. Package notify verifies each and confirms it by a query; what it lets through is printed,
// forwarded and recorded.
type listener struct {
	*call
	flags     *listenCommand
	client    *cardgateway.Client
	secretKey string
	forwarder *relay.Forwarder // nil: nothing is forwarded
	recorder  *relay.Recorder  // nil: nothing is recorded
	lines     *relay.Printer
	handler   http.Handler
	places    chan struct{} // one for each notification at once
	stop      func()        // ends the program when enough have come

	mu     sync.Mutex
	number int // of the last delivery
	events map[string]string
	recent []string // keys of events, the oldest first
	totals totals
}

// totals count notifications by what became of them.
type totals struct{ forwarded, failed, refused, held int }

func (t *totals) received() int { return t.forwarded + t.failed + t.refused + t.held }

// Bounds of a listener.
const (
	mostAtOnce   = 512 // of notifications: others wait to be read
	mostRemember = 10_000
	longestPlace = 5 * time.Second // as long as package notify lets one wait for its turn
)

// delivery is one notification on its way through a listener.
type delivery struct {
	name    string
	at      time.Time
	header  http.Header
	query   string
	body    bytes.Buffer // what notify has read: all of it when the notification is confirmed
	info    notify.Info
	event   *relay.EventLine     // set once it can be printed
	n       *notify.Notification // nil unless it is confirmed
	hidden  relay.Hidden
	answer  *relay.Answer // of the program; nil if it was not asked
	hungUp  bool          // the gateway did so before the program's answer
	printed bool          // the event
}

type deliveryKey struct{}

func newListener(c *call, flags *listenCommand, client *cardgateway.Client, secretKey string) *listener {
	l := &listener{
		call: c, flags: flags, client: client, secretKey: secretKey, places: make(chan struct{}, mostAtOnce), events: map[string]string{},
		lines: &relay.Printer{Format: flags.Format, Zone: client.Location(), Body: 200, Out: c.out},
	}
	opts := notify.Options{
		AllowUnboundTokens: true, // the program checks its own URLs
		Observe: func(ctx context.Context, info notify.Info) {
			ctx.Value(deliveryKey{}).(*delivery).info = info
		},
	}
	if !flags.SkipVerify {
		opts.Verify = notify.SignatureSHA256(secretKey)
	}
	l.handler = notify.NewHandler(client, opts, l.confirmed)
	return l
}

// ServeHTTP receives one notification.
func (l *listener) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	d := &delivery{at: l.now(), header: r.Header, query: r.URL.RawQuery, hidden: relay.Hide(l.secretKey, cardgateway.Token{})}
	l.mu.Lock()
	l.number++
	d.name = relay.Name(l.number)
	l.mu.Unlock()
	status := l.receive(d, r)
	line := l.outcome(d, status)
	l.print(d, line)
	l.record(d, line)
	d.respond(w, line.Status)
	l.count(line.Outcome)
}

// receive lets package notify read, verify and confirm, which calls confirmed. It returns the status that notify would
// answer with.
func (l *listener) receive(d *delivery, r *http.Request) int {
	timer := time.NewTimer(longestPlace)
	defer timer.Stop()
	select {
	case l.places <- struct{}{}:
		defer func() { <-l.places }()
	case <-timer.C:
		d.info.Throttled, d.info.Err = true, errNoPlace
		return http.StatusServiceUnavailable
	}
	body := r.Body
	r.Body = readCloser{io.TeeReader(body, &d.body), body}
	status := &statusOnly{header: http.Header{}, status: http.StatusOK}
	l.handler.ServeHTTP(status, r.WithContext(context.WithValue(r.Context(), deliveryKey{}, d)))
	_, _ = io.CopyN(io.Discard, body, 256<<10) // who sends too much can read the answer
	return status.status
}

var (
	errNoPlace = errors.New("too many notifications at once")
	// errAgain makes package notify hand over every repetition too: whether the program can meet one is for it to show.
	errAgain = errors.New("the listener takes every repetition")
)

// confirmed gets a notification that is signed and that the gateway confirms.
func (l *listener) confirmed(ctx context.Context, n *notify.Notification) error {
	d := ctx.Value(deliveryKey{}).(*delivery)
	d.n, d.hidden = n, relay.Hide(l.secretKey, n.Token)
	e := relay.ConfirmedEvent(n)
	e.Hide(d.hidden)
	note := "signature good, confirmed by query"
	if l.flags.SkipVerify {
		note = "signature not checked, confirmed by query"
	}
	if e.HasToken {
		note += ", with a token"
	}
	if claim := relay.OtherClaim(n); claim != "" {
		note += ", CLAIMS " + d.hidden.Text(claim)
	}
	if before := l.remember(e.Key(), d.name); before != "" {
		note += ", the same event as " + before
	}
	d.event = &relay.EventLine{Delivery: d.name, At: d.at, Event: e, Note: note}
	if l.forwarder == nil || len(l.flags.Only) > 0 && !e.Matches(l.flags.Only) {
		return errAgain
	}
	if l.flags.Output != outputQuiet {
		d.printed = true
		l.lines.Event(*d.event)
	}
	// The gateway may hang up before the program has answered: what the program says is worth to be seen in spite of that.
	d.answer = l.forwarder.Send(context.WithoutCancel(ctx), d.header, d.query, d.body.Bytes())
	d.hungUp = ctx.Err() != nil
	return errAgain
}

// remember returns the name of the last delivery of the same event, or nothing.
func (l *listener) remember(key, name string) (before string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	before, known := l.events[key]
	l.events[key] = name
	if !known {
		l.recent = append(l.recent, key)
		if len(l.recent) > mostRemember {
			delete(l.events, l.recent[0])
			l.recent = l.recent[1:]
		}
	}
	return before
}

// outcome is the line about what became of a delivery. Its status is what the gateway gets.
func (l *listener) outcome(d *delivery, status int) relay.AnswerLine {
	switch {
	case d.answer != nil:
		line := relay.NewAnswerLine(d.name, l.forwarder, d.answer, d.hidden)
		if d.hungUp {
			line.Note = strings.TrimPrefix(line.Note+"; the gateway hung up before", "; ")
		}
		return line
	case d.n != nil:
		status = http.StatusServiceUnavailable // comes again
		if l.flags.Ack {
			status = http.StatusOK
		}
		return relay.AnswerLine{Delivery: d.name, At: l.now(), Outcome: relay.Held, Status: status, Note: "not forwarded"}
	}
	d.event = l.refusal(d)
	return relay.AnswerLine{
		Delivery: d.name, At: l.now(), Outcome: relay.Refused, Status: status, MS: l.now().Sub(d.at).Milliseconds(), Note: "not forwarded",
	}
}

// refusal is the line about a notification that package notify refused: by which check, and why.
func (l *listener) refusal(d *delivery) *relay.EventLine {
	line := &relay.EventLine{Delivery: d.name, At: d.at, Event: relay.Event{Kind: notify.KindUnknown.String()}}
	n, err := notify.Parse(d.body.Bytes(), d.header.Get("Content-Type"))
	if err == nil {
		d.hidden = relay.Hide(l.secretKey, n.Token)
		line.Event = relay.ClaimedEvent(n)
		line.Event.Hide(d.hidden)
	}
	var what string
	switch {
	case d.info.Throttled:
		line.RefusedBy, what = "bounds", "TURNED AWAY"
	case d.info.Verified || l.flags.SkipVerify && err == nil:
		line.RefusedBy, what = "confirmation", "NOT CONFIRMED"
	case d.info.Status == http.StatusForbidden:
		line.RefusedBy, what = "signature", "SIGNATURE REFUSED"
		line.TransactionID = d.hidden.Text(line.TransactionID) // anybody may have written it
	default:
		line.RefusedBy, what = "form", "NOT A NOTIFICATION"
	}
	line.Note = what + ": " + d.hidden.Text(inWords(d.info.Err))
	return line
}

// inWords is an error of package notify, or of the client, in words for people.
func inWords(err error) string {
	if err == nil {
		return ""
	}
	if errors.Is(err, context.Canceled) {
		return "the gateway hung up before"
	}
	text := strings.ReplaceAll(exit.Explain(err).Text, "notify: ", "")
	return strings.ReplaceAll(text, "Verify refused the notification: ", "")
}

// print prints what is not printed yet, and with --output quiet only what is amiss.
func (l *listener) print(d *delivery, line relay.AnswerLine) {
	if l.flags.Output == outputQuiet && line.Outcome != relay.Refused && line.Outcome != relay.Failed {
		return
	}
	if !d.printed {
		l.lines.Event(*d.event)
	}
	l.lines.Answer(line)
}

// record writes the delivery to the record before it is answered: what the gateway takes for accepted is in it.
func (l *listener) record(d *delivery, line relay.AnswerLine) {
	if l.recorder == nil {
		return
	}
	r := &relay.Recorded{
		Delivery: d.name, At: d.at, Event: d.event.Event, RefusedBy: d.event.RefusedBy, Outcome: line.Outcome, Status: line.Status,
		MS: line.MS, To: line.To, Note: line.Note,
	}
	if d.n != nil {
		r.ContentType = d.hidden.Text(d.header.Get("Content-Type"))
		r.Body, r.Masked = relay.Body(d.body.Bytes(), d.header.Get("Content-Type"), d.n, d.hidden)
	} else {
		r.Note = d.event.Note
	}
	if err := l.recorder.Write(r); err != nil {
		l.tell("--record takes no more, from %s on nothing is recorded: %v", d.name, err)
	}
}

// respond answers the gateway as the program did, or with a status alone.
func (d *delivery) respond(w http.ResponseWriter, status int) {
	switch a := d.answer; {
	case a == nil:
		w.WriteHeader(status)
	case errors.Is(a.Err, relay.ErrTimeout):
		w.WriteHeader(http.StatusGatewayTimeout)
	case a.Err != nil:
		w.WriteHeader(http.StatusBadGateway)
	default:
		for name, values := range a.Header {
			w.Header()[name] = values
		}
		w.WriteHeader(a.Status)
		_, _ = w.Write(a.Body) // who has hung up needs no answer
	}
}

// count counts a delivery, and ends the program if it was the last one to wait for.
func (l *listener) count(o relay.Outcome) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch o {
	case relay.Forwarded:
		l.totals.forwarded++
	case relay.Failed:
		l.totals.failed++
	case relay.Refused:
		l.totals.refused++
	case relay.Held:
		l.totals.held++
	}
	if n := l.flags.ExitAfter; n > 0 && l.totals.received() >= n {
		l.stop()
	}
}

// statusOnly is a response of which only the status counts.
type statusOnly struct {
	header http.Header
	status int
}

func (s *statusOnly) Header() http.Header         { return s.header }
func (s *statusOnly) Write(p []byte) (int, error) { return len(p), nil }
func (s *statusOnly) WriteHeader(status int)      { s.status = status }

type readCloser struct {
	io.Reader
	io.Closer
}
