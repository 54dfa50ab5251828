package faults

import (
	"io"
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

// runAll runs several mixes, in the short form all concurrently, because most of their time is spent waiting. This client
// must be right about every payment and refund.
func runAll(t *testing.T, runs []run) []*Row {
	t.Helper()
	workers := len(runs)
	if long() {
		workers = 1
	}
	rows := make([]*Row, len(runs))
	each(len(runs), workers, func(i int) {
		row, err := runs[i].Run(runs[i].design)
		if err != nil {
			t.Error(err)
			return
		}
		rows[i] = row
		if row.Broken() > 0 || row.Open() > 0 || row.Posts > int64(row.Payments) {
			t.Errorf("seed %d %s, %s, %s, %s: %d broken, %d open, %d posts for %d: %s", runs[i].Seed, runs[i].name(), row.Behavior, row.Design,
				row.Proto, row.Broken(), row.Open(), row.Posts, row.Payments, strings.Join(row.Failures, "; "))
		}
	})
	return rows
}

// runPayments runs several mixes of payments.
func runPayments(t *testing.T, runs []run) {
	t.Helper()
	if rows := runAll(t, runs); !t.Failed() {
		logTable(t, rows, Print)
	}
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
	var runs []run
	for i, b := range Behaviors() {
		m := Mix{Seed: uint64(11 + i), Payments: payments, Behavior: b, Proto: Protos()[i]}
		runs = append(runs, run{m, newClientDesign}, run{m, newJournalDesign})
	}
	runPayments(t, runs)
}

// TestMixStores does the same with the journal in each database.
func TestMixStores(t *testing.T) {
	parallel(t)
	payments := 60
	if long() {
		payments = 10_000
	}
	everyStore(t, func(t *testing.T, spec string) {
		store := openStore(t, spec)
		var runs []run
		for i, b := range Behaviors() {
			m := Mix{Seed: uint64(111 + i), Payments: payments, Behavior: b}
			runs = append(runs, run{m, JournalOver(t.Name(), store)})
		}
		runPayments(t, runs)
	})
}

// TestPeers makes the same payments with commonly used alternatives.
func TestPeers(t *testing.T) {
	parallel(t)
	peersFail(t, Mix{Seed: 11, Payments: 200, Behavior: Behaviors()[0]}, Print)
}

// peersFail fails the test if commonly used alternatives move no money twice: then the faults have no effect.
func peersFail(t *testing.T, m Mix, print func(io.Writer, []*Row)) {
	t.Helper()
	var rows []*Row
	for _, design := range []func(*site) (Design, error){newRetryable, newLoop} {
		row, err := m.Run(design)
		if err != nil {
			t.Fatal(err)
		}
		rows = append(rows, row)
		if row.Twice == 0 {
			t.Errorf("%s moved no money twice", row.Design)
		}
	}
	logTable(t, rows, print)
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
	runPayments(t, runs)
}

func logTable(t *testing.T, rows []*Row, print func(io.Writer, []*Row)) {
	t.Helper()
	var b strings.Builder
	print(&b, rows)
	t.Log("\n" + b.String())
}
