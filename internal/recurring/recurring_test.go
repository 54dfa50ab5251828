package recurring_test

import (
	"testing"
	"time"

	"github.com/cardgateway/cardgateway-go/internal/recurring"
)

// TestGap: the gap is shorter than the shortest time between two charges that are on time, by more than an hour of a clock
// change, and a later charge that is a sixth of the cycle late keeps its distance from the next one.
func TestGap(t *testing.T) {
	const day = 24 * time.Hour
	for _, tt := range []struct {
		cycle string
		want  time.Duration
		next  time.Duration // the shortest time to the next charge
	}{
		{"", 0, 0},
		{"DAY", 20 * time.Hour, day},
		{"WEEK", 140 * time.Hour, 7 * day},
		{"MONTH", 560 * time.Hour, 28 * day},
		{"THREE_MONTHS", 1780 * time.Hour, 89 * day},
		{"SIX_MONTHS", 3620 * time.Hour, 181 * day},
		{"YEAR", 7300 * time.Hour, 365 * day},
		{"FORTNIGHT", 20 * time.Hour, 14 * day},
	} {
		t.Run(tt.cycle, func(t *testing.T) {
			got := recurring.Gap(tt.cycle)
			if got != tt.want || got > 0 && got > tt.next*5/6 {
				t.Errorf("got %v, want %v, at most five sixths of %v", got, tt.want, tt.next)
			}
		})
	}
}
