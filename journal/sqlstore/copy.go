package sqlstore

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/internal/random"
	"github.com/cardgateway/cardgateway-go/journal"
)

// Copy says how CopyOrders and CopyRefunds copy rows into tables of the program's own.
type Copy[T any] struct {
	Since   time.Time     // required: the first copy has all rows since then
	Every   time.Duration // how long after a complete copy the next one is due; zero means 24 hours
	Overlap time.Duration // how much of one copy the next one reads again, because rows change; zero means 72 hours

	// Confirm is optional: it is called with each row before it is stored, outside the transaction, such as Journal.Confirm or
	// Journal.ConfirmRefund. An error that matches journal.ErrNoEntry is ignored: the row was made by another program.
	Confirm func(context.Context, *T) error

	// Store is required: it stores a row under its id, in the transaction, and the newest version wins. It is called again
	// with a row that it has stored.
	Store func(context.Context, *sql.Tx, *T) error
}

const (
	defaultEvery   = 24 * time.Hour
	mostEvery      = 100 * 365 * 24 * time.Hour // no sum with it overflows
	defaultOverlap = 72 * time.Hour
	copyBatch      = 500              // rows in a transaction
	copyLapses     = 15 * time.Minute // after the last batch of a process that has died
	releaseWithin  = 5 * time.Second
)

// never is the end of the range of every copy. A walk ends now, and one that resumes reads on, because its query is the same.
var never = time.Date(9998, 1, 1, 0, 0, 0, 0, time.UTC)

// CopyOrders copies the orders of the client's gateway into a table of the program's own in the store's database, if a copy is due
// and no other process copies. Call it every minute or so, in each process. It returns up to when the copy is complete, or the zero
// time if nothing was due. The rows are those of all apps that the credentials serve: see Client.IsOtherApp.
//
// Rows are stored in batches of 500, each in one transaction with the position in the table cardgateway_copies, which CopyOrders
// creates. So a copy that ends with an error, or with the process, continues there with a later call, in any process: after an error
// at once, after a crash within 15 minutes. To copy everything again, delete the row of the table. All programs that copy the orders of one
// shop into one database share its position: if they fill different tables, each of them misses rows.
// The database user needs SELECT, INSERT and UPDATE on this table, and the right to create it only for the first run.
//
// Errors are those of the walk, of Confirm, Store and the database. An error of Confirm about one entry comes after its batch was stored,
// with each copy that reads the row, and should be looked at by a person: one that matches journal.ErrMismatch says that the gateway has
// another payment with this id, a *journal.EntryError that the entry cannot be read. A row of the gateway that cannot be read, a
// *cardgateway.RowError, ends each copy at the time of this row until the gateway returns it differently: alert on it.
func (s *Store) CopyOrders(ctx context.Context, client *cardgateway.Client, c Copy[cardgateway.Transaction]) (completeUpTo time.Time, err error) {
	return copyRows(ctx, s, client, "CopyOrders", c, func(since time.Time, o cardgateway.WalkOptions) *cardgateway.Walk[cardgateway.Transaction] {
		return client.OrderWalk(cardgateway.OrderQuery{Start: since, End: never}, o)
	})
}

// CopyRefunds copies refunds, as CopyOrders copies orders.
func (s *Store) CopyRefunds(ctx context.Context, client *cardgateway.Client, c Copy[cardgateway.Refund]) (completeUpTo time.Time, err error) {
	return copyRows(ctx, s, client, "CopyRefunds", c, func(since time.Time, o cardgateway.WalkOptions) *cardgateway.Walk[cardgateway.Refund] {
		return client.RefundWalk(cardgateway.RefundQuery{Start: since, End: never}, o)
	})
}

// copier makes one copy.
type copier[T any] struct {
	Copy[T]
	db      *sql.DB
	dialect Dialect
	name    string // of the row: the shop and the operation
	holder  string // of the claim
	since   time.Time
	at      cardgateway.Checkpoint
	kept    time.Time // when the claim was last made longer
}

func copyRows[T any](
	ctx context.Context, s *Store, client *cardgateway.Client, method string, c Copy[T],
	walk func(since time.Time, o cardgateway.WalkOptions) *cardgateway.Walk[T],
) (completeUpTo time.Time, err error) {
	if err := needContext(ctx, method); err != nil {
		return time.Time{}, err
	}
	if client == nil || c.Since.IsZero() || c.Store == nil {
		return time.Time{}, fmt.Errorf("sqlstore: %s: client, Since and Store are required", method)
	}
	if c.Every < 0 || c.Overlap < 0 { // rows between two copies would be missing
		return time.Time{}, fmt.Errorf("sqlstore: %s: Every and Overlap must not be negative", method)
	}
	c.Every = min(cmp.Or(c.Every, defaultEvery), mostEvery)
	shop := shopOf(client).String()
	if err := s.checkShop(shop); err != nil {
		return time.Time{}, err
	}
	k := copier[T]{Copy: c, db: s.db, dialect: s.dialect, name: shop + " " + method, holder: random.Text()}
	claimed, err := k.claim(ctx)
	if err == nil && claimed {
		completeUpTo, err = k.run(ctx, walk(k.since, cardgateway.WalkOptions{Resume: k.at, Progress: func(cardgateway.Progress) { k.keep(ctx) }}))
	}
	if err != nil {
		err = fmt.Errorf("sqlstore: %s: %w", method, err)
	}
	return completeUpTo, err
}

// copies returns the statement that creates the table.
func (d Dialect) copies() string {
	text, long, options := "TEXT", "TEXT", ""
	switch d {
	case Postgres:
		text = `TEXT COLLATE "C"`
	case MySQL: // binary, as in the table of a Store
		text, long, options = "VARBINARY("+strconv.Itoa(longestShop+32)+")", "MEDIUMBLOB", " ENGINE = InnoDB ROW_FORMAT = DYNAMIC"
	}
	return `CREATE TABLE IF NOT EXISTS cardgateway_copies (
		name       ` + text + ` NOT NULL PRIMARY KEY, -- shop, a space and the operation
		holder     ` + text + ` NOT NULL, -- who copies, or has copied
		due        BIGINT NOT NULL,       -- microseconds since 1970, UTC, of the database's clock
		since      BIGINT NOT NULL,       -- the beginning of the copy, in microseconds since 1970, UTC
		checkpoint ` + long + ` NOT NULL  -- JSON: null before the first batch
	)` + options
}

const selectCopies = `SELECT name, holder, due, since, checkpoint FROM cardgateway_copies WHERE 1 = 0`

// claim reports whether a copy is due and this process makes it. Then it sets the position.
func (k *copier[T]) claim(ctx context.Context) (bool, error) {
	d := k.dialect
	if err := d.createTable(ctx, k.db, []string{d.copies()}, selectCopies); err != nil {
		return false, err
	}
	insert := d.insertMissing(`INSERT INTO cardgateway_copies (name, holder, due, since, checkpoint) VALUES (?, '', 0, ?, 'null')`, "name")
	if _, err := d.exec(ctx, k.db, insert, k.name, k.Since.UnixMicro()); err != nil {
		return false, err
	}
	furthest := max(k.Every, copyLapses) + time.Minute // if it is due later, the database's clock was set back
	claim := `UPDATE cardgateway_copies SET holder = ?, due = ` + d.in(copyLapses) + `
		WHERE name = ? AND (due <= ` + d.clock() + ` OR due > ` + d.in(furthest) + `)`
	n, err := d.exec(ctx, k.db, claim, k.holder, k.name)
	if err == nil && n == 0 {
		return false, nil
	}
	var since int64
	if err == nil {
		err = k.db.QueryRowContext(ctx, d.sql(`SELECT since, checkpoint FROM cardgateway_copies WHERE name = ?`), k.name).Scan(&since, &k.at)
	}
	if err != nil {
		k.release(ctx)
		return false, err
	}
	k.since = time.UnixMicro(since)
	return true, nil
}

// run copies the rows that are missing. After an error, another call can continue at once.
func (k *copier[T]) run(ctx context.Context, walk *cardgateway.Walk[T]) (completeUpTo time.Time, err error) {
	for batch, err := range walk.Batches(ctx, copyBatch) {
		var ofRows error
		if err == nil {
			ofRows, err = k.confirm(ctx, batch.Rows)
		}
		if err == nil {
			err = k.save(ctx, batch)
		}
		if err == nil && batch.Last {
			return batch.Checkpoint.CompleteUpTo(), ofRows
		}
		if err = errors.Join(err, ofRows); err != nil {
			k.release(ctx)
			return time.Time{}, err
		}
	}
	return time.Time{}, nil
}

// confirm confirms the rows of a batch. The first result has the errors that concern a row alone: the batch is stored nevertheless.
func (k *copier[T]) confirm(ctx context.Context, rows []*T) (ofRows, err error) {
	if k.Confirm == nil {
		return nil, nil
	}
	for _, row := range rows {
		err := k.Confirm(ctx, row)
		switch {
		case errors.Is(err, journal.ErrMismatch), errors.As(err, new(*journal.EntryError)):
			ofRows = errors.Join(ofRows, err)
		case err != nil && !errors.Is(err, journal.ErrNoEntry):
			return ofRows, err
		}
	}
	return ofRows, nil
}

// save stores a batch and the position after it in one transaction. The first statement locks the row of the copy: a process that
// wants to take over waits for the end of the transaction, and if one has taken over, nothing is stored.
func (k *copier[T]) save(ctx context.Context, batch cardgateway.Batch[T]) error {
	at, since, next := batch.Checkpoint, k.since, copyLapses
	if batch.Last {
		at, since = cardgateway.Checkpoint{}, at.CompleteUpTo().Add(-cmp.Or(k.Overlap, defaultOverlap))
		next = k.Every
	}
	tx, err := k.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // without effect after Commit
	n, err := k.dialect.exec(ctx, tx, `UPDATE cardgateway_copies SET checkpoint = ?, since = ?, due = `+k.dialect.in(next)+`
		WHERE name = ? AND holder = ?`, at, since.UnixMicro(), k.name, k.holder)
	if err != nil {
		return err
	}
	if n == 0 {
		return errors.New("another process has taken over the copy")
	}
	for _, row := range batch.Rows {
		if err := k.Store(ctx, tx, row); err != nil {
			return err
		}
	}
	return tx.Commit()
}

// keep makes the claim longer, at most once a minute: a walk can take long until it has the rows of a batch. If that fails, the claim can
// lapse, and save finds out.
func (k *copier[T]) keep(ctx context.Context) {
	if time.Since(k.kept) < time.Minute {
		return
	}
	k.kept = time.Now()
	_, _ = k.dialect.exec(ctx, k.db, `UPDATE cardgateway_copies SET due = `+k.dialect.in(copyLapses)+` WHERE name = ? AND holder = ?`, k.name, k.holder)
}

// release ends the claim.
func (k *copier[T]) release(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseWithin)
	defer cancel()
	_, _ = k.dialect.exec(ctx, k.db, `UPDATE cardgateway_copies SET due = 0 WHERE name = ? AND holder = ?`, k.name, k.holder) // otherwise it lapses
}
