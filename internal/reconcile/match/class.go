package match

// Class is a class of differences between the merchant's books and the gateway.
type Class string

// The classes. Each row gets one: the first that applies, in the order of Classes.
const (
	Unreadable         Class = "unreadable"
	PaidTwice          Class = "paid_twice"
	TwoSuccesses       Class = "two_successes"
	MissingHere        Class = "missing_here"
	MissingThere       Class = "missing_there"
	Currency           Class = "currency"
	ListedTwice        Class = "listed_twice"
	Amount             Class = "amount"
	State              Class = "state"
	RefundWithoutOrder Class = "refund_without_order"
	RefundAbovePayment Class = "refund_above_payment"
	RefundTwice        Class = "refund_twice"
	RefundMissingHere  Class = "refund_missing_here"
	RefundMissingThere Class = "refund_missing_there"
	Unchecked          Class = "unchecked"
	Timing             Class = "timing"
)

// About describes a class in reports.
type About struct {
	Class   Class
	Title   string
	Meaning string
	Action  string // the usual action
}

// Classes contains every class, in the order in which they are checked. Refunds are compared separately: for them,
// refund_without_order, refund_above_payment and refund_twice are checked before the classes that payments have too.
var Classes = []About{
	{Unreadable, "Line cannot be read", "A line of your list cannot be parsed, and was not compared.", "Correct the list."},
	{PaidTwice, "Several payments for one order", "Your list has several successful payments with different ids for one order.", "Refund the excess."},
	{TwoSuccesses, "Transaction charged more than once", "The gateway has more than one successful payment with the same transaction id.", "Refund all but one."},
	{MissingHere, "Paid at the gateway, not in your list", "The gateway charged a payment that is not in your list.", "Fulfil the order or refund it; look for the lost notification."},
	{MissingThere, "In your list, not at the gateway", "Your list contains a payment that is not in the copy of the gateway.", "It was not paid, or the id is wrong: ask the customer, or correct the id."},
	{Currency, "Currency differs", "The gateway and your list have different currencies, or a refund has another currency than its payment. Amounts are not converted.", "Correct your records."},
	{ListedTwice, "Listed more than once", "Several lines of your list are the same payment or refund, so your list counts it more than once.", "Correct your list: remove the repeated lines. The amount at the gateway is right."},
	{Amount, "Amount differs", "The gateway and your list have different amounts.", "Refund the excess, or claim the rest."},
	{State, "State differs", "The gateway and your list have different states, such as approved and declined.", "Record the state of the gateway."},
	{RefundWithoutOrder, "Refund of an unknown payment", "The payment of this refund is not in the copy of the gateway. It may be older than the copy.", "Ask the gateway's support."},
	{RefundAbovePayment, "Refunded more than paid", "The refunds of a payment, in any period, exceed its amount.", "Stop refunding it, and ask the gateway's support."},
	{RefundTwice, "Refund made more than once", "The gateway has more than one successful refund of one payment with the same refund id.", "Ask the gateway's support, or the customer, to return the excess."},
	{RefundMissingHere, "Refunded at the gateway, not in your list", "The gateway made a refund that is not in your list.", "Find out who requested it, and record it."},
	{RefundMissingThere, "Refund in your list, not at the gateway", "Your list contains a refund that is not in the copy of the gateway.", "Check whether it was sent: cardgateway resolve refund."},
	{Unchecked, "Not checked", "So near a limit of the period, your list or the copy that the other side may be outside.", "Export a list that reaches further on both sides, update the copy, and compare again."},
	{Timing, "Timing difference", "In processing, or recorded in different periods. Not an error.", "Carry it forward to the next run."},
}

// place returns the index of a class in Classes.
func place(c Class) int {
	for i := range Classes {
		if Classes[i].Class == c {
			return i
		}
	}
	return len(Classes)
}

// IsClass reports whether name is a class.
func IsClass(name string) bool { return place(Class(name)) < len(Classes) }

// ofRefund returns the class for refunds that corresponds to c.
func ofRefund(c Class) Class {
	switch c {
	case TwoSuccesses:
		return RefundTwice
	case MissingHere:
		return RefundMissingHere
	case MissingThere:
		return RefundMissingThere
	}
	return c
}
