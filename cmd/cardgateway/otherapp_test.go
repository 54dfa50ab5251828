package main

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/exit"
	"github.com/cardgateway/cardgateway-go/sandbox"
)

// twoApps is a gateway whose credentials serve the apps 7, which is that of the settings, and 8. Each has a payment and a
// refund of a part of it.
type twoApps struct {
	gateway     *sandbox.Server
	env         map[string]string
	own, others string // uniqueIds of the payments
}

func newTwoApps(t *testing.T) *twoApps {
	t.Helper()
	a := &twoApps{gateway: gatewayFor(t, sandbox.Options{})}
	a.env = environment(a.gateway.URL)
	pay := func(app cardgateway.AppID, id, amount string) string {
		token := cardgateway.NewToken(a.gateway.NewToken(sandbox.Approved))
		paid, err := clientOf(t, a.gateway, app).TokenPayment(t.Context(), token, paymentOf(id, amount, "EUR"))
		if err == nil {
			_, err = a.gateway.Refund(paid.UniqueID, "1.00", "refund of "+id)
		}
		if err != nil {
			t.Fatal(err)
		}
		return paid.UniqueID
	}
	a.own, a.others = pay("7", "own", "10.00"), pay("8", "another", "20.00")
	return a
}

// TestOtherApp: no command but a list shows or touches the payments of other apps, unless --any-app is set.
func TestOtherApp(t *testing.T) {
	a := newTwoApps(t)
	tool(t, a.env, "get", a.own).want(t, exit.OK)
	tool(t, a.env, "get", a.others).want(t, exit.Failed, "states another appId")
	tool(t, a.env, "get", a.others, "--any-app").want(t, exit.OK)

	tool(t, a.env, "refund", a.others, "--amount", "2.00", "--refund-id", "r-9", "--yes").want(t, exit.Failed, "states another appId")
	sentAt := time.Now().Add(-time.Minute).Format(time.RFC3339)
	tool(t, a.env, "resolve", "payment", "another", "--amount", "20.00", "--currency", "EUR", "--sent-at", sentAt, "--wait", "1ms").want(t, exit.Unknown)
	tool(t, a.env, "resolve", "payment", "another", "--amount", "20.00", "--currency", "EUR", "--sent-at", sentAt, "--wait", "1ms", "--any-app").want(t, exit.OK)
}

// TestReconcileOtherApps: the lists of one app tie out, and what is left out is counted: on stderr, in the page and in the JSON.
func TestReconcileOtherApps(t *testing.T) {
	a, dir := newTwoApps(t), t.TempDir()
	db := filepath.Join(dir, "books.db")
	env, now := with(a.env, "CARDGATEWAY_DB", db), time.Now()
	const left = "payments 1, refunds 1"
	tool(t, env, "reconcile", "sync", "--from", now.AddDate(0, 0, -3).Format(time.DateOnly)).
		want(t, exit.OK, "of other apps, and left out of match and report: "+left)
	execAt(t, "sqlite", db, "UPDATE cardgateway_walks SET complete = complete + 3600000000") // as after another hour
	compare := func(args ...string) result {
		return toolAt(t, now.Add(30*time.Minute), env, slices.Concat([]string{"reconcile"}, args, []string{
			"--last", "1d", "--grace", "0", "--list", writeText(t, dir, "paid.csv", "transaction_id,amount,currency\nown,10.00,EUR\n"),
			"--refund-list", writeText(t, dir, "refunds.csv", "refund_id,amount,currency\nrefund of own,1.00,EUR\n"),
		})...)
	}

	r := compare("match", "--format", "csv")
	r.want(t, exit.OK, "2 of 2 rows tie out", "Not compared, because they are of other apps: "+left)
	if strings.Count(r.out, "\n") != 1 {
		t.Errorf("got %q, want no difference", r.out)
	}
	r = compare("match", "--any-app", "--format", "csv")
	r.want(t, exit.Negative, "2 of 4 rows tie out")
	holds(t, r.out, "\nmissing_here,")
	lacks(t, r.out+r.err, "refund_without_order", "other apps")

	page := filepath.Join(dir, "page.html")
	compare("report", "--out", page).want(t, exit.OK)
	holds(t, readText(t, page), left)
	var report struct {
		Summary struct {
			OtherApps struct{ Payments, Refunds int }
			Notes     []string
		}
	}
	succeeds(t, json.Unmarshal([]byte(readText(t, filepath.Join(dir, "page.json"))), &report))
	if n := report.Summary.OtherApps; n.Payments != 1 || n.Refunds != 1 || !strings.Contains(strings.Join(report.Summary.Notes, " "), left) {
		t.Errorf("JSON: got %+v, want %s", report.Summary, left)
	}
}
