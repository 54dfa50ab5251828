//go:build unix

package faults

import (
	"os"
	"syscall"
)

// stopSignal stops a process, and continueSignal lets it go on.
var stopSignal, continueSignal os.Signal = syscall.SIGSTOP, syscall.SIGCONT
