// Package testprogram finds and shares the programs that some tests need: a browser, a database server, an interpreter. A
// test that needs a missing program is skipped, and says why. The variable CARDGATEWAY_REQUIRE_BROWSER, _POSTGRES, _PGBOUNCER, _MYSQL,
// _PYTHON or _NODE turns that into a failure, if its value is 1. The package is only for tests.
package testprogram

import (
	"database/sql"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// Program is a kind of program that may be missing.
type Program struct {
	name     string
	variable string
	commands []string // any of them will do
}

// These are the programs that tests need.
var (
	Browser  = Program{"Chromium", "CARDGATEWAY_REQUIRE_BROWSER", []string{"chromium", "chromium-browser", "google-chrome"}}
	Postgres = Program{"Postgres", "CARDGATEWAY_REQUIRE_POSTGRES", []string{"initdb"}}
	Pooler   = Program{"PgBouncer", "CARDGATEWAY_REQUIRE_PGBOUNCER", []string{"pgbouncer"}}
	MySQL    = Program{"MariaDB or MySQL", "CARDGATEWAY_REQUIRE_MYSQL", []string{"mariadbd", "mysqld"}}
	Python   = Program{"Python", "CARDGATEWAY_REQUIRE_PYTHON", []string{"python3"}}
	Node     = Program{"Node.js", "CARDGATEWAY_REQUIRE_NODE", []string{"npm"}}
)

// ErrMissing says that a program is not installed here, or cannot be started.
var ErrMissing = errors.New("not available on this machine")

// Find returns the path of the program: on the PATH, or in one of the directories. The error wraps ErrMissing.
func (p Program) Find(directories ...string) (string, error) {
	for _, directory := range append([]string{""}, directories...) {
		for _, command := range p.commands {
			if path, err := exec.LookPath(filepath.Join(directory, command)); err == nil {
				return path, nil
			}
		}
	}
	return "", p.Missing("%s is not installed", strings.Join(p.commands, " or "))
}

// Missing returns an error that wraps ErrMissing.
func (p Program) Missing(format string, args ...any) error {
	return fmt.Errorf("%s is %w: %s", p.name, ErrMissing, fmt.Sprintf(format, args...))
}

// Path returns the path of the program. A test without it ends here.
func (p Program) Path(t testing.TB) string {
	t.Helper()
	path, err := p.Find()
	p.Check(t, err)
	return path
}

// Check ends the test if err is not nil. If the error is ErrMissing, and the program is not required, the test is skipped;
// otherwise it fails.
func (p Program) Check(t testing.TB, err error) {
	t.Helper()
	switch {
	case err == nil:
	case !errors.Is(err, ErrMissing):
		t.Fatal(err)
	case os.Getenv(p.variable) == "1":
		t.Fatal(p.variable+"=1:", err)
	default:
		t.Skip("skipped:", err)
	}
}

// Await waits until a database server responds, for at most 30 seconds.
func (p Program) Await(driver, source string) (err error) {
	db, err := sql.Open(driver, source)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		if err = db.Ping(); err == nil {
			return nil
		}
	}
	return p.Missing("it does not respond: %v", err)
}

// Server is a kind of server that tests start.
type Server[S interface{ Stop() error }] struct {
	program Program
	start   func() (S, error)
	shared  func() (S, error)
	asked   atomic.Bool
}

// NewServer returns a server that start starts. An error of start that wraps ErrMissing says that there is none.
func NewServer[S interface{ Stop() error }](program Program, start func() (S, error)) *Server[S] {
	return &Server[S]{program: program, start: start, shared: sync.OnceValues(start)}
}

// Own starts a server until the end of the test, which may stop it earlier. A test without it ends here.
func (s *Server[S]) Own(t testing.TB) S {
	t.Helper()
	server, err := s.start()
	s.program.Check(t, err)
	t.Cleanup(func() { _ = server.Stop() }) // it may have ended by itself
	return server
}

// Shared returns the one server of a package's tests. It is started for the first test that needs it. A test without it
// ends here.
func (s *Server[S]) Shared(t testing.TB) S {
	t.Helper()
	s.asked.Store(true)
	server, err := s.shared()
	s.program.Check(t, err)
	return server
}

// StopShared stops the shared server, if it was started.
func (s *Server[S]) StopShared() error {
	if !s.asked.Load() {
		return nil
	}
	server, err := s.shared()
	if err != nil {
		return nil // there is none, as the test has reported
	}
	return server.Stop()
}
