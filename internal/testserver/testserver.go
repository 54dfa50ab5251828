// Package testserver shares a database server among the tests of one package. It is for tests alone.
package testserver

import (
	"os"
	"sync"
	"sync/atomic"
)

// TB is what a Shared server needs of a test.
type TB interface {
	Helper()
	Skip(args ...any)
	Fatal(args ...any)
}

// Required makes a test one that fails, rather than is skipped, where there is no server.
func Required(t TB) TB { return required{t} }

type required struct{ TB }

// Skip fails the test.
func (r required) Skip(args ...any) {
	r.Helper()
	r.Fatal(args...)
}

// Shared is the one server of a package's tests. It is started when the first test asks for it.
type Shared[S interface{ Stop() error }] struct {
	server func() (S, error)
	isNone func(error) bool
	must   string // the environment variable that says with 1 that there must be a server
	asked  atomic.Bool
}

// New returns a server that start starts. An error for which isNone is true says that there is no such server here.
func New[S interface{ Stop() error }](start func() (S, error), isNone func(error) bool, must string) *Shared[S] {
	return &Shared[S]{server: sync.OnceValues(start), isNone: isNone, must: must}
}

// MaySkip reports whether a test that got err from the start may be skipped: there is no server, and there need not be one.
func (s *Shared[S]) MaySkip(err error) bool { return s.isNone(err) && os.Getenv(s.must) != "1" }

// For returns the server. It skips the test where there is none, and fails it where there must be one.
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

// Stop stops the server, if a test has asked for it.
func (s *Shared[S]) Stop() error {
	if !s.asked.Load() {
		return nil
	}
	server, err := s.server()
	if err != nil {
		return nil // there is none, which the test has said
	}
	return server.Stop()
}
