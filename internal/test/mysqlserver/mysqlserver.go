// Package mysqlserver starts a separate MariaDB or MySQL server for tests and measurements. Programs that use it must
// import the driver "mysql".
package mysqlserver

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"

	"github.com/cardgateway/cardgateway-go/internal/test/testprogram"
)

var servers = testprogram.NewServer(testprogram.MySQL, Start)

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
	binary  string
	account *syscall.SysProcAttr
	cmd     *exec.Cmd
}

// Start starts a server. The server refuses to run as root; if root starts it, it runs as the account mysql.
func Start() (*Server, error) {
	dir, err := os.MkdirTemp("", "my")
	if err != nil {
		return nil, err
	}
	s := &Server{dir: dir}
	err = s.install()
	if err == nil {
		err = s.Restart()
	}
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	return s, nil
}

// DSN returns the driver's data source name of a database in the server, or without a database if the name is empty.
func (s *Server) DSN(database string) string {
	return fmt.Sprintf("root@unix(%s)/%s", s.socket(), database)
}

func (s *Server) socket() string { return filepath.Join(s.dir, "socket") }

// Stop stops the server and removes its files.
func (s *Server) Stop() error {
	err := s.Kill()
	return errors.Join(err, os.RemoveAll(s.dir))
}

// Kill ends the server like a crash.
func (s *Server) Kill() error {
	err := s.cmd.Process.Kill()
	_ = s.cmd.Wait() // it was killed
	return err
}

// install creates the data of an empty server in the directory.
func (s *Server) install() error {
	var err error
	if s.binary, err = testprogram.MySQL.Find("/usr/sbin"); err != nil { // where Debian installs it
		return err
	}
	if s.account, err = testprogram.MySQL.Account("mysql", s.dir); err != nil {
		return err
	}
	data := "--datadir=" + s.data()
	install := exec.Command("mariadb-install-db", "--no-defaults", "--auth-root-authentication-method=normal", "--skip-test-db", data)
	if _, err := exec.LookPath("mariadb-install-db"); err != nil {
		install = exec.Command(s.binary, "--no-defaults", "--initialize-insecure", data)
	}
	s.prepare(install)
	if out, err := install.CombinedOutput(); err != nil {
		return testprogram.MySQL.Missing("%s: %v\n%s", install.Path, err, out)
	}
	return nil
}

// prepare gives a server's process its account and a directory of its own for temporary files: a server that starts removes those
// of every other one from a directory that they share, and the others then fail or crash.
func (s *Server) prepare(cmd *exec.Cmd) {
	cmd.SysProcAttr, cmd.Dir = s.account, s.dir
	cmd.Env = append(os.Environ(), "TMPDIR="+s.dir)
}

func (s *Server) data() string { return filepath.Join(s.dir, "data") }

// Restart starts a killed server again.
func (s *Server) Restart() error {
	s.cmd = exec.Command(s.binary, "--no-defaults", "--datadir="+s.data(), "--socket="+s.socket(),
		"--pid-file="+filepath.Join(s.dir, "pid"), "--skip-networking", "--max-connections=300", "--log-error="+s.log())
	s.prepare(s.cmd)
	if err := s.cmd.Start(); err != nil {
		return testprogram.MySQL.Missing("%v", err)
	}
	if err := testprogram.MySQL.Await("mysql", s.DSN("")); err != nil {
		log, _ := os.ReadFile(s.log()) // it may not have begun one
		return errors.Join(fmt.Errorf("%w\n%s", err, log[max(0, len(log)-4000):]), s.Kill())
	}
	return nil
}

func (s *Server) log() string { return filepath.Join(s.dir, "log") }
