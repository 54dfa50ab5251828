package sandbox

import (
	"cmp"
	"encoding/json"
	"net/http"
	"time"

	"github.com/cardgateway/cardgateway-go/sandbox/internal/codes"
	"github.com/cardgateway/cardgateway-go/sandbox/internal/jsonobject"
)

// applyFault changes the response of an operation, which is empty if the operation was not carried out, as the fault says.
func applyFault(f *Fault, reply reply, c *call) reply {
	status := f.Status
	if f.Code != 0 {
		reply = refusal(f.Code, codes.Message(f.Code))
	} else if reply.body == nil {
		reply = refusal(codes.SystemError, "system error")
		if f.Reply == ReplyAsIs {
			status = cmp.Or(status, http.StatusGatewayTimeout)
		}
	}
	switch f.Reply {
	case ReplyClose:
		reply.truncation = truncatedToNothing
	case ReplyReset:
		reply.truncation = truncatedByReset
	case ReplyCutHeader:
		reply.truncation = truncatedInHeader
	case ReplyCutBody:
		reply.truncation = truncatedInBody
	case ReplyTruncated:
		reply.body = reply.body[:len(reply.body)/2]
	case ReplyEmpty:
		reply.body = []byte{}
	case ReplyHTML:
		reply.body = []byte("<!doctype html>\n<title>Service unavailable</title>\n<h1>Service unavailable</h1>\n")
		reply = reply.withHeader("Content-Type", "text/html; charset=utf-8")
	case ReplyGarbage:
		reply.body = []byte{0x00, 0xff, 0xfe, 0x1f, 0x8b, 0x08, 0x80, 0xc1}
		reply = reply.withHeader("Content-Type", "application/octet-stream")
	case ReplyForeign:
		reply.body = foreign(c)
	case ReplyNoCode:
		reply.body = withoutCode(reply.body)
	case ReplyRedirect:
		reply = reply.withHeader("Location", cmp.Or(f.Location, c.url))
		status = cmp.Or(status, http.StatusTemporaryRedirect)
	}
	if f.RetryAfter != "" {
		reply = reply.withHeader("Retry-After", f.RetryAfter)
	}
	if status != 0 {
		reply = reply.withStatus(status)
	}
	return reply
}

// foreign returns a well-formed success of another transaction.
func foreign(c *call) []byte {
	now := time.Now()
	if c.op == OpRefund {
		o := jsonobject.New().Number("code", codes.RefundRequested).Text("message", codes.Message(codes.RefundRequested))
		o = o.Text("refundTransactionId", "another-"+c.transactionID).Text("uniqueId", generatedID(prefixOrder, seriesOfForeign, 1))
		o = o.Text("refundUniqueId", generatedID(prefixRefund, seriesOfForeign, 1)).Text("refundCurrency", "USD")
		o = o.Text("refundAmount", cmp.Or(c.pay.amount, "1.00")).WallTime("refundRequestAt", now, time.UTC)
		return o.Number("timestamp", now.UnixMilli()).End()
	}
	code := codes.Success
	if c.op == OpTokenPayment {
		code = codes.Processing
	}
	o := jsonobject.New().Number("code", int64(code)).Text("message", codes.Message(code)).Bool("isTest", true)
	o = o.OptionalRaw("appId", c.pay.appID).Text("uniqueId", generatedID(prefixOrder, seriesOfForeign, 1))
	o = o.Text("transactionId", "another-"+c.transactionID).Text("billDescription", "sandbox.example")
	o = o.Number("timestamp", now.UnixMilli()).Text("transactionAmount", cmp.Or(c.pay.amount, "1.00"))
	o = o.Text("transactionCurrency", cmp.Or(c.pay.currency, "USD")).WallTime("transactionAt", now, time.UTC)
	return o.Text("transactionMessage", "Approved").End()
}

func withoutCode(body []byte) []byte {
	m, err := jsonobject.Members(body)
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
