package cardgateway

import (
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/cardgateway/cardgateway-go/internal/check"
	"github.com/cardgateway/cardgateway-go/internal/civil"
	"github.com/cardgateway/cardgateway-go/internal/resolve"
	"github.com/cardgateway/cardgateway-go/internal/secret"
)

// Limits of the interface ("Limits" and "Transaction request"). Lengths are in characters.
const (
	maxID          = 128 // transactionId, orderId, uniqueId, refundTransactionId, refundUniqueId, transactionIp
	maxURL         = 255 // callbackUrl, notificationUrl
	maxMethod      = 32  // transactionMethod
	maxRemark      = 255 // published: the remark of a refund; company and remark of a shipment
	maxAppID       = 32  // the larger one if two are listed
	maxShortAppID  = 20  // of a token order and of a redirect checkout
	currencyLength = 3
	maxPageSize    = 999           // Number(3)
	noLimit        = check.NoLimit // "not shown"

	maxToken      = 512 // not from the interface: fits into a path element everywhere
	minCardDigits = 12
	maxCardDigits = 19
)

// Whether a member must be given.
const (
	optional = check.Optional
	required = check.Required
)

// violations collects every violation of one request: of the general rules, and of the interface's own rules below.
type violations struct{ check.Violations }

// err returns what was found as a *ValidationError, or nil.
func (v *violations) err(op string) error {
	if v.Len() == 0 {
		return nil
	}
	invalid := &ValidationError{Op: op}
	for _, p := range v.Problems() {
		invalid.Problems = append(invalid.Problems, Problem(p))
	}
	return invalid
}

// withID adds the merchant's id to a *ValidationError, unless there is a problem with it.
func withID(err error, id string) error {
	invalid, ok := errors.AsType[*ValidationError](err)
	isBad := func(p Problem) bool { return strings.HasSuffix(strings.ToLower(p.Field), "transactionid") }
	if ok && !slices.ContainsFunc(invalid.Problems, isBad) {
		invalid.ID = id
	}
	return err
}

// duration checks a limit of time in a Config; zero means its default. So few nanoseconds are a number without its unit.
func (v *violations) duration(field string, d time.Duration) {
	v.AddIf(d < 0, field, RuleRange, "must not be negative")
	v.AddIf(d > 0 && d < time.Millisecond, field, RuleRange, "is only %v: multiply a number by its unit, such as time.Second", d)
}

// uniqueID checks the gateway's id of a payment, which must be given.
func (v *violations) uniqueID(s string) {
	if v.Require("uniqueId", s != "", required) {
		v.Digits("uniqueId", s, 1, maxID)
	}
}

// sentAt checks the SentAt of a query that resolves an outcome.
func (v *violations) sentAt(t time.Time) {
	if v.Require("SentAt", !t.IsZero(), required) && v.Year("SentAt", t.Add(-resolve.Before)) && t.After(time.Now().Add(resolve.Before)) {
		v.Add("SentAt", RuleRange, "must not be in the future")
	}
}

// card checks a card without ever putting a part of it into a message.
func (v *violations) card(c *Card) {
	if v.Require("expiredYear", c.ExpiredYear != "", required) {
		v.Digits("expiredYear", c.ExpiredYear, 2, 2)
	}
	if v.Require("expiredMonth", c.ExpiredMonth != "", required) &&
		v.Digits("expiredMonth", c.ExpiredMonth, 2, 2) && (c.ExpiredMonth < "01" || c.ExpiredMonth > "12") {
		v.Add("expiredMonth", RuleRange, "must be 01 to 12")
	}
	if v.Require("cardNumber", !c.CardNumber.IsZero(), required) {
		v.DigitCount("cardNumber", secret.IsDigits(c.CardNumber.concealed, minCardDigits, maxCardDigits), minCardDigits, maxCardDigits)
	}
	if v.Require("cardholder", c.Cardholder != "", required) {
		v.ID("cardholder", c.Cardholder, noLimit)
	}
	if v.Require("cvv", !c.CVV.IsZero(), required) {
		v.DigitCount("cvv", secret.IsDigits(c.CVV.concealed, 3, 4), 3, 4)
	}
}

// page checks the page number and size of a batch query. Zero means that the parameter is not sent.
func (v *violations) page(p PageRequest) {
	v.AddIf(p.CurrPage < 0, "currPage", RuleRange, "must not be negative")
	v.AddIf(p.PageSize < 0 || p.PageSize > maxPageSize, "pageSize", RuleRange, "must be 0 to %d", maxPageSize)
}

// span checks the bounds of a batch query: both required, in order, and the wall-clock times that are sent, from and to, at most one
// month apart. The interface does not say what a month is; a calendar month is the reading that allows most.
func (v *violations) span(start, end time.Time, from, to civil.Time) {
	if !v.order(start, end) {
		return
	}
	first := v.Year("startDate", start)
	if last := v.Year("endingDate", end); first && last && to > from.NextMonth() {
		v.Add("endingDate", RuleRange, "must be at most one month after Start")
	}
}

// order checks that both bounds are given and in order.
func (v *violations) order(start, end time.Time) bool {
	hasStart := v.Require("startDate", !start.IsZero(), required)
	hasEnd := v.Require("endingDate", !end.IsZero(), required)
	if hasStart && hasEnd && end.Before(start) {
		v.Add("endingDate", RuleRange, "must not be before Start")
		return false
	}
	return hasStart && hasEnd
}
