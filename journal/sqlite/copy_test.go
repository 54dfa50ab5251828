package sqlite_test

import (
	"context"
	"database/sql"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/journal/sqlite"
	"github.com/cardgateway/cardgateway-go/journal/sqlstore"
	"github.com/cardgateway/cardgateway-go/sandbox"
)

// A program that calls CopyOrders every minute has every order of the gateway in a table of its own.
func ExampleStore_CopyOrders() {
	gateway := sandbox.New(sandbox.Options{})
	defer gateway.Close()
	opened := time.Now().AddDate(0, -2, 0)
	gateway.Seed(2000, opened, time.Now().Add(-time.Hour))
	client, err := cardgateway.New(cardgateway.Config{
		BaseURL: "https://gateway.example", AppID: "123456", HTTPClient: &http.Client{Transport: gateway.RoundTripper()},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	dir, err := os.MkdirTemp("", "shop")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "shop.db")
	ctx := context.Background()
	store, err := sqlite.Open(ctx, path)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer store.Close()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer db.Close()
	if _, err := db.ExecContext(ctx, `CREATE TABLE orders (unique_id TEXT PRIMARY KEY, code INTEGER NOT NULL)`); err != nil {
		fmt.Println(err)
		return
	}
	for range 2 {
		completeUpTo, err := store.CopyOrders(ctx, client, sqlstore.Copy[cardgateway.Transaction]{
			Since: opened,
			Store: func(ctx context.Context, tx *sql.Tx, t *cardgateway.Transaction) error {
				_, err := tx.ExecContext(ctx, `INSERT INTO orders (unique_id, code) VALUES (?, ?)
					ON CONFLICT (unique_id) DO UPDATE SET code = excluded.code`, t.UniqueID, int(t.Code))
				return err
			},
		})
		var n int
		if err == nil {
			err = db.QueryRowContext(ctx, `SELECT COUNT(*) FROM orders`).Scan(&n)
		}
		fmt.Println(n, "orders; a copy was due:", !completeUpTo.IsZero(), err)
	}
	// Output:
	// 2000 orders; a copy was due: true <nil>
	// 2000 orders; a copy was due: false <nil>
}
