// Command faults prints the figures of RESULTS.md: payments and refunds over broken connections, with every behavior of
// the gateway, with this client and with commonly used alternatives; a program that is killed; two programs that make the
// same payment; replicas of a program that are killed and stopped; the duration of a payment without faults, and the number of payments per second; and the cost of very many
// open payments.
//
//	go run ./cmd/faults [-payments 10000] [-refunds 5000] [-seed 11] [-entries 100000]
//		[-part mix|refunds|kill|race|replicas|cost|speed|many|stores]
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"github.com/cardgateway/cardgateway-go/faults"
	"github.com/cardgateway/cardgateway-go/internal/test/mysqlserver"
	"github.com/cardgateway/cardgateway-go/internal/test/pgserver"
)

func main() {
	faults.Child()
	payments := flag.Int("payments", 10_000, "payments of each row of the first table")
	refunds := flag.Int("refunds", 5000, "refunds of each row of the second table")
	seed := flag.Uint64("seed", 11, "what decides which payments meet which faults")
	part := flag.String("part", "",
		"print one part only: mix, refunds, kill, race, replicas, cost, speed, many or stores (the first table for the journal in each database)")
	entries := flag.Int("entries", 100_000, "open payments of the last table")
	flag.Parse()
	if err := run(*part, *payments, *refunds, *entries, *seed); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(part string, payments, refunds, entries int, seed uint64) error {
	wants := func(name string) bool { return part == "" || part == name }
	var failed error
	if wants("mix") {
		failed = errors.Join(failed, mix(payments, seed))
	}
	if wants("refunds") {
		failed = errors.Join(failed, mixRefunds(refunds, seed))
	}
	if part == "mix" || part == "refunds" {
		return failed
	}
	stores, done, err := stores()
	if err != nil {
		return errors.Join(failed, err)
	}
	defer done()
	if part == "stores" {
		failed = errors.Join(failed, mixStores(stores, payments, seed))
	}
	if wants("kill") {
		failed = errors.Join(failed, kill(stores, seed))
	}
	if wants("race") {
		failed = errors.Join(failed, race(stores))
	}
	if wants("replicas") {
		failed = errors.Join(failed, replicas(stores, payments, seed))
	}
	if wants("cost") {
		failed = errors.Join(failed, cost(stores))
	}
	if wants("speed") {
		failed = errors.Join(failed, speed(stores))
	}
	if wants("many") {
		failed = errors.Join(failed, many(stores, entries))
	}
	return failed
}

var errBroken = errors.New("faults: the promise was broken")

// mix prints the first table.
func mix(payments int, seed uint64) error {
	protos := []string{"http", "tls", "h2", "http"}
	var runs []func() (*faults.Row, error)
	for i, b := range faults.Behaviors() {
		m := faults.Mix{Seed: seed + uint64(i), Payments: payments, Behavior: b, Proto: protos[i]}
		for _, design := range faults.Designs() {
			runs = append(runs, func() (*faults.Row, error) { return m.Run(design) })
		}
	}
	rows, err := runAll(runs, len(faults.Designs()))
	if rows == nil {
		return err
	}
	return errors.Join(faults.Print(os.Stdout, rows), err)
}

// mixRefunds prints the second table.
func mixRefunds(refunds int, seed uint64) error {
	var runs []func() (*faults.Row, error)
	for i, b := range faults.RefundBehaviors() {
		m := faults.RefundMix{Seed: seed + uint64(i), Refunds: refunds, Behavior: b, Proto: faults.RefundProtos()[i]}
		for _, design := range faults.RefundDesigns() {
			runs = append(runs, func() (*faults.Row, error) { return m.Run(design) })
		}
	}
	rows, err := runAll(runs, len(faults.RefundDesigns()))
	if rows == nil {
		return err
	}
	return errors.Join(faults.PrintRefunds(os.Stdout, rows), err)
}

// runAll runs all rows of a table, each behavior with so many designs, and reports progress. The first two designs of each
// behavior are this project's: it fails if they broke a guarantee.
func runAll(runs []func() (*faults.Row, error), designs int) (rows []*faults.Row, failed error) {
	for i, run := range runs {
		row, err := run()
		if err != nil {
			return nil, err
		}
		fmt.Fprintln(os.Stderr, row.Behavior, "|", row.Design, "|", row.Took)
		if ours := i%designs < 2; ours && (row.Broken() > 0 || row.Open() > 0) {
			failed = errBroken
			fmt.Fprintln(os.Stderr, row.Failures)
		}
		rows = append(rows, row)
	}
	return rows, failed
}

// stores creates one empty store of each kind.
func stores() (specs map[string]string, done func(), err error) {
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
