package sandbox

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/cardgateway/cardgateway-go/sandbox/internal/codes"
	"github.com/cardgateway/cardgateway-go/sandbox/internal/money"
	"github.com/cardgateway/cardgateway-go/sandbox/internal/pages"
)

func (g *Gateway) paymentTable(rows list[paymentView], here string) *pages.Table {
	t := &pages.Table{
		Columns: []string{"Created", "Transaction", "Amount", "State", "Operation", "Actions"}, LeftOff: rows.LeftOff,
		Empty: "No payments yet. Point your program at this address and send one.",
	}
	for _, p := range rows.Data {
		t.Rows = append(t.Rows, []pages.Cell{
			{Text: g.clock(p.CreatedAt)},
			{Text: p.TransactionID, Link: controlPath + "payments/" + p.UniqueID, Mono: true},
			{Text: unbroken(money.Shown(p.Amount, p.Currency))}, stateCell(p.Code, p.Message), {Text: string(p.Operation)},
			{Forms: paymentForms(p, here)},
		})
	}
	return t
}

// paymentForms returns the actions that the state of a payment allows.
func paymentForms(p paymentView, here string) []pages.Form {
	button := func(action, label string) pages.Form {
		return pages.Form{
			Action: controlPath + "payments/" + p.UniqueID + "/" + action, Label: label,
			Describe: label + " " + p.TransactionID, Inputs: nil,
		}
	}
	var forms []pages.Form
	switch {
	case p.WaitsFor == "settlement":
		forms = []pages.Form{button("settle", "Settle"), button("decline", "Decline"), button("close", "Close")}
	case p.WaitsFor != "" && p.Code == codes.Redirect:
		forms = []pages.Form{{Action: p.Page, Label: "Open page", Describe: "Open page of " + p.TransactionID, Get: true}, button("close", "Close")}
	case p.Code == codes.Success && p.Operation != OpTokenCreate:
		forms = []pages.Form{button("refund", "Refund"), button("chargeback", "Charge back"), button("notify", "Notify again")}
	default:
		forms = []pages.Form{button("notify", "Notify again")}
	}
	for i := range forms {
		if !forms[i].Get {
			forms[i].Inputs = []pages.Input{back(here)}
		}
	}
	return forms
}

func (g *Gateway) refundTable(rows list[refundView], here string) *pages.Table {
	t := &pages.Table{
		Columns: []string{"Requested", "Refund", "Of", "Amount", "State", "Actions"}, LeftOff: rows.LeftOff, Empty: "No refunds.",
	}
	for _, r := range rows.Data {
		var forms []pages.Form
		if r.Code == codes.RefundRequested {
			for _, action := range []string{"Settle", "Decline"} {
				forms = append(forms, pages.Form{
					Action: controlPath + "refunds/" + r.RefundUniqueID + "/" + strings.ToLower(action), Label: action,
					Describe: action + " refund " + r.RefundTransactionID, Inputs: []pages.Input{back(here)},
				})
			}
		}
		t.Rows = append(t.Rows, []pages.Cell{
			{Text: g.clock(r.RequestedAt)}, mono(r.RefundTransactionID),
			{Text: r.TransactionID, Link: controlPath + "payments/" + r.UniqueID, Mono: true},
			{Text: unbroken(money.Shown(r.Amount, r.Currency))}, stateCell(r.Code, r.Message), {Forms: forms},
		})
	}
	return t
}

func (g *Gateway) notificationTable(rows list[notificationView], here string) *pages.Table {
	t := &pages.Table{
		Columns: []string{"Time", "Notification", "Transaction", "Last delivery", "State", "Actions"}, LeftOff: rows.LeftOff,
		Empty: "No notifications. One is sent when a payment is final and its request had a notificationUrl.",
	}
	for _, n := range rows.Data {
		last := ""
		if len(n.Deliveries) > 0 {
			d := n.Deliveries[len(n.Deliveries)-1]
			last = d.Reason
			if d.Status != 0 {
				last = strings.TrimSuffix(fmt.Sprintf("HTTP %d: %s", d.Status, d.Reason), ": ")
			}
		}
		t.Rows = append(t.Rows, []pages.Cell{
			{Text: g.clock(n.At)},
			{Text: fmt.Sprintf("%d %s", n.Number, n.TransactionType), Link: fmt.Sprintf("%snotifications/%d", controlPath, n.Number)},
			mono(n.TransactionID), {Text: last}, deliveryState(n.State), {Forms: []pages.Form{resendForm(n, here)}},
		})
	}
	return t
}

func resendForm(n notificationView, here string) pages.Form {
	return pages.Form{
		Action: fmt.Sprintf("%snotifications/%d/resend", controlPath, n.Number), Label: "Send again",
		Describe: fmt.Sprintf("Send again: notification %d", n.Number), Inputs: []pages.Input{back(here)},
	}
}

func (g *Gateway) requestTable(rows list[requestView]) *pages.Table {
	t := &pages.Table{
		Columns: []string{"Time", "Request", "Operation", "Transaction", "Response", "Took", "Fault"}, LeftOff: rows.LeftOff,
		Empty: "No requests yet.",
	}
	for _, r := range rows.Data {
		path, _, _ := strings.Cut(r.Path, "?")
		t.Rows = append(t.Rows, []pages.Cell{
			{Text: g.clock(r.At)},
			{Text: r.Method + " " + path, Link: fmt.Sprintf("%srequests/%d", controlPath, r.Number), Mono: true},
			{Text: string(r.Operation)}, mono(r.TransactionID), responseCell(r), {Text: unbroken(fmt.Sprintf("%g ms", r.Milliseconds))},
			faultCell(r.Fault),
		})
	}
	return t
}

// faultForm returns the form that injects a fault.
func faultForm(here string) pages.Section {
	names := []string{}
	for _, f := range Faults(0) {
		names = append(names, f.Name)
	}
	numbers := []string{"none"}
	for _, code := range []int{codes.SystemError, codes.Inactive, codes.SearchFailed, codes.RequestFailed, codes.Unauthorized, codes.ParameterError, codes.Duplicate} {
		numbers = append(numbers, fmt.Sprintf("%d %s", code, codes.Message(code)))
	}
	return pages.Section{
		Heading: "Inject a fault into the next call", Text: "Each name says first whether the operation is carried out, and then what response the caller gets.",
		Forms: []pages.Form{{Action: controlPath + "faults", Label: "Inject", Inputs: []pages.Input{
			back(here),
			{Name: "operation", Label: "Operation", Options: append([]string{"any"}, operationNames()...), Value: string(OpPayments)},
			{Name: "name", Label: "Fault", Options: names}, {Name: "code", Label: "or result code", Options: numbers},
			{Name: "transactionId", Label: "Transaction", Placeholder: "any"}, {Name: "times", Label: "Times", Value: "1", Short: true},
		}}},
	}
}

// slowFault is how long the slow named faults take when they are injected with the form.
const slowFault = 30 * time.Second

func faultOfForm(p *params) (Fault, error) {
	name, code := p.text("name"), p.text("code")
	f := Fault{Commit: CommitNever}
	if n, err := strconv.Atoi(strings.SplitN(code, " ", 2)[0]); err == nil {
		f.Code = n
	} else if f, err = namedFault(name, slowFault); err != nil {
		return Fault{}, err
	}
	if op := p.text("operation"); op != "any" {
		f.Operation = Operation(op)
	}
	f.TransactionID, f.Times = p.text("transactionId"), p.number("times", 1, 1000)
	return f, p.check()
}
