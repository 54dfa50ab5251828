package journal

import (
	"unicode/utf8"

	"github.com/cardgateway/cardgateway-go/internal/check"
)

// recordable reports whether an intent can be kept by any store. The limits are the interface's own ("Limits"), so
// that the client refuses whatever is refused here.
func (in *Intent) recordable() bool {
	exp := in.Amount.Exponent()
	return in.Key().recordable() && isStorable(in.OrderID) && isStorable(in.UniqueID) && isStorable(in.Currency) &&
		exp >= -3 && exp <= 12 && in.Amount.NumDigits() <= 12
}

// recordable reports whether a key names a payment or a refund, and any store can keep it.
func (k Key) recordable() bool {
	return (k.TransactionID == "") != (k.RefundTransactionID == "") && isStorable(k.TransactionID) && isStorable(k.RefundTransactionID)
}

// isStorable reports whether a text has at most 128 characters and none that a store could refuse or change.
func isStorable(s string) bool {
	return utf8.RuneCountInString(s) <= 128 && check.IsPlainText(s)
}
