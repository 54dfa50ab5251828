// Command faults measures what RESULTS.md says: payments and refunds over broken connections, with every behavior of the gateway,
// with this client and with commonly used alternatives; a program that is killed; two programs that make the same payment;
// replicas of a program that are killed and stopped; a journal whose database fails over again and again; the duration and the number of payments per
// second without faults; and the cost of very many open payments. It prints tables, or replaces those of RESULTS.md.
//
//	go run ./cmd/faults [-payments 10000] [-refunds 5000] [-seed 11] [-entries 1000000] [-write]
//		[-part payments|stores|refunds|kill|race|replicas|failovers|many|speed]
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/cardgateway/cardgateway-go/internal/test/mysqlserver"
	"github.com/cardgateway/cardgateway-go/internal/test/pgserver"
	"github.com/cardgateway/cardgateway-go/proof/faults"
)

func main() {
	faults.Child()
	var m measurement
	flag.IntVar(&m.payments, "payments", 10_000, "payments of each row of payments, stores, replicas and failovers")
	flag.IntVar(&m.refunds, "refunds", 5000, "refunds of each row of refunds")
	flag.Uint64Var(&m.seed, "seed", 11, "what decides which payments meet which faults")
	flag.IntVar(&m.entries, "entries", 1_000_000, "open payments of many; it is also measured with a tenth of them")
	only := flag.String("part", "", "measure one part only")
	write := flag.Bool("write", false, "replace the results in RESULTS.md, instead of printing them")
	flag.Parse()
	if err := m.run(*only, *write); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// measurement has the parts.
type measurement struct {
	payments, refunds, entries int
	seed                       uint64
	stores                     map[string]string // a specification for each kind of store
	commit                     string            // which is measured, with "-dirty" if files have been changed since
	out                        bytes.Buffer      // the tables of the current part
}

const page = "RESULTS.md"

// run measures one part, or all, and prints or writes the tables of each as soon as they are complete.
func (m *measurement) run(only string, write bool) (failed error) {
	var done func()
	defer func() {
		if done != nil {
			done()
		}
	}()
	commit, err := exec.Command("git", "describe", "--always", "--dirty").Output()
	if err != nil {
		return err
	}
	m.commit = strings.TrimSpace(string(commit)) // before the page changes
	known := false
	for _, part := range []struct {
		name    string
		stores  bool
		measure func() error
	}{
		{"payments", false, func() error { return m.mix(m.payments, false) }}, {"stores", true, m.mixStores},
		{"refunds", false, func() error { return m.mix(m.refunds, true) }}, {"kill", true, m.kill}, {"race", true, m.race},
		{"replicas", true, m.replicas}, {"failovers", false, m.failovers}, {"many", true, m.many}, {"speed", true, m.speed},
	} {
		if only != "" && only != part.name {
			continue
		}
		known = true
		if part.stores && m.stores == nil {
			var err error
			if m.stores, done, err = startStores(); err != nil {
				return errors.Join(failed, err)
			}
		}
		m.out.Reset()
		err := part.measure()
		if err == nil || errors.Is(err, errBroken) {
			err = errors.Join(err, m.publish(part.name, write))
		}
		failed = errors.Join(failed, err)
	}
	if !known {
		return fmt.Errorf("faults: there is no part %q", only)
	}
	return failed
}

// publish prints the tables of a part, or writes them into the page.
func (m *measurement) publish(part string, write bool) error {
	if !write {
		fmt.Printf("## %s\n\n%s\n", part, &m.out)
		return nil
	}
	text, err := os.ReadFile(page)
	if err != nil {
		return err
	}
	results := fmt.Sprintf("\n%s\nMeasured on %s at commit %s.\n\n", &m.out, time.Now().Format(time.DateOnly), m.commit)
	changed, err := faults.Section(string(text), part, results)
	if err != nil {
		return err
	}
	return os.WriteFile(page, []byte(changed), 0o644)
}

var errBroken = errors.New("faults: the promise was broken")

// mix makes payments or refunds over broken connections, with each behavior and each design. The first two designs are this
// project's: it fails if they broke a guarantee.
func (m *measurement) mix(n int, refunds bool) (failed error) {
	behaviors, print := faults.Behaviors(), faults.Print
	if refunds {
		behaviors, print = faults.RefundBehaviors(), faults.PrintRefunds
	}
	var rows []*faults.Row
	for i, b := range behaviors {
		mix := faults.Mix{Seed: m.seed + uint64(i), Payments: n, Refunds: refunds, Behavior: b, Proto: faults.Protos()[i]}
		for k, design := range faults.Designs() {
			row, err := mix.Run(design)
			if err != nil {
				return err
			}
			fmt.Fprintln(os.Stderr, row.Behavior, "|", row.Design, "|", row.Took)
			if ours := k < 2; ours && (row.Broken() > 0 || row.Open() > 0) {
				failed = errBroken
				fmt.Fprintln(os.Stderr, row.Failures)
			}
			rows = append(rows, row)
		}
	}
	print(&m.out, rows)
	return failed
}

// startStores creates one empty store of each kind.
func startStores() (specs map[string]string, done func(), err error) {
	dir, err := os.MkdirTemp("", "faults")
	if err != nil {
		return nil, nil, err
	}
	pg, err := pgserver.Start()
	if err != nil {
		return nil, nil, errors.Join(err, os.RemoveAll(dir))
	}
	my, err := mysqlserver.Start()
	if err != nil {
		return nil, nil, errors.Join(err, pg.Stop(), os.RemoveAll(dir))
	}
	specs = map[string]string{
		"sqlite": "sqlite:" + filepath.Join(dir, "%s.db"), "postgres": "postgres:" + pg.URL("SCHEMA"), "mysql": "mysql:" + my.DSN("SCHEMA"),
	}
	return specs, func() {
		if err := errors.Join(pg.Stop(), my.Stop(), os.RemoveAll(dir)); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
	}, nil
}
