//go:build !unix

package faults

import (
	"os"
	"time"
)

// stopSignal is nil: a process cannot be stopped here, only killed.
var stopSignal, continueSignal os.Signal

// processorTime is not known here.
func processorTime() time.Duration { return 0 }
