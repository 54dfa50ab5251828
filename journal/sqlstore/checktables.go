package sqlstore

import (
	"fmt"
	"strconv"
	"strings"
)

// table is what a table must have, so that a row of a key is unique and durable.
type table struct {
	name  string
	key   []column
	texts []string // columns that are not in the key
}

// column is a column of a key. On MySQL it must have room for so many bytes.
type column struct {
	name   string
	length int
}

var (
	tableOfEntries = table{"cardgateway_journal", []column{{"shop", maxShopLength}, {"transaction_id", 520}}, []string{"intent", "evidence"}}
	tableOfLeases  = table{"cardgateway_journal_lease", []column{{"shop", maxShopLength}}, nil}
	tableOfEvents  = table{"cardgateway_notified", []column{{"event", maxEventLength}}, nil}
)

func (t *table) keyNames() []string {
	names := make([]string, len(t.key))
	for i, c := range t.key {
		names[i] = c.name
	}
	return names
}

// literal returns a text, or some with commas between them, as they stand in a statement.
func literal(texts ...string) string {
	quoted := make([]string, len(texts))
	for i, text := range texts {
		quoted[i] = "'" + strings.ReplaceAll(text, "'", "''") + "'"
	}
	return strings.Join(quoted, ", ")
}

const (
	notOrdinary = "is missing, or not an ordinary, permanent table, so that what is committed could be lost"
	noKey       = "has no unique index on exactly %s, so that a payment could be made twice"
	wrongTypes  = "has columns of other types, so that two ids could be taken for one"
	hasTriggers = "has triggers, rules, foreign keys or conflict clauses, which could drop what is written"
	hidesRows   = "hides rows from this account (row-level security), so that outcomes would not be reported"
	otherTable  = "stop every program, create the table with its statement in Schema, and copy every row into it: what has none there can be paid again"
)

// conditions returns what a table in a schema must have.
func (d Dialect) conditions(schema string, t table) []condition {
	keys := t.keyNames()
	n := strconv.Itoa(len(keys))
	key, all := literal(keys...), literal(append(keys, t.texts...)...)
	unique, addKey := fmt.Sprintf(noKey, strings.Join(keys, " and ")), "ALTER TABLE "+t.name+" ADD PRIMARY KEY ("+strings.Join(keys, ", ")+")"
	must := func(query, want, wrong, remedy string) condition {
		return condition{"", query, func(value string) bool { return value != want }, "the table " + t.name + " " + wrong + " (%s): " + remedy, false}
	}
	columns := strconv.Itoa(len(keys) + len(t.texts))
	switch d {
	case Postgres:
		table := "to_regclass(" + literal(d.quote(schema)+t.name) + ")" // and 950 is the collation "C"
		return []condition{
			must(`SELECT CAST(relkind AS text) || CAST(relpersistence AS text) || CASE WHEN relhassubclass THEN ' with children' ELSE '' END
				FROM pg_class WHERE oid = `+table, "rp", notOrdinary, "ALTER TABLE "+t.name+" SET LOGGED, if it is unlogged; otherwise "+otherTable),
			must(`SELECT CASE WHEN EXISTS (SELECT FROM pg_index WHERE indrelid = `+table+` AND indisunique AND indisvalid AND indisready AND indimmediate
					AND indpred IS NULL AND indexprs IS NULL AND indnkeyatts = `+n+`
					AND (SELECT count(*) FROM pg_attribute WHERE attrelid = indrelid AND attnum = ANY((CAST(indkey AS int2[]))[0:`+n+` - 1])
						AND attname IN (`+key+`)) = `+n+`
					AND NOT EXISTS (SELECT FROM pg_collation c WHERE c.oid = ANY(indcollation) AND NOT collisdeterministic))
				THEN 'unique' ELSE 'none' END`, "unique", unique, addKey),
			must(`SELECT CAST(count(*) AS text) FROM pg_attribute WHERE attrelid = `+table+` AND attname IN (`+all+`)
				AND atttypid IN (CAST('text' AS regtype), CAST('varchar' AS regtype))
				AND atttypmod = -1
				AND (attname NOT IN (`+key+`) OR attcollation = 950)`, columns, wrongTypes, "change them to TEXT COLLATE \"C\""),
			must(`SELECT CAST((SELECT count(*) FROM pg_trigger WHERE tgrelid = `+table+` AND NOT tgisinternal AND tgenabled <> 'D')
				+ (SELECT count(*) FROM pg_constraint WHERE conrelid = `+table+` AND contype = 'f')
				+ (SELECT count(*) FROM pg_rewrite WHERE ev_class = `+table+`) AS text)`, "0", hasTriggers, "drop them"),
			must(`SELECT CASE WHEN row_security_active(`+table+`) THEN 'active' ELSE 'none' END`, "none", hidesRows,
				"ALTER TABLE "+t.name+" DISABLE ROW LEVEL SECURITY, or use an account with BYPASSRLS"),
		}
	case MySQL:
		schema := fmt.Sprintf("_utf8mb4 X'%X'", schema) // in a text, a backslash would begin an escape
		of := ` TABLE_SCHEMA = ` + schema + ` AND TABLE_NAME = ` + literal(t.name)
		right := "COLUMN_NAME IN ('intent', 'evidence') AND DATA_TYPE IN ('mediumblob', 'longblob')"
		for _, c := range t.key {
			right += fmt.Sprintf(" OR COLUMN_NAME = '%s' AND DATA_TYPE = 'varbinary' AND CHARACTER_MAXIMUM_LENGTH >= %d", c.name, c.length)
		}
		return []condition{
			must(`SELECT CONCAT(TABLE_TYPE, ' ', COALESCE(ENGINE, '')) FROM information_schema.TABLES WHERE`+of, "BASE TABLE InnoDB", notOrdinary,
				"ALTER TABLE "+t.name+" ENGINE = InnoDB, if it has another engine; otherwise "+otherTable),
			must(`SELECT IF(EXISTS (SELECT INDEX_NAME FROM information_schema.STATISTICS WHERE`+of+` AND NON_UNIQUE = 0 GROUP BY INDEX_NAME
				HAVING COUNT(*) = `+n+` AND SUM(COLUMN_NAME IN (`+key+`)) = `+n+` AND SUM(SUB_PART IS NOT NULL) = 0), 'unique', 'none')`,
				"unique", unique, addKey),
			must(`SELECT CAST(COUNT(*) AS CHAR) FROM information_schema.COLUMNS WHERE`+of+` AND (`+right+`)`, columns, wrongTypes,
				"change them to the types that New gives them"),
			must(`SELECT CAST((SELECT COUNT(*) FROM information_schema.TRIGGERS WHERE EVENT_OBJECT_SCHEMA = `+schema+`
				AND EVENT_OBJECT_TABLE = `+literal(t.name)+`) + (SELECT COUNT(*) FROM information_schema.KEY_COLUMN_USAGE
				WHERE`+of+` AND REFERENCED_TABLE_NAME IS NOT NULL) AS CHAR)`, "0", hasTriggers, "drop them"),
		}
	}
	name := literal(t.name)
	return []condition{
		must(`SELECT type || CASE WHEN rootpage > 0 THEN '' ELSE ' without pages' END FROM sqlite_master WHERE name = `+name,
			"table", notOrdinary, otherTable),
		must(`SELECT CASE WHEN EXISTS (SELECT 1 FROM pragma_index_list(`+name+`) l WHERE l."unique" AND NOT l.partial
				AND (SELECT COUNT(*) FROM pragma_index_xinfo(l.name) WHERE key) = `+n+`
				AND (SELECT COUNT(*) FROM pragma_index_xinfo(l.name) WHERE key AND name IN (`+key+`) AND coll = 'BINARY') = `+n+`)
			THEN 'unique' ELSE 'none' END`, "unique", unique, otherTable),
		must(`SELECT CAST(COUNT(*) AS TEXT) FROM pragma_table_info(`+name+`) WHERE name IN (`+all+`) AND type = 'TEXT'
				AND NOT EXISTS (SELECT 1 FROM sqlite_master WHERE type = 'table' AND tbl_name = `+name+` COLLATE NOCASE AND UPPER(sql) LIKE '%COLLATE%')`,
			columns, wrongTypes, otherTable),
		must(`SELECT CAST((SELECT COUNT(*) FROM (SELECT * FROM sqlite_master UNION ALL SELECT * FROM sqlite_temp_master)
				WHERE tbl_name = `+name+` COLLATE NOCASE AND (type = 'trigger' OR UPPER(sql) LIKE '%ON%CONFLICT%'))
				+ (SELECT COUNT(*) FROM pragma_foreign_key_list(`+name+`)) AS TEXT)`, "0", hasTriggers, "drop them, or "+otherTable),
	}
}

// ofVersion is the condition that programs of this version may use the tables: a newer program can have changed them meanwhile.
func (d Dialect) ofVersion(schema string) condition {
	oldest := `SELECT COALESCE(oldest, version) FROM ` + d.quote(schema) + `cardgateway_journal_schema ORDER BY version DESC LIMIT 1`
	isNewer := func(value string) bool {
		n, _ := strconv.Atoi(value) // without a row, nobody has said anything
		return n > thisVersion
	}
	return condition{"", oldest, isNewer, "only programs of version %s, or newer, may use the tables: a newer program has changed them, use that one", false}
}

// selectSchema returns the query for the schema in which a name without one finds a table.
func (d Dialect) selectSchema(t table) string {
	switch d {
	case Postgres:
		return `SELECT nspname FROM pg_namespace n JOIN pg_class c ON relnamespace = n.oid WHERE c.oid = to_regclass('` + t.name + `')`
	case MySQL:
		return `SELECT DATABASE()`
	}
	return `SELECT 'main'`
}

// quote returns a schema as it stands before the name of a table, with a dot.
func (d Dialect) quote(schema string) string {
	mark := `"`
	if d == MySQL {
		mark = "`"
	}
	return mark + strings.ReplaceAll(schema, mark, mark+mark) + mark + "."
}
