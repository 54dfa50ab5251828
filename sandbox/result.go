package sandbox

import (
	"strconv"
	"time"
)

// resultFormat is the format of all results and refund records of one response.
type resultFormat struct {
	billDescription string
	location        *time.Location // of wall-clock times
	base            string         // scheme and host of redirectUrl
	booleanIs3D     bool
	refundID        string // name of the merchant's refund id in the rows of a refund query
}

// appendResult writes a transaction result. A response has the members that the interface documents for its operation; a
// row of a query has all of them.
func (f resultFormat) appendResult(b object, o *order, query bool) object {
	b = b.number("code", int64(o.code)).text("message", codeMessage(o.code)).boolean("isTest", true)
	b = b.optionalRaw("appId", o.appID).text("uniqueId", o.uniqueID).text("transactionId", o.transactionID)
	b = b.text("billDescription", f.billDescription).number("timestamp", time.Now().UnixMilli())
	b = b.text("transactionAmount", o.amount).text("transactionCurrency", o.currency)
	b = b.wallTime("transactionAt", o.created, f.location)
	b = b.optional("transactionCardNumber", o.card.masked).text("transactionMessage", o.text)
	if query || o.op == OpTokenPayment {
		b = b.text("transactionMethod", o.shownMethod()).text("transactionType", o.kind())
		is3d := strconv.FormatBool(o.is3d || o.stage == stage3D)
		if f.booleanIs3D {
			b = b.raw("is3d", is3d)
		} else {
			b = b.text("is3d", is3d)
		}
	}
	if o.code == codeRedirect {
		b = b.text("redirectUrl", f.base+o.pagePath())
	}
	if query {
		b = append(o.billing.appendTo(b.key("billingAddress")), '}')
	}
	return b
}

// appendTo writes the members of an address, without the closing brace. The state is left out: the interface says that
// responses do not repeat it.
func (a *address) appendTo(b object) object {
	b = append(b, '{')
	b = b.text("firstName", a.firstName).text("lastName", a.lastName).text("country", a.country)
	b = b.text("email", a.email).text("city", a.city).text("address", a.address)
	return b.text("phone", a.phone).text("zipCode", a.zipCode)
}

// wallTime appends the interface's YYYY-MM-DD HH:MM:SS.
func (o object) wallTime(name string, t time.Time, loc *time.Location) object {
	o = append(o.key(name), '"')
	return append(t.In(loc).AppendFormat(o, time.DateTime), '"')
}

// appendRefund writes a refund record as the interface shows it.
func (f resultFormat) appendRefund(b object, r *refund) object {
	b = b.number("code", int64(r.code)).text("message", codeMessage(r.code))
	b = b.number("timestamp", time.Now().UnixMilli()).text(f.refundID, r.merchantRefundID)
	b = b.text("uniqueId", r.uniqueID).text("refundUniqueId", r.refundUniqueID)
	b = b.text("refundCurrency", r.currency).text("refundAmount", r.amount)
	b = b.wallTime("refundRequestAt", r.requested, f.location)
	if r.completed.IsZero() {
		return b
	}
	return b.wallTime("refundAt", r.completed, f.location)
}
