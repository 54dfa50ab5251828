package console

import (
	"cmp"
	"encoding/json"
	"math"
	"slices"
	"time"

	"github.com/cardgateway/cardgateway-go/sandbox/internal/params"
)

// The views have the JSON names of the interface where it has one.

// Payment is a payment as it is now.
type Payment struct {
	UniqueID           string    `json:"uniqueId"`
	TransactionID      string    `json:"transactionId"`
	OrderID            string    `json:"orderId,omitempty"`
	Operation          string    `json:"operation"`
	Code               int       `json:"code"`
	Message            string    `json:"message"`
	TransactionMessage string    `json:"transactionMessage"`
	Amount             string    `json:"amount"`
	Currency           string    `json:"currency"`
	CreatedAt          time.Time `json:"createdAt"`
	CardNumber         string    `json:"transactionCardNumber,omitempty"`
	Is3D               bool      `json:"is3d"`
	WaitsFor           string    `json:"waitsFor,omitempty"` // card, 3d or settlement
	Page               string    `json:"page,omitempty"`     // path of the hosted page that is open
	NotificationURL    string    `json:"notificationUrl,omitempty"`
	Executed           int       `json:"executed"` // how many times money moved for its transactionId
	Refunded           string    `json:"refunded,omitempty"`
	TrackingNumber     string    `json:"trackingNumber,omitempty"`
	Events             []Event   `json:"events"`

	Allows     []Kind    `json:"-"` // the actions that its state allows
	Refundable bool      `json:"-"` // at least in part
	Refunding  bool      `json:"-"` // a refund is accepted and not ended
	MakesToken bool      `json:"-"` // the card is stored and no money is charged
	Retry      bool      `json:"-"` // the card was declined, and the cardholder may try another one
	Products   []Product `json:"-"`
	Callback   string    `json:"-"` // where the cardholder goes after the hosted pages
}

// Next returns where the cardholder is sent: to the page that is open, or to the shop.
func (p Payment) Next() string { return cmp.Or(p.Page, p.Callback) }

// Product is one product of a payment. All but the name may be empty.
type Product struct{ Name, Quantity, Price, Currency string }

// Event is one change of a payment or its refunds.
type Event struct {
	At   time.Time `json:"at"`
	Text string    `json:"text"`
}

// Refund is a refund as it is now.
type Refund struct {
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

// Fault is an active fault.
type Fault struct {
	Number int             `json:"number"`
	Left   int             `json:"left"` // remaining requests; negative: unlimited
	Seen   int             `json:"seen"` // matching requests so far
	Fault  json.RawMessage `json:"fault"`

	Operation, Description string `json:"-"`
}

// Info is the totals and the options of the gateway. The log adds its own.
type Info struct {
	Label         string          `json:"label,omitempty"`
	StartedAt     time.Time       `json:"startedAt"`
	Orders        int             `json:"orders"` // without seeded ones
	Refunds       int             `json:"refunds"`
	SeededOrders  int             `json:"seededOrders"`
	SeededRefunds int             `json:"seededRefunds"`
	Requests      int             `json:"requests"` // so far
	Notifications int             `json:"notifications"`
	Faults        int             `json:"faults"`
	Options       json.RawMessage `json:"options"`
}

// Filter selects rows of a list.
type Filter struct {
	Limit int
	Since int               // number of a request or a notification: only newer ones
	Code  int               // zero means any
	Where map[string]string // the values that members of a row must have; an empty one matches everything

	noPages bool // leaves out the requests of cardholders' browsers
}

const (
	usualLimit = 50
	maxRows    = 1000
)

// filtersOf are the members by which a list can be filtered. Another one is refused: it would select every row.
var filtersOf = map[string][]string{
	"payments":      {"transactionId", "orderId", "uniqueId", "operation"},
	"refunds":       {"transactionId", "uniqueId", "refundTransactionId"},
	"requests":      {"transactionId", "operation", "method"},
	"notifications": {"transactionId", "uniqueId", "transactionType", "state"},
}

// readFilter reads the filter of a list.
func readFilter(p *params.Reader, kind string) Filter {
	f := Filter{Limit: p.Number("limit", usualLimit, maxRows), Code: p.Number("code", 0, 999), Where: map[string]string{}}
	for _, name := range filtersOf[kind] {
		f.Where[name] = p.Text(name, 0)
	}
	if kind == "requests" || kind == "notifications" {
		f.Since = p.Number("since", 0, math.MaxInt32)
	}
	return f
}

// Matches reports whether the filter selects a row with that code and these members: names and values alternate.
func (f Filter) Matches(code int, members ...string) bool {
	for i := 0; i < len(members); i += 2 {
		if want := f.Where[members[i]]; want != "" && want != members[i+1] {
			return false
		}
	}
	return f.Code == 0 || f.Code == code
}

// Newest returns the rows that are selected, at most so many; zero means 50. The rows are given in the order of time.
func Newest[R, V any](rows []R, limit int, selected func(R) bool, view func(R) V) List[V] {
	found := List[V]{Data: []V{}}
	for _, r := range slices.Backward(rows) {
		switch {
		case !selected(r):
		case len(found.Data) < cmp.Or(limit, usualLimit):
			found.Data = append(found.Data, view(r))
		default:
			found.LeftOff++
		}
	}
	return found
}

// List is the rows that match a filter, newest first.
type List[T any] struct {
	Data    []T `json:"data"`
	LeftOff int `json:"leftOff"` // matching rows that are not in Data
}

// total returns how many rows match.
func (l List[T]) total() int { return len(l.Data) + l.LeftOff }
