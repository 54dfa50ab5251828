// Package pgserver starts a separate Postgres server for tests and measurements. Programs that use it must import the
// driver "pgx".
package pgserver

import (
	"database/sql"
	"errors"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/cardgateway/cardgateway-go/internal/test/testprogram"
)

var servers = testprogram.NewServer(testprogram.Postgres, Start)

// Own starts a server for one test, which may kill it. Shared returns the one server of a package's tests, whose TestMain must call
// StopShared. If none can be started, both skip the test, or fail it if there must be one.
var (
	Own        = servers.Own
	Shared     = servers.Shared
	StopShared = servers.StopShared
)

// Server is a running server. It uses a temporary directory and a Unix socket.
type Server struct {
	dir     string
	bin     string // the directory with initdb, postgres and the others
	account *syscall.SysProcAttr
	cmd     *exec.Cmd
}

// Start starts a server. Postgres refuses to run as root; if root starts it, it runs as the account postgres.
func Start() (*Server, error) {
	bin, err := binaries()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "pg")
	if err != nil {
		return nil, err
	}
	s := &Server{dir: dir, bin: bin}
	if err := s.start(); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	return s, nil
}

// URL returns the connection URL of a schema in the server.
func (s *Server) URL(schema string) string {
	return "postgres:///postgres?" + url.Values{"host": {s.dir}, "user": {"t"}, "search_path": {schema}}.Encode()
}

// Stop stops the server and removes its files.
func (s *Server) Stop() error {
	return errors.Join(s.Kill(), os.RemoveAll(s.dir))
}

// Kill ends the server like a crash, without notice to its clients.
func (s *Server) Kill() error {
	err := s.cmd.Process.Signal(syscall.SIGQUIT)
	_ = s.cmd.Wait() // it was killed
	return err
}

// Follow makes this server, whatever it has, a standby of another one, each commit of which then waits until it is here, too.
func (s *Server) Follow(primary *Server) error {
	_ = s.Kill() // it may have been killed
	if err := os.RemoveAll(s.data()); err != nil {
		return err
	}
	err := s.execute("pg_basebackup", "-h", primary.dir, "-U", "t", "-R", "-c", "fast", "--no-sync", "-D", s.data())
	if err == nil {
		err = s.Restart()
	}
	if err != nil {
		return err
	}
	db, err := sql.Open("pgx", primary.URL(""))
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }() // it has served
	for _, statement := range []string{"ALTER SYSTEM SET synchronous_standby_names = '*'", "SELECT pg_reload_conf()"} {
		if _, err := db.Exec(statement); err != nil {
			return err
		}
	}
	for range 600 {
		var n int
		if err := db.QueryRow("SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'").Scan(&n); err != nil || n > 0 {
			return err
		}
		time.Sleep(50 * time.Millisecond)
	}
	return errors.New("pgserver: the standby does not follow")
}

// Promote makes a standby a server that takes writes.
func (s *Server) Promote() error {
	return s.execute("pg_ctl", "promote", "-w", "-D", s.data())
}

// execute runs a program of Postgres.
func (s *Server) execute(program string, args ...string) error {
	cmd := exec.Command(filepath.Join(s.bin, program), args...)
	cmd.SysProcAttr, cmd.Dir = s.account, s.dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return testprogram.Postgres.Missing("%s: %v\n%s", program, err, out)
	}
	return nil
}

// binaries returns the directory with initdb, postgres and the others: on the PATH, or where Debian installs them, the newest version
// first.
func binaries() (string, error) {
	installed, _ := filepath.Glob("/usr/lib/postgresql/[1-9][0-9]/bin") // sorted; the pattern is well-formed
	slices.Reverse(installed)
	initdb, err := testprogram.Postgres.Find(installed...)
	if err != nil {
		return "", err
	}
	initdb, err = filepath.EvalSymlinks(initdb) // the other programs are where it really is
	return filepath.Dir(initdb), err
}

func (s *Server) start() (err error) {
	if s.account, err = testprogram.Postgres.Account("postgres", s.dir); err != nil {
		return err
	}
	if err := s.execute("initdb", "-U", "t", "-A", "trust", "-E", "UTF8", "--no-sync", "-D", s.data()); err != nil {
		return err
	}
	return s.Restart()
}

func (s *Server) data() string { return filepath.Join(s.dir, "data") }

// Restart starts a killed server again.
func (s *Server) Restart() error {
	s.cmd = exec.Command(filepath.Join(s.bin, "postgres"), "-D", s.data(), "-k", s.dir, "-c", "listen_addresses=", "-c", "log_min_messages=panic")
	s.cmd.SysProcAttr, s.cmd.Dir = s.account, s.dir
	if err := s.cmd.Start(); err != nil {
		return testprogram.Postgres.Missing("%v", err)
	}
	if err := testprogram.Postgres.Await("pgx", s.URL("")); err != nil {
		return errors.Join(err, s.Kill())
	}
	return nil
}
