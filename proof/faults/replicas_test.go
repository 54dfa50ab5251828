package faults

import (
	"testing"
	"time"
)

// TestReplicas kills and stops processes that all call Run, and searches for money that was moved and forgotten, and for two
// processes that report at the same time.
func TestReplicas(t *testing.T) {
	parallel(t)
	var results []*ReplicasResult
	runs := []ReplicasRun{{Replicas: 2, Payments: 200, Rate: 40, Seed: 5, Every: time.Second}}
	if long() {
		run := ReplicasRun{Replicas: 2, Payments: 10_000, Rate: 100, Seed: 13, Every: 5 * time.Second}
		runs = []ReplicasRun{run, run}
		runs[1].Replicas = 3
	}
	for _, run := range runs {
		everyStore(t, func(t *testing.T, spec string) {
			run.Store = spec
			r, err := run.Run()
			if err != nil {
				t.Fatal(err)
			}
			results = append(results, r)
			if r.Broken()+r.Open() > 0 || r.Kills+r.Stops < 2 || r.Charged == 0 || r.Reports == 0 {
				t.Errorf("%d broken, %d open after %d kills and %d stops; %d charged, %d reports: %v", r.Broken(), r.Open(), r.Kills, r.Stops, r.Charged,
					r.Reports, r.Failures)
			}
			if r.Overlaps > r.Stopped {
				t.Errorf("%d reports of two processes at a time, of which only %d while one was stopped", r.Overlaps, r.Stopped)
			}
			if n := len(r.Gaps); n > 0 && r.Gaps[n-1] > 30*time.Second { // eight, on a machine that is not busy
				t.Errorf("nobody worked for %v", r.Gaps[n-1])
			}
		})
	}
	publish(t, "replicas", replicasTable(results))
}
