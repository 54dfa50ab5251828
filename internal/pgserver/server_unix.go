//go:build unix

package faults

import (
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"time"
)

// ErrNoPostgres says that no Postgres server is installed here, or none can be started.
var ErrNoPostgres = errors.New("faults: no Postgres server can be started here")

// Postgres is a server of its own for a test: in a directory that is removed with it, reached through a Unix socket.
type Postgres struct {
	dir string
	cmd *exec.Cmd
}

// StartPostgres starts a server. Postgres refuses to run as root; started by root it runs as the account postgres.
func StartPostgres() (*Postgres, error) {
	bin, err := postgresBin()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "pg")
	if err != nil {
		return nil, err
	}
	p := &Postgres{dir: dir}
	if err := p.start(bin); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	return p, nil
}

// URL is the connection URL of a schema in the server.
func (p *Postgres) URL(schema string) string {
	return "postgres:///postgres?" + url.Values{"host": {p.dir}, "user": {"t"}, "search_path": {schema}}.Encode()
}

// Stop stops the server and removes all that it wrote.
func (p *Postgres) Stop() error {
	err := p.cmd.Process.Signal(syscall.SIGQUIT)
	_ = p.cmd.Wait() // it was told to die
	return errors.Join(err, os.RemoveAll(p.dir))
}

// postgresBin finds the folder with initdb and postgres: on the PATH, or where Debian puts them, the newest first.
func postgresBin() (string, error) {
	if path, err := exec.LookPath("initdb"); err == nil {
		return filepath.Dir(path), nil
	}
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb") // the pattern is well-formed
	if len(found) == 0 {
		return "", fmt.Errorf("%w: initdb is not installed", ErrNoPostgres)
	}
	return filepath.Dir(slices.Max(found)), nil
}

func (p *Postgres) start(bin string) error {
	account, err := p.account()
	if err != nil {
		return err
	}
	data := filepath.Join(p.dir, "data")
	initdb := exec.Command(filepath.Join(bin, "initdb"), "-U", "t", "-A", "trust", "-E", "UTF8", "--no-sync", "-D", data)
	initdb.SysProcAttr, initdb.Dir = account, p.dir
	if out, err := initdb.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: initdb: %v\n%s", ErrNoPostgres, err, out)
	}
	p.cmd = exec.Command(filepath.Join(bin, "postgres"), "-D", data, "-k", p.dir, "-c", "listen_addresses=", "-c", "log_min_messages=panic")
	p.cmd.SysProcAttr, p.cmd.Dir = account, p.dir
	if err := p.cmd.Start(); err != nil {
		return fmt.Errorf("%w: %v", ErrNoPostgres, err)
	}
	if err := p.ready(); err != nil {
		return errors.Join(err, p.Stop())
	}
	return nil
}

// account makes the directory the server's and says whom it is to run as; nil is the caller's own account.
func (p *Postgres) account() (*syscall.SysProcAttr, error) {
	if os.Getuid() != 0 {
		return nil, nil
	}
	u, err := user.Lookup("postgres")
	if err != nil {
		return nil, fmt.Errorf("%w: it refuses root, and there is no account postgres", ErrNoPostgres)
	}
	uid, err1 := strconv.ParseUint(u.Uid, 10, 32)
	gid, err2 := strconv.ParseUint(u.Gid, 10, 32)
	if err := errors.Join(err1, err2, os.Chown(p.dir, int(uid), int(gid))); err != nil {
		return nil, err
	}
	return &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}, nil
}

func (p *Postgres) ready() (err error) {
	db, err := sql.Open("pgx", p.URL(""))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		if err = db.Ping(); err == nil {
			return nil
		}
	}
	return fmt.Errorf("%w: it does not answer: %v", ErrNoPostgres, err)
}
