package main

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/cardgateway/cardgateway-go/proof/faults"
)

var kinds = []string{"sqlite", "postgres", "mysql"}

// named puts a name of its own into a store's specification.
func named(spec, name string) string {
	return strings.NewReplacer("%s", name, "SCHEMA", name).Replace(spec)
}

func (m *measurement) kill() (failed error) {
	var rows []*faults.KillResult
	for _, kind := range kinds {
		r, err := faults.KillRun{Store: named(m.stores[kind], "kill"), Payments: 2000, Lives: 160, Seed: m.seed}.Run()
		if err != nil {
			return err
		}
		if rows = append(rows, r); r.Broken() > 0 {
			failed = errBroken
		}
	}
	faults.PrintKills(&m.out, kinds, rows)
	return failed
}

func (m *measurement) race() (failed error) {
	var rows []*faults.RaceResult
	for _, kind := range kinds {
		r, err := faults.Race(named(m.stores[kind], "race"), 5)
		if err != nil {
			return err
		}
		if rows = append(rows, r); r.Posts != 1 || r.Executed != 1 || len(r.Answers) != 1 {
			failed = errBroken
		}
	}
	faults.PrintRaces(&m.out, kinds, rows)
	return failed
}

func (m *measurement) replicas() (failed error) {
	var rows []*faults.ReplicasResult
	for _, kind := range kinds {
		for _, n := range []int{2, 3} {
			r, err := faults.ReplicasRun{
				Name: kind, Store: named(m.stores[kind], fmt.Sprint("replicas", n)), Replicas: n, Payments: m.payments, Rate: 100, Seed: m.seed + uint64(n),
				Every: 5 * time.Second,
			}.Run()
			if err != nil {
				return err
			}
			fmt.Fprintln(os.Stderr, kind, n, "processes |", r.Took)
			if rows = append(rows, r); r.Broken() > 0 || r.Overlaps > r.Stopped {
				failed = errBroken
			}
		}
	}
	faults.PrintReplicas(&m.out, rows)
	return failed
}

func (m *measurement) failovers() (failed error) {
	dir, err := os.MkdirTemp("", "faults")
	if err != nil {
		return err
	}
	defer func() { failed = errors.Join(failed, os.RemoveAll(dir)) }()
	var rows []*faults.FailoverResult
	for _, open := range []func() (*faults.Failing, error){
		func() (*faults.Failing, error) { return faults.FailingSQLite(dir) }, faults.FailingPostgres, faults.FailingMySQL,
	} {
		f, err := open()
		if err != nil {
			return err
		}
		mix := faults.Mix{Seed: m.seed, Payments: m.payments, Behavior: faults.Behaviors()[0]}
		r, err := faults.FailoverRun{Mix: mix, Failing: f, Every: time.Second}.Run()
		if err := errors.Join(err, f.Stop()); err != nil {
			return err
		}
		fmt.Fprintln(os.Stderr, f.Name, "|", r.Took)
		if rows = append(rows, r); r.Broken() > 0 || r.Open() > 0 {
			failed = errBroken
		}
	}
	faults.PrintFailovers(&m.out, rows)
	return failed
}

func (m *measurement) speed() error {
	var rows []*faults.SpeedRow
	for _, kind := range kinds {
		for _, callers := range []int{1, 16, 64} {
			row, err := faults.Speed(kind, named(m.stores[kind], "speed"), callers, 6*time.Second)
			if err != nil {
				return err
			}
			rows = append(rows, row)
		}
	}
	faults.PrintSpeed(&m.out, rows)
	return nil
}

func (m *measurement) many() error {
	var rows []*faults.ManyRow
	for _, kind := range kinds {
		for _, n := range []int{m.entries / 10, m.entries} {
			row, err := faults.Many(kind, named(m.stores[kind], fmt.Sprint("many", n)), n)
			if err != nil {
				return err
			}
			rows = append(rows, row)
		}
	}
	faults.PrintMany(&m.out, rows)
	return nil
}

func (m *measurement) mixStores() (failed error) {
	var rows []*faults.Row
	for _, kind := range kinds {
		store, done, err := faults.OpenStore(named(m.stores[kind], "mix"))
		if err != nil {
			return err
		}
		for i, b := range faults.Behaviors() {
			row, err := faults.Mix{Seed: m.seed + uint64(i), Payments: m.payments, Behavior: b}.Run(faults.JournalOver(kind, store))
			if err != nil {
				return errors.Join(err, done())
			}
			if rows = append(rows, row); row.Broken() > 0 || row.Open() > 0 {
				failed = errBroken
				fmt.Fprintln(os.Stderr, row.Failures)
			}
		}
		failed = errors.Join(failed, done())
	}
	faults.Print(&m.out, rows)
	return failed
}
