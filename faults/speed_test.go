package faults

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"
)

// TestSpeed measures one row, for a profile: CARDGATEWAY_SPEED is the number of callers.
func TestSpeed(t *testing.T) {
	callers, err := strconv.Atoi(os.Getenv("CARDGATEWAY_SPEED"))
	if err != nil {
		t.Skip("this is a measurement: set CARDGATEWAY_SPEED to a number of callers")
	}
	everyStore(t, func(t *testing.T, spec string) {
		row, err := Speed(filepath.Base(t.Name()), spec, callers, 6*time.Second)
		if err != nil {
			t.Fatal(err)
		}
		PrintSpeed(os.Stdout, []*SpeedRow{row})
	})
}
