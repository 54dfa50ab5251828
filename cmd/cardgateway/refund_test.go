package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/exit"
	"github.com/cardgateway/cardgateway-go/sandbox"
)

// printed returns the words of the command that follows "before" on stderr, as a shell reads them.
func (r result) printed(t *testing.T, before string) []string {
	t.Helper()
	_, after, found := strings.Cut(r.err, before+"cardgateway ")
	line, _, _ := strings.Cut(after, "\n")
	if !found {
		t.Fatalf("got no command after %q in %q", before, r.err)
	}
	words, err := exec.CommandContext(t.Context(), "sh", "-c", `printf '%s\0' `+line).Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSuffix(string(words), "\x00"), "\x00")
}

func TestRefund(t *testing.T) {
	server, env, id := paidGateway(t, sandbox.Options{})
	r := tool(t, env, "refund", id, "--amount", "2.50", "--refund-id", "r-1", "--yes", "--remark", "broken")
	r.want(t, exit.Unknown, "paid         12.50 EUR\n", "remaining    12.50 EUR\n", "TO REFUND    2.50 EUR with refund id r-1\n",
		"sending the refund once.", "accepted, not final yet: the gateway can still decline it. Do not refund again; run later: ")
	holds(t, r.out, "refundAmount           2.50\n")
	// Before it is sent, the gateway has not returned it; --seen would mean that it can never be absent.
	if before, after := r.printed(t, "without another message, run: "),
		r.printed(t, "run later: "); slices.Contains(before, "--seen") || !slices.Contains(after, "--seen") {
		t.Errorf("got %q before, %q after it was sent", before, after)
	}
	r = tool(t, env, r.printed(t, "run later: ")...)
	r.want(t, exit.OK, "refunded: 2.50 EUR")

	tool(t, env, "refund", id, "--all", "--refund-id", "r-1", "--yes").want(t, exit.Negative,
		"nothing was sent: the gateway already has a refund r-1 of this payment: 2.50 EUR, refunded")
	tool(t, env, "refund", id, "--amount", "10.01", "--refund-id", "r-2", "--yes").want(t, exit.Negative,
		"nothing was sent: of 12.50 EUR, 2.50 was refunded before; 10.00 can still be refunded")
	tool(t, env, "refund", id, "--all", "--refund-id", "r-3", "--yes").want(t, exit.Unknown, "TO REFUND    10.00 EUR with refund id r-3\n")
	tool(t, env, "refund", id, "--all", "--refund-id", "r-4", "--yes").want(t, exit.Negative, "0.00 can still be refunded")
	for refund, want := range map[string]int{"r-1": 1, "r-2": 0, "r-3": 1, "r-4": 0} {
		wantRefunds(t, server, refund, want)
	}
}

func TestRefundThatIsNotSent(t *testing.T) {
	server, env, id := paidGateway(t, sandbox.Options{})
	declined := pay(t, server, "t-2", "12.50", sandbox.Declined).UniqueID
	for _, test := range []struct {
		name string
		args []string
		code int
		want string
	}{
		{"no amount", []string{id}, exit.Failed, "the amount is missing: set --amount 12.50, or --all"},
		{"two amounts", []string{id, "--all", "--amount", "1"}, exit.Failed, "--amount and --all can't be used together"},
		{"nothing", []string{id, "--amount", "0", "--refund-id", "r-1", "--yes"}, exit.Failed, "nothing was sent: --amount: must be above zero"},
		{"decimals", []string{id, "--amount", "1.234", "--refund-id", "r-1", "--yes"}, exit.Failed,
			"nothing was sent: --amount: 1.234 has more than the 2 decimals of EUR"},
		{"no number", []string{id, "--amount", "1e3"}, exit.Failed, `--amount: "1e3" is not an amount`},
		{"a script without an id", []string{id, "--amount", "1", "--yes"}, exit.Failed, "--yes requires --refund-id"},
		{"nobody to ask", []string{id, "--amount", "1"}, exit.Failed, "nothing was sent: there is no terminal to confirm on"},
		{"declined payment", []string{declined, "--all", "--refund-id", "r-1", "--yes"}, exit.Negative, "the payment is not approved, it is declined"},
		{"no payment", []string{"999", "--all", "--refund-id", "r-1", "--yes"}, exit.Negative, "the gateway does not know it"},
		{"too long a remark", []string{id, "--all", "--refund-id", "r-1", "--yes", "--remark", strings.Repeat("x", 256)}, exit.Failed, "remark "},
	} {
		t.Run(test.name, func(t *testing.T) {
			tool(t, env, append([]string{"refund"}, test.args...)...).want(t, test.code, test.want)
			wantRefunds(t, server, "r-1", 0)
		})
	}
}

// TestRefundWithUnknownOutcome: exit code 3, and the command that is printed settles it.
func TestRefundWithUnknownOutcome(t *testing.T) {
	for name, test := range map[string]struct {
		commit sandbox.Commit
		code   int
		want   string
	}{
		"carried out":     {sandbox.CommitNow, exit.OK, "refunded: 12.50 EUR"},
		"not carried out": {sandbox.CommitNever, exit.Negative, "not known to the gateway. That is no proof"},
	} {
		t.Run(name, func(t *testing.T) {
			server, env, id := paidGateway(t, sandbox.Options{})
			server.Inject(sandbox.Fault{Operation: sandbox.OpCreateRefund, Commit: test.commit, Reply: sandbox.ReplyReset})
			r := tool(t, env, "refund", id, "--all", "--refund-id", "r-1", "--yes", "--zone", "UTC")
			r.want(t, exit.Unknown, "SENT, AND THE OUTCOME IS UNKNOWN. Do not refund again. Run: cardgateway resolve refund "+id+" r-1 --amount 12.50 --sent-at ")
			next := r.printed(t, "Do not refund again. Run: ")
			if !strings.HasSuffix(strings.Join(next, " "), " --zone UTC") {
				t.Errorf("got the command %q, want one with the flags of the first", next)
			}
			tool(t, with(env, "CARDGATEWAY_ZONE", "UTC"), append(next, "--wait", "1ms", "--zone", "Asia/Shanghai")...).want(t, test.code, test.want)
		})
	}
}

func TestRefundThatTheGatewayDoesNotTake(t *testing.T) {
	server, env, id := paidGateway(t, sandbox.Options{})
	for _, test := range []struct {
		name  string
		fault sandbox.Fault
		code  int
		want  string
	}{
		{"merchant", sandbox.Fault{Code: 201}, exit.Negative, "the gateway refused the refund: "},
		{"credentials", sandbox.Fault{Code: 401}, exit.Failed, "nothing was refunded: the gateway does not accept the credentials"},
		{"HTTP 403", sandbox.Fault{Status: 403, Reply: sandbox.ReplyHTML}, exit.Failed, "nothing was refunded: "},
		{"system error", sandbox.Fault{Code: 999}, exit.Unknown, "SENT, AND THE OUTCOME IS UNKNOWN"},
	} {
		t.Run(test.name, func(t *testing.T) {
			test.fault.Operation, test.fault.Commit = sandbox.OpCreateRefund, sandbox.CommitNever
			server.Inject(test.fault)
			tool(t, env, "refund", id, "--all", "--refund-id", "r-1", "--yes").want(t, test.code, test.want)
			wantRefunds(t, server, "r-1", 0)
		})
	}
}

// wantRefunds holds a gateway to how often it made a refund.
func wantRefunds(t *testing.T, server *sandbox.Server, id string, want int) {
	t.Helper()
	if got := server.Refunded(id); got != want {
		t.Errorf("got %d refunds %s, want %d", got, id, want)
	}
}

// broken is an output that makes the program panic.
type broken struct{}

func (broken) Write([]byte) (int, error) { panic("no output") }

// TestRefundThatPanics: Go's own exit code would say that nothing was sent.
func TestRefundThatPanics(t *testing.T) {
	_, env, id := paidGateway(t, sandbox.Options{})
	r := toolTo(t, broken{}, env, "refund", id, "--all", "--refund-id", "r-1", "--yes")
	r.want(t, exit.Unknown, "Do not refund again. Run: cardgateway resolve refund "+id+" r-1 ")
	lacks(t, r.err, "--seen")
}

func TestResolvePayment(t *testing.T) {
	t.Parallel()
	server := gatewayFor(t, sandbox.Options{})
	env := environment(server.URL)
	sentAt := time.Now().Add(-time.Minute).Format(time.RFC3339)
	pay(t, server, "t-approved", "12.50", sandbox.Approved)
	pay(t, server, "t-declined", "12.50", sandbox.Declined)
	pending := gatewayFor(t, sandbox.Options{SettleAfter: -1})
	pay(t, pending, "t-pending", "12.50", sandbox.Approved)
	twice := gatewayFor(t, sandbox.Options{Duplicates: sandbox.DuplicatesExecuted})
	pay(t, twice, "t-twice", "12.50", sandbox.Approved)
	pay(t, twice, "t-twice", "12.50", sandbox.Approved)
	charged := chargedAgain(t, twice, 6*24*time.Hour)
	for _, test := range []struct {
		url, id string
		args    []string
		code    int
		want    string
	}{
		{charged, "t-twice", nil, exit.Negative, "TWICE: the gateway has two successes. This needs manual review"},
		{charged, "t-twice", []string{"--subscription-cycle", "week"}, exit.OK, "approved: 12.50 EUR was charged"},
		{charged, "t-twice", []string{"--subscription-cycle", "month"}, exit.Negative, "TWICE: the gateway has two successes"},
		{pending.URL, "t-pending", []string{"--subscription-cycle", "WEEK"}, exit.Unknown, " --subscription-cycle=WEEK --seen\n"},
		{server.URL, "t-approved", nil, exit.OK, "approved: 12.50 EUR was charged"},
		{server.URL, "t-declined", nil, exit.Negative, "declined, no money was moved"},
		{server.URL, "t-absent", nil, exit.Negative, "not known to the gateway. That is no proof"},
		{server.URL, "t-absent", []string{"--seen"}, exit.Unknown, "the outcome is unknown. Do not send it again; run later: cardgateway resolve payment t-absent"},
		{server.URL, "t-declined", []string{"--hosted-page"}, exit.Unknown, " --hosted-page --seen\n"},
		{server.URL, "t-declined", []string{"--sent-again"}, exit.Unknown, " --seen --sent-again\n"},
		{pending.URL, "t-pending", nil, exit.Unknown, "processing: not final yet. Do not send it again; run later: cardgateway resolve payment t-pending"},
		{"http://127.0.0.1:1", "t-approved", nil, exit.Unknown, "connection refused"},
		{server.URL, "t-approved", []string{"--wait", "0s"}, exit.Failed, "--wait must be greater than 0"},
		{server.URL, "t-approved", []string{"--sent-at", "noon"}, exit.Failed, `--sent-at: "noon" is not a time`},
		{server.URL, "t-approved", []string{"--currency", "euro"}, exit.Failed, "cardgateway: --currency must be 3 capital letters\n"},
		{server.URL, "t-approved", []string{"--amount", "0"}, exit.Failed, "cardgateway: --amount must be above zero\n"},
		{server.URL, "t-approved", []string{"--sent-at", "2100-01-01"}, exit.Failed, "cardgateway: --sent-at must not be in the future\n"},
	} {
		t.Run(test.id+" "+strings.Join(test.args, " "), func(t *testing.T) {
			args := []string{"resolve", "payment", test.id, "--amount", "12.50", "--currency", "EUR", "--sent-at", sentAt, "--wait", "1ms"}
			r := tool(t, environment(test.url), append(args, test.args...)...)
			r.want(t, test.code, test.want)
		})
	}
	r := tool(t, env, "resolve", "payment", "t-approved")
	r.want(t, exit.Failed, "missing flags: --amount=AMOUNT, --currency=CODE, --sent-at=TIME")
}

// TestResolveSaysThatItQueries: a query of two minutes is not silent.
func TestResolveSaysThatItQueries(t *testing.T) {
	t.Parallel()
	env := environment(gatewayFor(t, sandbox.Options{}).URL)
	args := []string{"resolve", "payment", "t-absent", "--amount", "12.50", "--currency", "EUR", "--sent-at", time.Now().Format(time.RFC3339), "--wait", "4s"}
	const says = "cardgateway: no outcome yet; the gateway is queried for up to 4s\n"
	tool(t, env, args...).want(t, exit.Negative, says)
	lacks(t, tool(t, env, append(args, "--quiet")...).err, says)
}

// changing starts a server in front of a gateway, which changes its responses.
func changing(t *testing.T, gateway *sandbox.Server, change func(r *http.Request, body string) string) (url string) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer := httptest.NewRecorder()
		gateway.ServeHTTP(answer, r)
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, change(r, answer.Body.String()))
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// chargedAgain is a gateway that says that one of two payments was made earlier.
func chargedAgain(t *testing.T, gateway *sandbox.Server, earlier time.Duration) string {
	t.Helper()
	const layout = `"transactionAt":"` + time.DateTime + `"`
	member := regexp.MustCompile(`"transactionAt":"[^"]*"`)
	return changing(t, gateway, func(_ *http.Request, body string) string {
		first, err := time.Parse(layout, member.FindString(body))
		if err != nil { // no row
			return body
		}
		return strings.Replace(body, first.Format(layout), first.Add(-earlier).Format(layout), 1)
	})
}

func TestResolveInterrupted(t *testing.T) {
	url, ctx := interruptedAt(t, gatewayFor(t, sandbox.Options{}), 1)
	r := toolUntil(t, ctx, environment(url), "resolve", "payment", "it's", "--amount", "1", "--currency", "EUR",
		"--sent-at", "2026-11-22 03:10:00", "--order", "o 1")
	r.want(t, exit.Interrupted, "interrupted; the outcome is still unknown. Run again: cardgateway resolve payment 'it'\\''s' "+
		"--amount 1 --sent-at '2026-11-22 03:10:00' --currency EUR '--order=o 1'\n")
}
