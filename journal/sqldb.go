package journal

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// SQLStore is a Store in a table of a database, for any number of processes. Concurrent callers share transactions: the
// more there are at the same time, the less each one costs the disk.
type SQLStore struct {
	db      *sql.DB
	dialect Dialect
	conns   checkedConns

	intents  commitGroup  // on SQLite, which has one writer: all writes
	durable  commitGroup  // evidence for which CanBeAskedAgain is false
	lazy     commitGroup  // other evidence, and acknowledgements
	prepared [3]*sql.Stmt // for SQLite, by the kind of write
	syncing  lazySync
}

// onConn calls do with a connection whose settings have been checked.
func (s *SQLStore) onConn(ctx context.Context, do func(*sql.Conn, *connState) error) error {
	conn, err := s.db.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }() // back to the pool: it fails only if the driver has dropped the connection
	settings, err := s.conns.check(ctx, conn)
	if err != nil {
		return err
	}
	return do(conn, settings)
}

const selectEntry = `SELECT intent, evidence, version, acked FROM cardgateway_journal WHERE shop = ? AND transaction_id = ?`

// querier is a database, a connection or a transaction.
type querier interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// row returns the key in the form of the columns: with ID in place of the transactionId. The writes and the storedEntries
// of a SQLStore use this form.
func (k Key) row() Key { return Key{Shop: k.Shop, TransactionID: k.ID()} }

// read returns the entry of a row, ErrNoEntry, an *EntryError or an error of the database.
func (s *SQLStore) read(ctx context.Context, q querier, key Key) (Entry, error) {
	var r storedEntry
	err := q.QueryRowContext(ctx, s.dialect.sql(selectEntry), key.Shop.String(), key.TransactionID).
		Scan(&r.intent, &r.evidence, &r.version, &r.acked)
	if errors.Is(err, sql.ErrNoRows) {
		return Entry{}, ErrNoEntry
	} else if err != nil {
		return Entry{}, err
	}
	return r.entry(key)
}

// storedEntry is a row. Its texts are scanned as bytes, so that a text that is not UTF-8 does not prevent the other rows
// from being read.
type storedEntry struct {
	id               string
	begun            any // microseconds since 1970
	intent, evidence []byte
	version, acked   wholeNumber
}

// wholeNumber is an INTEGER column. SQLite stores any value in one; a value that is not a number must not prevent the
// other rows from being read.
type wholeNumber struct {
	n   int
	bad bool
}

// Scan implements sql.Scanner.
func (w *wholeNumber) Scan(value any) error {
	var n sql.NullInt64
	err := n.Scan(value)
	w.n, w.bad = int(n.Int64), err != nil || !n.Valid
	return nil
}

func (r *storedEntry) entry(row Key) (e Entry, err error) {
	key := keyOf(row.Shop, row.TransactionID)
	if err := json.Unmarshal(r.intent, &e.Begun); err != nil {
		return Entry{}, &EntryError{key, fmt.Errorf("its intent: %w", err)}
	}
	e.Begun.Shop, e.Begun.TransactionID, e.Begun.RefundTransactionID, e.Acked = key.Shop, key.TransactionID, key.RefundTransactionID, r.acked.n
	if r.version.bad || r.acked.bad {
		return Entry{}, &EntryError{key, errors.New("its version or acked column is not a number")}
	}
	if r.version.n > 0 {
		e.Evidence = make([]Evidence, 0, min(r.version.n, mostEvidence))
	}
	for line := range strings.Lines(string(r.evidence)) {
		var ev Evidence
		if err := json.Unmarshal([]byte(line), &ev); err != nil {
			return Entry{}, &EntryError{key, fmt.Errorf("its evidence: %w", err)}
		}
		if ev.Refund != nil && !e.Begun.isRefund() || ev.Transaction != nil && e.Begun.isRefund() {
			return Entry{}, &EntryError{key, errors.New("it is a refund with evidence of a payment, or a payment with evidence of a refund")}
		}
		e.Evidence = append(e.Evidence, ev)
	}
	if e.version() != r.version.n {
		return Entry{}, &EntryError{key, fmt.Errorf("it has %d lines of evidence, but version %d", e.version(), r.version.n)}
	}
	return e, nil
}
