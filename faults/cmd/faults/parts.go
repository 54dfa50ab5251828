package main

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/cardgateway/cardgateway-go/faults"
)

var kinds = []string{"sqlite", "postgres", "mysql"}

// named puts a name of its own into a store's specification.
func named(spec, name string) string {
	return strings.NewReplacer("%s", name, "SCHEMA", name).Replace(spec)
}

func kill(stores map[string]string, seed uint64) (failed error) {
	for _, kind := range kinds {
		r, err := faults.KillRun{Store: named(stores[kind], "kill"), Payments: 2000, Lives: 160, Seed: seed}.Run()
		if err != nil {
			return err
		}
		fmt.Printf("killed, %-9s %d payments, %d kills, %d charged, %d paid back: forgotten %d, twice %d, told wrong %d, open in the end %d\n",
			kind+":", r.Payments, r.Kills, r.Charged, r.Refunded, r.Forgotten, r.Twice, r.Wrong, r.Open)
		if r.Broken() > 0 {
			failed = errBroken
		}
	}
	return failed
}

func race(stores map[string]string) (failed error) {
	for _, kind := range kinds {
		r, err := faults.Race(named(stores[kind], "race"), 5)
		if err != nil {
			return err
		}
		fmt.Printf("two processes with 50 callers each, %-9s %d request, %d execution, %d different answers\n", kind+":", r.Posts, r.Executed, len(r.Answers))
		if r.Posts != 1 || r.Executed != 1 || len(r.Answers) != 1 {
			failed = errBroken
		}
	}
	return failed
}

func replicas(stores map[string]string, payments int, seed uint64) (failed error) {
	var rows []*faults.ReplicasResult
	for _, kind := range kinds {
		for _, n := range []int{2, 3} {
			r, err := faults.ReplicasRun{
				Name: kind, Store: named(stores[kind], fmt.Sprint("replicas", n)), Replicas: n, Payments: payments, Rate: 100, Seed: seed + uint64(n),
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
	faults.PrintReplicas(os.Stdout, rows)
	fmt.Println()
	var latencies []*faults.LatencyRow
	for _, n := range []int{1, 2} {
		for _, open := range []int{0, 1000} {
			row, err := faults.Latency("postgres", named(stores["postgres"], fmt.Sprint("latency", n, "_", open)), n, 300, open)
			if err != nil {
				return errors.Join(failed, err)
			}
			latencies = append(latencies, row)
		}
	}
	faults.PrintLatency(os.Stdout, latencies)
	return failed
}

func cost(stores map[string]string) error {
	var rows []*faults.CostRow
	for _, kind := range kinds {
		row, err := faults.Cost(kind, named(stores[kind], "cost"), 1000)
		if err != nil {
			return err
		}
		rows = append(rows, row)
	}
	faults.PrintCost(os.Stdout, rows)
	return nil
}

func speed(stores map[string]string) error {
	for _, kind := range kinds {
		for _, callers := range []int{1, 16, 64} {
			row, err := faults.Speed(kind, named(stores[kind], "speed"), callers, 6*time.Second)
			if err != nil {
				return err
			}
			faults.PrintSpeed(os.Stdout, []*faults.SpeedRow{row})
		}
	}
	return nil
}

func many(stores map[string]string, entries int) error {
	for _, kind := range kinds {
		for _, n := range []int{entries / 10, entries} {
			row, err := faults.Many(kind, named(stores[kind], fmt.Sprint("many", n)), n)
			if err != nil {
				return err
			}
			faults.PrintMany(os.Stdout, []*faults.ManyRow{row})
		}
		took, err := faults.AfterOutage(named(stores[kind], "outage"), 10_000, 50*time.Millisecond)
		if err != nil {
			return err
		}
		fmt.Printf("%-9s 10,000 open payments, 50 ms a query: settled in %v\n", kind, took.Round(10*time.Millisecond))
	}
	return nil
}

func mixStores(stores map[string]string, payments int, seed uint64) (failed error) {
	var rows []*faults.Row
	for _, kind := range kinds {
		store, done, err := faults.OpenStore(named(stores[kind], "mix"))
		if err != nil {
			return err
		}
		for i, b := range faults.Behaviors() {
			row, err := faults.Mix{Seed: seed + uint64(i), Payments: payments, Behavior: b}.Run(faults.JournalOver(kind, store))
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
	return errors.Join(faults.Print(os.Stdout, rows), failed)
}
