package sandbox

import "time"

// appendResult writes a transaction result. An answer has the members that the interface shows for its operation;
// a row of a query has all of them.
func (g *Gateway) appendResult(b object, o *order, base string, query bool) object {
	b = b.number("code", int64(o.code)).text("message", codeMessage(o.code)).boolean("isTest", true)
	b = b.raw("appId", o.appID).text("uniqueId", o.uniqueID).text("transactionId", o.transactionID)
	b = b.text("billDescription", g.opts.BillDescription).number("timestamp", time.Now().UnixMilli())
	b = b.text("transactionAmount", o.amount).text("transactionCurrency", o.currency)
	b = b.wallTime("transactionAt", o.created, g.opts.Location)
	b = b.optional("transactionCardNumber", o.card.masked).text("transactionMessage", o.text)
	if query || o.op == OpTokenPayment {
		b = b.text("transactionMethod", o.shownMethod()).text("transactionType", o.kind())
		b = b.text("is3d", boolText(o.is3d || o.stage == stage3D))
	}
	if o.code == codeRedirect {
		b = b.text("redirectUrl", base+o.pagePath())
	}
	if query {
		b = append(o.billing.appendTo(b.key("billingAddress")), '}')
	}
	return b
}

// appendTo writes the members of an address, all but the closing brace. The state is not among them: the
// interface says that response copies do not carry it.
func (a *address) appendTo(b object) object {
	b = append(b, '{')
	b = b.text("firstName", a.firstName).text("lastName", a.lastName).text("country", a.country)
	b = b.text("email", a.email).text("city", a.city).text("address", a.address)
	return b.text("phone", a.phone).text("zipCode", a.zipCode)
}

// shownMethod is the payment method of a result: CreditCard once a card is known, else what was asked for.
func (o *order) shownMethod() string {
	switch {
	case o.card.masked != "":
		return "CreditCard"
	case o.method != "":
		return o.method
	}
	return "Default"
}

func (o *order) pagePath() string {
	if o.stage == stage3D {
		return threeDPagePath + o.page
	}
	return cardPagePath + o.page
}

// wallTime appends the interface's YYYY-MM-DD HH:MM:SS.
func (o object) wallTime(name string, t time.Time, loc *time.Location) object {
	o = append(o.key(name), '"')
	return append(t.In(loc).AppendFormat(o, time.DateTime), '"')
}

func boolText(b bool) string {
	if b {
		return "true"
	}
	return "false"
}
