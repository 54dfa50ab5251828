package simulation

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/cardgateway/cardgateway-go/journal"
	"github.com/cardgateway/cardgateway-go/sandbox"
)

// gateway is a shop's gateway: a sandbox, whose ledger is the truth, and a layer that changes its answers as the
// interface allows.
type gateway struct {
	w        *world
	shop     *shop
	config   Gateway
	sandbox  *sandbox.Gateway
	archive  *archive // nil if there is none
	location *time.Location
	tokens   map[sandbox.Outcome]string

	last      answer // to a request that moves money, and what that was about
	lastThing *thing
}

func (w *world) newGateway(s *shop, seed uint64) *gateway {
	c := s.config.Gateway
	g := &gateway{w: w, shop: s, config: c, location: time.FixedZone("gateway", c.ZoneHours*3600), tokens: make(map[sandbox.Outcome]string)}
	g.sandbox = sandbox.New(sandbox.Options{
		MerchantID: "merchant", SecretKey: secretKey, Location: g.location, Duplicates: c.Duplicates,
		RefundDuplicates: c.RefundDuplicates, SettleAfter: c.SettleAfter, RefundSettleAfter: c.RefundSettleAfter,
		RenewalsHaveNewID: c.RenewalsHaveNewID,
		Cards:             sandbox.Cards{HostedRetry: c.HostedRetry, DeclineLater: c.DeclineLater},
		Responses:         sandbox.Responses{HTTPStatusFollowsCode: c.StatusIsCode, RefundTransactionIDInRows: c.RefundIDPublished},
		MaxPageSize:       c.PageSize, Search: c.Search, Seed: seed,
		Console: sandbox.Console{RequestLog: -1}, Notifications: sandbox.Notifications{Transport: &s.mail},
	})
	if s.config.Archive.Rows > 0 {
		g.archive = w.newArchive(s.config.Archive, g.location, seed)
	}
	for _, o := range []sandbox.Outcome{sandbox.Approved, sandbox.Pending, sandbox.Challenged, sandbox.Declined} {
		g.tokens[o] = g.sandbox.NewToken(o)
		w.secrets = append(w.secrets, []byte(g.tokens[o]))
	}
	return g
}

// serve delivers a request to the sandbox, and returns the answer as this gateway gives it.
func (g *gateway) serve(in *request) answer {
	a := g.deliver(in)
	if a.err != nil || a.status != 200 && !g.config.StatusIsCode {
		return a
	}
	if in.isPost {
		a = g.changeResponse(a, in)
		g.last, g.lastThing = a, in.thing
		return a
	}
	return g.changeRows(a, in)
}

func (g *gateway) deliver(in *request) answer {
	if a, ok := g.archive.serve(in); ok {
		return a
	}
	r, err := http.NewRequestWithContext(context.Background(), in.method, in.url, bytes.NewReader(in.body))
	if err != nil {
		return answer{err: err}
	}
	r.Header = in.header.Clone()
	resp, err := g.sandbox.RoundTripper().RoundTrip(r)
	if err != nil {
		return answer{err: err}
	}
	body, err := io.ReadAll(resp.Body)
	_ = resp.Body.Close()
	body = bytes.ReplaceAll(body, []byte(`"isTest":true`), []byte(`"isTest":false`)) // what the ledger counts is money
	return answer{status: resp.StatusCode, header: resp.Header, body: body, err: err}
}

// members is a JSON object whose members are changed.
type members map[string]any

func decode(body []byte) members {
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	var m members
	if d.Decode(&m) != nil {
		return nil
	}
	return m
}

func (m members) encode() []byte { return must(json.Marshal(m)) }

// changeResponse changes the response to a payment or a refund.
func (g *gateway) changeResponse(a answer, in *request) answer {
	c := g.config
	if !c.NoIDs && !c.NoAmounts && !c.BareFailures && c.StatesApp == "" && !c.Echoes {
		return a
	}
	m := decode(a.body)
	if m == nil {
		return a
	}
	if c.NoIDs {
		delete(m, "uniqueId")
		delete(m, "refundUniqueId")
	}
	if c.NoAmounts {
		delete(m, "transactionAmount")
		delete(m, "transactionCurrency")
		delete(m, "refundAmount")
		delete(m, "refundCurrency")
	}
	if code := codeOf(m); c.BareFailures && (code == "101" || code == "112") {
		m = members{"code": m["code"], "message": m["message"], "timestamp": m["timestamp"]}
	}
	if c.StatesApp != "" && m["appId"] != nil {
		m["appId"] = json.Number(c.StatesApp)
	}
	if c.Echoes {
		m["transactionMessage"] = "echo " + in.url + string(in.body)
		m["echo"] = in.header
	}
	a.body = m.encode()
	return a
}

func codeOf(m members) string {
	n, _ := m["code"].(json.Number)
	return n.String()
}

// changed changes one response.
func (g *gateway) changed(body []byte, how string, in *request) []byte {
	m := decode(body)
	if m == nil {
		return body
	}
	switch how {
	case "no code":
		delete(m, "code")
	case "unlisted code":
		m["code"] = 105
	case "other amount":
		m["transactionAmount"], m["refundAmount"] = "77.77", "77.77"
	case "no id":
		delete(m, "uniqueId")
		delete(m, "refundUniqueId")
	case "no transactionId":
		delete(m, "transactionId")
		delete(m, "refundTransactionId")
	case "other app":
		m["appId"] = json.Number("999")
	case "foreign":
		m["transactionId"], m["refundTransactionId"] = "another", "another"
	case "echo":
		m["transactionMessage"], m["message"] = "echo "+in.url, "echo "+string(in.body)
	}
	return m.encode()
}

// changeRows changes the rows of a query: those that are disguised for a while, and those of other shops.
func (g *gateway) changeRows(a answer, in *request) answer {
	if !g.shop.disguised() && !g.config.NoIDs && !g.shop.config.SharesCredentials && g.config.StatesApp == "" {
		return a
	}
	m := decode(a.body)
	rows, ok := m["data"].([]any)
	if !ok {
		return a
	}
	total := totalOf(m)
	wanted, isFirst := "", false // the transactionId of the query: the total counts no others
	if u, err := url.Parse(in.url); err == nil && strings.HasSuffix(u.Path, "/list/order") {
		wanted, isFirst = u.Query().Get("transactionId"), cmp.Or(u.Query().Get("currPage"), "1") == "1"
	}
	given := []any{}
	for _, r := range rows {
		row, ok := r.(map[string]any)
		if !ok {
			given = append(given, r)
			continue
		}
		switch kept, announced := g.disguise(row); {
		case kept != nil:
			given = append(given, kept)
		case !announced && (wanted == "" || row["transactionId"] == wanted):
			total--
		}
	}
	if g.shop.config.SharesCredentials && wanted != "" && isFirst {
		for _, other := range g.w.shops {
			if other == g.shop {
				continue
			}
			for _, r := range other.gateway.rowsFor(in) {
				given = append(given, r)
				total++
			}
		}
	}
	m["data"], m["totalCount"] = given, total
	a.body = m.encode()
	return a
}

func totalOf(m members) int64 {
	n, _ := m["totalCount"].(json.Number)
	total, _ := n.Int64()
	return total
}

// rowsFor returns the rows that this gateway has for another shop's query.
func (g *gateway) rowsFor(in *request) []any {
	m := decode(g.deliver(in).body)
	rows, _ := m["data"].([]any)
	for _, r := range rows { // each shop is a sandbox of its own here, which counts from the same number
		if row, ok := r.(map[string]any); ok && row["uniqueId"] != nil {
			row["uniqueId"] = fmt.Sprint("9", strings.TrimPrefix(g.shop.name, "shop "), row["uniqueId"])
		}
	}
	return rows
}

// disguise returns a row as it is shown now, or nil if it is not, and whether it is counted nevertheless.
func (g *gateway) disguise(row map[string]any) (shown any, announced bool) {
	id, _ := row["transactionId"].(string)
	isRefund := id == ""
	if isRefund {
		if id, _ = row["merchantRefundId"].(string); id == "" {
			id, _ = row["refundTransactionId"].(string)
		}
	}
	if g.config.StatesApp != "" && row["appId"] != nil {
		row["appId"] = json.Number(g.config.StatesApp)
	}
	t := g.shop.byID[journal.ID{Text: id, Refund: isRefund}]
	if t == nil {
		return row, true
	}
	amount, currency, unique := "transactionAmount", "transactionCurrency", "uniqueId"
	if isRefund {
		amount, currency, unique = "refundAmount", "refundCurrency", "refundUniqueId"
	}
	switch t.disguisedAs() {
	case "hidden":
		return nil, false
	case "first hidden": // the search is late with the oldest row
		if rows := t.rows(); len(rows) > 0 && row[unique] == rows[0].UniqueID {
			return nil, false
		}
	case "displaced": // the search does not filter, and a row of another payment takes the place of the success
		if isRefund {
			return nil, false // another refund of the payment is no surprise
		}
		if codeOf(row) == "100" {
			row["transactionId"], row[unique] = "another", "another"
		}
	case "announced":
		return nil, true
	case "no amount":
		delete(row, amount)
	case "other amount":
		row[amount] = "77.77"
	case "other currency":
		row[currency] = "usd"
	case "unlisted code":
		row["code"] = 105
	case "unreadable":
		return "row", true
	case "no id":
		delete(row, unique)
	case "came back":
		if code := codeOf(row); isRefund && code == "111" {
			t.cameBack = true
			row["code"], row["message"] = json.Number("112"), "refund failed"
		}
	}
	return row, true
}
