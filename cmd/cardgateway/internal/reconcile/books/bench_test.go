package books

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/database"
)

// BenchmarkSave saves batches of new rows, as the first run does, on top of those that are there.
func BenchmarkSave(b *testing.B) {
	for _, kind := range []database.Kind{database.SQLite, database.Postgres} {
		b.Run(string(kind), func(b *testing.B) {
			db := filepath.Join(b.TempDir(), "books.db")
			if kind == database.Postgres {
				db = postgresURL(b)
			}
			books := open(b, db)
			batch := make([]record, batchSize)
			n := 0
			for b.Loop() {
				for i := range batch {
					n++
					batch[i] = record{fmt.Sprintf("16%017d", n), fmt.Sprintf("16%017d", n), fmt.Sprintf("book-transaction-0-%d", n), "approved", int64(100),
						"12.5", "EUR", int64(n) * 1_000_000, "430000******0000", "", int64(0), int64(1)}
				}
				err := books.change(b.Context(), func(tx *sql.Tx) error {
					_, err := books.save(b.Context(), tx, &ordersTable, batch, 0, time.Now())
					return err
				})
				if err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.N*batchSize)/b.Elapsed().Seconds(), "rows/s")
		})
	}
}
