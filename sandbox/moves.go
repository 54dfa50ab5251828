package sandbox

import "time"

// Move is one movement of money: a charge, which has a TransactionID, or a refund, which has a RefundTransactionID.
type Move struct {
	TransactionID       string
	RefundTransactionID string
	UniqueID            string // of the transaction, or of the refund
	At                  time.Time
}

// Moves returns the movements of money from the n-th on, counted from 0, in their order. Executed and Refunded count them by
// id.
func (g *Gateway) Moves(n int) []Move {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.settleDue()
	return append([]Move(nil), g.ledger.moves[min(n, len(g.ledger.moves)):]...)
}

// Row is what the gateway has of one transaction.
type Row struct {
	UniqueID string
	Code     int
	At       time.Time // when it was created
	Page     string    // path of the hosted page on which the cardholder is awaited, or empty
}

// Rows returns the transactions with that transactionId, oldest first: more than one after a repeated request, or if the
// cardholder has tried several cards.
func (g *Gateway) Rows(transactionID string) []Row {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.settleDue()
	var rows []Row
	for _, o := range g.ledger.byTransaction[transactionID] {
		r := Row{UniqueID: o.uniqueID, Code: o.code, At: o.created}
		if o.stage == stageCard || o.stage == stage3D || o.canRetry {
			r.Page = o.pagePath()
		}
		rows = append(rows, r)
	}
	return rows
}

// RefundRows does the same for a refundTransactionId. The UniqueID is that of the refund.
func (g *Gateway) RefundRows(refundTransactionID string) []Row {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.settleDue()
	var rows []Row
	for _, r := range g.ledger.refunds {
		if r.merchantRefundID == refundTransactionID {
			rows = append(rows, Row{UniqueID: r.refundUniqueID, Code: r.code, At: r.requested})
		}
	}
	return rows
}
