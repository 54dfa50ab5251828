package faults

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/journal"
	"github.com/cardgateway/cardgateway-go/journal/sqlstore"
	"github.com/cardgateway/cardgateway-go/sandbox"
)

// openStore opens a store until the end of the test.
func openStore(t testing.TB, spec string) *sqlstore.Store {
	t.Helper()
	store, done, err := OpenStore(spec)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = done() }) // it has served
	return store
}

// createStore opens a store that does not exist yet, and closes it.
func createStore(t *testing.T, spec string) {
	t.Helper()
	expectOpen(t, spec, "")
	if t.Failed() {
		t.FailNow()
	}
}

// expectOpen opens and closes a store. It fails the test if the error does not have a text, or if there is one and want is "".
func expectOpen(t *testing.T, spec, want string) {
	t.Helper()
	_, done, err := OpenStore(spec)
	if err == nil {
		err = done()
	}
	if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want an error with %q", err, want)
	}
}

// databaseFor returns the database of a specification.
func databaseFor(t testing.TB, spec string) database {
	t.Helper()
	d, err := databaseOf(spec)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// createDatabase creates the schema or the database of a specification, without tables.
func createDatabase(t testing.TB, spec string) database {
	t.Helper()
	d := databaseFor(t, spec)
	if err := d.create(); err != nil {
		t.Fatal(err)
	}
	return d
}

// openDB opens the database of a store like an administrator or another program.
func openDB(t *testing.T, spec string) *sql.DB {
	t.Helper()
	d := databaseFor(t, spec)
	return openSource(t, d.driver, d.source)
}

// openSource opens a database until the end of the test.
func openSource(t *testing.T, driver, source string) *sql.DB {
	t.Helper()
	db, err := sql.Open(driver, source)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() }) // it has served
	return db
}

// schemaOf returns the name of the schema, or of the database in MySQL, that a connection uses.
func schemaOf(t *testing.T, db *sql.DB, d sqlstore.Dialect) (name string) {
	t.Helper()
	current := map[sqlstore.Dialect]string{sqlstore.Postgres: "SELECT current_schema()", sqlstore.MySQL: "SELECT DATABASE()"}[d]
	succeeds(t, db.QueryRowContext(t.Context(), current).Scan(&name))
	return name
}

// newStore is a store over an open database.
func newStore(t *testing.T, db *sql.DB, d sqlstore.Dialect) *sqlstore.Store {
	t.Helper()
	s, err := sqlstore.New(t.Context(), db, d)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func execAll(t *testing.T, db interface {
	ExecContext(context.Context, string, ...any) (sql.Result, error)
}, statements ...string) {
	t.Helper()
	for _, s := range statements {
		if _, err := db.ExecContext(t.Context(), s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
}

// TestSchemaByAnother: the statements of Schema make what New would, so that nothing is left to create.
func TestSchemaByAnother(t *testing.T) {
	everyStore(t, func(t *testing.T, spec string) {
		d := createDatabase(t, spec)
		db := openDB(t, spec)
		execAll(t, db, strings.SplitAfter(strings.TrimSuffix(sqlstore.Schema(d.dialect), "\n"), ";\n")...)
		tables := func() (n int) {
			t.Helper()
			for _, table := range []string{"journal", "journal_lease", "journal_schema", "notified"} {
				if _, err := db.ExecContext(t.Context(), "SELECT * FROM cardgateway_"+table); err == nil {
					n++
				}
			}
			return n
		}
		if n := tables(); n != 4 {
			t.Errorf("%d tables, want 4", n)
		}
		s, err := sqlstore.OpenExisting(t.Context(), db, d.dialect)
		if err != nil {
			t.Fatal(err)
		}
		everyWrite(t, s, "a")
		expectOpen(t, spec, "")
	})
	if text := sqlstore.Schema(0); text != "" {
		t.Errorf("of an unknown database: %q", text)
	}
}

// TestMayNotCreate: an account that may not create tables is told which statements are missing, and only those.
func TestMayNotCreate(t *testing.T) {
	everyServer(t, func(t *testing.T, spec string, _ journal.Store) {
		d, db := databaseFor(t, spec), openDB(t, spec)
		account, schema := databaseName(t.Name()), schemaOf(t, db, d.dialect)
		execAll(t, db, "DROP TABLE cardgateway_journal", "DELETE FROM cardgateway_journal_schema")
		source := strings.Replace(d.source, "user=t", "user="+account, 1)
		if d.dialect == sqlstore.Postgres {
			execAll(t, db, "CREATE USER "+account, "GRANT USAGE ON SCHEMA "+schema+" TO "+account, "GRANT SELECT ON ALL TABLES IN SCHEMA "+schema+" TO "+account,
				"ALTER DEFAULT PRIVILEGES IN SCHEMA "+schema+" GRANT SELECT, INSERT ON TABLES TO "+account)
		} else {
			execAll(t, db, "CREATE USER "+account+"@localhost", "GRANT SELECT, INSERT ON "+schema+".* TO "+account+"@localhost")
			source = strings.Replace(source, "root@", account+"@", 1)
		}
		own := openSource(t, d.driver, source)
		_, err := sqlstore.New(t.Context(), own, d.dialect)
		if err == nil {
			t.Fatal("it created the tables")
		}
		_, missing, _ := strings.Cut(err.Error(), "execute what is missing:\n")
		if strings.Contains(missing, "journal_lease") || !strings.Contains(missing, "INSERT INTO cardgateway_journal_schema") {
			t.Errorf("missing are %q", missing)
		}
		execAll(t, db, strings.SplitAfter(strings.TrimSuffix(missing, "\n"), ";\n")...)
		expectOpen(t, spec, "")
		if _, err = sqlstore.New(t.Context(), own, d.dialect); err == nil || !strings.Contains(err.Error(), "outcomes of payments cannot be recorded") {
			t.Errorf("without the right to update: %v", err)
		}
		if d.dialect != sqlstore.Postgres { // for MySQL, a table that may not be read is one that does not exist
			return
		}
		execAll(t, db, "REVOKE SELECT ON cardgateway_journal_schema FROM "+account)
		if _, err = sqlstore.New(t.Context(), own, d.dialect); err == nil || strings.Contains(err.Error(), "missing") {
			t.Errorf("without the right to read: %v", err)
		}
	})
}

// TestVersionThatCannotBeRecorded: tables are not used if the database does not store their version.
func TestVersionThatCannotBeRecorded(t *testing.T) {
	everyStore(t, func(t *testing.T, spec string) {
		createStore(t, spec)
		execAll(t, openDB(t, spec), "DROP TABLE cardgateway_journal_schema", "DROP TABLE cardgateway_journal",
			"CREATE TABLE cardgateway_journal_schema (version INTEGER NOT NULL PRIMARY KEY, applied BIGINT NOT NULL, CONSTRAINT nothing_new CHECK (version > 99))")
		expectOpen(t, spec, "nothing_new")
	})
}

// TestSettings: a connection with settings that are not durable is refused with an error that says what to set, even if the
// first connections were right.
func TestSettings(t *testing.T) {
	t.Run("sqlite", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "journal.db")
		for _, tt := range []struct{ pragma, want string }{
			{"synchronous(OFF)", "synchronous = FULL"},
			{"synchronous(NORMAL)", "synchronous = FULL"},
			{"journal_mode(OFF)", "journal_mode = WAL"},
			{"journal_mode(MEMORY)", "journal_mode = WAL"},
			{"journal_mode(DELETE)", ""},
			{"synchronous(EXTRA)", ""},
			{"journal_mode(WAL)", ""},
		} {
			t.Run(tt.pragma, func(t *testing.T) {
				refused(t, tt.pragma, database{"sqlite", "file:" + path, sqlstore.SQLite}, "?_pragma="+tt.pragma, tt.want)
			})
		}
	})
	t.Run("postgres", func(t *testing.T) {
		d := createDatabase(t, postgres(t, ""))
		refused(t, "off", d, "&synchronous_commit=off", "set synchronous_commit = on")
		refused(t, "on", d, "", "")
		refused(t, "encoding", d, "&client_encoding=LATIN1", "set client_encoding = UTF8")
		db := openDB(t, "postgres:"+d.source)
		execAll(t, db, "ALTER SYSTEM SET fsync = off", "SELECT pg_reload_conf()")
		waitFor(t, db, "SHOW fsync", "off")
		refused(t, "fsync", d, "", "set fsync = on")
		execAll(t, db, "ALTER SYSTEM RESET fsync", "SELECT pg_reload_conf()")
		waitFor(t, db, "SHOW fsync", "on")
		refused(t, "local", d, "&synchronous_commit=local", "")
		execAll(t, db, "ALTER SYSTEM SET synchronous_standby_names = 'standby'", "SELECT pg_reload_conf()")
		defer execAll(t, db, "ALTER SYSTEM RESET synchronous_standby_names", "SELECT pg_reload_conf()")
		waitFor(t, db, "SHOW synchronous_standby_names", "standby")
		refused(t, "local", d, "&synchronous_commit=local", "set synchronous_commit = on")
		refused(t, "on, with a standby", d, "", "")
	})
	t.Run("mysql", func(t *testing.T) {
		d := createDatabase(t, mysqlStore(t, ""))
		refused(t, "lax", d, "?sql_mode=%27%27", "STRICT_TRANS_TABLES")
		for _, mode := range []string{"ORACLE", "EMPTY_STRING_IS_NULL"} { // no text is empty: an entry without evidence could not be read
			refused(t, mode, d, "?sql_mode=%27STRICT_ALL_TABLES,"+mode+"%27", "remove ORACLE and EMPTY_STRING_IS_NULL")
		}
		refused(t, "ansi", d, "?sql_mode=%27STRICT_ALL_TABLES,ANSI%27", "")
		refused(t, "autocommit", d, "?autocommit=0", "autocommit = 1")
		refused(t, "completion_type", d, "?completion_type=1", "completion_type = NO_CHAIN")
		refused(t, "completion_type by name", d, "?completion_type=%27RELEASE%27", "completion_type = NO_CHAIN")
		refused(t, "unique_checks", d, "?unique_checks=0", "unique_checks = 1")
		refused(t, "character_set_client", d, "?character_set_client=latin1", "character_set_connection to the same")
		refused(t, "character_set_connection", d, "?character_set_connection=latin1", "character_set_connection to the same")
		refused(t, "charset", d, "?charset=latin1", "")
		refused(t, "charset with backslashes in characters", d, "?charset=gbk&interpolateParams=true", "such as utf8mb4")
		refused(t, "strict", d, "?clientFoundRows=true", "")
		db := openDB(t, "mysql:"+d.source)
		execAll(t, db, "SET GLOBAL innodb_flush_log_at_trx_commit = 2")
		defer execAll(t, db, "SET GLOBAL innodb_flush_log_at_trx_commit = 1")
		refused(t, "innodb_flush_log_at_trx_commit", d, "", "innodb_flush_log_at_trx_commit = 1")
	})
}

// waitFor waits until a query returns a text.
type querier interface {
	QueryRowContext(context.Context, string, ...any) *sql.Row
}

func waitFor(t *testing.T, db querier, query, want string) {
	t.Helper()
	var got string
	for deadline := time.Now().Add(10 * time.Second); got != want; time.Sleep(20 * time.Millisecond) {
		if err := db.QueryRowContext(t.Context(), query).Scan(&got); err != nil || time.Now().After(deadline) {
			t.Fatalf("%s: %q, %v; want %q", query, got, err, want)
		}
	}
}

func refused(t *testing.T, name string, d database, settings, want string) {
	t.Helper()
	_, err := sqlstore.New(t.Context(), openSource(t, d.driver, d.source+settings), d.dialect)
	if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
		t.Errorf("%s: got %v, want an error with %q", name, err, want)
	}
}

// TestTransactionLeftOpen: what is recorded is not part of a transaction that somebody has left open on a connection of the pool, and of which
// a later failure would roll it back.
func TestTransactionLeftOpen(t *testing.T) {
	everyStore(t, func(t *testing.T, spec string) {
		d := createDatabase(t, spec)
		db := openDB(t, spec)
		s := newStore(t, db, d.dialect)
		everyWrite(t, s, "before")
		leave := []string{"BEGIN", "ROLLBACK"}
		if d.dialect == sqlstore.MySQL {
			leave = append(leave, "SET autocommit = 0", "SET autocommit = 1")
		}
		for i := 0; i < len(leave); i += 2 {
			execAll(t, db, leave[i])
			in := journal.Intent{ID: journal.PaymentID(leave[i]), At: time.Now(), Currency: "USD"}
			_, _, err := s.Begin(t.Context(), in)
			if _, lost := openStore(t, spec).Get(t.Context(), in.Key()); err == nil && lost != nil {
				t.Errorf("%s: it is recorded, and another session finds: %v", leave[i], lost)
			}
			_, _ = db.ExecContext(t.Context(), leave[i+1]) // the driver can have closed the connection
			everyWrite(t, s, "after "+leave[i])
		}
	})
}

// succeeds checks the error of a call that is to have none. It does not end the test, so any goroutine may call it.
func succeeds(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Error(err)
	}
}

// everyServer runs a test with a store on each database server.
func everyServer(t *testing.T, test func(t *testing.T, spec string, store journal.Store)) {
	for kind, spec := range map[string]func(testing.TB, string) string{"postgres": postgres, "mysql": mysqlStore} {
		t.Run(kind, func(t *testing.T) {
			spec := spec(t, t.Name()+t.TempDir())
			store := openStore(t, spec)
			test(t, spec, store)
		})
	}
}

// TestWalkReadsEachRowOnce: MySQL reads the entries that are not acknowledged from its index, and does not sort the table
// for each page.
func TestWalkReadsEachRowOnce(t *testing.T) {
	spec := mysqlStore(t, t.Name()+t.TempDir())
	store := openStore(t, spec)
	const entries = 1000
	each(entries, 64, func(i int) {
		in := journal.Intent{Shop: manyShop, ID: journal.PaymentID(manyID(i)), At: time.Now(), Currency: "USD"}
		if _, _, err := store.Begin(t.Context(), in); err != nil {
			t.Error(err)
		}
	})
	db := openDB(t, spec)
	read := func() int {
		return mysqlStatus(t, db, "Handler_read_key", "Handler_read_next", "Handler_read_rnd", "Handler_read_rnd_next")
	}
	before, given := read(), 0
	for _, err := range store.Unacked(t.Context(), manyShop) {
		if given++; err != nil {
			t.Fatal(err)
		}
	}
	if n := read() - before; given != entries || n > 3*entries { // the server's own tables are read too
		t.Errorf("%d entries are given, and %d rows were read", given, n)
	}
}

// mysqlStatus adds up what a MySQL server counts.
func mysqlStatus(t *testing.T, db *sql.DB, names ...string) (sum int) {
	t.Helper()
	for _, name := range names {
		var n int
		succeeds(t, db.QueryRow("SHOW GLOBAL STATUS LIKE '"+name+"'").Scan(new(string), &n))
		sum += n
	}
	return sum
}

// TestBadRows: damaged rows do not affect others.
func TestBadRows(t *testing.T) {
	everyStore(t, func(t *testing.T, spec string) {
		store := openStore(t, spec)
		g := sandbox.New(sandbox.Options{NoNotifications: true})
		defer g.Close()
		client, err := direct(g)
		if err != nil {
			t.Fatal(err)
		}
		j := journal.New(client, store, journal.Options{})
		for i := range 6 {
			o := Order{ID: fmt.Sprint(i), Card: sandbox.Approved, Amount: "1.00"}
			paid, err := j.CreateSubscription(t.Context(), o.subscription())
			if err != nil {
				t.Fatal(err)
			}
			if i == 5 {
				for _, id := range []string{"6", "7"} {
					r := Refund{ID: id, UniqueID: paid.UniqueID, Amount: "0.25"}
					if _, err := j.CreateRefund(t.Context(), r.request()); err != nil {
						t.Fatal(err)
					}
				}
			}
		}
		db := openDB(t, spec)
		execAll(t, db,
			"UPDATE cardgateway_journal SET intent = '{' WHERE transaction_id = '1'",
			`UPDATE cardgateway_journal SET evidence = '{"state":"of a newer version"}' WHERE transaction_id = '2'`,
			"UPDATE cardgateway_journal SET version = 2000000000 WHERE transaction_id = '4'",
			"INSERT INTO cardgateway_journal SELECT shop, 'ahead', begun, intent, evidence, version, 99, unacked "+
				"FROM cardgateway_journal WHERE transaction_id = '0'")
		want := []string{"0", "5", "refund 7", "bad ahead", "bad 1", "bad 2", "bad 3", "bad 4", "bad refund 6"}
		if strings.HasPrefix(spec, "sqlite:") { // which keeps texts in columns for numbers
			execAll(t, db,
				"UPDATE cardgateway_journal SET version = 'many' WHERE transaction_id = '4'",
				"INSERT INTO cardgateway_journal SELECT shop, 'late', 'noon', replace(intent, '\"0\"', '\"late\"'), evidence, version, acked, unacked "+
					"FROM cardgateway_journal WHERE transaction_id = '0'",
				"INSERT INTO cardgateway_journal SELECT shop, CAST('last' AS BLOB), 'zenith', replace(intent, '\"0\"', '\"last\"'), evidence, version, acked, unacked "+
					"FROM cardgateway_journal WHERE transaction_id = '0'",
				"INSERT INTO cardgateway_journal SELECT shop, 'later', 'twelve', intent, evidence, version, 'none', unacked "+
					"FROM cardgateway_journal WHERE transaction_id = '0'")
			want = []string{"0", "5", "refund 7", "late", "last", "bad ahead", "bad 1", "bad 2", "bad 3", "bad 4", "bad refund 6", "bad later"}
		}
		var ofPayment, ofRefund string // and evidence of a payment in the entry of a refund, and the other way round
		const selectEvidence, updateEvidence = "SELECT evidence FROM cardgateway_journal WHERE transaction_id = '%s'",
			"UPDATE cardgateway_journal SET evidence = '%s' WHERE transaction_id = '%s'"
		for id, evidence := range map[string]*string{"3": &ofPayment, "refund 6": &ofRefund} {
			succeeds(t, db.QueryRowContext(t.Context(), fmt.Sprintf(selectEvidence, id)).Scan(evidence))
		}
		execAll(t, db, fmt.Sprintf(updateEvidence, ofRefund, "3"), fmt.Sprintf(updateEvidence, ofPayment, "refund 6"))
		var told []string
		for e, err := range j.Recover(t.Context()) {
			if bad, ok := errors.AsType[*journal.EntryError](err); ok {
				told = append(told, "bad "+bad.Key.ID.String())
			} else if err != nil {
				t.Fatal(err)
			} else {
				told = append(told, e.ID().String())
			}
			if len(told) > len(want) {
				break
			}
		}
		if !slices.Equal(told, want) {
			t.Errorf("told %q, want %q", told, want)
		}
		if _, err := j.Get(t.Context(), journal.PaymentID("1")); err == nil || strings.Count(err.Error(), "journal: ") != 1 {
			t.Errorf("Get of a damaged one: %v, want an error with one prefix", err)
		}
		o := Order{ID: "1", Card: sandbox.Approved, Amount: "1.00"}
		if _, err := j.CreateSubscription(t.Context(), o.subscription()); !errors.Is(err, cardgateway.ErrOutcomeUnknown) {
			t.Errorf("paying a damaged one again: %v", err)
		}
		if n := g.Executed("1"); n != 1 {
			t.Errorf("charged %d times", n)
		}
	})
}

// TestMany: recovery takes linear time and constant memory.
func TestMany(t *testing.T) {
	var rows []*ManyRow
	sizes := []int{3000}
	if long() {
		sizes = []int{100_000, 1_000_000}
	}
	for _, n := range sizes {
		everyStore(t, func(t *testing.T, spec string) {
			row, err := Many(spec, n)
			if err != nil {
				t.Fatal(err)
			}
			if rows = append(rows, row); row.Heap > 64<<20 {
				t.Errorf("it took %d MB of memory", row.Heap>>20)
			}
		})
	}
	publish(t, "many", manyTable(rows))
}

// TestSpeed measures payments with the journal beside those of the client alone.
func TestSpeed(t *testing.T) {
	callers, payments := []int{4}, 300
	if long() {
		callers, payments = []int{1, 16, 64}, 30_000
	}
	var rows []*SpeedRow
	for _, n := range callers {
		everyStore(t, func(t *testing.T, spec string) {
			row, err := Speed(spec, n, payments)
			if err != nil {
				t.Fatal(err)
			}
			rows = append(rows, row)
		})
	}
	publish(t, "speed", speedTable(rows))
}

// hold keeps a session open, with its locks, until the returned function runs the last statement.
func hold(t *testing.T, spec string, statements ...string) (release func()) {
	t.Helper()
	conn, err := openDB(t, spec).Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	last := len(statements) - 1
	execAll(t, conn, statements[:last]...)
	return func() {
		execAll(t, conn, statements[last])
		_ = conn.Close() // it has served
	}
}

// everyWrite makes a write of each kind, at the first attempt.
func everyWrite(t *testing.T, s *sqlstore.Store, id string) {
	t.Helper()
	in := journal.Intent{ID: journal.PaymentID(id), At: time.Now(), Currency: "USD", Sender: "s"}
	if _, created, err := s.Begin(t.Context(), in); err != nil || !created {
		t.Errorf("%s: Begin: created %t, %v", id, created, err)
		return
	}
	if err := s.Record(t.Context(), in.Key(), 0, journal.Evidence{At: time.Now(), Source: journal.SourceAnswer, State: journal.Refused, Sender: "s"}); err != nil {
		t.Errorf("%s: Record: %v", id, err)
	}
	if err := s.Ack(t.Context(), in.Key(), 1); err != nil {
		t.Errorf("%s: Ack: %v", id, err)
	}
	if to, err := s.Lease(t.Context(), journal.Shop{AppID: "1"}, "a", time.Minute); to != "a" || err != nil {
		t.Errorf("%s: leased to %q, %v", id, to, err)
	}
	if n, err := s.Forget(t.Context(), time.Now().AddDate(0, 0, -30)); n != 0 || err != nil {
		t.Errorf("%s: forgot %d, %v", id, n, err)
	}
	if e, err := s.Get(t.Context(), in.Key()); err != nil || e.State() != journal.Refused || e.Unacked() {
		t.Errorf("%s: %v, unacknowledged %t, %v", id, e.State(), e.Unacked(), err)
	}
}
