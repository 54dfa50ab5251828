package books

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// ListSource is the source of a list: a CSV file, or a database of the merchant.
type ListSource struct {
	Path string // a CSV file in UTF-8, with the column names in its first line

	DSN   string // alternatively a SQLite file, postgres:// or mysql://; opened read-only
	Query string // a SELECT statement or a table name

	// Columns maps names of this program (transaction_id, amount, currency, state, order, order_total, at; for refunds refund_id,
	// transaction_id, amount, currency, order, at) to those of the list. An empty name means that there is no such column.
	// Other columns are found by their names, in any case, with or without "_", "-", "." and spaces.
	Columns map[string]string

	Currency     string            // of all lines without a currency
	DecimalComma bool              // amounts are written 1.234,50
	Zone         *time.Location    // of times without a zone; nil means that of the gateway, or UTC in new books
	Dates        string            // how dates are written, such as DD.MM.YYYY hh:mm:ss; those of ISO 8601 are read in any case
	States       map[string]string // states by the words of the list, in lower case; they come before the usual English words
}

// ImportPayments replaces the merchant's list of payments. Lines that cannot be parsed are stored as Unreadable. If none can
// be, or there is none, or the list cannot be read, the error is a *Refused and the old list is kept.
func (b *Books) ImportPayments(ctx context.Context, s ListSource) (ListInfo, error) {
	return b.importList(ctx, s, listTable{PaymentList, "cardgateway_listed_payments",
		[]string{"line", "transaction_id", "amount", "currency", "state", "order_id", "order_total", "at", "until"}, paymentColumns})
}

// ImportRefunds replaces the merchant's list of refunds, as ImportPayments does for payments. The sign of amounts is ignored. The
// list may have no lines.
func (b *Books) ImportRefunds(ctx context.Context, s ListSource) (ListInfo, error) {
	return b.importList(ctx, s, listTable{RefundList, "cardgateway_listed_refunds",
		[]string{"line", "refund_id", "transaction_id", "amount", "currency", "order_id", "at", "until"}, refundColumns})
}

// listTable is the database table of a list.
type listTable struct {
	kind, name string
	columns    []string // line, one per understood column, and until after at
	understood []listColumn
}

func (b *Books) importList(ctx context.Context, s ListSource, t listTable) (info ListInfo, err error) {
	reader := &lineReader{kind: t.kind, currency: s.Currency, decimalComma: s.DecimalComma, zone: s.Zone, states: s.States, counts: map[string]int{}}
	if reader.layouts, err = timeLayouts(s.Dates); err != nil {
		return info, err
	}
	if reader.zone == nil {
		if reader.zone, err = b.zone(ctx); err != nil {
			return info, err
		}
	}
	choose := func(titles []string) (err error) {
		reader.columns, err = chooseColumns(titles, t.understood, s.Columns, s.Currency)
		return err
	}
	source, name, err := s.open(ctx, choose)
	if err != nil {
		return info, err
	}
	defer func() { err = errors.Join(err, source.close()) }()
	info = ListInfo{Name: name, ReadAt: time.Now(), As: ReadAs{Dates: s.Dates}}
	if s.Zone != nil {
		info.As.Zone = s.Zone.String()
	}
	err = b.change(ctx, func(tx *sql.Tx) error { return b.importLines(ctx, tx, source, reader, t, &info) })
	if err != nil {
		return ListInfo{}, b.inWords(err)
	}
	return info, nil
}

// open opens the list. Name is its name in reports.
func (s *ListSource) open(ctx context.Context, choose func(titles []string) error) (source lines, name string, err error) {
	if s.DSN == "" {
		name = filepath.Base(s.Path)
		source, err = openCSV(s.Path, choose)
	} else {
		name = s.Query
		source, err = openQuery(ctx, s.DSN, s.Query, choose)
	}
	if refused, ok := errors.AsType[*Refused](err); ok && !strings.HasPrefix(refused.Why, "--") {
		err = &Refused{fmt.Sprintf("the list %s %s", name, refused.Why)}
	}
	return source, name, err
}

// importLines replaces the list, in one transaction.
func (b *Books) importLines(ctx context.Context, tx *sql.Tx, source lines, reader *lineReader, t listTable, info *ListInfo) error {
	for _, statement := range []string{`DELETE FROM ` + t.name, `DELETE FROM cardgateway_unreadable WHERE kind = '` + t.kind + `'`} {
		if _, err := tx.ExecContext(ctx, statement); err != nil {
			return err
		}
	}
	var good, bad []record
	var first *Unreadable
	flush := func(least int) (err error) {
		if len(good) >= least {
			err = b.fill(ctx, tx, t.name, t.columns, good)
			good = good[:0]
		}
		if len(bad) >= least && err == nil {
			err = b.fill(ctx, tx, "cardgateway_unreadable", []string{"kind", "line", "id", "order_id", "column_name", "why"}, bad)
			bad = bad[:0]
		}
		return err
	}
	for {
		line, cells, err := source.next()
		if errors.Is(err, io.EOF) {
			break
		}
		var row record
		var unreadable *Unreadable
		if wrong, ok := errors.AsType[*badLine](err); ok {
			unreadable = &Unreadable{Line: wrong.line, Why: wrong.why}
		} else if err != nil {
			return fmt.Errorf("reading the list: %w", err)
		} else {
			row, unreadable = reader.read(line, cells)
		}
		if unreadable != nil {
			if info.Unreadable++; first == nil {
				first = unreadable
			}
			bad = append(bad, record{t.kind, int64(unreadable.Line), unreadable.ID, unreadable.Order, unreadable.Column, unreadable.Why})
		} else {
			info.Rows++
			good = append(good, row)
		}
		if err := flush(batchSize); err != nil {
			return err
		}
	}
	if first != nil {
		info.First = fmt.Sprintf("line %d: %s", first.Line, strings.TrimSpace(first.Column+" "+first.Why))
	}
	if info.Rows == 0 && first != nil {
		return &Refused{fmt.Sprintf("no line of the list %s can be read; %s", info.Name, info.First)}
	}
	if info.Rows == 0 && t.kind == PaymentList { // a merchant without refunds is usual
		return &Refused{fmt.Sprintf("the list %s has no lines below the column names", info.Name)}
	}
	if err := flush(0); err != nil {
		return err
	}
	info.SHA256 = hex.EncodeToString(source.sum().Sum(nil))
	info.As.States = reader.words()
	as, err := json.Marshal(info.As)
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, `INSERT INTO cardgateway_lists (kind, name, sha256, lines, unreadable, read_as, read_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7)
		ON CONFLICT (kind) DO UPDATE SET name = excluded.name, sha256 = excluded.sha256, lines = excluded.lines, unreadable = excluded.unreadable,
			read_as = excluded.read_as, read_at = excluded.read_at`,
		t.kind, kept(info.Name), info.SHA256, info.Rows, info.Unreadable, string(as), micro(info.ReadAt))
	return err
}

// csvFile is a list in a file.
type csvFile struct {
	*csvReader
	file *os.File
	hash hash.Hash
}

func openCSV(path string, choose func(titles []string) error) (lines, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, &Refused{fmt.Sprintf("cannot be opened: %v", err)}
	}
	c := &csvFile{file: f, hash: sha256.New()}
	if c.csvReader, err = newCSV(io.TeeReader(f, c.hash), choose); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return c, nil
}

func (c *csvFile) sum() hash.Hash { return c.hash }
func (c *csvFile) close() error   { return c.file.Close() }
