package journal

import (
	"unicode/utf8"

	"github.com/cardgateway/cardgateway-go/internal/check"
)

// recordable reports whether every store can store the intent. The limits are those of the interface ("Limits"), so that
// the client rejects whatever is rejected here.
func (in *Intent) recordable() bool {
	exp := in.Amount.Exponent()
	return in.Key().recordable() && isStorable(in.OrderID) && isStorable(in.UniqueID) && isStorable(in.Currency) &&
		exp >= -3 && exp <= 12 && in.Amount.NumDigits() <= 12
}

// recordable reports whether a key names either a payment or a refund, and every store can store it.
func (k Key) recordable() bool {
	return (k.TransactionID == "") != (k.RefundTransactionID == "") && isStorable(k.TransactionID) && isStorable(k.RefundTransactionID)
}

// isStorable reports whether a text has at most 128 characters, and none that a store could reject or change.
func isStorable(s string) bool {
	return utf8.RuneCountInString(s) <= 128 && check.IsPlainText(s)
}
