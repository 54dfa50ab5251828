package faults

import (
	"testing"
	"time"
)

// TestReplicas kills and stops processes that all call Run, and searches for money that was moved and forgotten, and for two
// processes that report at the same time.
func TestReplicas(t *testing.T) {
	parallel(t)
	everyStore(t, func(t *testing.T, spec string) {
		run := ReplicasRun{Name: t.Name(), Store: spec, Replicas: 2, Payments: 200, Rate: 40, Seed: 5, Every: time.Second}
		if long() {
			run.Payments, run.Rate, run.Replicas = 10_000, 100, 3
		}
		r, err := run.Run()
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%+v", *r)
		if r.Broken() > 0 || r.Kills+r.Stops < 2 || r.Charged == 0 || r.Reports == 0 {
			t.Errorf("%d forgotten, %d twice, %d wrong, %d open after %d kills and %d stops; %d charged, %d reports", r.Forgotten, r.Twice, r.Wrong, r.Open, r.Kills,
				r.Stops, r.Charged, r.Reports)
		}
		if r.Overlaps > r.Stopped {
			t.Errorf("%d reports of two processes at a time, of which only %d while one was stopped", r.Overlaps, r.Stopped)
		}
		if n := len(r.Gaps); n > 0 && r.Gaps[n-1] > 30*time.Second { // eight, on a machine that is not busy
			t.Errorf("nobody worked for %v", r.Gaps[n-1])
		}
	})
}
