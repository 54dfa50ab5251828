package cardgateway

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/shopspring/decimal"

	"github.com/cardgateway/cardgateway-go/internal/ascii"
)

// AppID identifies the merchant's website app: 1 to 32 decimal digits, the wider of the interface's two listings. It
// is a JSON number on the wire, but can be longer than any Go integer type holds, so it is a string here.
type AppID string

// isContradicted reports whether a response or a row, in which stated and extra were read, states another appId than a. If a
// is empty, none is another. Ids are compared as numbers, which they are on the wire: a text may have leading zeros. One that
// cannot be read is in extra, and counts as another, unless it is empty.
func (a AppID) isContradicted(stated AppID, extra map[string]json.RawMessage) bool {
	if a == "" {
		return false
	}
	if unread := extra["appId"]; len(unread) > 0 && string(unread) != `""` {
		return true
	}
	return stated != "" && strings.TrimLeft(string(stated), "0") != strings.TrimLeft(string(a), "0")
}

// ProductInfo is one line of the order ("ProductInfo (element of productInfos)"). The interface states no required
// members and no limits; members with their zero value are not sent.
type ProductInfo struct {
	ProductName string
	SKU         string
	ProductLink string          // URL of the product's page
	Currency    string          // three-letter code of ISO 4217; see Config.AnyCurrency
	Price       decimal.Decimal // sent as a string with all its decimals; the zero Decimal is not sent, 0.00 is
	Quantity    int             // not negative
	Extra       map[string]any  // members that the interface does not define
}

// Address is a billing or shipping address ("BillingAddress and ShippingAddress"). In a billing address Country is
// required; the interface states no other limits. Members with their zero value are not sent.
type Address struct {
	FirstName string
	LastName  string
	Country   string // two-letter code of ISO 3166-1, in capitals; see Config.AnyCountry
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
// subscriptions", last paragraph). The interface names only these two; use Extra for others.
type CheckoutExtension struct {
	Code    string
	Account string
	Extra   map[string]any // members that the interface does not name
}

// SubscriptionCycle is the length of one subscription cycle. Values other than these constants need Config.AnyCycle.
type SubscriptionCycle string

// WEEK is the only value in the interface; the others are published.
const (
	CycleDay         SubscriptionCycle = "DAY"
	CycleWeek        SubscriptionCycle = "WEEK"
	CycleMonth       SubscriptionCycle = "MONTH"
	CycleThreeMonths SubscriptionCycle = "THREE_MONTHS"
	CycleSixMonths   SubscriptionCycle = "SIX_MONTHS"
	CycleYear        SubscriptionCycle = "YEAR"
)

// isKnown reports whether the cycle is one of these constants.
func (c SubscriptionCycle) isKnown() bool {
	return slices.Contains([]SubscriptionCycle{CycleDay, CycleWeek, CycleMonth, CycleThreeMonths, CycleSixMonths, CycleYear}, c)
}

// TransactionMethod is a payment method, at most 32 characters. Values other than these constants are sent and
// kept unchanged.
type TransactionMethod string

// The values in the interface.
const (
	MethodDefault    TransactionMethod = "Default"
	MethodCreditCard TransactionMethod = "CreditCard"
)

// TransactionType is a kind of transaction. Values other than these constants are sent and kept unchanged.
type TransactionType string

// Tokenization is the only value in the interface; the others are published.
const (
	TypeTokenization  TransactionType = "Tokenization"
	TypeSale          TransactionType = "Sale"
	TypeAuthorization TransactionType = "Authorization"
	TypeRefund        TransactionType = "Refund"
	TypeChargeback    TransactionType = "Chargeback"
)

// Code is the result code of a response or a record ("Errors"). The interface's list is not complete: an unknown code
// keeps its number and never counts as success.
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

// Codes that are published, and not in the interface.
const (
	CodeClosed               Code = 103 // order closed: final, not paid
	CodeRefundAccepted       Code = 110 // refund accepted, not refunded yet
	CodeRefundFailed         Code = 112 // refund declined: final
	CodeSearchFailed         Code = 122
	CodeUploadSuccess        Code = 141 // tracking numbers accepted
	CodeUploadFailed         Code = 142
	CodeMerchantInactive     Code = 201
	CodeRequestFailed        Code = 400
	CodeUnauthorized         Code = 401
	CodeNotFound             Code = 404
	CodeParameterError       Code = 500
	CodeDuplicateTransaction Code = 501 // the transactionId was used before
	CodeSystemError          Code = 999
)

// codeTexts describes the known codes.
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

// State is the state of a transaction, according to its code ("States and transitions").
type State int

// The states of a transaction. StateApproved means that it is paid only if it is no test: see Client.Paid.
const (
	StateUnknown    State = iota // an unknown code, or one without a definite meaning, or none
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

// isAccepted reports whether the gateway has accepted what was sent.
func (s State) isAccepted() bool {
	return s == StateApproved || s == StateProcessing || s == StateRedirect
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
// A member that the gateway omitted has its zero value. Texts come from the gateway: treat them as untrusted data. Runs of
// 13 or more digits in Message, TransactionMessage and BillDescription are masked when they are read. In a transaction
// that an error holds they are masked in all other members too, including Extra, and RedirectURL is empty.
type Transaction struct {
	Code                  Code
	Message               string // short text for Code
	IsTest                bool   // a test transaction; false also if the gateway does not say. One that cannot be read is in Extra
	AppID                 AppID
	UniqueID              string    // the gateway's id, digits only
	TransactionID         string    // the merchant's id, as sent
	BillDescription       string    // text on the cardholder's statement
	Timestamp             time.Time // when the gateway responded, not when the payment was made
	TransactionAmount     decimal.Decimal
	TransactionCurrency   string
	TransactionAt         WallTime // wall clock without a zone, as sent
	TransactionCardNumber MaskedCardNumber
	TransactionMessage    string // the acquirer's text, such as the reason of a decline
	TransactionMethod     TransactionMethod
	TransactionType       TransactionType
	Is3D                  *bool  // nil if the gateway did not say
	RedirectURL           string // absolute http or https URL to redirect the cardholder to
	BillingAddress        *Address
	// Extra holds the members that this version does not know, and those whose value could not be read, as received;
	// nil if there are none.
	Extra map[string]json.RawMessage
	Raw   *RawResponse // of the response to the call; nil unless Config.KeepResponses, and in a row of a page
}

// String describes the transaction in one line: its ids, code, amount and time, and neither texts of the gateway nor personal data.
func (t Transaction) String() string {
	text := fmt.Sprintf("transaction %s (uniqueId %s): %v, %v %s", quoted(t.TransactionID), quoted(t.UniqueID), t.Code, t.TransactionAmount, t.TransactionCurrency)
	if t.IsTest {
		text += ", test"
	}
	return text + at(t.TransactionAt)
}

// at names a time, if there is one.
func at(w WallTime) string {
	if w.IsZero() {
		return ""
	}
	return ", " + w.String()
}

// State returns what Code means for the transaction.
func (t *Transaction) State() State { return t.Code.state() }

// StatesOtherApp reports whether the transaction states another appId than app: one that cannot be read does, and none does
// not. If app is empty, none is another. Client.IsOtherApp uses the client's appId.
func (t *Transaction) StatesOtherApp(app AppID) bool { return app.isContradicted(t.AppID, t.Extra) }

// Paid reports whether the transaction is approved and no test: code 100, without an isTest that is true or cannot be read.
// Client.Paid counts tests too, for a client with Config.TestPayments.
func (t *Transaction) Paid() bool { return t.isPaid(false) }

// isPaid reports whether the transaction is approved, and no test unless tests count.
func (t *Transaction) isPaid(testsCount bool) bool {
	return t.Code == CodeSuccess && (!t.IsTest || testsCount) && !t.hasUnreadTest()
}

// hasUnreadTest reports whether it has an isTest that could not be read.
func (t *Transaction) hasUnreadTest() bool {
	for name := range t.Extra {
		if isTestMark(name) {
			return true
		}
	}
	return false
}

const (
	memberIsTest   = "isTest"
	memberRefundID = "refundTransactionId"
)

// isTestMark reports whether a member is isTest, in this spelling or another, such as is_test: money must not depend on it.
func isTestMark(name string) bool {
	const maxMarks = 4
	if len(name) > len(memberIsTest)+maxMarks {
		return false
	}
	return strings.EqualFold(memberIsTest, strings.Map(func(c rune) rune {
		if unicode.IsLetter(c) {
			return c
		}
		return -1
	}, name))
}

// Refund is one item of a refund query ("Refund record").
type Refund struct {
	Code             Code // CodeRefundSuccess: refunded
	Message          string
	Timestamp        time.Time // when the gateway responded
	MerchantRefundID string    // the merchant's refund request id; also read from the published name refundTransactionId
	UniqueID         string    // the refunded transaction
	RefundUniqueID   string    // the gateway's id of the refund
	RefundCurrency   string
	RefundAmount     decimal.Decimal
	RefundRequestAt  WallTime // when it was requested
	RefundAt         WallTime // when it was made; zero before that
	AppID            AppID    // not in the interface; empty if the gateway does not state it
	// Extra holds the members that this version does not know, and those whose value could not be read, as received;
	// nil if there are none.
	Extra map[string]json.RawMessage
	Raw   *RawResponse // of the response to CreateRefund; nil unless Config.KeepResponses
}

// String describes the refund in one line, as Transaction.String does.
func (r Refund) String() string {
	return fmt.Sprintf("refund %s (refundUniqueId %s) of uniqueId %s: %v, %v %s%s", quoted(r.MerchantRefundID), quoted(r.RefundUniqueID), quoted(r.UniqueID), r.Code,
		r.RefundAmount, r.RefundCurrency, at(r.RefundRequestAt))
}

// State returns what Code means for the refund: StateApproved (111) is refunded, StateProcessing (110) is accepted and not
// refunded yet, StateDeclined (112) is declined for good.
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

// Err returns the error that CreateRefund itself would have returned with this refund: a *RefundDeclinedError if it is declined,
// otherwise nil. Use it for a refund from a query, a walk or a notification. The error holds a masked copy.
func (r *Refund) Err() error {
	if r.State() != StateDeclined {
		return nil
	}
	return &RefundDeclinedError{Op: "Refund", RefundTransactionID: r.MerchantRefundID, Refund: r.forError()}
}

// StatesOtherApp reports whether the refund states another appId than app, as Transaction.StatesOtherApp does.
func (r *Refund) StatesOtherApp(app AppID) bool { return app.isContradicted(r.AppID, r.Extra) }

// Refunded reports whether the refund was made: code 111 and nothing else.
func (r *Refund) Refunded() bool { return r.Code == CodeRefundSuccess }

// Page is one page of a batch query ("Page envelope"). The counts are the gateway's, and not derived from Data.
type Page[T any] struct {
	Code       Code
	Message    string
	Timestamp  time.Time // when the gateway responded
	CurrPage   int       // counted from 1
	PageSize   int       // may be smaller than requested
	TotalCount int       // rows of the query, on all its pages
	TotalPage  int       // pages of the query
	Data       []T
	Raw        *RawResponse // nil unless Config.KeepResponses
}

// RawResponse is a response as received, for a support ticket: see Config.KeepResponses. Card numbers, tokens and
// credentials are masked. Names, addresses and the like are not: treat it as personal data.
type RawResponse struct {
	HTTPStatus int
	RequestIDs http.Header // headers with which the gateway, or a proxy in front of it, identifies the request
	Body       string      // at most 64 KiB
	Truncated  bool        // the body was longer
}

// MaskedCardNumber is a card number of which only the first six and the last four digits are visible. If a gateway
// sends a full number, it is masked when it is read.
type MaskedCardNumber string

// First6 returns the six visible digits at the start, which identify the card's issuer, or "" if there are fewer.
func (m MaskedCardNumber) First6() string {
	if len(m) >= 10 && ascii.IsDigits(m[:6]) {
		return string(m[:6])
	}
	return ""
}

// Last4 returns the four visible digits at the end, or "" if there are fewer.
func (m MaskedCardNumber) Last4() string {
	if len(m) >= 4 && ascii.IsDigits(m[len(m)-4:]) {
		return string(m[len(m)-4:])
	}
	return ""
}
