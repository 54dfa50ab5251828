package sqlstore

import (
	"context"
	"database/sql/driver"
	"errors"
	"reflect"
	"slices"
	"strings"

	"github.com/cardgateway/cardgateway-go/journal"
)

// A write is one statement. A database server commits it when it returns, and shares the disk syncs of its sessions by itself; for SQLite see
// commitGroup.

// The statements of one write. An insert leaves no column to its default: a copy of the table can have lost them.
const (
	insertOne = `INSERT INTO cardgateway_journal (shop, transaction_id, begun, intent, evidence, version, acked, unacked)
		VALUES (?, ?, ?, ?, '', 0, -1, $DURABLY_TRUE)`
	recordOne = `UPDATE cardgateway_journal SET evidence = evidence || ?, version = version + 1, unacked = $DURABLY_TRUE
		WHERE shop = ? AND transaction_id = ? AND version = ?`
	recordOneMySQL = `UPDATE cardgateway_journal SET evidence = CONCAT(evidence, ?), version = version + 1, unacked = $DURABLY_TRUE
		WHERE shop = ? AND transaction_id = ? AND version = ?`
	touchOne = `UPDATE cardgateway_journal SET unacked = (unacked = $DURABLY_TRUE) WHERE shop = ? AND transaction_id = ?`
	ackOne   = `UPDATE cardgateway_journal SET acked = version, unacked = FALSE WHERE shop = ? AND transaction_id = ? AND version = ? AND unacked`
)

// makeWrite makes one write, and reads the entry if the statement changed nothing. It can be repeated: what was written has another
// version, and a submission its sender.
func (s *Store) makeWrite(ctx context.Context, on executor, w *write) error {
	n, err := s.exec(ctx, on, w.statement, w.args...)
	if w.changed = n == 1; w.changed || err != nil {
		return err
	}
	w.current, err = s.read(ctx, on, w.key)
	// An earlier attempt may have written the submission without knowing it, and without waiting for a synchronous standby, for which this one waits.
	w.changed = w.sender != "" && latestSender(&w.current) == w.sender
	if w.changed {
		_, err = s.exec(ctx, on, touchOne, w.key.Shop.String(), w.key.ID.String())
	}
	return err
}

// latestSender returns the sender of the latest submission, or "" if anything was recorded since.
func latestSender(e *journal.Entry) string {
	n := len(e.Evidence)
	switch {
	case n == 0:
		return e.Begun.Sender
	case e.Evidence[n-1].Submission != nil:
		return e.Evidence[n-1].Submission.Sender
	}
	return ""
}

// sessionOver reports whether an error says that the session of a connection executes no writes, now or any more: its server has become
// read-only, as after a failover, or ends, or has ended it. Another connection may lead to a server that does.
func (d Dialect) sessionOver(err error) bool {
	if err == nil || d == SQLite {
		return false
	}
	setting, isSetting := errors.AsType[*settingError](err)
	switch {
	case isSetting:
		return setting.elsewhere
	case errors.Is(err, driver.ErrBadConn), d.isReadOnly(err):
		return true
	case d == Postgres:
		code := postgresCode(err)
		return strings.HasPrefix(code, "08") || // the connection, or that of a pooler
			// the server shuts down, has crashed, starts; the session was idle for too long
			slices.Contains([]string{"57P01", "57P02", "57P03", "57P05"}, code)
	}
	switch mysqlNumber(err) {
	case 1047, 1053, 3032, // a node of a cluster that has no quorum; the server shuts down, is offline
		1927, 3169, 4031: // the session was killed (MariaDB, MySQL), was idle for too long
		return true
	}
	return false
}

// isReadOnly reports whether an error says that a server takes no writes.
func (d Dialect) isReadOnly(err error) bool {
	return d == Postgres && postgresCode(err) == "25006" || d == MySQL && slices.Contains([]uint64{1290, 1792, 1836}, mysqlNumber(err))
}

// isDuplicate reports whether an error says that MySQL has a row with this key: see insertMissing.
func (d Dialect) isDuplicate(err error) bool { return d == MySQL && mysqlNumber(err) == 1062 }

// isDenied reports whether an error says that the account lacks a right.
func (d Dialect) isDenied(err error) bool {
	number := mysqlNumber(err)
	return d == Postgres && postgresCode(err) == "42501" || d == MySQL && (number == 1044 || number == 1142)
}

// mayNotRead reports whether an error says that the account may not read a table, and so that there is one: MySQL says the same if there is none.
func (d Dialect) mayNotRead(err error) bool { return d == Postgres && d.isDenied(err) }

// isPreparedElsewhere reports whether an error says that a prepared statement exists already, or does not exist. Nothing was executed.
func (d Dialect) isPreparedElsewhere(err error) bool {
	code := postgresCode(err)
	return d == Postgres && (code == "42P05" || code == "26000")
}

// isPreparedBefore reports whether an error says that, or that a prepared statement was made for the table as it was. Nothing was executed.
func (d Dialect) isPreparedBefore(err error) bool {
	return d.isPreparedElsewhere(err) || d == Postgres && postgresCode(err) == "0A000"
}

// postgresCode returns the SQLSTATE of an error of Postgres, or "".
func postgresCode(err error) string {
	if state, ok := errors.AsType[interface {
		error
		SQLState() string
	}](err); ok {
		return state.SQLState()
	}
	return ""
}

// mysqlNumber returns the number of an error of MySQL, or 0. Drivers have it in a field of this name: this package imports none of them.
func mysqlNumber(err error) uint64 {
	for ; err != nil; err = errors.Unwrap(err) {
		if v := reflect.Indirect(reflect.ValueOf(err)); v.Kind() == reflect.Struct {
			if number := v.FieldByName("Number"); number.CanUint() {
				return number.Uint()
			}
		}
	}
	return 0
}
