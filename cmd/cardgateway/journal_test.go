package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/exit"
	"github.com/cardgateway/cardgateway-go/internal/test/mysqlserver"
	"github.com/cardgateway/cardgateway-go/internal/test/pgserver"
	"github.com/cardgateway/cardgateway-go/journal"
	"github.com/cardgateway/cardgateway-go/journal/sqlstore"
	"github.com/cardgateway/cardgateway-go/sandbox"
	"github.com/shopspring/decimal"
)

// TestJournal goes the way of an operator, beside the shop's program.
func TestJournal(t *testing.T) {
	t.Parallel()
	everyDatabase(t, func(t *testing.T, at place) {
		server := gatewayFor(t, sandbox.Options{RefundSettleAfter: -1})
		s := openShop(t, server, at)
		env := journalEnv(server, at)
		tool(t, env, "journal", "list").want(t, exit.OK, "no rows")
		tool(t, env, "journal", "run").want(t, exit.OK, "no rows", "0 without one")
		s.fill(t)
		r := tool(t, env, "journal", "list")
		r.want(t, exit.Negative, "1  payment conflict  12.50  EUR\n", "1  payment unknown   30.00  EUR\n", "1  refund unknown           of unknown currency\n")
		if want := `payment,paid,conflict,12.50,EUR,contradictory outcomes; needs manual review
payment,declined,declined,7,JPY,code 101, not acknowledged
payment,lost,unknown,30.00,EUR,the call ended with an unknown outcome
payment,refused,refused,5.00,EUR,HTTP 200, code 201
payment,waiting,pending,9.00,EUR,waiting for the cardholder (code 301)
refund,lost,unknown,2.50,,the call ended with an unknown outcome`; r.columns(t, "kind,id,state,amount,currency,why") != want {
			t.Errorf("got\n%s\nwant\n%s", r.out, want)
		}
		r = tool(t, env, "journal", "list", "--state", "unknown,refused")
		r.want(t, exit.Negative)
		if r.columns(t, "id") != "lost\nrefused\nlost" {
			t.Errorf("states: got %q", r.out)
		}
		r = tool(t, env, "journal", "list", "--older", "1h")
		r.want(t, exit.OK, "no rows")
		r = tool(t, env, "journal", "list", "--sum")
		r.want(t, exit.Negative)
		holds(t, r.out, "1  payment declined      7  JPY\n")

		r = tool(t, env, "journal", "show", "lost")
		r.want(t, exit.OK)
		holds(t, r.out, "payment       lost of 30.00 EUR\n", "refund        lost of 2.50, of payment ", "state         unknown: the call ended with an unknown outcome\n",
			"acknowledged  no\n", "submitted; recorded before anything was sent\n", "the call ended: unknown\n",
			"it is presumed absent. Until then do not send it again\n")
		waiting, err := s.Get(t.Context(), journal.PaymentID("waiting"))
		if err != nil {
			t.Fatal(err)
		}
		for set, lifetime := range map[string]time.Duration{"": 24 * time.Hour, "3d": 72 * time.Hour} {
			r = tool(t, with(env, "CARDGATEWAY_HOSTED_PAGE_LIFETIME", set), "journal", "show", "waiting")
			ends := waiting.Begun.At.Add(lifetime).In(cardgateway.DefaultLocation()).Format(time.DateTime)
			holds(t, r.out, "if the cardholder has not finished by "+ends+", it is abandoned")
		}
		gateway := server.URL + "/"
		r = tool(t, env, "journal", "show", "refused", "--timeout", "20s", "--gateway", gateway)
		r.want(t, exit.OK)
		holds(t, r.out, "cardgateway journal ack refused --state refused --timeout 20s --gateway "+gateway+"\n")
		tool(t, env, "journal", "ack", "lost", "--state", "unknown", "--timeout", "20s").want(t, exit.Negative,
			"the payment has no outcome yet; see cardgateway journal show lost --timeout 20s\n")
		tool(t, env, "journal", "show", "nobody").want(t, exit.Negative, `has no payment and no refund "nobody"`)

		r = tool(t, env, "journal", "run")
		r.want(t, exit.Conflict, "not acknowledged: 2 with an outcome, 3 without one, 1 in conflict", "entries in conflict, which a person must look at: 1")
		if want := "payment,paid,conflict\npayment,declined,declined\npayment,lost,succeeded\npayment,refused,refused\n" +
			"payment,waiting,pending\nrefund,lost,pending"; r.columns(t, "kind,id,state") != want {
			t.Errorf("run: got\n%s\nwant\n%s", r.out, want)
		}
		tool(t, env, "journal", "ack", "lost", "--state", "declined").want(t, exit.Negative, "nothing was acknowledged: the payment is succeeded")
		tool(t, env, "journal", "ack", "nobody", "--state", "declined").want(t, exit.Negative, `has no payment "nobody"`+"\n")
		tool(t, env, "journal", "ack", "declined", "--refund", "--state", "declined").want(t, exit.Negative,
			`has no refund "declined"; it has a payment with this id: omit --refund`+"\n")
		tool(t, env, "journal", "ack", "lost", "--state", "succeeded").want(t, exit.OK, "acknowledged: payment lost, succeeded")
		tool(t, env, "journal", "ack", "lost", "--state", "succeeded").want(t, exit.OK, "acknowledged before")
		tool(t, env, "journal", "ack", "lost", "--refund", "--state", "pending").want(t, exit.OK, "the gateway is no longer queried for it")
		e, err := s.Get(t.Context(), journal.PaymentID("lost"))
		if err != nil || e.Unacked() || e.State() != journal.Succeeded {
			t.Errorf("the shop sees %v, unacknowledged %v, %v", e.State(), e.Unacked(), err)
		}
		r = tool(t, env, "journal", "list")
		if r.columns(t, "id") != "paid\ndeclined\nrefused\nwaiting" {
			t.Errorf("after acknowledging: got %q", r.out)
		}
	})
}

// TestJournalSchema: the command needs no settings, and prints the statements of each kind of database.
func TestJournalSchema(t *testing.T) {
	t.Parallel()
	for kind, dialect := range map[string]sqlstore.Dialect{
		"sqlite": sqlstore.SQLite, "postgres": sqlstore.Postgres, "mysql": sqlstore.MySQL, "mariadb": sqlstore.MySQL,
	} {
		r := tool(t, nil, "journal", "schema", kind)
		if r.want(t, exit.OK); r.out != sqlstore.Schema(dialect) || r.out == "" {
			t.Errorf("%s: got %q", kind, r.out)
		}
	}
	tool(t, nil, "journal", "schema", "oracle").want(t, exit.Failed)
}

// TestJournalAckOfRefund: the id of a refund is found, and the flag for it is named.
func TestJournalAckOfRefund(t *testing.T) {
	t.Parallel()
	at := sqlitePlace(t)
	server := gatewayFor(t, sandbox.Options{})
	s := openShop(t, server, at)
	id := pay(t, server, "t-1", "12.50", sandbox.Approved).UniqueID
	req := cardgateway.RefundRequest{UniqueID: id, RefundTransactionID: "r-1", Amount: decimal.RequireFromString("2.50")}
	if _, err := s.CreateRefund(t.Context(), req); err != nil {
		t.Fatal(err)
	}
	tool(t, journalEnv(server, at), "journal", "ack", "r-1", "--state", "pending").want(t, exit.Negative,
		`has no payment "r-1"; it has a refund with this id: add --refund`+"\n")
}

// TestJournalPlaces: a wrong place is refused in words, and nothing is made there.
func TestJournalPlaces(t *testing.T) {
	t.Parallel()
	server := gatewayFor(t, sandbox.Options{})
	dir := t.TempDir()
	text := writeText(t, dir, "text.db", strings.Repeat("no database ", 100))
	other := filepath.Join(dir, "other.db")
	execAt(t, "sqlite", other, "CREATE TABLE things (name TEXT)")
	pg, my := pgserver.Shared(t), mysqlserver.Shared(t)
	emptyPG, emptyMy := postgresPlace(t, pg), mysqlPlace(t, my)
	const password = "pass-w0rd-7"
	tests := []struct {
		name, place, want string
	}{
		{"none", "", "journal is missing: set --journal, CARDGATEWAY_JOURNAL, or journal in "},
		{"no file", filepath.Join(dir, "none.db"), "no such file or directory; no file was created"},
		{"no folder", filepath.Join(dir, "none", "x.db"), "no such file or directory; no file was created"},
		{"a folder", dir, "is not a file"},
		{"not a database", text, "file is not a database"},
		{"no journal, SQLite", other, other + " contains no journal; check that it is the right database. Nothing was created"},
		{"no journal, Postgres", emptyPG.setting, " contains no journal; check that it is the right database. Nothing was created"},
		{"no journal, MySQL", emptyMy.setting, " contains no journal; check that it is the right database. Nothing was created"},
		{"driver's text, MySQL", "shop:" + password + "@tcp(127.0.0.1:1)/shop", "looks like a database server"},
		{"no server, Postgres", "postgres://x:" + password + "@127.0.0.1:1/z", "postgres database 127.0.0.1:1/z cannot be opened: "},
		{"no server, MySQL", "mysql://x:" + password + "@127.0.0.1:1/z", "mysql database 127.0.0.1:1/z cannot be opened: "},
	}
	t.Run("refused", func(t *testing.T) {
		for _, test := range tests {
			for _, command := range [][]string{{"list"}, {"show", "x"}, {"run"}, {"ack", "x", "--state", "declined"}} {
				t.Run(test.name+" "+command[0], func(t *testing.T) {
					t.Parallel()
					env := with(environment(server.URL), "CARDGATEWAY_JOURNAL", test.place)
					r := tool(t, env, append([]string{"journal"}, command...)...)
					r.wantRefused(t, test.want)
					if strings.Contains(r.err, password) || strings.Count(r.err, "\n") != 1 {
						t.Errorf("got stderr %q, want one line without the password", r.err)
					}
				})
			}
		}
	})
	files, err := os.ReadDir(dir)
	if err != nil || len(files) != 2 {
		t.Errorf("got the files %v, %v, want the two that were there", files, err)
	}
	for name, at := range map[string]place{"sqlite": {driver: "sqlite", dsn: other}, "postgres": emptyPG, "mysql": emptyMy} {
		if _, err := openAt(t, at.driver, at.dsn).ExecContext(t.Context(), "SELECT 1 FROM cardgateway_journal"); err == nil {
			t.Errorf("%s: a table was made", name)
		}
	}
	tool(t, environment(server.URL), "journal", "list", "--journal", "postgres://x:"+password+"@h/z").want(t, exit.Failed, "--journal has a password")
	tool(t, environment(server.URL), "journal", "list", "--journal", "postgres://x@h/z?password="+password).want(t, exit.Failed, "--journal has a password")
}

// TestJournalOfOthers: a journal that has entries, and none of this shop, is not taken for one where all is settled.
func TestJournalOfOthers(t *testing.T) {
	t.Parallel()
	everyDatabase(t, func(t *testing.T, at place) {
		server := gatewayFor(t, sandbox.Options{})
		openShop(t, server, at).lose(t, "t-1", "1.00", "EUR")
		env := journalEnv(server, at)
		tool(t, with(env, "CARDGATEWAY_APP_ID", "8"), "journal", "list").want(t, exit.Failed,
			"has no entry of "+server.URL+", app 8, only of "+server.URL+", app 7. Check base-url and app-id, or set --gateway")
		moved := with(env, "CARDGATEWAY_BASE_URL", "https://new.example")
		tool(t, moved, "journal", "list").want(t, exit.Failed, "has no entry of https://new.example")
		tool(t, moved, "journal", "list", "--gateway", server.URL).want(t, exit.Negative)
	})
}

// TestJournalOfManyShops: a shop is found although more others have entries than a store names.
func TestJournalOfManyShops(t *testing.T) {
	at, server := sqlitePlace(t), gatewayFor(t, sandbox.Options{})
	openShop(t, server, at).lose(t, "t-1", "1.00", "EUR")
	execAt(t, at.driver, at.dsn, `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000) INSERT INTO cardgateway_journal
		SELECT 'a' || i, transaction_id, begun, intent, evidence, version, acked, unacked FROM cardgateway_journal, n`)
	tool(t, journalEnv(server, at), "journal", "list").want(t, exit.Negative)
}

// TestJournalWrongUse names the flag.
func TestJournalWrongUse(t *testing.T) {
	for _, test := range []struct {
		args []string
		want string
	}{
		{[]string{"list", "--state", "open"}, `--state: there is no state "open" of the journal; there are unknown, not-sent, refused, `},
		{[]string{"list", "--older", "x"}, `--older: "x" is not a duration`},
		{[]string{"run", "--absent-after", "1m"}, "--absent-after must be at least 15m"},
		{[]string{"ack", "x"}, "missing flags: --state=WORD"},
		{[]string{"ack", "x", "--state", "fine"}, `there is no state "fine"`},
		{[]string{"show"}, `expected "<id>"`},
	} {
		t.Run(strings.Join(test.args, " "), func(t *testing.T) {
			at := sqlitePlace(t)
			server := gatewayFor(t, sandbox.Options{})
			openShop(t, server, at)
			tool(t, journalEnv(server, at), append([]string{"journal"}, test.args...)...).wantRefused(t, test.want)
		})
	}
}

// TestUnreadableEntry: what cannot be read is said, and is no "nothing open".
func TestUnreadableEntry(t *testing.T) {
	t.Parallel()
	everyDatabase(t, func(t *testing.T, at place) {
		server := gatewayFor(t, sandbox.Options{})
		openShop(t, server, at).lose(t, "t-1", "1.00", "EUR")
		execAt(t, at.driver, at.dsn, "UPDATE cardgateway_journal SET evidence = 'x', version = 1")
		for _, command := range []string{"list", "run"} {
			tool(t, journalEnv(server, at), "journal", command).want(t, exit.Failed, "an entry cannot be read: ", "entries that cannot be read: 1")
		}
		tool(t, journalEnv(server, at), "journal", "show", "t-1").want(t, exit.Failed, "the entry cannot be shown")
	})
}

// TestJournalRunCodes: an alert can tell apart that nobody could look, a conflict, and an outcome that is overdue. What needs a person first
// decides.
func TestJournalRunCodes(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name      string
		age       time.Duration // of a payment that the gateway shows without its outcome; zero: none
		conflict  bool
		outage    bool
		damaged   bool // another entry cannot be read, which lasts
		code      int
		mentioned string
	}{
		{"nothing", 0, false, false, false, exit.OK, "not acknowledged: 0"},
		{"not overdue", 24*time.Hour + 30*time.Minute, false, false, false, exit.Negative, "1 without one"},
		{"overdue", 25*time.Hour + time.Minute, false, false, false, exit.Overdue, "an outcome has been unknown since"},
		{"a conflict", 0, true, false, false, exit.Conflict, "in conflict, which a person must look at: 1"},
		{"a conflict, and overdue", 26 * time.Hour, true, false, false, exit.Conflict, "in conflict"},
		{"could not look", 26 * time.Hour, true, true, false, exit.Failed, "entries for which the query failed"},
		{"an entry that cannot be read", 0, false, false, true, exit.Failed, "entries that cannot be read: 1"},
		{"a conflict beside one", 0, true, false, true, exit.Conflict, "in conflict"},
		{"overdue beside one", 26 * time.Hour, false, false, true, exit.Overdue, "an outcome has been unknown since"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			server := gatewayFor(t, sandbox.Options{})
			at := sqlitePlace(t)
			s := openShop(t, server, at)
			record := func(id string, begun time.Time, states ...journal.State) {
				in := journal.Intent{Shop: s.Shop(), ID: journal.PaymentID(id), Operation: "TokenPayment", Amount: decimal.NewFromInt(1), Currency: "EUR", At: begun}
				_, _, err := s.store.Begin(t.Context(), in)
				for i, state := range states {
					ev := journal.Evidence{At: begun, Source: journal.SourceQuery, State: state, Seen: state == journal.Unknown}
					if !ev.Seen {
						code := map[journal.State]cardgateway.Code{journal.Declined: cardgateway.CodeFailed, journal.Succeeded: cardgateway.CodeSuccess}[state]
						ev.Transaction = &cardgateway.Transaction{Code: code, UniqueID: fmt.Sprint(i + 1)}
					}
					err = errors.Join(err, s.store.Record(t.Context(), in.Key(), i, ev))
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			if test.age > 0 {
				record("old", time.Now().Add(-test.age), journal.Unknown)
			}
			if test.conflict {
				record("twice", time.Now(), journal.Declined, journal.Succeeded)
			}
			if test.damaged {
				record("damaged", time.Now())
				execAt(t, at.driver, at.dsn, "UPDATE cardgateway_journal SET evidence = 'x', version = 1 WHERE CAST(transaction_id AS TEXT) = 'damaged'")
			}
			if test.outage {
				server.Inject(sandbox.Fault{Operation: sandbox.OpSearches, Times: -1, Commit: sandbox.CommitNever, Status: 503})
			}
			tool(t, journalEnv(server, at), "journal", "run").want(t, test.code, test.mentioned)
		})
	}
}
