package books

import (
	"context"
	"database/sql"
	"errors"
	"math"
	"time"
)

// Info describes the content of the books.
type Info struct {
	Gateway      string         // base URL; empty in new books
	AppID        string         // empty in new books
	Zone         *time.Location // of the gateway; nil in new books
	Since        time.Time      // start of the copy
	CompleteUpTo time.Time      // the copy is complete up to here
	LastSync     time.Time      // end of the last successful run; zero if there was none

	PaymentList ListInfo // of the merchant's lists
	RefundList  ListInfo
}

// ListInfo describes an imported list.
type ListInfo struct {
	Name       string    `json:"name"`       // of the file, or the query
	SHA256     string    `json:"sha256"`     // of the bytes of the file, or of the rows of the query; in hex
	Rows       int       `json:"rows"`       // lines that were parsed
	Unreadable int       `json:"unreadable"` // lines that could not be parsed
	First      string    `json:"-"`          // the first of these and why, if the list has just been imported
	As         ReadAs    `json:"readAs"`
	ReadAt     time.Time `json:"readAt"` // zero if no list was imported
}

// ReadAs describes how a list was read.
type ReadAs struct {
	Columns  []ColumnTitle `json:"columns"`  // in the order of ListSource.Columns
	Totals   int           `json:"totals"`   // lines of totals, with the titles again, or without an id and an amount, which are left out
	Encoding string        `json:"encoding"` // of a CSV file that is not UTF-8
	Amounts  string        `json:"amounts"`  // as ListSource.Amounts
	Zone     string        `json:"zone"`     // of times without a zone; empty for that of the gateway
	Dates    string        `json:"dates"`    // as ListSource.Dates
	States   []StateWord   `json:"states"`   // sorted by the word; empty if the list has no such column
}

// ColumnTitle is the title of a column in a list.
type ColumnTitle struct {
	Column string `json:"column"` // as in ListSource.Columns
	Title  string `json:"title"`
}

// StateWord is a word in the column of states.
type StateWord struct {
	Word  string `json:"word"` // in lower case; empty for lines that state none
	State string `json:"state"`
	Lines int    `json:"lines"`
}

// Info describes the copy, how far it is complete, and the lists.
func (b *Books) Info(ctx context.Context) (i Info, err error) {
	if i, err = b.readCopy(ctx); err == nil {
		err = b.db.QueryRowContext(ctx, `SELECT COALESCE(MIN(complete), 0) FROM cardgateway_walks`).Scan(clock{&i.CompleteUpTo, i.Zone})
	}
	if err == nil {
		i.PaymentList, err = b.listInfo(ctx, Payment)
	}
	if err == nil {
		i.RefundList, err = b.listInfo(ctx, Refund)
	}
	return i, b.inWords(err)
}

func (b *Books) listInfo(ctx context.Context, kind Kind) (i ListInfo, err error) {
	err = b.db.QueryRowContext(ctx, `SELECT name, sha256, lines, unreadable, read_as, read_at FROM cardgateway_lists WHERE kind = $1`, string(kind)).
		Scan(&i.Name, &i.SHA256, &i.Rows, &i.Unreadable, jsonText{&i.As}, clock{&i.ReadAt, time.Local})
	if errors.Is(err, sql.ErrNoRows) {
		return ListInfo{}, nil
	}
	return i, err
}

// Counts are the numbers of rows in the copy.
type Counts struct {
	Orders     int
	Refunds    int
	OpenOrders int       // orders that are processing, redirect or unknown
	Other      OtherApps // rows that are not counted in the others
}

// Count counts the rows of the copy. It reads all of them.
func (b *Books) Count(ctx context.Context) (c Counts, err error) {
	err = b.db.QueryRowContext(ctx, b.compared(`
		SELECT COUNT(*), COALESCE(SUM(CASE WHEN `+isOpen+` THEN 1 ELSE 0 END), 0),
			(SELECT COUNT(*) FROM cardgateway_refunds)
		FROM cardgateway_orders`)).Scan(&c.Orders, &c.OpenOrders, &c.Refunds)
	if err == nil {
		c.Other, err = b.OtherApps(ctx, time.Time{}, time.UnixMicro(math.MaxInt64))
	}
	return c, b.inWords(err)
}

// OtherApps counts rows that are in the copy, and are left out because they are of another app.
type OtherApps struct {
	Orders  int `json:"payments"`
	Refunds int `json:"refunds"`
}

// OtherApps counts the rows of other apps in [from, to), and those without a time. It counts none if AnyApp is set.
func (b *Books) OtherApps(ctx context.Context, from, to time.Time) (o OtherApps, err error) {
	if b.AnyApp {
		return o, nil
	}
	// The few rows of other apps come first: SQLite keeps the order of a CROSS JOIN, and CASE keeps it from an index of the times.
	err = b.db.QueryRowContext(ctx, `
		SELECT (SELECT COALESCE(SUM(CASE WHEN at >= $1 AND at < $2 OR at = 0 THEN 1 ELSE 0 END), 0) FROM cardgateway_orders WHERE other_app <> ''),
			(SELECT COALESCE(SUM(CASE WHEN r.at >= $1 AND r.at < $2 OR r.at = 0 THEN 1 ELSE 0 END), 0)
				FROM cardgateway_orders o CROSS JOIN cardgateway_refunds r WHERE r.unique_id = o.id AND o.other_app <> '')`,
		micro(from), micro(to)).Scan(&o.Orders, &o.Refunds)
	return o, b.inWords(err)
}
