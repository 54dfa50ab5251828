package cardgateway

import (
	"encoding/json"
	"net/http"
	"strconv"
	"time"

	"github.com/shopspring/decimal"

	"github.com/cardgateway/cardgateway-go/internal/ascii"
)

// AppID identifies the merchant's website app: 1 to 32 decimal digits, the wider of the interface's two listings. It
// is a JSON number on the wire, and is longer than any Go number type holds, so it stays text here.
type AppID string

// ProductInfo is one line of the order ("ProductInfo (element of productInfos)"). The interface states no required
// members and no limits; members with their zero value are not sent.
type ProductInfo struct {
	ProductName string
	SKU         string
	ProductLink string          // URL of the product's page
	Currency    string          // three-letter code
	Price       decimal.Decimal // sent as text with as many decimals as it has; the zero Decimal is not sent, 0.00 is
	Quantity    int             // not negative
	Extra       map[string]any  // members that the interface does not name
}

// Address is a billing or shipping address ("BillingAddress and ShippingAddress"). In a billing address Country is
// required; the interface states no other limits. Members with their zero value are not sent.
type Address struct {
	FirstName string
	LastName  string
	Country   string // two-letter code in capitals
	Email     string
	City      string
	Address   string
	Phone     string
	State     string
	ZipCode   string
	Extra     map[string]any // members that the interface does not name
}

// Browser describes the cardholder's browser, required where a 3D transaction is requested ("Browser").
type Browser struct {
	UserAgent string
	Referer   string         // URL
	Extra     map[string]any // members that the interface does not name
}

// SubscriptionExtension says how a subscription repeats ("Extension for subscriptions").
type SubscriptionExtension struct {
	SubscriptionCycle       SubscriptionCycle // required
	SubscriptionPeriod      int               // required, at least 1; published as the number of cycles
	SubscriptionDescription string
	Extra                   map[string]any // members that the interface does not name
}

// CheckoutExtension holds fields that some transactions of the redirect checkout need ("Extension for
// subscriptions", last paragraph). The interface names these two and does not show the others: use Extra.
type CheckoutExtension struct {
	Code    string
	Account string
	Extra   map[string]any // members that the interface does not name
}

// SubscriptionCycle is the length of one subscription cycle. Other values than these constants are sent as they are.
type SubscriptionCycle string

// WEEK is the one value of the interface; the others are published by gateways that speak it.
const (
	CycleDay         SubscriptionCycle = "DAY"
	CycleWeek        SubscriptionCycle = "WEEK"
	CycleMonth       SubscriptionCycle = "MONTH"
	CycleThreeMonths SubscriptionCycle = "THREE_MONTHS"
	CycleSixMonths   SubscriptionCycle = "SIX_MONTHS"
	CycleYear        SubscriptionCycle = "YEAR"
)

// TransactionMethod is a payment method, at most 32 characters. Other values than these constants are sent and
// kept as they are.
type TransactionMethod string

// The values that the interface shows.
const (
	MethodDefault    TransactionMethod = "Default"
	MethodCreditCard TransactionMethod = "CreditCard"
)

// TransactionType is a kind of transaction. Other values than these constants are sent and kept as they are.
type TransactionType string

// Tokenization is the value that the interface shows; the others are published by gateways that speak it.
const (
	TypeTokenization  TransactionType = "Tokenization"
	TypeSale          TransactionType = "Sale"
	TypeAuthorization TransactionType = "Authorization"
	TypeRefund        TransactionType = "Refund"
	TypeChargeback    TransactionType = "Chargeback"
)

// Code is the result code of a response or a record ("Errors"). The interface's list is not full: an unknown code
// keeps its number and is never a success.
type Code int

// The codes of the interface.
const (
	CodeSuccess       Code = 100 // successful transaction
	CodeFailed        Code = 101 // transaction failed: declined
	CodeProcessing    Code = 102 // accepted, in processing
	CodeRefundSuccess Code = 111 // refund record: refunded
	CodeSearchSuccess Code = 121 // batch query succeeded
	CodeRedirect      Code = 301 // send the cardholder to RedirectURL
)

// Codes that are not in the interface but published by gateways that speak it.
const (
	CodeClosed               Code = 103 // order closed: final, not paid
	CodeRefundAccepted       Code = 110 // refund applied for, not yet refunded
	CodeRefundFailed         Code = 112 // refund refused: final
	CodeSearchFailed         Code = 122
	CodeUploadSuccess        Code = 141 // tracking numbers taken
	CodeUploadFailed         Code = 142
	CodeMerchantInactive     Code = 201
	CodeRequestFailed        Code = 400
	CodeUnauthorized         Code = 401
	CodeNotFound             Code = 404
	CodeParameterError       Code = 500
	CodeDuplicateTransaction Code = 501 // the transactionId was used before
	CodeSystemError          Code = 999
)

// codeTexts says in words what the known codes mean.
var codeTexts = map[Code]string{
	CodeSuccess:              "successful transaction",
	CodeFailed:               "transaction failed",
	CodeProcessing:           "order processing",
	CodeClosed:               "order closed",
	CodeRefundAccepted:       "refund request successful",
	CodeRefundSuccess:        "refund successful",
	CodeRefundFailed:         "refund failed",
	CodeSearchSuccess:        "search success",
	CodeSearchFailed:         "search failed",
	CodeUploadSuccess:        "upload successful",
	CodeUploadFailed:         "upload failed",
	CodeMerchantInactive:     "merchant inactive",
	CodeRedirect:             "redirect required",
	CodeRequestFailed:        "request failed",
	CodeUnauthorized:         "unauthorized",
	CodeNotFound:             "not found",
	CodeParameterError:       "request parameter error",
	CodeDuplicateTransaction: "duplicate transactionId",
	CodeSystemError:          "system error",
}

// Known reports whether the code is one of this package's constants.
func (c Code) Known() bool { return codeTexts[c] != "" }

// String returns the number and, for a known code, its meaning.
func (c Code) String() string {
	if text, known := codeTexts[c]; known {
		return strconv.Itoa(int(c)) + " (" + text + ")"
	}
	return strconv.Itoa(int(c))
}

// State is what a code says about a transaction ("States and transitions").
type State int

// A transaction is in one of these states. Only StateApproved means that money was taken.
const (
	StateUnknown    State = iota // a code that says nothing certain, or none
	StateApproved                // 100
	StateDeclined                // 101, and the published 103 (closed): final, not paid
	StateProcessing              // 102: accepted, the outcome comes later
	StateRedirect                // 301: waiting for the cardholder
)

func (c Code) state() State {
	switch c {
	case CodeSuccess:
		return StateApproved
	case CodeFailed, CodeClosed:
		return StateDeclined
	case CodeProcessing:
		return StateProcessing
	case CodeRedirect:
		return StateRedirect
	}
	return StateUnknown
}

// String returns the state in one word.
func (s State) String() string {
	switch s {
	case StateApproved:
		return "approved"
	case StateDeclined:
		return "declined"
	case StateProcessing:
		return "processing"
	case StateRedirect:
		return "redirect"
	}
	return "unknown"
}

// Transaction is the response to a payment operation and one item of an order query ("Transaction result").
// A member that the gateway left out has its zero value. Texts are the gateway's own: display them as data. Runs of
// 13 or more digits in Message, TransactionMessage and BillDescription are masked when they are read. In a transaction
// that an error holds they are masked everywhere else too, also in Extra, and RedirectURL is empty.
type Transaction struct {
	Code                  Code
	Message               string // short text for Code
	IsTest                bool
	AppID                 AppID
	UniqueID              string    // the gateway's id, digits only
	TransactionID         string    // the merchant's id, as sent
	BillDescription       string    // text on the cardholder's statement
	Timestamp             time.Time // when the gateway answered, not when the payment was made
	TransactionAmount     decimal.Decimal
	TransactionCurrency   string
	TransactionAt         WallTime // wall clock without a zone, as sent
	TransactionCardNumber MaskedCardNumber
	TransactionMessage    string // the acquirer's text, such as the reason of a decline
	TransactionMethod     TransactionMethod
	TransactionType       TransactionType
	Is3D                  *bool  // nil: not said
	RedirectURL           string // absolute http or https URL; where to send the cardholder
	BillingAddress        *Address
	// Extra holds the members that this version does not know, and those whose value could not be read, as sent;
	// nil if there are none.
	Extra map[string]json.RawMessage
	Raw   *RawResponse // of the response to the call; nil unless Config.KeepResponses, and in a row of a page
}

// State says what Code means for the transaction.
func (t *Transaction) State() State { return t.Code.state() }

// Paid reports whether the transaction is approved: code 100 and nothing else.
func (t *Transaction) Paid() bool { return t.Code == CodeSuccess }

// Refund is one item of a refund query ("Refund record").
type Refund struct {
	Code             Code // CodeRefundSuccess: refunded
	Message          string
	Timestamp        time.Time // when the gateway answered
	MerchantRefundID string    // the merchant's refund request id; also read from the published name refundTransactionId
	UniqueID         string    // the refunded transaction
	RefundUniqueID   string    // the gateway's id of the refund
	RefundCurrency   string
	RefundAmount     decimal.Decimal
	RefundRequestAt  WallTime                   // when it was asked for
	RefundAt         WallTime                   // when it was made; zero before that
	Extra            map[string]json.RawMessage // members that this version does not know; nil if none
	Raw              *RawResponse               // of the response to CreateRefund; nil unless Config.KeepResponses
}

// State says what Code means for the refund: StateApproved (111) is money given back, StateProcessing (110) is accepted and
// not yet given back, StateDeclined (112) is refused for good.
func (r *Refund) State() State {
	switch r.Code {
	case CodeRefundSuccess:
		return StateApproved
	case CodeRefundAccepted:
		return StateProcessing
	case CodeRefundFailed:
		return StateDeclined
	}
	return StateUnknown
}

// Refunded reports whether the money was given back: code 111 and nothing else.
func (r *Refund) Refunded() bool { return r.Code == CodeRefundSuccess }

// Page is one page of a batch query ("Page envelope"). The counts are what the gateway said, not what Data holds.
type Page[T any] struct {
	Code       Code
	Message    string
	Timestamp  time.Time // when the gateway answered
	CurrPage   int       // counted from 1
	PageSize   int       // may be smaller than was asked for
	TotalCount int
	TotalPage  int
	Data       []T
	Raw        *RawResponse // nil unless Config.KeepResponses
}

// RawResponse is a response as it came, for a support ticket: see Config.KeepResponses. Card numbers, tokens and
// credentials are masked. Names, addresses and the like are not: treat it as personal data.
type RawResponse struct {
	HTTPStatus int
	RequestIDs http.Header // the headers by which the gateway, or a proxy before it, names the request
	Body       string      // at most 64 KiB
	Truncated  bool        // the body was longer
}

// MaskedCardNumber is a card number of which the first six and the last four digits are visible. Should a gateway
// send a whole number, it is masked when it is read.
type MaskedCardNumber string

// First6 returns the visible digits at the start, which name the card's issuer, or nothing if there are not six.
func (m MaskedCardNumber) First6() string {
	if len(m) >= 10 && ascii.IsDigits(m[:6]) {
		return string(m[:6])
	}
	return ""
}

// Last4 returns the visible digits at the end, or nothing if there are not four.
func (m MaskedCardNumber) Last4() string {
	if len(m) >= 4 && ascii.IsDigits(m[len(m)-4:]) {
		return string(m[len(m)-4:])
	}
	return ""
}
