//go:build unix

package testprogram

import (
	"errors"
	"os"
	"os/user"
	"strconv"
	"syscall"
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
