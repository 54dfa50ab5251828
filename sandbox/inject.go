package sandbox

import (
	"bytes"
	"cmp"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/cardgateway/cardgateway-go/sandbox/internal/codes"
	"github.com/cardgateway/cardgateway-go/sandbox/internal/generated"
	"github.com/cardgateway/cardgateway-go/sandbox/internal/hash"
	"github.com/cardgateway/cardgateway-go/sandbox/internal/jsonobject"
)

// Inject adds a fault. If several match a request, only the first injected one that is not used up applies. Inject panics
// if there is no such operation, because a test whose fault never applies would pass, or if Status is not valid.
func (g *Gateway) Inject(f Fault) {
	if err := f.check(); err != nil {
		panic("sandbox: Inject: " + err.Error())
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.faults.add(f)
}

// ClearFaults removes every fault.
func (g *Gateway) ClearFaults() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.faults.remove("")
}

// faults is the injected faults. Gateway.mu guards it.
type faults struct {
	seed     uint64
	list     []*activeFault
	injected int // so far
}

// activeFault is an injected Fault with its remaining uses.
type activeFault struct {
	Fault
	number int // counts all faults injected so far, including this one
	left   int // remaining uses; negative: unlimited
	seen   int // matching requests so far
	until  time.Time
}

// active returns the faults that are not over.
func (fs *faults) active() []*activeFault {
	return slices.DeleteFunc(slices.Clone(fs.list), (*activeFault).isOver)
}

func (a *activeFault) isOver() bool {
	return a.left == 0 || !a.until.IsZero() && !time.Now().Before(a.until)
}

func (fs *faults) add(f Fault) *activeFault {
	fs.list = slices.DeleteFunc(fs.list, (*activeFault).isOver)
	fs.injected++
	a := &activeFault{Fault: f, left: cmp.Or(f.Times, 1), number: fs.injected}
	if f.For > 0 {
		a.until = time.Now().Add(f.For)
	}
	fs.list = append(fs.list, a)
	return a
}

// take returns the fault that applies to this call, or nil, and counts the use.
func (fs *faults) take(c *call) *Fault {
	for _, a := range fs.list {
		if a.isOver() || !a.Operation.covers(c.op) || a.TransactionID != "" && a.TransactionID != c.transactionID {
			continue
		}
		a.seen++
		if a.seen <= a.Skip || (a.OneIn > 1 && hash.Of(fs.seed, uint64(a.number), uint64(a.seen))%uint64(a.OneIn) != 0) {
			continue
		}
		if a.left > 0 {
			a.left--
		}
		return &a.Fault
	}
	return nil
}

// remove removes the fault with that number, or all faults if it is empty, and returns how many.
func (fs *faults) remove(number string) int {
	before := len(fs.list)
	fs.list = slices.DeleteFunc(fs.list, func(a *activeFault) bool { return number == "" || strconv.Itoa(a.number) == number })
	return before - len(fs.list)
}

// serveFault carries out a call as the fault says, or does not, and changes the response.
func (g *Gateway) serveFault(f *Fault, c *call) reply {
	if !g.pause(f.Before) {
		return refusalWithStatus(http.StatusServiceUnavailable, codes.SystemError, "the gateway is closed")
	}
	var answer reply
	switch f.Commit {
	case CommitNow:
		answer = g.lockAndExecute(c)
	case CommitLate:
		g.mu.Lock()
		g.later(f.Late, func() {
			g.ledger.settleDue()
			g.execute(c)
		})
		g.mu.Unlock()
	}
	g.pause(f.After)
	return applyFault(f, answer, c)
}

// lockAndExecute carries out a call.
func (g *Gateway) lockAndExecute(c *call) reply {
	g.lockSettled()
	defer g.mu.Unlock()
	return g.execute(c)
}

// applyFault changes the response of an operation, which is empty if the operation was not carried out, as the fault says.
func applyFault(f *Fault, answer reply, c *call) reply {
	status := f.Status
	if f.Code != 0 {
		answer = refusalWithStatus(http.StatusOK, f.Code, codes.Message(f.Code))
	} else if answer.body == nil {
		answer = refusalWithStatus(http.StatusOK, codes.SystemError, "system error")
		if f.Reply == ReplyAsIs {
			status = cmp.Or(status, http.StatusGatewayTimeout)
		}
	}
	switch f.Reply {
	case ReplyClose, ReplyReset, ReplyCutHeader, ReplyCutBody:
		answer.cut = f.Reply
	case ReplyTruncated:
		answer.body = answer.body[:len(answer.body)/2]
	case ReplyEmpty:
		answer = answer.withBody([]byte{}, answer.header.Get("Content-Type"))
	case ReplyHTML:
		answer = answer.withBody([]byte("<!doctype html>\n<title>Service unavailable</title>\n<h1>Service unavailable</h1>\n"), "text/html; charset=utf-8")
	case ReplyGarbage:
		answer = answer.withBody([]byte{0x00, 0xff, 0xfe, 0x1f, 0x8b, 0x08, 0x80, 0xc1}, "application/octet-stream")
	case ReplyForeign:
		other := foreign(c)
		answer.body, answer.code, answer.message = other.body, other.code, other.message
	case ReplyNoCode: // it is the first member of every response
		_, others, _ := bytes.Cut(answer.body, []byte(","))
		answer = answer.withBody(append([]byte("{"), others...), answer.header.Get("Content-Type"))
	case ReplyRedirect:
		answer = answer.withHeader("Location", cmp.Or(f.Location, c.url))
		status = cmp.Or(status, http.StatusTemporaryRedirect)
	}
	if f.RetryAfter != "" {
		answer = answer.withHeader("Retry-After", f.RetryAfter)
	}
	if status != 0 {
		answer = answer.withStatus(status)
	}
	return answer
}

// foreign returns a well-formed success of another transaction.
func foreign(c *call) reply {
	another := generated.ID(prefixOrder, generated.SeriesOfForeign, 1)
	if c.op == OpCreateRefund {
		return acceptedRefund(&refund{
			merchantRefundID: "another-" + c.transactionID, uniqueID: another, currency: "USD", amount: cmp.Or(c.refund.amount, "1.00"),
			refundUniqueID: generated.ID(prefixRefund, generated.SeriesOfForeign, 1), requested: time.Now(),
		}, c.format.opts.Location)
	}
	o := &order{op: c.op, payment: c.pay, uniqueID: another, created: time.Now(), code: codes.Success, text: "Approved"}
	if c.op == OpTokenPayment {
		o.code = codes.Processing
	}
	o.transactionID, o.amount, o.currency = "another-"+c.transactionID, cmp.Or(o.amount, "1.00"), cmp.Or(o.currency, "USD")
	return jsonReply(o.code, c.format.appendResult(jsonobject.New(), o, false))
}
