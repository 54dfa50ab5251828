package books

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"runtime"
	"sort"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/shopspring/decimal"

	"github.com/cardgateway/cardgateway-go/internal/test/mysqlserver"
)

var timeUTC = time.UTC

// collect reads a stream to its end.
func collect[T any](t testing.TB, rows iter.Seq2[T, error]) (all []T) {
	t.Helper()
	for row, err := range rows {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, row)
	}
	return all
}

// csvList writes a list to a file.
func csvList(t testing.TB, text string) ListSource {
	t.Helper()
	path := filepath.Join(t.TempDir(), "list.csv")
	succeeds(t, os.WriteFile(path, []byte(text), 0o600))
	return ListSource{Path: path}
}

// read returns the rows and the lines of Entries; those with one id by time, or by line.
func read(t testing.TB, b *Books, kind Kind) (rows []Row, lines []Line) {
	t.Helper()
	last := ""
	for _, e := range collect(t, b.Entries(t.Context(), kind, Month{})) {
		if e.ID() < last {
			t.Errorf("%q comes after %q", e.ID(), last)
		}
		if last = e.ID(); e.IsLine() {
			lines = append(lines, e.Line)
		} else {
			rows = append(rows, e.Row)
		}
	}
	sort.SliceStable(rows, func(i, j int) bool { return rows[i].ID == rows[j].ID && rows[i].At.Before(rows[j].At) })
	sort.SliceStable(lines, func(i, j int) bool { return lines[i].ID == lines[j].ID && lines[i].Line < lines[j].Line })
	return rows, lines
}

// listed returns the lines of a list.
func listed(t testing.TB, b *Books, kind Kind) []Line {
	t.Helper()
	_, lines := read(t, b, kind)
	return lines
}

var sameDecimal = cmp.Comparer(func(a, b decimal.Decimal) bool { return a.Equal(b) })

// importOne replaces one list.
func importOne(ctx context.Context, b *Books, kind Kind, s ListSource) (ListInfo, error) {
	s.Kind, s.ColumnsFlag = kind, "--columns"
	infos, err := b.Import(ctx, s)
	if err != nil {
		return ListInfo{}, err
	}
	return infos[0], nil
}

// mustImport replaces one list, which can be read.
func mustImport(t testing.TB, b *Books, kind Kind, s ListSource) {
	t.Helper()
	if _, err := importOne(t.Context(), b, kind, s); err != nil {
		t.Fatal(err)
	}
}

// TestImport reads lists with lines that are right and such that are not, and replaces them.
func TestImport(t *testing.T) {
	onEach(t, func(t *testing.T, db string) {
		b := open(t, db)
		mustImport(t, b, Payment, csvList(t, "transaction_id,amount,currency\nold,1,EUR\nbad,x,EUR\n"))
		text := "\xef\xbb\xbf\"Transaction ID\";AMOUNT;Currency;Status;Order-ID;Date;Note;Card\r\n" +
			"t-2;12.50;eur;Paid;o-1;2026-11-22 08:30:00;grün;4300000000000000\r\n" +
			"T-1;0.500;KWD;declined;;;\"a;b\";1600000000000002994\r\n" +
			"t-3;12,50;EUR;paid;;;;\r\n" +
			";1;EUR;paid;;;;\r\n" +
			"t-4;1;EURO;paid;;;;\r\n" +
			"t-5;1;EUR;lost;;;;\r\n" +
			"t-6;1;EUR;paid;;22.11.2026;;\r\n" +
			"t-7;1;EUR\r\n" +
			"t-8;1;EUR;;;;;;x\r\n" +
			"\"t-9;1;EUR;;;;;\r\n" +
			"t-\xff;1;EUR;paid;;;;\r\n" +
			"t-2;3;EUR;paid;;;\xff\x00;\r\n" +
			"t-10;1;EUR;;;;;\r\n"
		source := csvList(t, text)
		info, err := importOne(t.Context(), b, Payment, source)
		if err != nil {
			t.Fatal(err)
		}
		hash := sha256.Sum256([]byte(text))
		want := ListInfo{Name: "list.csv", SHA256: hex.EncodeToString(hash[:]), Rows: 3, Unreadable: 10,
			First:  "line 4: amount is not an amount such as 1234.50; say how your list writes that with --amounts, such as --amounts 1.234,50 or --amounts 1,234.50",
			ReadAt: info.ReadAt,
			As: ReadAs{Columns: []ColumnTitle{{"transaction_id", "Transaction ID"}, {"amount", "AMOUNT"}, {"currency", "Currency"}, {"state", "Status"},
				{"order", "Order-ID"}, {"at", "Date"}}, States: []StateWord{{"declined", "declined", 1}, {"paid", "approved", 2}}}}
		if diff := cmp.Diff(want, info); diff != "" {
			t.Errorf("info (-want +got):\n%s", diff)
		}
		wantRows := []Line{
			{Line: 3, ID: "T-1", Amount: decimal.RequireFromString("0.5"), Currency: "KWD", State: "declined"},
			{Line: 2, ID: "t-2", Amount: decimal.RequireFromString("12.5"), Currency: "EUR", State: "approved", Order: "o-1",
				At: time.Date(2026, 11, 22, 8, 30, 0, 0, time.UTC), Until: time.Date(2026, 11, 22, 8, 30, 0, 0, time.UTC)},
			{Line: 13, ID: "t-2", Amount: decimal.RequireFromString("3"), Currency: "EUR", State: "approved"},
		}
		if diff := cmp.Diff(wantRows, listed(t, b, Payment), sameDecimal); diff != "" {
			t.Errorf("rows (-want +got):\n%s", diff)
		}
		var lines []string
		for _, u := range collect(t, b.Unreadables(t.Context(), Payment)) {
			why, _, _ := strings.Cut(u.Why, ";")
			lines = append(lines, fmt.Sprintf("%d %q %s: %s", u.Line, u.ID, u.Column, why))
		}
		if n := len(collect(t, b.Unreadables(t.Context(), Refund))); n > 0 {
			t.Errorf("got %d unreadable lines of refunds, want none", n)
		}
		wantLines := []string{
			`4 "t-3" amount: is not an amount such as 1234.50`, `5 "" transaction_id: is empty`, `6 "t-4" currency: is not a currency code of three letters, such as EUR`,
			`7 "t-5" state: is not a state`, `8 "t-6" at: is not a time`, `9 "t-7" state: is left out`,
			`10 "t-8" : has 9 cells, but the titles are 8`, `11 "" : has a quotation mark that is not closed`,
			`12 "" transaction_id: has a character that cannot be read`, `14 "t-10" state: is empty`,
		}
		if diff := cmp.Diff(wantLines, lines); diff != "" {
			t.Errorf("unreadable (-want +got):\n%s", diff)
		}

		refunds := csvList(t, "refund id|Amount|transactionId|currency\nr-2|-1.5|t-2|EUR\nr-1|2|t-2|EUR\n")
		mustImport(t, b, Refund, refunds)
		wantRefunds := []Line{
			{Line: 3, ID: "r-1", State: "approved", Amount: decimal.NewFromInt(2), Currency: "EUR"},
			{Line: 2, ID: "r-2", State: "approved", Amount: decimal.RequireFromString("1.5"), Currency: "EUR"},
		}
		if diff := cmp.Diff(wantRefunds, listed(t, b, Refund), sameDecimal); diff != "" {
			t.Errorf("refunds (-want +got):\n%s", diff)
		}
		whole, err := b.Info(t.Context())
		if err != nil || whole.PaymentList.Rows != 3 || whole.RefundList.Rows != 2 || whole.PaymentList.ReadAt.IsZero() {
			t.Errorf("got %+v, %v", whole, err)
		}
	})
}

// TestImportBoth: if one list cannot be read, neither is replaced.
func TestImportBoth(t *testing.T) {
	onEach(t, func(t *testing.T, db string) {
		b := open(t, db)
		source := func(kind Kind, text string) ListSource {
			s := csvList(t, text)
			s.Kind = kind
			return s
		}
		names := func() string {
			return fmt.Sprint(listed(t, b, Payment)[0].ID, " ", listed(t, b, Refund)[0].ID)
		}
		payments, refunds := source(Payment, "transaction_id,amount,currency\nold,1,EUR\n"), source(Refund, "refund_id,amount,currency\nr-old,1,EUR\n")
		infos, err := b.Import(t.Context(), payments, refunds)
		if err != nil || len(infos) != 2 || infos[1].Rows != 1 || names() != "old r-old" {
			t.Fatalf("got %+v, %v, %s", infos, err, names())
		}
		payments = source(Payment, "transaction_id,amount,currency\nnew,1,EUR\n")
		for _, tt := range []struct {
			name, refunds, want string
			found               bool // by CheckLists
		}{
			{"no column", "Erstattung,amount,currency\nr-new,1,EUR\n", "--refund-list: the list list.csv has no column refund_id; it has \"Erstattung\", \"amount\", " +
				"\"currency\". Name the column with --refund-columns refund_id=NAME", true},
			{"no line", "refund_id,amount,currency,at\nr-new,1,EUR,soon\n", "--refund-list: no line of the list list.csv can be read; line 2: at is not a time; write " +
				"2026-11-22 08:30:00 or 2026-11-22T08:30:00Z, say how your list writes dates with --dates, such as --dates DD.MM.YYYY, or ignore the column with " +
				"--refund-columns at=", false},
		} {
			t.Run(tt.name, func(t *testing.T) {
				refunds := source(Refund, tt.refunds)
				refunds.Flag, refunds.ColumnsFlag = "--refund-list", "--refund-columns"
				if err := CheckLists(t.Context(), payments, refunds); (err != nil) != tt.found || tt.found && err.Error() != tt.want {
					t.Errorf("checked: got %v, want %s", err, tt.want)
				}
				_, err := b.Import(t.Context(), payments, refunds)
				if _, refused := errors.AsType[*Refused](err); !refused || err.Error() != tt.want {
					t.Errorf("got %v, want %s", err, tt.want)
				}
				if names() != "old r-old" {
					t.Errorf("the lists are now those with %s", names())
				}
			})
		}
	})
}

func TestImportRefused(t *testing.T) {
	b := open(t, filepath.Join(t.TempDir(), "books.db"))
	mustImport(t, b, Payment, csvList(t, "transaction_id,amount,currency\nold,1,EUR\n"))
	for _, test := range []struct {
		name   string
		text   string
		change func(*ListSource)
		want   string
	}{
		{"no such file", "", func(s *ListSource) { s.Path += "x" }, "cannot be opened"},
		{"no amount", "transaction_id,total,currency\n", nil,
			`has no column amount; it has "transaction_id", "total", "currency". Name the column with --columns amount=NAME`},
		{"no column at all", "Kennung,Wert\n", nil, `has no column transaction_id, amount, currency; it has "Kennung", "Wert". ` +
			`Name the column with --columns transaction_id=NAME,amount=NAME,currency=NAME, or say the currency of all lines with `},
		{"no such mapping", "transaction_id,amount,currency\n", func(s *ListSource) { s.Columns = map[string]string{"sum": "total"} },
			`--columns: there is no column "sum"`},
		{"mapped to nothing", "transaction_id,amount,currency\n", func(s *ListSource) { s.Columns = map[string]string{"amount": "total"} }, `has no column "total"`},
		{"mapped twice", "transaction_id,amount,currency\n", func(s *ListSource) { s.Columns = map[string]string{"order": "amount"} }, "is used twice"},
		{"the same twice", "transaction_id,Transaction ID,amount,currency\n", nil, "has two columns that can be transaction_id, \"transaction_id\" and \"Transaction ID\"; name the right one with --columns"},
		{"two that fit", "transaction_id,amount,currency,Created at,Paid at\n", nil, `two columns that can be at, "Created at" and "Paid at"; name the right one with --columns at=NAME`},
		{"mapped to two columns", "transaction_id,sum,sum,currency\nt,1,2,EUR\n", func(s *ListSource) { s.Columns = map[string]string{"amount": "sum"} },
			"has two columns for amount"},
		{"neither ids nor amounts", "transaction_id,amount,currency,note\n,,EUR,a\n", nil, "has no lines with an id and an amount below the column names"},
		{"titles in another encoding", "\xb6\xa9\xb5\xa5\xba\xc5,amount,currency\n", func(s *ListSource) { s.Columns = map[string]string{"transaction_id": "订单号"} },
			"its letters were read as Windows-1252: if they are wrong, save it as CSV UTF-8"},
		{"nothing can be read", "transaction_id;amount;currency\nt;1,5;EUR\n", nil, "line 2: amount is not an amount such as 1234.50"},
		{"a directory", "", func(s *ListSource) { s.Path = filepath.Dir(s.Path) }, "is a directory"},
	} {
		t.Run(test.name, func(t *testing.T) {
			source := csvList(t, test.text)
			if test.change != nil {
				test.change(&source)
			}
			_, err := importOne(t.Context(), b, Payment, source)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want in it %q", err, test.want)
			}
			if rows := listed(t, b, Payment); len(rows) != 1 || rows[0].ID != "old" {
				t.Errorf("got %v, want the old list", rows)
			}
		})
	}
}

func TestAmount(t *testing.T) {
	const plain, english, german, french, swiss, whole, cents = "", "1,234.50", "1.234,50", "1 234,50", "1'234.50", "1.234", "123450"
	for _, test := range []struct{ form, currency, text, want string }{ // want empty: refused
		{plain, "EUR", "12.50", "12.5"}, {plain, "EUR", "0", "0"}, {plain, "EUR", "100", "100"}, {plain, "EUR", "-3", "-3"}, {plain, "EUR", "12.5000", "12.5"},
		{plain, "KWD", "1234.567", "1234.567"}, {plain, "", "1234567890123.123456", "1234567890123.123456"}, {plain, "JPY", "500.00", "500"},
		{plain, "EUR", "1.000", ""}, {plain, "KWD", "15.500", ""}, {plain, "KWD", "0.500", "0.5"}, {plain, "EUR", "12.505", ""}, {plain, "EUR", "1234.505", ""},
		{plain, "JPY", "12.50", ""}, {plain, "EUR", "12,50", ""}, {plain, "EUR", "1,234.50", ""}, {plain, "EUR", "", ""}, {plain, "EUR", "€12", ""},
		{plain, "EUR", "12.", ""}, {plain, "EUR", ".5", ""}, {plain, "EUR", "1e5", ""}, {plain, "EUR", "+1", ""}, {plain, "EUR", "0x1", ""},
		{plain, "EUR", "1234567890123456", ""}, {plain, "EUR", "1.1234567", ""}, {plain, "EUR", "١", ""}, {plain, "EUR", "12.50-", ""},
		{german, "EUR", "12,50", "12.5"}, {german, "EUR", "1.234,50", "1234.5"}, {german, "EUR", "1.234", "1234"}, {german, "EUR", "12.50", ""},
		{german, "EUR", "1,234.50", ""}, {german, "EUR", "1.23,4", ""}, {german, "EUR", "7", "7"}, {german, "KWD", "15,500", ""},
		{"1.234,500", "KWD", "15,500", "15.5"}, {english, "EUR", "1,234.50", "1234.5"}, {english, "EUR", "1.000", ""}, {english, "EUR", "1,000", "1000"},
		{english, "INR", "12,34,567.50", "1234567.5"}, {english, "EUR", "1,2345", ""}, {english, "EUR", "12,50", ""}, {english, "USD", "$1,234.50", "1234.5"},
		{english, "USD", "-$1.50", "-1.5"}, {english, "USD", "$-1.50", "-1.5"}, {english, "USD", "(1.50)", "-1.5"}, {english, "USD", "($1.50)", "-1.5"},
		{english, "USD", "1.50-", "-1.5"}, {english, "USD", "\u22121.50", "-1.5"}, {english, "USD", "1.50 USD", "1.5"}, {english, "USD", "usd 1.50", "1.5"},
		{english, "USD", "+1.50", "1.5"}, {english, "USD", "--1.50", ""}, {english, "USD", "(1.50", ""}, {english, "USD", "-(1.50)", ""}, {english, "USD", "(-1.50)", ""},
		{english, "EUR", "$1.50", ""}, {english, "USD", "1.50 EUR", ""}, {english, "USD", "1.50 x", ""}, {english, "", "$1.50", ""}, {english, "USD", "1 234.50", ""},
		{french, "EUR", "1\u202f234,50\u00a0€", "1234.5"}, {french, "EUR", "1 234 567,5", "1234567.5"}, {swiss, "CHF", "CHF 1’234.50", "1234.5"},
		{swiss, "CHF", "1'234.50", "1234.5"}, {whole, "JPY", "1.000", "1000"}, {whole, "JPY", "1.5", ""}, {"1234,50", "EUR", "1.234,50", ""},
		{"1234,50", "EUR", "1234,5", "1234.5"}, {cents, "EUR", "1250", "12.5"}, {cents, "JPY", "1250", "1250"}, {cents, "KWD", "1250", "1.25"},
		{cents, "EUR", "-7", "-0.07"}, {cents, "EUR", "12.50", ""}, {cents, "XXY", "1250", ""},
	} {
		t.Run(test.form+" "+test.currency+" "+test.text, func(t *testing.T) {
			l := &lineReader{ListSource: ListSource{Amounts: test.form}}
			var err error
			if l.form, err = l.amountForm(); err != nil {
				t.Fatal(err)
			}
			got, err := l.parseAmount(test.text, test.currency, false)
			if (err != nil) != (test.want == "") || err == nil && got.String() != test.want {
				t.Errorf("got %s, %v, want %q", got, err, test.want)
			}
		})
	}
	for _, form := range []string{"1,234,50", "1234.5678901", "12,50", "1.234.567,00", "x", "1234..5", "12345"} {
		if _, err := (&ListSource{Amounts: form}).amountForm(); err == nil {
			t.Errorf("%q is taken for a form", form)
		}
	}
	l := &lineReader{ListSource: ListSource{Amounts: german}}
	if l.form, _ = l.amountForm(); l.form.pattern == nil {
		t.Fatal("no form")
	}
	if got, err := l.parseAmount("1.234", "EUR", true); err != nil || got.String() != "1.234" {
		t.Errorf("a number of a database: got %v, %v, want 1.234 whatever the form of texts", got, err)
	}
}

// TestImportQuery reads lists from tables and queries of the three databases.
func TestImportQuery(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "shop.db")
	my := mysqlserver.Shared(t)
	execAt(t, "mysql", my.DSN(""), "CREATE DATABASE shop")
	_, socket, _ := strings.Cut(my.DSN(""), "unix(")
	socket, _, _ = strings.Cut(socket, ")")
	pg := postgresURL(t)
	for _, test := range []struct{ name, driver, source, dsn, amount, at string }{
		{"SQLite", "sqlite", "file:" + file, file, "REAL", "DATETIME"},
		{"Postgres", "pgx", pg, pg, "NUMERIC(12,2)", "TIMESTAMP"},
		{"Postgres with zone", "pgx", pg, pg, "DOUBLE PRECISION", "TIMESTAMPTZ"},
		{"MySQL", "mysql", my.DSN("shop"), "mysql://root@localhost/shop?socket=" + socket, "DECIMAL(12,2)", "DATETIME"},
	} {
		t.Run(test.name, func(t *testing.T) {
			db, err := sql.Open(test.driver, test.source)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { succeeds(t, db.Close()) }()
			execAt(t, test.driver, test.source,
				`DROP TABLE IF EXISTS paid`,
				`CREATE TABLE paid (transactionId VARCHAR(40), amount `+test.amount+`, currency VARCHAR(3), at `+test.at+` NULL, note VARCHAR(40) NULL)`,
				`INSERT INTO paid VALUES ('t-1', 1234567.5, 'EUR', '2026-11-22 08:30:00', NULL), ('t-2', 3, 'EUR', NULL, 'x'), ('', 3, 'EUR', NULL, NULL)`)
			b := open(t, filepath.Join(t.TempDir(), "books.db"))
			for _, query := range []string{"paid", "SELECT * FROM paid WHERE amount < 1000 OR amount > 1000 ORDER BY currency, transactionId DESC"} {
				info, err := importOne(t.Context(), b, Payment, ListSource{DSN: test.dsn, Query: query})
				if err != nil {
					t.Fatal(err)
				}
				if info.Rows != 2 || info.Unreadable != 1 || info.Name != query || len(info.SHA256) != 64 {
					t.Errorf("got %+v", info)
				}
				got := listed(t, b, Payment)
				at := time.Date(2026, 11, 22, 8, 30, 0, 0, time.UTC)
				if len(got) != 2 || got[0].ID != "t-1" || got[0].Amount.String() != "1234567.5" || !got[0].At.Equal(at) {
					t.Errorf("got %+v", got)
				}
			}
			for _, query := range []string{"DELETE FROM paid", "INSERT INTO paid VALUES ('x', 1, 'EUR', NULL, NULL)", "nothing", "SELECT 1; DROP TABLE paid", " "} {
				if _, err := importOne(t.Context(), b, Payment, ListSource{DSN: test.dsn, Query: query}); err == nil {
					t.Errorf("%q: got no error", query)
				}
			}
			var n int
			if err := db.QueryRowContext(t.Context(), `SELECT COUNT(*) FROM paid`).Scan(&n); err != nil || n != 3 {
				t.Errorf("the table has %d rows, %v: it was written to", n, err)
			}
		})
	}
}

// TestImportTimesOfSQLite: a time with an offset keeps it, whatever type the column is declared with.
func TestImportTimesOfSQLite(t *testing.T) {
	for _, declared := range []string{"DATETIME", "TIMESTAMP", "DATE", "TEXT"} {
		t.Run(declared, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "shop.db")
			execAt(t, "sqlite", "file:"+file,
				`CREATE TABLE paid ("transaction id" TEXT, amount REAL, currency TEXT, at `+declared+`)`,
				`INSERT INTO paid VALUES ('a', 1.5, 'EUR', '2026-11-22 08:30:00+02:00'), ('b', 2, 'EUR', '2026-11-22 08:30:00')`)
			b := open(t, filepath.Join(t.TempDir(), "books.db"))
			for _, query := range []string{"paid", "SELECT * FROM paid ORDER BY at -- all of them"} {
				source := ListSource{DSN: file, Query: query, Zone: time.FixedZone("", -5*3600)}
				mustImport(t, b, Payment, source)
				got := listed(t, b, Payment)
				first, second := time.Date(2026, 11, 22, 6, 30, 0, 0, time.UTC), time.Date(2026, 11, 22, 13, 30, 0, 0, time.UTC)
				if len(got) != 2 || !got[0].At.Equal(first) || !got[1].At.Equal(second) || got[0].Amount.String() != "1.5" {
					t.Errorf("%s: got %+v", query, got)
				}
			}
		})
	}
}

// TestCheckLeavesPipes: a list that can be read only once is read by Import alone.
func TestCheckLeavesPipes(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("/dev/fd is needed")
	}
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = read.Close() }()
	if _, err := write.WriteString("transaction_id,amount,currency\na,1,EUR\n"); err != nil {
		t.Fatal(err)
	}
	succeeds(t, write.Close())
	source := ListSource{Kind: Payment, Path: fmt.Sprintf("/dev/fd/%d", read.Fd())}
	b := open(t, filepath.Join(t.TempDir(), "books.db"))
	succeeds(t, CheckLists(t.Context(), source))
	if infos, err := b.Import(t.Context(), source); err != nil || infos[0].Rows != 1 {
		t.Errorf("got %+v, %v", infos, err)
	}
}
