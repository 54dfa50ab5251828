// Package relay forwards notifications to a program of the merchant, and prints them with their outcome, without secrets.
package relay

import (
	"fmt"
	"strings"

	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/amount"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/tabular"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/terminal"
	"github.com/cardgateway/cardgateway-go/notify"
)

// Event is what a notification is about, as the gateway confirms it.
type Event struct {
	Kind             string // payment, refund, chargeback or unknown
	State            string
	TransactionID    string
	UniqueID         string
	MerchantRefundID string
	Amount           string
	Currency         string
}

// ConfirmedEvent returns the event as confirmed by the gateway. The amount of a chargeback is the claimed one, because no query
// confirms it. Secrets in it are masked.
func ConfirmedEvent(n *notify.Notification, h Hidden) Event {
	t, claimed := n.Transaction, &n.Claimed
	e := Event{
		Kind: claimed.Kind.String(), State: t.State().String(), TransactionID: t.TransactionID, UniqueID: t.UniqueID,
		Amount: amount.Plain(t.TransactionAmount), Currency: t.TransactionCurrency,
	}
	switch {
	case n.Refund != nil:
		r := n.Refund
		e.State, e.MerchantRefundID = tabular.RefundState(r), r.MerchantRefundID
		e.Amount, e.Currency = amount.Plain(r.RefundAmount), r.RefundCurrency
	case claimed.Kind == notify.KindChargeback:
		e.State = "claimed"
		e.Amount, e.Currency = amount.Plain(claimed.ChargebackAmount), claimed.ChargebackCurrency
	}
	return e.masked(h)
}

// OtherClaim returns the amount that a notification claims, if the gateway confirms another one.
func OtherClaim(n *notify.Notification) string {
	claimed, currency := n.Claimed.TransactionAmount, n.Claimed.TransactionCurrency
	confirmed, confirmedCurrency := n.Transaction.TransactionAmount, n.Transaction.TransactionCurrency
	if r := n.Refund; r != nil {
		claimed, currency, confirmed, confirmedCurrency = n.Claimed.RefundAmount, n.Claimed.RefundCurrency, r.RefundAmount, r.RefundCurrency
	}
	if currency == "" || claimed.Equal(confirmed) && currency == confirmedCurrency {
		return ""
	}
	return amount.Plain(claimed) + " " + terminal.Cut(currency, 10)
}

// ClaimedEvent returns the event of a refused notification, with only the members needed to find it. Secrets in it are masked.
func ClaimedEvent(n *notify.Notification, h Hidden) Event {
	return Event{Kind: n.Claimed.Kind.String(), TransactionID: n.Claimed.TransactionID, UniqueID: n.Claimed.UniqueID}.masked(h)
}

// masked masks secrets in members that others can set.
func (e Event) masked(h Hidden) Event {
	e.TransactionID, e.MerchantRefundID, e.Currency = h.id(e.TransactionID), h.id(e.MerchantRefundID), h.id(e.Currency)
	return e
}

// String is for a line of text.
func (e *Event) String() string {
	id := e.TransactionID
	if e.MerchantRefundID != "" {
		id = e.MerchantRefundID + " of " + e.UniqueID
	} else if id == "" {
		id = e.UniqueID
	}
	text := fmt.Sprintf("%-8s %-9s %s", e.Kind, e.State, terminal.Cut(terminal.Clean(id), 80))
	if e.Amount != "" && e.Currency != "" {
		text += "  " + e.Amount + " " + terminal.Cut(terminal.Clean(e.Currency), 10)
	}
	return strings.TrimRight(text, " ")
}
