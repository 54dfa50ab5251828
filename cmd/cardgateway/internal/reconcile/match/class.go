package match

import "slices"

// Class is a class of differences between the merchant's books and the gateway.
type Class string

// The classes. Each row gets one: the first that applies, in the order of Classes.
const (
	ClassUnreadable         Class = "unreadable"
	ClassRowUnreadable      Class = "row_unreadable"
	ClassPaidTwice          Class = "paid_twice"
	ClassTwoSuccesses       Class = "two_successes"
	ClassMissingHere        Class = "missing_here"
	ClassMissingThere       Class = "missing_there"
	ClassState              Class = "state"
	ClassCurrency           Class = "currency"
	ClassListedTwice        Class = "listed_twice"
	ClassAmount             Class = "amount"
	ClassRefundWithoutOrder Class = "refund_without_order"
	ClassRefundAbovePayment Class = "refund_above_payment"
	ClassRefundTwice        Class = "refund_twice"
	ClassRefundMissingHere  Class = "refund_missing_here"
	ClassRefundMissingThere Class = "refund_missing_there"
	ClassTest               Class = "test_payment"
	ClassUnchecked          Class = "unchecked"
	ClassTiming             Class = "timing"
	ClassLaterCharge        Class = "later_charge"
	ClassDate               Class = "date_differs"
	ClassChanged            Class = "changed"
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
	{ClassUnreadable, "Line cannot be read", "A line of your list cannot be parsed, and was not compared.", "Correct the list."},
	{ClassRowUnreadable, "Row at the gateway cannot be read", "The gateway has returned a payment or a refund that cannot be read, so the copy does not have it, or only as it was.",
		"Look it up in the gateway's own pages, and tell its support. It is read again with every update."},
	{ClassPaidTwice, "Several payments for one order",
		"Your list has several successful payments with different ids for one order and, if it has a column order_total, they exceed it.", "Refund the excess."},
	{ClassTwoSuccesses, "Transaction charged more than once",
		"The gateway has more than one successful payment with the same transaction id, and they are not the charges of one subscription.", "Refund all but one."},
	{ClassMissingHere, "Paid at the gateway, not in your list", "The gateway charged a payment that is not in your list.",
		"Fulfil the order or refund it; look for the lost notification. It may be a later charge of a subscription, with an id of the gateway's own: " +
			"then store it under its uniqueId."},
	{ClassMissingThere, "In your list, not at the gateway", "Your list contains a payment that is not in the copy of the gateway.",
		"It was not paid, or the id is wrong: ask the customer, or correct the id."},
	{ClassState, "State differs", "The gateway and your list have different states, such as approved and declined, or your list has a test payment as paid.",
		"Record the state of the gateway."},
	{ClassCurrency, "Currency differs",
		"The gateway and your list have different currencies, or a refund has another currency than its payment. Amounts are not converted.",
		"Correct your records."},
	{ClassListedTwice, "Listed more than once", "Several lines of your list are the same payment or refund, so your list counts it more than once.",
		"Correct your list: remove the repeated lines. The amount at the gateway is right."},
	{ClassAmount, "Amount differs", "The gateway and your list have different amounts.", "Refund the excess, or claim the rest."},
	{ClassRefundWithoutOrder, "Refund of an unknown payment", "The payment of this refund is not in the copy of the gateway. It may be older than the copy.",
		"Ask the gateway's support."},
	{ClassRefundAbovePayment, "Refunded more than paid", "The refunds of a payment, in any period, exceed its amount.",
		"Stop refunding it, and ask the gateway's support."},
	{ClassRefundTwice, "Refund made more than once", "The gateway has more than one successful refund of one payment with the same refund id.",
		"Ask the gateway's support, or the customer, to return the excess."},
	{ClassRefundMissingHere, "Refunded at the gateway, not in your list", "The gateway made a refund that is not in your list.",
		"Find out who requested it, and record it."},
	{ClassRefundMissingThere, "Refund in your list, not at the gateway", "Your list contains a refund that is not in the copy of the gateway.",
		"Check whether it was sent: cardgateway resolve refund."},
	{ClassTest, "Test payment", "The gateway marks it as a test, so no money moved, although it is in the total of the gateway. Not an error.",
		"Do not book it, and do not deliver for it."},
	{ClassUnchecked, "Not checked", "So near a limit of the period, your list or the copy that the other side may be outside.",
		"Export a list that reaches further on both sides, update the copy, and compare again."},
	{ClassTiming, "Timing difference", "Not final at the gateway, or recorded in different periods. Not an error.",
		"Carry it forward: the report of the next month says what has become of it."},
	{ClassLaterCharge, "Later charge of a subscription",
		"The gateway charged a transaction id again: the same amount, at least 20 hours after the charge before. A subscription can be " +
			"charged so, but nothing at the gateway shows that this id is one. Your list does not have all of its charges of the period; nothing else differs.",
		"If this id is a subscription, store the charge under its uniqueId, and list it with the transaction id of the first. " +
			"Otherwise it was charged twice: refund one."},
	{ClassDate, "Date differs", "Both sides agree, but their dates are in different periods, and too far apart for that to be usual.",
		"Correct the date in your list: the month in which you book it must be that of the gateway. If all dates differ, see --dates."},
	{ClassChanged, "Changed since it was compared", "The gateway has changed a payment or a refund of a month that was compared before.",
		"Correct your books. If the report of that month was signed, compare it again and sign it again, or mark the change as known."},
}

// About describes the class.
func (c Class) About() About { return Classes[place(c)] }

// place returns the index of a class in Classes, or -1 if it is none.
func place(c Class) int {
	return slices.IndexFunc(Classes, func(a About) bool { return a.Class == c })
}

// isCounted reports whether a class is one of differences: not what cannot be compared yet, and not what needs no correction.
func (c Class) isCounted() bool {
	return c != ClassTiming && c != ClassUnchecked && c != ClassTest && c != ""
}

// ofRefund returns the class for refunds that corresponds to c.
func ofRefund(c Class) Class {
	switch c {
	case ClassTwoSuccesses:
		return ClassRefundTwice
	case ClassMissingHere:
		return ClassRefundMissingHere
	case ClassMissingThere:
		return ClassRefundMissingThere
	}
	return c
}
