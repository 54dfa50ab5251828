package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/exit"
)

// inConfig moves the settings of a closed month to a configuration file, with sections for lists.
func (m *closedMonth) inConfig(t *testing.T, sections string) (env map[string]string) {
	t.Helper()
	text := fmt.Sprintf("base-url = %q\napp-id = 7\nmerchant-id = 'm1'\nsecret = %q\ntest-payments = 'true'\ndb = %q\n%s",
		m.env["CARDGATEWAY_BASE_URL"], secretKey, m.env["CARDGATEWAY_DB"], sections)
	return map[string]string{"CARDGATEWAY_CONFIG": m.file(t, "config.toml", text)}
}

// TestSection reads the flags of a list from a section of the configuration file; those on the command line come first.
func TestSection(t *testing.T) {
	m := newClosedMonth(t)
	german := "Ref;Betrag;Währung;Status;Zeit\n"
	for _, line := range m.lines {
		cells := strings.Split(line, ",")
		at, err := time.Parse(time.RFC3339, cells[3])
		if err != nil {
			t.Fatal(err)
		}
		german += strings.Join([]string{cells[0], strings.Replace(cells[1], ".", ",", 1), cells[2], "bezahlt", at.UTC().Format("02.01.2006 15:04:05")}, ";") + "\n"
	}
	path := m.file(t, "german.csv", german)
	known := m.file(t, "known.csv", "class,id,reason\namount,x,y\n")
	env := m.inConfig(t, fmt.Sprintf(`[reconcile.shop]
columns = "transaction_id=Ref,amount=Betrag,currency=Währung,at=Zeit"
dates = "DD.MM.YYYY hh:mm:ss"
states = "bezahlt=approved"
list-zone = "UTC"
amounts = "1.234,50"
known = %q
grace = 0

[reconcile.query]
list-dsn = "shop.db"
list-query = "payments"

[reconcile.wrong]
lists = "x"

[reconcile.type]
columns = ["a=b"]

[reconcile.secret]
list-dsn = "postgres://u:geheim@127.0.0.1:1/d"
`, known))
	match := func(args ...string) result { return tool(t, env, append([]string{"reconcile", "match"}, args...)...) }
	r := match("--as", "shop", "--list", path)
	r.want(t, exit.OK, "273 lines read from german.csv, 0 not readable",
		"times without a zone in UTC, dates as DD.MM.YYYY hh:mm:ss, bezahlt = approved (273 lines)",
		"273 of 273 rows tie out", "entries that match no difference: 1")
	match("--as", "shop").want(t, exit.OK, "273 of 273") // the list that was read last
	match("--as", "shop", "--list", path, "--states", "bezahlt=declined").want(t, exit.Negative, "bezahlt = declined", "0 of 273 rows tie out")
	match("--as", "query", "--list", m.list(t, m.lines...)).want(t, exit.OK, "273 of 273") // in place of the query
	for _, test := range []struct {
		name string
		args []string
		want string
	}{
		{"without the section", []string{"--list", path}, `Name the column with --columns`},
		{"words are not said", []string{"--as", "shop", "--list", path, "--states", "x=approved"}, "state is not a state; say what your word means with --states"},
		{"no such section", []string{"--as", "none"}, "there is no section [reconcile.none]; there are: query, secret, shop, type, wrong"},
		{"no such setting", []string{"--as", "wrong"},
			`section reconcile.wrong: there is no setting "lists"; there are amounts, columns, dates, grace`},
		{"not a string", []string{"--as", "type"}, `columns must be a string: columns = "value", as in the flag --columns`},
		{"a password", []string{"--list-dsn", "postgres://u:geheim@127.0.0.1:1/d", "--list-query", "x"}, "contains a password"},
		{"a password in the file", []string{"--as", "secret", "--list-query", "x"}, "cannot be read from the postgres database 127.0.0.1:1/d"},
		{"the query of the section", []string{"--as", "query"}, "shop.db"},
		{"a word twice", []string{"--list", path, "--states", "Bezahlt=approved,bezahlt=declined"}, `--states: "bezahlt" is there twice`},
		{"a column twice", []string{"--list", path, "--columns", "amount=a,amount=b"}, `--columns: "amount" is there twice`},
		{"no column", []string{"--list", path, "--columns", "=Ref"}, `--columns: there is no column "" to map`},
		{"no way to write dates", []string{"--list", path, "--dates", "d.m.y"}, "--dates"},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := match(test.args...)
			r.want(t, exit.Failed, test.want)
			lacks(t, r.err, "geheim")
		})
	}
	t.Run("not a table", func(t *testing.T) {
		env := m.inConfig(t, "reconcile = 'shop'\n")
		tool(t, env, "check").want(t, exit.Failed, "a section is a table: [reconcile.NAME]")
	})
	t.Run("no file", func(t *testing.T) {
		tool(t, nil, "reconcile", "match", "--as", "shop").
			want(t, exit.Failed, "--as shop: there is no configuration file ", "set its path with --config or CARDGATEWAY_CONFIG")
	})
	t.Run("a file of the section is not written over", func(t *testing.T) {
		env := m.inConfig(t, fmt.Sprintf("[reconcile.shop]\nknown = %q\n", filepath.Join(m.dir, "october.csv")))
		m.file(t, "october.csv", "class,id,reason\n")
		tool(t, env, "reconcile", "report", "--as", "shop", "--force", "--out", filepath.Join(m.dir, "october.html")).want(t, exit.Failed, "the same file as --known")
	})
}

// TestMonthsInOrder says when months are not compared one after the other, and does not keep the month of another list.
func TestMonthsInOrder(t *testing.T) {
	c := newClosing(t, closingRows)
	month := func(name string, flags ...string) result {
		return toolAt(t, closingDate(12, 5, 1), c.env, append([]string{"reconcile", "report", "--force", "--out", filepath.Join(c.dir, name+".html"),
			"--as", "shop", "--month", name}, flags...)...)
	}
	lists := map[time.Month][]string{}
	for _, m := range []time.Month{9, 10, 11} {
		lists[m] = c.export(m)
	}
	lacks(t, month("2026-09", lists[9]...).err, "compared before", "last month")
	notes := func(name string, flags ...string) string {
		t.Helper()
		r := month(name, flags...)
		if r.code == exit.Failed {
			t.Fatal(r.err)
		}
		return r.err
	}
	holds(t, notes("2026-11", lists[11]...), "The last month that was compared before this one is September 2026")
	holds(t, notes("2026-10", lists[10]...), "November 2026 was compared before this month: compare it again", "open at the end of this month: 5")
	got := notes("2026-11", lists[11]...)
	holds(t, got, "open from earlier months: 1 settled, 4 still open, 1 difference now")
	lacks(t, got, "compared before")
	got = notes("2026-12", lists[11][:2]...)
	holds(t, got, "This month is not over: it is compared up to 2026-12-0", "Your list of refunds is the one that was read at 2")
	lacks(t, got, "open at the end")
	// The list of November is the one that was read last: September is not replaced by what it says.
	got = notes("2026-09")
	holds(t, got, "Your list has no payment in the period")
	lacks(t, got, "open at the end")
	lacks(t, notes("2026-10", lists[10][2:]...), "open at the end of this month") // its refunds are kept
	// A month with nothing on either side is kept, too.
	c.exec(`UPDATE cardgateway_copy SET since = $1`, closingDate(8, 1, 0).UnixMicro())
	month("2026-08", "--list", writeText(t, c.dir, "august.csv", closingTitles)).want(t, exit.Failed, "0 lines read from august.csv", "nothing was compared")
	var kept int
	err := c.books.QueryRowContext(t.Context(), `SELECT COUNT(*) FROM cardgateway_months WHERE kind = 'payment' AND start = $1`, closingDate(8, 1, 0).UnixMicro()).Scan(&kept)
	if err != nil || kept != 1 {
		t.Errorf("August was kept %d times, %v", kept, err)
	}
}

// TestTryList: what try prints is what --as takes, and what cannot be read is named with the exit code.
func TestTryList(t *testing.T) {
	t.Parallel()
	m := &closedMonth{dir: t.TempDir()}
	path := m.file(t, "list.csv", "Umsatz;;\n\nReferenz;Betrag;Währung;Status;Filiale\nt-1;1.234,50 €;EUR;bezahlt;3\nt-2;7,00;EUR;bezahlt;3\nSumme;1.241,50;;;\n")
	tool(t, nil, "reconcile", "try", path).want(t, exit.Negative)
	r := tool(t, nil, "reconcile", "try", path, "--states", "bezahlt=approved")
	r.want(t, exit.OK)
	holds(t, r.out, "A list of payments: 2 lines can be read, and 1 of totals or titles", `transaction_id from "Referenz"`, `not read: "Filiale"`, "1234.50",
		"[reconcile.shop]\n", `amounts = "1.234,50"`, `columns = "amount=Betrag,currency=Währung,state=Status,transaction_id=Referenz"`, `states = "bezahlt=approved"`)
	unsure := m.file(t, "unsure.csv", "Ref;Betrag, brutto;Currency;Date;Created at;Paid at\nt-1;1.000;EUR;01/02/2026;2026-10-02;2026-10-02\n")
	r = tool(t, nil, "reconcile", "try", unsure, "--columns", `amount=Betrag\, brutto`)
	r.want(t, exit.Negative)
	holds(t, r.out, `amounts = "?"`, `columns = "amount=Betrag\\, brutto,at=?,currency=Currency,transaction_id=Ref"`)
	r = tool(t, nil, "reconcile", "try", unsure, "--columns", `amount=Betrag\, brutto,at=`)
	holds(t, r.out, `columns = "amount=Betrag\\, brutto,at=,currency=Currency,transaction_id=Ref"`)
	r = tool(t, nil, "reconcile", "try", m.file(t, "utc.csv", "Ref,Amount,Currency,Date UTC\nt-1,5.00,EUR,2026-10-02 09:00\n"))
	r.want(t, exit.OK)
	holds(t, r.out, `list-zone = "UTC"`) // of the title
	tool(t, nil, "reconcile", "try", m.file(t, "a.csv", "%PDF")).want(t, exit.Failed, "is a PDF")
}
