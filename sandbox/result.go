package sandbox

import (
	"strconv"
	"time"

	"github.com/cardgateway/cardgateway-go/sandbox/internal/codes"
	"github.com/cardgateway/cardgateway-go/sandbox/internal/jsonobject"
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
func (f resultFormat) appendResult(b jsonobject.Object, o *order, query bool) jsonobject.Object {
	b = b.Number("code", int64(o.code)).Text("message", codes.Message(o.code)).Bool("isTest", true)
	b = b.OptionalRaw("appId", o.appID).Text("uniqueId", o.uniqueID).Text("transactionId", o.transactionID)
	b = b.Text("billDescription", f.billDescription).Number("timestamp", time.Now().UnixMilli())
	b = b.Text("transactionAmount", o.amount).Text("transactionCurrency", o.currency)
	b = b.WallTime("transactionAt", o.created, f.location)
	b = b.Optional("transactionCardNumber", o.card.masked).Text("transactionMessage", o.text)
	if query || o.op == OpTokenPayment {
		b = b.Text("transactionMethod", o.shownMethod()).Text("transactionType", o.kind())
		is3d := strconv.FormatBool(o.is3d || o.stage == stage3D)
		if f.booleanIs3D {
			b = b.Raw("is3d", is3d)
		} else {
			b = b.Text("is3d", is3d)
		}
	}
	if o.code == codes.Redirect {
		b = b.Text("redirectUrl", f.base+o.pagePath())
	}
	if query {
		b = append(o.billing.appendTo(b.Key("billingAddress")), '}')
	}
	return b
}

// appendTo writes the members of an address, without the closing brace. The state is left out: the interface says that
// responses do not repeat it.
func (a *address) appendTo(b jsonobject.Object) jsonobject.Object {
	b = append(b, '{')
	b = b.Text("firstName", a.firstName).Text("lastName", a.lastName).Text("country", a.country)
	b = b.Text("email", a.email).Text("city", a.city).Text("address", a.address)
	return b.Text("phone", a.phone).Text("zipCode", a.zipCode)
}

// appendRefund writes a refund record as the interface shows it.
func (f resultFormat) appendRefund(b jsonobject.Object, r *refund) jsonobject.Object {
	b = b.Number("code", int64(r.code)).Text("message", codes.Message(r.code))
	b = b.Number("timestamp", time.Now().UnixMilli()).Text(f.refundID, r.merchantRefundID)
	b = b.Text("uniqueId", r.uniqueID).Text("refundUniqueId", r.refundUniqueID)
	b = b.Text("refundCurrency", r.currency).Text("refundAmount", r.amount)
	b = b.WallTime("refundRequestAt", r.requested, f.location)
	if r.completed.IsZero() {
		return b
	}
	return b.WallTime("refundAt", r.completed, f.location)
}
