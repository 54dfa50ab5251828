package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/cardgateway/cardgateway-go/journal"
)

// The lease of a shop is one row. Its end is a time of the database's clock, in microseconds since 1970.

var _ journal.LeaseStore = (*Store)(nil)

// A lease whose end is more than two minutes ahead is over: the database's clock was set back.
const (
	takeLease = `UPDATE cardgateway_journal_lease SET holder = ?, until = %[1]s + ?
		WHERE shop = ? AND (holder = ? OR until <= %[1]s OR until > %[1]s + 120000000)`
	insertLease  = `INSERT INTO cardgateway_journal_lease (shop, holder, until) VALUES (?, '', 0)`
	selectHolder = `SELECT holder FROM cardgateway_journal_lease WHERE shop = ?`
	releaseLease = `UPDATE cardgateway_journal_lease SET until = 0 WHERE shop = ? AND holder = ?`
)

// clock returns the expression for the database's time. None of them is the time at which a transaction began, or depends on a
// time zone.
func (d Dialect) clock() string {
	switch d {
	case Postgres:
		return `CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000000 AS BIGINT)`
	case MySQL:
		return `TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))`
	}
	return `CAST((julianday('now') - 2440587.5) * 86400000000 AS INTEGER)`
}

// insertMissing returns an insert that does nothing if a row with the key exists. The INSERT IGNORE of MySQL would also change what a column does
// not hold, such as a number that is too small, to something else.
func (d Dialect) insertMissing(insert, key string) string {
	if d == MySQL {
		return insert // see isDuplicate
	}
	return insert + ` ON CONFLICT (` + key + `) DO NOTHING`
}

// Lease implements journal.LeaseStore. A renewal is one statement, a failed attempt two.
func (s *Store) Lease(ctx context.Context, shop journal.Shop, holder string, length time.Duration) (leasedTo string, err error) {
	if err := needContext(ctx, "Lease"); err != nil {
		return "", err
	}
	take := fmt.Sprintf(takeLease, s.dialect.clock())
	for range 3 {
		n, err := s.change(ctx, take, holder, length.Microseconds(), shop.String(), holder)
		if err != nil {
			return "", s.explain(ctx, err)
		}
		if n == 1 {
			return holder, nil
		}
		var text []byte
		err = s.queryRow(ctx, selectHolder, []any{shop.String()}, &text)
		switch other := string(text); {
		case errors.Is(err, sql.ErrNoRows):
			if _, err := s.change(ctx, s.dialect.insertMissing(insertLease, "shop"), shop.String()); err != nil {
				return "", s.explain(ctx, err)
			}
		case err != nil:
			return "", s.explain(ctx, err)
		case other != "" && other != holder: // "": it has just been inserted. Its own name proves nothing: no row was changed
			return other, nil
		}
	}
	return "", errors.New("sqlstore: the row of the lease cannot be created or changed")
}

// Release implements journal.LeaseStore.
func (s *Store) Release(ctx context.Context, shop journal.Shop, holder string) error {
	if err := needContext(ctx, "Release"); err != nil {
		return err
	}
	if _, err := s.change(ctx, releaseLease, shop.String(), holder); err != nil {
		return s.explain(ctx, err)
	}
	return nil
}
