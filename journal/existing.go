package journal

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"iter"
	"strings"

	"github.com/cardgateway/cardgateway-go"
)

// ErrNoTables says that a database has no journal tables.
var ErrNoTables = errors.New("journal: the database has no tables of a journal")

// OpenSQLStore returns a store on tables that another program has created: it creates and migrates none. Everything else is
// as with NewSQLStore. Use it in a tool that must not create tables in a wrong database, and must not migrate the tables of
// a running program.
//
// If the database has no such tables, the error matches ErrNoTables. Tables of any other version are rejected.
func OpenSQLStore(ctx context.Context, db *sql.DB, d Dialect) (*SQLStore, error) {
	return openSQL(ctx, db, d, "OpenSQLStore", Dialect.find)
}

// find checks that the tables are there, in this version.
func (d Dialect) find(ctx context.Context, db *sql.DB) error {
	have, err := schemaVersion(ctx, db)
	want := len(d.migrations())
	switch {
	case err != nil && probe(ctx, db, `SELECT 1`):
		return fmt.Errorf("%w: %w", ErrNoTables, err)
	case err != nil:
		return err
	case have == 0:
		return ErrNoTables
	case have != want:
		return fmt.Errorf("%w: the schema has version %d and this program knows %d", errSchema, have, want)
	}
	return nil
}

// mostShops limits how many shops Shops returns.
const mostShops = 1000

const nextShop = `SELECT MIN(shop) FROM cardgateway_journal WHERE shop > ?`

// Shops returns the shops that have entries, at most 1000. A tool can use it to report which shops there are if it finds no
// entries of the requested one.
func (s *SQLStore) Shops(ctx context.Context) (shops []Shop, err error) {
	if err := needContext(ctx, "Shops"); err != nil {
		return nil, err
	}
	for text, err := range s.shops(ctx) {
		if err != nil {
			return nil, s.inJournal(ctx, err)
		}
		if shops = append(shops, parseShop(text)); len(shops) == mostShops {
			break
		}
	}
	return shops, nil
}

// shops yields the column shop of every shop that has entries. An error of the database ends the loop.
func (s *SQLStore) shops(ctx context.Context) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		for last := ""; ; {
			var next []byte
			if err := s.db.QueryRowContext(ctx, s.dialect.sql(nextShop), last).Scan(&next); err != nil {
				yield("", err)
				return
			}
			if last = string(next); next == nil || !yield(last, nil) {
				return
			}
		}
	}
}

// parseShop reads what Shop.String wrote. An appId contains no space.
func parseShop(text string) Shop {
	i := strings.LastIndexByte(text, ' ')
	if i < 0 {
		return Shop{Gateway: text}
	}
	return Shop{Gateway: text[:i], AppID: cardgateway.AppID(text[i+1:])}
}
