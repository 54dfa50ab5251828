package main

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/exit"
	"github.com/cardgateway/cardgateway-go/sandbox"
)

func TestCheck(t *testing.T) {
	utc := sandbox.Options{Location: time.UTC}
	far := gatewayFor(t, sandbox.Options{Location: time.FixedZone("", 13*3600)})
	pay(t, far, "t-1", "12.50", sandbox.Approved)
	near := gatewayFor(t, utc)
	pay(t, near, "t-1", "12.50", sandbox.Approved)
	late := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Date", time.Now().Add(-2*time.Minute).UTC().Format(http.TimeFormat))
		near.ServeHTTP(w, r)
	}))
	t.Cleanup(late.Close)
	for _, test := range []struct {
		name string
		env  map[string]string
		code int
		want []string // on stdout
		err  string
	}{
		{"fine", with(environment(near.URL), "CARDGATEWAY_ZONE", "UTC"), exit.OK, []string{
			"      base-url             " + near.URL + " (environment CARDGATEWAY_BASE_URL)\n", "      secret               set (environment CARDGATEWAY_SECRET)\n",
			"      timeout              30s (not set)\n", "ok    reachable            in ", "ok    credentials          accepted\n", "ok    clock                ",
			"ok    zone                 UTC; no payment is later than now. ", "ok    app                  7; 1 of 1 payments of the last day are its own",
		}, ""},
		{"no payments", environment(gatewayFor(t, utc).URL), exit.OK, []string{"not checked, because there is no payment of the last day"}, ""},
		{"zone", environment(far.URL), exit.Negative, []string{"look  zone                 UTC+8 is not the gateway's time zone, which is likely at least UTC+13:00: "}, `lines that begin with "look": 1`},
		{"a database that cannot be one", with(environment(near.URL), "CARDGATEWAY_ZONE", "UTC", "CARDGATEWAY_JOURNAL", "mysql://u:topse/cret@host/shop"), exit.Negative,
			[]string{"look  journal              set, but invalid (environment CARDGATEWAY_JOURNAL): the name of the database "}, ""},
		{"app", with(environment(near.URL), "CARDGATEWAY_ZONE", "UTC", "CARDGATEWAY_APP_ID", "8"), exit.Negative, []string{
			"look  app                  none of 1 payments of the last day is of app 8: app-id is probably wrong"}, ""},
		{"clock", with(environment(late.URL), "CARDGATEWAY_ZONE", "UTC"), exit.Negative, []string{"look  clock                this machine is 2m"}, ""},
		{"credentials", with(environment(near.URL), "CARDGATEWAY_SECRET", "wrong"), exit.Failed, []string{"ok    reachable            HTTP 200 in "},
			"the gateway does not accept the credentials"},
		{"unreachable", environment("http://127.0.0.1:1"), exit.Failed, []string{"base-url             http://127.0.0.1:1 "}, "the gateway cannot be reached"},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := tool(t, test.env, "check")
			r.want(t, test.code, test.err)
			holds(t, r.out, test.want...)
		})
	}
	for _, list := range [][]string{{"orders", "--last", "1h"}, {"reconcile", "sync", "--db", t.TempDir() + "/books.db", "--from", time.Now().AddDate(0, 0, -1).Format(time.DateOnly)}} {
		tool(t, environment(far.URL), list...).want(t, exit.Failed, "rows are missing: UTC+8 is not the gateway's time zone, which is likely at least UTC+13:00")
	}
}
