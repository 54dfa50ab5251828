package sandbox

import "time"

// order is one transaction.
type order struct {
	payment
	op       Operation
	uniqueID string
	created  time.Time
	code     int
	text     string // transactionMessage
	is3d     bool
	stage    stage
	page     string    // id of its hosted page, if it has one
	token    string    // what a finished token order made
	settleAt time.Time // of an order at 102 that settles by itself
}

// stage is what a transaction is waiting for.
type stage int

const (
	stageFinal      stage = iota
	stageCard             // the cardholder has to enter a card
	stage3D               // the cardholder has to authenticate
	stageProcessing       // at 102
)

// kind is the transactionType of results and notifications.
func (o *order) kind() string {
	if o.op == OpTokenCreate || o.op == OpTokenPayment {
		return "Tokenization"
	}
	return "Sale"
}

// Prefixes of the uniqueIds, by which a look-up knows where to look.
const (
	prefixGeneratedOrder  = "16"
	prefixGeneratedRefund = "17"
	prefixOrder           = "18"
	prefixRefund          = "19"
)

// refund is one refund record.
type refund struct {
	refundUniqueID, uniqueID, transactionID string
	merchantRefundID, amount, currency      string
	requested, completed                    time.Time
}

// shownMethod is the payment method of a result: CreditCard once a card is known, else what was asked for.
func (o *order) shownMethod() string {
	switch {
	case o.card.masked != "":
		return "CreditCard"
	case o.method != "":
		return o.method
	}
	return "Default"
}

func (o *order) pagePath() string {
	if o.stage == stage3D {
		return threeDPagePath + o.page
	}
	return cardPagePath + o.page
}

// next is where the cardholder goes from here.
func (o *order) next() string {
	if o.stage == stage3D {
		return o.pagePath()
	}
	return o.callbackURL
}
