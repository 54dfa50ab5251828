package sqlstore

import (
	"cmp"
	"context"
	"database/sql"
	"errors"

	"github.com/cardgateway/cardgateway-go/internal/openfile"
	"github.com/cardgateway/cardgateway-go/journal"
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

// transactSQLite writes a batch in one transaction.
func (s *Store) transactSQLite(ctx context.Context, batch []*write) error {
	return s.onConn(ctx, func(conn session) error {
		ctx := context.WithoutCancel(ctx)
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
		if s.lacksLast(ctx, tx) {
			if err := s.conns.file.Lose("no longer has what was last written to it: it was emptied, or a backup was copied over it"); err != nil {
				return err
			}
		}
		if err := tx.Commit(); err != nil {
			return err
		}
		for _, w := range batch {
			if w.changed && w.sender != "" {
				s.last = w
			}
		}
		return s.conns.file.Check(conn.beside...) // while the connection, which keeps the log, is open
	})
}

// lacksLast reports whether the entry of the last submission that this Store has recorded is gone, and nobody can have forgotten it.
func (s *Store) lacksLast(ctx context.Context, tx *sql.Tx) bool {
	const find = `SELECT 1 FROM cardgateway_journal WHERE shop = ? AND transaction_id = ?`
	if s.last == nil {
		return false
	}
	err := tx.QueryRowContext(ctx, s.sql(find), s.last.key.Shop.String(), s.last.key.ID.String()).Scan(new(int))
	return errors.Is(err, sql.ErrNoRows) && journal.CheckForget(s.last.at) != nil
}
