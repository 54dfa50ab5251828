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
	for _, statement := range slices.Concat(d.tables(), d.notified()) {
		b.WriteString(strings.TrimSpace(statement) + ";\n")
	}
	return b.String()
}

// tables returns the statements that create the tables. Each can be repeated without harm: two processes may create the tables
// at the same time, and MySQL commits each statement by itself. The last one inserts the version: then all tables are there.
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
	return append(tables, fmt.Sprintf(`INSERT INTO cardgateway_journal_schema (version, applied) VALUES (%d, %s)`, thisVersion, d.clock()))
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

// The column oldest is the oldest version whose programs may use the tables. NULL means: only programs that know this version. See ofVersion.
const (
	tableOfVersions = `CREATE TABLE IF NOT EXISTS cardgateway_journal_schema (version INTEGER NOT NULL PRIMARY KEY, applied BIGINT NOT NULL, oldest INTEGER)`
	selectVersion   = `SELECT version FROM cardgateway_journal_schema LIMIT 1`
)

// ErrNoTables says that a database has no journal tables.
var ErrNoTables = errors.New("sqlstore: the database has no tables of a journal")

var errDenied = errors.New("the account of the database may not create the tables")

// createTables makes the statements, unless the query made says that this was done. A database user that may not create tables can use existing
// ones. Without statements, the tables must exist.
func (d Dialect) createTables(ctx context.Context, db session, statements []string, made string) error {
	err := d.findTables(ctx, db, made)
	if !errors.Is(err, ErrNoTables) || statements == nil {
		return err
	}
	for _, statement := range statements {
		if _, err := db.ExecContext(ctx, statement); err != nil {
			return d.explainDenied(ctx, db, statements, err)
		}
	}
	return d.findTables(ctx, db, made) // fails if there is a table of somebody else with this name
}

// findTables returns ErrNoTables unless the query made has a row.
func (d Dialect) findTables(ctx context.Context, db session, made string) error {
	err := db.QueryRowContext(ctx, made).Scan(new(any))
	switch {
	case err == nil, d.mayNotRead(err):
		return err
	case errors.Is(err, sql.ErrNoRows), query(ctx, db, `SELECT 1`) == nil: // the database answers
		return fmt.Errorf("%w: %w", ErrNoTables, err)
	}
	return err
}

// besideOthers tries something with which several processes may begin at once, some of which then fail: creating tables, although all
// statements say IF NOT EXISTS, or opening a new file of SQLite, which does not wait while another process changes its journal mode. It tries again
// unless the error is one that stays.
func (d Dialect) besideOthers(ctx context.Context, try func() error) (err error) {
	for range 10 {
		err = try()
		stays := errors.Is(err, ErrNoTables) || errors.Is(err, errDenied) || d.mayNotRead(err) || errors.As(err, new(*settingError))
		if err == nil || stays || retry.Sleep(ctx, 50*time.Millisecond) != nil {
			break
		}
	}
	return err
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

// query makes a query whose result is of no interest.
func query(ctx context.Context, db session, text string) error {
	rows, err := db.QueryContext(ctx, text)
	if err != nil {
		return err
	}
	return errors.Join(rows.Err(), rows.Close())
}
