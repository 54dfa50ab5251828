//go:build !unix

package faults

import "time"

// processorTime is not known here.
func processorTime() time.Duration { return 0 }
