package sandbox

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/cardgateway/cardgateway-go/sandbox/internal/delivery"
	"github.com/cardgateway/cardgateway-go/sandbox/internal/mask"
)

// history keeps the newest requests and notifications for the dashboard, without secrets. It has its own lock, which is
// always acquired last.
type history struct {
	limit int       // of requests, and of notifications
	out   io.Writer // gets a line for each request and each delivery, or nil

	mu            sync.Mutex
	requests      []*requestRecord // oldest first
	notifications []*notificationRecord
	lastRequest   int
	lastNotice    int
	changed       chan struct{} // closed and replaced whenever something is added
}

// requestRecord is one request with its response.
type requestRecord struct {
	n             int
	at            time.Time
	took          time.Duration
	operation     Operation
	method, path  string // the path with its query
	transactionID string
	request       string // masked body
	status        int
	code          int // of the JSON response, or zero
	message       string
	response      string
	fault         string // description of the fault that applied
}

func newRequestRecord(r *http.Request) *requestRecord {
	path := mask.Path(r.URL.EscapedPath())
	if r.URL.RawQuery != "" {
		path += "?" + mask.Query(r.URL.RawQuery)
	}
	return &requestRecord{at: time.Now(), method: r.Method, path: mask.Cut([]byte(path))}
}

// finish records the response. Every JSON response of the gateway begins with its code and message.
func (r *requestRecord) finish(reply reply) {
	r.took = time.Since(r.at)
	r.status = reply.status
	if rest, ok := bytes.CutPrefix(reply.body, []byte(`{"code":`)); ok {
		code, rest, _ := bytes.Cut(rest, []byte(`,"message":"`))
		message, _, _ := bytes.Cut(rest, []byte(`"`))
		if n, err := strconv.Atoi(string(code)); err == nil {
			r.code, r.message = n, string(message)
		}
	}
	if r.operation == opPage {
		r.message = "page"
		return
	}
	r.response = mask.Cut(reply.body)
}

// notificationRecord is one notification with its deliveries.
type notificationRecord struct {
	n                       int
	at                      time.Time
	kind                    string // transactionType
	code                    int
	uniqueID, transactionID string
	url, body               string // masked
	token                   string // to mask it in the merchant's response
	message                 delivery.Message
	attempts                []delivery.Attempt
}

// state returns the delivery state of a notification.
func (r *notificationRecord) state() string {
	if len(r.attempts) == 0 {
		return "waiting"
	}
	switch last := r.attempts[len(r.attempts)-1]; {
	case last.Accepted():
		return "accepted"
	case !last.Next.IsZero():
		return "will be repeated"
	}
	return "given up"
}

func newHistory(limit int, out io.Writer) *history {
	return &history{limit: limit, out: out, changed: make(chan struct{})}
}

// addRequest adds a finished request.
func (h *history) addRequest(r *requestRecord) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.lastRequest++
	r.n = h.lastRequest
	h.requests = keepNewest(append(h.requests, r), h.limit)
	h.announce()
	outcome := r.message
	if r.code != 0 {
		outcome = strconv.Itoa(r.code) + " " + r.message
	}
	if r.status != 200 {
		outcome = fmt.Sprintf("HTTP %d %s", r.status, outcome)
	}
	if r.fault != "" {
		outcome += " (fault: " + r.fault + ")"
	}
	h.print(r.at, "%s %s %s: %s, %v [request %d]", r.method, r.path, printable(r.transactionID), outcome, round(r.took), r.n)
}

// addNotification adds a notification and lets its message report deliveries to it.
func (h *history) addNotification(r *notificationRecord) delivery.Message {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.lastNotice++
	r.n = h.lastNotice
	r.message.Report = func(a delivery.Attempt) { h.addAttempt(r, a) }
	h.notifications = keepNewest(append(h.notifications, r), h.limit)
	h.announce()
	return r.message
}

func (h *history) addAttempt(r *notificationRecord, a delivery.Attempt) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if r.token != "" {
		a.Body = strings.ReplaceAll(a.Body, r.token, mask.Token(r.token))
	}
	r.attempts = append(r.attempts, a)
	h.announce()
	result := fmt.Sprintf("HTTP %d in %v", a.Status, round(a.Took))
	if a.Err != nil {
		result = a.Err.Error()
	}
	if !a.Next.IsZero() {
		result += ", again in " + round(time.Until(a.Next)).String()
	}
	h.print(a.At, "-> %s %s to %s: %s [notification %d]", r.kind, printable(r.transactionID), r.url, result, r.n)
}

// announce wakes all waiters for a change. The caller holds h.mu.
func (h *history) announce() {
	close(h.changed)
	h.changed = make(chan struct{})
}

// print writes one line, without control characters. The caller holds h.mu, so that lines are not interleaved.
func (h *history) print(at time.Time, format string, args ...any) {
	if h.out == nil {
		return
	}
	line := strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return unicode.ReplacementChar
		}
		return r
	}, fmt.Sprintf(format, args...))
	_, _ = io.WriteString(h.out, at.Format(time.TimeOnly)+" "+line+"\n")
}

// reset removes everything. Numbers are not reused.
func (h *history) reset() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.requests, h.notifications = nil, nil
	h.announce()
}

// changes returns a channel that is closed at the next change.
func (h *history) changes() <-chan struct{} {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.changed
}

// copyRequests returns the requests, newest first, and a channel that is closed at the next change.
func (h *history) copyRequests() ([]requestRecord, <-chan struct{}) {
	h.mu.Lock()
	defer h.mu.Unlock()
	all := make([]requestRecord, 0, len(h.requests))
	for i := len(h.requests) - 1; i >= 0; i-- {
		all = append(all, *h.requests[i])
	}
	return all, h.changed
}

// copyNotifications returns the notifications in the same way.
func (h *history) copyNotifications() ([]notificationRecord, <-chan struct{}) {
	h.mu.Lock()
	defer h.mu.Unlock()
	all := make([]notificationRecord, 0, len(h.notifications))
	for i := len(h.notifications) - 1; i >= 0; i-- {
		r := *h.notifications[i]
		r.attempts = r.attempts[:len(r.attempts):len(r.attempts)] // later appends must not change the copy
		all = append(all, r)
	}
	return all, h.changed
}

// keepNewest drops the oldest elements beyond limit.
func keepNewest[T any](list []*T, limit int) []*T {
	if over := len(list) - limit; over > 0 {
		clear(list[:over])
		list = list[over:]
	}
	return list
}

// printable returns s as one word of a line, quoted if necessary.
func printable(s string) string {
	if s == "" {
		return "-"
	}
	if q := strconv.Quote(s); len(q) != len(s)+2 || strings.Contains(s, " ") {
		return q
	}
	return s
}

func round(d time.Duration) time.Duration {
	if d > time.Second {
		return d.Round(100 * time.Millisecond)
	}
	return d.Round(100 * time.Microsecond)
}
