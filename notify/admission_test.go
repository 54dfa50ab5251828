package notify

import (
	"testing"
	"testing/synctest"
	"time"
)

func TestAdmissionRate(t *testing.T) {
	tests := []struct {
		name           string
		rate, each     int
		every          time.Duration
		inThreeSeconds int // queries
	}{
		{"the default", 0, 1, time.Millisecond, 30},
		{"negative means the default", -1, 1, time.Millisecond, 30},
		{"more slowly than allowed", 10, 1, 250 * time.Millisecond, 12},
		{"two queries each", 10, 2, time.Millisecond, 30},
		{"two queries each of an odd number", 5, 2, time.Millisecond, 12},
		{"at least what one needs", 1, 1, time.Millisecond, 9},
		{"many", 1000, 1, time.Millisecond, 3000},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a := newAdmission(tt.rate)
				queries := 0
				for begun := time.Now(); time.Since(begun) < 3*time.Second; time.Sleep(tt.every) {
					if release, err := a.admitNow("id", tt.each); err == nil {
						queries += tt.each
						release()
					}
				}
				if queries != tt.inThreeSeconds {
					t.Errorf("queries: got %d, want %d", queries, tt.inThreeSeconds)
				}
			})
		})
	}
}
