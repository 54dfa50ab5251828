package faults

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"
)

// long reports whether the full runs are requested.
func long() bool { return os.Getenv("CARDGATEWAY_LONG") == "1" }

var write = flag.Bool("write", false, "replace the tables of RESULTS.md, if the full runs are requested")

// measured is the commit that is tested, with "-dirty" if files had been changed before the page was.
var measured = sync.OnceValues(func() ([]byte, error) { return exec.Command("git", "describe", "--always", "--dirty").Output() })

// publish logs the table of a part of RESULTS.md, or writes it into the page.
func publish(t *testing.T, part, table string) {
	t.Helper()
	t.Log("\n" + table)
	if !*write || !long() {
		return
	}
	const page = "../RESULTS.md"
	commit, err := measured()
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	results := fmt.Sprintf("\n%s\nMeasured on %s at commit %s.\n\n", table, time.Now().Format(time.DateOnly), strings.TrimSpace(string(commit)))
	changed, err := Section(string(text), part, results)
	if err == nil {
		err = os.WriteFile(page, []byte(changed), 0o644)
	}
	succeeds(t, err)
}

// kinds are what is moved through the faults.
var kinds = []struct {
	part string // of RESULTS.md
	Mix
	behaviors []Behavior
	protos    []string // with which each fault is met
}{
	{"payments", Mix{Seed: 11, Payments: 10_000}, Behaviors(), []string{"", "tls", "h2"}},
	{"refunds", Mix{Seed: 11, Payments: 5000, Refunds: true}, RefundBehaviors(), []string{""}},
}

// run is a mix with a design.
type run struct {
	Mix
	design func(*site) (Design, error)
	ours   bool // this client must be right about every payment and refund
}

// runAll runs several mixes, in the short form all concurrently, because most of their time is spent waiting.
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
		if runs[i].ours && (row.Broken() > 0 || row.Open() > 0 || row.Posts > int64(row.Payments)) {
			t.Errorf("seed %d, %v, %s, %s: %d broken, %d open, %d posts for %d: %s", row.Seed, row.Only, row.gateway(), row.Design,
				row.Broken(), row.Open(), row.Posts, row.Payments, strings.Join(row.Failures, "; "))
		}
	})
	if t.Failed() {
		t.FailNow()
	}
	return rows
}

// TestMix makes payments and refunds with every fault and every behavior of the gateway; in the long form also with commonly used
// alternatives.
func TestMix(t *testing.T) {
	parallel(t)
	for _, k := range kinds {
		t.Run(k.part, func(t *testing.T) {
			designs := Designs()
			if !long() {
				k.Payments, designs = 120, designs[:ourDesigns]
			}
			var runs []run
			for i, b := range k.behaviors {
				for n, design := range designs {
					m := k.Mix
					m.Seed, m.Behavior, m.Proto = m.Seed+uint64(i), b, Protos()[i]
					runs = append(runs, run{m, design, n < ourDesigns})
				}
			}
			publish(t, k.part, k.table(runAll(t, runs)))
		})
	}
}

// TestPeers makes the same payments and refunds with commonly used alternatives: if they move no money twice, the faults have no effect.
func TestPeers(t *testing.T) {
	parallel(t)
	for _, k := range kinds {
		t.Run(k.part, func(t *testing.T) {
			m := k.Mix
			m.Payments, m.Behavior = 200, k.behaviors[0]
			var runs []run
			for _, design := range Designs()[ourDesigns:] {
				runs = append(runs, run{m, design, false})
			}
			rows := runAll(t, runs)
			for _, row := range rows {
				if row.Twice == 0 {
					t.Errorf("%s moved no money twice", row.Design)
				}
			}
			t.Log("\n" + k.table(rows))
		})
	}
}

// TestEveryFault makes payments and refunds with one fault at a time. All outcomes occur.
func TestEveryFault(t *testing.T) {
	parallel(t)
	for _, k := range kinds {
		t.Run(k.part, func(t *testing.T) {
			var runs []run
			for _, fault := range PaymentFaults() {
				for _, proto := range k.protos {
					m := Mix{Seed: 7, Payments: 6, Refunds: k.Refunds, Behavior: k.behaviors[0], Only: &fault, Proto: proto}
					runs = append(runs, run{m, newClientDesign, true})
				}
			}
			rows := runAll(t, runs)
			for _, v := range []Verdict{Paid, Absent} { // on a slow machine every decline may be absent
				n := 0
				for _, row := range rows {
					n += row.Verdicts[v]
				}
				if n == 0 {
					t.Errorf("none of the %s came to be %s", k.part, v)
				}
			}
			t.Log("\n" + k.table(rows))
		})
	}
}
