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
	Kind Kind   // of its lines
	Path string // a CSV file or a workbook

	DSN   string // alternatively a SQLite file, postgres:// or mysql://; opened read-only
	Query string // a SELECT statement or a table name

	// Columns maps names of this program (transaction_id, unique_id, amount, currency, state, order, order_total, at; for refunds refund_id,
	// refund_unique_id, amount, currency, state, order, at) to those of the list. An empty name means that there is no such column. The gateway's id
	// is that of the lines without an id of the merchant. A date and a time of day in two columns are at=Date+Time.
	// Other columns are found by their names, in any case, with or without "_", "-", "." and spaces.
	Columns map[string]string

	Currency string            // of all lines without a currency
	Amounts  string            // the amount 1234.50 as the list writes it; empty for 1234.50, and lines with anything else are Unreadable
	Zone     *time.Location    // of times without a zone; nil means that of the gateway, or UTC in new books
	Dates    string            // how dates are written, such as DD.MM.YYYY hh:mm:ss; those of ISO 8601 are read in any case
	States   map[string]string // states by the words of the list, in lower case; they come before the usual English words

	Flag, ColumnsFlag string // what messages call the list, and its Columns; the other settings have one flag each
}

// Import replaces lists of the merchant: all of them, or none if one of them cannot be read. Lines that cannot be parsed are stored as
// Unreadable. A list of which no line can be parsed is a *Refused; one may have titles alone. The sign of the amounts of refunds is
// ignored. Lines with the gateway's ids get those of the rows that the copy has now, also without sources.
func (b *Books) Import(ctx context.Context, sources ...ListSource) (infos []ListInfo, err error) {
	var lists []*openList
	defer func() {
		for _, l := range lists {
			err = errors.Join(err, l.source.close())
		}
	}()
	for i := range sources {
		l, err := sources[i].open(ctx, false)
		if err != nil {
			return nil, err
		}
		lists = append(lists, l)
		if l.Zone == nil {
			if l.Zone, err = b.zone(ctx); err != nil {
				return nil, err
			}
		}
	}
	err = b.change(ctx, func(tx *sql.Tx) error {
		for _, l := range lists {
			if err := b.importLines(ctx, tx, l); err != nil {
				return fmt.Errorf("%s: %w", l.Flag, err)
			}
		}
		return nameLines(ctx, tx)
	})
	if err != nil {
		return nil, b.inWords(err)
	}
	for _, l := range lists {
		infos = append(infos, l.info)
	}
	return infos, nil
}

// nameLines gives the lines that have the gateway's id, and no other, the ids of its rows: also those that cannot be read, or are kept for a
// later month.
func nameLines(ctx context.Context, tx *sql.Tx) error {
	for _, kind := range []Kind{Payment, Refund} {
		ofKind := ` AND kind = '` + string(kind) + `'`
		for table, condition := range map[string]string{"$list": "", "cardgateway_unreadable": ofKind, "cardgateway_later_lines": ofKind} {
			_, err := tx.ExecContext(ctx, tableOf(kind).sql(`UPDATE `+table+` AS l SET id = COALESCE((SELECT r.$id FROM $rows r
				WHERE r.id = l.unique_id AND r.$id <> ''), unique_id) WHERE unique_id <> ''`+condition))
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// CheckLists returns why Import would refuse lists whatever their lines are: a file or a column that is missing, for example. It does not
// look into a file that can be read only once, such as a pipe.
func CheckLists(ctx context.Context, sources ...ListSource) error {
	for i := range sources {
		if info, err := os.Stat(sources[i].Path); err == nil && !info.Mode().IsRegular() && !info.IsDir() {
			continue
		}
		l, err := sources[i].open(ctx, false)
		if err == nil {
			err = l.source.close()
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// lines are those of a list that is being read: of a csvReader, a workbook, or queryRows.
type lines interface {
	// next returns the cells of the next line. The error is io.EOF, a *badLine, or that of the source.
	next() (line int, cells []string, err error)
	// isNumber reports whether a cell of the last line is a number, and not a text that looks like one.
	isNumber(column int) bool
	close() error
}

// openList is a list that is being read.
type openList struct {
	*lineReader
	source lines
	sum    hash.Hash // of the data that was read
	info   ListInfo
}

// open opens the list, and finds its columns: with guesses, by more names.
func (s *ListSource) open(ctx context.Context, guesses bool) (_ *openList, err error) {
	l := &openList{lineReader: newLineReader(*s), sum: sha256.New()}
	l.guesses = guesses
	defer func() {
		if err != nil {
			err = fmt.Errorf("%s: %w", l.Flag, err)
		}
	}()
	if l.layouts, err = s.timeLayouts(); err != nil {
		return nil, err
	}
	if l.form, err = s.amountForm(); err != nil {
		return nil, err
	}
	l.info = ListInfo{Name: s.Query, ReadAt: time.Now(), As: ReadAs{Amounts: s.Amounts, Dates: s.Dates}}
	if s.Zone != nil {
		l.info.As.Zone = s.Zone.String()
	}
	if s.DSN == "" {
		l.info.Name = filepath.Base(s.Path)
		l.source, err = openFile(s.Path, l.sum, l.chooseColumns)
	} else {
		l.source, err = s.openQuery(ctx, l.sum, l.chooseColumns)
	}
	return l, l.named(err)
}

// named adds the name of the list to an error that is about the whole list.
func (l *openList) named(err error) error {
	if refused, ok := errors.AsType[*Refused](err); ok && refused.Setting == "" {
		return &Refused{Why: fmt.Sprintf("the list %s %s", l.info.Name, refused.Why)}
	}
	return err
}

// encoding returns that of a CSV file that is not UTF-8, as far as it was read.
func (l *openList) encoding() string {
	if r, ok := l.source.(*csvReader); ok && r.encoding != "UTF-8" {
		return r.encoding
	}
	return ""
}

// each calls do for every line of a list: with its cells, or with why it cannot be parsed.
func (l *openList) each(do func(line int, cells []string, bad *Unreadable) error) error {
	for {
		line, cells, err := l.source.next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		var bad *Unreadable
		if wrong, ok := errors.AsType[*badLine](err); ok {
			bad = &Unreadable{Line: wrong.line, Why: wrong.why}
		} else if err != nil {
			return l.named(err)
		}
		if err := do(line, cells, bad); err != nil {
			return err
		}
	}
}

// eachRow is each with what read returns.
func (l *openList) eachRow(do func(row *listedLine, bad *Unreadable) error) error {
	return l.each(func(line int, cells []string, bad *Unreadable) error {
		var row *listedLine
		if bad == nil {
			row, bad = l.read(line, cells, l.source.isNumber)
		}
		return do(row, bad)
	})
}

// importLines replaces the list.
func (b *Books) importLines(ctx context.Context, tx *sql.Tx, l *openList) error {
	info, list, ofKind := &l.info, tableOf(l.Kind).list, ` WHERE kind = '`+string(l.Kind)+`'`
	for _, before := range []string{list, `cardgateway_unreadable` + ofKind, `cardgateway_lists` + ofKind} {
		if _, err := tx.ExecContext(ctx, `DELETE FROM `+before); err != nil {
			return err
		}
	}
	var good, bad []record
	flush := func(least int) (err error) {
		if len(good) >= least {
			err = b.fill(ctx, tx, list, listedColumns, good)
			good = good[:0]
		}
		if len(bad) >= least && err == nil {
			err = b.fill(ctx, tx, "cardgateway_unreadable", []string{"kind", "line", "id", "unique_id", "order_id", "column_name", "why"}, bad)
			bad = bad[:0]
		}
		return err
	}
	err := l.eachRow(func(row *listedLine, unreadable *Unreadable) error {
		switch {
		case unreadable != nil:
			if info.Unreadable++; info.First == "" {
				info.First = fmt.Sprintf("line %d: %s", unreadable.Line, strings.TrimSpace(unreadable.Column+" "+unreadable.Why))
			}
			bad = append(bad, record{string(l.Kind), int64(unreadable.Line), unreadable.ID, unreadable.uniqueID, unreadable.Order, unreadable.Column, unreadable.Why})
		case row == nil:
			info.As.Totals++
		default:
			info.Rows++
			good = append(good, row.record())
		}
		return flush(batchSize)
	})
	if err != nil {
		return err
	}
	if info.Rows == 0 && info.First != "" {
		return &Refused{Why: fmt.Sprintf("no line of the list %s can be read; %s", info.Name, info.First)}
	}
	if info.Rows == 0 && info.As.Totals > 0 { // with titles alone, there was nothing in the month
		return &Refused{Why: fmt.Sprintf("the list %s has no lines with an id and an amount below the column names", info.Name)}
	}
	if err := flush(0); err != nil {
		return err
	}
	info.SHA256 = hex.EncodeToString(l.sum.Sum(nil))
	info.As.Columns, info.As.States, info.As.Encoding = l.titles, l.words(), l.encoding()
	as, err := json.Marshal(info.As)
	if err != nil {
		return err
	}
	return b.fill(ctx, tx, "cardgateway_lists", []string{"kind", "name", "sha256", "lines", "unreadable", "read_as", "read_at"}, []record{
		{string(l.Kind), kept(info.Name), info.SHA256, int64(info.Rows), int64(info.Unreadable), string(as), micro(info.ReadAt)},
	})
}
