package sandbox

import (
	"cmp"
	"time"

	"github.com/cardgateway/cardgateway-go/sandbox/internal/codes"
	"github.com/cardgateway/cardgateway-go/sandbox/internal/delivery"
	"github.com/cardgateway/cardgateway-go/sandbox/internal/mask"
	"github.com/cardgateway/cardgateway-go/sandbox/internal/money"
)

// Views for the control API. The JSON names are those of the interface if it has one.

type paymentView struct {
	UniqueID           string      `json:"uniqueId"`
	TransactionID      string      `json:"transactionId"`
	OrderID            string      `json:"orderId,omitempty"`
	Operation          Operation   `json:"operation"`
	Code               int         `json:"code"`
	Message            string      `json:"message"`
	TransactionMessage string      `json:"transactionMessage"`
	Amount             string      `json:"amount"`
	Currency           string      `json:"currency"`
	CreatedAt          time.Time   `json:"createdAt"`
	CardNumber         string      `json:"transactionCardNumber,omitempty"`
	Is3D               bool        `json:"is3d"`
	WaitsFor           string      `json:"waitsFor,omitempty"` // card, 3d or settlement
	Page               string      `json:"page,omitempty"`     // path of the hosted page that is open
	NotificationURL    string      `json:"notificationUrl,omitempty"`
	Executed           int         `json:"executed"` // how many times money moved for its transactionId
	Refunded           string      `json:"refunded,omitempty"`
	TrackingNumber     string      `json:"trackingNumber,omitempty"`
	Events             []eventView `json:"events"`
}

type eventView struct {
	At   time.Time `json:"at"`
	Text string    `json:"text"`
}

// paymentView returns the view of an order. The caller holds g.mu.
func (g *Gateway) paymentView(o *order) paymentView {
	v := paymentView{
		UniqueID: o.uniqueID, TransactionID: o.transactionID, OrderID: o.orderID, Operation: o.op, Code: o.code,
		Message: codes.Message(o.code), TransactionMessage: o.text, Amount: o.amount, Currency: o.currency,
		CreatedAt: o.created, CardNumber: o.card.masked, Is3D: o.is3d,
		NotificationURL: mask.URL(o.notificationURL), Executed: g.ledger.executed[o.transactionID],
		TrackingNumber: g.ledger.tracking[o.uniqueID].Number, Events: []eventView{},
	}
	switch {
	case o.stage == stageCard || o.canRetry:
		v.WaitsFor, v.Page = "card", o.pagePath()
	case o.stage == stage3D:
		v.WaitsFor, v.Page = "3d", o.pagePath()
	case o.stage == stageProcessing:
		v.WaitsFor = "settlement"
	}
	if back := g.ledger.refunded[o.uniqueID] + g.ledger.refundedByGenerated(o.uniqueID); back > 0 {
		v.Refunded = money.Of(back, o.currency)
	}
	for _, e := range o.events {
		v.Events = append(v.Events, eventView{e.at, e.text})
	}
	return v
}

type refundView struct {
	RefundUniqueID      string     `json:"refundUniqueId"`
	RefundTransactionID string     `json:"refundTransactionId"`
	UniqueID            string     `json:"uniqueId"`
	TransactionID       string     `json:"transactionId,omitempty"`
	Code                int        `json:"code"`
	Message             string     `json:"message"`
	Amount              string     `json:"refundAmount"`
	Currency            string     `json:"refundCurrency"`
	Remark              string     `json:"remark,omitempty"`
	RequestedAt         time.Time  `json:"requestedAt"`
	CompletedAt         *time.Time `json:"completedAt,omitempty"`
	Refunded            int        `json:"refunded"` // how many times money was refunded for its refundTransactionId
}

// refundView returns the view of a refund. The caller holds g.mu.
func (g *Gateway) refundView(r *refund) refundView {
	v := refundView{
		RefundUniqueID: r.refundUniqueID, RefundTransactionID: r.merchantRefundID, UniqueID: r.uniqueID,
		TransactionID: r.transactionID, Code: r.code, Message: codes.Message(r.code), Amount: r.amount, Currency: r.currency,
		Remark: r.remark, RequestedAt: r.requested, Refunded: g.ledger.givenBack[r.merchantRefundID],
	}
	if completed := r.completed; !completed.IsZero() {
		v.CompletedAt = &completed
	}
	return v
}

type requestView struct {
	Number        int       `json:"number"`
	At            time.Time `json:"at"`
	Milliseconds  float64   `json:"milliseconds"`
	Operation     Operation `json:"operation,omitempty"`
	Method        string    `json:"method"`
	Path          string    `json:"path"`
	TransactionID string    `json:"transactionId,omitempty"`
	Status        int       `json:"status"`
	Code          int       `json:"code,omitempty"`
	Message       string    `json:"message,omitempty"`
	Fault         string    `json:"fault,omitempty"`
	Request       string    `json:"request,omitempty"`
	Response      string    `json:"response,omitempty"`
}

func (r *requestRecord) view() requestView {
	return requestView{
		Number: r.n, At: r.at, Milliseconds: milliseconds(r.took), Operation: r.operation, Method: r.method, Path: r.path,
		TransactionID: r.transactionID, Status: r.status, Code: r.code, Message: r.message, Fault: r.fault,
		Request: r.request, Response: r.response,
	}
}

type notificationView struct {
	Number          int            `json:"number"`
	At              time.Time      `json:"at"`
	TransactionType string         `json:"transactionType"`
	Code            int            `json:"code,omitempty"`
	UniqueID        string         `json:"uniqueId"`
	TransactionID   string         `json:"transactionId"`
	URL             string         `json:"url"`
	State           string         `json:"state"` // waiting, accepted, will be repeated, given up
	Body            string         `json:"body"`
	Deliveries      []deliveryView `json:"deliveries"`
}

type deliveryView struct {
	At           time.Time  `json:"at"`
	Milliseconds float64    `json:"milliseconds"`
	Status       int        `json:"status,omitempty"`
	Accepted     bool       `json:"accepted"`
	Reason       string     `json:"reason,omitempty"` // why it failed
	Response     string     `json:"response,omitempty"`
	Next         *time.Time `json:"next,omitempty"`
}

func (r *notificationRecord) view() notificationView {
	v := notificationView{
		Number: r.n, At: r.at, TransactionType: r.kind, Code: r.code, UniqueID: r.uniqueID, TransactionID: r.transactionID,
		URL: r.url, State: r.state(), Body: r.body, Deliveries: []deliveryView{},
	}
	for _, a := range r.attempts {
		d := deliveryView{
			At: a.At, Milliseconds: milliseconds(a.Took), Status: a.Status, Accepted: a.Accepted(), Reason: reason(a),
			Response: a.Body,
		}
		if !a.Next.IsZero() {
			next := a.Next
			d.Next = &next
		}
		v.Deliveries = append(v.Deliveries, d)
	}
	return v
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

func milliseconds(d time.Duration) float64 {
	return float64(d.Round(10*time.Microsecond)) / float64(time.Millisecond)
}

type faultView struct {
	Number int            `json:"number"`
	Left   int            `json:"left"` // remaining requests; negative: unlimited
	Seen   int            `json:"seen"` // matching requests so far
	Fault  map[string]any `json:"fault"`
	what   string         // description
}

// faultViews returns the active faults. The caller holds g.mu.
func (g *Gateway) faultViews() []faultView {
	views := []faultView{}
	for _, a := range g.faults {
		if a.left != 0 && (a.until.IsZero() || time.Now().Before(a.until)) {
			views = append(views, faultView{Number: a.number, Left: a.left, Seen: a.seen, Fault: encodeSettings(a.Fault), what: a.describe()})
		}
	}
	return views
}

type infoView struct {
	Label         string         `json:"label,omitempty"`
	StartedAt     time.Time      `json:"startedAt"`
	Orders        int            `json:"orders"` // without seeded ones
	Refunds       int            `json:"refunds"`
	SeededOrders  int            `json:"seededOrders"`
	SeededRefunds int            `json:"seededRefunds"`
	Requests      int            `json:"requests"` // so far
	Notifications int            `json:"notifications"`
	Faults        int            `json:"faults"`
	Options       map[string]any `json:"options"`
}

// info returns totals and options. The caller holds g.mu.
func (g *Gateway) info() infoView {
	g.history.mu.Lock()
	requests, notices := g.history.lastRequest, g.history.lastNotice
	g.history.mu.Unlock()
	v := infoView{
		Label: g.opts.Label, StartedAt: g.started, Orders: len(g.ledger.orders), Refunds: len(g.ledger.refunds),
		Requests: requests, Notifications: notices, Faults: len(g.faultViews()), Options: encodeSettings(g.opts),
	}
	for _, b := range g.ledger.generatedOrders {
		v.SeededOrders += b.Len()
	}
	for _, b := range g.ledger.generatedRefunds {
		v.SeededRefunds += b.Len()
	}
	return v
}

// payment returns the order with that uniqueId, or the newest with that transactionId. The caller holds g.mu.
func (g *Gateway) payment(id string) *order {
	if o := g.ledger.find(id); o != nil {
		return o
	}
	if all := g.ledger.byTransaction[id]; len(all) > 0 {
		return all[len(all)-1]
	}
	return nil
}

// refundNamed returns the refund with that refundUniqueId or refundTransactionId. The caller holds g.mu.
func (g *Gateway) refundNamed(id string) *refund {
	for _, q := range []query{{refundUniqueID: id}, {refundTransactionID: id}} {
		for _, s := range g.ledger.matchingRefunds(q) {
			if list, ok := s.(refundList); ok {
				return list[len(list)-1]
			}
		}
	}
	return nil
}

// filter selects rows of a list. An empty field matches everything.
type filter struct {
	limit                                       int
	since                                       int // number of a request or a notification: only newer ones
	transactionID, orderID, uniqueID            string
	refundTransactionID, operation, kind, state string
	code                                        int
	noPages                                     bool // leaves out the requests of cardholders' browsers
}

const (
	usualLimit = 50
	mostRows   = 1000
)

// list is the rows that match a filter, newest first.
type list[T any] struct {
	Data    []T `json:"data"`
	LeftOff int `json:"leftOff"` // matching rows that are not in data
}

func (l *list[T]) add(row T, limit int) {
	if l.Data == nil {
		l.Data = []T{}
	}
	if len(l.Data) >= cmp.Or(limit, usualLimit) {
		l.LeftOff++
		return
	}
	l.Data = append(l.Data, row)
}

func matches(wanted, got string) bool { return wanted == "" || wanted == got }

// payments lists stored orders. The caller holds g.mu.
func (g *Gateway) payments(f filter) list[paymentView] {
	l := list[paymentView]{Data: []paymentView{}}
	for i := len(g.ledger.orders) - 1; i >= 0; i-- {
		o := g.ledger.orders[i]
		if matches(f.transactionID, o.transactionID) && matches(f.orderID, o.orderID) && matches(f.uniqueID, o.uniqueID) &&
			matches(f.operation, string(o.op)) && (f.code == 0 || f.code == o.code) {
			l.add(g.paymentView(o), f.limit)
		}
	}
	return l
}

// refunds lists stored refunds. The caller holds g.mu.
func (g *Gateway) refunds(f filter) list[refundView] {
	l := list[refundView]{Data: []refundView{}}
	for i := len(g.ledger.refunds) - 1; i >= 0; i-- {
		r := g.ledger.refunds[i]
		if matches(f.transactionID, r.transactionID) && matches(f.uniqueID, r.uniqueID) &&
			matches(f.refundTransactionID, r.merchantRefundID) && (f.code == 0 || f.code == r.code) {
			l.add(g.refundView(r), f.limit)
		}
	}
	return l
}

// listRequests returns the matching requests of the log, and a channel that is closed at the next change.
func (h *history) listRequests(f filter) (list[requestView], <-chan struct{}) {
	all, changed := h.copyRequests()
	l := list[requestView]{Data: []requestView{}}
	for i := range all {
		r := &all[i]
		if r.n > f.since && !(f.noPages && r.operation == opPage) &&
			matches(f.transactionID, r.transactionID) && matches(f.operation, string(r.operation)) &&
			(f.code == 0 || f.code == r.code) {
			l.add(r.view(), f.limit)
		}
	}
	return l, changed
}

// listNotifications returns the matching notifications in the same way.
func (h *history) listNotifications(f filter) (list[notificationView], <-chan struct{}) {
	all, changed := h.copyNotifications()
	l := list[notificationView]{Data: []notificationView{}}
	for i := range all {
		r := &all[i]
		if r.n > f.since && matches(f.transactionID, r.transactionID) && matches(f.uniqueID, r.uniqueID) &&
			matches(f.kind, r.kind) && matches(f.state, r.state()) && (f.code == 0 || f.code == r.code) {
			l.add(r.view(), f.limit)
		}
	}
	return l, changed
}
