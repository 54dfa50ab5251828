//go:build linux || darwin

package main

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"

	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/exit"
	"github.com/cardgateway/cardgateway-go/internal/test/clienttest"
	"github.com/cardgateway/cardgateway-go/sandbox"
)

// toolLate runs the program on a machine whose clock is late.
func toolLate(t *testing.T, late time.Duration, env map[string]string, args ...string) result {
	t.Helper()
	var out, errOut clienttest.Buffer
	code := run(t.Context(), args, system{
		in: strings.NewReader(""), out: &out, err: &errOut, now: func() time.Time { return time.Now().Add(-late) },
		getenv:    func(name string) string { return env[name] },
		configDir: func() (string, error) { return "", os.ErrNotExist },
	})
	return result{code, out.String(), errOut.String()}
}

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
			toolLate(t, test.late, env, "get", "--transaction", "t-1", "--last", "1h").want(t, exit.OK)
			refund := []string{"refund", id, "--amount", "2.50", "--refund-id", "r-1", "--yes"}
			toolLate(t, test.late, env, refund...).want(t, exit.Unknown, "remaining    12.50 EUR\n")
			toolLate(t, test.late, env, refund...).want(t, exit.Negative, "nothing was sent: the gateway already has a refund r-1 of this payment")
			if n := server.Refunded("r-1"); n != 1 {
				t.Errorf("got %d refunds, want 1", n)
			}
		})
	}
}

// event is an output that has something happen when a text is written to it.
type event struct {
	io.Writer
	when string
	do   func()
}

func (e *event) Write(p []byte) (int, error) {
	if strings.Contains(string(p), e.when) {
		e.do()
	}
	return e.Writer.Write(p)
}

// TestInterruptedBeforeSending: Ctrl-C before the refund is sent, whenever that is, sends nothing.
func TestInterruptedBeforeSending(t *testing.T) {
	for _, when := range []string{"TO REFUND", "sending the refund once"} {
		t.Run(when, func(t *testing.T) {
			server := gatewayFor(t, sandbox.Options{})
			env := environment(server.URL)
			id := pay(t, server, "t-1", "12.50", sandbox.Approved).UniqueID
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			var out, errOut clienttest.Buffer
			code := run(ctx, []string{"refund", id, "--all", "--refund-id", "r-1", "--yes"}, system{
				in: strings.NewReader(""), out: &out, err: &event{&errOut, when, cancel}, now: time.Now,
				getenv:    func(name string) string { return env[name] },
				configDir: func() (string, error) { return "", os.ErrNotExist },
			})
			result{code, out.String(), errOut.String()}.want(t, exit.Interrupted, "interrupted; nothing was sent")
			if n := server.Refunded("r-1"); n != 0 {
				t.Errorf("got %d refunds, want none", n)
			}
		})
	}
}

// TestConfirmInterrupted: Ctrl-C wins, even if the amount was typed at the same time.
func TestConfirmInterrupted(t *testing.T) {
	server := gatewayFor(t, sandbox.Options{})
	env := environment(server.URL)
	id := pay(t, server, "t-1", "12.50", sandbox.Approved).UniqueID
	for _, typed := range []string{"12.50\n", "no\n"} {
		for range 10 {
			master, slave, err := pty.Open()
			if err != nil {
				t.Skip("no pseudo terminal here: ", err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			var out, errOut clienttest.Buffer
			code := run(ctx, []string{"refund", id, "--all", "--refund-id", "r-1"}, system{
				in: slave, out: &out, now: time.Now,
				err: &event{&errOut, "Type the amount", func() {
					if _, err := io.WriteString(master, typed); err != nil {
						t.Error(err)
					}
					cancel()
				}},
				getenv:    func(name string) string { return env[name] },
				configDir: func() (string, error) { return "", os.ErrNotExist },
			})
			cancel()
			master.Close()
			slave.Close()
			result{code, out.String(), errOut.String()}.want(t, exit.Interrupted, "interrupted; nothing was sent")
		}
	}
	if n := server.Refunded("r-1"); n != 0 {
		t.Errorf("got %d refunds, want none", n)
	}
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
			master, slave, err := pty.Open()
			if err != nil {
				t.Skip("no pseudo terminal here: ", err)
			}
			defer master.Close()
			defer slave.Close()
			var out, errOut clienttest.Buffer
			code := run(t.Context(), []string{"refund", id, "--amount", "5.00", "--refund-id", name}, system{
				in: slave, out: &out, now: time.Now,
				err: &event{&errOut, "Type the amount", func() {
					if test.others != "" {
						tool(t, env, "refund", id, "--amount", test.others, "--refund-id", "of others, "+name, "--yes").want(t, exit.Unknown)
					}
					if _, err := io.WriteString(master, "5.00\n"); err != nil {
						t.Error(err)
					}
				}},
				getenv:    func(name string) string { return env[name] },
				configDir: func() (string, error) { return "", os.ErrNotExist },
			})
			result{code, out.String(), errOut.String()}.want(t, test.code, test.want)
			if n := server.Refunded(name); n != 0 && test.others != "" {
				t.Errorf("got %d refunds, want none", n)
			}
		})
	}
}

// TestRefundBeforeOfUnknownAmount: if the gateway does not say how much an earlier refund returned, nobody knows what is left.
func TestRefundBeforeOfUnknownAmount(t *testing.T) {
	server := gatewayFor(t, sandbox.Options{})
	id := pay(t, server, "t-1", "12.50", sandbox.Approved).UniqueID
	tool(t, environment(server.URL), "refund", id, "--all", "--refund-id", "r-1", "--yes").want(t, exit.Unknown)
	for name, change := range map[string][2]string{
		"no amount":        {`"refundAmount":"12.50"`, `"refundNote":"12.50"`},
		"an amount of 0":   {`"refundAmount":"12.50"`, `"refundAmount":"0"`},
		"another currency": {`"refundCurrency":"EUR"`, `"refundCurrency":"JPY"`},
	} {
		t.Run(name, func(t *testing.T) {
			proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				recorded := httptest.NewRecorder()
				server.Gateway.ServeHTTP(recorded, r)
				body := recorded.Body.String()
				if changed := strings.Replace(body, change[0], change[1], 1); strings.HasSuffix(r.URL.Path, "/list/refund") {
					body = changed
				}
				w.Header().Set("Content-Type", "application/json")
				_, _ = io.WriteString(w, body)
			}))
			defer proxy.Close()
			tool(t, environment(proxy.URL), "refund", id, "--amount", "5.00", "--refund-id", "r-2", "--yes").want(t, exit.Negative,
				"nothing was sent: it is not known how much of the payment an earlier refund has returned: r-1")
			if n := server.Refunded("r-2"); n != 0 {
				t.Errorf("got %d refunds, want none", n)
			}
		})
	}
}

// TestRefundWithoutOutput: the outcome is told even if nobody reads stdout.
func TestRefundWithoutOutput(t *testing.T) {
	server := gatewayFor(t, sandbox.Options{})
	id := pay(t, server, "t-1", "12.50", sandbox.Approved).UniqueID
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer write.Close()
	read.Close()
	cmd := program(t, environment(server.URL), "refund", id, "--all", "--refund-id", "r-1", "--yes")
	var errOut clienttest.Buffer
	cmd.Stdout, cmd.Stderr = write, &errOut
	err = cmd.Run()
	if code := cmd.ProcessState.ExitCode(); code != exit.Unknown || !strings.Contains(errOut.String(), "accepted, not final yet") {
		t.Errorf("got exit code %d, %v, and %s", code, err, errOut.String())
	}
}

// TestRefundThatCrashes: the exit code of a Go program that crashes is 2, which would mean that no refund was made. Go handles
// SIGQUIT as it handles a fatal error.
func TestRefundThatCrashes(t *testing.T) {
	server := gatewayFor(t, sandbox.Options{})
	id := pay(t, server, "t-1", "12.50", sandbox.Approved).UniqueID
	server.Inject(sandbox.Fault{Operation: sandbox.OpCreateRefund, After: time.Minute})
	cmd := program(t, environment(server.URL), "refund", id, "--all", "--refund-id", "r-1", "--yes")
	errOut := startUntil(t, cmd, "sending the refund once")
	for until := time.Now().Add(20 * time.Second); server.Refunded("r-1") == 0; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(until) {
			t.Fatalf("got no refund: %s", errOut.String())
		}
	}
	if err := cmd.Process.Signal(syscall.SIGQUIT); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // the exit code says it
	if code := cmd.ProcessState.ExitCode(); code == exit.Failed || code == exit.OK || !strings.Contains(errOut.String(), "SIGQUIT") {
		t.Errorf("got exit code %d and %s", code, errOut.String())
	}
	if strings.Contains(errOut.String(), secretKey) {
		t.Error("the secret key was printed")
	}
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
	server := gatewayFor(t, sandbox.Options{RefundDuplicates: sandbox.RefundDuplicatesExecuted})
	id := pay(t, server, "t-1", "12.50", sandbox.Approved).UniqueID
	at, asked := regexp.MustCompile(`"transactionAt":"[^"]*",?`), []string(nil)
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/search/list/refund" {
			asked = append(asked, r.URL.Query().Get("startDate"))
		}
		answer := httptest.NewRecorder()
		server.ServeHTTP(answer, r)
		_, _ = w.Write(at.ReplaceAll(answer.Body.Bytes(), nil))
	}))
	t.Cleanup(front.Close)
	env := environment(front.URL)
	refund := []string{"refund", id, "--amount", "2.50", "--refund-id", "r-1", "--yes"}
	tool(t, env, refund...).want(t, exit.Unknown, "payment      "+id+" (t-1) of , card")
	tool(t, env, refund...).want(t, exit.Negative, "nothing was sent: the gateway already has a refund r-1 of this payment")
	if n := server.Refunded("r-1"); n != 1 {
		t.Errorf("got %d refunds, want 1", n)
	}
	if yearAgo := time.Now().AddDate(-1, 0, 2).Format(time.DateOnly); len(asked) == 0 || asked[0] > yearAgo {
		t.Errorf("searched from %q on, want a year", asked)
	}
}

// TestRefundDeclined: the gateway's row is shown, and the exit code is 1.
func TestRefundDeclined(t *testing.T) {
	server := gatewayFor(t, sandbox.Options{})
	env := environment(server.URL)
	id := pay(t, server, "t-1", "12.50", sandbox.Approved).UniqueID
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/api/refund" {
			server.ServeHTTP(w, r)
			return
		}
		_, _ = io.Copy(io.Discard, r.Body)
		_, _ = io.WriteString(w, `{"code":112,"message":"no","refundTransactionId":"r-1","uniqueId":"`+id+`","refundUniqueId":"9","refundAmount":"12.50"}`)
	}))
	t.Cleanup(front.Close)
	r := tool(t, with(env, "CARDGATEWAY_BASE_URL", front.URL), "refund", id, "--all", "--refund-id", "r-1", "--yes")
	r.want(t, exit.Negative, "the gateway declined the refund: ")
	if !strings.Contains(r.out, "refundUniqueId         9\n") || strings.Contains(r.err, "run later") {
		t.Errorf("got %q and %q", r.out, r.err)
	}
}

// TestRefundMade: exit code 0 only for code 111.
func TestRefundMade(t *testing.T) {
	server := gatewayFor(t, sandbox.Options{})
	env := environment(server.URL)
	id := pay(t, server, "t-1", "12.50", sandbox.Approved).UniqueID
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer := httptest.NewRecorder()
		server.ServeHTTP(answer, r)
		_, _ = w.Write([]byte(strings.Replace(answer.Body.String(), `"code":110`, `"code":111`, 1)))
	}))
	t.Cleanup(front.Close)
	r := tool(t, with(env, "CARDGATEWAY_BASE_URL", front.URL), "refund", id, "--all", "--refund-id", "r-1", "--yes", "--remark", "as agreed")
	r.want(t, exit.OK, "cardgateway: refunded\n")
	if strings.Contains(r.err, "run later") {
		t.Errorf("got %q", r.err)
	}
}

// TestDeclinedRefundsDoNotCount: what was declined can still be refunded; what was accepted cannot.
func TestDeclinedRefundsDoNotCount(t *testing.T) {
	server := gatewayFor(t, sandbox.Options{RefundSettleAfter: -1})
	env := environment(server.URL)
	id := pay(t, server, "t-1", "12.50", sandbox.Approved).UniqueID
	tool(t, env, "refund", id, "--amount", "4.50", "--refund-id", "r-1", "--yes").want(t, exit.Unknown)
	tool(t, env, "refund", id, "--amount", "8.01", "--refund-id", "r-2", "--yes").
		want(t, exit.Negative, "nothing was sent: of 12.50 EUR, 4.50 was refunded before; 8.00 can")
	if err := server.SettleRefund("r-1", false); err != nil {
		t.Fatal(err)
	}
	tool(t, env, "refund", id, "--amount", "12.50", "--refund-id", "r-2", "--yes").
		want(t, exit.Unknown, "remaining    12.50 EUR\n", "refund       4.50 EUR, refused, of ")
}
