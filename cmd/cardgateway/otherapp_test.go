package main

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
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

// sharedCredentials is a gateway in whose searches about half of the payments state app 8, and the others app 7.
func sharedCredentials(t *testing.T, gateway *sandbox.Server) *httptest.Server {
	t.Helper()
	target, err := url.Parse(gateway.URL)
	if err != nil {
		t.Fatal(err)
	}
	row := regexp.MustCompile(`"uniqueId":"[0-9]*([0-9])","transactionId"`)
	proxy := httputil.NewSingleHostReverseProxy(target)
	proxy.ModifyResponse = func(r *http.Response) error {
		body, err := io.ReadAll(r.Body)
		body = row.ReplaceAllFunc(body, func(member []byte) []byte {
			app := `"appId":7,`
			if row.FindSubmatch(member)[1][0]%3 == 0 {
				app = `"appId":8,`
			}
			return append([]byte(app), member...)
		})
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		r.Header.Set("Content-Length", strconv.Itoa(len(body)))
		return err
	}
	server := httptest.NewServer(proxy)
	t.Cleanup(server.Close)
	return server
}

// TestReconcileOtherApps: orders and refunds list the rows of all apps. The lists of one app tie out, and what is left out
// is counted: on stderr, in the page and in the JSON.
func TestReconcileOtherApps(t *testing.T) {
	gateway := gatewayFor(t, sandbox.Options{})
	to := time.Now().AddDate(0, 0, -10).Truncate(24 * time.Hour)
	from := to.AddDate(0, 0, -20)
	gateway.SeedOrders(sandbox.SeedOptions{N: 200, From: from, To: to, RefundEvery: 5})
	dir := t.TempDir()
	env := with(environment(sharedCredentials(t, gateway).URL), "CARDGATEWAY_DB", filepath.Join(dir, "books.db"))
	inPeriod := []string{"--from", from.Format(time.RFC3339), "--to", to.Format(time.RFC3339)}
	read := func(list string) (rows []map[string]string) {
		r := tool(t, env, append([]string{list, "--quiet", "--format", "csv"}, inPeriod...)...)
		r.want(t, exit.OK)
		all, err := csv.NewReader(strings.NewReader(r.out)).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		for _, values := range all[1:] {
			row := map[string]string{}
			for i, title := range all[0] {
				row[title] = values[i]
			}
			rows = append(rows, row)
		}
		return rows
	}
	payments, refunds := "transaction_id,amount,currency,state\n", "refund_id,amount,currency\n"
	own, otherPayments, otherRefunds, compared := map[string]bool{}, 0, 0, 0
	for _, row := range read("orders") {
		if row["appId"] == "8" {
			otherPayments++
			continue
		}
		own[row["uniqueId"]] = true
		payments += strings.Join([]string{row["transactionId"], row["transactionAmount"], row["transactionCurrency"], row["state"]}, ",") + "\n"
		compared++
	}
	for _, row := range read("refunds") {
		if !own[row["uniqueId"]] {
			otherRefunds++
			continue
		}
		refunds += strings.Join([]string{row["merchantRefundId"], row["refundAmount"], row["refundCurrency"]}, ",") + "\n"
		compared++
	}
	if otherPayments < 50 || otherRefunds < 5 || compared < 80 {
		t.Fatalf("got %d payments and %d refunds of another app, and %d rows of this one", otherPayments, otherRefunds, compared)
	}
	left := fmt.Sprintf("payments %d, refunds %d", otherPayments, otherRefunds)
	tool(t, env, "reconcile", "sync", "--from", from.AddDate(0, 0, -3).Format(time.DateOnly)).
		want(t, exit.OK, "of other apps, and left out of match and report: "+left)
	lists := []string{"--list", writeText(t, dir, "paid.csv", payments), "--refund-list", writeText(t, dir, "refunds.csv", refunds)}
	compare := func(args ...string) result {
		return tool(t, env, slices.Concat([]string{"reconcile"}, args, inPeriod, lists)...)
	}

	r := compare("match", "--format", "csv")
	r.want(t, exit.OK, fmt.Sprintf("%d of %[1]d rows tie out", compared), "Not compared, because they are of other apps: "+left)
	if strings.Count(r.out, "\n") != 1 {
		t.Errorf("got %q, want no difference", r.out)
	}
	r = compare("match", "--any-app", "--format", "csv")
	r.want(t, exit.Negative, fmt.Sprintf("%d of ", compared))
	if !strings.Contains(r.out, "missing_here") || strings.Contains(r.out, "refund_without_order") || strings.Contains(r.err, "other apps") {
		t.Errorf("got %q and %q, want the other app's payments", r.out, r.err)
	}

	page := filepath.Join(dir, "page.html")
	compare("report", "--out", page).want(t, exit.OK)
	if !strings.Contains(readText(t, page), left) {
		t.Error("the page does not say what is left out")
	}
	var report struct {
		Summary struct {
			OtherApps struct{ Payments, Refunds int }
			Notes     []string
		}
	}
	if err := json.Unmarshal([]byte(readText(t, filepath.Join(dir, "page.json"))), &report); err != nil {
		t.Fatal(err)
	}
	if n := report.Summary.OtherApps; n.Payments != otherPayments || n.Refunds != otherRefunds ||
		!strings.Contains(strings.Join(report.Summary.Notes, " "), left) {
		t.Errorf("JSON: got %+v, want %s", report.Summary, left)
	}
}
