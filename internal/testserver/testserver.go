// Package testserver shares a database server among the tests of one package. It is only for tests.
package testserver

import (
	"os"
	"sync"
	"sync/atomic"
)

// TB is the part of testing.TB that Shared needs.
type TB interface {
	Helper()
	Skip(args ...any)
	Fatal(args ...any)
}

// Required returns a TB that fails, instead of skipping, if there is no server.
func Required(t TB) TB { return required{t} }

type required struct{ TB }

// Skip fails the test.
func (r required) Skip(args ...any) {
	r.Helper()
	r.Fatal(args...)
}

// Shared is the one server of a package's tests. It is started for the first test that needs it.
type Shared[S interface{ Stop() error }] struct {
	server func() (S, error)
	isNone func(error) bool
	must   string // environment variable: 1 means that there must be a server
	asked  atomic.Bool
}

// New returns a server that start starts. An error for which isNone is true says that no such server is installed.
func New[S interface{ Stop() error }](start func() (S, error), isNone func(error) bool, must string) *Shared[S] {
	return &Shared[S]{server: sync.OnceValues(start), isNone: isNone, must: must}
}

// MaySkip reports whether a test that got err from the start may be skipped: there is no server, and there need not be one.
func (s *Shared[S]) MaySkip(err error) bool { return s.isNone(err) && os.Getenv(s.must) != "1" }

// For returns the server. If there is none, it skips the test, or fails it if there must be one.
func (s *Shared[S]) For(t TB) S {
	t.Helper()
	s.asked.Store(true)
	server, err := s.server()
	if s.MaySkip(err) {
		t.Skip("skipped:", err)
	} else if err != nil {
		t.Fatal(err)
	}
	return server
}

// Stop stops the server, if it was started.
func (s *Shared[S]) Stop() error {
	if !s.asked.Load() {
		return nil
	}
	server, err := s.server()
	if err != nil {
		return nil // there is none, as the test has reported
	}
	return server.Stop()
}
