package journal

import (
	"unicode/utf8"

	"github.com/cardgateway/cardgateway-go/internal/check"
)

// recordable reports whether every store can store the intent. The limits are those of the interface ("Limits"), so that
// the client rejects whatever is rejected here.
func (in *Intent) recordable() bool {
	exp := in.Amount.Exponent()
	return in.ID.recordable() && isStorable(in.OrderID) && isStorable(in.UniqueID) && isStorable(in.Currency) &&
		exp >= -3 && exp <= 12 && in.Amount.NumDigits() <= 12
}

// recordable reports whether every store can store the id.
func (id ID) recordable() bool { return id.Text != "" && isStorable(id.Text) }

// isStorable reports whether a text has at most 128 characters, and none that a store could reject or change.
func isStorable(s string) bool {
	return utf8.RuneCountInString(s) <= 128 && check.IsPlainText(s)
}
