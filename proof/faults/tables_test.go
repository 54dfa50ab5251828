package faults

import (
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/internal/test/clienttest"
	"github.com/cardgateway/cardgateway-go/journal"
	"github.com/cardgateway/cardgateway-go/journal/sqlstore"
)

// TestTables: a table in which a commit of an intent would not be unique and durable is refused, and the error says what to do.
func TestTables(t *testing.T) {
	const (
		notOrdinary = "not an ordinary, permanent table"
		noKey       = "no unique index on exactly shop and transaction_id"
		types       = "columns of other types"
		triggers    = "triggers, rules, foreign keys or conflict clauses"
		missing     = "copy every row into it" // and not that New creates an empty one
		away        = "ALTER TABLE cardgateway_journal RENAME TO elsewhere"
	)
	dropKey := []string{"ALTER TABLE cardgateway_journal DROP CONSTRAINT cardgateway_journal_pkey"}
	for kind, tests := range map[string][]struct {
		name   string
		change []string
		want   string // part of the error; empty: it is accepted
	}{
		"sqlite": {
			{"as created", nil, ""},
			{"renamed", []string{away}, missing},
			{"a copy without its key", []string{"CREATE TABLE c AS SELECT * FROM cardgateway_journal", "DROP TABLE cardgateway_journal",
				"ALTER TABLE c RENAME TO cardgateway_journal"}, noKey},
			{"a key on a part", []string{"DROP TABLE cardgateway_journal", `CREATE TABLE cardgateway_journal (shop TEXT, transaction_id TEXT PRIMARY KEY,
				begun INTEGER, intent TEXT, evidence TEXT DEFAULT '', version INTEGER DEFAULT 0, acked INTEGER DEFAULT -1, unacked INTEGER DEFAULT 1)`}, noKey},
			{"a key that ignores case", []string{"DROP TABLE cardgateway_journal", `CREATE TABLE cardgateway_journal (shop TEXT,
				transaction_id TEXT COLLATE NOCASE, begun INTEGER, intent TEXT, evidence TEXT DEFAULT '', version INTEGER DEFAULT 0,
				acked INTEGER DEFAULT -1, unacked INTEGER DEFAULT 1, PRIMARY KEY (shop, transaction_id))`}, noKey},
			{"ids that ignore case, and an index that does not", []string{"DROP TABLE cardgateway_journal", `CREATE TABLE cardgateway_journal (shop TEXT,
				transaction_id TEXT COLLATE NOCASE, begun INTEGER, intent TEXT, evidence TEXT, version INTEGER, acked INTEGER, unacked INTEGER)`,
				"CREATE UNIQUE INDEX k ON cardgateway_journal (shop, transaction_id COLLATE BINARY)"}, types},
			{"a key for some rows", []string{"CREATE TABLE c AS SELECT * FROM cardgateway_journal", "DROP TABLE cardgateway_journal",
				"ALTER TABLE c RENAME TO cardgateway_journal",
				"CREATE UNIQUE INDEX some ON cardgateway_journal (shop, transaction_id) WHERE unacked"}, noKey},
			{"a copy that has lost its defaults", []string{"CREATE TABLE c AS SELECT * FROM cardgateway_journal", "DROP TABLE cardgateway_journal",
				"ALTER TABLE c RENAME TO cardgateway_journal", "CREATE UNIQUE INDEX k ON cardgateway_journal (shop, transaction_id)"}, ""},
			{"ids that are numbers", []string{"DROP TABLE cardgateway_journal", `CREATE TABLE cardgateway_journal (shop TEXT,
				transaction_id NUMERIC, begun INTEGER, intent TEXT, evidence TEXT, version INTEGER, acked INTEGER, unacked INTEGER,
				PRIMARY KEY (shop, transaction_id))`}, types},
			{"another index that replaces", []string{"DROP TABLE cardgateway_journal", `CREATE TABLE cardgateway_journal (shop TEXT,
				transaction_id TEXT, begun INTEGER, intent TEXT, evidence TEXT, version INTEGER, acked INTEGER, unacked INTEGER,
				PRIMARY KEY (shop, transaction_id), UNIQUE (shop, unacked) ON
				CONFLICT REPLACE)`}, triggers},
			{"a row that goes with another one", []string{"DROP TABLE cardgateway_journal", `CREATE TABLE cardgateway_journal (shop TEXT,
				transaction_id TEXT REFERENCES attempts ON DELETE CASCADE, begun INTEGER, intent TEXT, evidence TEXT, version INTEGER, acked INTEGER,
				unacked INTEGER, PRIMARY KEY (shop, transaction_id))`}, triggers},
			{"a view", []string{away, "CREATE VIEW cardgateway_journal AS SELECT * FROM elsewhere"}, notOrdinary},
			{"a trigger that drops inserts", []string{`CREATE TRIGGER drops BEFORE INSERT ON cardgateway_journal BEGIN SELECT RAISE(IGNORE); END`}, triggers},
			{"a trigger that deletes", []string{`CREATE TRIGGER deletes AFTER INSERT ON cardgateway_journal BEGIN DELETE FROM cardgateway_journal; END`}, triggers},
		},
		"postgres": {
			{"as created", nil, ""},
			{"renamed", []string{away}, missing},
			{"no key", dropKey, noKey},
			{"a key on a part", append(dropKey, "CREATE UNIQUE INDEX part ON cardgateway_journal (transaction_id)"), noKey},
			{"a key on more", append(dropKey, "CREATE UNIQUE INDEX more ON cardgateway_journal (shop, transaction_id, begun)"), noKey},
			{"a key for some rows", append(dropKey, "CREATE UNIQUE INDEX partial ON cardgateway_journal (shop, transaction_id) WHERE unacked"), noKey},
			{"a key on an expression", append(dropKey, "CREATE UNIQUE INDEX lowered ON cardgateway_journal (shop, lower(transaction_id))"), noKey},
			{"a deferred key", append(dropKey, "ALTER TABLE cardgateway_journal ADD PRIMARY KEY (shop, transaction_id) DEFERRABLE INITIALLY DEFERRED"), noKey},
			{"an index that is not unique", append(dropKey, "CREATE INDEX plain ON cardgateway_journal (shop, transaction_id)"), noKey},
			{"another unique index", append(dropKey, "CREATE UNIQUE INDEX other ON cardgateway_journal (transaction_id, shop)"), ""},
			{"a key that includes more", append(dropKey, "ALTER TABLE cardgateway_journal ADD PRIMARY KEY (shop, transaction_id) INCLUDE (begun)"), ""},
			{"unlogged", []string{"ALTER TABLE cardgateway_journal SET UNLOGGED"}, notOrdinary},
			{"a view", []string{away, "CREATE VIEW cardgateway_journal AS SELECT * FROM elsewhere"}, notOrdinary},
			{"partitioned", []string{away, `CREATE TABLE cardgateway_journal (LIKE elsewhere INCLUDING DEFAULTS, PRIMARY KEY (shop, transaction_id))
				PARTITION BY HASH (shop)`}, notOrdinary},
			{"with a child", []string{"CREATE TABLE child () INHERITS (cardgateway_journal)"}, notOrdinary},
			{"a version that is a text", []string{"ALTER TABLE cardgateway_journal ALTER version DROP DEFAULT, ALTER version TYPE text"}, "cannot be recorded"},
			{"padded ids", []string{"ALTER TABLE cardgateway_journal ALTER transaction_id TYPE character(200)"}, types},
			{"short evidence", []string{"ALTER TABLE cardgateway_journal ALTER evidence TYPE varchar(200)"}, types},
			{"a row that goes with another one", []string{`CREATE TABLE attempts (id text COLLATE "C" PRIMARY KEY)`,
				"ALTER TABLE cardgateway_journal ADD FOREIGN KEY (transaction_id) REFERENCES attempts ON DELETE CASCADE"}, triggers},
			{"ids in the order of a language", []string{`ALTER TABLE cardgateway_journal ALTER transaction_id TYPE text COLLATE "default"`}, types},
			{"a copy that has lost its defaults", []string{"CREATE TABLE c AS SELECT * FROM cardgateway_journal", "DROP TABLE cardgateway_journal",
				"ALTER TABLE c RENAME TO cardgateway_journal", "ALTER TABLE cardgateway_journal ADD PRIMARY KEY (shop, transaction_id)"}, ""},
			{"other defaults", []string{"ALTER TABLE cardgateway_journal ALTER acked SET DEFAULT 5, ALTER unacked SET DEFAULT FALSE"}, ""},
			{"a rule", []string{"CREATE RULE nothing AS ON INSERT TO cardgateway_journal DO INSTEAD NOTHING"}, triggers},
			{"a trigger", []string{"CREATE FUNCTION nothing() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'",
				"CREATE TRIGGER drops BEFORE INSERT ON cardgateway_journal FOR EACH ROW EXECUTE FUNCTION nothing()"}, triggers},
			{"a disabled trigger", []string{"CREATE FUNCTION nothing() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'",
				"CREATE TRIGGER drops BEFORE INSERT ON cardgateway_journal FOR EACH ROW EXECUTE FUNCTION nothing()",
				"ALTER TABLE cardgateway_journal DISABLE TRIGGER drops"}, ""},
		},
		"mysql": {
			{"as created", nil, ""},
			{"renamed", []string{away}, missing},
			{"no key", []string{"ALTER TABLE cardgateway_journal DROP PRIMARY KEY"}, noKey},
			{"a key on a part", []string{"ALTER TABLE cardgateway_journal DROP PRIMARY KEY, ADD UNIQUE KEY part (transaction_id)"}, noKey},
			{"a key on more", []string{"ALTER TABLE cardgateway_journal DROP PRIMARY KEY, ADD UNIQUE KEY more (shop, transaction_id, begun)"}, noKey},
			{"a key on the beginning of the id", []string{"ALTER TABLE cardgateway_journal DROP PRIMARY KEY, ADD UNIQUE KEY short (shop, transaction_id(20))"}, noKey},
			{"another unique key", []string{"ALTER TABLE cardgateway_journal DROP PRIMARY KEY, ADD UNIQUE KEY other (transaction_id, shop)"}, ""},
			{"an engine without transactions", []string{"ALTER TABLE cardgateway_journal DROP PRIMARY KEY, DROP KEY cardgateway_journal_unacked",
				"ALTER TABLE cardgateway_journal ENGINE = MyISAM"}, notOrdinary},
			{"columns that can be empty", []string{"ALTER TABLE cardgateway_journal MODIFY version INT, MODIFY acked INT, MODIFY unacked BOOLEAN, MODIFY evidence MEDIUMBLOB"}, ""},
			{"a view", []string{away, "CREATE VIEW cardgateway_journal AS SELECT * FROM elsewhere"}, notOrdinary},
			{"short ids", []string{"ALTER TABLE cardgateway_journal MODIFY transaction_id VARBINARY(64) NOT NULL"}, types},
			{"ids that ignore case", []string{"ALTER TABLE cardgateway_journal MODIFY transaction_id VARCHAR(520) CHARACTER SET ascii NOT NULL"}, types},
			{"a short intent", []string{"ALTER TABLE cardgateway_journal MODIFY intent TINYBLOB NOT NULL"}, types},
			{"a row that goes with another one", []string{"CREATE TABLE attempts (id VARBINARY(520) PRIMARY KEY) ENGINE = InnoDB",
				"ALTER TABLE cardgateway_journal ADD FOREIGN KEY (transaction_id) REFERENCES attempts (id) ON DELETE CASCADE"}, triggers},
			{"a trigger", []string{"CREATE TRIGGER changes BEFORE INSERT ON cardgateway_journal FOR EACH ROW SET NEW.transaction_id = 'x'"}, triggers},
		},
	} {
		t.Run(kind, func(t *testing.T) {
			for _, tt := range tests {
				t.Run(tt.name, func(t *testing.T) {
					place := t.Name() + t.TempDir()
					spec := "sqlite:" + t.TempDir() + "/journal.db"
					switch kind {
					case "postgres":
						spec = postgres(t, place)
					case "mysql":
						spec = mysqlStore(t, place)
					}
					createStore(t, spec)
					execAll(t, openDB(t, spec), tt.change...)
					expectOpen(t, spec, tt.want)
					if tt.want != "" || t.Failed() {
						return
					}
					s := openStore(t, spec)
					everyWrite(t, s, "acknowledged")
					if _, _, err := s.Begin(t.Context(), journal.Intent{ID: journal.PaymentID("open"), At: time.Now(), Currency: "USD"}); err != nil {
						t.Error(err)
					}
					var open []string
					for e, err := range s.Unacked(t.Context(), journal.Shop{}) {
						open = append(open, fmt.Sprint(e.ID(), e.Unacked(), err))
					}
					if want := []string{"open true <nil>"}; !slices.Equal(open, want) {
						t.Errorf("not acknowledged: %q, want %q", open, want)
					}
				})
			}
		})
	}
}

// TestNotHeld: an intent that a column cannot hold as it is, is not written. A number without a sign would say that it was acknowledged.
func TestNotHeld(t *testing.T) {
	for change, shop := range map[string]journal.Shop{"MODIFY acked INT UNSIGNED NOT NULL": {}, "COMMENT 'a long shop'": {Gateway: strings.Repeat("g", 1024)}} {
		spec := mysqlStore(t, t.Name()+t.TempDir())
		createStore(t, spec)
		execAll(t, openDB(t, spec), "ALTER TABLE cardgateway_journal "+change)
		in := journal.Intent{Shop: shop, ID: journal.PaymentID("a"), At: time.Now(), Currency: "USD"}
		if _, created, err := openStore(t, spec).Begin(t.Context(), in); err == nil || created {
			t.Errorf("%s: created %t, %v", change, created, err)
		}
	}
}

// TestTablesOfLaterConnections: a connection that the pool opens later can lead to another server, whose tables lack something: it is checked
// as the first one was, and what it would write is not written.
func TestTablesOfLaterConnections(t *testing.T) {
	everyStore(t, func(t *testing.T, spec string) {
		d := createDatabase(t, spec)
		db := openDB(t, spec)
		db.SetMaxIdleConns(-1) // each use makes a connection
		s := newStore(t, db, d.dialect)
		events := newDeduper(t, s, dedupedGateway, "7")
		begin := func(id string) error {
			_, _, err := s.Begin(t.Context(), journal.Intent{ID: journal.PaymentID(id), At: time.Now(), Currency: "USD"})
			return err
		}
		claim := func(key string) error {
			_, err := events.Claim(t.Context(), key)
			return err
		}
		lease := func(holder string) error {
			_, err := s.Lease(t.Context(), journal.Shop{}, holder, time.Minute)
			return err
		}
		const noKey = "no unique index on exactly "
		step := func(name string, do func(string) error, want string) {
			t.Helper()
			if err := do(name); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
				t.Errorf("%s: got %v, want an error with %q", name, err, want)
			}
		}
		step("a", begin, "")
		step("a", claim, "")
		step("a", lease, "")
		execAll(t, db, "INSERT INTO cardgateway_journal_schema (version, applied) VALUES (2, 0)") // by the first program of a newer version
		step("of a newer version", begin, "a newer program has changed them")
		execAll(t, db, "UPDATE cardgateway_journal_schema SET oldest = 1 WHERE version = 2")
		step("of a newer version that allows it", begin, "")
		withoutKey(t, db, "cardgateway_notified")
		step("without the key of events", begin, "")
		step("without the key of events", claim, noKey+"event")
		step("NewDeduper without the key of events", func(string) error {
			_, err := s.NewDeduper(t.Context(), clienttest.NewClient(t, cardgateway.Config{BaseURL: dedupedGateway}))
			return err
		}, noKey+"event")
		withoutKey(t, db, "cardgateway_journal_lease")
		step("without the key of leases", lease, noKey+"shop")
		execAll(t, db, "DROP TABLE cardgateway_journal_lease")
		step("without leases", lease, "not an ordinary, permanent table, so that what is committed could be lost (none)")
		withoutKey(t, db, "cardgateway_journal")
		step("without the key of entries", begin, noKey+"shop and transaction_id")
	})
}

// TestTablesOfOneConnection: what only the connection has, a trigger of its own or a setting for comparing letters, hides nothing.
func TestTablesOfOneConnection(t *testing.T) {
	for _, change := range [][]string{
		{"CREATE TEMP TRIGGER deletes AFTER INSERT ON main.cardgateway_journal BEGIN DELETE FROM cardgateway_journal; END"},
		{"PRAGMA case_sensitive_like = 1", "DROP TABLE cardgateway_journal_lease",
			"CREATE TABLE cardgateway_journal_lease (shop TEXT PRIMARY KEY on conflict replace, holder TEXT, until INTEGER)"},
	} {
		spec := "sqlite:" + t.TempDir() + "/journal.db"
		createStore(t, spec)
		db := openDB(t, spec)
		db.SetMaxOpenConns(1)
		execAll(t, db, change...)
		if _, err := sqlstore.New(t.Context(), db, sqlstore.SQLite); err == nil || !strings.Contains(err.Error(), "conflict clauses") {
			t.Errorf("%q: got %v", change, err)
		}
	}
}

// TestOddDatabaseNames: the tables are found whatever the name of the database has in it.
func TestOddDatabaseNames(t *testing.T) {
	everyStore(t, func(t *testing.T, spec string) {
		dsn, ok := strings.CutPrefix(spec, "mysql:")
		if !ok {
			t.Skip("its name is no text in a statement, or is one without escapes")
		}
		config, err := mysql.ParseDSN(dsn)
		if err != nil {
			t.Fatal(err)
		}
		config.DBName += `_a\b'c?"é`
		everyWrite(t, openStore(t, "mysql:"+config.FormatDSN()), "a")
	})
}

// withoutKey replaces a table by a copy that has no key.
func withoutKey(t *testing.T, db *sql.DB, table string) {
	t.Helper()
	execAll(t, db, "CREATE TABLE copied AS SELECT * FROM "+table, "DROP TABLE "+table, "ALTER TABLE copied RENAME TO "+table)
}

// TestCheckedAgain: a connection is checked again after a minute: somebody can have changed the tables, or a proxy can lead to another server.
func TestCheckedAgain(t *testing.T) {
	spec := "sqlite:" + t.TempDir() + "/journal.db"
	synctest.Test(t, func(t *testing.T) {
		s := openStore(t, spec)
		everyWrite(t, s, "a")
		db := openDB(t, spec)
		execAll(t, db, "CREATE TRIGGER drops BEFORE INSERT ON cardgateway_journal BEGIN SELECT RAISE(IGNORE); END")
		begin := func() error {
			_, _, err := s.Begin(t.Context(), journal.Intent{ID: journal.PaymentID("b"), At: time.Now(), Currency: "USD", Sender: "s"})
			return err
		}
		time.Sleep(59 * time.Second)
		if err := begin(); !errors.Is(err, journal.ErrNoEntry) {
			t.Errorf("after less than a minute: %v, want that nothing was written", err)
		}
		time.Sleep(time.Second)
		if err := begin(); err == nil || !strings.Contains(err.Error(), "which could drop what is written (1)") {
			t.Errorf("after a minute: got %v", err)
		}
		execAll(t, db, "DROP TRIGGER drops")
		if err := begin(); err != nil {
			t.Errorf("as it was created: %v", err)
		}
		_ = db.Close() // its goroutine must end with this function
	})
}
