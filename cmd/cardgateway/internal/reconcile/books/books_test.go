package books

import (
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/internal/test/clienttest"
	"github.com/cardgateway/cardgateway-go/internal/test/mysqlserver"
	"github.com/cardgateway/cardgateway-go/internal/test/pgserver"
	"github.com/cardgateway/cardgateway-go/sandbox"
)

func TestMain(m *testing.M) {
	code := m.Run()
	if err := errors.Join(pgserver.StopShared(), mysqlserver.StopShared()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	if err := goleak.Find(); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// onEach runs a test on both databases, each time with the name of an empty one.
func onEach(t *testing.T, test func(t *testing.T, db string)) {
	t.Helper()
	t.Run("SQLite", func(t *testing.T) { test(t, filepath.Join(t.TempDir(), "a ?strange#name%41.db")) })
	t.Run("Postgres", func(t *testing.T) { test(t, postgresURL(t)) })
}

var schemaNumber atomic.Int64

// postgresURL is that of an empty schema.
func postgresURL(t testing.TB) string {
	t.Helper()
	server := pgserver.Shared(t)
	schema := fmt.Sprintf("books%d", schemaNumber.Add(1))
	execAt(t, "pgx", server.URL("public"), "CREATE SCHEMA "+schema)
	return server.URL(schema)
}

// execAt executes statements in a database.
func execAt(t testing.TB, driver, dsn string, statements ...string) {
	t.Helper()
	db, err := sql.Open(driver, dsn)
	if err != nil {
		t.Fatal(err)
	}
	for _, statement := range statements {
		if err == nil {
			_, err = db.ExecContext(t.Context(), statement)
		}
	}
	succeeds(t, errors.Join(err, db.Close()))
}

// succeeds checks the error of a call that is to have none. It does not end the test, so any goroutine may call it.
func succeeds(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Error(err)
	}
}

// open opens books until the end of the test.
func open(t testing.TB, db string) *Books {
	t.Helper()
	b, err := Open(t.Context(), db)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { succeeds(t, b.Close()) })
	return b
}

// clientOf is a client of an app at a gateway in this process.
func clientOf(t testing.TB, server *sandbox.Server, app cardgateway.AppID) *cardgateway.Client {
	t.Helper()
	return clienttest.NewClient(t, cardgateway.Config{BaseURL: server.URL, AppID: app, TestPayments: true})
}

func gateway(t testing.TB, o sandbox.Options) *sandbox.Server {
	t.Helper()
	o.NoNotifications = true
	server, err := sandbox.Start(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Close)
	return server
}

// change makes one change of the books.
func change(t *testing.T, b *Books, do func(tx *sql.Tx) error) {
	t.Helper()
	succeeds(t, b.change(t.Context(), do))
}

// save saves rows that a walk found. The copy was complete up to a time.
func save(t *testing.T, b *Books, table *table, complete int64, now time.Time, rows ...record) {
	t.Helper()
	change(t, b, func(tx *sql.Tx) error {
		_, err := b.save(t.Context(), tx, table, rows, complete, now)
		return err
	})
}

// dump gives the rows of the copy, as texts, without what two copies of the same gateway may differ in.
func dump(t testing.TB, b *Books) (all []string) {
	t.Helper()
	for _, table := range bothTables {
		columns := table.columns[:len(table.columns)-1]
		rows, err := b.db.QueryContext(t.Context(), table.sql(`SELECT `+strings.Join(columns, ", ")+` FROM $rows ORDER BY id`))
		if err != nil {
			t.Fatal(err)
		}
		for rows.Next() {
			values := make([]any, len(columns))
			targets := make([]any, len(columns))
			for i := range values {
				targets[i] = &values[i]
			}
			succeeds(t, rows.Scan(targets...))
			all = append(all, table.kind+" "+strings.TrimSuffix(fmt.Sprintln(values...), "\n"))
		}
		succeeds(t, errors.Join(rows.Err(), rows.Close()))
	}
	return all
}

// wantFresh holds a copy against one that is made anew.
func wantFresh(t *testing.T, b *Books, o SyncOptions) {
	t.Helper()
	fresh := open(t, filepath.Join(t.TempDir(), "fresh.db"))
	mustSync(t, fresh, SyncOptions{Client: o.Client, From: o.From})
	if diff := cmp.Diff(dump(t, fresh), dump(t, b)); diff != "" {
		t.Errorf("rows (-fresh copy +got):\n%s", diff)
	}
}
