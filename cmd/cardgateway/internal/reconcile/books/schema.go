package books

import (
	"context"
	"database/sql"
	_ "embed"
	"fmt"
	"strings"

	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/database"
)

//go:embed schema.sql
var schema1 string

// schemas are the migrations from one version of the schema to the next, the first from an empty database. A released
// migration is never changed. $TEXT is a text type that is compared by bytes.
var schemas = []string{schema1}

// migrate updates the schema to the latest version.
func (b *Books) migrate(ctx context.Context) error {
	text := "TEXT"
	if b.kind == database.Postgres {
		text = `TEXT COLLATE "C"`
	}
	return b.change(ctx, func(tx *sql.Tx) error {
		if err := b.refuseForeign(ctx, tx); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, `CREATE TABLE IF NOT EXISTS cardgateway_schema (version BIGINT NOT NULL PRIMARY KEY)`)
		if err != nil {
			return err
		}
		var version int
		if err := tx.QueryRowContext(ctx, `SELECT COALESCE(MAX(version), 0) FROM cardgateway_schema`).Scan(&version); err != nil {
			return err
		}
		if version > len(schemas) {
			return &Refused{Why: fmt.Sprintf("the tables have version %d, but this program supports only up to %d: use the newer program that created them",
				version, len(schemas))}
		}
		for ; version < len(schemas); version++ {
			if _, err := tx.ExecContext(ctx, strings.ReplaceAll(schemas[version], "$TEXT", text)); err != nil {
				return fmt.Errorf("creating version %d of the tables: %w", version+1, err)
			}
			if _, err := tx.ExecContext(ctx, `INSERT INTO cardgateway_schema (version) VALUES ($1)`, version+1); err != nil {
				return err
			}
		}
		return nil
	})
}

// refuseForeign rejects a SQLite file of another program, which was probably named by mistake. Postgres schemas may contain
// other tables.
func (b *Books) refuseForeign(ctx context.Context, tx *sql.Tx) error {
	if b.kind != database.SQLite {
		return nil
	}
	var other string
	err := tx.QueryRowContext(ctx, `SELECT COALESCE(MIN(name), '') FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\_%' ESCAPE '\'
		AND NOT EXISTS (SELECT 1 FROM sqlite_schema WHERE name = 'cardgateway_schema')`).Scan(&other)
	if err == nil && other != "" {
		err = &Refused{Why: fmt.Sprintf("the file belongs to another program: it has a table %q", other)}
	}
	return err
}
