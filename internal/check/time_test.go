package check_test

import (
	"testing"
	"time"

	"github.com/cardgateway/cardgateway-go/internal/check"
)

func TestYear(t *testing.T) {
	for _, tt := range []struct {
		year int
		ok   bool
	}{
		{-1, false}, {0, false}, {1, true}, {2025, true}, {9998, true}, {9999, false}, {10000, false},
	} {
		at := time.Date(tt.year, 6, 1, 0, 0, 0, 0, time.UTC)
		var want []string
		if !tt.ok {
			want = []string{"range: must be in a year from 1 to 9998"}
		}
		wantFound(t, at.String(), func(v *check.Violations) {
			if got := v.Year("m", at); got != tt.ok {
				t.Errorf("%v: got %t, want %t", at, got, tt.ok)
			}
		}, want...)
	}
}
