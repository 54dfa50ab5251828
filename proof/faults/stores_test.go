package faults

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/shopspring/decimal"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/internal/test/clienttest"
	"github.com/cardgateway/cardgateway-go/internal/test/mysqlserver"
	"github.com/cardgateway/cardgateway-go/internal/test/pgserver"
	"github.com/cardgateway/cardgateway-go/journal"
	"github.com/cardgateway/cardgateway-go/journal/journaltest"
	"github.com/cardgateway/cardgateway-go/journal/sqlstore"
)

func TestMain(m *testing.M) {
	Child()
	code := m.Run()
	if err := errors.Join(pgserver.StopShared(), mysqlserver.StopShared()); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	if left := leaked(); code == 0 && left != "" {
		fmt.Fprintln(os.Stderr, "goroutines are left:\n"+left)
		code = 1
	}
	os.Exit(code)
}

// leaked returns the stacks of goroutines of this project that have not ended.
func leaked() (left string) {
	for range 50 {
		left = ""
		stacks := make([]byte, 1<<20)
		stacks = stacks[:runtime.Stack(stacks, true)]
		for _, stack := range strings.Split(string(stacks), "\n\n")[1:] { // the first is this one
			if strings.Contains(stack, "cardgateway-go") {
				left += stack + "\n\n"
			}
		}
		if left == "" {
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	return left
}

// Environment variables with the addresses of the tests' servers, for child processes.
const (
	postgresEnv = "CARDGATEWAY_FAULTS_POSTGRES"
	mysqlEnv    = "CARDGATEWAY_FAULTS_MYSQL"
)

// databaseName is a name of a database or schema for a place.
func databaseName(place string) string { return fmt.Sprintf("s%x", sha256.Sum256([]byte(place)))[:20] }

// postgres returns the store specification of a schema in a real server, or skips the test where there is none.
func postgres(t testing.TB, place string) string {
	t.Helper()
	return "postgres:" + strings.Replace(postgresURL(t), "SCHEMA", databaseName(place), 1)
}

// postgresURL returns the address of the shared server. A child process has it from its parent.
func postgresURL(t testing.TB) string {
	t.Helper()
	if url := os.Getenv(postgresEnv); url != "" {
		return url
	}
	return pgserver.Shared(t).URL("SCHEMA")
}

// mysqlStore does the same with a database in a MariaDB or MySQL server.
func mysqlStore(t testing.TB, place string) string {
	t.Helper()
	return "mysql:" + strings.Replace(mysqlDSN(t), "SCHEMA", databaseName(place), 1)
}

// mysqlDSN does the same as postgresURL.
func mysqlDSN(t testing.TB) string {
	t.Helper()
	if dsn := os.Getenv(mysqlEnv); dsn != "" {
		return dsn
	}
	return mysqlserver.Shared(t).DSN("SCHEMA")
}

// parallel lets a test that mostly waits run beside others of its kind, except in the long form.
func parallel(t *testing.T) {
	if !long() {
		t.Parallel()
	}
}

// everyStore runs a test with each database.
func everyStore(t *testing.T, test func(t *testing.T, spec string)) {
	t.Run("sqlite", func(t *testing.T) { test(t, "sqlite:"+filepath.Join(t.TempDir(), "journal.db")) })
	t.Run("postgres", func(t *testing.T) { test(t, postgres(t, t.Name()+t.TempDir())) })
	t.Run("mysql", func(t *testing.T) { test(t, mysqlStore(t, t.Name()+t.TempDir())) })
}

func harness(spec func(t testing.TB, place string) string) journaltest.Harness {
	return journaltest.Harness{
		Shared: true,
		Open: func(t testing.TB, place string) (journal.Store, func()) {
			s, done, err := OpenStore(spec(t, place))
			if err != nil {
				t.Fatal(err)
			}
			return s, func() { succeeds(t, done()) }
		},
	}
}

func TestMySQL(t *testing.T) {
	t.Setenv(mysqlEnv, mysqlDSN(t)) // for the processes that are killed
	journaltest.Run(t, harness(mysqlStore))
}

func TestPostgres(t *testing.T) {
	t.Setenv(postgresEnv, postgresURL(t)) // for the processes that are killed
	journaltest.Run(t, harness(postgres))
}

// TestOpenAtOnce opens a store and a Deduper that nobody has made yet several times at the same moment, as programs that start
// together do.
func TestOpenAtOnce(t *testing.T) {
	client := clienttest.NewClient(t, cardgateway.Config{BaseURL: dedupedGateway})
	everyStore(t, func(t *testing.T, spec string) {
		var all sync.WaitGroup
		start := make(chan struct{})
		for range 8 {
			all.Go(func() {
				<-start
				store, done, err := OpenStore(spec)
				if err == nil {
					_, err = store.NewDeduper(t.Context(), client)
					err = errors.Join(err, done())
				}
				succeeds(t, err)
			})
		}
		close(start)
		all.Wait()
	})
}

// TestKill repeatedly kills a process that pays and refunds, and searches for money that was moved and forgotten.
func TestKill(t *testing.T) {
	parallel(t)
	var results []*KillResult
	everyStore(t, func(t *testing.T, spec string) {
		k := KillRun{Store: spec, Payments: 120, Lives: 5, Seed: 3}
		if long() {
			k.Payments, k.Lives = 2000, 160
		}
		r, err := k.Run()
		if err != nil {
			t.Fatal(err)
		}
		results = append(results, r)
		if r.Broken()+r.Open() > 0 || r.Kills == 0 || r.Charged == 0 || r.Refunded == 0 {
			t.Errorf("%d broken, %d open after %d kills; %d charged, %d paid back: %v", r.Broken(), r.Open(), r.Kills, r.Charged, r.Refunded, r.Failures)
		}
	})
	publish(t, "kill", killTable(results))
}

// TestLeastPrivilege: an account that may use the tables but not create any can open a store.
func TestLeastPrivilege(t *testing.T) {
	spec := postgres(t, t.Name()+t.TempDir())
	createStore(t, spec) // who may makes the table
	db := openDB(t, spec)
	db.SetMaxOpenConns(1) // one session, which takes the role
	schema := schemaOf(t, db, sqlstore.Postgres)
	for _, statement := range []string{
		`CREATE ROLE cashier`,
		`GRANT USAGE ON SCHEMA "` + schema + `" TO cashier`,
		`GRANT SELECT, INSERT, UPDATE, DELETE ON cardgateway_journal TO cashier`,
		`GRANT SELECT, INSERT, UPDATE ON cardgateway_journal_lease TO cashier`,
		`GRANT SELECT ON cardgateway_journal_schema TO cashier`,
		`SET ROLE cashier`,
	} {
		if _, err := db.Exec(statement); err != nil {
			t.Fatal(statement, err)
		}
	}
	s := newStore(t, db, sqlstore.Postgres)
	in := journal.Intent{ID: journal.PaymentID("t"), At: time.Now(), Amount: decimal.NewFromInt(1), Currency: "USD"}
	if _, created, err := s.Begin(t.Context(), in); err != nil || !created {
		t.Errorf("created %t, %v", created, err)
	}
	if to, err := s.Lease(t.Context(), journal.Shop{}, "a", time.Minute); err != nil || to != "a" {
		t.Errorf("leased to %q, %v", to, err)
	}
	execAll(t, db, "RESET ROLE", "ALTER TABLE cardgateway_journal ENABLE ROW LEVEL SECURITY", "CREATE POLICY every ON cardgateway_journal", "SET ROLE cashier")
	if _, err := sqlstore.New(t.Context(), db, sqlstore.Postgres); err == nil || !strings.Contains(err.Error(), "row-level security") {
		t.Errorf("a policy can hide rows: %v", err)
	}
}

// TestLeastPrivilegeOfMySQL: there, too, and what is wrong with a table does not hide from such an account.
func TestLeastPrivilegeOfMySQL(t *testing.T) {
	spec := mysqlStore(t, t.Name()+t.TempDir())
	createStore(t, spec)
	db, d := openDB(t, spec), databaseFor(t, spec)
	_, host, _ := strings.Cut(d.source, "@")
	refuses := func(name, want string, change ...string) {
		execAll(t, db, change...)
		refused(t, name, database{d.driver, "cashier:x@" + host, d.dialect}, "", want)
	}
	refuses("as created", "", "CREATE USER cashier@'%' IDENTIFIED BY 'x'", "GRANT SELECT, INSERT, UPDATE, DELETE ON cardgateway_journal TO cashier@'%'",
		"GRANT SELECT, INSERT, UPDATE ON cardgateway_journal_lease TO cashier@'%'", "GRANT SELECT ON cardgateway_journal_schema TO cashier@'%'")
	defer execAll(t, db, "DROP USER cashier@'%'")
	refuses("a trigger", "triggers", "CREATE TRIGGER changes BEFORE INSERT ON cardgateway_journal FOR EACH ROW SET NEW.transaction_id = 'x'")
	refuses("a foreign key", "foreign keys", "DROP TRIGGER changes", "CREATE TABLE attempts (id VARBINARY(520) PRIMARY KEY) ENGINE = InnoDB",
		"ALTER TABLE cardgateway_journal ADD FOREIGN KEY (transaction_id) REFERENCES attempts (id) ON DELETE CASCADE")
}

// TestOtherSchema: a connection for which the name of the table means another one uses the table that was checked.
func TestOtherSchema(t *testing.T) {
	everyServer(t, func(t *testing.T, spec string, _ journal.Store) {
		d, db := databaseFor(t, spec), openDB(t, spec)
		db.SetMaxOpenConns(1)
		s := newStore(t, db, d.dialect)
		use := map[sqlstore.Dialect]string{sqlstore.Postgres: "SET search_path = ", sqlstore.MySQL: "USE "}[d.dialect]
		other := databaseName(t.Name() + "other")
		createStore(t, strings.Replace(spec, schemaOf(t, db, d.dialect), other, 1))
		execAll(t, db, use+other)
		everyWrite(t, s, "a")
		if e, err := openStore(t, spec).Get(t.Context(), journal.Key{ID: journal.PaymentID("a")}); err != nil {
			t.Errorf("%+v, %v", e, err)
		}
	})
}

// TestMemoryDatabase: if each connection had its own tables, payments could be made twice.
func TestMemoryDatabase(t *testing.T) {
	for _, tt := range []struct {
		name, source string
		connections  int
		accepted     bool
	}{
		{"in memory, several connections", ":memory:", 0, false},
		{"in memory, one connection", ":memory:", 1, true},
		{"in a file, several connections", "file:" + filepath.Join(t.TempDir(), "journal.db"), 0, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			db := openSource(t, "sqlite", tt.source)
			db.SetMaxOpenConns(tt.connections)
			if _, err := sqlstore.New(t.Context(), db, sqlstore.SQLite); (err == nil) != tt.accepted {
				t.Errorf("got %v", err)
			}
		})
	}
}
