package books

import (
	"context"
	"database/sql"
	"errors"
	"strings"

	"github.com/cardgateway/cardgateway-go/internal/reconcile/database"
	"github.com/jackc/pgx/v5"
)

// MoveFrom moves a part of the copy into these books: what other books, in another schema of the same Postgres database, have
// copied. A row that both have becomes that of the part. All of it is one transaction, which drops the schema. The error is a
// *Refused if the part is a copy of something else, or begins after the range that these books have.
func (b *Books) MoveFrom(ctx context.Context, schema string) error {
	if b.kind != database.Postgres {
		return &Refused{"a part can be moved in Postgres only"}
	}
	part := strings.NewReplacer("$part", pgx.Identifier{schema}.Sanitize())
	return b.inWords(b.change(ctx, func(tx *sql.Tx) error {
		if err := refusePart(ctx, tx, part); err != nil {
			return err
		}
		for _, statement := range strings.Split(part.Replace(move), ";\n") {
			if _, err := tx.ExecContext(ctx, statement); err != nil {
				return err
			}
		}
		return nil
	}))
}

// refusePart rejects a part that does not belong to these books. New books take any.
func refusePart(ctx context.Context, tx *sql.Tx, part *strings.Replacer) error {
	var same, adjoins bool
	err := tx.QueryRowContext(ctx, part.Replace(`
		SELECT (own.gateway, own.app, own.zone) = (part.gateway, part.app, part.zone),
			part.since <= (SELECT MIN(complete) FROM cardgateway_walks)
		FROM cardgateway_copy own CROSS JOIN $part.cardgateway_copy part`)).Scan(&same, &adjoins)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return nil
	case err != nil:
		return err
	case !same:
		return &Refused{"the part is a copy of another gateway or app, or has another zone"}
	case !adjoins:
		return &Refused{"the part begins after the end of the copy"}
	}
	return nil
}

const move = `DELETE FROM cardgateway_orders WHERE id IN (SELECT id FROM $part.cardgateway_orders);
DELETE FROM cardgateway_refunds WHERE id IN (SELECT id FROM $part.cardgateway_refunds);
INSERT INTO cardgateway_orders SELECT * FROM $part.cardgateway_orders;
INSERT INTO cardgateway_refunds SELECT * FROM $part.cardgateway_refunds;
INSERT INTO cardgateway_changes SELECT * FROM $part.cardgateway_changes;
INSERT INTO cardgateway_copy SELECT * FROM $part.cardgateway_copy ON CONFLICT DO NOTHING;
INSERT INTO cardgateway_walks AS own SELECT * FROM $part.cardgateway_walks
	ON CONFLICT (kind) DO UPDATE SET complete = excluded.complete, number = greatest(own.number, excluded.number),
	begun = excluded.begun, start = excluded.start, until = excluded.until, checkpoint = excluded.checkpoint,
	deep = excluded.deep, asked = excluded.asked;
DROP SCHEMA $part CASCADE`
