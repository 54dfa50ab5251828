package faults

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// long reports whether the full runs are requested.
func long() bool { return os.Getenv("CARDGATEWAY_LONG") == "1" }

// run is a mix with a design.
type run struct {
	Mix
	design func(*site) (Design, error)
}

// runAll runs several mixes.
func runAll(t *testing.T, runs []run) {
	t.Helper()
	rows := runRows(t, len(runs),
		func(i int) (*Row, error) { return runs[i].Run(runs[i].design) },
		func(i int) string { return fmt.Sprint(runs[i].Seed, " ", runs[i].name()) })
	if !t.Failed() {
		logTable(t, rows)
	}
}

// runRows runs rows, in the short form all concurrently, because most of their time is spent waiting. This client must be
// right about every payment and refund. Name returns a row's name, with its seed and fault.
func runRows(t *testing.T, n int, run func(i int) (*Row, error), name func(i int) string) []*Row {
	t.Helper()
	workers := n
	if long() {
		workers = 1
	}
	rows := make([]*Row, n)
	each(n, workers, func(i int) {
		row, err := run(i)
		if err != nil {
			t.Error(err)
			return
		}
		rows[i] = row
		if row.Broken() > 0 || row.Open() > 0 || row.Posts > int64(row.Payments) {
			t.Errorf("seed %s, %s, %s, %s: %d broken, %d open, %d posts for %d: %s", name(i), row.Behavior, row.Design,
				row.Proto, row.Broken(), row.Open(), row.Posts, row.Payments, strings.Join(row.Failures, "; "))
		}
	})
	return rows
}

func (r *run) name() string {
	if r.Only == nil {
		return ""
	}
	return r.Only.Name
}

// TestMix makes payments with every fault and every behavior of the gateway.
func TestMix(t *testing.T) {
	parallel(t)
	payments := 120
	if long() {
		payments = 10_000
	}
	protos := []string{"http", "tls", "h2", "http"}
	var runs []run
	for i, b := range Behaviors() {
		m := Mix{Seed: uint64(11 + i), Payments: payments, Behavior: b, Proto: protos[i]}
		runs = append(runs, run{m, newClientDesign}, run{m, newJournalDesign})
	}
	runAll(t, runs)
}

// TestMixStores does the same with the journal in each database.
func TestMixStores(t *testing.T) {
	parallel(t)
	payments := 60
	if long() {
		payments = 10_000
	}
	everyStore(t, func(t *testing.T, spec string) {
		store, done, err := OpenStore(spec)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = done() }()
		var runs []run
		for i, b := range Behaviors() {
			m := Mix{Seed: uint64(111 + i), Payments: payments, Behavior: b}
			runs = append(runs, run{m, JournalOver(t.Name(), store)})
		}
		runAll(t, runs)
	})
}

// TestPeers makes the same payments with commonly used alternatives. If nothing goes wrong there, the faults have no
// effect.
func TestPeers(t *testing.T) {
	parallel(t)
	var rows []*Row
	for _, design := range []func(*site) (Design, error){newRetryable, newLoop} {
		row, err := Mix{Seed: 11, Payments: 200, Behavior: Behaviors()[0]}.Run(design)
		if err != nil {
			t.Fatal(err)
		}
		rows = append(rows, row)
		if row.Twice == 0 {
			t.Errorf("%s charged nothing twice", row.Design)
		}
	}
	logTable(t, rows)
}

// TestEveryFault makes payments with one fault at a time.
func TestEveryFault(t *testing.T) {
	parallel(t)
	var runs []run
	for _, fault := range PaymentFaults() {
		for _, proto := range []string{"http", "tls", "h2"} {
			runs = append(runs, run{Mix{Seed: 7, Payments: 6, Behavior: Behaviors()[0], Only: &fault, Proto: proto}, newClientDesign})
		}
	}
	runAll(t, runs)
}

func logTable(t *testing.T, rows []*Row) {
	t.Helper()
	var b strings.Builder
	Print(&b, rows)
	t.Log("\n" + b.String())
}
