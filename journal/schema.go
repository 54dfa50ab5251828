package journal

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"
)

// The tables of a SQLStore. A table of versions says which migrations have been applied; they are applied in order and
// never undone.

// migrations returns the statements of each version, the first version first. Each statement can be applied again without
// harm: two processes may migrate at the same time, and MySQL commits each statement by itself. A version that has been
// released is never changed; changes are added as a new version.
//
// The column unacked says whether acked < version. The index of unacknowledged entries uses this column, so that further
// evidence does not change the index: Postgres can then update in place (a heap-only tuple), and SQLite need not read it.
//
// Since version 2 the table also has refunds: transaction_id is then Key.ID, which is "refund", a tab and the
// refundTransactionId. A program of version 1 would take them for payments, so it refuses the tables.
func (d Dialect) migrations() [][]string {
	var refunds []string // version 2 changes no table here
	switch d {
	case Postgres:
		return [][]string{{`
			CREATE TABLE IF NOT EXISTS cardgateway_journal (
				shop           TEXT COLLATE "C" NOT NULL,            -- base URL and appId
				transaction_id TEXT COLLATE "C" NOT NULL,
				begun          BIGINT           NOT NULL,            -- microseconds since 1970, UTC
				intent         TEXT             NOT NULL,            -- JSON
				evidence       TEXT             NOT NULL DEFAULT '', -- JSON, one line each
				version        INTEGER          NOT NULL DEFAULT 0,  -- lines in evidence
				acked          INTEGER          NOT NULL DEFAULT -1, -- of which so many are acknowledged
				unacked        BOOLEAN          NOT NULL DEFAULT TRUE,
				PRIMARY KEY (shop, transaction_id)
			) WITH (fillfactor = 60)`, `
			CREATE INDEX IF NOT EXISTS cardgateway_journal_unacked
				ON cardgateway_journal (shop, begun, transaction_id) WHERE unacked`,
		}, refunds}
	case MySQL: // binary columns, because every collation of MySQL treats some different texts as equal
		return [][]string{{`
			CREATE TABLE IF NOT EXISTS cardgateway_journal (
				shop           VARBINARY(1024) NOT NULL,             -- base URL and appId
				transaction_id VARBINARY(512)  NOT NULL,
				begun          BIGINT          NOT NULL,             -- microseconds since 1970, UTC
				intent         MEDIUMBLOB      NOT NULL,             -- JSON
				evidence       MEDIUMBLOB      NOT NULL,             -- JSON, one line each
				version        INTEGER         NOT NULL DEFAULT 0,   -- lines in evidence
				acked          INTEGER         NOT NULL DEFAULT -1,  -- of which so many are acknowledged
				unacked        BOOLEAN         NOT NULL DEFAULT TRUE,
				PRIMARY KEY (shop, transaction_id),
				INDEX cardgateway_journal_unacked (shop, unacked, begun, transaction_id)
			) ENGINE = InnoDB ROW_FORMAT = DYNAMIC`,
		}, {
			`ALTER TABLE cardgateway_journal MODIFY transaction_id VARBINARY(520) NOT NULL`, // "refund", a tab and 512 bytes
		}}
	}
	return [][]string{{`
		CREATE TABLE IF NOT EXISTS cardgateway_journal (
			shop           TEXT    NOT NULL,            -- base URL and appId
			transaction_id TEXT    NOT NULL,
			begun          INTEGER NOT NULL,            -- microseconds since 1970, UTC
			intent         TEXT    NOT NULL,            -- JSON
			evidence       TEXT    NOT NULL DEFAULT '', -- JSON, one line each
			version        INTEGER NOT NULL DEFAULT 0,  -- lines in evidence
			acked          INTEGER NOT NULL DEFAULT -1, -- of which so many are acknowledged
			unacked        INTEGER NOT NULL DEFAULT 1,
			PRIMARY KEY (shop, transaction_id)
		)`, `
		CREATE INDEX IF NOT EXISTS cardgateway_journal_unacked
			ON cardgateway_journal (shop, begun, transaction_id) WHERE unacked`,
	}, refunds}
}

const (
	tableOfVersions = `CREATE TABLE IF NOT EXISTS cardgateway_journal_schema (version INTEGER NOT NULL PRIMARY KEY, applied BIGINT NOT NULL)`
	selectVersion   = `SELECT COALESCE(MAX(version), 0) FROM cardgateway_journal_schema`
	insertVersion   = `INSERT INTO cardgateway_journal_schema (version, applied) VALUES (?, ?)`
)

// migrate brings the tables to this version, unless they already have it. A database user that may not create tables can
// use existing ones. If several processes migrate at once, some can fail although all statements say IF NOT EXISTS; the
// next attempt then finds the tables migrated.
func (d Dialect) migrate(ctx context.Context, db *sql.DB) (err error) {
	for range 10 {
		if err = d.migrateOnce(ctx, db); err == nil || errors.Is(err, errSchema) || !sleep(ctx, 50*time.Millisecond) {
			break
		}
	}
	return err
}

var errSchema = errors.New("the tables are not of this program's version")

func (d Dialect) migrateOnce(ctx context.Context, db *sql.DB) error {
	all := d.migrations()
	have, err := schemaVersion(ctx, db)
	switch {
	case have > len(all):
		return fmt.Errorf("%w: the schema has version %d and this program knows %d: a newer program has migrated it, use that one", errSchema, have, len(all))
	case have == len(all):
		return nil
	case err != nil && probe(ctx, db, `SELECT pieces FROM cardgateway_journal WHERE 1 = 0`):
		return fmt.Errorf("%w: the table cardgateway_journal was made by version 0.1, which did not record to which gateway and "+
			"app a payment belongs: have that program settle and acknowledge what is open, then rename the table or use "+
			"another database", errSchema)
	}
	if _, failed := db.ExecContext(ctx, tableOfVersions); failed != nil {
		return errors.Join(err, failed)
	}
	for version := have + 1; version <= len(all); version++ {
		for _, statement := range all[version-1] {
			if _, err := db.ExecContext(ctx, statement); err != nil {
				return err
			}
		}
		_, err := db.ExecContext(ctx, d.sql(insertVersion), version, time.Now().UnixMicro())
		if now, failed := schemaVersion(ctx, db); now < version { // another process can have inserted it
			return errors.Join(err, failed)
		}
	}
	return nil
}

func schemaVersion(ctx context.Context, db *sql.DB) (version int, err error) {
	err = db.QueryRowContext(ctx, selectVersion).Scan(&version)
	return version, err
}

// probe reports whether a query succeeds.
func probe(ctx context.Context, db *sql.DB, query string) bool {
	rows, err := db.QueryContext(ctx, query)
	return err == nil && errors.Join(rows.Err(), rows.Close()) == nil
}
