package books

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/terminal"
)

// listColumn is a column that this program uses.
type listColumn struct {
	name  string
	also  []string // other names, as returned by plainName
	guess []string // names that Try takes for it, too
}

// The columns of the lists. The first is the id, the second the gateway's, which can stand for it.
var (
	paymentColumns = []listColumn{
		{"transaction_id", []string{"transaction", "merchanttransactionid"},
			[]string{"reference", "ref", "paymentreference", "merchantreference", "referenz", "referenznummer", "txnid", "transactionref",
				"paymentid", "ourref", "ourreference"}},
		{"unique_id", nil, []string{"gatewayid", "pspreference"}},
		{"amount", []string{"transactionamount"},
			[]string{"total", "gross", "betrag", "sum", "bruttobetrag", "summe", "paidamount", "amountpaid", "ordertotalamount", "montant", "importe", "bedrag"}},
		{"currency", []string{"transactioncurrency"}, []string{"currencycode", "curr", "cur", "ccy", "währung", "waehrung", "devise", "moneda", "valuta"}},
		{"state", []string{"status"}, []string{"financialstatus", "paymentstatus", "orderstatus", "zahlungsstatus", "statut", "estado"}},
		{"order", []string{"orderid", "ordernumber"}, []string{"name", "bestellung", "bestellnummer", "orderno", "order#", "commande", "pedido"}},
		{"order_total", nil, []string{"bestellsumme"}},
		{"at", []string{"date", "datetime", "transactionat", "createdat", "paidat"}, []string{"created", "datum", "bezahltam", "paidon", "buchungsdatum",
			"paymentdate", "transactiondate", "creationdate", "orderdate", "datepaid", "completeddate", "fecha", "dateutc", "created(utc)", "bookingdate"}},
	}
	refundColumns = []listColumn{
		{"refund_id", []string{"refund", "refundtransactionid", "merchantrefundid"}, []string{"erstattung", "refundreference", "refundref", "gutschrift"}},
		{"refund_unique_id", nil, nil},
		{"amount", []string{"refundamount"}, paymentColumns[2].guess},
		{"currency", []string{"refundcurrency"}, paymentColumns[3].guess},
		{"state", []string{"status", "refundstatus"}, nil},
		{"order", []string{"orderid", "ordernumber"}, paymentColumns[5].guess},
		{"at", []string{"date", "datetime", "refundat", "refundrequestat", "createdat", "refundedat"},
			append([]string{"erstattetam", "refunddate", "daterefunded"}, paymentColumns[7].guess...)},
	}
	clockNames = []string{"time", "uhrzeit", "timeofday"} // the time of day, beside a column of dates; alone it is at
	zoneNames  = regexp.MustCompile(`timezone|zeitzone|^tz$|utcoffset`)

	// A zone in the title of times, with its offset.
	zoneInTitle = regexp.MustCompile(`(?i)\b(utc|gmt|cet|cest|[ecmp][sd]?t)\b([ :]*[+-]?[0-9]+)?`)
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

// notTitles is the error for a line that has not all of the required columns: the titles may be in another one.
type notTitles struct{ Refused }

// Unwrap returns why none of the lines has titles, if this was the closest one.
func (n *notTitles) Unwrap() error { return &n.Refused }

// findTitles reads the first lines of a list until one of them has titles. Read returns how many cells of a line are filled, and why they are no
// titles: a notTitles if those of the next line may be. If none are, it returns that of the line with most.
func findTitles(read func() (n int, err error)) error {
	var closest error = &notTitles{Refused{Why: "is empty; its first line must contain the column names"}}
	for most, lines := -1, 0; lines <= maxLinesAbove; lines++ {
		n, err := read()
		if errors.Is(err, io.EOF) {
			break
		}
		if _, ok := errors.AsType[*notTitles](err); !ok {
			return err
		}
		if n > most {
			most, closest = n, err
		}
	}
	return closest
}

// filled counts the cells that are not empty.
func filled(cells []string) (n int) {
	for _, cell := range cells {
		if strings.TrimSpace(cell) != "" {
			n++
		}
	}
	return n
}

// chooseColumns finds the columns among the titles of a list.
func (l *lineReader) chooseColumns(titles []string) error {
	var names []string
	for _, column := range l.understood {
		names = append(names, column.name)
	}
	for _, name := range slices.Sorted(maps.Keys(l.Columns)) {
		if !slices.Contains(names, name) {
			return &Refused{l.ColumnsFlag, fmt.Sprintf("there is no column %q to map; there are %s", name, strings.Join(names, ", "))}
		}
	}
	l.at, l.clock, l.header, l.titles = nil, -1, titles, nil
	var missing []string
	for i, column := range l.understood {
		at, err := l.findColumn(titles, column)
		if err != nil {
			return err
		}
		if at >= 0 && slices.Contains(l.at, at) {
			return &Refused{l.ColumnsFlag, fmt.Sprintf("the column %q is used twice", titles[at])}
		}
		if l.at = append(l.at, at); at >= 0 {
			title := titles[at]
			if column.name == "at" && l.clock >= 0 {
				title += "+" + titles[l.clock]
			}
			l.titles = append(l.titles, ColumnTitle{column.name, title})
		}
		switch {
		case i == 1 && l.at[0] < 0 && at < 0: // one of the two ids is needed
			missing = append(missing, l.understood[0].name)
		case at < 0 && (i == amountColumn || i == currencyColumn && l.Currency == ""):
			missing = append(missing, column.name)
		}
	}
	if missing == nil {
		return nil
	}
	why := fmt.Sprintf("has no column %s; it has %s. Name the column with %s %s=NAME", strings.Join(missing, ", "), quoted(titles), l.ColumnsFlag,
		strings.Join(missing, "=NAME,"))
	if slices.Contains(missing, "currency") {
		why += ", or say the currency of all lines with --list-currency"
	}
	return &notTitles{Refused{Why: why}}
}

// findColumn returns the index of a column: the mapped one, or the one with one of its names. A column of dates and one of the time of day
// are at together: then clock is the index of the second.
func (l *lineReader) findColumn(titles []string, column listColumn) (int, error) {
	title, isMapped := l.Columns[column.name]
	if isMapped && title == "" {
		return -1, nil
	}
	indexes := func(names ...string) (at []int) {
		for i, other := range titles {
			if slices.Contains(names, plainName(other)) {
				at = append(at, i)
			}
		}
		return at
	}
	var at, clock []int
	if isMapped {
		if at = indexes(plainName(title)); len(at) > 1 {
			at = slices.DeleteFunc(at, func(i int) bool { return titles[i] != title && slices.Contains(titles, title) })
		}
		if date, other, ok := strings.Cut(title, "+"); ok && column.name == "at" && at == nil {
			at, clock = indexes(plainName(date)), indexes(plainName(other))
		}
		if len(at) == 0 || strings.Contains(title, "+") && len(at)+len(clock) == 1 && plainName(titles[at[0]]) != plainName(title) {
			return -1, &notTitles{Refused{Why: fmt.Sprintf("has no column %q, to which %s maps %s; it has %s", title, l.ColumnsFlag, column.name, quoted(titles))}}
		}
	} else {
		at = indexes(append([]string{plainName(column.name)}, column.also...)...)
		if l.guesses && (len(at) == 0 || column.name == "state") { // an order and its payment have one each
			at = append(at, indexes(column.guess...)...)
		}
		if column.name == "at" {
			if clock = indexes(clockNames...); len(at) == 0 {
				at, clock = clock, nil
			} else if name := plainName(titles[at[0]]); len(clock) > 0 && name != "date" && name != "datum" {
				at, clock = append(at, clock...), nil
			}
		}
	}
	for _, found := range [][]int{at, clock} {
		switch {
		case len(found) < 2:
		case isMapped || titles[found[0]] == titles[found[1]]:
			return -1, &Refused{Why: fmt.Sprintf("has two columns for %s, %q and %q; rename one of them", column.name, titles[found[0]], titles[found[1]])}
		case l.guesses:
			both := quoted([]string{titles[found[0]], titles[found[1]]})
			l.unsure = append(l.unsure, Doubt{column.name, fmt.Sprintf("two columns can be %s: %s", column.name, both)})
		default:
			return -1, &Refused{Why: fmt.Sprintf("has two columns that can be %s, %q and %q; name the right one with %s %s=NAME", column.name,
				titles[found[0]], titles[found[1]], l.ColumnsFlag, column.name)}
		}
	}
	if len(at) == 0 {
		return -1, nil
	}
	if column.name == "at" && len(clock) > 0 {
		l.clock = clock[0]
	}
	return at[0], nil
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
