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

// tableOf returns a list as a table, with a link to more of it and what is shown if it is empty. Row returns the cells of a row.
func tableOf[T any](l List[T], more, empty string, columns []string, row func(T) []pages.Cell) *pages.Table {
	t := &pages.Table{Columns: columns, LeftOff: l.LeftOff, More: more, Empty: empty}
	for _, r := range l.Data {
		t.Rows = append(t.Rows, row(r))
	}
	return t
}

func (c *Console) paymentTable(payments List[Payment], more string) *pages.Table {
	columns := []string{"Created", "Transaction", "Amount", "State", "Operation", "Actions"}
	return tableOf(payments, more, "No payments yet. Point your program at this address and send one.", columns, func(p Payment) []pages.Cell {
		return []pages.Cell{
			{Text: c.clock(p.CreatedAt)},
			{Text: p.TransactionID, Link: Path + "payments/" + p.UniqueID, Mono: true},
			{Text: unbroken(money.Shown(p.Amount, p.Currency))}, paymentState(p), {Text: p.Operation}, {Forms: paymentForms(p)},
		}
	})
}

// paymentForms returns the actions that the state of a payment allows. A refund asks for these inputs.
func paymentForms(p Payment, ofRefund ...pages.Input) []pages.Form {
	var forms []pages.Form
	if p.Page != "" && p.Code == codes.Redirect {
		forms = []pages.Form{{Action: p.Page, Label: "Open page", Describe: "Open page of " + p.TransactionID, Get: true}}
	}
	button := func(label, action string, inputs ...pages.Input) {
		forms = append(forms, pages.Form{
			Action: Path + "payments/" + p.UniqueID + "/" + action, Label: label, Describe: label + " " + p.TransactionID, Inputs: inputs,
		})
	}
	if p.Refundable {
		button("Refund", "refund", ofRefund...)
	}
	for _, a := range paymentActions {
		if slices.Contains(p.Allows, a.Kind) {
			button(a.label, a.path)
		}
	}
	return forms
}

func (c *Console) refundTable(refunds List[Refund], more string) *pages.Table {
	columns := []string{"Requested", "Refund", "Of", "Amount", "State", "Actions"}
	return tableOf(refunds, more, "No refunds.", columns, func(r Refund) []pages.Cell {
		return []pages.Cell{
			{Text: c.clock(r.RequestedAt)}, mono(r.RefundTransactionID),
			{Text: r.TransactionID, Link: Path + "payments/" + r.UniqueID, Mono: true},
			{Text: unbroken(money.Shown(r.Amount, r.Currency))}, stateCell(r.Code, r.Message), {Forms: refundForms(r)},
		}
	})
}

// refundForms returns the actions that the state of a refund allows.
func refundForms(r Refund) (forms []pages.Form) {
	if r.Code != codes.RefundRequested {
		return nil
	}
	for _, action := range []string{"Settle", "Decline"} {
		forms = append(forms, pages.Form{
			Action: Path + "refunds/" + r.RefundUniqueID + "/" + strings.ToLower(action), Label: action,
			Describe: action + " refund " + r.RefundTransactionID,
		})
	}
	return forms
}

func (c *Console) notificationTable(notifications List[Notification], more string) *pages.Table {
	const empty = "No notifications. One is sent when a payment is final and its request had a notificationUrl."
	columns := []string{"Time", "Notification", "Transaction", "Last delivery", "State", "Actions"}
	return tableOf(notifications, more, empty, columns, func(n Notification) []pages.Cell {
		last := ""
		if len(n.Deliveries) > 0 {
			d := n.Deliveries[len(n.Deliveries)-1]
			last = d.Reason
			if d.Status != 0 {
				last = strings.TrimSuffix(fmt.Sprintf("HTTP %d: %s", d.Status, d.Reason), ": ")
			}
		}
		return []pages.Cell{
			{Text: c.clock(n.At)},
			{Text: fmt.Sprintf("%d %s", n.Number, n.TransactionType), Link: fmt.Sprintf("%snotifications/%d", Path, n.Number)},
			mono(n.TransactionID), {Text: last}, deliveryState(n.State), {Forms: []pages.Form{resendForm(n)}},
		}
	})
}

func resendForm(n Notification) pages.Form {
	return pages.Form{
		Action: fmt.Sprintf("%snotifications/%d/resend", Path, n.Number), Label: "Send again",
		Describe: fmt.Sprintf("Send again: notification %d", n.Number),
	}
}

func (c *Console) requestTable(requests List[Request], more string) *pages.Table {
	columns := []string{"Time", "Request", "Operation", "Transaction", "Response", "Took", "Fault"}
	return tableOf(requests, more, "No requests yet.", columns, func(r Request) []pages.Cell {
		path, _, _ := strings.Cut(r.Path, "?")
		return []pages.Cell{
			{Text: c.clock(r.At)},
			{Text: r.Method + " " + path, Link: fmt.Sprintf("%srequests/%d", Path, r.Number), Mono: true},
			{Text: r.Operation}, mono(r.TransactionID), responseCell(r), {Text: unbroken(fmt.Sprintf("%g ms", r.Milliseconds))},
			faultCell(r.Fault),
		}
	})
}

// faultForm returns the form that injects a fault.
func (c *Console) faultForm() pages.Section {
	numbers := []string{"none"}
	for _, code := range []int{
		codes.SystemError, codes.Inactive, codes.SearchFailed, codes.RequestFailed, codes.Unauthorized, codes.ParameterError, codes.Duplicate,
	} {
		numbers = append(numbers, fmt.Sprintf("%d %s", code, codes.Message(code)))
	}
	return pages.Section{
		Heading: "Inject a fault into the next call", Text: "Each name says first whether the operation is carried out, and then what response the caller gets.",
		Forms: []pages.Form{{Action: Path + "faults", Label: "Inject", Inputs: []pages.Input{
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
