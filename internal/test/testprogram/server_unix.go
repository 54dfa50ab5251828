//go:build unix

package testprogram

import (
	"database/sql"
	"errors"
	"os"
	"os/user"
	"strconv"
	"syscall"
	"time"
)

// Account returns the account as which a database server runs that refuses to run as root, and gives it the directory. Nil means
// the caller's own account.
func (p Program) Account(name, dir string) (*syscall.SysProcAttr, error) {
	if os.Getuid() != 0 {
		return nil, nil
	}
	u, err := user.Lookup(name)
	if err != nil {
		return nil, p.Missing("it refuses root, and there is no account %s", name)
	}
	uid, err1 := strconv.ParseUint(u.Uid, 10, 32)
	gid, err2 := strconv.ParseUint(u.Gid, 10, 32)
	if err := errors.Join(err1, err2, os.Chown(dir, int(uid), int(gid))); err != nil {
		return nil, err
	}
	return &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}, nil
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
