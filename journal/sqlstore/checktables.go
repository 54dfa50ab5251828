package sqlstore

import (
	"context"
	"fmt"
)

// tableCheck is something that the table of the journal must have, so that a commit of an intent is unique and durable: somebody else can
// have created or changed it, and every statement would still succeed.
type tableCheck struct {
	query  string // of one text
	want   string
	wrong  string
	remedy string
}

const addKey = "ALTER TABLE cardgateway_journal ADD PRIMARY KEY (shop, transaction_id)"

const (
	notOrdinary = "is not an ordinary, permanent table, so that payments could be lost"
	noKey       = "has no unique index on exactly shop and transaction_id, so that a payment could be made twice"
	wrongTypes  = "has columns of other types, so that two ids could be taken for one"
	hasTriggers = "has triggers, rules or conflict clauses, which could drop what is written"
	hidesRows   = "hides rows from this account (row-level security), so that outcomes would not be reported"
	otherTable  = "rename this table, and let New create another one"
)

func (d Dialect) tableChecks() []tableCheck {
	switch d {
	case Postgres:
		const table = `to_regclass('cardgateway_journal')` // and 950 is the collation "C"
		return []tableCheck{
			{`SELECT CAST(relkind AS text) || CAST(relpersistence AS text) || CASE WHEN relhassubclass THEN ' with children' ELSE '' END
				FROM pg_class WHERE oid = ` + table, "rp", notOrdinary, "ALTER TABLE cardgateway_journal SET LOGGED, if it is unlogged; otherwise " + otherTable},
			{`SELECT CASE WHEN EXISTS (SELECT FROM pg_index i WHERE indrelid = ` + table + ` AND indisunique AND indisvalid AND indisready AND indimmediate
					AND indpred IS NULL AND indexprs IS NULL AND indnkeyatts = 2
					AND (SELECT count(*) FROM pg_attribute WHERE attrelid = indrelid AND attnum IN (indkey[0], indkey[1])
						AND attname IN ('shop', 'transaction_id')) = 2
					AND NOT EXISTS (SELECT FROM pg_collation c WHERE c.oid IN (indcollation[0], indcollation[1]) AND NOT collisdeterministic))
				THEN 'unique' ELSE 'none' END`, "unique", noKey, addKey},
			{`SELECT CAST(count(*) AS text) FROM pg_attribute WHERE attrelid = ` + table + ` AND attname IN ('shop', 'transaction_id', 'intent', 'evidence')
				AND atttypid IN (CAST('text' AS regtype), CAST('varchar' AS regtype))
				AND (attname IN ('intent', 'evidence') OR attcollation = 950)`, "4", wrongTypes, "change them to TEXT COLLATE \"C\""},
			{`SELECT CAST((SELECT count(*) FROM pg_trigger WHERE tgrelid = ` + table + ` AND NOT tgisinternal AND tgenabled <> 'D')
				+ (SELECT count(*) FROM pg_rewrite WHERE ev_class = ` + table + `) AS text)`, "0", hasTriggers, "drop them"},
			{`SELECT CASE WHEN row_security_active(` + table + `) THEN 'active' ELSE 'none' END`, "none", hidesRows,
				"ALTER TABLE cardgateway_journal DISABLE ROW LEVEL SECURITY, or use an account with BYPASSRLS"},
		}
	case MySQL:
		const of = ` TABLE_SCHEMA = DATABASE() AND TABLE_NAME = 'cardgateway_journal'`
		return []tableCheck{
			{`SELECT CONCAT(TABLE_TYPE, ' ', COALESCE(ENGINE, '')) FROM information_schema.TABLES WHERE` + of, "BASE TABLE InnoDB", notOrdinary,
				"ALTER TABLE cardgateway_journal ENGINE = InnoDB, if it has another engine; otherwise " + otherTable},
			{`SELECT IF(EXISTS (SELECT INDEX_NAME FROM information_schema.STATISTICS WHERE` + of + ` AND NON_UNIQUE = 0 GROUP BY INDEX_NAME
				HAVING COUNT(*) = 2 AND SUM(COLUMN_NAME IN ('shop', 'transaction_id')) = 2 AND SUM(SUB_PART IS NOT NULL) = 0), 'unique', 'none')`,
				"unique", noKey, addKey},
			{`SELECT CAST(COUNT(*) AS CHAR) FROM information_schema.COLUMNS WHERE` + of + ` AND (COLUMN_NAME = 'shop' AND DATA_TYPE = 'varbinary'
				AND CHARACTER_MAXIMUM_LENGTH >= 1024 OR COLUMN_NAME = 'transaction_id' AND DATA_TYPE = 'varbinary' AND CHARACTER_MAXIMUM_LENGTH >= 520
				OR COLUMN_NAME IN ('intent', 'evidence') AND DATA_TYPE IN ('mediumblob', 'longblob'))`, "4", wrongTypes,
				"change them to VARBINARY(1024), VARBINARY(520) and MEDIUMBLOB"},
			{`SELECT CAST(COUNT(*) AS CHAR) FROM information_schema.TRIGGERS WHERE EVENT_OBJECT_SCHEMA = DATABASE()
				AND EVENT_OBJECT_TABLE = 'cardgateway_journal'`, "0", hasTriggers, "drop them"},
		}
	}
	return []tableCheck{
		{`SELECT type || CASE WHEN rootpage > 0 THEN '' ELSE ' without pages' END FROM sqlite_master WHERE name = 'cardgateway_journal'`,
			"table", notOrdinary, otherTable},
		{`SELECT CASE WHEN EXISTS (SELECT 1 FROM pragma_index_list('cardgateway_journal') l WHERE l."unique" AND NOT l.partial
				AND (SELECT COUNT(*) FROM pragma_index_xinfo(l.name) WHERE key) = 2
				AND (SELECT COUNT(*) FROM pragma_index_xinfo(l.name) WHERE key AND name IN ('shop', 'transaction_id') AND coll = 'BINARY') = 2)
			THEN 'unique' ELSE 'none' END`, "unique", noKey, otherTable},
		{`SELECT CAST(COUNT(*) AS TEXT) FROM pragma_table_info('cardgateway_journal') WHERE name IN ('shop', 'transaction_id', 'intent', 'evidence')
				AND type = 'TEXT'`, "4", wrongTypes, otherTable},
		{`SELECT CAST(COUNT(*) AS TEXT) FROM sqlite_master WHERE tbl_name = 'cardgateway_journal' COLLATE NOCASE
				AND (type = 'trigger' OR sql LIKE '%ON CONFLICT%')`, "0", hasTriggers, "drop them, or " + otherTable},
	}
}

// selectSchema returns the query for the schema of the table, quoted, with a dot.
func (d Dialect) selectSchema() string {
	switch d {
	case Postgres:
		return `SELECT quote_ident(nspname) || '.' FROM pg_namespace n JOIN pg_class c ON relnamespace = n.oid WHERE c.oid = to_regclass('cardgateway_journal')`
	case MySQL:
		return "SELECT CONCAT('`', REPLACE(DATABASE(), '`', '``'), '`.')"
	}
	return `SELECT 'main.'`
}

// checkTables rejects a table in which a commit of an intent would not be unique and durable.
func (d Dialect) checkTables(ctx context.Context, db session) error {
	for _, check := range d.tableChecks() {
		var got string
		if err := db.QueryRowContext(ctx, check.query).Scan(&got); err != nil {
			return fmt.Errorf("it cannot be found out what the table cardgateway_journal is like: %w", err)
		}
		if got != check.want {
			return &settingError{fmt.Sprintf("the table cardgateway_journal %s (%s): %s", check.wrong, got, check.remedy)}
		}
	}
	return d.checkKey(ctx, db, "cardgateway_journal_lease", "shop")
}

// checkKey rejects a table without a unique index on exactly this column, a text that is compared byte by byte: every insert of a row that
// exists would succeed, or some of one that does not exist would fail.
func (d Dialect) checkKey(ctx context.Context, db session, table, column string) error {
	query := map[Dialect]string{
		SQLite: `SELECT COUNT(*) FROM pragma_index_list('%[1]s') l WHERE l."unique" AND NOT l.partial
			AND (SELECT COUNT(*) FROM pragma_index_xinfo(l.name) WHERE key) = 1
			AND (SELECT COUNT(*) FROM pragma_index_xinfo(l.name) WHERE key AND name = '%[2]s' AND coll = 'BINARY') = 1
			AND (SELECT type FROM pragma_table_info('%[1]s') WHERE name = '%[2]s') = 'TEXT'`,
		Postgres: `SELECT count(*) FROM pg_index JOIN pg_attribute ON attrelid = indrelid AND attnum = indkey[0] AND attname = '%[2]s'
			WHERE indrelid = to_regclass('%[1]s') AND indisunique AND indisvalid AND indisready AND indimmediate
			AND indpred IS NULL AND indnkeyatts = 1 AND attcollation = 950`,
		MySQL: `SELECT COUNT(*) FROM (SELECT INDEX_NAME FROM information_schema.STATISTICS WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = '%[1]s'
			AND NON_UNIQUE = 0 GROUP BY INDEX_NAME
			HAVING COUNT(*) = 1 AND SUM(COLUMN_NAME = '%[2]s') = 1 AND SUM(SUB_PART IS NOT NULL) = 0) AS keys_of_table
			JOIN information_schema.COLUMNS ON TABLE_SCHEMA = DATABASE() AND TABLE_NAME = '%[1]s' AND COLUMN_NAME = '%[2]s' AND DATA_TYPE = 'varbinary'`,
	}[d]
	var n int
	if err := db.QueryRowContext(ctx, fmt.Sprintf(query, table, column)).Scan(&n); err != nil {
		return fmt.Errorf("it cannot be found out what the table %s is like: %w", table, err)
	}
	if n == 0 {
		return &settingError{fmt.Sprintf("the table %s has no unique index on exactly %s, with the type that New gives it: ALTER TABLE %[1]s ADD PRIMARY KEY (%[2]s)", table, column)}
	}
	return nil
}
