package sandbox

import (
	_ "embed"
	"encoding/json"
	"time"

	"github.com/cardgateway/cardgateway-go/sandbox/internal/codes"
	"github.com/cardgateway/cardgateway-go/sandbox/internal/console"
	"github.com/cardgateway/cardgateway-go/sandbox/internal/mask"
	"github.com/cardgateway/cardgateway-go/sandbox/internal/money"
)

// openAPI is the description of the gateway. It has the operations, members, types and limits of testdata/interface.json: the module
// contract compares them, and holds client and sandbox to it.
//
//go:embed openapi.json
var openAPI []byte

func newConsole(g *Gateway) *console.Console {
	names := []string{}
	for _, f := range Faults(0) {
		names = append(names, f.Name)
	}
	return console.New(forConsole{g}, g.log, console.Settings{
		Label: g.opts.Console.Label, MerchantName: g.opts.MerchantName, Zone: g.opts.Location, Document: openAPI,
		Operations: operationNames(), FaultNames: names,
	})
}

// forConsole is a Gateway as the console sees it: views of its payments. The actions on payments and refunds
// are in actions.go; the other methods of console.Gateway are those of Gateway itself.
type forConsole struct{ *Gateway }

func (g forConsole) TestCard(name string) (console.Card, error) {
	o, err := outcomeNamed(name)
	if err != nil {
		return console.Card{}, err
	}
	return console.Card(TestCard(o)), nil
}

func (g forConsole) MakeToken(testCard string) (string, error) {
	o, err := outcomeNamed(testCard)
	if err != nil {
		return "", err
	}
	return g.NewToken(o), nil
}

func outcomeNamed(name string) (o Outcome, err error) {
	if err := o.UnmarshalText([]byte(name)); err != nil {
		return 0, console.Invalid("testCard: " + err.Error())
	}
	return o, nil
}

func (g forConsole) Closing() <-chan struct{} { return g.closing }

func (g forConsole) Inject(settings []byte, slow time.Duration) (console.Fault, error) {
	f, err := decodeFault(settings, slow)
	if err != nil {
		return console.Fault{}, err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.faults.add(f).view(), nil
}

func (g forConsole) RemoveFaults(number string) (int, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	n := g.faults.remove(number)
	if number != "" && n == 0 {
		return 0, console.NotFound("fault", number)
	}
	return n, nil
}

func (g forConsole) Faults() []console.Fault {
	g.mu.Lock()
	defer g.mu.Unlock()
	views := []console.Fault{}
	for _, a := range g.faults.active() {
		views = append(views, a.view())
	}
	return views
}

func (a *activeFault) view() console.Fault {
	text, _ := json.Marshal(a.Fault.json()) // always can be marshalled
	return console.Fault{
		Number: a.number, Left: a.left, Seen: a.seen, Fault: text, Operation: string(a.Operation), Description: a.describe(),
	}
}

func (g forConsole) Info() console.Info {
	g.lockSettled()
	defer g.mu.Unlock()
	text, _ := json.Marshal(g.opts.json()) // always can be marshalled
	info := console.Info{
		StartedAt: g.started, Orders: len(g.ledger.orders.rows), Refunds: len(g.ledger.refunds.rows), Faults: len(g.faults.active()), Options: text,
	}
	info.SeededOrders, info.SeededRefunds = g.ledger.seeded.Rows()
	return info
}

func (g forConsole) Payment(id string) (console.Payment, error) {
	g.lockSettled()
	defer g.mu.Unlock()
	o, err := g.ledger.payment(id)
	if err != nil {
		return console.Payment{}, err
	}
	return g.ledger.view(o), nil
}

func (g forConsole) Payments(f console.Filter) console.List[console.Payment] {
	g.lockSettled()
	defer g.mu.Unlock()
	return console.Newest(g.ledger.orders.rows, f.Limit, func(o *order) bool {
		return f.Matches(o.code, "transactionId", o.transactionID, "orderId", o.orderID, "uniqueId", o.uniqueID, "operation", string(o.op))
	}, g.ledger.view)
}

// view returns a copy of an order for the console.
func (l *ledger) view(o *order) console.Payment {
	back, open := l.refunded(o)
	v := console.Payment{
		UniqueID: o.uniqueID, TransactionID: o.transactionID, OrderID: o.orderID, Operation: string(o.op), Code: o.code,
		Message: codes.Message(o.code), TransactionMessage: o.text, Amount: o.amount, Currency: o.currency,
		CreatedAt: o.created, CardNumber: o.card.masked, Is3D: o.is3d,
		NotificationURL: mask.URL(o.notificationURL), Executed: l.executed(o.transactionID),
		TrackingNumber: l.tracking[o.uniqueID].Number, Events: append([]console.Event{}, o.events...),
		Refundable: o.movedMoney() && back < money.Thousandths(o.amount), Refunding: open, MakesToken: o.free, Retry: o.canRetry, Products: o.products,
		Page: o.pagePath(), Callback: o.callbackURL,
	}
	for k := range console.Cancel + 1 {
		if allowed, _, _ := o.allows(k); allowed && !o.seeded {
			v.Allows = append(v.Allows, k)
		}
	}
	switch {
	case o.awaits(stageCard):
		v.WaitsFor = "card"
	case o.awaits(stage3D):
		v.WaitsFor = "3d"
	case o.stage == stageProcessing:
		v.WaitsFor = "settlement"
	}
	if back > 0 {
		v.Refunded = money.Of(back, o.currency)
	}
	return v
}

func (g forConsole) Refund(id string) (console.Refund, error) {
	g.lockSettled()
	defer g.mu.Unlock()
	r, err := g.ledger.refund(id)
	if err != nil {
		return console.Refund{}, err
	}
	return g.ledger.viewRefund(r), nil
}

func (g forConsole) Refunds(f console.Filter) console.List[console.Refund] {
	g.lockSettled()
	defer g.mu.Unlock()
	return console.Newest(g.ledger.refunds.rows, f.Limit, func(r *refund) bool {
		return f.Matches(r.code, "transactionId", r.transactionID, "uniqueId", r.uniqueID, "refundTransactionId", r.merchantRefundID)
	}, g.ledger.viewRefund)
}

// viewRefund returns a copy of a refund for the console.
func (l *ledger) viewRefund(r *refund) console.Refund {
	v := console.Refund{
		RefundUniqueID: r.refundUniqueID, RefundTransactionID: r.merchantRefundID, UniqueID: r.uniqueID,
		TransactionID: r.transactionID, Code: r.code, Message: codes.Message(r.code), Amount: r.amount, Currency: r.currency,
		Remark: r.remark, RequestedAt: r.requested, Refunded: l.timesRefunded(r.merchantRefundID),
	}
	if completed := r.completed; !completed.IsZero() {
		v.CompletedAt = &completed
	}
	return v
}

func (g forConsole) HostedPage(path string) (console.Payment, error) {
	g.lockSettled()
	defer g.mu.Unlock()
	o := g.ledger.onPage(path)
	if o == nil {
		return console.Payment{}, console.NotFound("payment", path)
	}
	return g.ledger.view(o), nil
}
