package match

// Class says in what way the merchant's books and the gateway differ.
type Class string

// The classes. One row gets one of them: the first that fits, in the order of Classes.
const (
	Unreadable         Class = "unreadable"
	PaidTwice          Class = "paid_twice"
	TwoSuccesses       Class = "two_successes"
	MissingHere        Class = "missing_here"
	MissingThere       Class = "missing_there"
	Currency           Class = "currency"
	Amount             Class = "amount"
	State              Class = "state"
	RefundWithoutOrder Class = "refund_without_order"
	RefundAbovePayment Class = "refund_above_payment"
	RefundMissingHere  Class = "refund_missing_here"
	RefundMissingThere Class = "refund_missing_there"
	Timing             Class = "timing"
)

// About is what a bookkeeper reads about a class.
type About struct {
	Class   Class
	Title   string
	Meaning string
	Action  string // what is usually done
}

// Classes has every class, in the order in which they are looked for. Refunds are looked at apart: of the classes that both
// kinds have, refund_without_order and refund_above_payment come first.
var Classes = []About{
	{Unreadable, "Line could not be read", "A line of your list is not as the others are; nothing is known of what it says.", "Correct the list."},
	{PaidTwice, "Several payments for one order", "Your list has several successful payments with different ids for one order.", "Refund what is too much."},
	{TwoSuccesses, "One payment charged twice", "The gateway has more than one success with one transaction id.", "Refund one of them."},
	{MissingHere, "Paid at the gateway, not in your list", "The gateway took the money and your list does not have the payment.", "Deliver or refund; look for the lost notification."},
	{MissingThere, "In your list, not at the gateway", "Your list has a payment of which the gateway knows nothing.", "It is not paid, so ask the customer; or the id is wrong."},
	{Currency, "Currency differs", "Both have it, in different currencies; nothing is converted.", "Correct the booking."},
	{Amount, "Amount differs", "Both have it, with different amounts.", "Refund what is too much, claim what is missing."},
	{State, "State differs", "Both have it, and one of them does not take it for paid.", "Book the state of the gateway."},
	{RefundWithoutOrder, "Refund of an unknown payment", "The gateway has no payment that this refund belongs to.", "Ask the gateway."},
	{RefundAbovePayment, "More given back than paid", "The refunds of one payment together exceed it.", "Stop refunds of it, ask the gateway."},
	{RefundMissingHere, "Refund only at the gateway", "The gateway gave money back and your list does not have it.", "Find out who asked for it, and book it."},
	{RefundMissingThere, "Refund only in your books", "Your list has a refund of which the gateway knows nothing.", "Find out whether it was sent: cardgateway resolve refund."},
	{Timing, "Will match by itself", "It is still in processing, or so near to the edge of what is compared that its counterpart may lie beyond. Not an error.", "Carry it forward to the next run."},
}

// place is where a class stands in Classes.
func place(c Class) int {
	for i := range Classes {
		if Classes[i].Class == c {
			return i
		}
	}
	return len(Classes)
}

// IsClass reports whether there is a class of that name.
func IsClass(name string) bool { return place(Class(name)) < len(Classes) }

// ofRefund is the class that takes the place of c among refunds.
func ofRefund(c Class) Class {
	switch c {
	case MissingHere:
		return RefundMissingHere
	case MissingThere:
		return RefundMissingThere
	}
	return c
}
