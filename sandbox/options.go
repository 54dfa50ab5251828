package sandbox

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Options says how a Gateway behaves. The zero value is a gateway that accepts any appId without
// authentication, refuses a repeated transactionId and settles token payments at once.
type Options struct {
	// MerchantID turns HTTP Basic authentication on: every call must carry this user name with SecretKey as
	// its password. The interface does not show an authentication scheme; this is the published one.
	MerchantID string

	// SecretKey is the Basic password and the key that notifications are signed with. Empty means that
	// notifications carry no sign member.
	SecretKey string

	// AppID is the only appId that payments may carry. Empty means any.
	AppID string

	// BaseURL is put before the hosted pages' paths in redirectUrl, for example "https://pay.shop.test".
	// Empty means the scheme and host of the request that is being answered.
	BaseURL string

	// Location is the zone of transactionAt and of the bounds of a search. Nil means UTC+8.
	Location *time.Location

	// BillDescription is the text of that result member. Empty means "sandbox.example".
	BillDescription string

	// Duplicates says what a repeated transactionId or orderId meets. Zero means DuplicatesRefused.
	Duplicates Duplicates

	// SettleAfter is how long an accepted token payment stays at 102 before it becomes 100 or 101. Zero means
	// that only its own response says 102: the next query finds it final. Negative means that it stays at 102
	// until Settle is called.
	SettleAfter time.Duration

	// SettlePendingAfter is how long a transaction with a Pending card stays at 102 before it is approved. Zero means
	// until Settle is called.
	SettlePendingAfter time.Duration

	// DeclineLater makes a token payment with a declined card answer 102 first and become 101 when it settles.
	// By default it answers 101 at once.
	DeclineLater bool

	// TokenOrderUsesCard lets the card decide the outcome of a token order, as the published table of test cards can
	// be read: a declined card makes no token. By default a token can be made of any card, and what the card does shows
	// in the payments with it.
	TokenOrderUsesCard bool

	// SecureForEveryCard asks for 3D authentication whenever a request says secure. By default only a card that would
	// be approved is asked; the interface does not say.
	SecureForEveryCard bool

	// HostedRetry lets a cardholder whose card was declined on the hosted page try another one there. Every card makes
	// a row of its own with the same transactionId. By default the first decline ends the payment.
	HostedRetry bool

	// MerchantName is what the hosted pages call the merchant. Empty means the host of the callbackUrl.
	MerchantName string

	// PublishedLimits also checks what gateways publish beyond the interface: the lengths of the members of addresses,
	// products and browsers, of domain and productName, the digits of quantity, price and subscriptionPeriod, the list
	// of subscriptionCycles, and that a shippingAddress is complete. POST /api/refund and POST /upload/trackingNumber,
	// which are published as a whole, are always checked.
	PublishedLimits bool

	// RefundDuplicates says what a repeated refundTransactionId meets. Zero means RefundDuplicatesRefused.
	RefundDuplicates RefundDuplicates

	// RefundSettleAfter is how long an accepted refund stays at 110 before it becomes 111. Zero means that only its
	// own response says 110: the next query finds it refunded. Negative means that it stays at 110 until SettleRefund
	// is called.
	RefundSettleAfter time.Duration

	// RefundTransactionIDInRows names the merchant's refund id refundTransactionId in the rows of a refund query, as
	// the published table does. By default it is merchantRefundId, as in the interface.
	RefundTransactionIDInRows bool

	// Is3DBoolean sends is3d as true or false, as the published table has it, in place of the interface's text.
	Is3DBoolean bool

	// HTTPStatusFollowsCode answers a refusal with the HTTP status of the same number as its code, 401 for
	// code 401 and so on. By default every JSON response to a known operation has HTTP status 200.
	HTTPStatusFollowsCode bool

	// MaxPageSize is the largest page that a search gives, at most 999. A larger pageSize is cut down to it.
	// Zero means 999.
	MaxPageSize int

	// MaxBody bounds a request body in bytes. Zero means 1 MiB.
	MaxBody int64

	// Search makes searches misbehave; see SetSearchBehavior for changing it later.
	Search SearchBehavior

	// Seed decides everything that looks random: ties, lags, faults drawn by OneIn.
	Seed uint64

	// RequestLog is how many requests, and how many notifications, are kept for the dashboard and the control
	// interface: the newest, without secrets, at most 8 KiB of each body. Zero means 200, negative none.
	RequestLog int

	// Log gets a line for each request and for each delivery of a notification, which waits until it is written. Nil
	// means silent.
	Log io.Writer

	// Control says who reaches the dashboard and the control interface below /_sandbox/. Zero means ControlLoopback.
	Control ControlAccess

	// Label stands in the title of the dashboard, so that two of them are not confused.
	Label string

	// NoNotifications turns notifications off.
	NoNotifications bool

	// NotificationDelay is the time between the end of a transaction and the first delivery. Zero means at once,
	// so that a notification can overtake the response, as it can in production.
	NotificationDelay time.Duration

	// NotificationScale multiplies the waits between repeated deliveries. Zero means 1, which is real time.
	NotificationScale float64

	// NotificationTokenMember is the name of the member that carries the token of a token order, which the
	// interface does not show. Empty means "token".
	NotificationTokenMember string

	// NotificationTransport delivers notifications. Nil means a plain HTTP transport that sends to any host
	// except the reserved names example.com, example.net, example.org, .example, .test and .invalid, where
	// nobody can be listening.
	NotificationTransport http.RoundTripper
}

// Duplicates chooses what happens to a transactionId, or an orderId, that was seen before.
type Duplicates int

const (
	// DuplicatesRefused answers a seen transactionId with the published code 501, and a second payment for an
	// orderId that has a success with 101.
	DuplicatesRefused Duplicates = iota
	// DuplicatesDeclined answers both with 101, which a merchant cannot tell from a declined card.
	DuplicatesDeclined
	// DuplicatesExecuted checks nothing: the same request moves money again.
	DuplicatesExecuted
	// DuplicatesPerOrder checks only the orderId, and only when the request arrives, so that two requests in
	// flight for one order can both be charged. Token payments, which carry no orderId, are not checked.
	DuplicatesPerOrder
)

// ControlAccess chooses who reaches /_sandbox/.
type ControlAccess int

const (
	// ControlLoopback lets in requests that come from this machine, name a loopback host, and were not passed on by a
	// proxy.
	ControlLoopback ControlAccess = iota

	// ControlAnywhere lets in everybody who reaches the gateway. Whoever does can settle payments and read tokens.
	ControlAnywhere

	// ControlOff has no control interface.
	ControlOff
)

// RefundDuplicates chooses what happens to a refundTransactionId that was seen before. Neither the interface nor what
// is published says it, so a client must be safe with each.
type RefundDuplicates int

const (
	// RefundDuplicatesRefused answers with code 501 and moves no money.
	RefundDuplicatesRefused RefundDuplicates = iota

	// RefundDuplicatesRepeated answers the same request as it was answered before, and moves no money. A request with
	// another uniqueId or amount is refused with 501.
	RefundDuplicatesRepeated

	// RefundDuplicatesExecuted checks nothing: the same request gives money back again.
	RefundDuplicatesExecuted
)

const (
	defaultMaxPageSize = 999 // pageSize is Number(3)
	defaultPageSize    = 10  // the size of every published example that does not ask for one
	defaultMaxBody     = 1 << 20
	defaultRequestLog  = 200
)

// withDefaults returns o with every zero value replaced by its documented meaning.
func (o Options) withDefaults() Options {
	if o.Location == nil {
		o.Location = time.FixedZone("UTC+8", 8*60*60)
	}
	if o.BillDescription == "" {
		o.BillDescription = "sandbox.example"
	}
	if o.MaxPageSize <= 0 || o.MaxPageSize > defaultMaxPageSize {
		o.MaxPageSize = defaultMaxPageSize
	}
	if o.RequestLog == 0 {
		o.RequestLog = defaultRequestLog
	}
	if o.MaxBody <= 0 {
		o.MaxBody = defaultMaxBody
	}
	if o.NotificationScale <= 0 {
		o.NotificationScale = 1
	}
	if o.NotificationTokenMember == "" {
		o.NotificationTokenMember = "token"
	}
	return o
}

// SearchBehavior says how the two batch searches, and for Lag and Latency also the single query, depart from
// what a client would hope for. The zero value is well-behaved: bounds are inclusive, the newest row comes
// first, rows of one second keep their order, and a row is found as soon as it exists. Everything here is
// something that the interface leaves open, or that gateways have been seen to do.
type SearchBehavior struct {
	StartExclusive  bool // leaves out rows in the very second of startDate
	EndExclusive    bool // leaves out rows in the very second of endingDate
	EndDateWholeDay bool // an endingDate without a time means the end of that day instead of its first second
	WideRangeWithID bool // a search for an id may have any range: the month bounds time alone, as the rule can be read
	OldestFirst     bool // gives the oldest row first
	UnstableTies    bool // rows of one second change their order from request to request

	// Lag is the longest time after which a row is found by queries. Every row has its own lag up to this. A search
	// looks at each row that is younger, so keep it short with a dense book.
	Lag time.Duration
	// LagOneIn makes only one row in so many late. Zero and one mean every row.
	LagOneIn int

	// Arrive is how many orders (or refunds, when refunds are searched) come in just before each search
	// request is answered.
	Arrive int
	// ArriveInRange places the new rows somewhere in the range that is being searched instead of at now.
	ArriveInRange bool

	// Latency is how long each query takes.
	Latency time.Duration

	// MaxRange refuses a longer range, although it is within one month. Zero means one calendar month.
	MaxRange time.Duration
	// RefuseLargePages refuses a pageSize above Options.MaxPageSize instead of cutting it down.
	RefuseLargePages bool
	// LeakRows puts so many orders of other transactions in front of the rows of a search that is filtered
	// by transactionId.
	LeakRows int

	// Every so many search requests, counted over the life of the Gateway; zero means never.
	ShortEvery   int // half of the page's rows are missing
	EmptyEvery   int // all of them are
	RepeatEvery  int // the page before is given again
	OutsideEvery int // one row more, from outside the range
	BusyEvery    int // HTTP 429
	// BusyRetryAfter is the Retry-After of that 429, in whole seconds. Zero means no such header.
	BusyRetryAfter time.Duration
}

func duplicatesNames() []string { return []string{"refused", "declined", "executed", "perOrder"} }

func refundDuplicatesNames() []string { return []string{"refused", "repeated", "executed"} }

func controlNames() []string { return []string{"loopback", "anywhere", "off"} }

// UnmarshalText reads the name of a choice: refused, declined, executed or perOrder.
func (d *Duplicates) UnmarshalText(text []byte) error { return choose(d, duplicatesNames(), text) }

// MarshalText returns the name of the choice.
func (d Duplicates) MarshalText() ([]byte, error) {
	return []byte(nameOf(duplicatesNames(), int(d))), nil
}

// UnmarshalText reads the name of a choice: refused, repeated or executed.
func (d *RefundDuplicates) UnmarshalText(text []byte) error {
	return choose(d, refundDuplicatesNames(), text)
}

// MarshalText returns the name of the choice.
func (d RefundDuplicates) MarshalText() ([]byte, error) {
	return []byte(nameOf(refundDuplicatesNames(), int(d))), nil
}

// UnmarshalText reads the name of a choice: loopback, anywhere or off.
func (c *ControlAccess) UnmarshalText(text []byte) error { return choose(c, controlNames(), text) }

// MarshalText returns the name of the choice.
func (c ControlAccess) MarshalText() ([]byte, error) {
	return []byte(nameOf(controlNames(), int(c))), nil
}

func choose[T ~int](value *T, names []string, text []byte) error {
	i := slices.Index(names, string(text))
	if i < 0 {
		return fmt.Errorf("none of %s", strings.Join(names, ", "))
	}
	*value = T(i)
	return nil
}

func nameOf(names []string, i int) string {
	if i < 0 || i >= len(names) {
		return strconv.Itoa(i)
	}
	return names[i]
}
