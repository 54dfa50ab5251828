package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/exit"
	"github.com/cardgateway/cardgateway-go/sandbox"
)

// TestColumns: those that are asked for, in any format, and with a checkpoint the same to the end.
func TestColumns(t *testing.T) {
	server, _, _ := seeded(t, sandbox.Options{})
	env := environment(server.URL)
	for _, test := range []struct {
		name string
		args []string
		want string // the first line
	}{
		{"names", []string{"--columns", "uniqueId,state"}, "uniqueId,state\n"},
		{"titles", []string{"--columns", "unique-id,State,amount"}, "uniqueId,state,transactionAmount\n"},
		{"a table shows what it does not show otherwise", []string{"--columns", "state,isTest", "--format", "table"}, "state       isTest\n"},
		{"no header", []string{"--columns", "state", "--no-header", "--state", "approved"}, "approved\n"},
		{"no header of a table", []string{"--columns", "state", "--no-header", "--state", "approved", "--format", "table"}, "approved\n"},
		{"JSON", []string{"--columns", "state,currency", "--state", "approved", "--format", "jsonl"}, `{"state":"approved","transactionCurrency":"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := tool(t, env, append([]string{"orders", "--last", "4d"}, test.args...)...)
			r.want(t, exit.OK)
			if len(r.out) < len(test.want) || r.out[:len(test.want)] != test.want {
				t.Errorf("got %.100q, want first %q", r.out, test.want)
			}
		})
	}
	tool(t, env, "orders", "--last", "4d", "--columns", "nothing").want(t, exit.Failed, `--columns: there is no column "nothing"; there are transactionAt, at, `)

	slow, _, _ := seeded(t, sandbox.Options{MaxPageSize: 20})
	url, ctx := interruptedAt(t, slow, 10)
	env = environment(url)
	path := filepath.Join(t.TempDir(), "c.json")
	first := toolUntil(t, ctx, env, "orders", "--last", "4d", "--checkpoint", path, "--columns", "state")
	first.want(t, exit.Interrupted)
	tool(t, env, "orders", "--checkpoint", path, "--columns", "amount").want(t, exit.Failed, "columns was state and is amount now")
	second := tool(t, env, "orders", "--checkpoint", path)
	second.want(t, exit.OK)
	for i, r := range []result{first, second} {
		for j, line := range splitLines(r.out) {
			if len(line) > 12 || line == "state" && (i != 0 || j != 0) {
				t.Errorf("run %d, line %d: got %q, want a state alone", i, j, line)
			}
		}
	}
}

func splitLines(text string) []string { return strings.Split(strings.TrimSuffix(text, "\n"), "\n") }
