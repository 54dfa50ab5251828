package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/cardgateway/cardgateway-go/internal/retry"
)

// thisVersion is the version of the tables. The table of versions says which one a database has. A version that has been
// released is never changed: a change of the tables is a new version, with statements that make it from the one before. While a
// deployment rolls, programs of both versions use the tables. So a new version says which oldest version can use it, with the
// statements that it has.
const thisVersion = 1

// Schema returns the statements that New and NewDeduper execute in a database without tables, for an administrator who creates them for an
// account that may not. Each ends with a semicolon at the end of a line. Execute them once. For an unknown Dialect it returns "".
func Schema(d Dialect) string {
	switch d {
	case SQLite, Postgres, MySQL:
	default:
		return ""
	}
	var b strings.Builder
	for _, statement := range slices.Concat(d.tables(), []string{d.insertVersion()}, d.notified()) {
		b.WriteString(strings.TrimSpace(statement) + ";\n")
	}
	return b.String()
}

// tables returns the statements that create the tables. Each can be repeated without harm: two processes may create the tables
// at the same time, and MySQL commits each statement by itself.
//
// The column transaction_id is Key.ID as text, also for a refund. The column unacked says whether acked < version. The index of
// unacknowledged entries uses this column, so that further evidence does not change the index: Postgres can then update in
// place (a heap-only tuple), and SQLite need not read it.
func (d Dialect) tables() []string {
	tables := []string{tableOfVersions, d.table(`
		CREATE TABLE IF NOT EXISTS cardgateway_journal_lease (
			shop   VARBINARY(1024) NOT NULL PRIMARY KEY, -- base URL and appId
			holder VARBINARY(255)  NOT NULL,             -- the process that works
			until  BIGINT          NOT NULL              -- microseconds since 1970, UTC, of the database's clock
		)`, ``, ` WITH (fillfactor = 10)`), d.table(`
		CREATE TABLE IF NOT EXISTS cardgateway_journal (
			shop           VARBINARY(1024) NOT NULL,             -- base URL and appId
			transaction_id VARBINARY(520)  NOT NULL,             -- Key.ID: of a refund "refund " and at most 512 bytes
			begun          BIGINT          NOT NULL,             -- microseconds since 1970, UTC
			intent         MEDIUMBLOB      NOT NULL,             -- JSON
			evidence       MEDIUMBLOB      NOT NULL,             -- JSON, one line each
			version        INTEGER         NOT NULL DEFAULT 0,   -- lines in evidence
			acked          INTEGER         NOT NULL DEFAULT -1,  -- of which so many are acknowledged
			unacked        BOOLEAN         NOT NULL DEFAULT TRUE,
			PRIMARY KEY (shop, transaction_id)
		)`, `INDEX cardgateway_journal_unacked (shop, unacked, begun, transaction_id)`, ` WITH (fillfactor = 60)`)}
	if d != MySQL {
		tables = append(tables, `
		CREATE INDEX IF NOT EXISTS cardgateway_journal_unacked
			ON cardgateway_journal (shop, begun, transaction_id) WHERE unacked`)
	}
	return tables
}

// table returns the statement that creates a table, for a statement with the types of MySQL, an index that only MySQL needs in it, and options of
// Postgres. MySQL has binary columns, because every collation of it treats some different texts as equal.
func (d Dialect) table(statement, index, options string) string {
	switch {
	case d == Postgres:
		return binaryType.ReplaceAllString(statement, `TEXT COLLATE "C"`) + options
	case d == SQLite:
		return binaryType.ReplaceAllString(statement, `TEXT`)
	case index != "":
		statement = strings.TrimSuffix(statement, "\n\t\t)") + ",\n\t\t\t" + index + "\n\t\t)"
	}
	return statement + " ENGINE = InnoDB ROW_FORMAT = DYNAMIC"
}

var binaryType = regexp.MustCompile(`VARBINARY\(\d+\)|MEDIUMBLOB`)

// The column oldest is the oldest version whose programs may use the tables. NULL means: only programs that know this version.
const (
	tableOfVersions = `CREATE TABLE IF NOT EXISTS cardgateway_journal_schema (version INTEGER NOT NULL PRIMARY KEY, applied BIGINT NOT NULL, oldest INTEGER)`
	selectVersion   = `SELECT version, COALESCE(oldest, version) FROM cardgateway_journal_schema ORDER BY version DESC LIMIT 1`
	selectColumns   = `SELECT shop, transaction_id, begun, intent, evidence, version, acked, unacked FROM cardgateway_journal WHERE 1 = 0`
	selectLease     = `SELECT shop, holder, until FROM cardgateway_journal_lease WHERE 1 = 0`
)

func (d Dialect) insertVersion() string {
	return fmt.Sprintf(`INSERT INTO cardgateway_journal_schema (version, applied) VALUES (%d, %s)`, thisVersion, d.clock())
}

// ErrNoTables says that a database has no journal tables.
var ErrNoTables = errors.New("sqlstore: the database has no tables of a journal")

var (
	errSchema = errors.New("the tables are not of this program's version")
	errDenied = errors.New("the account of the database may not create the tables")
)

// createTables creates the tables, unless they exist. A database user that may not create tables can use existing ones.
func (d Dialect) createTables(ctx context.Context, db session) error {
	return d.besideOthers(ctx, func() error { return d.tryTables(ctx, db) })
}

// besideOthers tries something with which several processes may begin at once, some of which then fail: creating tables, although all
// statements say IF NOT EXISTS, or opening a new file of SQLite, which does not wait while another process changes its journal mode. It tries again
// unless the error is one that stays.
func (d Dialect) besideOthers(ctx context.Context, try func() error) (err error) {
	for range 10 {
		err = try()
		stays := errors.Is(err, errSchema) || errors.Is(err, errDenied) || d.mayNotRead(err) || errors.As(err, new(*settingError))
		if err == nil || stays || retry.Sleep(ctx, 50*time.Millisecond) != nil {
			break
		}
	}
	return err
}

// createTable makes the statements, which create a table, unless a SELECT of its columns succeeds.
func (d Dialect) createTable(ctx context.Context, db session, statements []string, columns string) error {
	return d.besideOthers(ctx, func() error {
		if err := query(ctx, db, columns); err == nil || d.mayNotRead(err) {
			return err
		}
		for _, statement := range statements {
			if _, err := db.ExecContext(ctx, statement); err != nil {
				return d.explainDenied(ctx, db, statements, err)
			}
		}
		return query(ctx, db, columns) // fails if it is a table of somebody else with this name
	})
}

func (d Dialect) tryTables(ctx context.Context, db session) error {
	have, oldest, err := schemaVersion(ctx, db)
	switch {
	case have >= thisVersion && oldest <= thisVersion:
		return nil
	case d.mayNotRead(err):
		return err
	case have > thisVersion:
		return fmt.Errorf("%w: the schema has version %d and this program knows %d: a newer program has made it, use that one", errSchema, have, thisVersion)
	}
	all := append(d.tables(), d.insertVersion())
	for _, statement := range d.tables() {
		if _, failed := db.ExecContext(ctx, statement); failed != nil {
			return errors.Join(err, d.explainDenied(ctx, db, all, failed))
		}
	}
	for _, columns := range []string{selectColumns, selectLease} {
		if err := query(ctx, db, columns); err != nil { // a table of somebody else with this name
			return err
		}
	}
	_, err = db.ExecContext(ctx, d.insertVersion())
	if now, _, failed := schemaVersion(ctx, db); now < thisVersion { // another process can have inserted it
		return errors.Join(d.explainDenied(ctx, db, all, err), failed)
	}
	return nil
}

// tableOf finds the table of a statement that creates one, or an index.
var tableOf = regexp.MustCompile(`\b(?:TABLE IF NOT EXISTS|ON) (cardgateway_\w+)`)

// explainDenied adds the statements that are missing to an error that says that the account may not create something.
func (d Dialect) explainDenied(ctx context.Context, db session, statements []string, err error) error {
	if !d.isDenied(err) {
		return err
	}
	var missing strings.Builder
	for _, statement := range statements {
		if table := tableOf.FindStringSubmatch(statement); table == nil || query(ctx, db, `SELECT 1 FROM `+table[1]+` WHERE 1 = 0`) != nil {
			missing.WriteString(strings.TrimSpace(statement) + ";\n")
		}
	}
	return fmt.Errorf("%w (%w): let an administrator execute what is missing:\n%s", errDenied, err, &missing)
}

// findTables checks that the tables are there, in a version that this program may use.
func (d Dialect) findTables(ctx context.Context, db session) error {
	have, oldest, err := schemaVersion(ctx, db)
	switch {
	case err != nil && query(ctx, db, `SELECT 1`) == nil: // the database answers
		return fmt.Errorf("%w: %w", ErrNoTables, err)
	case err != nil:
		return err
	case have == 0:
		return ErrNoTables
	case have < thisVersion || oldest > thisVersion:
		return fmt.Errorf("%w: the schema has version %d and this program knows %d", errSchema, have, thisVersion)
	}
	return nil
}

// schemaVersion returns the version of the tables, or zero, and the oldest version whose programs may use them.
func schemaVersion(ctx context.Context, db session) (version, oldest int, err error) {
	err = db.QueryRowContext(ctx, selectVersion).Scan(&version, &oldest)
	if errors.Is(err, sql.ErrNoRows) {
		err = nil
	}
	return version, oldest, err
}

// query makes a query whose result is of no interest.
func query(ctx context.Context, db session, text string) error {
	rows, err := db.QueryContext(ctx, text)
	if err != nil {
		return err
	}
	return errors.Join(rows.Err(), rows.Close())
}
