package notify

import (
	"encoding/json"
	"log/slog"
	"time"

	"github.com/shopspring/decimal"

	"github.com/cardgateway/cardgateway-go"
)

// Notification is what came to a notificationUrl ("Events"). The interface shows neither its payload nor a signature, so
// that anybody who knows the URL can write one: what it says is a claim and stands in Claimed. Facts are Transaction and
// Refund, which the handler gets from the gateway before the merchant's function sees the notification. Move money states
// by these alone.
type Notification struct {
	// Transaction is the transaction as the gateway confirms it. The handler always sets it, Parse never does.
	Transaction *cardgateway.Transaction
	// Refund is the refund as the gateway confirms it. The handler sets it for KindRefund and for nothing else.
	Refund *cardgateway.Refund
	// Token stands for the stored card in TokenPayment, and is the zero value if none came. No query confirms a token:
	// see Bound, and Options.TokenURLs.
	Token cardgateway.Token
	// Bound reports that the token came to the URL that TokenURLs made for the confirmed transactionId.
	Bound bool
	// Claimed is what the payload says.
	Claimed Claims

	// signed returns what a signature covers. It is a func so that nothing prints it: the token is among it.
	signed func() payload
}

// LogValue names the notification for a log: its kind, ids and code, and the token's mask.
func (n Notification) LogValue() slog.Value {
	return slog.GroupValue(
		slog.String("kind", n.Claimed.Kind.String()), slog.String("uniqueId", n.Claimed.UniqueID),
		slog.String("transactionId", n.Claimed.TransactionID), slog.Int("code", int(n.Claimed.Code)), slog.Any("token", n.Token),
	)
}

// Claims is what a notification says about itself. Nothing in it is confirmed: use it to look up and to display, never to
// decide. A member that did not come has its zero value. The interface shows no payload; all names here are published by
// gateways that speak it.
type Claims struct {
	Kind             Kind
	TransactionType  cardgateway.TransactionType // which Kind was derived from, as sent
	Code             cardgateway.Code
	Message          string
	IsTest           bool
	AppID            cardgateway.AppID
	UniqueID         string // the gateway's id of the transaction, digits only; of the refunded one for KindRefund
	TransactionID    string // the merchant's id of the transaction
	RefundUniqueID   string // the gateway's id of the refund
	MerchantRefundID string // the merchant's id of the refund
	Timestamp        time.Time

	TransactionAmount     decimal.Decimal
	TransactionCurrency   string
	TransactionCardNumber cardgateway.MaskedCardNumber
	TransactionMessage    string
	BillDescription       string
	RefundAmount          decimal.Decimal
	RefundCurrency        string
	RefundMessage         string
	ChargebackAmount      decimal.Decimal // no query of the interface shows chargebacks: this stays a claim
	ChargebackCurrency    string

	// Extra holds the members that this version does not know, and those whose value could not be read, as sent; nil if
	// there are none. A member whose name or value speaks of a token is "***" here.
	Extra map[string]json.RawMessage
}

// Kind is what a notification claims to be about.
type Kind int

// The kinds that are published. The interface knows the first alone: "after the transaction completes".
const (
	KindUnknown    Kind = iota // another transactionType, or none
	KindPayment                // Sale, Authorization or Tokenization
	KindRefund                 // Refund
	KindChargeback             // Chargeback: a query confirms the transaction, but not the chargeback
)

// String returns the kind in one word.
func (k Kind) String() string {
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

func kindOf(t cardgateway.TransactionType) Kind {
	switch t {
	case cardgateway.TypeSale, cardgateway.TypeAuthorization, cardgateway.TypeTokenization:
		return KindPayment
	case cardgateway.TypeRefund:
		return KindRefund
	case cardgateway.TypeChargeback:
		return KindChargeback
	}
	return KindUnknown
}

// covered returns what a signature covers. A Notification that was not parsed has nothing of the kind.
func (n *Notification) covered() payload {
	if n.signed == nil {
		return payload{}
	}
	return n.signed()
}
