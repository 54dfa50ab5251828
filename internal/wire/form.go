package wire

import (
	"strings"

	"github.com/cardgateway/cardgateway-go/internal/ascii"
)

const (
	maxRefundID    = 128 // characters
	currencyLength = 3
)

// RefundID reads the gateway's id of a refund: letters, digits and marks between them. Any other text could hold anything.
func (r *Reader) RefundID(dst *string) bool {
	var id string
	ok := r.ID(&id) && len(id) <= maxRefundID && fits(id, "-_.:")
	if ok {
		*dst = id
	}
	return ok
}

// Currency reads the code of a currency. It also reports whether it is a text at all; one with another form is not stored.
func (r *Reader) Currency(dst *string) (ok, isText bool) {
	var code string
	isText = r.ID(&code)
	if ok = isText && (code == "" || len(code) == currencyLength && fits(code, "")); ok {
		*dst = code
	}
	return ok, isText
}

// fits reports whether a text has only letters, digits and these marks.
func fits(text, marks string) bool {
	for i := range len(text) {
		if c := text[i]; !ascii.IsAlphanumeric(c) && !strings.ContainsRune(marks, rune(c)) {
			return false
		}
	}
	return true
}
