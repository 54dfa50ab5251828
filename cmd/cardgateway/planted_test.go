//go:build linux || darwin

package main

import (
	"database/sql"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/exit"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/reconcile/match"
	"github.com/cardgateway/cardgateway-go/internal/test/clienttest"
	"github.com/cardgateway/cardgateway-go/sandbox"
)

// TestPlanted plants differences of every class among the orders and refunds of a sandbox, and finds each of them in its
// class and nothing else. With CARDGATEWAY_LONG=1 there are 1,000 of every class among 1,000,000 orders and 100,000 refunds.
func TestPlanted(t *testing.T) {
	orders, each := 6_000, 10
	if os.Getenv("CARDGATEWAY_LONG") == "1" {
		orders, each = 1_000_000, 1000
	}
	to := time.Now().Add(-time.Hour).Truncate(time.Second)
	from := to.AddDate(-1, 0, 0)
	gateway := gatewayFor(t, sandbox.Options{})
	gateway.SeedOrders(sandbox.SeedOptions{
		N: orders, From: from, To: to, Random: true, Hours: shopHours(), Currencies: []string{"EUR", "USD", "JPY"},
		TwiceEvery: orders / each, RefundTwiceEvery: orders / 10 / each,
	})
	gateway.SeedOrders(sandbox.SeedOptions{From: from.AddDate(0, 1, 0), To: to.AddDate(0, -1, 0), StrayRefunds: each})
	onEachDatabase(t, func(t *testing.T, db string, read *sql.DB) {
		env := with(environment(gateway.URL), "CARDGATEWAY_DB", db, "CARDGATEWAY_TEST_PAYMENTS", "false")
		runProgram(t, env, exit.OK, "reconcile", "sync", "--quiet", "--from", from.Format(time.RFC3339))
		l := &plantedLists{each: each, gap: max(1, orders/(each*10)), from: from, to: to, want: map[match.Class][]string{}}
		dir := t.TempDir()
		l.markTests(t, read)
		l.chargeLater(t, read)
		l.refundTwice(t, read)
		l.write(t, read, dir)

		begun := time.Now()
		out, _ := runProgram(t, env, exit.Negative, "reconcile", "match", "--quiet", "--format", "jsonl",
			"--from", from.Format(time.RFC3339), "--to", to.Add(10*time.Minute).Format(time.RFC3339),
			"--list", filepath.Join(dir, "paid.csv"), "--refund-list", filepath.Join(dir, "refunds.csv"), "--amounts", "1234.50")
		imported := time.Since(begun)
		begun = time.Now()
		_, usage := runProgram(t, env, exit.Negative, "reconcile", "report", "--quiet", "--out", filepath.Join(dir, "report.html"),
			"--from", from.Format(time.RFC3339), "--to", to.Add(10*time.Minute).Format(time.RFC3339))
		took := time.Since(begun)
		rows := l.rows + l.lines
		t.Logf("import and match %s; report of what is imported %s: %d rows of both sides, %.0f rows/s, peak memory %d MiB",
			imported.Round(100*time.Millisecond), took.Round(100*time.Millisecond), rows, float64(rows)/took.Seconds(), peakMiB(usage))
		l.check(t, out)
	})
}

func peakMiB(usage *syscall.Rusage) int64 {
	if runtime.GOOS == "darwin" {
		return usage.Maxrss >> 20
	}
	return usage.Maxrss >> 10
}

// runProgram runs the program in a process of its own to its end.
func runProgram(t *testing.T, env map[string]string, code int, args ...string) (out string, usage *syscall.Rusage) {
	t.Helper()
	cmd := program(t, env, args...)
	var stdout, stderr clienttest.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	_ = cmd.Run() // the exit code says it
	if got := cmd.ProcessState.ExitCode(); got != code {
		t.Fatalf("%q: got exit code %d, want %d\n%s", args, got, code, stderr.String())
	}
	return stdout.String(), cmd.ProcessState.SysUsage().(*syscall.Rusage)
}
