//go:build unix

package main

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"
)

// thePostgres is a server of the tests' own, on a Unix socket in a folder that goes with it.
var thePostgres struct {
	once   sync.Once
	err    error
	url    string
	server *exec.Cmd
	folder string
}

var errNoPostgres = errors.New("no Postgres server on this machine, or no account to run it as")

// postgresURL returns an empty database. It skips the test where there is no Postgres, and fails it where
// CARDGATEWAY_REQUIRE_POSTGRES says that there must be one.
func postgresURL(t *testing.T) string {
	t.Helper()
	thePostgres.once.Do(func() { thePostgres.err = startPostgres() })
	switch {
	case thePostgres.err == nil:
	case errors.Is(thePostgres.err, errNoPostgres) && os.Getenv("CARDGATEWAY_REQUIRE_POSTGRES") != "1":
		t.Skip("skipped:", thePostgres.err)
	default:
		t.Fatal(thePostgres.err)
	}
	return thePostgres.url
}

func startPostgres() error {
	initdb, err1 := postgresBinary("initdb")
	postgres, err2 := postgresBinary("postgres")
	account, err3 := postgresAccount()
	if err := errors.Join(err1, err2, err3); err != nil {
		return fmt.Errorf("%w: %w", errNoPostgres, err)
	}
	folder, err := os.MkdirTemp("", "shop-pg-") // short: a socket's path has at most 107 bytes
	if err != nil {
		return err
	}
	thePostgres.folder = folder
	if account != nil {
		if err := os.Chown(folder, int(account.Uid), int(account.Gid)); err != nil {
			return err
		}
	}
	run := func(name string, args ...string) *exec.Cmd {
		cmd := exec.Command(name, args...)
		cmd.Dir = folder
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: account}
		return cmd
	}
	data := filepath.Join(folder, "data")
	if out, err := run(initdb, "-D", data, "-U", "shop", "-A", "trust", "--no-sync").CombinedOutput(); err != nil {
		return fmt.Errorf("initdb: %w: %s", err, out)
	}
	server := run(postgres, "-D", data, "-k", folder, "-c", "listen_addresses=", "-c", "fsync=off")
	var log bytes.Buffer
	server.Stdout, server.Stderr = &log, &log
	if err := server.Start(); err != nil {
		return err
	}
	thePostgres.server = server
	thePostgres.url = "postgres:///postgres?" + url.Values{"user": {"shop"}, "host": {folder}}.Encode()
	return awaitPostgres()
}

func awaitPostgres() (err error) {
	db, err := sql.Open("pgx", thePostgres.url)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if err = db.PingContext(context.Background()); err == nil {
			return nil
		}
	}
	return err
}

func stopPostgres() {
	if thePostgres.server != nil {
		_ = thePostgres.server.Process.Signal(syscall.SIGINT)
		_ = thePostgres.server.Wait()
	}
	if thePostgres.folder != "" {
		_ = os.RemoveAll(thePostgres.folder)
	}
}

// postgresBinary looks in PATH, and where Debian keeps the versions.
func postgresBinary(name string) (string, error) {
	if path, err := exec.LookPath(name); err == nil {
		return path, nil
	}
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/" + name)
	if err == nil && len(found) == 0 {
		err = fmt.Errorf("%s: %w", name, exec.ErrNotFound)
	}
	if err != nil {
		return "", err
	}
	return found[len(found)-1], nil
}

// postgresAccount is who runs the server: Postgres refuses root. Nil means the account of the test.
func postgresAccount() (*syscall.Credential, error) {
	if os.Geteuid() != 0 {
		return nil, nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, err1 := strconv.ParseUint(u.Uid, 10, 32)
		gid, err2 := strconv.ParseUint(u.Gid, 10, 32)
		if err := errors.Join(err1, err2); err != nil {
			return nil, err
		}
		return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, nil
	}
	return nil, errors.New("neither an account postgres nor nobody")
}
