package sandbox

import (
	"iter"
	"slices"
	"time"

	"github.com/cardgateway/cardgateway-go/sandbox/internal/console"
	"github.com/cardgateway/cardgateway-go/sandbox/internal/generated"
	"github.com/cardgateway/cardgateway-go/sandbox/internal/listing"
)

// Executed returns how many times money was moved for a transactionId: 0 for a declined, open or unknown transaction, 1 for
// a charged one, and more only if Options.Duplicates allows repetitions. Creating a token moves none,
// except with Cards.TokenOrderCharges. The later charges of a
// subscription do not count, because no request makes them.
func (g *Gateway) Executed(transactionID string) int {
	g.lockSettled()
	defer g.mu.Unlock()
	return g.ledger.executed(transactionID)
}

// Refunded returns how many times money was refunded for a refundTransactionId. Use it to check tests that lose the
// responses of refunds. It is more than 1 only with RefundDuplicatesExecuted.
func (g *Gateway) Refunded(refundTransactionID string) int {
	g.lockSettled()
	defer g.mu.Unlock()
	return g.ledger.timesRefunded(refundTransactionID)
}

// Move is one movement of money: a charge, which has a TransactionID, or a refund, which has a RefundTransactionID.
type Move struct {
	TransactionID       string
	RefundTransactionID string
	UniqueID            string // of the transaction, or of the refund
	At                  time.Time
}

// Moves returns the movements of money from the n-th on, counted from 0, in their order. Executed and Refunded count them by
// id, without the later charges of subscriptions.
func (g *Gateway) Moves(n int) []Move {
	g.lockSettled()
	defer g.mu.Unlock()
	return append([]Move(nil), g.ledger.moves[min(n, len(g.ledger.moves)):]...)
}

// Row is what the gateway has of one transaction.
type Row struct {
	UniqueID string
	Code     int
	At       time.Time // when it was created
	Page     string    // path of the hosted page on which the cardholder is awaited, or empty
	Renewal  bool      // a later charge of a subscription
}

// Rows returns the transactions with that transactionId, oldest first: more than one after a repeated request, if the
// cardholder has tried several cards, or after Renew.
func (g *Gateway) Rows(transactionID string) []Row {
	g.lockSettled()
	defer g.mu.Unlock()
	var rows []Row
	for _, o := range g.ledger.orders.of(generated.IDs{TransactionID: transactionID}) {
		rows = append(rows, Row{UniqueID: o.uniqueID, Code: o.code, At: o.created, Page: o.pagePath(), Renewal: o.renewal})
	}
	return rows
}

// RefundRows returns the refunds with that refundTransactionId, as Rows does transactions. The UniqueID is that of the refund.
func (g *Gateway) RefundRows(refundTransactionID string) []Row {
	g.lockSettled()
	defer g.mu.Unlock()
	var rows []Row
	for _, r := range g.ledger.refunds.of(generated.IDs{RefundTransactionID: refundTransactionID}) {
		rows = append(rows, Row{UniqueID: r.refundUniqueID, Code: r.code, At: r.requested})
	}
	return rows
}

// Token returns the token that a token order has created, which a merchant gets with the notification. The error says that
// there is no such payment, or no token yet.
func (g *Gateway) Token(id string) (string, error) {
	g.lockSettled()
	defer g.mu.Unlock()
	o, err := g.ledger.payment(id)
	switch {
	case err != nil:
		return "", err
	case o.token == "":
		return "", console.Conflict("the payment has made no token", "POST "+console.Path+"api/v1/tokens makes one")
	}
	return o.token, nil
}

// OrderIDs returns the uniqueId of every order that happened in [from, to) and not in the future, in no particular order. A
// complete walk over that range must find them, including those that are still hidden by a lag. Times count in whole
// seconds, as in searches.
func (g *Gateway) OrderIDs(from, to time.Time) iter.Seq[string] {
	g.lockSettled()
	defer g.mu.Unlock()
	all := g.ledger.series(OpSearchOrders, generated.IDs{})
	all[0] = slices.Clone(g.ledger.orders.rows)
	return idsBetween(all, from, to)
}

// RefundIDs returns the refundUniqueIds of refunds, by the time of their request, as OrderIDs does for orders.
func (g *Gateway) RefundIDs(from, to time.Time) iter.Seq[string] {
	g.lockSettled()
	defer g.mu.Unlock()
	all := g.ledger.series(OpSearchRefunds, generated.IDs{})
	all[0] = slices.Clone(g.ledger.refunds.rows)
	return idsBetween(all, from, to)
}

func idsBetween(all []series, from, to time.Time) iter.Seq[string] {
	end := min(wholeSecond(to), time.Now().Unix()+1)
	return func(yield func(string) bool) {
		for _, s := range all {
			for i := listing.FirstAt(s, wholeSecond(from)); i < s.Len() && s.At(i).Unix() < end; i++ {
				if !yield(s.UniqueID(i)) {
					return
				}
			}
		}
	}
}

// wholeSecond rounds up: the responses have no fractions of a second, so a row in second s counts as at or after t only if
// s is.
func wholeSecond(t time.Time) int64 {
	s := t.Unix()
	if t.Nanosecond() > 0 {
		s++
	}
	return s
}
