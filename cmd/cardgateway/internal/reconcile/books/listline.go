package books

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/shopspring/decimal"

	"github.com/cardgateway/cardgateway-go/internal/ascii"
)

// listedLine is a line of a list as the database has it. Its ID can be the gateway's, until the row is found in the copy.
type listedLine struct {
	Line
	total string // of the order; empty if the list has none
}

// listedColumns are those of the tables of lists, in the order of record.
var listedColumns = []string{"line", "id", "unique_id", "amount", "currency", "state", "order_id", "order_total", "at", "until"}

func (l *listedLine) record() record {
	return record{int64(l.Line.Line), l.ID, l.UniqueID, l.Amount.String(), l.Currency, l.State, l.Order, l.total, micro(l.At), micro(l.Until)}
}

// lineReader reads the lines of a list.
type lineReader struct {
	ListSource // with a zone
	understood []listColumn
	at         []int         // of each understood column, its index in a line, or -1 if there is none
	clock      int           // of the time of day that belongs to the column at, or -1
	header     []string      // all titles
	titles     []ColumnTitle // of the columns that are used
	guesses    bool          // columns are found by their guesses, too
	unsure     []Doubt       // columns that have two titles
	other      int           // the line with the titles of another table, if there is one
	form       amountForm
	layouts    []timeLayout
	counts     map[string]int  // lines by the word of their state, in lower case
	sums       map[string]*sum // of the lines that were read, by currency
}

func newLineReader(s ListSource) *lineReader {
	l := &lineReader{ListSource: s, understood: paymentColumns, counts: map[string]int{}, sums: map[string]*sum{}}
	if s.Kind == Refund {
		l.understood = refundColumns
	}
	return l
}

// sum adds up lines, to recognize a line of totals.
type sum struct{ approved, others, before decimal.Decimal } // before is what all had at the last such line

func (s *sum) all() decimal.Decimal { return s.approved.Add(s.others) }

func (l *lineReader) add(amount decimal.Decimal, currency string, isApproved bool) {
	s := l.sums[currency]
	if s == nil {
		s = &sum{}
		l.sums[currency] = s // there are at most as many as currencies
	}
	if isApproved {
		s.approved = s.approved.Add(amount)
	} else {
		s.others = s.others.Add(amount)
	}
}

// isSum reports whether an amount is the sum of the lines that were read, of the approved ones, or of those since the last sum: of a currency,
// or of all.
func (l *lineReader) isSum(amount decimal.Decimal, currency string) bool {
	var of sum
	var groups []*sum
	for name, s := range l.sums {
		if currency == "" || strings.EqualFold(name, currency) {
			of.approved, of.others, of.before = of.approved.Add(s.approved), of.others.Add(s.others), of.before.Add(s.before)
			groups = append(groups, s)
		}
	}
	if len(groups) == 0 || !amount.Equal(of.all()) && !amount.Equal(of.approved) && !amount.Equal(of.all().Sub(of.before)) {
		return false
	}
	for _, s := range groups {
		s.before = s.all()
	}
	return true
}

// totalWords are those for the id of a line of totals, as plainName returns them. Words without a digit can follow, such as a currency.
var totalWords = regexp.MustCompile(`^((grand|sub)?total|(gesamt|zwischen)?(summe|betrag)|gesamt)[^0-9]*$|^sum:?$|^Σ:?$|^\*+$`)

// isTotal reports whether a cell is a word for a line of totals. The first condition is much faster than the second one, and nearly no id
// passes it.
func isTotal(cell string) bool {
	return ascii.CountDigits(cell) == 0 && totalWords.MatchString(plainName(cell))
}

// splitAmount is the end of an amount that contains the separator of the list, without quotation marks.
var splitAmount = regexp.MustCompile(`^[0-9]{2,3}([.,][0-9]+)?$`)

// The indexes of columns that both lists have.
const (
	amountColumn   = 2
	currencyColumn = 3
)

// read converts a line. isNumber says which of its cells are numbers. An Unreadable does not quote cells, because they may contain anything.
// A line of totals, one with the titles again, and one without an id and an amount is neither a line nor an Unreadable.
func (l *lineReader) read(line int, cells []string, isNumber func(column int) bool) (*listedLine, *Unreadable) {
	bad := func(column, format string, args ...any) (*listedLine, *Unreadable) {
		var ids listedLine
		for i, c := range l.understood {
			if i < amountColumn || c.name == "order" {
				_ = l.set(&ids, i, l.cell(i, cells), "", false) // empty if it cannot be read either
			}
		}
		if ids.ID != "" {
			ids.UniqueID = ""
		}
		return nil, &Unreadable{Line: line, ID: cmp.Or(ids.ID, ids.UniqueID), uniqueID: ids.UniqueID, Order: ids.Order, Column: column, Why: fmt.Sprintf(format, args...)}
	}
	if l.other > 0 {
		return bad("", "is below other titles, which are in line %d; save that table as a file of its own", l.other)
	}
	if len(cells) > len(l.header) && strings.Join(cells[len(l.header):], "") != "" {
		return bad("", "has %d cells, but the titles are %d; a text or an amount that contains the separator must be in quotation marks", len(cells), len(l.header))
	}
	if next := l.at[amountColumn] + 1; next < len(cells) && (len(cells) > len(l.header) || l.header[next] == "") && isDigits(cells[next-1]) &&
		splitAmount.MatchString(cells[next]) && !isNumber(next-1) {
		return bad("amount", "and the cell after it, which has no title, can be one amount; an amount that contains the separator must be in quotation marks")
	}
	currency, _ := l.readCurrency(l.cell(currencyColumn, cells))
	id := cmp.Or(l.cell(0, cells), l.cell(1, cells))
	if id == "" && l.cell(amountColumn, cells) == "" {
		return nil, nil // as those of the further products of an order, or below the table
	}
	if isTotal(id) || id == "" && slices.ContainsFunc(cells, isTotal) {
		total, err := l.parseAmount(l.cell(amountColumn, cells), currency, isNumber(l.at[amountColumn]))
		switch {
		case err == nil && l.isSum(total.Abs(), l.cell(currencyColumn, cells)):
			return nil, nil
		case err == nil && id != "":
			return bad("amount", "is that of a line of totals, but the lines above that can be read have another total")
		}
	}
	row := &listedLine{Line: Line{Line: line, State: StateApproved}} // a list without states has what was paid
	word, hasState := "", false
	for i, column := range l.understood {
		text := l.cell(i, cells)
		switch {
		case column.name == "state" && l.at[i] < 0:
			continue
		case column.name == "state" && l.at[i] >= len(cells):
			return bad(column.name, "is left out; if it is empty in your list, export it with all of its cells")
		case column.name == "state":
			word, hasState = strings.ToLower(text), true
		case column.name == "at":
			text = l.timeText(i, cells)
		}
		err := l.set(row, i, text, currency, l.at[i] >= 0 && isNumber(l.at[i]))
		if i == amountColumn && err != nil && areTitles(cells) {
			if slices.EqualFunc(cells, l.header, func(a, b string) bool { return strings.TrimPrefix(a, byteOrder) == b }) {
				return nil, nil // as at the top of each page
			}
			l.other = line
			return bad("", "has other titles; save the table below it as a file of its own")
		}
		if err != nil {
			return bad(column.name, "%s", err)
		}
	}
	switch {
	case row.ID == "" && row.UniqueID == "":
		return bad(l.understood[0].name, "is empty")
	case row.ID == "":
		row.ID = row.UniqueID // until it is found in the copy
	default:
		row.UniqueID = ""
	}
	if hasState { // one of the words that are known, so there are few
		l.counts[word]++
	}
	l.add(row.Amount, currency, row.State == StateApproved)
	return row, nil
}

// areTitles reports whether two cells of a line are names of columns.
func areTitles(cells []string) bool {
	all := slices.Concat(paymentColumns, refundColumns)
	names := slices.DeleteFunc(slices.Clone(cells), func(cell string) bool {
		name := plainName(strings.TrimPrefix(cell, byteOrder))
		return !slices.ContainsFunc(all, func(c listColumn) bool {
			return name == plainName(c.name) || slices.Contains(c.also, name) || slices.Contains(c.guess, name)
		})
	})
	return len(names) > 1
}

func isDigits(text string) bool {
	return text != "" && strings.Trim(text, "-0123456789 ") == ""
}

// cell returns the text of an understood column, or "" if the line or the list does not have it.
func (l *lineReader) cell(column int, cells []string) string {
	if at := l.at[column]; at >= 0 && at < len(cells) {
		return plainCell(cells[at])
	}
	return ""
}

// timeText returns the text of the column at, with that of the time of day if it has a column of its own.
func (l *lineReader) timeText(column int, cells []string) string {
	text := l.cell(column, cells)
	if l.clock >= 0 && l.clock < len(cells) && text != "" {
		text = strings.TrimSpace(text + " " + plainCell(cells[l.clock]))
	}
	return text
}

// plainCell returns the text of a cell: ="123" is how a spreadsheet is told that 123 is a text, and a database writes NULL or \N for nothing.
func plainCell(text string) string {
	if text = strings.TrimSpace(text); text == "NULL" || text == `\N` {
		return ""
	}
	if inner, ok := strings.CutPrefix(text, `="`); ok && strings.HasSuffix(inner, `"`) && strings.Count(inner, `"`) == 1 {
		return strings.TrimSpace(inner[:len(inner)-1])
	}
	return text
}

// words returns the words for states of the lines that were read, sorted.
func (l *lineReader) words() (words []StateWord) {
	for _, word := range slices.Sorted(maps.Keys(l.counts)) {
		state, _ := l.readState(word) // it was read
		words = append(words, StateWord{word, state, l.counts[word]})
	}
	return words
}

// set parses the text of an understood column, and sets it in a line.
func (l *lineReader) set(row *listedLine, column int, text, currency string, isNumber bool) (err error) {
	if isSpreadsheetError(text) {
		return errors.New("is an error of a spreadsheet")
	}
	switch l.understood[column].name {
	case "amount":
		row.Amount, err = l.parseAmount(text, currency, isNumber)
		if err == nil && row.Amount.IsNegative() && l.Kind == Payment {
			return errors.New("is negative; if it is a refund, export it to a list of refunds: --refund-list")
		}
		row.Amount = row.Amount.Abs() // many lists write refunds as negative amounts
	case "order_total":
		if text == "" {
			return nil
		}
		total, err := l.parseAmount(text, currency, isNumber)
		if err == nil && total.IsNegative() {
			err = errors.New("is negative")
		}
		row.total = total.String()
		return err
	case "currency":
		row.Currency, err = l.readCurrency(text)
	case "state":
		row.State, err = l.readState(text)
	case "at":
		var at timeRange
		at, err = l.readTime(text)
		row.At, row.Until = at.start.In(l.Zone), at.end.In(l.Zone)
	case "order":
		row.Order, err = readID(text)
	case "unique_id", "refund_unique_id":
		row.UniqueID, err = readID(text)
	default:
		row.ID, err = readID(text)
	}
	return err
}

// readID rejects a text that cannot be an id.
func readID(text string) (string, error) {
	switch {
	case strings.ContainsRune(text, utf8.RuneError): // or what is not UTF-8
		return "", errors.New("has a character that cannot be read; export the list as CSV UTF-8")
	case utf8.RuneCountInString(text) > maxIDLength:
		return "", fmt.Errorf("has more than %d characters", maxIDLength)
	case strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r == 0x7f }):
		return "", errors.New("contains a control character")
	case strings.Contains(text, "+") && shortenedID.MatchString(text):
		return "", errors.New("was shortened by a spreadsheet, which keeps 15 digits of a number: format the column as text, and export it again")
	}
	return text, nil
}

var (
	spreadsheetError = regexp.MustCompile(`^#[^0-9 ]+(/0)?[!?]$|^#(N/[A-Z]|NV)$|^Err:[0-9]{3}$`) // in any language
	shortenedID      = regexp.MustCompile(`^[0-9]([.,][0-9]{1,14})?[Ee]\+[0-9]{1,3}$`)
)

// isSpreadsheetError looks at the first letter before it matches the whole cell, because it is asked of every cell.
func isSpreadsheetError(cell string) bool {
	return (strings.HasPrefix(cell, "#") || strings.HasPrefix(cell, "E")) && spreadsheetError.MatchString(cell)
}

// maxIDLength is the maximum number of characters of an id at the gateway.
const maxIDLength = 128

func (l *lineReader) readCurrency(text string) (string, error) {
	if text == "" {
		text = l.Currency
	}
	text = strings.ToUpper(text)
	if len(text) != 3 || !ascii.IsUpper(text) {
		return "", errors.New("is not a currency code of three letters, such as EUR")
	}
	return text, nil
}

// stateWords maps the words for states in lists to the states.
var stateWords = map[string]string{
	"approved": StateApproved, "paid": StateApproved, "success": StateApproved, "successful": StateApproved, "succeeded": StateApproved,
	"captured": StateApproved, "completed": StateApproved, "settled": StateApproved, "100": StateApproved,
	"declined": StateDeclined, "failed": StateDeclined, "refused": StateDeclined, "rejected": StateDeclined, "101": StateDeclined,
	"processing": StateProcessing, "pending": StateProcessing, "open": StateProcessing, "102": StateProcessing,
	"redirect": StateRedirect, "301": StateRedirect,
	"unknown": StateUnknown,
}

// refundWords are further words for states of refunds. Of a payment they can mean something else.
var refundWords = map[string]string{"refunded": StateApproved, "accepted": StateProcessing}

func (l *lineReader) readState(text string) (string, error) {
	word := strings.ToLower(text)
	if state, ok := l.States[word]; ok {
		return state, nil
	}
	if state, ok := stateWords[word]; ok {
		return state, nil
	}
	if state, ok := refundWords[word]; ok && l.Kind == Refund {
		return state, nil
	}
	if word == "" {
		return "", errors.New("is empty; say what that means, such as --states =approved")
	}
	return "", fmt.Errorf("is not a state; say what your word means with --states, such as --states bezahlt=approved,storniert=declined, or ignore the column with %s state=",
		l.ColumnsFlag)
}

// IsState reports whether a text is the name of a state.
func IsState(name string) bool {
	return slices.Contains([]string{StateApproved, StateDeclined, StateProcessing, StateRedirect, StateUnknown}, name)
}
