//go:build linux || darwin

package main

import (
	"bufio"
	"database/sql"
	"io"
	"os"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/cardgateway/cardgateway-go/internal/test/clienttest"
)

// TestSyncMillion copies a year with 1,000,000 orders and 100,000 refunds from a gateway in a process of its own, once from
// the beginning and once all of it again, and says how long that takes and how much memory.
func TestSyncMillion(t *testing.T) {
	if os.Getenv("CARDGATEWAY_LONG") != "1" {
		t.Skip("takes some minutes; set CARDGATEWAY_LONG=1")
	}
	gateway := program(t, nil, "sandbox", "-addr", "127.0.0.1:0", "-seed", "1000000", "-days", "365", "-log", "-1")
	stdout, err := gateway.StdoutPipe()
	if err == nil {
		err = gateway.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = gateway.Process.Kill()
		_ = gateway.Wait() // it was killed
	}()
	lines := bufio.NewReader(stdout)
	url, err := lines.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	go func() { _, _ = io.Copy(io.Discard, lines) }()
	env := map[string]string{"CARDGATEWAY_BASE_URL": strings.TrimSpace(url), "CARDGATEWAY_APP_ID": "7"}
	from := time.Now().AddDate(-1, 0, -1).Truncate(time.Second)
	onEachDatabase(t, func(t *testing.T, db string, read *sql.DB) {
		for _, run := range []struct {
			name string
			args []string
		}{{"from the beginning", nil}, {"a run after it", nil}, {"all of it again", []string{"--again", "400d"}}} {
			t.Run(run.name, func(t *testing.T) {
				cmd := program(t, env, append([]string{"reconcile", "sync", "--quiet", "--db", db, "--from", from.Format(time.RFC3339)}, run.args...)...)
				var errOut clienttest.Buffer
				cmd.Stderr = &errOut
				begun := time.Now()
				if err := cmd.Run(); err != nil {
					t.Fatalf("%v: %s", err, errOut.String())
				}
				took := time.Since(begun)
				usage := cmd.ProcessState.SysUsage().(*syscall.Rusage)
				peak := usage.Maxrss / 1024 // KiB on Linux
				if runtime.GOOS == "darwin" {
					peak /= 1024
				}
				t.Logf("%s: %s, peak memory %d MiB, CPU %s", run.name, took.Round(100*time.Millisecond), peak,
					(cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Round(100*time.Millisecond))
			})
		}
		var orders, refunds int
		err := read.QueryRowContext(t.Context(), `SELECT (SELECT COUNT(*) FROM cardgateway_orders), (SELECT COUNT(*) FROM cardgateway_refunds)`).
			Scan(&orders, &refunds)
		if err != nil || orders != 1_000_000 || refunds != 100_000 {
			t.Errorf("got %d orders and %d refunds, %v", orders, refunds, err)
		}
	})
}
