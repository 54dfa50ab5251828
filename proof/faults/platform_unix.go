//go:build unix

package faults

import (
	"os"
	"syscall"
	"time"
)

// stopSignal stops a process, and continueSignal lets it go on.
var stopSignal, continueSignal os.Signal = syscall.SIGSTOP, syscall.SIGCONT

// processorTime is what this process has used.
func processorTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
