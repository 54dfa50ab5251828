package books

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/terminal"
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

// chooseColumns finds the columns among the titles of a list.
func (l *lineReader) chooseColumns(titles []string) error {
	for _, name := range slices.Sorted(maps.Keys(l.Columns)) {
		if !slices.ContainsFunc(l.understood, func(c listColumn) bool { return c.name == name }) {
			return &Refused{l.Names.Columns, fmt.Sprintf("there is no column %q to map; there are %s", name, namesOf(l.understood))}
		}
	}
	l.at, l.width = nil, len(titles)
	taken := map[int]bool{}
	for _, column := range l.understood {
		at, err := l.findColumn(titles, column)
		if err != nil {
			return err
		}
		if at < 0 && column.required && !(column.name == "currency" && l.Currency != "") {
			return &Refused{Why: fmt.Sprintf("has no column %s; it has %s. Name the column with %s %s=NAME", column.name, quoted(titles), l.Names.Columns, column.name)}
		}
		if at >= 0 && taken[at] {
			return &Refused{l.Names.Columns, fmt.Sprintf("the column %q is used twice", titles[at])}
		}
		taken[at] = true
		l.at = append(l.at, at)
	}
	return nil
}

// findColumn returns the index of a column: the mapped one, or one with one of its names.
func (l *lineReader) findColumn(titles []string, column listColumn) (int, error) {
	wanted := append([]string{plainName(column.name)}, column.also...)
	title, isMapped := l.Columns[column.name]
	if isMapped {
		if title == "" {
			return -1, nil
		}
		wanted = []string{plainName(title)}
	}
	isExact := isMapped && slices.Contains(titles, title)
	for _, name := range wanted {
		at := -1
		for i, other := range titles {
			if isExact && other != title || plainName(other) != name {
				continue
			}
			if at >= 0 {
				return -1, &Refused{Why: fmt.Sprintf("has two columns for %s, %q and %q; rename one of them", column.name, titles[at], other)}
			}
			at = i
		}
		if at >= 0 {
			return at, nil
		}
	}
	if isMapped {
		return -1, &Refused{Why: fmt.Sprintf("has no column %q, to which %s maps %s; it has %s", title, l.Names.Columns, column.name, quoted(titles))}
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
		all = append(all, fmt.Sprintf("%q", terminal.Cut(title, 40)))
	}
	return strings.Join(all, ", ")
}
