package console

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/cardgateway/cardgateway-go/sandbox/internal/money"
	"github.com/cardgateway/cardgateway-go/sandbox/internal/pages"
	"github.com/cardgateway/cardgateway-go/sandbox/internal/params"
)

// overviewPage shows totals, and the newest payments and requests.
func (c *Console) overviewPage(*http.Request) (pages.Dashboard, error) {
	info, payments := c.info(), c.gateway.Payments(Filter{Limit: 8})
	requests := c.log.listRequests(Filter{Limit: 8, Where: map[string]string{"method": http.MethodPost}, noPages: true}) // queries would hide the others
	return pages.Dashboard{
		Title: "Overview",
		Sections: []pages.Section{
			{Heading: "This sandbox", Tiles: true, Terms: terms(
				"Running since", c.clock(info.StartedAt), "Payments", info.Orders, "Refunds", info.Refunds,
				"Seeded rows", info.SeededOrders+info.SeededRefunds, "Requests", info.Requests,
				"Notifications", info.Notifications, "Active faults", info.Faults,
			), Forms: []pages.Form{{
				Action: Path + "reset", Label: "Reset everything", Sure: "Delete all payments, requests and faults",
			}}},
			c.faultForm(),
			{Heading: "Newest payments", Table: c.paymentTable(payments, Path+"payments")},
			{Heading: "Newest requests, without queries", Table: c.requestTable(requests, Path+"requests?method=POST")},
		},
	}, nil
}

// listPage returns the page of a list, with a form for these filters.
func (c *Console) listPage(kind string, filters ...string) func(*http.Request) (pages.Dashboard, error) {
	return func(r *http.Request) (pages.Dashboard, error) {
		query := r.URL.Query()
		query.Del("done")
		p := params.Of(query)
		f := readFilter(p, kind)
		if err := checked(p); err != nil {
			return pages.Dashboard{}, err
		}
		form := pages.Form{Action: Path + kind, Label: "Filter", Get: true}
		for _, name := range filters {
			input := pages.Input{Name: name, Label: name, Value: query.Get(name)}
			if name == "method" {
				input.Options = []string{"", http.MethodPost, http.MethodGet}
			}
			form.Inputs = append(form.Inputs, input)
		}
		more := ""
		if f.Limit < maxRows {
			query.Set("limit", strconv.Itoa(maxRows))
			more = Path + kind + "?" + query.Encode()
		}
		var table *pages.Table
		switch found := c.list(kind, f).(type) {
		case List[Payment]:
			table = c.paymentTable(found, more)
		case List[Refund]:
			table = c.refundTable(found, more)
		case List[Notification]:
			table = c.notificationTable(found, more)
		case List[Request]:
			table = c.requestTable(found, more)
		}
		return pages.Dashboard{
			Title: strings.ToUpper(kind[:1]) + kind[1:], Sections: []pages.Section{{Forms: []pages.Form{form}}, {Table: table}},
		}, nil
	}
}

func (c *Console) paymentPage(r *http.Request) (pages.Dashboard, error) {
	p, err := c.gateway.Payment(r.PathValue("id"))
	if err != nil {
		return pages.Dashboard{}, err
	}
	mine := Filter{Where: map[string]string{"uniqueId": p.UniqueID}}
	refunds := c.gateway.Refunds(mine)
	notices := c.log.listNotifications(mine)
	requests := c.log.listRequests(Filter{Where: map[string]string{"transactionId": p.TransactionID}})
	ofPayment := "?uniqueId=" + p.UniqueID
	events := tableOf(List[Event]{Data: p.Events}, "", "No events are recorded for seeded payments.", []string{"Time", "Event"}, func(e Event) []pages.Cell {
		return []pages.Cell{{Text: c.clock(e.At)}, {Text: e.Text}}
	})
	forms := paymentForms(p, pages.Input{Name: "amount", Label: "Amount", Placeholder: "all that is left"})
	return pages.Dashboard{Title: "Payment " + p.TransactionID, Sections: []pages.Section{
		{Terms: terms(
			"State", paymentState(p), "Text", p.TransactionMessage, "Amount", money.Shown(p.Amount, p.Currency),
			"Refunded", p.Refunded, "uniqueId", mono(p.UniqueID), "transactionId", mono(p.TransactionID), "orderId", mono(p.OrderID),
			"Operation", p.Operation, "Card", mono(p.CardNumber), "3D", p.Is3D,
			"Waits for", p.WaitsFor, "Notification URL", mono(p.NotificationURL), "Tracking number", mono(p.TrackingNumber),
			"Money moved", times(p.Executed)+" for this transactionId",
		), Forms: forms},
		{Heading: "Events", Table: events},
		{Heading: "Refunds", Table: c.refundTable(refunds, Path+"refunds"+ofPayment)},
		{Heading: "Notifications", Table: c.notificationTable(notices, Path+"notifications"+ofPayment)},
		{Heading: "Requests", Table: c.requestTable(requests, Path+"requests?"+url.Values{"transactionId": {p.TransactionID}}.Encode())},
	}}, nil
}

func (c *Console) notificationPage(r *http.Request) (pages.Dashboard, error) {
	n, err := c.log.notification(r.PathValue("id"))
	if err != nil {
		return pages.Dashboard{}, err
	}
	columns := []string{"Time", "Result", "Took", "Reason", "Response body", "Next"}
	deliveries := tableOf(List[Delivery]{Data: n.Deliveries}, "", "Not sent yet.", columns, func(d Delivery) []pages.Cell {
		result := pages.Cell{Text: "no response", Tone: "bad"}
		if d.Status != 0 {
			result.Text = "HTTP " + strconv.Itoa(d.Status)
		}
		if d.Accepted {
			result.Tone = "good"
		}
		next := ""
		if d.Next != nil {
			next = c.clock(*d.Next)
		}
		return []pages.Cell{
			{Text: c.clock(d.At)}, result, {Text: unbroken(fmt.Sprintf("%g ms", d.Milliseconds))}, {Text: d.Reason}, mono(d.Response), {Text: next},
		}
	})
	return pages.Dashboard{Title: fmt.Sprintf("Notification %d", n.Number), Sections: []pages.Section{
		{Terms: terms(
			"State", deliveryState(n.State), "Kind", n.TransactionType, "To", mono(n.URL), "transactionId", mono(n.TransactionID),
			"Payment", pages.Cell{Text: n.UniqueID, Link: Path + "payments/" + n.UniqueID, Mono: true},
		), Forms: []pages.Form{resendForm(n.Notification)}},
		{Heading: "Deliveries", Text: "Only HTTP 200 counts.", Table: deliveries},
		{Heading: "Body", Text: "Without the signature; tokens are masked.", Pre: indented(n.Body)},
	}}, nil
}

func (c *Console) requestPage(r *http.Request) (pages.Dashboard, error) {
	v, err := c.log.request(r.PathValue("id"))
	if err != nil {
		return pages.Dashboard{}, err
	}
	return pages.Dashboard{Title: fmt.Sprintf("Request %d", v.Number), Sections: []pages.Section{
		{Terms: terms(
			"Request", mono(v.Method+" "+v.Path), "Operation", v.Operation, "transactionId", mono(v.TransactionID),
			"Response", responseCell(v), "HTTP status", v.Status, "Took", fmt.Sprintf("%g ms", v.Milliseconds),
			"Fault", faultCell(v.Fault), "At", c.clock(v.At),
		)},
		{Heading: "Request body", Text: "Secrets are masked.", Pre: cmp.Or(indented(v.Request), "(none)")},
		{Heading: "Response body", Text: "Before it was cut off by a fault, if any.", Pre: cmp.Or(indented(v.Response), "(none)")},
	}}, nil
}

func (c *Console) faultsPage(*http.Request) (pages.Dashboard, error) {
	columns := []string{"Number", "Operation", "Effect", "Remaining", "Actions"}
	active := tableOf(List[Fault]{Data: c.gateway.Faults()}, "", "No active faults.", columns, func(f Fault) []pages.Cell {
		left := strconv.Itoa(f.Left)
		if f.Left < 0 {
			left = "unlimited"
		}
		remove := pages.Form{Action: fmt.Sprintf("%sfaults/%d/remove", Path, f.Number), Label: "Remove", Describe: fmt.Sprintf("Remove fault %d", f.Number)}
		return []pages.Cell{
			{Text: strconv.Itoa(f.Number)}, {Text: cmp.Or(f.Operation, "any")}, {Text: f.Description}, {Text: left}, {Forms: []pages.Form{remove}},
		}
	})
	return pages.Dashboard{Title: "Faults", Sections: []pages.Section{c.faultForm(), {Heading: "Active faults", Table: active}}}, nil
}
