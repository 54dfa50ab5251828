package cardgateway

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/shopspring/decimal"
)

// Notification is what came to a notificationUrl ("Events"). The interface shows neither its payload nor a
// signature, so that anybody who knows the URL can write one: what it says is a claim and stands in Claimed. Facts
// are Transaction and Refund, which NotificationHandler gets from the gateway before the merchant's function sees
// the notification. Move money states by these alone.
type Notification struct {
	// Transaction is the transaction as the gateway confirms it. NotificationHandler always sets it,
	// ParseNotification never does.
	Transaction *Transaction
	// Refund is the refund as the gateway confirms it. NotificationHandler sets it for KindRefund and for nothing
	// else.
	Refund *Refund
	// Token stands for the stored card in TokenPayment, and is the zero value if none came. No query confirms a
	// token: see Bound, and NotificationOptions.TokenURLs.
	Token Token
	// Bound reports that the token came to the URL that TokenURLs made for the confirmed transactionId.
	Bound bool
	// Claimed is what the payload says.
	Claimed NotificationClaims

	// payload returns what a signature covers. It is a func so that nothing prints it: the token is among it.
	payload func() payload
}

// NotificationClaims is what a notification says about itself. Nothing in it is confirmed: use it to look up and to
// display, never to decide. A member that did not come has its zero value. The interface shows no payload; all names
// here are published by gateways that speak it.
type NotificationClaims struct {
	Kind             NotificationKind
	TransactionType  TransactionType // what Kind was told by, as sent
	Code             Code
	Message          string
	IsTest           bool
	AppID            AppID
	UniqueID         string // the gateway's id of the transaction, digits only; of the refunded one for KindRefund
	TransactionID    string // the merchant's id of the transaction
	RefundUniqueID   string // the gateway's id of the refund
	MerchantRefundID string // the merchant's id of the refund
	Timestamp        time.Time

	TransactionAmount     decimal.Decimal
	TransactionCurrency   string
	TransactionCardNumber MaskedCardNumber
	TransactionMessage    string
	BillDescription       string
	RefundAmount          decimal.Decimal
	RefundCurrency        string
	RefundMessage         string
	ChargebackAmount      decimal.Decimal // no query of the interface shows chargebacks: this stays a claim
	ChargebackCurrency    string

	// Extra holds the members that this version does not know, and those whose value could not be read, as sent;
	// nil if there are none. A member whose name or value speaks of a token is "***" here.
	Extra map[string]json.RawMessage
}

// NotificationKind is what a notification claims to be about.
type NotificationKind int

// The kinds that are published. The interface knows the first alone: "after the transaction completes".
const (
	KindUnknown    NotificationKind = iota // another transactionType, or none
	KindPayment                            // Sale, Authorization or Tokenization
	KindRefund                             // Refund
	KindChargeback                         // Chargeback: a query confirms the transaction, but not the chargeback
)

// String returns the kind in one word.
func (k NotificationKind) String() string {
	switch k {
	case KindPayment:
		return "payment"
	case KindRefund:
		return "refund"
	case KindChargeback:
		return "chargeback"
	}
	return "unknown"
}

func (t TransactionType) notificationKind() NotificationKind {
	switch t {
	case TypeSale, TypeAuthorization, TypeTokenization:
		return KindPayment
	case TypeRefund:
		return KindRefund
	case TypeChargeback:
		return KindChargeback
	}
	return KindUnknown
}

// maxNotification bounds a notification's body. The published examples have less than 1 KiB.
const maxNotification = 64 << 10

// Why a notification cannot be read. Like every error about one, they do not quote it.
var (
	errNotificationTooLong = errors.New("cardgateway: the notification has more than 64 KiB")
	errNotificationMedia   = errors.New("cardgateway: the notification is neither JSON nor a form by its Content-Type")
	errUnreadable          = errors.New("cardgateway: the notification")
)

func unreadable(why string) error { return fmt.Errorf("%w %s", errUnreadable, why) }

// ParseNotification reads the body of a notification, at most 64 KiB, as application/json or as
// application/x-www-form-urlencoded. It reads what NotificationHandler reads, and confirms nothing: use it where the
// handler does not fit, for instance behind a queue, and ask GetTransaction before believing anything.
//
// Numbers may come as texts and texts as numbers; a member may be missing, null or empty. Refused are repeated
// members, nesting over 32, trailing data, and identifiers that cannot be read. The token is looked for under its
// likely names, first "token" and "tokenization": the interface does not show its name. Errors never quote the body.
func ParseNotification(body []byte, contentType string) (*Notification, error) {
	return parseNotification(body, contentType, likelyTokenMembers)
}

// likelyTokenMembers are tried in this order.
var likelyTokenMembers = []string{
	"token", "tokenization", "tokenId", "cardToken", "tokenizationId", "tokenizationToken", "paymentToken", "cardTokenId",
}

func parseNotification(body []byte, contentType string, tokenMembers []string) (*Notification, error) {
	if len(body) > maxNotification {
		return nil, errNotificationTooLong
	}
	media, _, err := mime.ParseMediaType(contentType)
	switch {
	case err == nil && media == "application/json":
	case err == nil && media == "application/x-www-form-urlencoded":
		if body, err = jsonOfForm(body); err != nil {
			return nil, err
		}
	default:
		return nil, errNotificationMedia
	}
	if len(body) == 0 {
		return nil, unreadable("is empty; was its body read before?")
	}
	r := reader{data: body}
	if r.peek() != '{' {
		return nil, unreadable("is not a JSON object")
	}
	return r.notification(tokenMembers)
}

// jsonOfForm writes a form as a JSON object of texts, so that both are read by the same rules.
func jsonOfForm(form []byte) ([]byte, error) {
	object := append(make([]byte, 0, len(form)+len(form)/4+2), '{')
	for pair := range bytes.SplitSeq(bytes.TrimSpace(form), []byte("&")) {
		if len(pair) == 0 {
			continue
		}
		name, text, _ := strings.Cut(string(pair), "=")
		name, err1 := url.QueryUnescape(name)
		text, err2 := url.QueryUnescape(text)
		if err1 != nil || err2 != nil { // they quote what they could not read
			return nil, unreadable("is not a well-formed form")
		}
		if len(object) > 1 {
			object = append(object, ',')
		}
		object = append(appendString(object, name), ':')
		object = appendString(object, text)
	}
	return append(object, '}'), nil
}

// notification reads the object. Every value is read twice: as what a signature covers, and as what it means.
func (r *reader) notification(tokenMembers []string) (*Notification, error) {
	n := new(Notification)
	var p payload
	var bad string // member that identifies the subject, and cannot be read
	tokens := tokenFinder{members: tokenMembers}
	for name := range r.members {
		start := r.pos
		v := r.value()
		if r.err != nil {
			break
		}
		hidden := tokens.take(string(name), v)
		if !hidden {
			end := r.pos
			r.pos = start
			ok, identifies := r.claim(&n.Claimed, name)
			if !ok && identifies {
				bad = string(name)
			}
			hidden = !ok && (speaksOfToken(name) || speaksOfToken(r.data[start:end]))
			if !ok && !hidden {
				r.keep(&n.Claimed.Extra, name, start)
			}
		}
		if hidden {
			n.Claimed.hide(string(name))
		}
		p.add(string(name), v, hidden)
	}
	r.texts.settle()
	if err := r.finish(); err != nil {
		return nil, unreadable(err.Error())
	}
	if bad != "" {
		return nil, unreadable("has a " + bad + " that cannot be read")
	}
	n.Token = tokens.found
	n.Claimed.unhide(tokens.name)
	n.Claimed.Kind = n.Claimed.TransactionType.notificationKind()
	n.Claimed.withhold(n.Token.needles())
	p.sort()
	n.payload = func() payload { return p }
	return n, nil
}

// claim reads the value of one member. It reports whether that worked, and whether the member identifies what the
// notification is about, so that it cannot be used without.
func (r *reader) claim(c *NotificationClaims, name []byte) (ok, identifies bool) {
	switch string(name) {
	case "transactionType":
		ok = r.text((*string)(&c.TransactionType))
	case "code":
		ok = r.code(&c.Code)
	case "message":
		ok = r.message(&c.Message)
	case "isTest":
		ok = r.truth(&c.IsTest)
	case "appId":
		ok = r.appID(&c.AppID)
	case "uniqueId":
		return r.digitID(&c.UniqueID), true
	case "transactionId":
		return r.id(&c.TransactionID), true
	case "refundUniqueId":
		return r.id(&c.RefundUniqueID), true
	case "merchantRefundId":
		return r.id(&c.MerchantRefundID), true
	case "timestamp":
		ok = r.instant(&c.Timestamp)
	case "transactionAmount":
		ok, _ = r.amount(&c.TransactionAmount)
	case "transactionCurrency":
		ok = r.id(&c.TransactionCurrency)
	case "transactionCardNumber":
		ok = r.maskedNumber(&c.TransactionCardNumber)
	case "transactionMessage":
		ok = r.message(&c.TransactionMessage)
	case "billDescription":
		ok = r.message(&c.BillDescription)
	case "refundAmount":
		ok, _ = r.amount(&c.RefundAmount)
	case "refundCurrency":
		ok = r.id(&c.RefundCurrency)
	case "refundMessage":
		ok = r.message(&c.RefundMessage)
	case "chargebackAmount":
		ok, _ = r.amount(&c.ChargebackAmount)
	case "chargebackCurrency":
		ok = r.id(&c.ChargebackCurrency)
	case signMember:
		r.value()
		ok = true
	default:
		r.value()
	}
	return ok, false
}

// tokenFinder picks the token out of the members.
type tokenFinder struct {
	members []string // names of the token, the likeliest first
	rank    int      // of the name that it was found under, counted from 1
	name    string
	found   Token
}

// take reports whether a member has one of the token's names. Its value is the token unless a likelier name has one.
func (t *tokenFinder) take(name string, v value) bool {
	rank := slices.Index(t.members, name) + 1
	if rank == 0 {
		return false
	}
	if text := v.text(); text != "" && (t.rank == 0 || rank < t.rank) {
		t.rank, t.name, t.found = rank, name, NewToken(text)
	}
	return true
}

// speaksOfToken is a reason to keep an unknown member out of sight: it could hold a token under a name that is not
// looked for.
func speaksOfToken(text []byte) bool { return bytes.Contains(bytes.ToLower(text), []byte("token")) }

// withhold replaces the token wherever else the payload has it, but for the uniqueId, by which all is asked, and the
// transactionId, which is the merchant's and is compared with the gateway's.
func (c *NotificationClaims) withhold(token needles) {
	for _, id := range []*string{
		(*string)(&c.TransactionType), &c.RefundUniqueID, &c.MerchantRefundID, &c.TransactionCurrency, &c.RefundCurrency,
		&c.ChargebackCurrency,
	} {
		token.cutFrom(id, longEnough)
	}
	for _, text := range []*string{&c.Message, &c.TransactionMessage, &c.BillDescription, &c.RefundMessage} {
		token.cutFrom(text, shortestSecret)
	}
	token.cutFromExtra(c.Extra, shortestSecret)
}

// hide notes that there is such a member, so that its name can be learned, without its value.
func (c *NotificationClaims) hide(name string) {
	if c.Extra == nil {
		c.Extra = make(map[string]json.RawMessage)
	}
	c.Extra[name] = withheldValue()
}

// unhide forgets a member again that turned out to be known.
func (c *NotificationClaims) unhide(name string) {
	delete(c.Extra, name)
	if len(c.Extra) == 0 {
		c.Extra = nil
	}
}
