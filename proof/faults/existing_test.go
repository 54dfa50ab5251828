package faults

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/shopspring/decimal"

	"github.com/cardgateway/cardgateway-go/journal"
	"github.com/cardgateway/cardgateway-go/journal/sqlstore"
)

// TestOpenExisting: existing tables are used, and neither created nor changed.
func TestOpenExisting(t *testing.T) {
	everyStore(t, func(t *testing.T, spec string) {
		store, done, err := OpenStore(spec)
		if err != nil {
			t.Fatal(err)
		}
		for _, shop := range []journal.Shop{{Gateway: "https://a.example", AppID: "7"}, {Gateway: "https://b.example/x y", AppID: "8"}} {
			in := journal.Intent{Shop: shop, ID: journal.PaymentID("t-1"), Amount: decimal.NewFromInt(1), Sender: rand.Text(), At: time.Now()}
			if _, _, err := store.Begin(t.Context(), in); err != nil {
				t.Fatal(err)
			}
		}
		if err := done(); err != nil {
			t.Fatal(err)
		}
		db := openDB(t, spec)
		dialect := databaseFor(t, spec).dialect
		open := func() (*sqlstore.Store, error) { return sqlstore.OpenExisting(t.Context(), db, dialect) }

		found, err := open()
		if err != nil {
			t.Fatal(err)
		}
		shops, err := found.Shops(t.Context())
		if got := fmt.Sprint(shops, err); got != "[https://a.example 7 https://b.example/x y 8] <nil>" || shops[1].AppID != "8" {
			t.Errorf("got shops %s", got)
		}
		over, leave := context.WithCancel(t.Context())
		leave()
		if shops, err := found.Shops(over); !errors.Is(err, context.Canceled) {
			t.Errorf("shops with a context that is over: %v, %v", shops, err)
		}
		newer := func(name string) {
			t.Helper()
			if _, err := open(); err == nil || errors.Is(err, sqlstore.ErrNoTables) || !strings.Contains(err.Error(), "only programs of version 2, or newer") {
				t.Errorf("%s: got %v", name, err)
			}
		}
		execAll(t, db, "INSERT INTO cardgateway_journal_schema (version, applied) VALUES (2, 0)")
		newer("version 2")
		execAll(t, db, "INSERT INTO cardgateway_journal_schema (version, applied, oldest) VALUES (3, 0, 2)")
		newer("version 3, which version 2 may use")
		execAll(t, db, "DELETE FROM cardgateway_journal_schema WHERE version = 3")
		execAll(t, db, "UPDATE cardgateway_journal_schema SET oldest = 1 WHERE version = 2")
		if _, err := open(); err != nil {
			t.Errorf("version 2, which version 1 may use: got %v", err)
		}
		if got := version(t, db); got != 2 {
			t.Errorf("version %d now: it was changed", got)
		}
		execAll(t, db, "DROP TABLE cardgateway_journal", "DROP TABLE cardgateway_journal_schema")
		if _, err := open(); !errors.Is(err, sqlstore.ErrNoTables) {
			t.Errorf("no tables: got %v, want ErrNoTables", err)
		}
		if _, err := db.ExecContext(t.Context(), "SELECT 1 FROM cardgateway_journal_schema"); err == nil {
			t.Error("a table was made")
		}
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := sqlstore.OpenExisting(ended, db, dialect); err == nil || errors.Is(err, sqlstore.ErrNoTables) {
			t.Errorf("a database that does not answer: got %v", err)
		}
	})
}

func version(t *testing.T, db *sql.DB) (version int) {
	t.Helper()
	succeeds(t, db.QueryRowContext(t.Context(), "SELECT MAX(version) FROM cardgateway_journal_schema").Scan(&version))
	return version
}
