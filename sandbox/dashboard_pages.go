package sandbox

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/cardgateway/cardgateway-go/sandbox/internal/money"
	"github.com/cardgateway/cardgateway-go/sandbox/internal/pages"
)

// overviewPage shows totals, and the newest payments and requests.
func (g *Gateway) overviewPage(*http.Request) (pages.Dashboard, error) {
	g.mu.Lock()
	g.settleDue()
	info, payments := g.info(), g.payments(filter{limit: 8})
	g.mu.Unlock()
	requests, _ := g.history.listRequests(filter{limit: 8, noPages: true})
	number := func(n int) pages.Cell { return pages.Cell{Text: strconv.Itoa(n)} }
	return pages.Dashboard{
		Title: "Overview",
		Sections: []pages.Section{
			{Heading: "This sandbox", Tiles: true, Terms: []pages.Term{
				{Name: "Running since", Cell: pages.Cell{Text: g.clock(info.StartedAt)}},
				{Name: "Payments", Cell: number(info.Orders)}, {Name: "Refunds", Cell: number(info.Refunds)},
				{Name: "Seeded rows", Cell: number(info.SeededOrders + info.SeededRefunds)},
				{Name: "Requests", Cell: number(info.Requests)}, {Name: "Notifications", Cell: number(info.Notifications)},
				{Name: "Active faults", Cell: number(info.Faults)},
			}, Forms: []pages.Form{{
				Action: controlPath + "reset", Label: "Reset everything", Danger: true, Inputs: []pages.Input{back(controlPath)},
			}}},
			faultForm(controlPath),
			{Heading: "Newest payments", Table: g.paymentTable(payments, controlPath)},
			{Heading: "Newest requests", Table: g.requestTable(requests)},
		},
	}, nil
}

func (g *Gateway) paymentsPage(r *http.Request) (pages.Dashboard, error) {
	f, filterForm, err := pageFilter(r, "payments", "transactionId", "orderId", "code")
	if err != nil {
		return pages.Dashboard{}, err
	}
	g.mu.Lock()
	g.settleDue()
	rows := g.payments(f)
	g.mu.Unlock()
	return pages.Dashboard{Title: "Payments", Sections: []pages.Section{
		{Forms: []pages.Form{filterForm}}, {Table: g.paymentTable(rows, controlPath+"payments")},
	}}, nil
}

func (g *Gateway) paymentPage(r *http.Request) (pages.Dashboard, error) {
	value, err := g.one("payments", r.PathValue("id"))
	if err != nil {
		return pages.Dashboard{}, err
	}
	p := value.(paymentView)
	g.mu.Lock()
	refunds := g.refunds(filter{uniqueID: p.UniqueID})
	g.mu.Unlock()
	notices, _ := g.history.listNotifications(filter{uniqueID: p.UniqueID})
	requests, _ := g.history.listRequests(filter{transactionID: p.TransactionID})
	here := controlPath + "payments/" + p.UniqueID
	events := &pages.Table{Columns: []string{"Time", "Event"}, Empty: "No events are recorded for seeded payments."}
	for _, e := range p.Events {
		events.Rows = append(events.Rows, []pages.Cell{{Text: g.clock(e.At)}, {Text: e.Text}})
	}
	forms := paymentForms(p, here)
	for i := range forms {
		if strings.HasSuffix(forms[i].Action, "/refund") {
			forms[i].Inputs = append(forms[i].Inputs, pages.Input{Name: "amount", Label: "Amount", Placeholder: "all that is left"})
		}
	}
	return pages.Dashboard{Title: "Payment " + p.TransactionID, Sections: []pages.Section{
		{Terms: terms(
			"State", stateCell(p.Code, p.Message), "Text", p.TransactionMessage, "Amount", money.Shown(p.Amount, p.Currency),
			"Refunded", p.Refunded, "uniqueId", mono(p.UniqueID), "transactionId", mono(p.TransactionID), "orderId", mono(p.OrderID),
			"Operation", string(p.Operation), "Card", mono(p.CardNumber), "3D", strconv.FormatBool(p.Is3D),
			"Waits for", p.WaitsFor, "Notification URL", mono(p.NotificationURL), "Tracking number", mono(p.TrackingNumber),
			"Money moved", times(p.Executed)+" for this transactionId",
		), Forms: forms},
		{Heading: "Events", Table: events},
		{Heading: "Refunds", Table: g.refundTable(refunds, here)},
		{Heading: "Notifications", Table: g.notificationTable(notices, here)},
		{Heading: "Requests", Table: g.requestTable(requests)},
	}}, nil
}

func (g *Gateway) refundsPage(r *http.Request) (pages.Dashboard, error) {
	f, filterForm, err := pageFilter(r, "refunds", "refundTransactionId", "transactionId", "code")
	if err != nil {
		return pages.Dashboard{}, err
	}
	g.mu.Lock()
	g.settleDue()
	rows := g.refunds(f)
	g.mu.Unlock()
	return pages.Dashboard{Title: "Refunds", Sections: []pages.Section{
		{Forms: []pages.Form{filterForm}}, {Table: g.refundTable(rows, controlPath+"refunds")},
	}}, nil
}

func (g *Gateway) notificationsPage(r *http.Request) (pages.Dashboard, error) {
	f, filterForm, err := pageFilter(r, "notifications", "transactionId", "transactionType", "code")
	if err != nil {
		return pages.Dashboard{}, err
	}
	rows, _ := g.history.listNotifications(f)
	return pages.Dashboard{Title: "Notifications", Sections: []pages.Section{
		{Forms: []pages.Form{filterForm}}, {Table: g.notificationTable(rows, controlPath+"notifications")},
	}}, nil
}

func (g *Gateway) notificationPage(r *http.Request) (pages.Dashboard, error) {
	value, err := g.one("notifications", r.PathValue("id"))
	if err != nil {
		return pages.Dashboard{}, err
	}
	n := value.(notificationView)
	deliveries := &pages.Table{
		Columns: []string{"Time", "Result", "Took", "Reason", "Response body", "Next"}, Empty: "Not sent yet.",
	}
	for _, d := range n.Deliveries {
		result := pages.Cell{Text: "no response", Tone: "bad"}
		if d.Status != 0 {
			result.Text = "HTTP " + strconv.Itoa(d.Status)
		}
		if d.Accepted {
			result.Tone = "good"
		}
		next := ""
		if d.Next != nil {
			next = g.clock(*d.Next)
		}
		deliveries.Rows = append(deliveries.Rows, []pages.Cell{
			{Text: g.clock(d.At)}, result, {Text: unbroken(fmt.Sprintf("%g ms", d.Milliseconds))}, {Text: d.Reason},
			{Text: d.Response, Mono: true}, {Text: next},
		})
	}
	return pages.Dashboard{Title: fmt.Sprintf("Notification %d", n.Number), Sections: []pages.Section{
		{Terms: terms(
			"State", deliveryState(n.State), "Kind", n.TransactionType, "To", mono(n.URL), "transactionId", mono(n.TransactionID),
			"Payment", pages.Cell{Text: n.UniqueID, Link: controlPath + "payments/" + n.UniqueID, Mono: true},
		), Forms: []pages.Form{resendForm(n, fmt.Sprintf("%snotifications/%d", controlPath, n.Number))}},
		{Heading: "Deliveries", Text: "Only HTTP 200 counts. It is sent again 5 s, 5, 15 and 30 min after the first failure.", Table: deliveries},
		{Heading: "Body", Text: "Without the signature; tokens are masked.", Pre: indented(n.Body)},
	}}, nil
}

func (g *Gateway) requestsPage(r *http.Request) (pages.Dashboard, error) {
	f, filterForm, err := pageFilter(r, "requests", "transactionId", "operation", "code")
	if err != nil {
		return pages.Dashboard{}, err
	}
	rows, _ := g.history.listRequests(f)
	return pages.Dashboard{Title: "Requests", Sections: []pages.Section{
		{Forms: []pages.Form{filterForm}}, {Table: g.requestTable(rows)},
	}}, nil
}

func (g *Gateway) requestPage(r *http.Request) (pages.Dashboard, error) {
	value, err := g.one("requests", r.PathValue("id"))
	if err != nil {
		return pages.Dashboard{}, err
	}
	v := value.(requestView)
	curl := "curl"
	if v.Method != http.MethodGet {
		curl += " -X " + shellWord(v.Method) + " -H 'Content-Type: application/json'"
	}
	if v.Request != "" {
		curl += " -d " + shellWord(v.Request)
	}
	curl += " " + shellWord("http://"+r.Host+v.Path)
	return pages.Dashboard{Title: fmt.Sprintf("Request %d", v.Number), Sections: []pages.Section{
		{Terms: terms(
			"Request", mono(v.Method+" "+v.Path), "Operation", string(v.Operation), "transactionId", mono(v.TransactionID),
			"Response", responseCell(v), "HTTP status", strconv.Itoa(v.Status), "Took", fmt.Sprintf("%g ms", v.Milliseconds),
			"Fault", faultCell(v.Fault), "At", g.clock(v.At),
		)},
		{Heading: "Request body", Text: "Secrets are masked.", Pre: orNone(indented(v.Request))},
		{Heading: "Response body", Text: "Before it was cut off by a fault, if any.", Pre: orNone(indented(v.Response))},
		{Heading: "As curl", Text: "Without secrets: insert card and token.", Pre: curl},
	}}, nil
}

func (g *Gateway) faultsPage(*http.Request) (pages.Dashboard, error) {
	g.mu.Lock()
	views := g.faultViews()
	g.mu.Unlock()
	here := controlPath + "faults"
	t := &pages.Table{Columns: []string{"Number", "Operation", "Effect", "Remaining", "Actions"}, Empty: "No active faults."}
	for _, v := range views {
		left := strconv.Itoa(v.Left)
		if v.Left < 0 {
			left = "unlimited"
		}
		op, _ := v.Fault["operation"].(Operation)
		t.Rows = append(t.Rows, []pages.Cell{
			{Text: strconv.Itoa(v.Number)}, {Text: orAny(string(op))}, {Text: v.what}, {Text: left},
			{Forms: []pages.Form{{
				Action: here + "/remove", Label: "Remove", Describe: fmt.Sprintf("Remove fault %d", v.Number),
				Inputs: []pages.Input{back(here), {Name: "number", Value: strconv.Itoa(v.Number), Hidden: true}},
			}}},
		})
	}
	return pages.Dashboard{Title: "Faults", Sections: []pages.Section{faultForm(here), {Heading: "Active faults", Table: t}}}, nil
}
