package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/exit"
)

func TestRun(t *testing.T) {
	m := newClosedMonth(t)
	db, out := filepath.Join(m.dir, "other.db"), filepath.Join(m.dir, "run.html")
	list := m.list(t, m.lines...)
	env := with(m.env, "CARDGATEWAY_DB", db)
	tool(t, env, "reconcile", "run", "--list", list).want(t, exit.Failed, "there is no file")
	tool(t, env, "reconcile", "sync", "--from", m.lastOf.AddDate(0, 0, -40).Format(time.DateOnly)).want(t, exit.OK)
	r := tool(t, env, "reconcile", "run", "--list", list, "--out", out)
	r.want(t, exit.OK, "300 orders, 0 refunds", "273 of 273 rows tie out")
	if r.out != out+"\n" {
		t.Errorf("got %q, want the path of the page alone", r.out)
	}
	r = tool(t, env, "reconcile", "run", "--quiet", "--list", m.list(t, m.lines[1:]...), "--from", m.lastOf.AddDate(0, 0, -40).
		Format(time.DateOnly), "--out", out)
	r.want(t, exit.Negative, "differences: 1")
	if strings.Count(r.err, "\n") != 1 {
		t.Errorf("got %q with --quiet, want one line", r.err)
	}
	tool(t, with(env, "CARDGATEWAY_SECRET", "wrong"), "reconcile", "run", "--out", out).want(t, exit.Failed, "To continue, run: the same command again")
}

// demonstrate runs the demonstration, and removes what that leaves.
func demonstrate(t *testing.T, env map[string]string, args ...string) result {
	t.Helper()
	r := tool(t, env, append([]string{"reconcile", "run", "--demo"}, args...)...)
	r.want(t, exit.OK)
	_, dir, ok := strings.Cut(strings.TrimSpace(r.err), "the database and the lists are in ")
	if !ok {
		t.Fatalf("got %q, want where the lists are", r.err)
	}
	t.Cleanup(func() { succeeds(t, os.RemoveAll(dir)) })
	return r
}

// notWritable returns a directory in which not even root can create a file.
func notWritable(t *testing.T) string {
	t.Helper()
	if runtime.GOOS == "linux" {
		return "/proc"
	}
	dir := t.TempDir()
	succeeds(t, os.Chmod(dir, 0o500))
	return dir
}

// TestRunWithWrongFlags: what is wrong is said before the copy is updated, which can take hours, and before a database is created.
func TestRunWithWrongFlags(t *testing.T) {
	env := environment("http://127.0.0.1:1")
	for _, test := range []struct{ flag, value, want string }{
		{"--from", "1.1.2026", `--from: "1.1.2026" is not a time`},
		{"--month", "2026-13", `"2026-13" is not a month`},
		{"--grace", "soon", `--grace: "soon" is not a duration`},
		{"--list", "none.csv", "--list: the list none.csv cannot be opened: open none.csv: no such file"},
		{"--refund-list", "none.csv", "--refund-list: the list none.csv cannot be opened: open none.csv: no such file"},
		{"--known", "none.csv", "--known none.csv: "},
		{"--list-query", "payments", "--list-query and --refund-query require --list-dsn"},
		{"--refund-query", "refunds", "--list-query and --refund-query require --list-dsn"},
		{"--list-dsn", "shop.db", "--list-dsn requires --list-query or --refund-query"},
		{"--columns", "amount=total", "--columns requires --list"},
		{"--refund-columns", "amount=total", "--refund-columns requires --refund-list"},
		{"--list-zone", "Berlin", `--list-zone: "Berlin" is not a time zone`},
		{"--list-zone", "Local", `--list-zone: "Local" is not a time zone`},
		{"--states", "x=paid", `"paid" is not a state`},
		{"--list-currency", "EUR", "--list-currency requires --list, --refund-list, --list-query or --refund-query"},
		{"--amounts", "1.234,50", "--amounts requires --list,"},
		{"--list-zone", "Europe/Berlin", "--list-zone requires --list,"},
		{"--dates", "DD.MM.YYYY", "--dates requires --list,"},
		{"--states", "bezahlt=approved", "--states requires --list,"},
		{"--out", "none/month.html", "--out: there is no directory none"},
		{"--out", notWritable(t) + "/month.html", "--out: open "},
	} {
		t.Run(test.flag, func(t *testing.T) {
			db := filepath.Join(t.TempDir(), "books.db")
			args := []string{"reconcile", "run", "--db", db, strings.TrimSuffix(test.flag+"="+test.value, "=")}
			tool(t, env, args...).want(t, exit.Failed, test.want)
			if _, err := os.Stat(db); err == nil {
				t.Error("the database was created")
			}
		})
	}
}

// TestDemonstration: every class but test_payment, refund_twice and later_charge is planted, and found. What is configured does not matter.
func TestDemonstration(t *testing.T) {
	m := newClosedMonth(t)
	env, before := m.inConfig(t, ""), readText(t, m.env["CARDGATEWAY_DB"])
	tool(t, env, "reconcile", "run", "--demo", "--list", "x.csv").want(t, exit.Failed, "--demo has its own lists")
	tool(t, nil, "reconcile", "run").want(t, exit.Failed, "base-url is missing")
	r := demonstrate(t, env)
	if readText(t, m.env["CARDGATEWAY_DB"]) != before {
		t.Error("the database of the settings has changed")
	}
	r.want(t, exit.OK, "this is a demonstration with a sandbox", "no real money", "12,004 orders")
	page := readText(t, strings.TrimSpace(r.out))
	holds(t, page, "Demonstration: a sandbox, no real money", "This is a test system")
	lacks(t, page, "test payment</small>") // of each
	var parsed reportJSON
	succeeds(t, json.Unmarshal([]byte(readText(t, strings.TrimSuffix(strings.TrimSpace(r.out), "html")+"json")), &parsed))
	found := map[string]int{}
	for _, c := range parsed.Summary.Classes {
		found[string(c.Class)] += c.Differences
	}
	for _, class := range []string{"unreadable", "paid_twice", "two_successes", "missing_here", "missing_there", "currency", "amount", "state",
		"refund_without_order", "refund_above_payment", "refund_missing_here", "refund_missing_there", "listed_twice", "unchecked", "timing"} {
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
