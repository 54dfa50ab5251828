package notify

import (
	"encoding/json"
	"log/slog"
	"time"

	"github.com/shopspring/decimal"

	"github.com/cardgateway/cardgateway-go"
)

// Notification is a request to a notificationUrl ("Events"). The interface documents neither its payload nor a signature,
// so anybody who knows the URL can forge one: what the payload says is only a claim, in Claimed. Transaction and Refund are
// facts: the handler queries the gateway for them before it calls the merchant's function. Base decisions about money on
// these alone.
type Notification struct {
	// Transaction is the transaction as confirmed by the gateway. The handler always sets it, Parse never does.
	Transaction *cardgateway.Transaction
	// Refund is the refund as confirmed by the gateway. The handler sets it for KindRefund only.
	Refund *cardgateway.Refund
	// Token represents the stored card for TokenPayment; it is the zero value if the notification has none. No query can
	// confirm a token: see Bound, and Options.TokenURLs.
	Token cardgateway.Token
	// Bound reports whether the token came to the URL that TokenURLs created for the confirmed transactionId.
	Bound bool
	// Claimed is what the payload says.
	Claimed Claims

	// signed returns what a signature covers. It is a func so that it cannot be printed: it includes the token.
	signed func() payload
}

// LogValue returns what a log shows of the notification: its kind, ids and code, and the masked token.
func (n Notification) LogValue() slog.Value {
	return slog.GroupValue(
		slog.String("kind", n.Claimed.Kind.String()), slog.String("uniqueId", n.Claimed.UniqueID),
		slog.String("transactionId", n.Claimed.TransactionID), slog.Int("code", int(n.Claimed.Code)), slog.Any("token", n.Token),
	)
}

// Claims is what a notification says about itself. Nothing in it is confirmed: use it for look-ups and for display, never
// for decisions. A member that is missing has its zero value. The interface documents no payload; all names here are
// published by gateways that implement it.
type Claims struct {
	Kind             Kind
	TransactionType  cardgateway.TransactionType // as received; Kind is derived from it
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
	ChargebackAmount      decimal.Decimal // no query of the interface returns chargebacks, so this is never confirmed
	ChargebackCurrency    string

	// Extra holds the members that this version does not know, and those whose value could not be read, as received; nil if
	// there are none. A member whose name or value contains "token", or that is or has a CVV or a card
	// number, is "***" here.
	Extra map[string]json.RawMessage
}

// Kind says what a notification claims to be about.
type Kind int

// The published kinds. The interface documents only the first: "after the transaction completes".
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

// covered returns what a signature covers. It is empty for a Notification that was not parsed.
func (n *Notification) covered() payload {
	if n.signed == nil {
		return payload{}
	}
	return n.signed()
}
