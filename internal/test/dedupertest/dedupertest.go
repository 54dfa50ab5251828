// Package dedupertest tests implementations of notify.Deduper.
package dedupertest

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/cardgateway/cardgateway-go/notify"
)

// step is a call and its result: of Claim, or Handled or Release, which must succeed.
type step struct {
	call string
	key  string
	want notify.ClaimResult
}

// Run tests Dedupers that share their events, as several processes do. The function open returns new ones, at least one.
func Run(t *testing.T, open func(testing.TB) []notify.Deduper) {
	const claim, handled, release = "Claim", "Handled", "Release"
	for _, tt := range []struct {
		name  string
		steps []step
	}{
		{"claimed", []step{{claim, "a", notify.ClaimFresh}, {claim, "a", notify.ClaimBusy}, {claim, "a", notify.ClaimBusy}}},
		{"handled", []step{{claim, "a", notify.ClaimFresh}, {handled, "a", 0}, {claim, "a", notify.ClaimHandled}, {claim, "a", notify.ClaimHandled}}},
		{"released", []step{{claim, "a", notify.ClaimFresh}, {release, "a", 0}, {claim, "a", notify.ClaimFresh}, {claim, "a", notify.ClaimBusy}}},
		{"handled after a failure", []step{
			{claim, "a", notify.ClaimFresh}, {release, "a", 0}, {claim, "a", notify.ClaimFresh}, {handled, "a", 0}, {claim, "a", notify.ClaimHandled},
		}},
		{"handled twice", []step{{claim, "a", notify.ClaimFresh}, {handled, "a", 0}, {handled, "a", 0}, {claim, "a", notify.ClaimHandled}}},
		{"handled without a claim", []step{{handled, "a", 0}, {claim, "a", notify.ClaimHandled}}},
		{"released after it was handled", []step{{claim, "a", notify.ClaimFresh}, {handled, "a", 0}, {release, "a", 0}, {claim, "a", notify.ClaimHandled}}},
		{"released without a claim", []step{{release, "a", 0}, {claim, "a", notify.ClaimFresh}}},
		{"other keys", []step{
			{claim, "Payment 1 100", notify.ClaimFresh}, {handled, "Payment 1 100", 0},
			{claim, "payment 1 100", notify.ClaimFresh}, {claim, "Payment 1 100 ", notify.ClaimFresh}, {claim, "Payment 1 10", notify.ClaimFresh},
			{claim, "Payment 1 100 token", notify.ClaimFresh}, {claim, "'; %_\\", notify.ClaimFresh}, {claim, "Payment 1 100", notify.ClaimHandled},
		}},
		{"long keys", []step{
			{claim, strings.Repeat("k", 255), notify.ClaimFresh}, {handled, strings.Repeat("k", 255), 0},
			{claim, strings.Repeat("k", 254) + "l", notify.ClaimFresh}, {claim, strings.Repeat("k", 255), notify.ClaimHandled},
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			all := open(t)
			holder := make(map[string]notify.Deduper)
			for i, s := range tt.steps {
				d := all[i%len(all)] // what one has stored, the others know
				if s.call == claim {
					if got, err := d.Claim(t.Context(), s.key); got != s.want || err != nil {
						t.Fatalf("step %d: Claim: got %v, %v, want %v", i, got, err, s.want)
					}
					if s.want == notify.ClaimFresh {
						holder[s.key] = d
					}
					continue
				}
				end := cmp.Or(holder[s.key], d).Handled
				if s.call == release {
					end = cmp.Or(holder[s.key], d).Release
				}
				if err := end(t.Context(), s.key); err != nil {
					t.Fatalf("step %d: %s: %v", i, s.call, err)
				}
			}
		})
	}
	t.Run("at the same time", func(t *testing.T) { atOnce(t, open(t)) })
}

// atOnce lets many callers claim each event at the same time, again after it was released, and after it was handled.
func atOnce(t *testing.T, all []notify.Deduper) {
	const callers = 8
	for i := range 12 {
		key := fmt.Sprint("event ", i)
		for _, round := range []string{"new", "released", "handled"} {
			var mu sync.Mutex
			var fresh []notify.Deduper
			var results []notify.ClaimResult
			var done sync.WaitGroup
			start := make(chan struct{})
			for c := range callers {
				done.Go(func() {
					<-start
					d := all[c%len(all)]
					got, err := d.Claim(t.Context(), key)
					mu.Lock()
					defer mu.Unlock()
					if err != nil {
						t.Errorf("%s, %s: %v", key, round, err)
					}
					if results = append(results, got); got == notify.ClaimFresh {
						fresh = append(fresh, d)
					}
				})
			}
			close(start)
			done.Wait()
			want := append(slices.Repeat([]notify.ClaimResult{notify.ClaimBusy}, callers-1), notify.ClaimFresh)
			if round == "handled" {
				want = slices.Repeat([]notify.ClaimResult{notify.ClaimHandled}, callers)
			}
			if slices.Sort(results); !slices.Equal(results, want) {
				t.Fatalf("%s, %s: got %v, want %v", key, round, results, want)
			}
			for _, d := range fresh {
				end := d.Release
				if round == "released" {
					end = d.Handled
				}
				if err := end(t.Context(), key); err != nil {
					t.Errorf("%s, %s: %v", key, round, err)
				}
			}
		}
	}
}
