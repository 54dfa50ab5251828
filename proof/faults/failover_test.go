//go:build unix

package faults

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/internal/test/clienttest"
	"github.com/cardgateway/cardgateway-go/internal/test/mysqlserver"
	"github.com/cardgateway/cardgateway-go/internal/test/pgserver"
	"github.com/cardgateway/cardgateway-go/internal/test/testprogram"
	"github.com/cardgateway/cardgateway-go/journal"
	"github.com/cardgateway/cardgateway-go/journal/sqlstore"
)

// TestFailover: after the server has become read-only, and another one takes writes, every payment, lease and acknowledgement goes there at
// once, although the pool is full of connections to the first one. The one that takes no writes is not read either.
func TestFailover(t *testing.T) {
	test := func(t *testing.T, d database, fail func(*sql.DB)) {
		db := openSource(t, d.driver, d.source)
		s := filled(t, db, d.dialect)
		fail(db)
		var all sync.WaitGroup
		for i := range 30 {
			all.Go(func() { everyWrite(t, s, fmt.Sprint("after ", i)) })
		}
		all.Wait()
	}
	t.Run("postgres", func(t *testing.T) {
		a, b := pgserver.Own(t), pgserver.Own(t)
		source := "postgres:///postgres?user=t&host=" + socketOf(t, a) + "," + socketOf(t, b) + "&search_path=shop&target_session_attrs=read-write"
		for _, server := range []*pgserver.Server{a, b} {
			createStore(t, "postgres:"+server.URL("shop"))
		}
		pool, err := pgxpool.New(t.Context(), source+"&pool_max_conns=4")
		if err != nil {
			t.Fatal(err)
		}
		defer pool.Close()
		pooled := newStore(t, stdlib.OpenDBFromPool(pool), sqlstore.Postgres)
		var all sync.WaitGroup
		for i := range 12 {
			all.Go(func() { everyWrite(t, pooled, fmt.Sprint("before, in a pool of pgx ", i)) })
		}
		all.Wait()
		test(t, database{"pgx", source, sqlstore.Postgres}, func(db *sql.DB) {
			execAll(t, openDB(t, "postgres:"+a.URL("")), "ALTER SYSTEM SET default_transaction_read_only = on", "SELECT pg_reload_conf()")
			fill(t, db, func(session *sql.Conn) { waitFor(t, session, "SHOW default_transaction_read_only", "on") }) // each is told by a signal
		})
		for range 4 { // as many as there are connections
			_, _, err = pooled.Begin(t.Context(), journal.Intent{ID: journal.PaymentID("pooled"), At: time.Now(), Currency: "USD"})
		}
		if err != nil {
			t.Errorf("in a pool of pgx: %v", err)
		}
	})
	t.Run("postgres, a promoted standby", func(t *testing.T) {
		a, b := pgserver.Own(t), pgserver.Own(t)
		testprogram.Postgres.Check(t, b.Follow(a))
		createStore(t, "postgres:"+a.URL("public"))
		if _, err := sqlstore.OpenExisting(t.Context(), openDB(t, "postgres:"+b.URL("public")), sqlstore.Postgres); err == nil ||
			!strings.Contains(err.Error(), "the server is a standby") {
			t.Errorf("the standby: got %v", err)
		}
		source := "postgres:///postgres?user=t&host=" + socketOf(t, a) + "," + socketOf(t, b) + "&target_session_attrs=read-write"
		test(t, database{"pgx", source, sqlstore.Postgres}, func(*sql.DB) {
			if err := errors.Join(a.Kill(), b.Promote()); err != nil {
				t.Fatal(err)
			}
		})
	})
	t.Run("mysql", func(t *testing.T) {
		d, fail := switchedMySQL(t)
		test(t, d, func(*sql.DB) { fail() })
	})
}

// switchedMySQL is a server that becomes read-only, while its clients stay connected. Then its name leads to another one.
func switchedMySQL(t *testing.T) (_ database, fail func()) {
	a, b := mysqlserver.Own(t), mysqlserver.Own(t)
	for _, server := range []*mysqlserver.Server{a, b} {
		createStore(t, "mysql:"+server.DSN("shop"))
		execAll(t, openDB(t, "mysql:"+server.DSN("shop")), "CREATE USER cashier@localhost", "GRANT ALL ON shop.* TO cashier@localhost")
	}
	var now atomic.Pointer[mysqlserver.Server] // where the name of the servers leads
	now.Store(a)
	mysql.RegisterDialContext("primary", func(ctx context.Context, _ string) (net.Conn, error) {
		config, err := mysql.ParseDSN(now.Load().DSN(""))
		if err != nil {
			return nil, err
		}
		return new(net.Dialer).DialContext(ctx, "unix", config.Addr)
	})
	return database{"mysql", "cashier@primary(shop)/shop", sqlstore.MySQL}, func() {
		execAll(t, openDB(t, "mysql:"+a.DSN("")), "SET GLOBAL read_only = 1")
		expectOpen(t, "mysql:"+a.DSN("shop"), "the server is a standby, or read-only")
		now.Store(b)
	}
}

// TestFailoverIsNotRead: once a write has found that its server is read-only, a connection that was in use meanwhile is not read from it: an
// entry that is at the other one would look like a payment that was not sent.
func TestFailoverIsNotRead(t *testing.T) {
	d, fail := switchedMySQL(t)
	db := openSource(t, d.driver, d.source)
	s := filled(t, db, d.dialect)
	inUse, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	fail()
	in := journal.Intent{ID: journal.PaymentID("after"), At: time.Now(), Currency: "USD"}
	if _, _, err := s.Begin(t.Context(), in); err != nil {
		t.Error(err)
	}
	succeeds(t, inUse.Close()) // back to the pool, which uses it next
	if _, err := s.Get(t.Context(), in.Key()); err != nil {
		t.Error(err)
	}
}

// TestSessionThatDoesNotWait: what is written survives a crash of the server, also if its session was told after the check not to wait for the
// disk: through a pooler, any other program can have done so.
func TestSessionThatDoesNotWait(t *testing.T) {
	server := pgserver.Own(t)
	spec := "postgres:" + server.URL("shop")
	createStore(t, spec)
	in := journal.Intent{ID: journal.PaymentID("a"), At: time.Now(), Currency: "USD", Sender: "s"}
	for version, write := range []func(*sqlstore.Store) error{
		func(s *sqlstore.Store) error {
			_, _, err := s.Begin(t.Context(), in)
			return err
		},
		func(s *sqlstore.Store) error {
			return s.Record(t.Context(), in.Key(), 0, journal.Evidence{At: in.At, Source: journal.SourceQuery, Seen: true})
		},
	} {
		db := openDB(t, spec)
		db.SetMaxOpenConns(1)
		execAll(t, db, "ALTER SYSTEM SET wal_writer_delay = '10s'", "SELECT pg_reload_conf()", "SELECT pg_sleep(0.5)")
		s := newStore(t, db, sqlstore.Postgres)
		execAll(t, db, "CHECKPOINT", "SET synchronous_commit = off")
		succeeds(t, write(s))
		if err := errors.Join(server.Kill(), server.Restart()); err != nil {
			t.Fatal(err)
		}
		if e, err := openStore(t, spec).Get(t.Context(), in.Key()); err != nil || e.Version() != version {
			t.Errorf("version %d after the crash, %v; want %d", e.Version(), err, version)
		}
	}
}

// TestStandbyAway: an intent that is committed on the primary only is not written, also if the session that waited for the synchronous standby
// was ended, and the call repeated. Nor is another submission of what was not sent.
func TestStandbyAway(t *testing.T) {
	spec := "postgres:" + pgserver.Own(t).URL("shop")
	s, db := openStore(t, spec), openDB(t, spec)
	var up atomic.Bool
	client := clienttest.NewClient(t, cardgateway.Config{BaseURL: "https://gateway.test", AppID: "7", HTTPClient: &http.Client{Transport: &switched{up: &up}}})
	payments, unsent := journal.New(client, s, journal.Options{WriteTimeout: time.Second}), Order{ID: "unsent", Amount: "1.00"}
	if _, err := payments.CreateSubscription(t.Context(), unsent.subscription()); !cardgateway.SafeToRetry(err) {
		t.Errorf("with nobody there: %v", err)
	}
	up.Store(true)
	execAll(t, db, "ALTER SYSTEM SET synchronous_standby_names = 'away'", "SELECT pg_reload_conf()")
	waitFor(t, db, "SHOW synchronous_standby_names", "away")
	in := journal.Intent{At: time.Now(), Currency: "USD", Sender: "s"}
	ended := make(chan error)
	isWaiting := func() bool {
		for {
			select {
			case err := <-ended:
				if err != nil {
					t.Fatal(err)
				}
				return false
			case <-time.After(10 * time.Millisecond):
				waiting := 0
				if err := db.QueryRow("SELECT COUNT(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'").Scan(&waiting); err != nil {
					t.Fatal(err)
				}
				if waiting == 1 {
					return true
				}
			}
		}
	}
	for n := 0; n == 0 || !isWaiting(); n++ { // a commit waits only when the server's checkpointer has read the settings, too
		in.ID = journal.PaymentID(fmt.Sprint(n))
		go func(in journal.Intent) {
			_, _, err := s.Begin(t.Context(), in)
			ended <- err
		}(in)
	}
	const endSession = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'"
	execAll(t, db, endSession)
	if err := <-ended; err == nil {
		t.Error("it is written")
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if _, created, err := s.Begin(ctx, in); err == nil {
		t.Errorf("repeated: created %t", created)
	}
	go func() {
		_, err := payments.CreateSubscription(t.Context(), unsent.subscription())
		if !cardgateway.SafeToRetry(err) {
			err = fmt.Errorf("submitted again: %w", err)
		} else {
			err = nil
		}
		ended <- err
	}()
	if isWaiting() {
		execAll(t, db, endSession)
		succeeds(t, <-ended)
	}
}

// TestFailovers: payments while the database fails again and again. None is charged twice, forgotten or reported wrong.
func TestFailovers(t *testing.T) {
	parallel(t)
	var results []*FailoverResult
	for _, tt := range []struct {
		name    string
		open    func() (*Failing, error)
		program testprogram.Program
	}{
		{"postgres", FailingPostgres, testprogram.Postgres},
		{"mysql", FailingMySQL, testprogram.MySQL},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f, err := tt.open()
			tt.program.Check(t, err)
			defer func() { succeeds(t, f.Stop()) }()
			run := FailoverRun{Mix{Seed: 17, Payments: 600, Behavior: Behaviors()[0]}, f, 200 * time.Millisecond}
			if long() {
				run.Payments, run.Every = 10_000, time.Second
			}
			r, err := run.Run()
			if err != nil {
				t.Fatal(err)
			}
			results = append(results, r)
			if r.Broken() > 0 || r.Open() > 0 || r.Failed == 0 {
				t.Errorf("%d failures: %d broken, %d open: %v", r.Failed, r.Broken(), r.Open(), r.Failures)
			}
		})
	}
	publish(t, "failovers", failoverTable(results))
}

// socketOf returns the directory of a server's socket.
func socketOf(t *testing.T, s *pgserver.Server) string {
	t.Helper()
	u, err := url.Parse(s.URL(""))
	if err != nil {
		t.Fatal(err)
	}
	return u.Query().Get("host")
}

// TestSessionsEnd: if the server ends every session, as before it restarts, the next writes use new ones.
func TestSessionsEnd(t *testing.T) {
	if err := mysql.SetLogger(log.New(io.Discard, "", 0)); err != nil { // it would say so of each session
		t.Fatal(err)
	}
	everyServer(t, func(t *testing.T, spec string, _ journal.Store) {
		db := openDB(t, spec)
		d := databaseFor(t, spec).dialect
		s := filled(t, db, d)
		end := openDB(t, spec)
		for round := range 5 {
			fill(t, db, func(*sql.Conn) {})
			if d == sqlstore.Postgres {
				execAll(t, end, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'")
			} else {
				killSessions(t, end)
			}
			everyWrite(t, s, fmt.Sprint("round ", round))
		}
	})
}

// TestStatementsGone: if somebody has the session of a connection forget its prepared statements, or changes the table for which they were made,
// the next writes prepare them again.
func TestStatementsGone(t *testing.T) {
	spec := postgres(t, t.Name()+t.TempDir())
	createDatabase(t, spec)
	db := openDB(t, spec)
	db.SetMaxOpenConns(1)
	s := newStore(t, db, sqlstore.Postgres)
	everyWrite(t, s, "before")
	for _, change := range []string{"DEALLOCATE ALL", "DISCARD ALL", "ALTER TABLE cardgateway_journal ALTER version TYPE BIGINT"} {
		execAll(t, db, change)
		everyWrite(t, s, change)
	}
}

// killSessions ends all sessions of a MySQL server but this one.
func killSessions(t *testing.T, db *sql.DB) {
	t.Helper()
	db.SetMaxOpenConns(1)
	rows, err := db.QueryContext(t.Context(), "SELECT ID FROM information_schema.PROCESSLIST WHERE ID <> CONNECTION_ID() AND USER = 'root'")
	if err != nil {
		t.Fatal(err)
	}
	var ids []int64
	for rows.Next() {
		var id int64
		succeeds(t, rows.Scan(&id))
		ids = append(ids, id)
	}
	succeeds(t, rows.Err())
	for _, id := range ids {
		_, _ = db.ExecContext(t.Context(), fmt.Sprint("KILL ", id)) // it may have ended
	}
}

// filled is a store over a pool of connections, all of which have been used and are idle.
func filled(t *testing.T, db *sql.DB, d sqlstore.Dialect) *sqlstore.Store {
	t.Helper()
	db.SetMaxIdleConns(poolSize)
	s := newStore(t, db, d)
	var all sync.WaitGroup
	for i := range 3 * poolSize {
		all.Go(func() { everyWrite(t, s, fmt.Sprint("before ", i)) })
	}
	all.Wait()
	fill(t, db, func(*sql.Conn) {})
	return s
}

const poolSize = 8

// fill gives a pool its idle connections, and waits until each of them is ready.
func fill(t *testing.T, db *sql.DB, ready func(*sql.Conn)) {
	t.Helper()
	var conns []*sql.Conn
	for range poolSize {
		conn, err := db.Conn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		ready(conn)
		conns = append(conns, conn)
	}
	for _, conn := range conns {
		_ = conn.Close() // back to the pool
	}
}
