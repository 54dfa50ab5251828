package walk

import (
	"testing"
	"testing/synctest"
	"time"
)

// TestRetryWhileDown: a query with a temporary error is repeated until the limit, with pauses that increase to 15 s and
// respect Retry-After.
func TestRetryWhileDown(t *testing.T) {
	down := errUnavailable
	tests := []struct {
		name           string
		limit          time.Duration
		fails          int // before it responds
		err            error
		ok             bool
		tries          int // at least
		shortest, most time.Duration
	}{
		{"answers", time.Minute, 0, down, true, 1, 0, 0},
		{"down for three tries", time.Minute, 3, down, true, 4, 3500 * time.Millisecond, 7 * time.Second},
		{"down for good", time.Minute, 1000, down, false, 6, 30 * time.Second, time.Minute},
		{"no outage allowed yet", 0, 1, down, false, 1, 0, 0},
		{"refused", time.Minute, 1000, errRefused, false, 1, 0, 0},
		{"asked to wait", time.Minute, 1, &modelError{Transient, 20 * time.Second}, true, 2, 20 * time.Second, 20 * time.Second},
		{"asked to wait too long", time.Minute, 1, &modelError{Transient, time.Hour}, false, 1, 0, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := (&modelGateway{}).source()
				begun, tries := time.Now(), 0
				p, err := retryWhileDown(t.Context(), &s, tt.limit, func() (*modelPage, error) {
					if tries++; tries <= tt.fails {
						return nil, tt.err
					}
					return new(modelPage), nil
				})
				took := time.Since(begun)
				if (p != nil && err == nil) != tt.ok || tries < tt.tries || tt.ok && tries > tt.tries || took < tt.shortest || took > tt.most {
					t.Errorf("%d tries in %v: %v", tries, took, err)
				}
			})
		})
	}
}
