package main

import (
	"encoding/csv"
	"encoding/json"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/exit"
	"github.com/cardgateway/cardgateway-go/sandbox"
)

// closedMonth is a gateway with a month of payments, a copy of it, and a list that agrees.
type closedMonth struct {
	env    map[string]string
	dir    string
	lines  []string // of the list, without its titles
	lastOf time.Time
}

func newClosedMonth(t *testing.T) *closedMonth {
	t.Helper()
	gateway := gatewayFor(t, sandbox.Options{})
	to := time.Now().AddDate(0, 0, -10).Truncate(24 * time.Hour)
	from := to.AddDate(0, 0, -30)
	gateway.SeedOrders(sandbox.SeedOptions{N: 300, From: from, To: to, Currencies: []string{"EUR", "JPY"}, RefundEvery: -1})
	m := &closedMonth{dir: t.TempDir()}
	m.env = with(environment(gateway.URL), "CARDGATEWAY_DB", filepath.Join(m.dir, "books.db"))
	tool(t, m.env, "reconcile", "sync", "--from", from.AddDate(0, 0, -5).Format(time.DateOnly)).want(t, exit.OK)
	r := tool(t, m.env, "orders", "--quiet", "--format", "csv", "--state", "approved", "--from", from.Format(time.RFC3339), "--to", to.Format(time.RFC3339))
	r.want(t, exit.OK)
	rows, err := csv.NewReader(strings.NewReader(r.out)).ReadAll()
	if err != nil || len(rows) < 200 {
		t.Fatal(len(rows), err)
	}
	for _, row := range rows[1:] {
		m.lines = append(m.lines, strings.Join([]string{row[6], row[3], row[4], row[1]}, ",")) // transactionId, amount, currency, at
	}
	m.lastOf = to
	return m
}

// list writes a list with these lines.
func (m *closedMonth) list(t *testing.T, lines ...string) string {
	t.Helper()
	return m.file(t, "paid.csv", "transaction_id,amount,currency,at\n"+strings.Join(lines, "\n")+"\n")
}

func (m *closedMonth) file(t *testing.T, name, text string) string {
	t.Helper()
	return writeText(t, m.dir, name, text)
}

func TestMatch(t *testing.T) {
	m := newClosedMonth(t)
	tool(t, m.env, "reconcile", "match").want(t, exit.Failed, "there is no list of your payments to compare with: set --list")
	r := tool(t, m.env, "reconcile", "match", "--list", m.list(t, m.lines...))
	r.want(t, exit.OK, "273 lines read from paid.csv, 0 not readable", "273 of 273 rows tie out", "payments  EUR", "0.00")
	if want := "class,kind,id,reason,value,"; !strings.HasPrefix(r.out, want) || strings.Count(r.out, "\n") != 1 {
		t.Errorf("got %q, want the titles alone", r.out)
	}
	tool(t, m.env, "reconcile", "match").want(t, exit.OK, "273 of 273") // the list is kept
	tool(t, m.env, "reconcile", "match", "--list-dsn", m.env["CARDGATEWAY_DB"], "--list-query",
		"SELECT transaction_id, amount, currency FROM cardgateway_orders WHERE state = 'approved'").want(t, exit.OK, "273 lines read from SELECT", "273 of 273")
	from, to := m.lastOf.AddDate(0, 0, -30).Format(time.RFC3339), m.lastOf.Format(time.RFC3339) // exactly what the list has
	tool(t, m.env, "reconcile", "match", "--from", from, "--to", to, "--list", m.list(t, m.lines[1:]...)).want(t, exit.Negative, "272 of 273",
		"not checked: 1 row near a limit of the period", "Your list covers ")

	middle := len(m.lines) / 2
	changed := append(append([]string{}, m.lines[:middle]...), m.lines[middle+1:]...)
	id, _, _ := strings.Cut(m.lines[middle], ",")
	changed[10] = strings.Replace(changed[10], ",", ",1", 1)
	r = tool(t, m.env, "reconcile", "match", "--format", "jsonl", "--list", m.list(t, changed...))
	r.want(t, exit.Negative, "271 of 273 rows tie out", "missing_here", "differences: 2")
	lines := strings.Split(strings.TrimSpace(r.out), "\n")
	if len(lines) != 2 {
		t.Fatalf("got %d rows: %s", len(lines), r.out)
	}
	for _, line := range lines {
		var d map[string]any
		if err := json.Unmarshal([]byte(line), &d); err != nil || d["value"] == "" || d["currency"] == "" {
			t.Errorf("got %s, %v", line, err)
		}
	}

	known := m.file(t, "known.csv", "class,id,reason\nmissing_here,"+id+",paid by invoice\namount,nothing,gone\nmissing_here,x,\nmissing_here,y,\n")
	r = tool(t, m.env, "reconcile", "match", "--sum", "--known", known)
	r.want(t, exit.Negative, "differences: 1", "entries that match no difference: 1, the first in line 3",
		"known.csv: rows without a reason, which have no effect: 2, the first in line 4\n")
	if r.out != "" {
		t.Errorf("got %q with --sum", r.out)
	}
}

// TestMatchPeriod compares lists that cover only a part of what the gateway has.
func TestMatchPeriod(t *testing.T) {
	m := newClosedMonth(t)
	part := m.list(t, m.lines[100:200]...)
	tool(t, m.env, "reconcile", "match", "--list", part).want(t, exit.OK, "100 of 100 rows tie out")
	withoutZone := regexp.MustCompile(`T([0-9:]{8})[^\n]*`).ReplaceAllString(strings.Join(m.lines[100:200], "\n"), " $1")
	zoned := m.file(t, "zone.csv", "transaction_id,amount,currency,at\n"+withoutZone+"\n")
	r := tool(t, m.env, "reconcile", "match", "--list", zoned, "--list-zone", "Asia/Tokyo")
	r.want(t, exit.OK, "Nearly all payments of your list are 1 hour earlier than at the gateway. Is its time zone right? See --list-zone.")
	withoutTimes := "transaction_id,amount,currency\n"
	for _, line := range m.lines[100:200] {
		withoutTimes += line[:strings.LastIndex(line, ",")] + "\n"
	}
	tool(t, m.env, "reconcile", "match", "--list", m.file(t, "plain.csv", withoutTimes)).want(t, exit.OK, "100 of 100 rows tie out")
	from := m.lastOf.AddDate(0, 0, -30)
	r = tool(t, m.env, "reconcile", "match", "--list", part, "--from", from.Format(time.RFC3339), "--to", m.lastOf.Format(time.RFC3339))
	r.want(t, exit.Negative, "Is the list complete?", "missing_here")
	day := func(n int) string { return from.AddDate(0, 0, n).Format(time.DateOnly) }
	r = tool(t, m.env, "reconcile", "match", "--list", m.list(t, m.lines...), "--from", day(5), "--to", day(12))
	r.want(t, exit.OK, "lines of other periods were not compared")
	tool(t, m.env, "reconcile", "match", "--from", "2020-01-01", "--to", "2020-02-01").
		want(t, exit.Failed, "contains nothing from 2020-01-01", "create another one that begins earlier")
	tool(t, m.env, "reconcile", "match", "--from", "2099-01-01", "--to", "2099-02-01").want(t, exit.Failed, "this period has not begun")
	tool(t, m.env, "reconcile", "match", "--month", "2026-13", "--list", m.list(t, m.lines[0])).want(t, exit.Failed, "is not a month")
	tool(t, m.env, "reconcile", "match").want(t, exit.OK, "273 of 273") // the list that was read before
	tool(t, m.env, "reconcile", "match", "--from", from.AddDate(0, -6, 0).Format(time.DateOnly)).want(t, exit.OK, "begins at", "nothing earlier is compared")
}

// TestRefundListOfAnotherMonth: a list of refunds that was forgotten, so that the last one is compared, is noticed.
func TestRefundListOfAnotherMonth(t *testing.T) {
	m := newClosedMonth(t)
	refunds := m.file(t, "refunds.csv", "refund_id,amount,currency,at\nr,1,EUR,"+m.lastOf.AddDate(-1, 0, 0).Format(time.DateTime)+"\n")
	tool(t, m.env, "reconcile", "match", "--list", m.list(t, m.lines...), "--refund-list", refunds, "--from", m.lastOf.AddDate(0, 0, -30).Format(time.RFC3339)).
		want(t, exit.OK, "Your list of refunds has none in the period: it covers ")
}

// TestNothingCompared: what compares nothing is no success.
func TestNothingCompared(t *testing.T) {
	m := newClosedMonth(t)
	list := m.list(t, m.lines...)
	before := m.lastOf.AddDate(0, 0, -34)
	period := []string{"--from", before.Format(time.RFC3339), "--to", before.AddDate(0, 0, 2).Format(time.RFC3339)}
	tool(t, m.env, append([]string{"reconcile", "match", "--list", list}, period...)...).want(t, exit.Failed, "nothing was compared")
	out := filepath.Join(m.dir, "empty.html")
	tool(t, m.env, append([]string{"reconcile", "report", "--quiet", "--out", out}, period...)...).want(t, exit.Failed, "nothing was compared")
	holds(t, readText(t, out), "Nothing was compared in this period")
	lacks(t, readText(t, out), "tie out")
	empty := m.file(t, "empty.csv", "transaction_id,amount,currency\n")
	tool(t, m.env, append([]string{"reconcile", "match", "--list", empty}, period...)...).want(t, exit.Failed, "0 lines read from empty.csv", "nothing was compared")
	tool(t, m.env, "reconcile", "match").want(t, exit.Failed, "your list has no times")
	tool(t, m.env, "reconcile", "match", "--last", "42d").want(t, exit.Negative, "0 of 273 rows tie out", "most rows do not tie out")
	tool(t, m.env, "reconcile", "match", "--list", list).want(t, exit.OK, "273 of 273")
	refunds := m.file(t, "refunds.csv", "refund_id,amount,currency\n")
	tool(t, m.env, "reconcile", "match", "--refund-list", refunds).want(t, exit.OK, "--refund-list: 0 lines read from refunds.csv", "273 of 273")

	newer := m.list(t, append(m.lines, "new,1.00,EUR,"+time.Now().Add(time.Hour).Format(time.RFC3339))...)
	r := tool(t, m.env, "reconcile", "match", "--list", newer)
	r.want(t, exit.OK, "lines that are newer than the copy and were not compared: 1")
	lacks(t, r.err, "other periods")
}

func TestMatchWrongUse(t *testing.T) {
	m := newClosedMonth(t)
	list := m.list(t, m.lines...)
	for _, test := range []struct {
		name string
		env  map[string]string
		args []string
		want string
	}{
		{"a database that is not there", with(m.env, "CARDGATEWAY_DB", filepath.Join(m.dir, "none.db")), nil, "there is no file"},
		{"no such column", m.env, []string{"--list", list, "--columns", "transaction_id=Ref"}, `no column "Ref"`},
		{"no mapping", m.env, []string{"--list", list, "--columns", "Ref"}, `"Ref" has no =; write it as transaction_id=Ref`},
		{"two lists", m.env, []string{"--list", list, "--list-query", "payments"}, "either a file or a query"},
		{"known is something else", m.env, []string{"--known", list}, "must name the columns class, id and reason"},
		{"a report without a name", m.env, []string{"--out", "x.txt"}, "must end with a file name and .html"},
		{"another gateway", with(m.env, "CARDGATEWAY_BASE_URL", "https://other.example/"), []string{"--list", list},
			"but base-url is https://other.example: use another database"},
		{"another app", m.env, []string{"--list", list, "--app-id", "99"}, "but app-id is 99: use another database"},
		{"another zone", m.env, []string{"--list", list, "--zone", "Europe/Berlin"}, "but zone is Europe/Berlin: restore the setting"},
		{"rows below zero", m.env, []string{"--rows", "-1"}, "--rows"},
	} {
		t.Run(test.name, func(t *testing.T) {
			command := "match"
			if strings.Contains(strings.Join(test.args, " "), "--out") || strings.Contains(strings.Join(test.args, " "), "--rows") {
				command = "report"
			}
			tool(t, test.env, append([]string{"reconcile", command}, test.args...)...).want(t, exit.Failed, test.want)
		})
	}
}
