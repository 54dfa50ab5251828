package faults

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/cardgateway/cardgateway-go/internal/test/mysqlserver"
	"github.com/cardgateway/cardgateway-go/internal/test/pgserver"
)

// TestFullDisk: the disk of a database server is full, and later has space again. Nobody waits beyond the limit, what was
// sent is in the journal, and the journal continues by itself. For SQLite see TestStuck and TestUnwritable.
//
// It mounts a small disk, which requires root, and so it is only part of the long form. There it fails if it is not
// permitted.
func TestFullDisk(t *testing.T) {
	if !long() {
		t.Skip("mounts a disk; set CARDGATEWAY_LONG=1")
	}
	t.Run("postgres, tables", func(t *testing.T) {
		d := smallDisk(t, 160<<20)
		p := pgserver.Own(t)
		goneAndBack(t, "postgres:"+p.URL("full"), d.fill, d.empty)
	})
	// Postgres cannot begin another file of its log: it ends by itself, and has to be started again.
	t.Run("postgres, log", func(t *testing.T) {
		d := smallDisk(t, 160<<20)
		p := pgserver.Own(t)
		cause := func() error {
			if err := d.fill(); err != nil {
				return err
			}
			db := openDB(t, "postgres:"+p.URL(""))
			for range 2 {
				if _, err := db.Exec("SELECT txid_current(), pg_switch_wal()"); err != nil {
					return nil
				}
			}
			return errors.New("the log has another file")
		}
		goneAndBack(t, "postgres:"+p.URL("full"), cause, func() error {
			_ = p.Kill() // it has probably ended by itself
			return errors.Join(d.empty(), p.Restart())
		})
	})
	t.Run("mysql", func(t *testing.T) {
		d := smallDisk(t, 320<<20)
		m := mysqlserver.Own(t)
		goneAndBack(t, "mysql:"+m.DSN("full"), d.fill, d.empty)
	})
}

// disk is a small file system in memory.
type disk struct{ dir string }

// smallDisk mounts a disk of so many bytes. Temporary files, and with them the data of servers, are on it from now on.
func smallDisk(t *testing.T, size int) disk {
	t.Helper()
	dir, err := os.MkdirTemp("", "disk") // not t.TempDir, which the server's account may not enter
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Remove(dir) })
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, fmt.Sprintf("mode=1777,size=%d", size)); err != nil {
		t.Fatalf("not tested: a full disk under a database server, since this account may not mount one: %v", err)
	}
	t.Cleanup(func() { succeeds(t, syscall.Unmount(dir, 0)) })
	t.Setenv("TMPDIR", dir)
	return disk{dir}
}

func (d disk) file() string { return filepath.Join(d.dir, "filled") }

// fill fills the disk.
func (d disk) fill() error {
	f, err := os.Create(d.file())
	if err != nil {
		return err
	}
	zeros := make([]byte, 4096)
	for err == nil {
		_, err = f.Write(zeros)
	}
	if errors.Is(err, syscall.ENOSPC) {
		err = nil
	}
	return errors.Join(err, f.Close())
}

// empty frees the space that fill used.
func (d disk) empty() error { return os.Remove(d.file()) }
