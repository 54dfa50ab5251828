package main

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/exit"
	"github.com/cardgateway/cardgateway-go/sandbox"
	"github.com/google/go-cmp/cmp"
)

// TestClosing closes three months one after the other as a finance department does: with a list of exactly the month by the clock of
// Berlin, a CSV file of a German spreadsheet, while the gateway's month is that of UTC+8. Every kind of mistake, and of what looks like one,
// gets its class, and nothing else is found.
func TestClosing(t *testing.T) {
	t.Parallel()
	newClosing(t, closingRows).closeMonths()
}

// closingRows are the payments of the gateway, with times by its clock. A refund is one of the payment before it.
const closingRows = `
september       approved   1234.50 EUR 2026-09-15 12:00:00
september-back  refund        4.50 EUR 2026-09-16 12:00:00
september-open  processing    7.00 EUR 2026-09-20 12:00:00
midnight        approved      8.00 EUR 2026-10-01 02:00:00
agrees          approved   9000    JPY 2026-10-05 12:00:00
agrees-back     refund     4500    JPY 2026-10-06 12:00:00
declined        declined     10.00 USD 2026-10-05 13:00:00
twice           approved     30.00 EUR 2026-10-06 12:00:00
again           approved     30.00 EUR 2026-10-06 13:00:00
part            approved     30.00 EUR 2026-10-07 12:00:00
rest            approved     70.00 EUR 2026-10-07 13:00:00
unreadable      approved     11.00 EUR 2026-10-08 12:00:00
credited        approved     12.00 EUR 2026-10-09 12:00:00
capitals        approved     13.00 EUR 2026-10-10 12:00:00
hour-twice      approved     14.00 EUR 2026-10-25 08:10:00
settled-late    processing   15.00 EUR 2026-10-11 12:00:00
declined-late   processing   16.00 EUR 2026-10-12 12:00:00
booked-late     approved     17.00 EUR 2026-10-31 04:00:00
never-booked    approved     18.00 EUR 2026-10-31 05:00:00
test-alone      test         19.00 EUR 2026-10-13 12:00:00
test-listed     test         20.00 EUR 2026-10-14 12:00:00
october-open    processing   21.00 EUR 2026-10-15 12:00:00
next-midnight   approved     22.00 EUR 2026-11-01 02:00:00
november        approved     23.00 EUR 2026-11-15 12:00:00
november-open   processing   24.00 EUR 2026-11-16 12:00:00
december        approved     25.00 EUR 2026-12-02 12:00:00
`

const (
	closingTitles  = "\ufeffReferenz;Bestellnummer;Bestellsumme;Betrag;Währung;Status;Bezahlt am;Kunde\n"
	refundedTitles = "\ufeffErstattung;Bestellnummer;Betrag;Währung;Erstattet am\n"
)

// closingMonths are the lists of the shop, and the classes and ids of what is found with them.
var closingMonths = map[time.Month]struct{ payments, refunds, want string }{
	9: {` september;A-1;1.234,50;1.234,50;EUR;Bezahlt;15.09.2026 06:00:00;"Müller; Söhne"
 midnight;A-2;8,00;8,00;EUR;Bezahlt;30.09.2026 20:00:00;
`, "september-back;A-1;-4,50;EUR;16.09.2026 06:00:00\n", "timing september-open"},
	10: {` agrees;A-3;9.000;9.000;JPY;Bezahlt;05.10.2026 06:00:00;
 declined;A-4;10,00;10,00;USD;storniert;05.10.2026 07:00:00;
 twice;A-5;30,00;30,00;EUR;Bezahlt;06.10.2026 06:00:00;
 again;A-5;30,00;30,00;EUR;Bezahlt;06.10.2026 07:00:00;
 part;A-6;100,00;30,00;EUR;Bezahlt;07.10.2026 06:00:00;
 rest;A-6;100,00;70,00;EUR;Bezahlt;07.10.2026 07:00:00;
 unreadable;A-7;11,00;see invoice;EUR;Bezahlt;08.10.2026 06:00:00;
 credited;A-8;12,00;12,00;EUR;Bezahlt;09.10.2026 06:00:00;
 credited;A-9;12,00;-5,00;EUR;Bezahlt;09.10.2026 06:00:00;
 CAPITALS;A-10;13,00;13,00;EUR;Bezahlt;10.10.2026 06:00:00;
 settled-late;A-11;15,00;15,00;EUR;Bezahlt;11.10.2026 06:00:00;
 declined-late;A-12;16,00;16,00;EUR;Bezahlt;12.10.2026 06:00:00;
 test-listed;A-13;20,00;20,00;EUR;Bezahlt;14.10.2026 06:00:00;
 hour-twice;A-14;14,00;14,00;EUR;Bezahlt;25.10.2026 02:10:00;
 next-midnight;A-15;22,00;22,00;EUR;Bezahlt;31.10.2026 19:00:00;
`, "agrees-back;A-3;-4.500;JPY;06.10.2026 06:00:00\n",
		"missing_here capitals, missing_there CAPITALS, paid_twice A-5, state test-listed, test_payment test-alone, timing declined-late, timing october-open, " +
			"timing september-open since 2026-09, timing settled-late, unchecked booked-late, unchecked never-booked, unreadable line 10, unreadable line 8"},
	11: {` booked-late;A-16;17,00;17,00;EUR;Bezahlt;01.11.2026 17:00:00;
 november;A-17;23,00;23,00;EUR;Bezahlt;15.11.2026 05:00:00;
`, "", "missing_here never-booked since 2026-10, state declined-late since 2026-10, timing booked-late, timing november-open, " +
		"timing october-open since 2026-10, timing september-open since 2026-09, timing settled-late"},
}

// closing is a shop that closes its months.
type closing struct {
	t     *testing.T
	dir   string
	env   map[string]string
	books *sql.DB
}

var gatewayZone = time.FixedZone("UTC+8", 8*3600)

func closingDate(month time.Month, day, hour int) time.Time {
	return time.Date(2026, month, day, hour, 0, 0, 0, gatewayZone)
}

// newClosing makes a copy of a gateway that has these rows. In the autumn of 2026, clocks are set back.
func newClosing(t *testing.T, rows string) *closing {
	t.Helper()
	gateway, at := gatewayFor(t, sandbox.Options{}), sqlitePlace(t)
	c := &closing{t: t, dir: t.TempDir(), books: openAt(t, at.driver, at.dsn)}
	c.env = map[string]string{"CARDGATEWAY_CONFIG": writeText(t, c.dir, "config.toml", fmt.Sprintf(`base-url = %q
app-id = "7"
merchant-id = "m1"
secret = %q
db = %q

[reconcile.shop]
columns = "transaction_id=Referenz,order=Bestellnummer,order_total=Bestellsumme,amount=Betrag,currency=Währung,state=Status,at=Bezahlt am"
refund-columns = "refund_id=Erstattung,order=Bestellnummer,amount=Betrag,currency=Währung,at=Erstattet am"
amounts = "1.234,50"
dates = "DD.MM.YYYY hh:mm:ss"
states = "bezahlt=approved,storniert=declined"
list-zone = "Europe/Berlin"
`, gateway.URL, secretKey, at.setting))}
	tool(t, c.env, "reconcile", "sync", "--quiet", "--from", time.Now().AddDate(0, 0, -1).Format(time.RFC3339)).want(t, exit.OK)
	c.exec(`UPDATE cardgateway_copy SET since = $1`, closingDate(9, 1, 0).UnixMicro())
	c.completeTo(closingDate(12, 5, 0))
	paid := ""
	for row := range strings.SplitSeq(strings.TrimSpace(rows), "\n") {
		f := strings.Fields(row)
		at, err := time.ParseInLocation(time.DateTime, f[4]+" "+f[5], gatewayZone)
		if err != nil {
			t.Fatal(err)
		}
		if f[1] == "refund" {
			c.exec(`INSERT INTO cardgateway_refunds VALUES ($1, $1, $1, $2, 'approved', 111, $3, $4, $5, 1)`, f[0], paid, f[2], f[3], at.UnixMicro())
			continue
		}
		c.exec(`INSERT INTO cardgateway_orders (id, unique_id, transaction_id, state, code, amount, currency, at, card, test, walk)
			VALUES ('of ' || $1, 'of ' || $1, $1, CASE $2 WHEN 'test' THEN 'approved' ELSE $2 END, 100, $3, $4, $5, '', $2 = 'test', 1)`,
			f[0], f[1], f[2], f[3], at.UnixMicro())
		paid = "of " + f[0]
	}
	return c
}

func (c *closing) exec(statement string, args ...any) {
	c.t.Helper()
	if _, err := c.books.ExecContext(c.t.Context(), statement, args...); err != nil {
		c.t.Fatal(err)
	}
}

// declined has an approved payment be declined, and says when that was seen.
func (c *closing) declined(id string, seen time.Time) {
	c.t.Helper()
	c.exec(`INSERT INTO cardgateway_changes (kind, id, what, old, new, seen) VALUES ('orders', $1, 'state', 'approved', 'declined', $2)`, id, seen.UnixMicro())
	c.exec(`UPDATE cardgateway_orders SET state = 'declined' WHERE id = $1`, id)
}

// completeTo has the copy be complete up to then.
func (c *closing) completeTo(at time.Time) {
	c.t.Helper()
	c.exec(`UPDATE cardgateway_walks SET complete = $1`, at.UnixMicro())
}

// export writes the lists of one month, and returns the flags that name them.
func (c *closing) export(month time.Month) (flags []string) {
	c.t.Helper()
	lists := closingMonths[month]
	for _, list := range [][2]string{{"--list", closingTitles + lists.payments}, {"--refund-list", refundedTitles + lists.refunds}} {
		flags = append(flags, list[0], writeText(c.t, c.dir, fmt.Sprintf("%d%s.csv", month, list[0]), strings.ReplaceAll(list[1], "\n", "\r\n")))
	}
	return flags
}

// closeMonths compares the months.
func (c *closing) closeMonths() {
	c.t.Helper()
	for month := time.September; month <= time.November; month++ {
		flags := c.export(month)
		if month == time.November {
			c.exec(`UPDATE cardgateway_orders SET state = 'approved' WHERE transaction_id = 'settled-late'`)
			c.exec(`UPDATE cardgateway_orders SET state = 'declined' WHERE transaction_id = 'declined-late'`)
		}
		for range 2 { // a repetition has the same result
			c.closeMonth(month, flags)
		}
	}
}

func (c *closing) closeMonth(month time.Month, flags []string) {
	c.t.Helper()
	name := fmt.Sprintf("2026-%02d", month)
	out := filepath.Join(c.dir, name+".html")
	r := toolAt(c.t, closingDate(12, 5, 1), c.env, append([]string{"reconcile", "report", "--as", "shop", "--month", name, "--out", out}, flags...)...)
	code := exit.Negative
	if month == time.September {
		code = exit.OK
	}
	r.want(c.t, code)
	var parsed reportJSON
	if err := json.Unmarshal([]byte(readText(c.t, strings.TrimSuffix(out, "html")+"json")), &parsed); err != nil {
		c.t.Fatal(err)
	}
	var got []string
	for _, d := range parsed.Differences {
		id, _, _ := strings.Cut(fmt.Sprint(d["id"]), " of list ")
		what := fmt.Sprintf("%s %s", d["class"], id)
		if since, ok := d["openSince"].(string); ok {
			what += " since " + since
		}
		got = append(got, what)
		if d["lines"] != "" && d["orders"] == "" {
			c.t.Errorf("%s: %s has a line and no order: %v", name, what, d)
		}
		if d["class"] == "paid_twice" {
			holds(c.t, fmt.Sprint(d["why"]), "more than the total of the order")
		}
	}
	slices.Sort(got)
	if diff := cmp.Diff(strings.Split(closingMonths[month].want, ", "), got); diff != "" {
		c.t.Errorf("%s: differences (-want +got):\n%s", name, diff)
	}
	page := readText(c.t, out)
	if n := strings.Count(page, ", test payment</small>"); month == time.October && n != 2 {
		c.t.Errorf("the page marks %d test payments, want 2", n)
	}
	for _, b := range parsed.Summary.Bridges {
		if !b.LeftOver.IsZero() {
			c.t.Errorf("%s: %s %s: %v is left over", name, b.Kind, b.Currency, b.LeftOver)
		}
	}
	if month != time.November {
		return
	}
	if s := parsed.Summary.Earlier; s.Settled != 2 || s.Open != 2 || s.Differences != 2 {
		c.t.Errorf("got %+v of earlier months, want 2 of each", s)
	}
	lacks(c.t, page, "This is a test system")
	_, section, _ := strings.Cut(page, "Open from earlier months <span")
	section, _, _ = strings.Cut(section, "</section>")
	for _, id := range []string{"settled-late", "booked-late"} {
		_, row, _ := strings.Cut(section, ">"+id+"<")
		row, _, _ = strings.Cut(row, "</tr>")
		holds(c.t, row, ">settled<")
	}
}

// TestSigned: what the gateway changes of a month after its report was written is told by later reports, until that is written anew.
func TestSigned(t *testing.T) {
	t.Parallel()
	now := closingDate(11, 5, 1)
	const id = "of changed"
	was, is := closingDate(10, 20, 16), closingDate(11, 20, 16)
	c := newClosing(t, `
first   approved 12.50 EUR 2026-10-10 16:00:00
changed approved  2.50 EUR 2026-10-20 16:00:00
last    approved  3.50 EUR 2026-10-31 23:30:00
later   approved  4.50 EUR 2026-11-03 16:00:00
`)
	const last = "changed,2.50,EUR,2026-10-20T16:00:00+08:00\n"
	const lines = "transaction_id,amount,currency,at\n" + last + "first,12.50,EUR,2026-10-10T16:00:00+08:00\nlast,3.50,EUR,2026-10-31T23:30:00+08:00\n" +
		"later,4.50,EUR,2026-11-03T16:00:00+08:00\n"
	dir, env := c.dir, c.env
	list, out := writeText(t, dir, "paid.csv", lines), filepath.Join(dir, "october.html")
	october := []string{"reconcile", "report", "--month", "2026-10", "--list", list, "--out", out}
	later := []string{"reconcile", "report", "--day", "2026-11-03", "--list", list, "--out", filepath.Join(dir, "later.html")}
	c.completeTo(closingDate(10, 31, 23))
	toolAt(t, closingDate(11, 1, 0), env, october...).want(t, exit.Failed, "the month is over at 2026-11-01 00:00:00, but the copy of the gateway is complete up to 2026-10-31 23:00:00")
	toolAt(t, closingDate(10, 31, 23), env, october...).want(t, exit.Negative, "1 line of your list dated in the future, and not compared: correct the date")
	c.completeTo(closingDate(11, 5, 0))
	toolAt(t, now, env, october...).want(t, exit.OK)
	toolAt(t, now, env, later...).want(t, exit.OK)
	toolAt(t, now, env, october...).want(t, exit.OK) // it says the same

	c.declined(id, now)
	r := tool(t, env, "reconcile", "changes", "--format", "csv")
	r.want(t, exit.OK)
	holds(t, r.out, ",2026-10,payment,"+id+",", ",state,approved,declined\n")
	toolAt(t, now, env, later...).want(t, exit.Negative, "later.html exists, and says something else, which may have been signed")
	later = append(later, "--force")
	for range 2 { // until October is written anew: comparing it alone changes nothing
		toolAt(t, now, env, later...).want(t, exit.Negative, "changed since it was compared: 1 payments or refunds of earlier months", "differences: 1")
		holds(t, readText(t, filepath.Join(dir, "later.html")), "1 difference", "Changed since it was compared <span", "October 2026",
			"The gateway's totals of these months")
		toolAt(t, now, env, "reconcile", "match", "--month", "2026-10").want(t, exit.Negative,
			"This month was compared before, and 1 payments or refunds of it have changed since; payments ", "differences: 1")
		toolAt(t, now, env, october...).want(t, exit.Negative, "october.html exists, and says something else")
		other := filepath.Join(t.TempDir(), "other.html") // with a list that has changed, too
		toolAt(t, now, env, "reconcile", "report", "--month", "2026-10", "--list", writeText(t, dir, "now.csv", strings.Replace(lines, last, "", 1)), "--out", other).
			want(t, exit.Negative, "cardgateway: 1 row of this month changed since it was compared")
		lacks(t, readText(t, other), "No difference was found")
		toolAt(t, now, env, later...).want(t, exit.Negative, "changed since it was compared: 1 payments or refunds of earlier months")
	}
	toolAt(t, now, env, append(october, "--force")...).want(t, exit.Negative, "differences: 1")
	r = toolAt(t, now, env, later...)
	r.want(t, exit.OK)
	lacks(t, r.err, "changed since")

	// What was of October is a change of October, wherever the row is now.
	for i, change := range [][]any{{"code", "100", "101"}, {"at", fmt.Sprint(was.UnixMicro()), fmt.Sprint(is.UnixMicro())}, {"test", "0", "1"}} {
		c.exec(`INSERT INTO cardgateway_changes (kind, id, what, old, new, seen) VALUES ('orders', $1, $2, $3, $4, $5)`,
			append(append([]any{id}, change...), now.UnixMicro()+int64(i)+1)...)
	}
	c.exec(`UPDATE cardgateway_orders SET at = $1, other_app = '8' WHERE unique_id = $2`, is.UnixMicro(), id)
	r = tool(t, env, "reconcile", "changes", "--format", "csv")
	r.want(t, exit.OK)
	got := regexp.MustCompile(`T[0-9:]{8}(Z|[+-][0-9:]{5})`).ReplaceAllString(r.out, "") // only dates
	holds(t, got, ",2026-10,payment,"+id+",2026-10-20,code,100,101\n", ",2026-10,payment,"+id+",2026-10-20,at,2026-10-20,2026-11-20\n",
		",,payment,"+id+",2026-11-20,test,0,1\n")
}
