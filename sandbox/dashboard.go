package sandbox

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/cardgateway/cardgateway-go/sandbox/internal/pages"
)

// addDashboard registers the pages for people. Their buttons are forms that do what the control interface does.
func (g *Gateway) addDashboard(mux *http.ServeMux) {
	show := func(path string, f func(r *http.Request) (pages.Dashboard, error)) {
		mux.HandleFunc("GET "+controlPath+path, func(w http.ResponseWriter, r *http.Request) {
			page, err := f(r)
			g.writeDashboard(w, r, page, err)
		})
	}
	show("{$}", g.overviewPage)
	show("payments", g.paymentsPage)
	show("payments/{id}", g.paymentPage)
	show("refunds", g.refundsPage)
	show("notifications", g.notificationsPage)
	show("notifications/{id}", g.notificationPage)
	show("requests", g.requestsPage)
	show("requests/{id}", g.requestPage)
	show("faults", g.faultsPage)
	press := func(path string, do func(id string, p *params) error) {
		mux.HandleFunc("POST "+controlPath+path, func(w http.ResponseWriter, r *http.Request) {
			r.Body = http.MaxBytesReader(w, r.Body, maxForm)
			if err := r.ParseForm(); err != nil {
				g.writeDashboard(w, r, pages.Dashboard{}, badRequest("the form could not be read"))
				return
			}
			p := formParams(r.PostForm)
			back := p.text("back")
			for name, value := range p.values { // a field that was left empty says nothing
				if value == "" {
					delete(p.values, name)
				}
			}
			if err := do(r.PathValue("id"), p); err != nil {
				g.writeDashboard(w, r, pages.Dashboard{}, err)
				return
			}
			http.Redirect(w, r, backTo(back), http.StatusSeeOther)
		})
	}
	for _, a := range actions() {
		press(a.path, func(id string, p *params) error {
			_, err := a.do(g, id, p)
			return err
		})
	}
	press("faults", func(_ string, p *params) error {
		f, err := faultOfForm(p)
		if err == nil {
			_, err = g.injectFault(f)
		}
		return err
	})
	press("faults/remove", func(_ string, p *params) error {
		_, err := g.removeFault(p.text("number"))
		return err
	})
	mux.HandleFunc(controlPath, func(w http.ResponseWriter, r *http.Request) {
		g.writeDashboard(w, r, pages.Dashboard{}, &controlError{http.StatusNotFound, "There is no such page.", ""})
	})
}

// backTo is where the browser goes after a button: a page of the dashboard, whatever the form says.
func backTo(back string) string {
	u, err := url.Parse(back)
	if err != nil || u.IsAbs() || u.Host != "" || !strings.HasPrefix(u.Path, controlPath) {
		return controlPath + "?done=1"
	}
	return u.Path + "?done=1"
}

func (g *Gateway) writeDashboard(w http.ResponseWriter, r *http.Request, page pages.Dashboard, err error) {
	status := http.StatusOK
	if err != nil {
		status = http.StatusInternalServerError
		page = pages.Dashboard{Title: "That did not work", Sections: []pages.Section{{Text: err.Error()}}}
		if c, ok := errors.AsType[*controlError](err); ok {
			status = c.status
		}
	}
	page.Label, page.Path = g.opts.Label, r.URL.Path
	page.Tabs = tabs(r.URL.Path)
	if r.URL.Query().Get("done") != "" {
		page.Notice = "Done."
	}
	if n, err := strconv.Atoi(r.URL.Query().Get("live")); err == nil && n >= 1 && n <= 60 {
		page.Live = strconv.Itoa(n)
	}
	text, err := pages.Render("Dashboard", page)
	if err != nil {
		status, text = http.StatusInternalServerError, []byte("<!doctype html><title>Error</title>")
	}
	reply := htmlReply(status, text)
	for name := range reply.header {
		w.Header().Set(name, reply.header.Get(name))
	}
	w.Header().Set("Content-Security-Policy", reply.header.Get("Content-Security-Policy")+"; form-action 'self'")
	w.WriteHeader(reply.status)
	_, _ = w.Write(reply.body)
}

func tabs(path string) []pages.Tab {
	list := []pages.Tab{{Text: "Overview", Link: controlPath, Here: path == controlPath}}
	for _, name := range []string{"Payments", "Refunds", "Notifications", "Requests", "Faults"} {
		link := controlPath + strings.ToLower(name)
		list = append(list, pages.Tab{Text: name, Link: link, Here: path == link || strings.HasPrefix(path, link+"/")})
	}
	return list
}

// overviewPage shows what there is, and the newest of it.
func (g *Gateway) overviewPage(*http.Request) (pages.Dashboard, error) {
	g.mu.Lock()
	g.settleDue()
	info, payments := g.info(), g.payments(filter{limit: 8})
	g.mu.Unlock()
	requests, _ := g.history.listRequests(filter{limit: 8})
	number := func(n int) pages.Cell { return pages.Cell{Text: strconv.Itoa(n)} }
	return pages.Dashboard{
		Title: "Overview",
		Sections: []pages.Section{
			{Heading: "This sandbox", Tiles: true, Terms: []pages.Term{
				{Name: "Running since", Cell: pages.Cell{Text: g.clock(info.StartedAt)}},
				{Name: "Payments", Cell: number(info.Orders)}, {Name: "Refunds", Cell: number(info.Refunds)},
				{Name: "Seeded rows", Cell: number(info.SeededOrders + info.SeededRefunds)},
				{Name: "Requests", Cell: number(info.Requests)}, {Name: "Notifications", Cell: number(info.Notifications)},
				{Name: "Faults armed", Cell: number(info.Faults)},
			}, Forms: []pages.Form{{
				Action: controlPath + "reset", Label: "Forget everything", Danger: true, Inputs: []pages.Input{back(controlPath)},
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

func (g *Gateway) paymentTable(rows list[paymentView], here string) *pages.Table {
	t := &pages.Table{
		Columns: []string{"Created", "Transaction", "Amount", "State", "Operation", "Actions"}, LeftOff: rows.LeftOff,
		Empty: "No payments yet. Point your program at this address and send one.",
	}
	for _, p := range rows.Data {
		t.Rows = append(t.Rows, []pages.Cell{
			{Text: g.clock(p.CreatedAt)},
			{Text: p.TransactionID, Link: controlPath + "payments/" + p.UniqueID, Mono: true},
			{Text: unbroken(shownAmount(p.Amount, p.Currency))}, stateCell(p.Code, p.Message), {Text: string(p.Operation)},
			{Forms: paymentForms(p, here)},
		})
	}
	return t
}

// paymentForms are the buttons that fit the state of a payment.
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
	case p.WaitsFor != "" && p.Code == codeRedirect:
		forms = []pages.Form{{Action: p.Page, Label: "Open page", Describe: "Open page of " + p.TransactionID, Get: true}, button("close", "Close")}
	case p.Code == codeSuccess && p.Operation != OpTokenCreate:
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
	events := &pages.Table{Columns: []string{"Time", "Event"}, Empty: "Nothing is recorded of a seeded payment."}
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
			"State", stateCell(p.Code, p.Message), "Text", p.TransactionMessage, "Amount", shownAmount(p.Amount, p.Currency),
			"Refunded", p.Refunded, "uniqueId", mono(p.UniqueID), "transactionId", mono(p.TransactionID), "orderId", mono(p.OrderID),
			"Operation", string(p.Operation), "Card", mono(p.CardNumber), "3D", strconv.FormatBool(p.Is3D),
			"Waits for", p.WaitsFor, "Notification URL", mono(p.NotificationURL), "Tracking number", mono(p.TrackingNumber),
			"Money moved", strconv.Itoa(p.Executed)+" times for this transactionId",
		), Forms: forms},
		{Heading: "What happened", Table: events},
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

func (g *Gateway) refundTable(rows list[refundView], here string) *pages.Table {
	t := &pages.Table{
		Columns: []string{"Requested", "Refund", "Of", "Amount", "State", "Actions"}, LeftOff: rows.LeftOff, Empty: "No refunds.",
	}
	for _, r := range rows.Data {
		var forms []pages.Form
		if r.Code == codeRefundRequested {
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
			{Text: unbroken(shownAmount(r.Amount, r.Currency))}, stateCell(r.Code, r.Message), {Forms: forms},
		})
	}
	return t
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

func (g *Gateway) notificationPage(r *http.Request) (pages.Dashboard, error) {
	value, err := g.one("notifications", r.PathValue("id"))
	if err != nil {
		return pages.Dashboard{}, err
	}
	n := value.(notificationView)
	deliveries := &pages.Table{
		Columns: []string{"Time", "Result", "Took", "Why", "What the merchant said", "Next"}, Empty: "Not sent yet.",
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
		{Heading: "Deliveries", Text: "Only HTTP 200 counts. After the first failure it is sent again at 5 s, 5, 15 and 30 min.", Table: deliveries},
		{Heading: "Body", Text: "Without its signature; a token is masked.", Pre: indented(n.Body)},
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

func (g *Gateway) requestPage(r *http.Request) (pages.Dashboard, error) {
	value, err := g.one("requests", r.PathValue("id"))
	if err != nil {
		return pages.Dashboard{}, err
	}
	v := value.(requestView)
	curl := "curl"
	if v.Method != http.MethodGet {
		curl += " -X " + v.Method + " -H 'Content-Type: application/json'"
	}
	if v.Request != "" {
		curl += " -d '" + strings.ReplaceAll(v.Request, "'", `'\''`) + "'"
	}
	curl += " 'http://" + r.Host + strings.ReplaceAll(v.Path, "'", "%27") + "'"
	return pages.Dashboard{Title: fmt.Sprintf("Request %d", v.Number), Sections: []pages.Section{
		{Terms: terms(
			"Request", mono(v.Method+" "+v.Path), "Operation", string(v.Operation), "transactionId", mono(v.TransactionID),
			"Response", responseCell(v), "HTTP status", strconv.Itoa(v.Status), "Took", fmt.Sprintf("%g ms", v.Milliseconds),
			"Fault", faultCell(v.Fault), "At", g.clock(v.At),
		)},
		{Heading: "Request body", Text: "Secrets are masked.", Pre: orNone(indented(v.Request))},
		{Heading: "Response body", Text: "Before a fault cut it off, if one did.", Pre: orNone(indented(v.Response))},
		{Heading: "As curl", Text: "Without secrets: put card and token in again.", Pre: curl},
	}}, nil
}

func (g *Gateway) faultsPage(*http.Request) (pages.Dashboard, error) {
	g.mu.Lock()
	views := g.faultViews()
	g.mu.Unlock()
	here := controlPath + "faults"
	t := &pages.Table{Columns: []string{"Number", "Operation", "What happens", "Left", "Actions"}, Empty: "No fault is armed."}
	for _, v := range views {
		left := strconv.Itoa(v.Left)
		if v.Left < 0 {
			left = "without end"
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
	return pages.Dashboard{Title: "Faults", Sections: []pages.Section{faultForm(here), {Heading: "Armed", Table: t}}}, nil
}

// faultForm arms one of the named faults.
func faultForm(here string) pages.Section {
	names := []string{}
	for _, f := range Faults(0) {
		names = append(names, f.Name)
	}
	codes := []string{"none"}
	for _, code := range []int{codeSystemError, codeInactive, codeSearchFailed, codeRequestFailed, codeUnauthorized, codeParameterError, codeDuplicate} {
		codes = append(codes, fmt.Sprintf("%d %s", code, codeMessage(code)))
	}
	return pages.Section{
		Heading: "Disturb the next call", Text: "What happens to the money stands first, what the caller sees second.",
		Forms: []pages.Form{{Action: controlPath + "faults", Label: "Arm", Inputs: []pages.Input{
			back(here),
			{Name: "operation", Label: "Operation", Options: append([]string{"any"}, operationNames()...), Value: string(OpPayments)},
			{Name: "name", Label: "Fault", Options: names}, {Name: "code", Label: "or result code", Options: codes},
			{Name: "transactionId", Label: "Transaction", Placeholder: "any"}, {Name: "times", Label: "Times", Value: "1"},
		}}},
	}
}

// slowFault is how long the slow ones of the named faults take, when they are armed by a form.
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

// pageFilter reads the filter of a page, which is its query, and returns the form that makes it.
func pageFilter(r *http.Request, path string, names ...string) (filter, pages.Form, error) {
	p := formParams(r.URL.Query())
	delete(p.values, "done")
	delete(p.values, "live")
	f := readFilter(p)
	form := pages.Form{Action: controlPath + path, Label: "Filter", Get: true}
	for _, name := range names {
		form.Inputs = append(form.Inputs, pages.Input{Name: name, Label: name, Value: p.values[name]})
	}
	return f, form, p.check()
}

// clock is a time as the dashboard shows it, without the date if that is today.
func (g *Gateway) clock(t time.Time) string {
	t = t.In(g.opts.Location)
	if t.Format(time.DateOnly) == time.Now().In(g.opts.Location).Format(time.DateOnly) {
		return t.Format(time.TimeOnly)
	}
	return t.Format(time.DateTime)
}

// unbroken is a short text that stays on one line.
func unbroken(text string) string { return strings.ReplaceAll(text, " ", "\u00a0") }

func back(path string) pages.Input { return pages.Input{Name: "back", Value: path, Hidden: true} }

func mono(text string) pages.Cell { return pages.Cell{Text: text, Mono: true} }

// terms makes a list of names and values, which are texts or cells, without those that are empty.
func terms(pairs ...any) []pages.Term {
	var list []pages.Term
	for i := 0; i < len(pairs); i += 2 {
		cell, ok := pairs[i+1].(pages.Cell)
		if !ok {
			cell.Text, _ = pairs[i+1].(string)
		}
		if cell.Text != "" {
			list = append(list, pages.Term{Name: pairs[i].(string), Cell: cell})
		}
	}
	return list
}

func stateCell(code int, message string) pages.Cell {
	return pages.Cell{Text: fmt.Sprintf("%d %s", code, message), Tone: toneOf(code)}
}

// toneOf is how a result code looks.
func toneOf(code int) string {
	switch code {
	case codeSuccess, codeRefunded, codeSearchSuccess, codeUploaded:
		return "good"
	case codeProcessing, codeRefundRequested, codeRedirect:
		return "wait"
	}
	return "bad"
}

func responseCell(r requestView) pages.Cell {
	switch {
	case r.Code != 0 && r.Status == http.StatusOK:
		return stateCell(r.Code, r.Message)
	case r.Code != 0:
		return pages.Cell{Text: fmt.Sprintf("HTTP %d, %d %s", r.Status, r.Code, r.Message), Tone: "bad"}
	case r.Status < 400:
		return pages.Cell{Text: fmt.Sprintf("HTTP %d", r.Status)}
	}
	return pages.Cell{Text: fmt.Sprintf("HTTP %d", r.Status), Tone: "bad"}
}

func faultCell(text string) pages.Cell {
	if text == "" {
		return pages.Cell{}
	}
	return pages.Cell{Text: text, Tone: "wait"}
}

func deliveryState(state string) pages.Cell {
	tone := map[string]string{"accepted": "good", "given up": "bad"}[state]
	if tone == "" {
		tone = "wait"
	}
	return pages.Cell{Text: state, Tone: tone}
}

func orNone(text string) string {
	if text == "" {
		return "(none)"
	}
	return text
}

func orAny(text string) string {
	if text == "" {
		return "any"
	}
	return text
}

// indented is JSON with line breaks, or the text as it is.
func indented(text string) string {
	var b bytes.Buffer
	if json.Indent(&b, []byte(text), "", "  ") != nil {
		return text
	}
	return b.String()
}
