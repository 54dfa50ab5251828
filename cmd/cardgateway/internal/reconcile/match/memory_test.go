package match

import (
	"cmp"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/reconcile/books"
	"github.com/cardgateway/cardgateway-go/internal/test/pgserver"
	"github.com/shopspring/decimal"
)

func TestMain(m *testing.M) {
	code := m.Run()
	if err := pgserver.StopShared(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// memory is what books are filled with.
type memory struct {
	orders      []books.Row
	refunds     []books.Row
	payments    []books.Line
	given       []books.Line
	unreadables []unreadable
	totals      map[string]string // of orders
}

// unreadable is a line of a list that could not be parsed.
type unreadable struct {
	List            books.Kind
	Line            int
	ID, Column, Why string
}

// database is books, and a connection that fills them.
type database struct {
	*books.Books
	db *sql.DB
}

// onEach runs a test with books in both databases.
func onEach(t *testing.T, test func(t *testing.T, d *database)) {
	t.Helper()
	t.Run("SQLite", func(t *testing.T) {
		test(t, onSQLite(t))
	})
	t.Run("Postgres", func(t *testing.T) {
		server := pgserver.Shared(t)
		schema := strings.ToLower("match_" + strings.ReplaceAll(t.Name(), "/", "_"))
		admin, err := sql.Open("pgx", server.URL("public"))
		if err == nil {
			_, err = admin.ExecContext(t.Context(), "CREATE SCHEMA "+schema)
		}
		if err := errors.Join(err, admin.Close()); err != nil {
			t.Fatal(err)
		}
		test(t, open(t, server.URL(schema), "pgx", server.URL(schema)))
	})
}

func onSQLite(t *testing.T) *database {
	t.Helper()
	path := filepath.Join(t.TempDir(), "books.db")
	return open(t, path, "sqlite", path+"?_pragma=synchronous(0)&_pragma=busy_timeout(10000)")
}

func open(t *testing.T, name, driver, dsn string) *database {
	t.Helper()
	b, err := books.Open(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open(driver, dsn)
	if err == nil {
		_, err = db.ExecContext(t.Context(), `INSERT INTO cardgateway_copy (one, gateway, app, zone, since, synced)
			VALUES (1, 'https://gw.test', '1', 'UTC+8', 1, 1)`)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(db.Close(), b.Close()); err != nil {
			t.Error(err)
		}
	})
	return &database{b, db}
}

// fill replaces what the books contain.
func (d *database) fill(t *testing.T, m *memory) {
	t.Helper()
	tx, err := d.db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	insert := func(table string, rows [][]any) {
		t.Helper()
		_, err := tx.ExecContext(t.Context(), `DELETE FROM cardgateway_`+table)
		for rows := range slices.Chunk(rows, 1000) {
			if err != nil {
				break
			}
			var places []string
			var args []any
			for _, row := range rows {
				var one []string
				for _, value := range row {
					args = append(args, value)
					one = append(one, fmt.Sprintf("$%d", len(args)))
				}
				places = append(places, "("+strings.Join(one, ",")+")")
			}
			_, err = tx.ExecContext(t.Context(), `INSERT INTO cardgateway_`+table+` VALUES `+strings.Join(places, ","), args...)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	micro := func(at time.Time) int64 {
		if at.IsZero() {
			return 0
		}
		return at.UnixMicro()
	}
	taken := map[string]bool{}
	key := func(id string, i int) string { // the gateway's ids of a test may be equal
		if taken[id] {
			id = fmt.Sprint(id, "#", i)
		}
		taken[id] = true
		return id
	}
	var orders, refunds, payments, given, unreadables [][]any
	for i, r := range m.orders {
		test := 0
		if r.Test {
			test = 1
		}
		orders = append(orders, []any{key(r.UniqueID, i), r.UniqueID, cmp.Or(r.ID, r.UniqueID), r.State, 100, r.Amount.String(), r.Currency, micro(r.At), r.Card, "", test, 1})
	}
	for i, r := range m.refunds {
		refunds = append(refunds, []any{key(r.UniqueID, i), r.UniqueID, r.ID, r.Payment, r.State, 111, r.Amount.String(), r.Currency, micro(r.At), 1})
	}
	for _, l := range m.payments {
		payments = append(payments, []any{l.Line, l.ID, l.UniqueID, l.Amount.String(), l.Currency, l.State, l.Order, m.totals[l.Order], micro(l.At), micro(latest(l))})
	}
	for _, l := range m.given {
		given = append(given, []any{l.Line, l.ID, "", l.Amount.String(), l.Currency, l.State, l.Order, "", micro(l.At), micro(latest(l))})
	}
	for _, u := range m.unreadables {
		unreadables = append(unreadables, []any{u.List, u.Line, u.ID, "", "", u.Column, u.Why})
	}
	insert("orders", orders)
	insert("refunds", refunds)
	insert("listed_payments", payments)
	insert("listed_refunds", given)
	insert("unreadable", unreadables)
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
}

func money(text string) decimal.Decimal { return decimal.RequireFromString(text) }

func latest(l books.Line) time.Time {
	if l.Until.IsZero() {
		return l.At
	}
	return l.Until
}
