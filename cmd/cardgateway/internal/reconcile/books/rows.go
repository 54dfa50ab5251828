package books

import (
	"fmt"
	"strings"
	"time"

	"github.com/shopspring/decimal"
)

// Kind is payment or refund.
type Kind string

// The kinds of rows, and of the merchant's lists.
const (
	Payment Kind = "payment"
	Refund  Kind = "refund"
)

// Row is a payment or a refund at the gateway, as the gateway last returned it.
type Row struct {
	UniqueID string // the gateway's id; may be empty
	ID       string // the merchant's id, or the gateway's if there is none; may be empty
	Payment  string // of a refund: the gateway's id of the payment
	State    string // StateApproved (a refund: refunded), StateDeclined, StateProcessing, StateRedirect or StateUnknown
	Amount   decimal.Decimal
	Currency string // ISO 4217; empty if the gateway never returned an amount; of a refund that states none, that of its payment
	At       time.Time
	Card     string // of a payment: masked by the gateway; may be empty
	Test     bool   // a payment that the gateway marks as a test: no money moved
}

// Key identifies the row: the gateway's id or, if it gave none, UnnamedKey.
func (r *Row) Key() string {
	if r.UniqueID == "" {
		return r.UnnamedKey()
	}
	return r.UniqueID
}

// UnnamedKey is the Key that the row had before the gateway gave it an id, if there was such a time.
func (r *Row) UnnamedKey() string {
	return fmt.Sprint(unnamed, r.ID, " ", r.Payment, " ", r.At.UnixMicro())
}

const unnamed = "unnamed "

// IsUnnamed reports whether a Key is an UnnamedKey.
func IsUnnamed(key string) bool { return strings.HasPrefix(key, unnamed) }

// IsFinal reports whether its state does not change any more.
func (r *Row) IsFinal() bool { return r.State == StateApproved || r.State == StateDeclined }

// The states of rows and lines: the texts of cardgateway.State, as the database has them.
const (
	StateApproved   = "approved"
	StateDeclined   = "declined"
	StateProcessing = "processing"
	StateRedirect   = "redirect"
	StateUnknown    = "unknown"
)

// isOpen is the condition for orders and refunds that are not final.
const isOpen = `state IN ('` + StateProcessing + `', '` + StateRedirect + `', '` + StateUnknown + `')`

// Line is a line of a list of the merchant.
type Line struct {
	Line     int    // line number in the file, or row number of the query; not 0
	Earlier  bool   // it is a line of the list of an earlier month
	ID       string // of the transaction or the refund; never empty
	UniqueID string `json:",omitempty"` // the gateway's; empty if the line has an id of the merchant
	Order    string // the merchant's order; empty if the list has no such column
	State    string // StateApproved if the list has no such column
	Amount   decimal.Decimal
	Currency string
	At       time.Time // zero if the list has no time
	Until    time.Time // the latest time that At may be: later if the list has only a date, or an hour that clocks show twice
}

// Entry is a Row, or a Line whose number is not 0.
type Entry struct {
	Row  Row
	Line Line
}

// IsLine reports whether the entry is a line of the merchant's list.
func (e *Entry) IsLine() bool { return e.Line.Line != 0 }

// ID returns the id of the row or the line.
func (e *Entry) ID() string {
	if e.IsLine() {
		return e.Line.ID
	}
	return e.Row.ID
}

// OrderLine is a line of the merchant's list of payments together with a successful payment of the copy that has its id.
type OrderLine struct {
	Line  Line
	Total decimal.NullDecimal // of the order; invalid if the list has none
	Paid  Row                 // the zero Row if there is none, or if the line is not approved
}

// RefundOf is a refund together with its payment.
type RefundOf struct {
	Refund  Row
	Payment Row // the zero Row if it is not in the copy
}

// Unreadable is a line of a list that could not be parsed, together with a row of the copy that has its id.
type Unreadable struct {
	Line   int
	ID     string // the transaction id or refund id, if that could be parsed
	Order  string // if it could be parsed
	Column string // empty if it concerns the whole line
	Why    string
	Row    Row // the zero Row if there is none

	uniqueID string // as that of a line
}
