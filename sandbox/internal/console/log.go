package console

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/cardgateway/cardgateway-go/sandbox/internal/delivery"
	"github.com/cardgateway/cardgateway-go/sandbox/internal/mask"
)

// Log keeps the newest requests and notifications, without secrets, and writes a line for each. It has its own lock, which is
// always acquired last. Create one with NewLog.
type Log struct {
	limit    int       // of requests, and of notifications
	out      io.Writer // or nil
	notifier *delivery.Notifier

	mu            sync.Mutex
	requests      []*Request // oldest first
	notifications []*notice
	lastRequest   int
	lastNotice    int
}

// NewLog returns a log that keeps so many requests, and so many notifications, which it sends through the notifier. If out is nil
// it writes no lines.
func NewLog(limit int, out io.Writer, notifier *delivery.Notifier) *Log {
	return &Log{limit: max(limit, 0), out: out, notifier: notifier}
}

// Request is one request with its response.
type Request struct {
	Number        int       `json:"number"`
	At            time.Time `json:"at"`
	Milliseconds  float64   `json:"milliseconds"`
	Operation     string    `json:"operation,omitempty"`
	Method        string    `json:"method"`
	Path          string    `json:"path"` // with its query
	TransactionID string    `json:"transactionId,omitempty"`
	Status        int       `json:"status"`
	Code          int       `json:"code,omitempty"` // of the JSON response
	Message       string    `json:"message,omitempty"`
	Fault         string    `json:"fault,omitempty"`   // description of the fault that applied
	Request       string    `json:"request,omitempty"` // masked body
	Response      string    `json:"response,omitempty"`
}

// PageOperation is the Operation of a request to a hosted page, whose body and response are not kept.
const PageOperation = "page"

// NewRequest returns the record of a request that has arrived.
func NewRequest(r *http.Request) *Request {
	path := mask.Path(r.URL.EscapedPath())
	if r.URL.RawQuery != "" {
		path += "?" + mask.Query(r.URL.RawQuery)
	}
	return &Request{At: time.Now(), Method: r.Method, Path: mask.Cut([]byte(path))}
}

// AddRequest adds a request with its response. The code and message are those of a JSON response, or empty.
func (l *Log) AddRequest(r *Request, status, code int, message string, body []byte) {
	took := time.Since(r.At)
	r.Milliseconds, r.Status, r.Code, r.Message = milliseconds(took), status, code, message
	if r.Operation == PageOperation {
		r.Message = "page"
	} else {
		r.Response = mask.Cut(body)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lastRequest++
	r.Number = l.lastRequest
	l.requests = keepNewest(append(l.requests, r), l.limit)
	outcome := r.Message
	if r.Code != 0 {
		outcome = strconv.Itoa(r.Code) + " " + r.Message
	}
	if r.Status != http.StatusOK {
		outcome = fmt.Sprintf("HTTP %d %s", r.Status, outcome)
	}
	if r.Fault != "" {
		outcome += " (fault: " + r.Fault + ")"
	}
	l.print(r.At, "%s %s %s: %s, %v [request %d]", r.Method, r.Path, printable(r.TransactionID), outcome, round(took), r.Number)
}

// Notification is one notification with its deliveries.
type Notification struct {
	Number          int        `json:"number"`
	At              time.Time  `json:"at"`
	TransactionType string     `json:"transactionType"`
	Code            int        `json:"code,omitempty"`
	UniqueID        string     `json:"uniqueId"`
	TransactionID   string     `json:"transactionId"`
	URL             string     `json:"url"`   // masked
	State           string     `json:"state"` // waiting, accepted, will be repeated, given up
	Body            string     `json:"body"`  // masked
	Deliveries      []Delivery `json:"deliveries"`
}

// Delivery is one attempt to deliver a notification.
type Delivery struct {
	At           time.Time  `json:"at"`
	Milliseconds float64    `json:"milliseconds"`
	Status       int        `json:"status,omitempty"`
	Accepted     bool       `json:"accepted"`
	Reason       string     `json:"reason,omitempty"` // why it failed
	Response     string     `json:"response,omitempty"`
	Next         *time.Time `json:"next,omitempty"`
}

// notice is a notification with what is not shown of it.
type notice struct {
	Notification
	token   string // to mask it in the merchant's response
	message delivery.Message
}

// Notify adds a notification, and sends its message, whose deliveries are reported here. The token, if it contains one, is masked in
// the merchant's responses.
func (l *Log) Notify(shown Notification, token string, m delivery.Message) {
	l.send(&notice{Notification: shown, token: token, message: m})
}

// send adds and sends a notification, and returns it.
func (l *Log) send(n *notice) Notification {
	l.mu.Lock()
	l.lastNotice++
	n.Number, n.At, n.State, n.Deliveries = l.lastNotice, time.Now(), "waiting", []Delivery{}
	n.message.Report = func(a delivery.Attempt) { l.addDelivery(n, a) }
	l.notifications = keepNewest(append(l.notifications, n), l.limit)
	shown, m := n.Notification, n.message
	l.mu.Unlock()
	l.notifier.Add(m) // may report at once
	return shown
}

// resend sends a notification again, as a new one with the same bytes.
func (l *Log) resend(number string) (Notification, error) {
	again, err := l.notification(number)
	if err != nil {
		return Notification{}, err
	}
	again.message.Delay = 0
	return l.send(&again), nil
}

func (l *Log) addDelivery(n *notice, a delivery.Attempt) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if n.token != "" {
		a.Body = withoutToken(a.Body, n.token)
	}
	d := Delivery{
		At: a.At, Milliseconds: milliseconds(a.Took), Status: a.Status, Accepted: a.Accepted(), Reason: reason(a), Response: a.Body,
	}
	result := fmt.Sprintf("HTTP %d in %v", a.Status, round(a.Took))
	if a.Err != nil {
		result = a.Err.Error()
	}
	switch {
	case d.Accepted:
		n.State = "accepted"
	case a.Next.IsZero():
		n.State = "given up"
	default:
		n.State, d.Next = "will be repeated", &a.Next
		result += ", again in " + round(time.Until(a.Next)).String()
	}
	n.Deliveries = append(n.Deliveries, d)
	l.print(a.At, "-> %s %s to %s: %s [notification %d]", n.TransactionType, printable(n.TransactionID), n.URL, result, n.Number)
}

// withoutToken masks a token in a merchant's response, whose end may be missing.
func withoutToken(body, token string) string {
	body = strings.ReplaceAll(body, token, mask.Token(token))
	for kept := len(token) - 1; kept > len("tok"); kept-- {
		if rest, ok := strings.CutSuffix(body, token[:kept]); ok {
			return rest + "***"
		}
	}
	return body
}

// reason says why a delivery failed.
func reason(a delivery.Attempt) string {
	switch {
	case a.Accepted():
		return ""
	case a.Err != nil:
		return a.Err.Error()
	case a.Status >= 300 && a.Status < 400:
		return "a redirect, which is not followed; only HTTP 200 counts"
	}
	return "only HTTP 200 counts"
}

// Reset removes everything. Numbers are not reused.
func (l *Log) Reset() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.requests, l.notifications = nil, nil
}

// listRequests returns the matching requests.
func (l *Log) listRequests(f Filter) List[Request] {
	l.mu.Lock()
	defer l.mu.Unlock()
	return Newest(l.requests, f.Limit, func(r *Request) bool {
		return r.Number > f.Since && !(f.noPages && r.Operation == PageOperation) &&
			f.Matches(r.Code, "transactionId", r.TransactionID, "operation", r.Operation, "method", r.Method)
	}, func(r *Request) Request { return *r })
}

// listNotifications returns the matching notifications.
func (l *Log) listNotifications(f Filter) List[Notification] {
	l.mu.Lock()
	defer l.mu.Unlock()
	return Newest(l.notifications, f.Limit, func(n *notice) bool {
		return n.Number > f.Since && f.Matches(n.Code, "transactionId", n.TransactionID, "uniqueId", n.UniqueID,
			"transactionType", n.TransactionType, "state", n.State)
	}, func(n *notice) Notification { return n.copy().Notification })
}

// request returns the request with that number.
func (l *Log) request(number string) (Request, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, r := range l.requests {
		if strconv.Itoa(r.Number) == number {
			return *r, nil
		}
	}
	return Request{}, NotFound("request", number)
}

// notification returns the notification with that number.
func (l *Log) notification(number string) (notice, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, n := range l.notifications {
		if strconv.Itoa(n.Number) == number {
			return n.copy(), nil
		}
	}
	return notice{}, NotFound("notification", number)
}

// copy returns a copy that later deliveries do not change.
func (n notice) copy() notice {
	n.Deliveries = slices.Clip(n.Deliveries)
	return n
}

// totals returns how many requests and notifications there were.
func (l *Log) totals() (requests, notifications int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.lastRequest, l.lastNotice
}

// print writes one line, without control characters. The caller holds l.mu, so that lines are not interleaved.
func (l *Log) print(at time.Time, format string, args ...any) {
	if l.out == nil {
		return
	}
	line := strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return unicode.ReplacementChar
		}
		return r
	}, fmt.Sprintf(format, args...))
	_, _ = io.WriteString(l.out, at.Format(time.TimeOnly)+" "+line+"\n")
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

func milliseconds(d time.Duration) float64 {
	return float64(d.Round(10*time.Microsecond)) / float64(time.Millisecond)
}
