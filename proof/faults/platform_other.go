//go:build !unix

package faults

import "os"

// stopSignal is nil: a process cannot be stopped here, only killed.
var stopSignal, continueSignal os.Signal
