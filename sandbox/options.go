package sandbox

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cardgateway/cardgateway-go/sandbox/internal/money"
)

// Options configures a Gateway. The zero value is a gateway that accepts any appId without authentication, refuses a
// repeated transactionId and settles token payments at once.
type Options struct {
	// MerchantID enables HTTP Basic authentication: every call must have this user name, and SecretKey as its password. The
	// interface does not document an authentication scheme; this is the published one.
	MerchantID string `json:"merchantId"`

	// SecretKey is the Basic password and the key for signing notifications. Empty means that notifications have no sign
	// member.
	SecretKey string `json:"-"`

	// AppID is the only appId that payments may have, as digits; New panics if it is something else. Empty means any. It is the
	// appId of rows that no payment made, such as those of Seed, which have none if it is empty.
	AppID string `json:"appId"`

	// BaseURL is the prefix of the hosted pages' paths in redirectUrl, for example "https://pay.shop.test", without a path.
	// Empty means the scheme and host of the request.
	BaseURL string `json:"baseUrl"`

	// MerchantName is the name of the merchant on the hosted pages. Empty means the host of the callbackUrl.
	MerchantName string `json:"merchantName"`

	// Location is the time zone of transactionAt and of the bounds of a search. Nil means UTC+8.
	Location *time.Location `json:"-"`

	// Duplicates selects the response to a repeated transactionId or orderId. Zero means DuplicatesRefused.
	Duplicates Duplicates `json:"duplicates"`

	// RefundDuplicates selects the response to a repeated refundTransactionId. Zero means RefundDuplicatesRefused.
	RefundDuplicates RefundDuplicates `json:"refundDuplicates"`

	// SettleAfter is how long an accepted token payment stays at 102 before it becomes 100 or 101. Zero means that only its
	// own response says 102: the next query returns it as final. Negative means that it stays at 102 until Settle is
	// called.
	SettleAfter time.Duration `json:"settleAfter"`

	// RefundSettleAfter is how long an accepted refund stays at 110 before it becomes 111. Zero means that only its own
	// response says 110: the next query returns it as refunded. Negative means that it stays at 110 until SettleRefund is
	// called.
	RefundSettleAfter time.Duration `json:"refundSettleAfter"`

	// RenewalsHaveNewID gives each later charge of a subscription, which Renew makes, a transactionId of the gateway's own. By
	// default it repeats that of the first charge, with a uniqueId of its own. Neither the interface nor published documents
	// say which, or whether there is a notification of it.
	RenewalsHaveNewID bool `json:"renewalsHaveNewId"`

	// PublishedLimits also checks limits that gateways publish beyond the interface: the lengths of the members of
	// addresses, products and browsers, of domain and productName, the digits of quantity, price and subscriptionPeriod,
	// the list of subscriptionCycles, and that a shippingAddress is complete. POST /api/refund and POST
	// /upload/trackingNumber, which are published as a whole, are always checked.
	PublishedLimits bool `json:"publishedLimits"`

	// MaxPageSize is the largest page that a search returns, at most 999. A larger pageSize is reduced to it. Zero means
	// 999.
	MaxPageSize int `json:"maxPageSize"`

	// NoNotifications disables notifications.
	NoNotifications bool `json:"noNotifications"`

	// Log gets a line for each request and for each delivery of a notification. A request or delivery ends only after its
	// line is written. Nil means no log.
	Log io.Writer `json:"-"`

	// Seed is the seed of everything that looks random: ties, lags, faults selected by OneIn.
	Seed uint64 `json:"seed"`

	// Cards says what cards and cardholders can do.
	Cards Cards `json:"cards"`

	// Responses says what responses look like.
	Responses Responses `json:"responses"`

	// Search makes searches misbehave; SetSearch can change it later.
	Search Search `json:"search"`

	// Notifications says how notifications are delivered.
	Notifications Notifications `json:"notifications"`

	// Console is about the dashboard and the control API.
	Console Console `json:"console"`
}

// Cards says what cards and cardholders can do, where the interface leaves it open.
type Cards struct {
	// TokenOrderUsesCard makes the card decide the outcome of a token order, which is one reading of the published table of
	// test cards: a declined card creates no token. By default a token can be created for any card, and the card decides
	// the outcome of the payments with it.
	TokenOrderUsesCard bool `json:"tokenOrderUsesCard"`

	// TokenOrderCharges makes an approved token order charge its amount, as a payment does. By default it only stores the card.
	// The interface does not say.
	TokenOrderCharges bool `json:"tokenOrderCharges"`

	// SecureForEveryCard requires 3D authentication whenever a request says secure. By default it is required only if the
	// card would be approved; the interface does not say.
	SecureForEveryCard bool `json:"secureForEveryCard"`

	// HostedRetry lets a cardholder whose card was declined on the hosted page try another one. Each attempt is a row of
	// its own with the same transactionId. By default the first decline ends the payment.
	HostedRetry bool `json:"hostedRetry"`

	// DeclineLater makes the response to a token payment with a declined card 102; it becomes 101 when it settles. By
	// default the response is 101.
	DeclineLater bool `json:"declineLater"`
}

// Responses says what responses look like, where gateways differ.
type Responses struct {
	// Is3DBoolean sends is3d as a JSON boolean, as in the published table, instead of the interface's string.
	Is3DBoolean bool `json:"is3DBoolean"`

	// RefundTransactionIDInRows names the merchant's refund id refundTransactionId in the rows of a refund query, as in the
	// published table. By default it is merchantRefundId, as in the interface.
	RefundTransactionIDInRows bool `json:"refundTransactionIdInRows"`

	// NoRedirectURLInRows leaves redirectUrl out of the rows of queries: then a redirectUrl whose response was lost cannot be
	// fetched again. By default they have it; the interface does not say.
	NoRedirectURLInRows bool `json:"noRedirectUrlInRows"`

	// HTTPStatusFollowsCode sends a refusal with the HTTP status that has the same number as its code (401 for code 401),
	// or 500 for code 999. By default every JSON response to a known operation has HTTP status 200.
	HTTPStatusFollowsCode bool `json:"httpStatusFollowsCode"`
}

// Notifications says how notifications are delivered. In the zero value they are delivered at once, and repeated as published:
// 5 s, 5, 15 and 30 min after the first failure.
type Notifications struct {
	// Delay is the time between the end of a transaction and the first delivery. Zero means at once, so that a
	// notification can arrive before the response, as it can in production.
	Delay time.Duration `json:"delay"`

	// Scale multiplies the times of repeated deliveries. Zero means 1, which is real time.
	Scale float64 `json:"scale"`

	// TokenMember is the name of the member that holds the token of a token order, which the interface does not
	// document. Empty means "token".
	TokenMember string `json:"tokenMember"`

	// Transport delivers notifications. Nil means a plain HTTP transport that sends to any host except the
	// reserved names example.com, example.net, example.org, .example, .test and .invalid, where there cannot be a server.
	Transport http.RoundTripper `json:"-"`
}

// Console says who can use the dashboard and the control API below /_sandbox/, and what they show.
type Console struct {
	// Access selects who can use the dashboard and the control API below /_sandbox/. Zero means ControlLoopback.
	Access ControlAccess `json:"access"`

	// Label is shown in the title of the dashboard, to distinguish sandboxes.
	Label string `json:"label"`

	// RequestLog is how many requests, and how many notifications, are kept for the dashboard and the control API: the
	// newest ones, without secrets, at most 8 KiB of each body. Zero means 200, negative none.
	RequestLog int `json:"requestLog"`
}

// Duplicates selects what happens to a transactionId, or an orderId, that was seen before.
type Duplicates int

const (
	// DuplicatesRefused refuses a repeated transactionId with the published code 501, and a second payment for an orderId
	// that has a success with 101.
	DuplicatesRefused Duplicates = iota
	// DuplicatesDeclined refuses both with 101, which a merchant cannot distinguish from a declined card.
	DuplicatesDeclined
	// DuplicatesExecuted checks nothing: the same request moves money again.
	DuplicatesExecuted
	// DuplicatesPerOrder checks only the orderId, and only when the request arrives, so that two requests for one order are
	// both charged if a Fault delays the first one. Token payments, which have no orderId, are not checked.
	DuplicatesPerOrder
)

// ControlAccess selects who can use /_sandbox/.
type ControlAccess int

const (
	// ControlLoopback accepts requests that come from this machine, name a loopback host, and did not pass through a proxy.
	ControlLoopback ControlAccess = iota

	// ControlAnywhere accepts requests from everyone who can reach the gateway, including settling payments and reading
	// tokens.
	ControlAnywhere

	// ControlOff disables the dashboard and the control API.
	ControlOff
)

// RefundDuplicates selects what happens to a refundTransactionId that was seen before. Neither the interface nor published
// documents define it, so a client must be safe with each.
type RefundDuplicates int

const (
	// RefundDuplicatesRefused refuses it with code 501 and moves no money.
	RefundDuplicatesRefused RefundDuplicates = iota

	// RefundDuplicatesRepeated repeats the earlier response to the same request, and moves no money. A request with another
	// uniqueId or amount is refused with 501.
	RefundDuplicatesRepeated

	// RefundDuplicatesExecuted checks nothing: the same request refunds money again.
	RefundDuplicatesExecuted
)

const (
	defaultMaxPageSize = 999     // pageSize is Number(3)
	defaultPageSize    = 10      // the page size in every published example whose request has none
	maxBody            = 1 << 20 // of a request
	defaultRequestLog  = 200
)

// withDefaults returns o with every zero value replaced by its documented default.
func (o Options) withDefaults() Options {
	if o.Location == nil {
		o.Location = time.FixedZone("UTC+8", 8*60*60)
	}
	if o.MaxPageSize <= 0 || o.MaxPageSize > defaultMaxPageSize {
		o.MaxPageSize = defaultMaxPageSize
	}
	if o.Console.RequestLog == 0 {
		o.Console.RequestLog = defaultRequestLog
	}
	o.BaseURL = strings.TrimRight(o.BaseURL, "/")
	if o.AppID != "" {
		if !money.IsDigits(o.AppID) {
			panic("sandbox: Options.AppID must have digits only")
		}
		o.AppID = withoutZeros(o.AppID)
	}
	if o.Notifications.Scale <= 0 {
		o.Notifications.Scale = 1
	}
	if o.Notifications.TokenMember == "" {
		o.Notifications.TokenMember = "token"
	}
	return o
}

// Search configures the two batch searches, and with Lag and Latency also the single query. The zero value is
// well-behaved: bounds are inclusive, the newest row comes first, the order of rows within one second is stable, and a row
// is found as soon as it exists. Every field stands for something that the interface leaves open, or that gateways have
// been observed to do.
type Search struct {
	StartExclusive  bool `json:"startExclusive"`  // leaves out rows in the second of startDate
	EndExclusive    bool `json:"endExclusive"`    // leaves out rows in the second of endingDate
	WideRangeWithID bool `json:"wideRangeWithId"` // a search by id may have any range; by default the limit of one month applies to it, too
	OldestFirst     bool `json:"oldestFirst"`     // returns the oldest row first
	UnstableTies    bool `json:"unstableTies"`    // the order of rows within one second changes with each request

	// Lag is the longest time until a new row is found by queries. Every row has its own lag up to this. A search examines
	// each row that is younger, so keep Lag short if there are many rows.
	Lag time.Duration `json:"lag"`
	// LagOneIn makes only one row in so many late. Zero and one mean every row.
	LagOneIn int `json:"lagOneIn"`

	// Arrive is how many orders (or refunds, if refunds are searched) are added just before each search is carried out.
	Arrive int `json:"arrive"`

	// Latency is how long each query takes.
	Latency time.Duration `json:"latency"`

	// MaxRange is the longest range that is not refused, if it is shorter than one month. Zero means one calendar month.
	MaxRange time.Duration `json:"maxRange"`
	// RefuseLargePages refuses a pageSize above Options.MaxPageSize instead of reducing it.
	RefuseLargePages bool `json:"refuseLargePages"`
	// LeakRows is how many orders of other transactions are returned before the rows of a search by transactionId.
	LeakRows int `json:"leakRows"`

	// Each of these applies to every n-th search request, counted over the lifetime of the Gateway; zero means never.
	ShortEvery   int `json:"shortEvery"`   // half of the page's rows are missing
	EmptyEvery   int `json:"emptyEvery"`   // all of them are
	RepeatEvery  int `json:"repeatEvery"`  // the previous page is returned again
	OutsideEvery int `json:"outsideEvery"` // one additional row, from outside the range
	BusyEvery    int `json:"busyEvery"`    // HTTP 429
	// BusyRetryAfter is the Retry-After of the 429 responses, in whole seconds. Zero means no such header.
	BusyRetryAfter time.Duration `json:"busyRetryAfter"`
}

func duplicatesNames() []string { return []string{"refused", "declined", "executed", "perOrder"} }

func refundDuplicatesNames() []string { return []string{"refused", "repeated", "executed"} }

func controlNames() []string { return []string{"loopback", "anywhere", "off"} }

// UnmarshalText reads a name: refused, declined, executed or perOrder.
func (d *Duplicates) UnmarshalText(text []byte) error { return choose(d, duplicatesNames(), text) }

// MarshalText returns the name of the choice.
func (d Duplicates) MarshalText() ([]byte, error) {
	return []byte(nameOf(duplicatesNames(), int(d))), nil
}

// UnmarshalText reads a name: refused, repeated or executed.
func (d *RefundDuplicates) UnmarshalText(text []byte) error {
	return choose(d, refundDuplicatesNames(), text)
}

// MarshalText returns the name of the choice.
func (d RefundDuplicates) MarshalText() ([]byte, error) {
	return []byte(nameOf(refundDuplicatesNames(), int(d))), nil
}

// UnmarshalText reads a name: loopback, anywhere or off.
func (c *ControlAccess) UnmarshalText(text []byte) error { return choose(c, controlNames(), text) }

// MarshalText returns the name of the choice.
func (c ControlAccess) MarshalText() ([]byte, error) {
	return []byte(nameOf(controlNames(), int(c))), nil
}

func choose[T ~int](value *T, names []string, text []byte) error {
	i := slices.Index(names, string(text))
	if i < 0 {
		return fmt.Errorf("%.40q must be one of %s", text, strings.Join(names, ", "))
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
