//go:build linux || darwin

package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/exit"
	"github.com/cardgateway/cardgateway-go/internal/test/mysqlserver"
	"github.com/cardgateway/cardgateway-go/internal/test/pgserver"
	"github.com/cardgateway/cardgateway-go/journal"
	"github.com/cardgateway/cardgateway-go/sandbox"
)

// tried is a command that is tried in every wrong way, and the exit codes and words that it must end with.
type tried struct {
	name string
	args []string

	credentials ending // the gateway does not accept them
	unreachable ending // there is no gateway
	full        ending // stdout is a full disk; no words where nothing need be written
}

type ending struct {
	code int
	want string
}

const (
	notAccepted = "the gateway does not accept the credentials"
	notReached  = "the gateway cannot be reached"

	// Of a question about an unknown outcome, the library's own words.
	inVain401  = "code 401 (unauthorized)"
	inVainDead = "connection refused"
)

// allTried are the commands with a payment t-1, and a journal in which t-2 is open.
func allTried(uniqueID string) []tried {
	sent := []string{"--amount", "12.50", "--sent-at", time.Now().UTC().Format(time.RFC3339), "--wait", "1ms"}
	noCredentials, noGateway := ending{exit.Failed, notAccepted}, ending{exit.Failed, notReached}
	noRows := ending{exit.Failed, "the rows cannot be written"}
	return []tried{
		{"get", []string{"get", uniqueID}, noCredentials, noGateway, ending{exit.Failed, "the result cannot be written"}},
		{"orders", []string{"orders", "--last", "1h"}, noCredentials, noGateway, noRows},
		{"refunds", []string{"refunds", "--last", "1h"}, noCredentials, noGateway, noRows},
		{"resolve payment", append([]string{"resolve", "payment", "t-1", "--currency", "EUR"}, sent...), ending{exit.Unknown, inVain401},
			ending{exit.Unknown, inVainDead}, ending{exit.Failed, "the result cannot be written"}},
		{"resolve refund", append([]string{"resolve", "refund", uniqueID, "r-1"}, sent...), ending{exit.Unknown, inVain401},
			ending{exit.Unknown, inVainDead}, ending{exit.Negative, "not known to the gateway"}},
		{"refund", []string{"refund", uniqueID, "--amount", "1.00", "--refund-id", "r-2", "--yes"}, noCredentials, noGateway,
			ending{exit.Unknown, "the result cannot be written"}}, // it was accepted, which matters more
		{"check", []string{"check"}, noCredentials, noGateway, ending{exit.Failed, "the result cannot be written"}},
		{"journal list", []string{"journal", "list"}, ending{exit.Negative, "1  payment unknown"}, ending{exit.Negative, "1  payment unknown"}, noRows},
		{"journal show", []string{"journal", "show", "t-2"}, ending{exit.OK, ""}, ending{exit.OK, ""}, ending{exit.Failed, "the entry cannot be written"}},
		{"journal run", []string{"journal", "run"}, ending{exit.Failed, inVain401},
			ending{exit.Failed, "entries for which the query failed: 1; the last error: "}, noRows},
		{"journal ack", []string{"journal", "ack", "t-2", "--state", "succeeded"}, ending{exit.Negative, "nothing was acknowledged: the payment is unknown"},
			ending{exit.Negative, "nothing was acknowledged: the payment is unknown"}, ending{exit.OK, "acknowledged"}},
	}
}

// TestTriedWrong: a clear word, the right exit code, nothing lost.
func TestTriedWrong(t *testing.T) {
	t.Parallel()
	server, _, id := paidGateway(t, sandbox.Options{})
	at := sqlitePlace(t)
	s := openShop(t, server, at)
	s.lose(t, "t-2", "30.00", "EUR")
	env := journalEnv(server, at)
	away := with(env, "CARDGATEWAY_BASE_URL", "http://127.0.0.1:1")
	t.Run("no answer", func(t *testing.T) {
		for _, test := range allTried(id) {
			t.Run(test.name, func(t *testing.T) {
				t.Parallel()
				args := test.args
				tool(t, nil, args...).want(t, exit.Failed, "base-url is missing")
				tool(t, with(env, "CARDGATEWAY_SECRET", "wrong"), args...).want(t, test.credentials.code, test.credentials.want)
				if args[0] == "journal" {
					args = append(args, "--gateway", server.URL)
				}
				tool(t, away, args...).want(t, test.unreachable.code, test.unreachable.want)
				e, err := s.Get(t.Context(), journal.PaymentID("t-2"))
				if err != nil || e.State() != journal.Unknown || len(e.Evidence) != 1 || server.Refunded("r-2") != 0 {
					t.Fatalf("got %v with %d pieces of evidence, %v, %d refunds, want nothing changed", e.State(), len(e.Evidence), err, server.Refunded("r-2"))
				}
			})
		}
	})
	for _, test := range allTried(id) {
		t.Run(test.name+", full disk", func(t *testing.T) {
			runFull(t, env, test.args...).want(t, test.full.code, test.full.want)
		})
	}
	wantRefunds(t, server, "r-2", 1)
}

// runFull runs the program with a stdout that is full.
func runFull(t *testing.T, env map[string]string, args ...string) result {
	t.Helper()
	out, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil { // as on macOS
		return toolTo(t, full{}, env, args...)
	}
	defer out.Close()
	cmd := program(t, env, args...)
	cmd.Stdout = out
	return ran(cmd)
}

// TestFullDisk: the system refuses every write to a file. What the journal does not hold is asked for again.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	server := gatewayFor(t, sandbox.Options{})
	at := sqlitePlace(t)
	s := openShop(t, server, at)
	const n = 20
	for i := range n {
		s.lose(t, fmt.Sprint("t-", i), "1.00", "EUR")
	}
	env := with(journalEnv(server, at), noFileGrows, "1")
	ran(program(t, env, "journal", "list")).want(t, exit.Negative, "20  payment unknown")
	ran(program(t, env, "journal", "run")).want(t, exit.Failed, "not every entry was queried: the journal's database failed: ")
	ran(program(t, env, "orders", "--last", "1h", "--checkpoint", filepath.Join(t.TempDir(), "c.json"))).want(t, exit.Failed, "--checkpoint cannot be written: ")
	env = journalEnv(server, at)
	tool(t, env, "journal", "run").want(t, exit.Negative, "not acknowledged: 20 with an outcome, 0 without one")
	for i := range n {
		tool(t, env, "journal", "ack", fmt.Sprint("t-", i), "--state", "succeeded").want(t, exit.OK)
	}
	tool(t, env, "journal", "list").want(t, exit.OK)
}

// dying is a stdout at whose first byte something happens.
type dying struct {
	once  sync.Once
	event func()
}

func (d *dying) Write(p []byte) (int, error) {
	d.once.Do(d.event)
	return len(p), nil
}

// TestDatabaseGone: the database server dies in the middle. The gateway is asked again later.
func TestDatabaseGone(t *testing.T) {
	t.Parallel()
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		server := pgserver.Own(t)
		databaseGone(t, postgresPlace(t, server), server.Kill, server.Restart)
	})
	t.Run("mysql", func(t *testing.T) {
		t.Parallel()
		server := mysqlserver.Own(t)
		databaseGone(t, mysqlPlace(t, server), server.Kill, server.Restart)
	})
}

func databaseGone(t *testing.T, at place, kill, restart func() error) {
	server := gatewayFor(t, sandbox.Options{Search: sandbox.Search{Latency: 20 * time.Millisecond}})
	s := openShop(t, server, at)
	const n = 300 // more than a journal reads at once
	var all sync.WaitGroup
	const callers = 2 // as many as a pool keeps connections: more would open one for each payment, which takes long on a busy machine
	for first := range callers {
		all.Go(func() {
			for i := first; i < n; i += callers {
				s.lose(t, fmt.Sprint("t-", i), "1.00", "EUR")
			}
		})
	}
	all.Wait()
	env := journalEnv(server, at)
	for _, test := range []struct {
		command, want string
	}{
		{"list", "the list is not complete: the journal's database failed: "},
		{"run", "not every entry was queried: the journal's database failed: "},
	} {
		toolTo(t, &dying{event: func() { succeeds(t, kill()) }}, env, "journal", test.command).want(t, exit.Failed, test.want)
		tool(t, env, "journal", "ack", "t-1", "--state", "succeeded").want(t, exit.Failed, " cannot be opened: ")
		succeeds(t, restart())
	}
	r := tool(t, env, "journal", "run")
	r.want(t, exit.Negative, "not acknowledged: 300 with an outcome, 0 without one")
	if got := strings.Count(r.out, "\n") - 1; got != n {
		t.Errorf("got %d rows, want %d", got, n)
	}
}

// TestRunInterrupted: Ctrl-C while the gateway is queried.
func TestRunInterrupted(t *testing.T) {
	t.Parallel()
	server := gatewayFor(t, sandbox.Options{})
	at := sqlitePlace(t)
	openShop(t, server, at).lose(t, "t-1", "1.00", "EUR")
	server.Inject(sandbox.Fault{Operation: sandbox.OpSearches, Times: -1, Before: time.Minute})
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	toolUntil(t, ctx, journalEnv(server, at), "journal", "run").want(t, exit.Interrupted, "interrupted; the results so far are recorded")
}
