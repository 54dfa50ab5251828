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
	page     string  // id of its hosted page, if it has one
	canRetry bool    // declined on a hosted page, and the cardholder may try another card
	token    string  // created by a completed token order
	events   []event // for the dashboard
}

// event is one change of a transaction or its refunds.
type event struct {
	at   time.Time
	text string
}

func (o *order) record(text string) { o.events = append(o.events, event{time.Now(), text}) }

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

// Prefixes of the uniqueIds, which tell where a row is stored.
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
	remark                                  string
	code                                    int       // 110, 111 or 112
	requested, completed                    time.Time // completed is zero at 110
}

// shownMethod is the payment method of a result: CreditCard once a card is known, otherwise the requested one.
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

// next returns the URL to which the cardholder is sent next.
func (o *order) next() string {
	if o.stage == stage3D || o.canRetry {
		return o.pagePath()
	}
	return o.callbackURL
}
