package main

import (
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/exit"
	"github.com/cardgateway/cardgateway-go/sandbox"
)

// TestUnreadableRow: a row that cannot be read costs a list and a copy only that row. What the copy has of it stays, every run asks
// for it again, and an exit code of its own says that it is missing.
func TestUnreadableRow(t *testing.T) {
	server, from, to := seeded(t, sandbox.Options{})
	begin := from.Format(time.RFC3339)
	ids := csvColumn(t, tool(t, environment(server.URL), "orders", "--from", begin, "--to", to.Format(time.RFC3339), "--format", "csv").out, "uniqueId")
	id, odd := ids[7], true
	front := changing(t, server, func(r *http.Request, body string) string {
		if odd && strings.HasSuffix(r.URL.Path, "/search/list/order") {
			member := `"uniqueId":"` + id + `"`
			return strings.ReplaceAll(body, member, member+`,"isTest":"perhaps"`) // a second one
		}
		return body
	})
	env := with(environment(front), "CARDGATEWAY_DB", filepath.Join(t.TempDir(), "books.db"))

	list := tool(t, env, "orders", "--from", begin, "--to", to.Format(time.RFC3339), "--format", "csv")
	list.want(t, exit.Unreadable, "the list lacks rows: OrderWalk: 1 rows cannot be read; window from ", `uniqueId "`+id+`"`)
	if got := csvColumn(t, list.out, "uniqueId"); len(got) != len(ids)-1 {
		t.Errorf("got %d rows, want %d", len(got), len(ids)-1)
	}

	r := tool(t, env, "reconcile", "sync", "--from", begin)
	r.want(t, exit.Unreadable, "read 659 rows", "the copy is up to date, except for these rows: ", id)
	if !strings.HasPrefix(r.out, "599 orders, 60 refunds, complete from ") {
		t.Errorf("got %q", r.out)
	}
	tool(t, env, "reconcile", "sync").want(t, exit.Unreadable, id)
	list = tool(t, env, "orders", "--quiet", "--from", begin, "--to", to.Format(time.RFC3339), "--format", "csv", "--state", "approved")
	lines := "transaction_id,amount,currency,at\n"
	columns := map[string][]string{}
	for _, name := range []string{"transactionId", "transactionAmount", "transactionCurrency", "at"} {
		columns[name] = csvColumn(t, list.out, name)
	}
	for i := range columns["at"] {
		lines += strings.Join([]string{columns["transactionId"][i], columns["transactionAmount"][i], columns["transactionCurrency"][i], columns["at"][i]}, ",") + "\n"
	}
	match := []string{"reconcile", "match", "--list", writeText(t, t.TempDir(), "paid.csv", lines), "--format", "csv"}
	if r = tool(t, env, match...); strings.Count(r.out, "row_unreadable,payment,") != 1 || !strings.Contains(r.out, id) {
		t.Errorf("got %s", r.out)
	}
	r.want(t, exit.Negative, "differences: 1")
	odd = false
	tool(t, env, "reconcile", "sync").want(t, exit.OK, "1 late", "0 gone")
	lacks(t, tool(t, env, match...).out, "row_unreadable")
	odd = true
	if r = tool(t, env, "reconcile", "sync", "--again", "3d"); !strings.HasPrefix(r.out, "600 orders, 60 refunds, ") {
		t.Errorf("got %q: what the copy has of the row is to stay", r.out)
	}
	r.want(t, exit.Unreadable, "0 gone", id)
}
