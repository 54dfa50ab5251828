//go:build !unix

package testprogram

import "syscall"

// Account returns an error that wraps ErrMissing: database servers are started on Unix only.
func (p Program) Account(string, string) (*syscall.SysProcAttr, error) {
	return nil, p.Missing("it is started on Unix only")
}
