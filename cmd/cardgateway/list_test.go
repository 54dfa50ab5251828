package main

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/exit"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/terminal"
	"github.com/cardgateway/cardgateway-go/sandbox"
)

// seeded starts a gateway with 600 orders and 60 refunds of the two days before an hour ago.
func seeded(t *testing.T, opts sandbox.Options) (server *sandbox.Server, from, to time.Time) {
	server = gatewayFor(t, opts)
	to = time.Now().Add(-time.Hour).Truncate(time.Second)
	from = to.AddDate(0, 0, -2)
	server.SeedOrders(sandbox.SeedOptions{N: 600, From: from, To: to, Currencies: []string{"EUR", "JPY"}})
	return server, from, to
}

// csvColumn returns a column of CSV, without its title.
func csvColumn(t *testing.T, text, name string) (cells []string) {
	t.Helper()
	records, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil || len(records) == 0 {
		t.Fatalf("got CSV of %d records, %v", len(records), err)
	}
	i := slices.Index(records[0], name)
	for _, record := range records[1:] {
		cells = append(cells, record[i])
	}
	return cells
}

// TestOrders: every order once, in each format, with sums for each currency and state.
func TestOrders(t *testing.T) {
	t.Parallel()
	server, from, to := seeded(t, sandbox.Options{})
	env := environment(server.URL)
	want := slices.Sorted(server.OrderIDs(from, to))
	span := []string{"--from", from.Format(time.RFC3339), "--to", to.Format(time.RFC3339)}

	r := tool(t, env, append([]string{"orders"}, span...)...)
	r.want(t, exit.OK)
	if got := slices.Sorted(slices.Values(csvColumn(t, r.out, "uniqueId"))); !slices.Equal(got, want) {
		t.Errorf("got %d orders, want %d", len(got), len(want))
	}
	if got := csvColumn(t, r.out, "transactionAt"); !slices.IsSorted(got) {
		t.Error("got orders that are not sorted by time")
	}
	states := map[string]int{}
	for i, state := range csvColumn(t, r.out, "state") {
		states[state+" "+csvColumn(t, r.out, "transactionCurrency")[i]]++
	}
	for key, n := range states {
		state, currency, _ := strings.Cut(key, " ")
		if line := sumLine(r.err, state, currency); !strings.HasPrefix(line, terminal.Thousands(n)+" ") {
			t.Errorf("got the sum %q of %s, want %d rows\n%s", line, key, n, r.err)
		}
	}

	r = tool(t, env, append([]string{"orders", "--format", "jsonl", "--state", "declined,processing", "--quiet"}, span...)...)
	r.want(t, exit.OK)
	lines := strings.Split(strings.TrimSpace(r.out), "\n")
	wantLines := states["declined EUR"] + states["declined JPY"] + states["processing EUR"] + states["processing JPY"]
	if len(lines) != wantLines || wantLines == 0 || r.err != "" {
		t.Errorf("got %d lines and stderr %q, want %d lines and nothing", len(lines), r.err, wantLines)
	}
	for _, line := range lines {
		var row map[string]any
		if err := json.Unmarshal([]byte(line), &row); err != nil || row["state"] != "declined" && row["state"] != "processing" {
			t.Errorf("got %s, %v", line, err)
		}
	}

	r = tool(t, env, append([]string{"orders", "--sum"}, span...)...)
	r.want(t, exit.OK)
	if strings.Contains(r.out, "transactionAt") || sumLine(r.out, "approved", "EUR") == "" {
		t.Errorf("got %q, want the sums", r.out)
	}
}

// sumLine finds the sum of a state in a currency.
func sumLine(text, state, currency string) string {
	for line := range strings.Lines(text) {
		if f := strings.Fields(line); len(f) == 4 && f[1] == state && f[3] == currency {
			return strings.TrimSpace(line)
		}
	}
	return ""
}

func TestRefunds(t *testing.T) {
	server, from, to := seeded(t, sandbox.Options{})
	env := environment(server.URL)
	r := tool(t, env, "refunds", "--last", "4d")
	r.want(t, exit.OK)
	want := slices.Sorted(server.RefundIDs(from, to))
	if got := slices.Sorted(slices.Values(csvColumn(t, r.out, "refundUniqueId"))); !slices.Equal(got, want) || len(got) == 0 {
		t.Errorf("got %d refunds, want %d", len(got), len(want))
	}
	if sumLine(r.err, "refunded", "EUR") == "" && sumLine(r.err, "refunded", "JPY") == "" {
		t.Errorf("got the sums %q", r.err)
	}
}

// TestEmptyList: titles, and the word that there is nothing.
func TestEmptyList(t *testing.T) {
	env := environment(gatewayFor(t, sandbox.Options{}).URL)
	r := tool(t, env, "orders", "--last", "1h")
	r.want(t, exit.OK, "no rows\n", "complete up to ")
	if !strings.HasPrefix(r.out, "transactionAt,at,state,") || strings.Count(r.out, "\n") != 1 {
		t.Errorf("got %q, want the titles", r.out)
	}
}

// TestOwnIDAsGatewayID: a list that must be empty, because the id is not one of the gateway, is an error.
func TestOwnIDAsGatewayID(t *testing.T) {
	env := environment(gatewayFor(t, sandbox.Options{}).URL)
	for _, test := range []struct{ list, flag, own string }{
		{"refunds", "--payment", "--transaction"},
		{"refunds", "--refund-unique-id", "--refund-id"},
	} {
		r := tool(t, env, test.list, "--last", "1h", test.flag, "t-1")
		r.want(t, exit.Failed, test.flag+`: "t-1" is not an id of the gateway, which consists of digits; if it is your own id, use `+test.own+"\n")
	}
}

func TestListWrongUse(t *testing.T) {
	env := environment(gatewayFor(t, sandbox.Options{}).URL)
	dir := t.TempDir()
	for _, test := range []struct {
		name string
		args []string
		want string
	}{
		{"no range", nil, "the time range is missing"},
		{"upside down", []string{"--from", "2026-11-02", "--to", "2026-11-01"}, "the range is empty: it begins at 2026-11-02 00:00:00"},
		{"no such state", []string{"--last", "1h", "--state", "paid"}, `--state must be one of "approved",`},
		{"checkpoint in no directory", []string{"--last", "1h", "--checkpoint", dir + "/none/c.json"}, "--checkpoint cannot be written"},
		{"checkpoint is a directory", []string{"--last", "1h", "--checkpoint", dir}, "--checkpoint cannot be read"},
	} {
		t.Run(test.name, func(t *testing.T) {
			tool(t, env, append([]string{"orders"}, test.args...)...).wantRefused(t, test.want)
		})
	}
}

// full is a disk without room.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }

// late is a disk that has no room only when it must be written to.
type late struct{ io.Writer }

func (late) Sync() error { return errors.New("no space left on device") }

func TestOutputThatCannotBeWritten(t *testing.T) {
	server, _, _ := seeded(t, sandbox.Options{})
	env := environment(server.URL)
	for _, format := range []string{"csv", "jsonl", "table"} {
		args := []string{"orders", "--last", "4d", "--format", format}
		toolTo(t, full{}, env, args...).want(t, exit.Failed, "the rows cannot be written: no space left on device")
		path := filepath.Join(t.TempDir(), "c.json")
		for _, disk := range []io.Writer{full{}, late{io.Discard}} {
			toolTo(t, disk, env, append(args, "--checkpoint", path)...).want(t, exit.Failed, path+" was last saved about a second ago")
		}
		tool(t, env, "orders", "--checkpoint", path).want(t, exit.OK, " 0 rows were written before", "the list is complete")
	}
}

// TestProgressLines: without a terminal stderr says from time to time how far the list is.
func TestProgressLines(t *testing.T) {
	t.Parallel()
	server, _, _ := seeded(t, sandbox.Options{MaxPageSize: 20, Search: sandbox.Search{Latency: 5 * time.Millisecond}})
	env := environment(server.URL)
	args := []string{"orders", "--last", "4d", "--format", "jsonl", "--log-every", "2ms"}
	r := tool(t, env, args...)
	r.want(t, exit.OK, " cardgateway: orders: ", "% of the range")
	lacks(t, r.out, "range") // progress is not among the rows
	lacks(t, tool(t, env, append(args, "--log-every", "0")...).err, "of the range")
	tool(t, env, append(args, "--quiet")...).wantSilent(t)
}

func (r result) wantSilent(t *testing.T) {
	t.Helper()
	r.want(t, exit.OK)
	if r.err != "" {
		t.Errorf("got stderr %q, want nothing", r.err)
	}
}

// TestVerbose: a line for every request, without addresses and secrets.
func TestVerbose(t *testing.T) {
	server, _, _ := seeded(t, sandbox.Options{})
	r := tool(t, environment(server.URL), "orders", "--last", "4d", "--verbose")
	r.want(t, exit.OK, "operation=SearchOrders")
	lacks(t, r.err, server.URL)
}
