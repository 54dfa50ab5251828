package main

import (
	"strings"
	"testing"
	"time"

	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/exit"
)

// TestTestPayments: without --test-payments, what the gateway marks as a test is paid in no command.
func TestTestPayments(t *testing.T) {
	a := newTwoApps(t)
	a.gateway.Seed(20, time.Now().AddDate(0, 0, -5), time.Now().AddDate(0, 0, -1)) // a list is complete up to some minutes ago
	live := with(a.env, "CARDGATEWAY_TEST_PAYMENTS", "false")
	sentAt := time.Now().Add(-time.Hour).Format(time.RFC3339)
	resolve := []string{"resolve", "payment", "own", "--amount", "10.00", "--currency", "EUR", "--sent-at", sentAt, "--wait", "1ms"}
	tool(t, live, resolve...).want(t, exit.Negative, "approved as a test", "--test-payments")
	tool(t, live, append(resolve, "--test-payments")...).want(t, exit.OK)
	tool(t, live, "refund", a.own, "--amount", "2.00", "--refund-id", "r-1", "--yes").want(t, exit.Negative, "nothing was sent", "test")
	for _, env := range []map[string]string{live, a.env} {
		r := tool(t, env, "orders", "--last", "7d", "--sum")
		if isTest := strings.Contains(r.out+r.err, "not paid: a test"); isTest != (env["CARDGATEWAY_TEST_PAYMENTS"] == "false") {
			t.Errorf("got %s%s", r.out, r.err)
		}
		if r := tool(t, env, "get", a.own); strings.Contains(r.out, "not paid: a test") != (env["CARDGATEWAY_TEST_PAYMENTS"] == "false") {
			t.Errorf("got %s", r.out)
		}
	}
}
