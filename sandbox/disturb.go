package sandbox

import (
	"cmp"
	"encoding/json"
	"net/http"
	"time"
)

// disturb turns the answer of an operation, which is empty if the operation was not carried out, into what the
// fault lets the caller see.
func (f *Fault) disturb(rep reply, c *call) reply {
	status := f.Status
	if rep.body == nil {
		rep = refusal(codeSystemError, "system error")
		if f.Reply == ReplyAsIs {
			status = cmp.Or(status, http.StatusGatewayTimeout)
		}
	}
	switch f.Reply {
	case ReplyClose:
		rep.cut = cutBeforeAnswer
	case ReplyReset:
		rep.cut = cutByReset
	case ReplyCutHeader:
		rep.cut = cutInHeader
	case ReplyCutBody:
		rep.cut = cutInBody
	case ReplyTruncated:
		rep.body = rep.body[:len(rep.body)/2]
	case ReplyEmpty:
		rep.body = []byte{}
	case ReplyHTML:
		rep.body = []byte("<!doctype html>\n<title>Service unavailable</title>\n<h1>Service unavailable</h1>\n")
		rep = rep.withHeader("Content-Type", "text/html; charset=utf-8")
	case ReplyGarbage:
		rep.body = []byte{0x00, 0xff, 0xfe, 0x1f, 0x8b, 0x08, 0x80, 0xc1}
		rep = rep.withHeader("Content-Type", "application/octet-stream")
	case ReplyForeign:
		rep.body = foreign(c)
	case ReplyNoCode:
		rep.body = withoutCode(rep.body)
	case ReplyRedirect:
		rep = rep.withHeader("Location", cmp.Or(f.Location, c.url))
		status = cmp.Or(status, http.StatusTemporaryRedirect)
	}
	if f.RetryAfter != "" {
		rep = rep.withHeader("Retry-After", f.RetryAfter)
	}
	if status != 0 {
		rep = rep.withStatus(status)
	}
	return rep
}

// foreign is a well-formed success of a transaction that the caller did not ask for.
func foreign(c *call) []byte {
	now := time.Now()
	code := codeSuccess
	if c.op == OpTokenPayment {
		code = codeProcessing
	}
	o := newObject().number("code", int64(code)).text("message", codeMessage(code)).boolean("isTest", true)
	o = o.raw("appId", cmp.Or(c.pay.appID, "1")).text("uniqueId", bookID(prefixOrder, nobodysBook, 1))
	o = o.text("transactionId", "another-"+c.transactionID).text("billDescription", "sandbox.example")
	o = o.number("timestamp", now.UnixMilli()).text("transactionAmount", cmp.Or(c.pay.amount, "1.00"))
	o = o.text("transactionCurrency", cmp.Or(c.pay.currency, "USD")).wallTime("transactionAt", now, time.UTC)
	return o.text("transactionMessage", "Approved").end()
}

func withoutCode(body []byte) []byte {
	m, err := members(body)
	if err != nil {
		return body
	}
	delete(m, "code")
	left, err := json.Marshal(m)
	if err != nil {
		return body
	}
	return left
}
