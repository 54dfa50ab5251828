package main

import (
	"cmp"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/amount"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/exit"
	"github.com/cardgateway/cardgateway-go/sandbox"
	"github.com/shopspring/decimal"
)

// TestClosing closes three months one after the other as a finance department does: with a list of exactly the month by the clock of
// Berlin, while the gateway's month is that of UTC+8. Among thousands of payments are six of each kind of mistake, and of what looks like
// one. Every kind gets its class, and nothing else is found, with a CSV file of a German spreadsheet.
func TestClosing(t *testing.T) {
	t.Parallel()
	newClosing(t).closeMonths()
}

// eachKind is how many mistakes of each kind are planted.
const eachKind = 6

// shopLine is a payment or a refund in the books of the shop.
type shopLine struct {
	id, order, amount, total, currency, state string // amounts with a decimal point, or a text
	at                                        time.Time
	isRefund                                  bool
}

// closingSection is that of the configuration file.
const closingSection = `columns = "transaction_id=Referenz,order=Bestellnummer,order_total=Bestellsumme,amount=Betrag,currency=Währung,state=Status,at=Bezahlt am"
refund-columns = "refund_id=Erstattung,order=Bestellnummer,amount=Betrag,currency=Währung,at=Erstattet am"
amounts = "1.234,50"
dates = "DD.MM.YYYY hh:mm:ss"
states = "bezahlt=approved,storniert=declined"
list-zone = "Europe/Berlin"
`

var closingTitles = [2]string{"\xef\xbb\xbfReferenz;Bestellnummer;Bestellsumme;Betrag;Währung;Status;Bezahlt am;Kunde\r\n",
	"\xef\xbb\xbfErstattung;Bestellnummer;Betrag;Währung;Erstattet am\r\n"}

// text returns the line as the shop exports it.
func (l *shopLine) text(zone *time.Location) string {
	german := func(text string) string {
		d, err := decimal.NewFromString(text)
		if err != nil {
			return text
		}
		return strings.NewReplacer(",", ".", ".", ",", "\u2212", "-").Replace(amount.ForPeople(d, "EUR"))
	}
	at := l.at.In(zone).Format("02.01.2006 15:04:05")
	if l.isRefund {
		return strings.Join([]string{l.id, l.order, "-" + german(l.amount), l.currency, at}, ";") + "\r\n"
	}
	state := map[string]string{"approved": "Bezahlt", "declined": "storniert"}[l.state]
	return strings.Join([]string{" " + l.id, l.order, german(l.total), german(l.amount), l.currency, state, at, `"Müller; Söhne"`}, ";") + "\r\n"
}

// closing is a shop that closes its months.
type closing struct {
	t      *testing.T
	dir    string
	env    map[string]string
	books  *sql.DB
	berlin *time.Location
	random *rand.Rand

	free     map[string][]payment // payments of October that have no mistake yet, by state
	lines    []shopLine
	replaced map[string]bool              // payments that have lines of their own, or none
	expected map[string]map[string]string // by month: class and id to the kind
	settled  map[string]string            // ids that are settled in November, to the kind
	before   map[string]string            // in October: unchecked or timing, and told again in November
	open     int                          // payments of September and October that are never final
}

type payment struct {
	id, unique, state, amount, currency string
	at                                  time.Time
}

var gatewayZone = time.FixedZone("UTC+8", 8*3600)

func closingDate(month time.Month, day, hour int) time.Time {
	return time.Date(2026, month, day, hour, 0, 0, 0, gatewayZone)
}

// newClosing copies a gateway, moves its rows to the autumn of 2026, in which clocks are set back, and plants the mistakes.
func newClosing(t *testing.T) *closing {
	t.Helper()
	gateway := gatewayFor(t, sandbox.Options{})
	now := time.Now().Truncate(time.Second)
	seeded := sandbox.SeedOptions{N: 6000, From: now.AddDate(0, 0, -76), To: now.AddDate(0, 0, -1), Random: true, Seed: 4711,
		Currencies: []string{"EUR", "EUR", "USD", "JPY"}, RefundEvery: 9}
	gateway.SeedOrders(seeded)
	c := &closing{t: t, dir: t.TempDir(), random: rand.New(rand.NewPCG(4711, 23)), free: map[string][]payment{}, replaced: map[string]bool{},
		expected: map[string]map[string]string{"2026-09": {}, "2026-10": {}, "2026-11": {}}, settled: map[string]string{}, before: map[string]string{}}
	var err error
	if c.berlin, err = time.LoadLocation("Europe/Berlin"); err != nil {
		t.Fatal(err)
	}
	at := sqlitePlace(t)
	c.books = openAt(t, at.driver, at.dsn)
	text := fmt.Sprintf("base-url = %q\napp-id = \"7\"\nmerchant-id = \"m1\"\nsecret = %q\ndb = %q\n\n[reconcile.shop]\n%s", gateway.URL, secretKey, at.setting,
		closingSection)
	c.env = map[string]string{"CARDGATEWAY_CONFIG": writeText(t, c.dir, "config.toml", text)}
	tool(t, c.env, "reconcile", "sync", "--quiet", "--from", seeded.From.Format(time.RFC3339)).want(t, exit.OK)
	shift := closingDate(9, 20, 0).Sub(seeded.From).Microseconds()
	c.exec(`UPDATE cardgateway_orders SET at = at + $1, test = 0`, shift)
	c.exec(`UPDATE cardgateway_refunds SET at = at + $1`, shift)
	c.exec(`UPDATE cardgateway_copy SET since = $1`, closingDate(9, 1, 0).UnixMicro())
	c.exec(`UPDATE cardgateway_walks SET complete = $1`, closingDate(12, 5, 0).UnixMicro())
	c.plant()
	return c
}

func (c *closing) exec(statement string, args ...any) {
	c.t.Helper()
	if _, err := c.books.ExecContext(c.t.Context(), statement, args...); err != nil {
		c.t.Fatal(err)
	}
}

// take returns a payment of October, not near its ends, that has no mistake yet.
func (c *closing) take(state string) payment {
	c.t.Helper()
	all := c.free[state]
	if len(all) == 0 {
		c.t.Fatalf("there is no %s payment left", state)
	}
	c.free[state] = all[1:]
	c.replaced[all[0].id] = true
	return all[0]
}

// takeOf is take for an approved payment in a currency.
func (c *closing) takeOf(currency string) payment {
	c.t.Helper()
	all := c.free["approved"]
	at := slices.IndexFunc(all, func(p payment) bool { return p.currency == currency })
	p := all[at]
	c.free["approved"] = slices.Delete(slices.Clone(all), at, at+1)
	c.replaced[p.id] = true
	return p
}

// list adds a line for a payment.
func (c *closing) list(p payment) *shopLine {
	order := fmt.Sprint("A-", 10_000+len(c.lines))
	c.lines = append(c.lines, shopLine{id: p.id, order: order, amount: p.amount, total: p.amount, currency: p.currency, state: p.state, at: p.at})
	return &c.lines[len(c.lines)-1]
}

// plant makes the mistakes, and then the other lines.
func (c *closing) plant() {
	c.t.Helper()
	all, refunds := c.payments()
	c.random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	for _, p := range all {
		isFree := p.at.After(closingDate(10, 5, 0)) && p.at.Before(closingDate(10, 27, 0))
		if isFree && !refunds[p.unique] {
			c.free[p.state] = append(c.free[p.state], p)
		}
	}
	october := func(class, id, kind string) { c.expected["2026-10"][class+" "+id] = kind }
	for _, k := range []struct {
		kind  string
		plant func(kind string, i int)
	}{
		{"order paid twice, above its total", func(kind string, _ int) {
			p := c.takeOf("EUR")
			q := c.takeOf("EUR")
			first := *c.list(p)
			second := c.list(q)
			second.order, second.total = first.order, first.total
			october("paid_twice", first.order, kind)
		}},
		{"order paid in parts", func(kind string, _ int) {
			p := c.takeOf("EUR")
			q := c.takeOf("EUR")
			first := c.list(p)
			first.total = decimal.RequireFromString(p.amount).Add(decimal.RequireFromString(q.amount)).String()
			order, total := first.order, first.total
			second := c.list(q)
			second.order, second.total = order, total
		}},
		{"line that cannot be read", func(kind string, _ int) {
			p := c.take("approved")
			c.list(p).amount = "see invoice"
			october("unreadable", "", kind) // its number is known when the list is written
		}},
		{"credit note beside the right line", func(kind string, _ int) {
			p := c.take("approved")
			c.list(p)
			c.list(p).amount = "-5.00"
		}},
		{"id in capitals", func(kind string, _ int) {
			p := c.take("approved")
			c.list(p).id = strings.ToUpper(p.id)
			october("missing_here", p.id, kind)
			october("missing_there", strings.ToUpper(p.id), kind)
		}},
		{"in the hour that clocks show twice", func(kind string, i int) {
			p := c.take("approved")
			p.at = time.Date(2026, 10, 25, 0, 10+20*i, 0, 0, time.UTC)
			c.move(p)
			c.list(p)
		}},
		{"settled late", func(kind string, _ int) {
			p := c.take("approved")
			c.exec(`UPDATE cardgateway_orders SET state = 'processing', code = 102 WHERE id = $1`, p.unique)
			c.list(p)
			c.before["timing "+p.id], c.settled[p.id] = kind, kind
			c.expected["2026-11"]["timing "+p.id] = kind // it counts in November
		}},
		{"declined late", func(kind string, _ int) {
			p := c.take("approved")
			c.exec(`UPDATE cardgateway_orders SET state = 'processing', code = 102 WHERE id = $1`, p.unique)
			c.list(p)
			c.before["timing "+p.id] = kind
			c.expected["2026-11"]["state "+p.id+" since 2026-10"] = kind
		}},
		{"paid in October, booked in November", func(kind string, i int) {
			p := c.take("approved")
			p.at = closingDate(10, 31, 4+i)
			c.move(p)
			c.list(p).at = closingDate(11, 2, i)
			c.before["unchecked "+p.id], c.settled[p.id] = kind, kind
			c.expected["2026-11"]["timing "+p.id] = kind
		}},
		{"paid on the last day, never booked", func(kind string, i int) {
			p := c.take("approved")
			p.at = closingDate(10, 31, 4+i)
			c.move(p)
			c.before["unchecked "+p.id] = kind
			c.expected["2026-11"]["missing_here "+p.id+" since 2026-10"] = kind
		}},
		{"test payment, not listed", func(kind string, _ int) {
			p := c.take("approved")
			c.exec(`UPDATE cardgateway_orders SET test = 1 WHERE id = $1`, p.unique)
			october("test_payment", p.id, kind)
		}},
		{"test payment, listed", func(kind string, _ int) {
			p := c.take("approved")
			c.exec(`UPDATE cardgateway_orders SET test = 1 WHERE id = $1`, p.unique)
			c.list(p)
			october("state", p.id, kind)
		}},
	} {
		for i := range eachKind {
			k.plant(k.kind, i)
		}
	}
	c.listOthers(all)
}

func (c *closing) move(p payment) {
	c.exec(`UPDATE cardgateway_orders SET at = $1 WHERE id = $2`, p.at.UnixMicro(), p.unique)
}

// payments returns the payments of the copy with an id of their own, and which have refunds.
func (c *closing) payments() (all []payment, refunds map[string]bool) {
	c.t.Helper()
	refunds = map[string]bool{}
	c.each(`SELECT unique_id FROM cardgateway_refunds`, func(scan func(...any) error) error {
		var unique string
		err := scan(&unique)
		refunds[unique] = true
		return err
	})
	c.each(`SELECT transaction_id, unique_id, state, amount, currency, at FROM cardgateway_orders ORDER BY unique_id`, func(scan func(...any) error) error {
		var p payment
		var at int64
		err := scan(&p.id, &p.unique, &p.state, &p.amount, &p.currency, &at)
		p.at = time.UnixMicro(at)
		all = append(all, p)
		return err
	})
	return all, refunds
}

func (c *closing) each(query string, do func(scan func(...any) error) error) {
	c.t.Helper()
	each(c.t, c.books, query, do)
}

// listOthers lists the payments and refunds without a mistake. What is in processing is not listed.
func (c *closing) listOthers(all []payment) {
	c.t.Helper()
	const waiting = "never final" // no difference
	atMidnight := 0
	for _, p := range all {
		if month := p.at.In(gatewayZone).Format("2006-01"); p.state != "approved" && p.state != "declined" && c.expected[month] != nil {
			c.expected[month]["timing "+p.id] = waiting
			for later, expected := range c.expected {
				if later > month {
					expected["timing "+p.id+" since "+month] = waiting
				}
			}
			if month < "2026-11" {
				c.open++
			}
		}
		if (p.state == "approved" || p.state == "declined") && !c.replaced[p.id] {
			c.list(p)
			if p.at.In(c.berlin).Month() != p.at.In(gatewayZone).Month() {
				atMidnight++
			}
		}
	}
	if atMidnight < eachKind {
		c.t.Errorf("in another month by the clock of Berlin: there are only %d", atMidnight)
	}
	c.each(`SELECT merchant_refund_id, amount, currency, at FROM cardgateway_refunds ORDER BY id`, func(scan func(...any) error) error {
		var id, amount, currency string
		var at int64
		err := scan(&id, &amount, &currency, &at)
		c.lines = append(c.lines, shopLine{id: id, order: fmt.Sprint("A-", 10_000+len(c.lines)), amount: amount, currency: currency, at: time.UnixMicro(at),
			isRefund: true})
		return err
	})
	slices.SortStableFunc(c.lines, func(a, b shopLine) int { return cmp.Or(a.at.Compare(b.at), cmp.Compare(a.order, b.order)) })
}

// export writes the lists of one month by the clock of Berlin, and returns the flags that name them.
func (c *closing) export(month time.Month) (flags []string) {
	c.t.Helper()
	var lists [2][]shopLine
	for _, l := range c.lines {
		if at := l.at.In(c.berlin); at.Year() == 2026 && at.Month() == month {
			kind := 0
			if l.isRefund {
				kind = 1
			}
			lists[kind] = append(lists[kind], l)
		}
	}
	for i, l := range lists[0] {
		kind := map[string]string{"see invoice": "line that cannot be read"}[l.amount]
		if l.amount == "-5.00" {
			kind = "credit note beside the right line"
		}
		if kind != "" {
			c.expected[fmt.Sprintf("2026-%02d", month)][fmt.Sprint("unreadable line ", i+2)] = kind
		}
	}
	delete(c.expected["2026-10"], "unreadable ")
	for i, name := range []string{"--list", "--refund-list"} {
		text := closingTitles[i]
		for j := range lists[i] {
			text += lists[i][j].text(c.berlin)
		}
		flags = append(flags, name, writeText(c.t, c.dir, fmt.Sprintf("%d%s.csv", month, name), text))
	}
	return flags
}

// closeMonths compares the months.
func (c *closing) closeMonths() {
	c.t.Helper()
	for _, month := range []time.Month{9, 10, 11} {
		name := fmt.Sprintf("2026-%02d", month)
		flags := c.export(month)
		want := maps.Clone(c.expected[name])
		if month == 10 {
			maps.Copy(want, c.before)
		}
		if month == 11 {
			for what, kind := range c.before {
				id := strings.Fields(what)[1]
				switch kind {
				case "settled late":
					c.exec(`UPDATE cardgateway_orders SET state = 'approved', code = 100 WHERE transaction_id = $1`, id)
				case "declined late":
					c.exec(`UPDATE cardgateway_orders SET state = 'declined', code = 101 WHERE transaction_id = $1`, id)
				}
			}
		}
		for range 2 { // a repetition has the same result
			c.closeMonth(name, flags, want)
		}
	}
}

func (c *closing) closeMonth(name string, flags []string, want map[string]string) {
	c.t.Helper()
	out := filepath.Join(c.dir, name+".html")
	r := toolAt(c.t, closingDate(12, 5, 1), c.env, append([]string{"reconcile", "report", "--as", "shop", "--month", name, "--out", out}, flags...)...)
	code := exit.Negative
	if name == "2026-09" {
		code = exit.OK
	}
	r.want(c.t, code)
	var parsed reportJSON
	if err := json.Unmarshal([]byte(readText(c.t, strings.TrimSuffix(out, "html")+"json")), &parsed); err != nil {
		c.t.Fatal(err)
	}
	got := map[string]bool{}
	for _, d := range parsed.Differences {
		id, _, _ := strings.Cut(fmt.Sprint(d["id"]), " of list ")
		what := fmt.Sprintf("%s %s", d["class"], id)
		if since, ok := d["openSince"].(string); ok {
			what += " since " + since
		}
		got[what] = true
		if want[what] == "" {
			c.t.Errorf("%s: %s is false: %v", name, what, d)
		}
		if d["lines"] != "" && d["orders"] == "" {
			c.t.Errorf("%s: %s has a line and no order: %v", name, what, d)
		}
		if want[what] == "order paid twice, above its total" && !strings.Contains(fmt.Sprint(d["why"]), "more than the total of the order") {
			c.t.Errorf("%s: %s does not say that it is above the total: %v", name, what, d)
		}
	}
	for _, what := range slices.Sorted(maps.Keys(want)) {
		if !got[what] {
			c.t.Errorf("%s: %s, %s, is not found", name, what, want[what])
		}
	}
	if n := strings.Count(readText(c.t, out), ", test payment</small>"); name == "2026-10" && n != 2*eachKind {
		c.t.Errorf("the page marks %d test payments, want %d", n, 2*eachKind)
	}
	for _, b := range parsed.Summary.Bridges {
		if !b.LeftOver.IsZero() {
			c.t.Errorf("%s: %s %s: %v is left over", name, b.Kind, b.Currency, b.LeftOver)
		}
	}
	if name != "2026-11" {
		return
	}
	if s := parsed.Summary.Earlier; s.Settled != len(c.settled) || s.Open != c.open || s.Differences != 2*eachKind {
		c.t.Errorf("got %+v of October, want %d settled, %d open and %d differences", s, len(c.settled), c.open, 2*eachKind)
	}
	page := readText(c.t, out)
	if strings.Contains(page, "This is a test system") {
		c.t.Error("the page says that there are no real payments")
	}
	_, section, _ := strings.Cut(page, "Open from earlier months <span")
	section, _, _ = strings.Cut(section, "</section>")
	for id, kind := range c.settled {
		_, row, ok := strings.Cut(section, ">"+id+"<")
		row, _, _ = strings.Cut(row, "</tr>")
		if !ok || !strings.Contains(row, ">settled<") {
			c.t.Errorf("the page does not say that %s, %s, is settled: %s", id, kind, row)
		}
	}
}

// TestSigned: what the gateway changes of a month after its report was written is told by later reports, until that is written anew.
func TestSigned(t *testing.T) {
	t.Parallel()
	now := closingDate(11, 5, 1)
	gateway := gatewayFor(t, sandbox.Options{})
	seeded := sandbox.SeedOptions{N: 200, From: time.Now().AddDate(0, 0, -30), To: time.Now().AddDate(0, 0, -1), Random: true, Seed: 7, RefundEvery: -1}
	gateway.SeedOrders(seeded)
	dir := t.TempDir()
	env := with(environment(gateway.URL), "CARDGATEWAY_DB", filepath.Join(dir, "books.db"))
	tool(t, env, "reconcile", "sync", "--quiet", "--from", seeded.From.Format(time.RFC3339)).want(t, exit.OK)
	db := openAt(t, "sqlite", "file:"+filepath.Join(dir, "books.db")+"?_pragma=busy_timeout(10000)")
	exec := func(statement string, args ...any) {
		t.Helper()
		if _, err := db.ExecContext(t.Context(), statement, args...); err != nil {
			t.Fatal(err)
		}
	}
	exec(`UPDATE cardgateway_orders SET at = at + $1`, closingDate(10, 5, 0).Sub(seeded.From).Microseconds())
	exec(`UPDATE cardgateway_copy SET since = $1`, closingDate(9, 1, 0).UnixMicro())
	exec(`UPDATE cardgateway_walks SET complete = $1`, closingDate(11, 5, 0).UnixMicro())
	var id, last string
	lines := "transaction_id,amount,currency,at\n"
	each(t, db, `SELECT transaction_id, unique_id, amount, currency, at FROM cardgateway_orders WHERE state = 'approved'`, func(scan func(...any) error) error {
		var transaction, amount, currency string
		var at int64
		err := scan(&transaction, &id, &amount, &currency, &at)
		last = strings.Join([]string{transaction, amount, currency, time.UnixMicro(at).UTC().Format(time.RFC3339)}, ",") + "\n"
		lines += last
		return err
	})
	list, out := writeText(t, dir, "paid.csv", lines), filepath.Join(dir, "october.html")
	october := []string{"reconcile", "report", "--month", "2026-10", "--list", list, "--out", out}
	later := []string{"reconcile", "report", "--day", "2026-11-02", "--list", list, "--out", filepath.Join(dir, "later.html")}
	exec(`UPDATE cardgateway_walks SET complete = $1`, closingDate(10, 31, 23).UnixMicro())
	toolAt(t, closingDate(11, 1, 0), env, october...).want(t, exit.Failed, "the month is over at 2026-11-01 00:00:00, but the copy of the gateway is complete up to 2026-10-31 23:00:00")
	toolAt(t, closingDate(10, 31, 23), env, october...).want(t, exit.Negative, "3 lines of your list dated in the future, and not compared: correct the date")
	exec(`UPDATE cardgateway_walks SET complete = $1`, closingDate(11, 5, 0).UnixMicro())
	toolAt(t, now, env, october...).want(t, exit.OK)
	toolAt(t, now, env, later...).want(t, exit.OK)
	toolAt(t, now, env, october...).want(t, exit.OK) // it says the same

	exec(`INSERT INTO cardgateway_changes (kind, id, what, old, new, seen) VALUES ('orders', $1, 'state', 'approved', 'declined', $2)`, id, now.UnixMicro())
	exec(`UPDATE cardgateway_orders SET state = 'declined' WHERE unique_id = $1`, id)
	r := tool(t, env, "reconcile", "changes", "--format", "csv")
	r.want(t, exit.OK)
	if !strings.Contains(r.out, ",2026-10,payment,"+id+",") || !strings.HasSuffix(r.out, ",state,approved,declined\n") {
		t.Errorf("got %s", r.out)
	}
	toolAt(t, now, env, later...).want(t, exit.Negative, "later.html exists, and says something else, which may have been signed")
	later = append(later, "--force")
	for range 2 { // until October is written anew: comparing it alone changes nothing
		toolAt(t, now, env, later...).want(t, exit.Negative, "changed since it was compared: 1 payments or refunds of earlier months", "differences: 1")
		page := readText(t, filepath.Join(dir, "later.html"))
		for _, want := range []string{"1 difference", "Changed since it was compared <span", "October 2026", "The gateway's totals of these months"} {
			if !strings.Contains(page, want) {
				t.Errorf("the page does not say %q", want)
			}
		}
		toolAt(t, now, env, "reconcile", "match", "--month", "2026-10").want(t, exit.Negative,
			"This month was compared before, and 1 payments or refunds of it have changed since; payments ", "differences: 1")
		toolAt(t, now, env, october...).want(t, exit.Negative, "october.html exists, and says something else")
		other := filepath.Join(t.TempDir(), "other.html") // with a list that has changed, too
		toolAt(t, now, env, "reconcile", "report", "--month", "2026-10", "--list", writeText(t, dir, "now.csv", strings.Replace(lines, last, "", 1)), "--out", other).
			want(t, exit.Negative, "cardgateway: 1 row of this month changed since it was compared")
		if strings.Contains(readText(t, other), "No difference was found") {
			t.Error("another page of a month that was compared is green")
		}
		toolAt(t, now, env, later...).want(t, exit.Negative, "changed since it was compared: 1 payments or refunds of earlier months")
	}
	toolAt(t, now, env, append(october, "--force")...).want(t, exit.Negative, "differences: 1")
	r = toolAt(t, now, env, later...)
	r.want(t, exit.OK)
	if strings.Contains(r.err, "changed since") {
		t.Errorf("got %s after October was compared again", r.err)
	}

	// What was of October is a change of October, wherever the row is now.
	const was, is = "2026-10-20T08:00:00Z", "2026-11-20T08:00:00Z"
	micro := func(text string) int64 {
		at, err := time.Parse(time.RFC3339, text)
		if err != nil {
			t.Fatal(err)
		}
		return at.UnixMicro()
	}
	for i, change := range [][]any{{"code", "100", "101"}, {"at", fmt.Sprint(micro(was)), fmt.Sprint(micro(is))}, {"test", "0", "1"}} {
		exec(`INSERT INTO cardgateway_changes (kind, id, what, old, new, seen) VALUES ('orders', $1, $2, $3, $4, $5)`,
			append(append([]any{id}, change...), now.UnixMicro()+int64(i)+1)...)
	}
	exec(`UPDATE cardgateway_orders SET at = $1, other_app = '8' WHERE unique_id = $2`, micro(is), id)
	r = tool(t, env, "reconcile", "changes", "--format", "csv")
	r.want(t, exit.OK)
	got := regexp.MustCompile(`T[0-9:]{8}(Z|[+-][0-9:]{5})`).ReplaceAllString(r.out, "") // only dates
	for _, want := range []string{",2026-10,payment," + id + ",2026-10-20,code,100,101\n", ",2026-10,payment," + id + ",2026-10-20,at,2026-10-20,2026-11-20\n",
		",,payment," + id + ",2026-11-20,test,0,1\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

// each calls do for every row of a query.
func each(t *testing.T, db *sql.DB, query string, do func(scan func(...any) error) error) {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), query)
	if err != nil {
		t.Fatal(err)
	}
	for rows.Next() && err == nil {
		err = do(rows.Scan)
	}
	if err := errors.Join(err, rows.Err(), rows.Close()); err != nil {
		t.Fatal(err)
	}
}
