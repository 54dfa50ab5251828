package journal

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/shopspring/decimal"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/internal/baseurl"
	"github.com/cardgateway/cardgateway-go/internal/check"
)

// Entry is one payment, or one refund, as a Store holds it: the intent with which it began, and all evidence since, in
// order. State and Outcome return the result.
type Entry struct {
	Begun    Intent
	Evidence []Evidence
	// Acked is how much of Evidence has been acknowledged; negative before the first acknowledgement. Evidence
	// beyond it must still be reported to the merchant.
	Acked int

	queryErr     error // of the last query, if it failed
	testPayments bool  // a test counts as paid: set by a Journal whose client has Config.TestPayments
}

// Key returns the key of the entry.
func (e *Entry) Key() Key { return e.Begun.Key() }

// ID returns the id of the payment or the refund.
func (e *Entry) ID() ID { return e.Begun.ID }

// Version returns how much is known: the length of Evidence, which only grows. Of two forms of an entry, the one with the greater
// version is the newer one, so keep it beside what you store of an entry, and store no older one over it.
func (e *Entry) Version() int { return len(e.Evidence) }

// LastQueryError returns why the last query for the outcome failed, in an entry that Recover yields, Run reports or Resolve returns: for example,
// because the secret key is no longer valid. It is nil if the query did not fail, and in any other entry.
func (e *Entry) LastQueryError() error { return e.queryErr }

// Unacked reports whether the entry has something that the merchant has not acknowledged.
func (e *Entry) Unacked() bool { return e.Acked < len(e.Evidence) }

// MayForget reports whether a store may delete the entry: it is acknowledged, and everything of it was recorded before the
// given time. Going by Begun alone would delete a payment that began long ago and was submitted again a moment ago, and a
// repeated call would charge again.
func (e *Entry) MayForget(before time.Time) bool {
	since := func(ev Evidence) bool { return !ev.At.Before(before) }
	return !e.Unacked() && e.Begun.At.Before(before) && !slices.ContainsFunc(e.Evidence, since)
}

// latest returns when the latest of the entry was recorded.
func (e *Entry) latest() time.Time {
	if n := len(e.Evidence); n > 0 {
		return e.Evidence[n-1].At
	}
	return e.Begun.At
}

// Intent is what is about to be sent: everything that identifies the payment, and no card data.
type Intent struct {
	Shop      Shop
	ID        ID
	Operation string // the client's method, such as TokenPayment, or Restore: see Journal.Restore
	Amount    decimal.Decimal
	At        time.Time // when it was recorded, before anything was sent
	Sender    string    // random; distinguishes this submission from others of the same id

	OrderID  string // of a payment, except TokenPayment
	Currency string // of a payment
	UniqueID string // of a refund: the gateway's id of the payment that is refunded

	// SubscriptionCycle is that of a subscription, which has later charges: see cardgateway.Client.Resolve.
	SubscriptionCycle cardgateway.SubscriptionCycle
}

// Key returns the key of the intent's entry.
func (in *Intent) Key() Key { return Key{in.Shop, in.ID} }

// The operations, by the names of the client's methods.
const (
	opTokenOrder           = "CreateTokenOrder"
	opTokenPayment         = "TokenPayment"
	opSubscription         = "CreateSubscription"
	opCheckout             = "CreateCheckout"
	opCheckoutSubscription = "CreateCheckoutSubscription"
	opRefund               = "CreateRefund"

	opRestore = "Restore" // it is not known which of them
)

// OnHostedPage reports whether the payment is made on the gateway's page, where a cardholder whose card is declined can
// try another one, or may be.
func (in *Intent) OnHostedPage() bool {
	switch in.Operation {
	case opTokenOrder, opCheckout, opCheckoutSubscription:
		return true
	case opRestore:
		return !in.ID.Refund
	}
	return false
}

// IsTokenOrder reports whether it is no payment but a token order, whose success says that it was approved. The
// interface does not say whether that charges its amount.
func (in *Intent) IsTokenOrder() bool { return in.Operation == opTokenOrder }

// same reports whether two intents have the same ids, operation, amount and currency. Of one that was restored, the order and the operation
// are not known.
func (in *Intent) same(other *Intent) bool {
	return in.ID == other.ID && (in.Operation == opRestore || in.OrderID == other.OrderID && in.Operation == other.Operation) &&
		in.Amount.Equal(other.Amount) && in.Currency == other.Currency && in.UniqueID == other.UniqueID
}

// Evidence is one fact that became known about a payment or a refund, or one further submission of it. It never changes.
type Evidence struct {
	At     time.Time
	Source Source
	// State is the state according to this evidence alone.
	State State
	// Submission is set for SourceSubmission only: what is being submitted.
	Submission *Intent
	// Sender identifies the submission to which a response belongs.
	Sender string
	// Transaction is what the gateway returned, or nil. Only members that identify the payment or determine its outcome are
	// kept: no free text, no card number, no address, no unknown members.
	Transaction *cardgateway.Transaction
	// Refund is, in the entry of a refund, what the gateway returned, or nil. The same members are kept.
	Refund *cardgateway.Refund
	// HTTPStatus and Code are those of a refusal.
	HTTPStatus int
	Code       cardgateway.Code
	// Invalid says that the client rejected the request as invalid; State is then NotSent.
	Invalid bool
	// Seen says that the gateway has returned this id in a form that does not tell the outcome; State is then Unknown.
	// It is never presumed absent.
	Seen bool
}

// Source says where evidence comes from.
type Source string

// The sources of evidence.
const (
	SourceSubmission Source = "submission" // another submission is about to be sent; State is Unknown
	SourceAnswer     Source = "answer"     // what a payment call returned
	SourceQuery      Source = "query"      // what a query returned
)

// State is what is known about a payment or a refund. States only change to a later one in this list, and Declined,
// Succeeded and Tested are final unless there is a contradiction, except that another submission makes a payment Unknown again, and so does the
// gateway if it shows one that is presumed absent without its outcome.
type State int

// The states of a payment. A refund is Pending with code 110, Succeeded with 111, Declined with 112, and never Abandoned.
const (
	Unknown        State = iota // the intent is recorded and the request may have been sent, or a response did not tell the outcome
	NotSent                     // proved: nothing was sent; the same call may be made again
	Refused                     // the gateway said that it did not process it
	PresumedAbsent              // the gateway has not known it for longer than AbsentAfter: a presumption, not a proof
	Pending                     // 102 or 301: in processing, or waiting for the cardholder, who may have had an attempt declined
	Abandoned                   // it waited for the cardholder for longer than the client's HostedPageLifetime; it is no longer queried
	Declined                    // final, not paid
	Succeeded                   // final, paid
	// Tested is a success that the gateway marks as a test, for a client without Config.TestPayments: final, and not paid. With it,
	// the same evidence is Succeeded. No single piece of evidence has this state.
	Tested
	// Conflicting means that the evidence is contradictory: two successes, or a success after the payment was declined, refused,
	// proved not sent or presumed absent. It needs manual review: money may have moved twice, or after the customer was told
	// that it did not. It stays so. No single piece of evidence has this state.
	Conflicting
)

// String returns unknown, not sent, refused, presumed absent, pending, abandoned, declined, succeeded, tested or
// conflict.
func (s State) String() string {
	if name, ok := statesInWords[s]; ok {
		return name.text
	}
	return statesInWords[Unknown].text
}

// statesInWords are the states in words, and in the JSON form of entries, so that stores stay readable and the numbers can change.
var statesInWords = map[State]struct{ text, wire string }{
	Unknown: {"unknown", "unknown"}, NotSent: {"not sent", "notSent"}, Refused: {"refused", "refused"},
	PresumedAbsent: {"presumed absent", "presumedAbsent"}, Pending: {"pending", "pending"}, Abandoned: {"abandoned", "abandoned"},
	Declined: {"declined", "declined"}, Succeeded: {"succeeded", "succeeded"}, Tested: {"tested", "tested"}, Conflicting: {"conflict", "conflict"},
}

// Shop identifies the shop to which an entry belongs. A transactionId, and a refundTransactionId, is unique only within a
// shop: two shops that share a database may use the same ids.
type Shop struct {
	Gateway string            // Options.Gateway, or else the client's base URL, in its normal form
	AppID   cardgateway.AppID // the client's
}

// String returns a text that is unique to the shop.
func (s Shop) String() string { return s.Gateway + " " + string(s.AppID) }

// ID names a payment or a refund of a shop. A payment and a refund with the same text are two entries.
type ID struct {
	Text   string // the transactionId of a payment, the refundTransactionId of a refund
	Refund bool
}

// PaymentID returns the ID of a payment.
func PaymentID(transactionID string) ID { return ID{Text: transactionID} }

// RefundID returns the ID of a refund.
func RefundID(refundTransactionID string) ID { return ID{Text: refundTransactionID, Refund: true} }

// String returns a text that is unique to the ID within a shop, for stores and logs: for a refund "refund " and the
// refundTransactionId, for a payment the transactionId. A transactionId that begins like that of a refund has "payment " before it.
func (id ID) String() string {
	switch {
	case id.Refund:
		return refundPrefix + id.Text
	case strings.HasPrefix(id.Text, refundPrefix), strings.HasPrefix(id.Text, paymentPrefix):
		return paymentPrefix + id.Text
	}
	return id.Text
}

const (
	refundPrefix  = "refund "
	paymentPrefix = "payment "
)

// ParseID reads what ID.String wrote.
func ParseID(text string) ID {
	if refundTransactionID, ok := strings.CutPrefix(text, refundPrefix); ok {
		return RefundID(refundTransactionID)
	}
	return PaymentID(strings.TrimPrefix(text, paymentPrefix))
}

// member returns the interface's name of the id.
func (id ID) member() string {
	if id.Refund {
		return "refundTransactionId"
	}
	return "transactionId"
}

// describe returns the kind of the entry and its id, for messages.
func (id ID) describe() string {
	if id.Refund {
		return fmt.Sprintf("refund %q", id.Text)
	}
	return fmt.Sprintf("transaction %q", id.Text)
}

// Key identifies an entry in a store that several shops can share.
type Key struct {
	Shop Shop
	ID   ID
}

// shopOf returns the shop of a client. Gateway is Options.Gateway.
func shopOf(client *cardgateway.Client, gateway string) Shop {
	return Shop{Gateway: cmp.Or(baseurl.Normal(gateway), client.BaseURL()), AppID: client.AppID()}
}

// snapshot returns a copy that does not change when e does, also if the merchant's function changes what it was given.
func (e *Entry) snapshot() Entry {
	s := *e
	s.Evidence = slices.Clone(e.Evidence)
	for i := range s.Evidence {
		ev := &s.Evidence[i]
		ev.setResult(ev.result().copied())
		if ev.Submission != nil {
			ev.Submission = new(*ev.Submission)
		}
	}
	return s
}

// recordable reports whether every store can store the intent. The limits are those of the interface ("Limits"), so that
// the client rejects whatever is rejected here.
func (in *Intent) recordable() bool {
	exp := in.Amount.Exponent()
	return in.ID.recordable() && isStorable(in.OrderID) && isStorable(in.UniqueID) && isStorable(in.Currency) &&
		isStorable(string(in.SubscriptionCycle)) && exp >= -3 && exp <= 12 && in.Amount.NumDigits() <= 12
}

// recordable reports whether every store can store the id, and the client accepts it.
func (id ID) recordable() bool { return strings.TrimSpace(id.Text) != "" && isStorable(id.Text) }

// isStorable reports whether a text has at most 128 characters, and none that a store could reject or change.
func isStorable(s string) bool {
	return utf8.RuneCountInString(s) <= 128 && check.IsPlainText(s)
}
