package sqlstore

import (
	"bytes"
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/journal"
)

const (
	// entryColumns are those of a storedEntry, beside its key. A text that is longer than MySQL's MEDIUMBLOB is read in part, so that the entry is
	// one that cannot be read.
	entryColumns = `SUBSTR(intent, 1, 16777215), SUBSTR(evidence, 1, 16777215), version, acked`

	selectEntry = `SELECT ` + entryColumns + ` FROM cardgateway_journal WHERE shop = ? AND transaction_id = ?`
)

// Get implements journal.Store.
func (s *Store) Get(ctx context.Context, key journal.Key) (journal.Entry, error) {
	if err := needContext(ctx, "Get"); err != nil {
		return journal.Entry{}, err
	}
	var e journal.Entry
	err := s.onConn(ctx, func(conn session) (err error) {
		e, err = s.read(ctx, conn, key)
		return err
	})
	if err != nil {
		return e, s.explain(ctx, err)
	}
	return e, nil
}

// executor is a connection, or a transaction of SQLite.
type executor interface {
	ExecContext(ctx context.Context, statement string, args ...any) (sql.Result, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// read returns an entry, ErrNoEntry, an *EntryError or an error of the database.
func (s *Store) read(ctx context.Context, on executor, key journal.Key) (journal.Entry, error) {
	var r storedEntry
	err := on.QueryRowContext(ctx, s.sql(selectEntry), key.Shop.String(), key.ID.String()).
		Scan(&r.intent, &r.evidence, &r.version, &r.acked)
	if errors.Is(err, sql.ErrNoRows) {
		return journal.Entry{}, journal.ErrNoEntry
	} else if err != nil {
		return journal.Entry{}, err
	}
	return s.entry(&r, key)
}

// storedEntry is a row. Its texts are scanned as bytes, so that a text that is not UTF-8 does not prevent the other rows
// from being read.
type storedEntry struct {
	id, begun        any // as they are stored, so that a page is continued behind them: SQLite sorts a BLOB behind every text
	intent, evidence []byte
	version, acked   wholeNumber
}

// key returns the key of a row in a shop.
func (r *storedEntry) key(shop journal.Shop) journal.Key {
	return journal.Key{Shop: shop, ID: journal.ParseID(textOf(r.id))}
}

// textOf returns a text as drivers return it.
func textOf(stored any) string {
	if text, ok := stored.([]byte); ok {
		return string(text)
	}
	return fmt.Sprint(stored)
}

// wholeNumber is an INTEGER column. SQLite stores any value in one; a value that is not a number must not prevent the
// other rows from being read.
type wholeNumber struct {
	n   int
	bad bool
}

// Scan implements sql.Scanner.
func (w *wholeNumber) Scan(value any) error {
	var n sql.NullInt64
	err := n.Scan(value)
	w.n, w.bad = int(n.Int64), err != nil || !n.Valid
	return nil
}

// entry reads a row. Its evidence is only ever added to, so that of an entry that has much is not parsed again: a call that is repeated many times
// costs the same each time.
func (s *Store) entry(r *storedEntry, key journal.Key) (e journal.Entry, err error) {
	unreadable := func(cause error) (journal.Entry, error) {
		return journal.Entry{}, &journal.EntryError{Key: key, Cause: cause}
	}
	if err := json.Unmarshal(r.intent, &e.Begun); err != nil {
		return unreadable(fmt.Errorf("its intent: %w", err))
	}
	e.Begun.Shop = key.Shop
	if e.Begun.ID != key.ID || r.id != nil && textOf(r.id) != key.ID.String() { // renamed, copied, or changed by a tool that has moved the table
		return unreadable(fmt.Errorf("its intent is that of another id, %q", e.Begun.ID))
	} else if r.evidence == nil || r.version.bad || r.acked.bad {
		return unreadable(errors.New("its evidence is NULL, or its version or acked column is not a number"))
	}
	e.Acked = r.acked.n
	before := s.parsed.get(key, r.evidence)
	e.Evidence = slices.Clone(before.evidence)
	for line := range strings.Lines(string(r.evidence[len(before.text):])) {
		var ev journal.Evidence
		if err := json.Unmarshal([]byte(line), &ev); err != nil {
			return unreadable(fmt.Errorf("its evidence: %w", err))
		}
		if ev.Refund != nil && !key.ID.Refund || ev.Transaction != nil && key.ID.Refund {
			return unreadable(errors.New("it is a refund with evidence of a payment, or a payment with evidence of a refund"))
		}
		e.Evidence = append(e.Evidence, ev)
	}
	if n := len(e.Evidence); n != r.version.n {
		return unreadable(fmt.Errorf("it has %d lines of evidence, but version %d", n, r.version.n))
	} else if e.Acked < -1 || e.Acked > n {
		return unreadable(fmt.Errorf("it has %d lines of evidence, of which %d are acknowledged", n, e.Acked))
	}
	s.parsed.put(key, parsed{r.evidence, e.Evidence})
	return e, nil
}

// parsed is the evidence of an entry, as text and in parsed form.
type parsed struct {
	text     []byte
	evidence []journal.Evidence
}

// parsedEntries remembers the evidence of entries that have much.
type parsedEntries struct {
	mu  sync.Mutex
	all map[journal.Key]parsed
}

const (
	minParsed = 50 // pieces of evidence of an entry that is remembered
	maxParsed = 16 // entries
)

// get returns what is remembered of an entry, if its evidence still begins with it.
func (p *parsedEntries) get(key journal.Key, text []byte) parsed {
	p.mu.Lock()
	defer p.mu.Unlock()
	if before := p.all[key]; bytes.HasPrefix(text, before.text) {
		return before
	}
	return parsed{}
}

// put remembers an entry. The text belongs to it, and the evidence to the caller.
func (p *parsedEntries) put(key journal.Key, now parsed) {
	if len(now.evidence) < minParsed || !bytes.HasSuffix(now.text, []byte("\n")) {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.all == nil || len(p.all) >= maxParsed {
		p.all = make(map[journal.Key]parsed)
	}
	now.evidence = slices.Clone(now.evidence)
	p.all[key] = now
}

const (
	pageOfUnacked = 200
	// stalePage is how old a page of entries may become in the loop. The rest of an older one is read again.
	stalePage = 500 * time.Millisecond
	// pageTimeout is how long a page is waited for: a connection that a firewall has forgotten hangs for minutes.
	pageTimeout = 10 * time.Second

	selectUnacked = `SELECT transaction_id, begun, ` + entryColumns + ` FROM cardgateway_journal
		WHERE shop = ? AND %s AND begun >= ? AND (begun > ? OR transaction_id > ?) ORDER BY begun, transaction_id LIMIT ?`
)

// Unacked implements journal.Store. It reads a page of entries at a time, and holds no connection while they are used.
func (s *Store) Unacked(ctx context.Context, shop journal.Shop) iter.Seq2[journal.Entry, error] {
	unacked := fmt.Sprintf(selectUnacked, s.dialect.isUnacked())
	return func(yield func(journal.Entry, error) bool) {
		if err := needContext(ctx, "Unacked"); err != nil {
			yield(journal.Entry{}, err)
			return
		}
		begun, id := any(int64(math.MinInt64)), any("")
		for {
			within, cancel := context.WithTimeout(ctx, pageTimeout)
			page, err := s.page(within, unacked, shop.String(), begun, begun, id, pageOfUnacked)
			cancel()
			if err != nil {
				yield(journal.Entry{}, s.explain(ctx, err))
				return
			}
			read := time.Now()
			for i := range page {
				begun, id = page[i].begun, page[i].id
				if !yield(s.entry(&page[i], page[i].key(shop))) {
					return
				}
				if time.Since(read) > stalePage {
					break
				}
			}
			if len(page) == 0 {
				return
			}
		}
	}
}

// page returns the rows of a statement that selects the columns of a storedEntry.
func (s *Store) page(ctx context.Context, statement string, args ...any) ([]storedEntry, error) {
	return collect(ctx, s, func(rows *sql.Rows) (r storedEntry, err error) {
		err = rows.Scan(&r.id, &r.begun, &r.intent, &r.evidence, &r.version, &r.acked)
		return r, err
	}, statement, args...)
}

// collect returns the rows of a statement, each as scan reads it.
func collect[T any](ctx context.Context, s *Store, scan func(*sql.Rows) (T, error), statement string, args ...any) (all []T, err error) {
	err = s.onConn(ctx, func(conn session) error {
		all = nil
		rows, err := conn.QueryContext(ctx, s.sql(statement), args...)
		if err != nil {
			return err
		}
		defer func() { _ = rows.Close() }() // rows.Err has its error
		for rows.Next() {
			one, err := scan(rows)
			if err != nil {
				return err
			}
			all = append(all, one)
		}
		return rows.Err()
	})
	return all, err
}

// maxShops limits how many shops Shops returns.
const maxShops = 1000

const nextShop = `SELECT MIN(shop) FROM cardgateway_journal WHERE shop > ?`

// Shops returns the shops that have entries, at most 1000. A tool can use it to report which shops there are if it finds no
// entries of the requested one.
func (s *Store) Shops(ctx context.Context) (shops []journal.Shop, err error) {
	if err := needContext(ctx, "Shops"); err != nil {
		return nil, err
	}
	for text, err := range s.shops(ctx) {
		if err != nil {
			return nil, s.explain(ctx, err)
		}
		if shops = append(shops, parseShop(text)); len(shops) == maxShops {
			break
		}
	}
	return shops, nil
}

// shops yields the column shop of every shop that has entries. An error of the database ends the loop.
func (s *Store) shops(ctx context.Context) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		for last := any(""); ; {
			if err := s.queryRow(ctx, nextShop, []any{last}, &last); err != nil {
				yield("", err)
				return
			}
			if last == nil || !yield(textOf(last), nil) {
				return
			}
		}
	}
}

// parseShop reads what Shop.String wrote. An appId contains no space.
func parseShop(text string) journal.Shop {
	i := strings.LastIndexByte(text, ' ')
	if i < 0 {
		return journal.Shop{Gateway: text}
	}
	return journal.Shop{Gateway: text[:i], AppID: cardgateway.AppID(text[i+1:])}
}

const (
	pageOfAcked = 200

	selectAcked = `SELECT transaction_id, begun, ` + entryColumns + ` FROM cardgateway_journal
		WHERE shop = ? AND transaction_id > ? AND NOT unacked AND begun < ? ORDER BY transaction_id LIMIT ?`
	deleteAcked = `DELETE FROM cardgateway_journal
		WHERE shop = ? AND NOT unacked AND begun < ? AND version = ? AND transaction_id IN (%s)`
)

// Forget deletes acknowledged payments and refunds, of every shop, of which everything was recorded before the given time:
// every submission, and everything that became known since. It returns how many. A deleted id can be paid again, so keep
// entries for longer than any of your jobs could repeat a call. A time within the last 24 hours is an error.
//
// Forget reads the entries that began before that time, a page at a time, and deletes those of each page in transactions of
// their own. If it ends early, what is deleted stays deleted. An entry that cannot be read is kept; Forget returns the first
// of them as an *EntryError, after it has deleted the others.
func (s *Store) Forget(ctx context.Context, before time.Time) (n int64, err error) {
	if err := needContext(ctx, "Forget"); err != nil {
		return 0, err
	}
	if err := journal.CheckForget(before); err != nil {
		return 0, err
	}
	var unreadable error
	for shop, err := range s.shops(ctx) {
		if err != nil {
			return n, s.explain(ctx, err)
		}
		for id, more := any(""), true; more; {
			page, err := s.page(ctx, selectAcked, shop, id, before.UnixMicro(), pageOfAcked)
			if err != nil {
				return n, s.explain(ctx, err)
			}
			old := make(map[int][]any) // ids, by the version of their entries
			for i := range page {
				id = page[i].id
				switch e, err := s.entry(&page[i], page[i].key(parseShop(shop))); {
				case err != nil:
					unreadable = cmp.Or(unreadable, err)
				case e.MayForget(before):
					old[len(e.Evidence)] = append(old[len(e.Evidence)], id)
				}
			}
			for version, ids := range old {
				deleted, err := s.deleteAcked(ctx, shop, before, version, ids)
				if n += deleted; err != nil {
					return n, s.explain(ctx, err)
				}
			}
			more = len(page) == pageOfAcked
		}
	}
	return n, unreadable
}

// deleteAcked deletes acknowledged entries of a shop that began before a time, unless more was recorded since: then they have another
// version. An entry that began since has an id that another Forget deleted meanwhile.
func (s *Store) deleteAcked(ctx context.Context, shop string, before time.Time, version int, ids []any) (int64, error) {
	return s.change(ctx, fmt.Sprintf(deleteAcked, repeated("?", len(ids))), append([]any{shop, before.UnixMicro(), version}, ids...)...)
}
