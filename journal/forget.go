package journal

import (
	"cmp"
	"context"
	"fmt"
	"time"
)

const (
	pageOfAcked = 200

	selectAcked = `SELECT transaction_id, begun, intent, evidence, version, acked FROM cardgateway_journal
		WHERE shop = ? AND transaction_id > ? AND NOT unacked AND begun < ? ORDER BY transaction_id LIMIT ?`
	deleteAcked = `DELETE FROM cardgateway_journal WHERE shop = ? AND version = ? AND transaction_id IN (%s)`
)

// Forget deletes acknowledged payments and refunds, of every shop, of which everything was recorded before the given time:
// every submission, and everything that became known since. It returns how many. A deleted id can be paid again, so keep
// entries for longer than any of your jobs could repeat a call. A time within the last 24 hours is an error.
//
// Forget reads the entries that began before that time, a page at a time, and deletes those of each page in transactions of
// their own. If it ends early, what is deleted stays deleted. An entry that cannot be read is kept; Forget returns the first
// of them as an *EntryError, after it has deleted the others.
func (s *SQLStore) Forget(ctx context.Context, before time.Time) (n int64, err error) {
	if err := needContext(ctx, "Forget"); err != nil {
		return 0, err
	}
	if err := tooRecent(before); err != nil {
		return 0, err
	}
	var unreadable error
	for shop, err := range s.shops(ctx) {
		if err != nil {
			return n, s.inJournal(ctx, err)
		}
		for id, more := "", true; more; {
			page, err := s.page(ctx, selectAcked, shop, id, before.UnixMicro(), pageOfAcked)
			if err != nil {
				return n, s.inJournal(ctx, err)
			}
			old := make(map[int][]any) // ids, by the version of their entries
			for i := range page {
				id = page[i].id
				switch e, err := page[i].entry(Key{Shop: parseShop(shop), TransactionID: id}); {
				case err != nil:
					unreadable = cmp.Or(unreadable, err)
				case e.latest().Before(before):
					old[e.version()] = append(old[e.version()], id)
				}
			}
			for version, ids := range old {
				deleted, err := s.deleteAcked(ctx, shop, version, ids)
				if n += deleted; err != nil {
					return n, s.inJournal(ctx, err)
				}
			}
			more = len(page) == pageOfAcked
		}
	}
	return n, unreadable
}

// deleteAcked deletes acknowledged entries of a shop, unless more was recorded since: then they have another version.
func (s *SQLStore) deleteAcked(ctx context.Context, shop string, version int, ids []any) (int64, error) {
	ids = padded(ids)
	statement := s.dialect.sql(fmt.Sprintf(deleteAcked, repeated("?", len(ids))))
	result, err := s.db.ExecContext(ctx, statement, append([]any{shop, version}, ids...)...)
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}
