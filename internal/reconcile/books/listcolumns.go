package books

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// listColumn is a column that this program uses.
type listColumn struct {
	name     string
	also     []string // other names, as returned by plainName
	required bool
}

// The columns of the lists, in the order of the database tables. The first is the id.
var (
	paymentColumns = []listColumn{
		{"transaction_id", []string{"transaction", "merchanttransactionid"}, true},
		{"amount", []string{"transactionamount"}, true},
		{"currency", []string{"transactioncurrency"}, true},
		{"state", []string{"status"}, false},
		{"order", []string{"orderid", "ordernumber"}, false},
		{"order_total", nil, false},
		{"at", []string{"time", "date", "datetime", "transactionat", "createdat", "paidat"}, false},
	}
	refundColumns = []listColumn{
		{"refund_id", []string{"refund", "refundtransactionid", "merchantrefundid"}, true},
		{"amount", []string{"refundamount"}, true},
		{"currency", []string{"refundcurrency"}, true},
		{"order", []string{"orderid", "ordernumber"}, false},
		{"at", []string{"time", "date", "datetime", "refundat", "refundrequestat", "createdat", "refundedat"}, false},
	}
)

// plainName normalizes names, so that Transaction_ID, transactionId and "transaction id" are equal.
func plainName(name string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune(" _-.\u00a0", r) {
			return -1
		}
		return r
	}, strings.ToLower(strings.TrimSpace(name)))
}

// chosen contains the index of each column in a line, or -1 if there is none.
type chosen struct {
	columns []listColumn
	at      []int
	width   int // number of columns
}

// index returns the index of a column in columns, or -1.
func (c *chosen) index(name string) int {
	return slices.IndexFunc(c.columns, func(column listColumn) bool { return column.name == name })
}

// chooseColumns finds the columns among the titles of a list. Mapped is ListSource.Columns.
func (t listTable) chooseColumns(titles []string, mapped map[string]string, currency string) (*chosen, error) {
	columns := t.understood
	for _, name := range slices.Sorted(maps.Keys(mapped)) {
		if !slices.ContainsFunc(columns, func(c listColumn) bool { return c.name == name }) {
			return nil, &Refused{fmt.Sprintf("%s: there is no column %q to map; there are %s", t.columnsFlag, name, namesOf(columns))}
		}
	}
	c := &chosen{columns: columns, width: len(titles)}
	taken := map[int]bool{}
	for _, column := range columns {
		at, err := t.findColumn(titles, column, mapped)
		if err != nil {
			return nil, err
		}
		if at < 0 && column.required && !(column.name == "currency" && currency != "") {
			return nil, &Refused{fmt.Sprintf("has no column %s; it has %s. Name the column with %s %s=NAME", column.name, quoted(titles), t.columnsFlag, column.name)}
		}
		if at >= 0 && taken[at] {
			return nil, &Refused{fmt.Sprintf("%s: the column %q is used twice", t.columnsFlag, titles[at])}
		}
		taken[at] = true
		c.at = append(c.at, at)
	}
	return c, nil
}

// findColumn returns the index of a column: the mapped one, or one with one of its names.
func (t listTable) findColumn(titles []string, column listColumn, mapped map[string]string) (int, error) {
	wanted := append([]string{plainName(column.name)}, column.also...)
	title, isMapped := mapped[column.name]
	if isMapped {
		if title == "" {
			return -1, nil
		}
		if at := slices.Index(titles, title); at >= 0 {
			return at, nil
		}
		wanted = []string{plainName(title)}
	}
	for _, name := range wanted {
		at := -1
		for i, title := range titles {
			if plainName(title) != name {
				continue
			}
			if at >= 0 {
				return -1, &Refused{fmt.Sprintf("has two columns for %s, %q and %q; rename one of them", column.name, titles[at], title)}
			}
			at = i
		}
		if at >= 0 {
			return at, nil
		}
	}
	if isMapped {
		return -1, &Refused{fmt.Sprintf("has no column %q, to which %s maps %s; it has %s", title, t.columnsFlag, column.name, quoted(titles))}
	}
	return -1, nil
}

func namesOf(columns []listColumn) string {
	var names []string
	for _, c := range columns {
		names = append(names, c.name)
	}
	return strings.Join(names, ", ")
}

// quoted lists at most 20 titles, each with at most 40 bytes.
func quoted(titles []string) string {
	var all []string
	for i, title := range titles {
		if i == 20 {
			all = append(all, "…")
			break
		}
		if len(title) > 40 {
			title = strings.ToValidUTF8(title[:40], "") + "…"
		}
		all = append(all, fmt.Sprintf("%q", title))
	}
	return strings.Join(all, ", ")
}
