package sqlstore

import (
	"cmp"
	"context"
	"database/sql/driver"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/cardgateway/cardgateway-go/internal/openfile"
)

// applySQLite writes a batch in one transaction. If that fails, each write is made in a transaction of its own, so that
// one write that fails does not affect the others.
//
// The statements do not receive the batch's context, because the driver would start a goroutine for each of them. A wait for
// another process is limited by busy_timeout; a journal.Journal waits no longer than its own context allows.
func (s *Store) applySQLite(ctx context.Context, batch []*write) {
	err := s.transactSQLite(ctx, batch)
	_, isLost := errors.AsType[*openfile.Lost](err)
	for _, w := range batch {
		if err != nil {
			alone := err
			if len(batch) > 1 && !isLost {
				alone = s.transactSQLite(ctx, []*write{w})
			}
			w.err = cmp.Or(alone, w.err)
		}
		w.finish()
	}
}

func (s *Store) transactSQLite(ctx context.Context, batch []*write) error {
	lazy := !slices.ContainsFunc(batch, func(w *write) bool { return w.durable })
	return s.onConn(ctx, func(conn session, settings *connState) (err error) {
		ctx := context.WithoutCancel(ctx)
		lazy := lazy && settings.wal
		defer func() {
			if err == nil { // while the connection, which keeps the log, is open
				err = s.conns.file.Check(settings.beside...)
			}
		}()
		if !lazy {
			return s.commitSQLite(ctx, conn, batch, lazy)
		}
		// In WAL mode such a commit is consistent after any crash, and durable with the next sync.
		if _, err := conn.ExecContext(ctx, `PRAGMA synchronous = NORMAL`); err != nil {
			return err
		}
		defer func() {
			_, failed := conn.ExecContext(ctx, `PRAGMA synchronous = `+settings.synchronous)
			if failed != nil { // nobody may use this connection any more
				_ = conn.Raw(func(any) error { return driver.ErrBadConn })
			}
			err = errors.Join(err, failed)
		}()
		return s.commitSQLite(ctx, conn, batch, lazy)
	})
}

func (s *Store) commitSQLite(ctx context.Context, conn session, batch []*write, lazy bool) error {
	tx, err := conn.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // without effect after Commit
	for _, w := range batch {
		w.err = s.makeWrite(ctx, tx, w)
		if w.err != nil && !isOfEntry(w.err) { // an entry that cannot be read fails only this write
			return w.err
		}
	}
	if err := tx.Commit(); err != nil {
		return err
	}
	s.syncing.committed(lazy)
	return nil
}

// sync makes all commits durable: a checkpoint begins with a sync of the write-ahead log.
func (s *Store) sync() {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	rows, err := s.db.QueryContext(ctx, `PRAGMA wal_checkpoint(PASSIVE)`)
	if err == nil {
		_ = rows.Close() // after a failure, the next synced commit makes them durable
	}
}

// lazySync calls sync a moment after a commit that was not synced to disk, unless a synced commit comes first.
type lazySync struct {
	sync func()

	mu    sync.Mutex
	timer *time.Timer
}

// lazySyncAfter is how long a lazy commit of SQLite may wait for a sync.
const lazySyncAfter = 100 * time.Millisecond

func (l *lazySync) committed(lazy bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case lazy && l.timer == nil:
		l.timer = time.AfterFunc(lazySyncAfter, func() {
			l.mu.Lock()
			l.timer = nil
			l.mu.Unlock()
			l.sync()
		})
	case !lazy && l.timer != nil:
		l.timer.Stop()
		l.timer = nil
	}
}
