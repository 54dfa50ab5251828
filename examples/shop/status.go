package main

import (
	"time"

	"github.com/shopspring/decimal"

	"github.com/cardgateway/cardgateway-go/examples/shop/payments"
)

// cancelledText is the gateway's text if the cardholder has left its page with Cancel. The interface defines no texts: this is the
// sandbox's. With another one, such an order is shown as declined.
const cancelledText = "Cancelled by the cardholder"

// Status describes a state for the customer.
type Status struct {
	Tone  string // of the page: good, bad, busy or plain
	Word  string
	Title string
	Text  string
}

// statuses are those of orders that are not paid. They claim nothing that is not known.
var statuses = map[payments.State]Status{
	payments.Open: {"busy", "Open", "Your order is written down.", "Its payment has not been started yet."},
	payments.Unsent: {"bad", "Not sent", "The payment could not be started.",
		"The payment service could not be reached, and nothing was charged. You can try again."},
	payments.Refused: {"bad", "Refused", "The payment service did not accept the payment.", "Nothing was charged. We are looking into it."},
	payments.Checking: {"busy", "Being checked", "We are checking your payment.",
		"The answer of the payment service was lost on its way to us. We are finding out whether it was made, " +
			"and will not charge you twice. Please do not pay again; this order settles by itself."},
	payments.Unpaid: {"bad", "Not paid", "The payment was most likely never made.",
		"The payment service has not known it for a day. You can order again. If it is charged after all, we will refund it."},
	payments.Waiting: {"plain", "Waiting for you", "One step is left.",
		"The payment page is waiting for you. Nothing is charged before you have finished there."},
	payments.Processing: {"busy", "Processing", "Your payment is being processed.",
		"The bank has it and has not answered yet. You do not need to pay again, and you may close this page."},
	payments.Closed:   {"plain", "Closed", "The payment was not finished.", "Nothing was charged. You can still pay."},
	payments.Declined: {"bad", "Declined", "The payment was declined.", "Nothing was charged. You can try again with another card."},
	payments.Tested:   {"bad", "Not paid", "This was a test payment.", "It was approved as a test, so the order is not paid. You can pay with another card."},
	payments.Conflict: {"bad", "Being looked at", "Somebody is looking at this payment.",
		"We have received contradictory messages about it. We will write to you, and nothing will be lost."},
}

// statusOf returns the status of an order.
func statusOf(o payments.Order) Status {
	switch {
	case o.State == payments.Paid:
		return statusOfPaid(o)
	case o.State == payments.Declined && o.Reason == cancelledText:
		return Status{"plain", "Cancelled", "You cancelled the payment.", "Nothing was charged. You can still pay, whenever you like."}
	case o.State == payments.Waiting && o.RedirectURL == "":
		return Status{"busy", "Not confirmed", "Your bank has not confirmed the payment.", "We do not know the address of its page, because the answer " +
			"with it was lost. Nothing is charged unless you confirm it. Otherwise the order is closed within a day or two; then you can pay in another way."}
	}
	return statuses[o.State]
}

// statusOfPaid returns the status of an order whose payment was made, and perhaps returned.
func statusOfPaid(o payments.Order) Status {
	for _, r := range o.Refunds {
		switch r.State {
		case payments.Open, payments.Checking:
			return Status{"busy", "Refund being checked", "We are checking your refund.",
				"The answer of the payment service was lost on its way to us. We are finding out whether " + money(r.Amount) +
					" was returned, and will not return it twice. This settles by itself."}
		case payments.Processing:
			return Status{"busy", "Being refunded", "Your money is on its way back.",
				"The payment service has accepted the refund of " + money(r.Amount) + ", and has not finished it yet."}
		case payments.Unpaid, payments.Conflict:
			return Status{"bad", "Refund being looked at", "Somebody is looking at your refund.",
				"What we know of it is not certain. We will write to you, and nothing will be lost."}
		}
	}
	sum, last := o.Refunded()
	switch {
	case sum.IsZero():
		return Status{"good", "Paid", "Thank you. Your order is paid.", "We pack it today and write to you when it leaves."}
	case sum.LessThan(o.Amount):
		return Status{"good", "Partly refunded", "A part of your money was returned.",
			money(sum) + " of " + money(o.Amount) + " was returned, the last of it on " + date(last) + ". Your bank may show it some days later."}
	}
	return Status{"plain", "Refunded", "Your money was returned.",
		"We returned " + money(sum) + " on " + date(last) + ". Your bank may show it some days later. Nothing will be sent to you."}
}

// statusOfRefund returns the status of one refund.
func statusOfRefund(r payments.Refund) Status {
	switch r.State {
	case payments.Refunded:
		return Status{"plain", "Refunded", "", "Returned on " + date(r.Made) + "."}
	case payments.Processing:
		return Status{"busy", "On its way", "", "Accepted by the payment service."}
	case payments.Declined:
		return Status{"bad", "Declined", "", "The payment service declined it. No money was returned."}
	case payments.Unsent:
		return Status{"bad", "Not sent", "", "The payment service could not be reached. No money was returned. You can try again."}
	case payments.Refused:
		return Status{"bad", "Refused", "", "The payment service did not accept it. No money was returned. You can try again."}
	case payments.Unpaid, payments.Conflict:
		return Status{"bad", "Being looked at", "", "Somebody is looking at it. We will write to you, and nothing will be lost."}
	}
	return Status{"busy", "Being checked", "", "The answer was lost, and we are finding out what became of it."}
}

// money writes an amount as the gateway's pages do.
func money(d decimal.Decimal) string { return d.StringFixed(2) + " " + currency }

func date(t time.Time) string { return t.UTC().Format("2 January 2006, 15:04") + " UTC" }
