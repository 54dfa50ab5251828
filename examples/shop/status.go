package main

// Status describes a state for the customer.
type Status struct {
	Tone  string // of the page: good, bad, busy or plain
	Word  string
	Title string
	Text  string
}

// statusOf returns the status of an order. It claims nothing that is not known.
func statusOf(o Order) Status {
	switch o.State {
	case Paid:
		return Status{"good", "Paid", "Thank you. Your order is paid.", "We pack it today and write to you when it leaves."}
	case Declined:
		return Status{"bad", "Declined", "The payment was declined.", "Nothing was charged. You can try again with another card."}
	case Processing:
		return Status{"busy", "Processing", "Your payment is being processed.",
			"The bank has it and has not answered yet. You do not need to pay again, and you may close this page."}
	case Waiting:
		return Status{"plain", "Waiting for you", "One step is left.",
			"The payment page is waiting for you. Nothing is charged before you have finished there."}
	case Checking:
		return Status{"busy", "Being checked", "We are checking your payment.",
			"The answer of the payment service was lost on its way to us. We are finding out whether it was made, " +
				"and will not charge you twice. Please do not pay again; this order settles by itself."}
	case Unpaid:
		return Status{"bad", "Not paid", "The payment was most likely never made.",
			"The payment service has not known it for a day. You can order again. If it is charged after all, we will refund it."}
	case Closed:
		return Status{"plain", "Closed", "The payment was not finished.", "Nothing was charged. You can order again."}
	case Unsent:
		return Status{"bad", "Not sent", "The payment could not be started.",
			"The payment service could not be reached, and nothing was charged. You can try again."}
	case Refused:
		return Status{"bad", "Refused", "The payment service did not accept the payment.", "Nothing was charged. We are looking into it."}
	case Conflict:
		return Status{"bad", "Being looked at", "Somebody is looking at this payment.",
			"We have received contradictory messages about it. We will write to you, and nothing will be lost."}
	}
	return Status{"busy", "Open", "Your order is written down.", "Its payment has not been started yet."}
}
