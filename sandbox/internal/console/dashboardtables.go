package console

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cardgateway/cardgateway-go/sandbox/internal/codes"
	"github.com/cardgateway/cardgateway-go/sandbox/internal/money"
	"github.com/cardgateway/cardgateway-go/sandbox/internal/pages"
	"github.com/cardgateway/cardgateway-go/sandbox/internal/params"
)

func (c *Console) paymentTable(rows List[Payment], here, more string) *pages.Table {
	t := &pages.Table{
		Columns: []string{"Created", "Transaction", "Amount", "State", "Operation", "Actions"}, LeftOff: rows.LeftOff, More: more,
		Empty: "No payments yet. Point your program at this address and send one.",
	}
	for _, p := range rows.Data {
		t.Rows = append(t.Rows, []pages.Cell{
			{Text: c.clock(p.CreatedAt)},
			{Text: p.TransactionID, Link: Path + "payments/" + p.UniqueID, Mono: true},
			{Text: unbroken(money.Shown(p.Amount, p.Currency))}, paymentState(p), {Text: p.Operation},
			{Forms: paymentForms(p, here)},
		})
	}
	return t
}

// paymentForms returns the actions that the state of a payment allows. A refund asks for these inputs.
func paymentForms(p Payment, here string, ofRefund ...pages.Input) []pages.Form {
	var forms []pages.Form
	if p.Page != "" && p.Code == codes.Redirect {
		forms = []pages.Form{{Action: p.Page, Label: "Open page", Describe: "Open page of " + p.TransactionID, Get: true}}
	}
	button := func(label, action string, inputs ...pages.Input) {
		forms = append(forms, pages.Form{
			Action: Path + "payments/" + p.UniqueID + "/" + action, Label: label, Describe: label + " " + p.TransactionID,
			Inputs: append([]pages.Input{back(here)}, inputs...),
		})
	}
	if p.Refundable {
		button("Refund", "refund", ofRefund...)
	}
	for _, b := range []struct {
		kind          Kind
		label, action string
	}{
		{Settle, "Settle", "settle"}, {Settle, "Decline", "decline"}, {Close, "Close", "close"},
		{Chargeback, "Charge back", "chargeback"}, {Notify, "Notify again", "notify"}, {Renew, "Renew", "renew"},
	} {
		if slices.Contains(p.Allows, b.kind) {
			button(b.label, b.action)
		}
	}
	return forms
}

func (c *Console) refundTable(rows List[Refund], here, more string) *pages.Table {
	t := &pages.Table{
		Columns: []string{"Requested", "Refund", "Of", "Amount", "State", "Actions"}, LeftOff: rows.LeftOff, More: more, Empty: "No refunds.",
	}
	for _, r := range rows.Data {
		var forms []pages.Form
		if r.Code == codes.RefundRequested {
			for _, action := range []string{"Settle", "Decline"} {
				forms = append(forms, pages.Form{
					Action: Path + "refunds/" + r.RefundUniqueID + "/" + strings.ToLower(action), Label: action,
					Describe: action + " refund " + r.RefundTransactionID, Inputs: []pages.Input{back(here)},
				})
			}
		}
		t.Rows = append(t.Rows, []pages.Cell{
			{Text: c.clock(r.RequestedAt)}, mono(r.RefundTransactionID),
			{Text: r.TransactionID, Link: Path + "payments/" + r.UniqueID, Mono: true},
			{Text: unbroken(money.Shown(r.Amount, r.Currency))}, stateCell(r.Code, r.Message), {Forms: forms},
		})
	}
	return t
}

func (c *Console) notificationTable(rows List[Notification], here, more string) *pages.Table {
	t := &pages.Table{
		Columns: []string{"Time", "Notification", "Transaction", "Last delivery", "State", "Actions"}, LeftOff: rows.LeftOff, More: more,
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
			{Text: c.clock(n.At)},
			{Text: fmt.Sprintf("%d %s", n.Number, n.TransactionType), Link: fmt.Sprintf("%snotifications/%d", Path, n.Number)},
			mono(n.TransactionID), {Text: last}, deliveryState(n.State), {Forms: []pages.Form{resendForm(n, here)}},
		})
	}
	return t
}

func resendForm(n Notification, here string) pages.Form {
	return pages.Form{
		Action: fmt.Sprintf("%snotifications/%d/resend", Path, n.Number), Label: "Send again",
		Describe: fmt.Sprintf("Send again: notification %d", n.Number), Inputs: []pages.Input{back(here)},
	}
}

func (c *Console) requestTable(rows List[Request], more string) *pages.Table {
	t := &pages.Table{
		Columns: []string{"Time", "Request", "Operation", "Transaction", "Response", "Took", "Fault"}, LeftOff: rows.LeftOff, More: more,
		Empty: "No requests yet.",
	}
	for _, r := range rows.Data {
		path, _, _ := strings.Cut(r.Path, "?")
		t.Rows = append(t.Rows, []pages.Cell{
			{Text: c.clock(r.At)},
			{Text: r.Method + " " + path, Link: fmt.Sprintf("%srequests/%d", Path, r.Number), Mono: true},
			{Text: r.Operation}, mono(r.TransactionID), responseCell(r), {Text: unbroken(fmt.Sprintf("%g ms", r.Milliseconds))},
			faultCell(r.Fault),
		})
	}
	return t
}

// faultForm returns the form that injects a fault.
func (c *Console) faultForm(here string) pages.Section {
	numbers := []string{"none"}
	for _, code := range []int{
		codes.SystemError, codes.Inactive, codes.SearchFailed, codes.RequestFailed, codes.Unauthorized, codes.ParameterError, codes.Duplicate,
	} {
		numbers = append(numbers, fmt.Sprintf("%d %s", code, codes.Message(code)))
	}
	return pages.Section{
		Heading: "Inject a fault into the next call", Text: "Each name says first whether the operation is carried out, and then what response the caller gets.",
		Forms: []pages.Form{{Action: Path + "faults", Label: "Inject", Inputs: []pages.Input{
			back(here),
			{Name: "operation", Label: "Operation", Options: append([]string{"any"}, c.settings.Operations...), Value: "payments"},
			{Name: "name", Label: "Fault", Options: c.settings.FaultNames}, {Name: "code", Label: "or result code", Options: numbers},
			{Name: "transactionId", Label: "Transaction", Placeholder: "any"}, {Name: "times", Label: "Times", Value: "1", Short: true},
		}}},
	}
}

// How long the slow ones of the predefined faults take, if they are injected with the form or by the control API.
const (
	slowInForm = 30 * time.Second
	slowInAPI  = 5 * time.Second
)

// faultOfForm returns the settings of the fault that the form asks for.
func faultOfForm(p *params.Reader) []byte {
	settings := map[string]any{
		"name": p.Text("name", 0), "transactionId": p.Text("transactionId", 0), "times": p.Number("times", 1, 1000),
	}
	if operation := p.Text("operation", 0); operation != "any" {
		settings["operation"] = operation
	}
	number, _, _ := strings.Cut(p.Text("code", 0), " ")
	if n, err := strconv.Atoi(number); err == nil {
		delete(settings, "name")
		settings["code"], settings["commit"] = n, "never"
	}
	text, _ := json.Marshal(settings) // texts and numbers always can be marshalled
	return text
}
