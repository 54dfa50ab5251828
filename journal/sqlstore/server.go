package sqlstore

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
)

// A write to a database server is one statement, which is committed when it returns. The server shares the disk syncs of its sessions by
// itself.

// The statements of one write. Those without a dialect in their names are for every dialect that has no other. The IGNORE of MySQL is for
// the row that exists already. It would also truncate long texts, but none is longer than its column: see checkTables.
const (
	insertOne      = `INSERT INTO cardgateway_journal (shop, transaction_id, begun, intent) VALUES (?, ?, ?, ?) ON CONFLICT (shop, transaction_id) DO NOTHING`
	insertOneMySQL = `INSERT IGNORE INTO cardgateway_journal (shop, transaction_id, begun, intent, evidence) VALUES (?, ?, ?, ?, '')`
	recordOne      = `UPDATE cardgateway_journal SET evidence = evidence || ?, version = version + 1, unacked = TRUE
		WHERE shop = ? AND transaction_id = ? AND version = ?`
	recordOneMySQL = `UPDATE cardgateway_journal SET evidence = CONCAT(evidence, ?), version = version + 1, unacked = TRUE
		WHERE shop = ? AND transaction_id = ? AND version = ?`
	ackOne = `UPDATE cardgateway_journal SET acked = version, unacked = FALSE WHERE shop = ? AND transaction_id = ? AND version = ? AND unacked`
)

// statement returns the statement of a write, and its arguments.
func (w *write) statement(d Dialect) (string, []any) {
	switch {
	case w.kind == writeIntent && d == MySQL:
		return insertOneMySQL, []any{w.shop, w.id, w.begun, w.text}
	case w.kind == writeIntent:
		return insertOne, []any{w.shop, w.id, w.begun, w.text}
	case w.kind == writeAck:
		return ackOne, []any{w.shop, w.id, w.version}
	case d == MySQL:
		return recordOneMySQL, []any{w.text, w.shop, w.id, w.version}
	}
	return recordOne, []any{w.text, w.shop, w.id, w.version}
}

// writeToServer makes one write, and reads the entry if the statement changed nothing.
func (s *Store) writeToServer(ctx context.Context, w *write) error {
	once := func() error {
		return s.onConn(ctx, func(conn *sql.Conn, _ *connState) error {
			statement, args := w.statement(s.dialect)
			n, err := s.dialect.exec(ctx, conn, statement, args...)
			if w.changed = n == 1; w.changed || err != nil {
				return err
			}
			w.current, err = s.read(ctx, conn, w.key)
			// An earlier attempt may have inserted the intent without knowing it.
			w.changed = w.sender != "" && len(w.current.Evidence) == 0 && w.current.Begun.Sender == w.sender
			return err
		})
	}
	err := once()
	if errors.Is(err, driver.ErrBadConn) { // the connection had been closed meanwhile: nothing was written
		err = once()
	}
	return err
}
