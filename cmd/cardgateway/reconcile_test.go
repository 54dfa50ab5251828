package main

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cardgateway/cardgateway-go/sandbox"
	"github.com/shopspring/decimal"

	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/exit"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/match"
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
	path := filepath.Join(m.dir, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestMatch(t *testing.T) {
	m := newClosedMonth(t)
	tool(t, m.env, "reconcile", "match").want(t, exit.NoAnswer, "there is no list of your payments to compare with: give --list")
	r := tool(t, m.env, "reconcile", "match", "--list", m.list(t, m.lines...))
	r.want(t, exit.OK, "273 lines read from paid.csv, 0 not readable", "273 of 273 rows tie out", "payments  EUR", "0.00")
	if want := "class,kind,id,reason,value,"; !strings.HasPrefix(r.out, want) || strings.Count(r.out, "\n") != 1 {
		t.Errorf("got %q, want the titles alone", r.out)
	}
	tool(t, m.env, "reconcile", "match").want(t, exit.OK, "273 of 273") // the list is kept

	middle := len(m.lines) / 2
	changed := append(append([]string{}, m.lines[:middle]...), m.lines[middle+1:]...)
	id, _, _ := strings.Cut(m.lines[middle], ",")
	changed[10] = strings.Replace(changed[10], ",", ",1", 1)
	r = tool(t, m.env, "reconcile", "match", "--format", "jsonl", "--list", m.list(t, changed...))
	r.want(t, exit.No, "271 of 273 rows tie out", "missing_here", "differences: 2")
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

	known := m.file(t, "known.csv", "class,id,reason\nmissing_here,"+id+",paid by invoice\namount,nothing,gone\n")
	r = tool(t, m.env, "reconcile", "match", "--sum", "--known", known)
	r.want(t, exit.No, "differences: 1", "marks that fit no difference: 1, the first in line 3")
	if r.out != "" {
		t.Errorf("got %q with --sum", r.out)
	}
}

// TestMatchPeriod compares lists that cover only a part of what the gateway has.
func TestMatchPeriod(t *testing.T) {
	m := newClosedMonth(t)
	part := m.list(t, m.lines[100:200]...)
	tool(t, m.env, "reconcile", "match", "--list", part).want(t, exit.OK, "100 of 100 rows tie out")
	withoutTimes := "transaction_id,amount,currency\n"
	for _, line := range m.lines[100:200] {
		withoutTimes += line[:strings.LastIndex(line, ",")] + "\n"
	}
	tool(t, m.env, "reconcile", "match", "--list", m.file(t, "plain.csv", withoutTimes)).want(t, exit.OK, "100 of 100 rows tie out")
	from := m.lastOf.AddDate(0, 0, -30)
	r := tool(t, m.env, "reconcile", "match", "--list", part, "--from", from.Format(time.RFC3339), "--to", m.lastOf.Format(time.RFC3339))
	r.want(t, exit.No, "Is the list whole?", "missing_here")
	day := func(n int) string { return from.AddDate(0, 0, n).Format(time.DateOnly) }
	r = tool(t, m.env, "reconcile", "match", "--list", m.list(t, m.lines...), "--from", day(5), "--to", day(12))
	r.want(t, exit.OK, "lines of other periods were not compared")
	tool(t, m.env, "reconcile", "match", "--from", "2020-01-01", "--to", "2020-02-01").want(t, exit.NoAnswer, "has nothing of 2020-01-01", "reconcile sync")
	tool(t, m.env, "reconcile", "match", "--from", from.AddDate(0, -6, 0).Format(time.DateOnly)).want(t, exit.OK, "begins at", "nothing before is compared")
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
		{"no database", with(m.env, "CARDGATEWAY_DB", ""), nil, "db is missing: set --db"},
		{"a database that is not there", with(m.env, "CARDGATEWAY_DB", filepath.Join(m.dir, "none.db")), nil, "there is no file"},
		{"no such list", m.env, []string{"--list", filepath.Join(m.dir, "none.csv")}, "none.csv"},
		{"no such column", m.env, []string{"--list", list, "--columns", "transaction_id=Ref"}, `no column "Ref"`},
		{"no mapping", m.env, []string{"--list", list, "--columns", "Ref"}, "is not OURS=YOURS"},
		{"columns of no list", m.env, []string{"--columns", "amount=Total"}, "--columns needs --list"},
		{"two lists", m.env, []string{"--list", list, "--list-query", "payments"}, "either a file or a query"},
		{"a query of nothing", m.env, []string{"--list-query", "payments"}, "need --list-dsn"},
		{"a database of no query", m.env, []string{"--list-dsn", "shop.db"}, "needs --list-query"},
		{"a password as a flag", m.env, []string{"--list-dsn", "postgres://u:p@h/d", "--list-query", "payments"}, "has a password in it"},
		{"grace", m.env, []string{"--list", list, "--grace", "soon"}, `--grace: "soon" is no duration`},
		{"known is not there", m.env, []string{"--known", filepath.Join(m.dir, "none")}, "--known"},
		{"known is something else", m.env, []string{"--known", list}, "must name the columns class, id and reason"},
		{"a class that there is not", m.env, []string{"--known", m.file(t, "bad.csv", "class,id,reason\nlost,a,b\n")}, `line 2: there is no class "lost"`},
		{"a value that is none", m.env, []string{"--known", m.file(t, "bad2.csv", "class,id,reason,value\namount,a,b,1e9\n")}, `line 2: the value "1e9" is no amount`},
		{"two periods", m.env, []string{"--list", list, "--day", "today", "--last", "7d"}, "more than one time range"},
		{"a report without a name", m.env, []string{"--out", "x.txt"}, "does not end with a name and .html"},
		{"a report nowhere", m.env, []string{"--list", list, "--out", filepath.Join(m.dir, "no", "x.html")}, "cannot be written"},
		{"rows below zero", m.env, []string{"--rows", "-1"}, "--rows"},
	} {
		t.Run(test.name, func(t *testing.T) {
			command := "match"
			if strings.Contains(strings.Join(test.args, " "), "--out") || strings.Contains(strings.Join(test.args, " "), "--rows") {
				command = "report"
			}
			tool(t, test.env, append([]string{"reconcile", command}, test.args...)...).want(t, exit.NoAnswer, test.want)
		})
	}
}

func TestReport(t *testing.T) {
	m := newClosedMonth(t)
	out := filepath.Join(m.dir, "month.html")
	from := m.lastOf.AddDate(0, 0, -30)
	period := []string{"--from", from.Format(time.RFC3339), "--to", m.lastOf.Format(time.RFC3339)}
	report := func(code int, args ...string) (page string) {
		t.Helper()
		r := tool(t, m.env, append([]string{"reconcile", "report", "--out", out}, args...)...)
		r.want(t, code)
		if r.out != out+"\n" {
			t.Errorf("got %q, want the path of the page", r.out)
		}
		text, err := os.ReadFile(out)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	holds := func(page string, words ...string) {
		t.Helper()
		for _, w := range words {
			if !strings.Contains(page, w) {
				t.Errorf("the page does not say %q", w)
			}
		}
	}
	page := report(exit.OK, append(period, "--list", m.list(t, m.lines...))...)
	holds(page, "273 of 273 rows tie out", "Signature", "SHA-256", "paid.csv, 273 lines", "Value a day", "acceptance", "Left over")

	// An id that would be a formula, and one that would be markup.
	lines := append([]string{`=cmd|'/c calc'!A0,1.00,EUR,` + from.AddDate(0, 0, 15).Format(time.DateTime), `<script>alert(1)</script>,2.00,EUR,` + from.AddDate(0, 0, 15).Format(time.DateTime)}, m.lines...)
	page = report(exit.No, append(period, "--list", m.list(t, lines...), "--rows", "1")...)
	holds(page, "2 differences", "Not shown: 1 row of 1.00 EUR", "month.csv", "month.json", "&lt;script&gt;")
	if strings.Contains(page, "<script") {
		t.Error("the page has a script")
	}
	text, err := os.ReadFile(filepath.Join(m.dir, "month.csv"))
	if err != nil || !strings.Contains(string(text), "\nmissing_there,payment,'=cmd|'/c calc'!A0,,1.00,EUR,") {
		t.Errorf("got %s, %v", text, err)
	}
	text, err = os.ReadFile(filepath.Join(m.dir, "month.json"))
	var parsed reportJSON
	if err == nil {
		err = json.Unmarshal(text, &parsed)
	}
	if err != nil || len(parsed.Differences) != 2 || parsed.Summary.TiedOut != 273 || parsed.Summary.Compared != 275 || parsed.Summary.Lists[0].Rows != 275 {
		t.Errorf("got %s, %v", text, err)
	}
	// The CSV marks what may stay, when it is given reasons.
	marked := strings.NewReplacer("!A0,,", "!A0,typed by hand,", "</script>,,", "</script>,a test,").Replace(readText(t, filepath.Join(m.dir, "month.csv")))
	page = report(exit.OK, append(period, "--known", m.file(t, "known.csv", marked))...)
	holds(page, "273 of 275 rows tie out", "2 known differences", "Known: typed by hand")

	before := from.AddDate(0, 0, -4)
	page = report(exit.OK, "--from", before.Format(time.RFC3339), "--to", before.AddDate(0, 0, 2).Format(time.RFC3339))
	holds(page, "Nothing to compare in this range", "The first payment after is of "+from.In(time.FixedZone("", 8*3600)).Format("2 January 2006"))

	err = filepath.WalkDir(m.dir, func(path string, e fs.DirEntry, err error) error {
		if strings.HasSuffix(path, ".tmp") {
			t.Errorf("%s is left", path)
		}
		if info, err := e.Info(); err == nil && strings.HasPrefix(e.Name(), "month.") && info.Mode().Perm() != 0o600 {
			t.Errorf("%s has the mode %v", path, info.Mode())
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// reportJSON is what the tests read of the JSON file beside a report.
type reportJSON struct {
	Differences []map[string]any `json:"differences"`
	Summary     struct {
		Compared int `json:"compared"`
		TiedOut  int `json:"tiedOut"`
		Classes  []struct {
			Class match.Class `json:"class"`
			Rows  int         `json:"rows"`
		} `json:"classes"`
		Bridges []struct {
			Kind     match.Kind      `json:"kind"`
			Currency string          `json:"currency"`
			LeftOver decimal.Decimal `json:"leftOver"`
		} `json:"bridges"`
		Lists []struct {
			Rows int `json:"rows"`
		} `json:"lists"`
	} `json:"summary"`
}

func readText(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestReportIsInterrupted leaves the report that was there, and no half of a new one.
func TestReportIsInterrupted(t *testing.T) {
	m := newClosedMonth(t)
	out := filepath.Join(m.dir, "month.html")
	tool(t, m.env, "reconcile", "report", "--out", out, "--list", m.list(t, m.lines...)).want(t, exit.OK)
	old := readText(t, out)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	toolWith(t, ctx, strings.NewReader(""), m.env, "reconcile", "report", "--out", out).want(t, exit.Interrupted, "interrupted")
	if left, _ := filepath.Glob(filepath.Join(m.dir, "*.tmp")); readText(t, out) != old || len(left) > 0 {
		t.Errorf("the report has changed, or there is more: %q", left)
	}
}

func TestRun(t *testing.T) {
	m := newClosedMonth(t)
	db, out := filepath.Join(m.dir, "other.db"), filepath.Join(m.dir, "run.html")
	list := m.list(t, m.lines...)
	env := with(m.env, "CARDGATEWAY_DB", db)
	tool(t, env, "reconcile", "run", "--list", list).want(t, exit.NoAnswer, "there is no file")
	r := tool(t, env, "reconcile", "run", "--since", m.lastOf.AddDate(0, 0, -40).Format(time.DateOnly), "--list", list, "--out", out)
	r.want(t, exit.OK, "300 orders, 0 refunds", "273 of 273 rows tie out")
	if r.out != out+"\n" {
		t.Errorf("got %q, want the path of the page alone", r.out)
	}
	prom := filepath.Join(m.dir, "run.prom")
	r = tool(t, env, "reconcile", "run", "--quiet", "--metrics-file", prom, "--list", m.list(t, m.lines[1:]...), "--from", m.lastOf.AddDate(0, 0, -40).Format(time.DateOnly), "--out", out)
	r.want(t, exit.No, "differences: 1")
	if strings.Count(r.err, "\n") != 1 {
		t.Errorf("got %q with --quiet, want one line", r.err)
	}
	wantGauges(t, prom, map[string]float64{
		`cardgateway_reconcile_compared`: 273, `cardgateway_reconcile_tied_out`: 272, `cardgateway_reconcile_known`: 0,
		`cardgateway_reconcile_differences{class="missing_here"}`: 1, `cardgateway_reconcile_differences{class="amount"}`: 0,
		`cardgateway_reconcile_copy_rows{what="late"}`: 0, `cardgateway_reconcile_copy_open_orders`: 6,
		`cardgateway_last_run_exit_code{command="reconcile run"}`: exit.No,
	})
	tool(t, with(env, "CARDGATEWAY_BASE_URL", "http://127.0.0.1:1"), "reconcile", "run", "--out", out).want(t, exit.NoAnswer)
}

// demonstrate runs without any setting, and removes what that leaves.
func demonstrate(t *testing.T, args ...string) result {
	t.Helper()
	r := tool(t, nil, append([]string{"reconcile", "run"}, args...)...)
	r.want(t, exit.OK)
	_, dir, ok := strings.Cut(strings.TrimSpace(r.err), "the database and the lists are in ")
	if !ok {
		t.Fatalf("got %q, want where the lists are", r.err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return r
}

// TestDemonstration runs without any setting: every class is planted, and found.
func TestDemonstration(t *testing.T) {
	t.Parallel()
	r := demonstrate(t)
	r.want(t, exit.OK, "this is a demonstration with a sandbox", "no real money", "12,004 orders")
	page := readText(t, strings.TrimSpace(r.out))
	if !strings.Contains(page, "Demonstration: a sandbox, no real money") {
		t.Error("the page does not say that it is a demonstration")
	}
	var parsed reportJSON
	if err := json.Unmarshal([]byte(readText(t, strings.TrimSuffix(strings.TrimSpace(r.out), "html")+"json")), &parsed); err != nil {
		t.Fatal(err)
	}
	found := map[string]int{}
	for _, c := range parsed.Summary.Classes {
		found[string(c.Class)] += c.Rows
	}
	for _, class := range []string{"unreadable", "paid_twice", "two_successes", "missing_here", "missing_there", "currency", "amount", "state",
		"refund_without_order", "refund_above_payment", "refund_missing_here", "refund_missing_there", "timing"} {
		if found[class] == 0 {
			t.Errorf("%s: none in %v", class, found)
		}
	}
	for _, b := range parsed.Summary.Bridges {
		if !b.LeftOver.IsZero() {
			t.Errorf("%s %s: %v is left over", b.Kind, b.Currency, b.LeftOver)
		}
	}
	currencies := fmt.Sprint(len(parsed.Summary.Bridges))
	if currencies != "6" {
		t.Errorf("got %s bridges, want payments and refunds in three currencies", currencies)
	}
}
