package sqlstore

import (
	"cmp"
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"slices"
	"strings"
	"sync"
)

// A batch is written to a database server by statements that change many rows, because each statement costs a round trip.

// applyToServer writes a batch with a few statements. The writes that these leave out are then made one by one, each with
// the context of its caller: so an update of a locked row, or a write that the database rejects, affects no other write.
// An insert waits for a transaction that has inserted the same row and is not yet committed, and its batch waits with it;
// later batches do not, see stalledAfter.
func (s *Store) applyToServer(ctx context.Context, batch []*write) {
	// Always in the same order, so that two batches that insert the same rows cannot wait for each other.
	slices.SortFunc(batch, func(a, b *write) int {
		return cmp.Or(cmp.Compare(a.shop, b.shop), cmp.Compare(a.id, b.id))
	})
	left := batch
	if len(batch) > 1 {
		// A write that fails here is among those that are left, and the error is returned there.
		_ = s.onConn(ctx, func(conn *sql.Conn, state *connState) error { return s.writeTogether(ctx, conn, state, batch) })
		left = nil
		for _, w := range batch {
			if w.changed {
				w.finish()
			} else {
				left = append(left, w)
			}
		}
	}
	if len(left) == 1 { // as a rule it is the only one, and this is its caller's goroutine
		s.writeAlone(left[0])
		left[0].finish()
		return
	}
	var alone sync.WaitGroup
	for _, w := range left {
		alone.Go(func() {
			s.writeAlone(w)
			w.finish()
		})
	}
	alone.Wait() // so that writes that arrive meanwhile share a batch
}

// retryStale tries once more if the connection had been closed meanwhile: then nothing was written.
func (s *Store) retryStale(do func() error) error {
	err := do()
	if errors.Is(err, driver.ErrBadConn) {
		err = do()
	}
	return err
}

// writeTogether sets changed for the writes that have changed an entry.
func (s *Store) writeTogether(ctx context.Context, conn *sql.Conn, state *connState, batch []*write) error {
	byKind := make(map[writeKind][]*write)
	for _, w := range batch {
		byKind[w.kind] = append(byKind[w.kind], w)
	}
	for kind, some := range byKind {
		var err error
		switch {
		case s.dialect == Postgres:
			err = postgresTogether(ctx, conn, kind, some)
		case kind == writeIntent:
			err = mysqlInsert(ctx, conn, state, some)
		default:
			err = mysqlUpdate(ctx, conn, kind, some)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// postgresTogether makes writes of one kind with one statement, which returns the keys of the rows that it has changed.
// An update leaves out locked rows.
func postgresTogether(ctx context.Context, conn *sql.Conn, kind writeKind, some []*write) error {
	rows := padded(some[:len(some):len(some)])
	var statement string
	args := make([]any, 0, 4*len(rows))
	switch kind {
	case writeIntent:
		statement = `INSERT INTO cardgateway_journal (shop, transaction_id, begun, intent) VALUES ` + repeated("(?, ?, ?, ?)", len(rows)) +
			` ON CONFLICT (shop, transaction_id) DO NOTHING RETURNING shop, transaction_id`
		for _, w := range rows {
			args = append(args, w.shop, w.id, w.begun, w.text)
		}
	default:
		set, where := `evidence = j.evidence || f.line, version = j.version + 1, unacked = TRUE`, ``
		if kind == writeAck {
			set, where = `acked = j.version, unacked = FALSE`, ` AND j.unacked`
		}
		if !slices.ContainsFunc(some, func(w *write) bool { return w.durable }) {
			where += lazilyPostgres
		}
		statement = `WITH w (shop, id, version, line) AS (VALUES ` + repeated("(?::text, ?::text, ?::int, ?::text)", len(rows)) + `),
			f AS (SELECT w.* FROM cardgateway_journal j JOIN w ON j.shop = w.shop AND j.transaction_id = w.id FOR UPDATE OF j SKIP LOCKED)
			UPDATE cardgateway_journal j SET ` + set + `
			FROM f WHERE j.shop = f.shop AND j.transaction_id = f.id AND j.version = f.version` + where + ` RETURNING j.shop, j.transaction_id`
		for _, w := range rows {
			args = append(args, w.shop, w.id, w.version, w.text)
		}
	}
	return markChanged(some)(conn.QueryContext(ctx, Postgres.sql(statement), args...))
}

// markChanged returns a function that reads keys and sets changed for their writes.
func markChanged(some []*write) func(*sql.Rows, error) error {
	return func(rows *sql.Rows, err error) error {
		if err != nil {
			return err
		}
		byKey := make(map[[2]string]*write, len(some))
		for _, w := range some {
			byKey[[2]string{w.shop, w.id}] = w
		}
		var changed []*write
		for rows.Next() {
			var key [2]string
			if err := rows.Scan(&key[0], &key[1]); err != nil {
				return errors.Join(err, rows.Close())
			}
			if w := byKey[key]; w != nil {
				changed = append(changed, w)
			}
		}
		if err := errors.Join(rows.Err(), rows.Close()); err != nil { // only now is it committed
			return err
		}
		for _, w := range changed {
			w.changed = true
		}
		return nil
	}
}

// mysqlInsert inserts intents. MySQL only reports how many were inserted: unless all were, each is looked at on its own.
// IGNORE is for the rows that exist already. It would also truncate long texts, but none is longer than its column.
func mysqlInsert(ctx context.Context, conn *sql.Conn, state *connState, some []*write) error {
	args := make([]any, 0, 4*len(some))
	for _, w := range some {
		args = append(args, w.shop, w.id, w.begun, w.text)
	}
	result, err := state.statements.exec(ctx, conn, `INSERT IGNORE INTO cardgateway_journal (shop, transaction_id, begun, intent, evidence) VALUES `+
		repeated("(?, ?, ?, ?, '')", len(some)), args...)
	if err != nil {
		return err
	}
	n, err := result.RowsAffected()
	if err != nil {
		return err
	}
	for _, w := range some {
		w.changed = n == int64(len(some))
	}
	return nil
}

// mysqlUpdate locks the rows that nobody else has locked, and changes those that have the expected version.
func mysqlUpdate(ctx context.Context, conn *sql.Conn, kind writeKind, some []*write) error {
	for shop, some := range byShop(some) {
		if err := mysqlUpdateShop(ctx, conn, kind, shop, some); err != nil {
			return err
		}
	}
	return nil
}

func mysqlUpdateShop(ctx context.Context, conn *sql.Conn, kind writeKind, shop string, some []*write) error {
	tx, err := conn.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // without effect after Commit
	changed, err := mysqlUpdateIn(ctx, tx, kind, shop, some)
	if err != nil {
		return err
	}
	if err := tx.Commit(); err != nil {
		return err
	}
	for _, w := range changed {
		w.changed = true
	}
	return nil
}

func byShop(some []*write) map[string][]*write {
	all := make(map[string][]*write)
	for _, w := range some {
		all[w.shop] = append(all[w.shop], w)
	}
	return all
}

func mysqlUpdateIn(ctx context.Context, tx *sql.Tx, kind writeKind, shop string, some []*write) (changed []*write, err error) {
	free, err := mysqlLock(ctx, tx, shop, some)
	if err != nil {
		return nil, err
	}
	for _, w := range some {
		if version, ok := free[w.id]; ok && version == w.version {
			changed = append(changed, w)
		}
	}
	if len(changed) == 0 {
		return nil, nil
	}
	rows := padded(slices.Clone(changed))
	var args []any
	var statement string
	if kind == writeAck {
		statement = `UPDATE cardgateway_journal SET acked = version, unacked = FALSE WHERE shop = ? AND transaction_id IN (` + repeated("?", len(rows)) + `)`
		args = append(args, shop)
		for _, w := range rows {
			args = append(args, w.id)
		}
	} else {
		statement = `UPDATE cardgateway_journal j JOIN (SELECT ? AS id, ? AS line` + strings.Repeat(` UNION ALL SELECT ?, ?`, len(rows)-1) +
			`) w ON j.transaction_id = w.id SET j.evidence = CONCAT(j.evidence, w.line), j.version = j.version + 1, j.unacked = TRUE WHERE j.shop = ?`
		for _, w := range rows {
			args = append(args, []byte(w.id), []byte(w.text))
		}
		args = append(args, shop)
	}
	_, err = tx.ExecContext(ctx, statement, args...)
	return changed, err
}

// mysqlLock locks the rows that nobody else has locked, and returns their versions by id.
func mysqlLock(ctx context.Context, tx *sql.Tx, shop string, some []*write) (versions map[string]int, err error) {
	ids := padded(slices.Clone(some))
	args := []any{shop}
	for _, w := range ids {
		args = append(args, w.id)
	}
	rows, err := tx.QueryContext(ctx, `SELECT transaction_id, version FROM cardgateway_journal WHERE shop = ? AND transaction_id IN (`+
		repeated("?", len(ids))+`) FOR UPDATE SKIP LOCKED`, args...)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	versions = make(map[string]int)
	for rows.Next() {
		var id string
		var version int
		if err := rows.Scan(&id, &version); err != nil {
			return nil, err
		}
		versions[id] = version
	}
	return versions, rows.Err()
}

// The statements of one write. Those without a dialect in their names are for every dialect that has no other.
const (
	insertOne      = `INSERT INTO cardgateway_journal (shop, transaction_id, begun, intent) VALUES (?, ?, ?, ?) ON CONFLICT (shop, transaction_id) DO NOTHING`
	insertOneMySQL = `INSERT IGNORE INTO cardgateway_journal (shop, transaction_id, begun, intent, evidence) VALUES (?, ?, ?, ?, '')`
	recordOne      = `UPDATE cardgateway_journal SET evidence = evidence || ?, version = version + 1, unacked = TRUE
		WHERE shop = ? AND transaction_id = ? AND version = ?`
	recordOneMySQL = `UPDATE cardgateway_journal SET evidence = CONCAT(evidence, ?), version = version + 1, unacked = TRUE
		WHERE shop = ? AND transaction_id = ? AND version = ?`
	ackOne = `UPDATE cardgateway_journal SET acked = version, unacked = FALSE WHERE shop = ? AND transaction_id = ? AND version = ? AND unacked`
)

// lazilyPostgres is a condition of an UPDATE, always true, and evaluated once. Its transaction then commits without waiting for
// the disk. It is durable within three times wal_writer_delay, 600 ms by default, and survives anything but a crash of the server
// within that time.
const lazilyPostgres = ` AND (SELECT set_config('synchronous_commit', 'off', true)) = 'off'`

// writeAlone makes one write with its own statement, and reads the entry if the statement changed nothing.
func (s *Store) writeAlone(w *write) {
	w.err = s.retryStale(func() error {
		ctx := w.ctx
		return s.onConn(ctx, func(conn *sql.Conn, state *connState) error {
			var statement string
			var args []any
			switch w.kind {
			case writeIntent:
				statement = insertOne
				if s.dialect == MySQL {
					statement = insertOneMySQL
				}
				args = []any{w.shop, w.id, w.begun, w.text}
			case writeEvidence:
				statement = recordOne
				if s.dialect == MySQL {
					statement = recordOneMySQL
				}
				args = []any{w.text, w.shop, w.id, w.version}
			case writeAck:
				statement = ackOne
				args = []any{w.shop, w.id, w.version}
			}
			if s.dialect == Postgres && !w.durable {
				statement += lazilyPostgres
			}
			exec := conn.ExecContext
			if s.dialect == MySQL {
				exec = func(ctx context.Context, text string, args ...any) (sql.Result, error) {
					return state.statements.exec(ctx, conn, text, args...)
				}
			}
			result, err := exec(ctx, s.dialect.sql(statement), args...)
			if err != nil {
				return err
			}
			n, err := result.RowsAffected()
			if w.changed = n > 0; w.changed || err != nil {
				return err
			}
			w.current, err = s.read(ctx, conn, w.key)
			// An earlier attempt, as part of a batch, may have inserted the intent without knowing it.
			w.changed = w.sender != "" && len(w.current.Evidence) == 0 && w.current.Begun.Sender == w.sender
			return err
		})
	})
}

// preparedStatements are the prepared statements of one connection to MySQL. database/sql would prepare a statement again
// for each use on a connection, which costs a round trip; and what it prepares for a database may run on a connection
// that has not been checked.
//
// Only the goroutine that holds the connection may use them. They end with the connection.
type preparedStatements struct {
	byText map[string]driver.Stmt
	unkept bool // the connection cannot be remembered, so its statements are not kept
}

// mostStatements limits the prepared statements of a connection. Each size of a batch has its own text.
const mostStatements = 64

// exec prepares a statement if it has not been prepared on this connection, and executes it.
func (p *preparedStatements) exec(ctx context.Context, conn *sql.Conn, text string, args ...any) (result sql.Result, err error) {
	named, plain := namedValues(args)
	if !plain || p.unkept {
		return conn.ExecContext(ctx, text, args...)
	}
	able := true
	err = conn.Raw(func(driverConn any) error {
		s, err := p.prepare(ctx, driverConn, text)
		if s == nil {
			able = false
			return err
		}
		if result, err = s.ExecContext(ctx, named); err != nil {
			_ = p.byText[text].Close() // the next use prepares it again
			delete(p.byText, text)
		}
		return err
	})
	if err == nil && !able {
		return conn.ExecContext(ctx, text, args...)
	}
	return result, err
}

// prepare returns a statement, or nil if the driver cannot prepare or execute one with a context.
func (p *preparedStatements) prepare(ctx context.Context, driverConn any, text string) (driver.StmtExecContext, error) {
	stmt, ok := p.byText[text]
	if !ok {
		c, able := driverConn.(driver.ConnPrepareContext)
		if !able {
			return nil, nil
		}
		var err error
		if stmt, err = c.PrepareContext(ctx, text); err != nil {
			return nil, err
		}
		if len(p.byText) >= mostStatements {
			for _, old := range p.byText {
				_ = old.Close()
			}
			p.byText = nil
		}
		if p.byText == nil {
			p.byText = make(map[string]driver.Stmt)
		}
		p.byText[text] = stmt
	}
	s, _ := stmt.(driver.StmtExecContext)
	return s, nil
}

// namedValues converts arguments to the form that drivers take. It returns false if one has a type that database/sql
// would have to convert.
func namedValues(args []any) (named []driver.NamedValue, plain bool) {
	named = make([]driver.NamedValue, len(args))
	for i, arg := range args {
		if n, ok := arg.(int); ok {
			arg = int64(n)
		}
		if !driver.IsValue(arg) {
			return nil, false
		}
		named[i] = driver.NamedValue{Ordinal: i + 1, Value: arg}
	}
	return named, true
}
