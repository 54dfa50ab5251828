//go:build linux || darwin

package main

import (
	"context"
	"io"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/exit"
	"github.com/cardgateway/cardgateway-go/sandbox"
)

// TestWrongClockOrZone: a refund that was made is seen, and a payment is found, although this machine's clock or the setting for
// the gateway's zone is wrong.
func TestWrongClockOrZone(t *testing.T) {
	for _, test := range []struct {
		name string
		late time.Duration
		zone string // of the setting
		real *time.Location
	}{
		{"a clock that is 2 h late", 2 * time.Hour, "UTC", time.UTC},
		{"a clock that is 30 s late", 30 * time.Second, "UTC", time.UTC},
		{"a clock that is 1 h ahead", -time.Hour, "UTC", time.UTC},
		{"a zone 12 h too far west", 0, "UTC", time.FixedZone("UTC+12", 12*60*60)},
		{"a zone 12 h too far east", 0, "Pacific/Auckland", time.UTC},
		{"the farthest zones, and a clock that is 50 min late", 50 * time.Minute, "UTC", time.FixedZone("UTC+14", 14*60*60)},
	} {
		t.Run(test.name, func(t *testing.T) {
			server := gatewayFor(t, sandbox.Options{Location: test.real, RefundDuplicates: sandbox.RefundDuplicatesExecuted})
			env := with(environment(server.URL), "CARDGATEWAY_ZONE", test.zone)
			id := pay(t, server, "t-1", "12.50", sandbox.Approved).UniqueID
			toolAt(t, time.Now().Add(-test.late), env, "get", "--transaction", "t-1", "--last", "1h").want(t, exit.OK)
			refund := []string{"refund", id, "--amount", "2.50", "--refund-id", "r-1", "--yes"}
			toolAt(t, time.Now().Add(-test.late), env, refund...).want(t, exit.Unknown, "remaining    12.50 EUR\n")
			toolAt(t, time.Now().Add(-test.late), env, refund...).want(t, exit.Negative, "nothing was sent: the gateway already has a refund r-1 of this payment")
			wantRefunds(t, server, "r-1", 1)
		})
	}
}

// TestClockDaysBehind: a refund that was made is seen, or nothing is sent.
func TestClockDaysBehind(t *testing.T) {
	server, env, id := paidGateway(t, sandbox.Options{RefundDuplicates: sandbox.RefundDuplicatesExecuted})
	for _, test := range []struct {
		late time.Duration
		code int
		want string
	}{
		{30 * time.Hour, exit.Unknown, "remaining    12.50 EUR"}, {30 * time.Hour, exit.Negative, "already has a refund r-1"},
		{72 * time.Hour, exit.Failed, "clock is 72h0m0s behind the gateway's"},
	} {
		toolAt(t, time.Now().Add(-test.late), env, "refund", id, "--amount", "2.50", "--refund-id", "r-1", "--yes").
			want(t, test.code, test.want)
	}
	wantRefunds(t, server, "r-1", 1)
}

// event is an output that has something happen when a text is written to it.
type event struct {
	when string
	do   func()
}

func (e event) Write(p []byte) (int, error) {
	if strings.Contains(string(p), e.when) {
		e.do()
	}
	return len(p), nil
}

// TestInterruptedBeforeSending: Ctrl-C before the refund is sent, whenever that is, sends nothing.
func TestInterruptedBeforeSending(t *testing.T) {
	for _, when := range []string{"TO REFUND", "sending the refund once"} {
		t.Run(when, func(t *testing.T) {
			server, env, id := paidGateway(t, sandbox.Options{})
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			toolIn(t, ctx, system{err: event{when, cancel}}, env, "refund", id, "--all", "--refund-id", "r-1", "--yes").
				want(t, exit.Interrupted, "interrupted; nothing was sent")
			wantRefunds(t, server, "r-1", 0)
		})
	}
}

// typing runs the program on a terminal on which ask is called when it asks for the amount, and then a text is typed.
func typing(t *testing.T, ctx context.Context, text string, ask func(), env map[string]string, args ...string) result {
	t.Helper()
	master, slave := pseudoTerminal(t)
	return toolIn(t, ctx, system{in: slave, err: event{"Type the amount", func() {
		ask()
		if _, err := io.WriteString(master, text); err != nil {
			t.Error(err)
		}
	}}}, env, args...)
}

// TestConfirmInterrupted: Ctrl-C wins, even if the amount was typed at the same time.
func TestConfirmInterrupted(t *testing.T) {
	server, env, id := paidGateway(t, sandbox.Options{})
	for _, typed := range []string{"12.50\n", "no\n"} {
		for range 10 {
			ctx, cancel := context.WithCancel(t.Context())
			typing(t, ctx, typed, cancel, env, "refund", id, "--all", "--refund-id", "r-1").
				want(t, exit.Interrupted, "interrupted; nothing was sent")
			cancel()
		}
	}
	wantRefunds(t, server, "r-1", 0)
}

// TestRefundedMeanwhile: what others refund while the question waits for an answer counts too.
func TestRefundedMeanwhile(t *testing.T) {
	server := gatewayFor(t, sandbox.Options{RefundDuplicates: sandbox.RefundDuplicatesExecuted})
	env := environment(server.URL)
	for name, test := range map[string]struct {
		others string
		code   int
		want   string
	}{
		"nothing": {"", exit.Unknown, "accepted, not final yet"},
		"a part":  {"4.00", exit.Negative, "nothing was sent: meanwhile the remaining amount is 8.50, no longer 12.50"},
		"all":     {"12.50", exit.Negative, "nothing was sent: of 12.50 EUR, 12.50 was refunded before"},
	} {
		t.Run(name, func(t *testing.T) {
			id := pay(t, server, name, "12.50", sandbox.Approved).UniqueID
			typing(t, t.Context(), "5.00\n", func() {
				if test.others != "" {
					tool(t, env, "refund", id, "--amount", test.others, "--refund-id", "of others, "+name, "--yes").want(t, exit.Unknown)
				}
			}, env, "refund", id, "--amount", "5.00", "--refund-id", name).want(t, test.code, test.want)
			if n := server.Refunded(name); n != 0 && test.others != "" {
				t.Errorf("got %d refunds, want none", n)
			}
		})
	}
}

// TestRefundBeforeOfUnknownAmount: if the gateway does not say how much an earlier refund returned, or of which payment, nobody knows what is
// left; if it has changed its id, a script that runs again does not make it again.
func TestRefundBeforeOfUnknownAmount(t *testing.T) {
	server, env, id := paidGateway(t, sandbox.Options{})
	tool(t, env, "refund", id, "--amount", "5.00", "--refund-id", "r-1", "--yes").want(t, exit.Unknown)
	tool(t, env, "refund", id, "--amount", "4.00", "--refund-id", "r-0", "--yes").want(t, exit.Unknown)
	for name, change := range map[string][3]string{
		"no amount":        {`"refundAmount":"5.00"`, `"refundNote":"5.00"`, "it is not known how much of the payment an earlier refund has returned: r-1"},
		"an amount of 0":   {`"refundAmount":"5.00"`, `"refundAmount":"0"`, "it is not known how much of the payment an earlier refund has returned: r-1"},
		"another currency": {`"refundCurrency":"EUR"`, `"refundCurrency":"JPY"`, "it is not known how much of the payment an earlier refund has returned: r-"},
		"no payment":       {`"uniqueId":"` + id, `"of":"` + id, "3.50 can still be refunded"},
		"another id":       {`Id":"r-1"`, `Id":"R2"`, "the gateway already has a refund R2 of this payment"},
		"a second name":    {`Id":"r-1"`, `Id":"8801","refundTransactionId":"r-2"`, "the gateway already has a refund 8801 of this payment"},
		"one id for both":  {`"refundUniqueId":"`, `"refundUniqueId":"1","was":"`, "3.50 can still be refunded"},
	} {
		t.Run(name, func(t *testing.T) {
			front := changing(t, server, func(r *http.Request, body string) string {
				if strings.HasSuffix(r.URL.Path, "/list/refund") {
					return strings.ReplaceAll(body, change[0], change[1])
				}
				return body
			})
			tool(t, environment(front), "refund", id, "--amount", "5.00", "--refund-id", "r-2", "--yes").want(t, exit.Negative, change[2])
			wantRefunds(t, server, "r-2", 0)
		})
	}
}

// TestRefundWithoutOutput: the outcome is told even if nobody reads stdout.
func TestRefundWithoutOutput(t *testing.T) {
	_, env, id := paidGateway(t, sandbox.Options{})
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer write.Close()
	read.Close()
	cmd := program(t, env, "refund", id, "--all", "--refund-id", "r-1", "--yes")
	cmd.Stdout = write
	ran(cmd).want(t, exit.Unknown, "accepted, not final yet")
}

// TestRefundInFlight: neither an impatient Ctrl-C nor the end of a session ends the program before it has told the outcome.
func TestRefundInFlight(t *testing.T) {
	server, env, id := paidGateway(t, sandbox.Options{})
	server.Inject(sandbox.Fault{Operation: sandbox.OpCreateRefund, After: 2 * time.Second})
	cmd := program(t, env, "refund", id, "--all", "--refund-id", "r-1", "--yes")
	errOut := startUntil(t, cmd, "sending the refund once")
	eventually(t, func() bool { return server.Refunded("r-1") > 0 }, "a refund: %s", errOut)
	for _, s := range []os.Signal{os.Interrupt, os.Interrupt, syscall.SIGTERM, syscall.SIGTERM, syscall.SIGHUP} {
		succeeds(t, cmd.Process.Signal(s))
		time.Sleep(50 * time.Millisecond) // two that come at once count as one
	}
	ended(cmd, errOut).want(t, exit.Unknown, "accepted, not final yet")
}

// TestRefundThatCrashes: the exit code of a Go program that crashes is 2, which would mean that no refund was made. Go handles
// SIGQUIT as it handles a fatal error.
func TestRefundThatCrashes(t *testing.T) {
	server, env, id := paidGateway(t, sandbox.Options{})
	server.Inject(sandbox.Fault{Operation: sandbox.OpCreateRefund, After: time.Minute})
	cmd := program(t, env, "refund", id, "--all", "--refund-id", "r-1", "--yes")
	errOut := startUntil(t, cmd, "sending the refund once")
	eventually(t, func() bool { return server.Refunded("r-1") > 0 }, "a refund: %s", errOut)
	if err := cmd.Process.Signal(syscall.SIGQUIT); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // the exit code says it
	if code := cmd.ProcessState.ExitCode(); code == exit.Failed || code == exit.OK || !strings.Contains(errOut.String(), "SIGQUIT") {
		t.Errorf("got exit code %d and %s", code, errOut.String())
	}
	lacks(t, errOut.String(), secretKey)
}

// TestPrintedCommandParses: the command that is printed works for every id.
func TestPrintedCommandParses(t *testing.T) {
	server := gatewayFor(t, sandbox.Options{})
	env := environment(server.URL)
	id := pay(t, server, "t-1", "500.00", sandbox.Approved).UniqueID
	for _, refundID := range []string{"r-1", "-1", "--", "--amount", "-h", "--help=1", "a b", "it's", "$(x)", `"`, "é", "*"} {
		t.Run(refundID, func(t *testing.T) {
			r := tool(t, env, "refund", id, "--amount", "2.50", "--refund-id="+refundID, "--yes", "--zone", "UTC")
			r.want(t, exit.Unknown)
			tool(t, env, r.printed(t, "run later: ")...).want(t, exit.OK, "refunded: 2.50 EUR")
		})
	}
	for _, transaction := range []string{"-1", "--order", "-h"} {
		t.Run("payment "+transaction, func(t *testing.T) {
			r := tool(t, env, "resolve", "payment", "--amount", "2.50", "--currency", "EUR", "--sent-at", time.Now().UTC().Format(time.RFC3339), "--wait", "1ms",
				"--order=-o", "--seen", "--", transaction)
			r.want(t, exit.Unknown, "the outcome is unknown")
			again := slices.Insert(r.printed(t, "run later: "), 2, "--wait", "1ms")
			tool(t, env, again...).want(t, exit.Unknown, "the outcome is unknown")
		})
	}
}

// TestRefundOfPaymentWithoutTime: refunds of the last year are seen, although the gateway does not say when the payment was made.
func TestRefundOfPaymentWithoutTime(t *testing.T) {
	server, _, id := paidGateway(t, sandbox.Options{RefundDuplicates: sandbox.RefundDuplicatesExecuted})
	at, asked := regexp.MustCompile(`"transactionAt":"[^"]*",?`), []string(nil)
	front := changing(t, server, func(r *http.Request, body string) string {
		if r.URL.Path == "/search/list/refund" {
			asked = append(asked, r.URL.Query().Get("startDate"))
		}
		return at.ReplaceAllString(body, "")
	})
	env := environment(front)
	refund := []string{"refund", id, "--amount", "2.50", "--refund-id", "r-1", "--yes"}
	tool(t, env, refund...).want(t, exit.Unknown, "payment      "+id+" (t-1) of , card")
	tool(t, env, refund...).want(t, exit.Negative, "nothing was sent: the gateway already has a refund r-1 of this payment")
	wantRefunds(t, server, "r-1", 1)
	if yearAgo := time.Now().AddDate(-1, 0, 2).Format(time.DateOnly); len(asked) == 0 || asked[0] > yearAgo {
		t.Errorf("searched from %q on, want a year", asked)
	}
}

// TestRefundFinal: if the outcome is final at once, the exit code is 0 only for code 111. The gateway's row is shown.
func TestRefundFinal(t *testing.T) {
	for answer, want := range map[string]ending{
		`"code":112`: {exit.Negative, "the gateway declined the refund: "}, `"code":111`: {exit.OK, "cardgateway: refunded\n"},
	} {
		t.Run(answer, func(t *testing.T) {
			server, _, id := paidGateway(t, sandbox.Options{})
			front := changing(t, server, func(_ *http.Request, body string) string { return strings.Replace(body, `"code":110`, answer, 1) })
			r := tool(t, environment(front), "refund", id, "--all", "--refund-id", "r-1", "--yes", "--remark", "as agreed")
			r.want(t, want.code, want.want)
			holds(t, r.out, "refundUniqueId         ")
			lacks(t, r.err, "run later")
		})
	}
}

// TestDeclinedRefundsDoNotCount: what was declined can still be refunded; what was accepted cannot.
func TestDeclinedRefundsDoNotCount(t *testing.T) {
	server, env, id := paidGateway(t, sandbox.Options{RefundSettleAfter: -1})
	tool(t, env, "refund", id, "--amount", "4.50", "--refund-id", "r-1", "--yes").want(t, exit.Unknown)
	tool(t, env, "refund", id, "--amount", "8.01", "--refund-id", "r-2", "--yes").
		want(t, exit.Negative, "nothing was sent: of 12.50 EUR, 4.50 was refunded before; 8.00 can")
	succeeds(t, server.SettleRefund("r-1", false))
	tool(t, env, "refund", id, "--amount", "12.50", "--refund-id", "r-2", "--yes").
		want(t, exit.Unknown, "remaining    12.50 EUR\n", "refund       4.50 EUR, declined, of ")
}
