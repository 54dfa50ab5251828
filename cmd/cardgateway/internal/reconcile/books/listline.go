package books

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/shopspring/decimal"
)

// lineReader converts the lines of a list to database rows.
type lineReader struct {
	ListSource // with a zone
	listTable
	at      []int // of each understood column, its index in a line, or -1 if there is none
	width   int   // number of columns of the list
	layouts []timeLayout
	counts  map[string]int // lines by the word of their state, in lower case
}

// read converts a line. An Unreadable does not quote cells, because they may contain anything.
func (l *lineReader) read(line int, cells []string) (record, *Unreadable) {
	bad := func(column, format string, args ...any) (record, *Unreadable) {
		order := slices.IndexFunc(l.understood, func(c listColumn) bool { return c.name == "order" })
		return nil, &Unreadable{Line: line, ID: l.id(0, cells), Order: l.id(order, cells), Column: column, Why: fmt.Sprintf(format, args...)}
	}
	if len(cells) < l.width || len(cells) > l.width && strings.Join(cells[l.width:], "") != "" {
		return bad("", "has %d cells, but the first line has %d columns; a text or an amount that contains the separator must be in quotation marks",
			len(cells), l.width)
	}
	row := append(make(record, 0, len(l.understood)+2), int64(line)) // the line, and until after at
	word, hasState := "", false
	for i, column := range l.understood {
		text := ""
		if at := l.at[i]; at >= 0 {
			text = strings.TrimSpace(cells[at])
			if column.name == "state" {
				word, hasState = strings.ToLower(text), true
			}
		}
		value, err := l.value(column, text)
		if err != nil {
			return bad(column.name, "%s", err)
		}
		if at, ok := value.(timeRange); ok {
			start := any(micro(at.start))
			end := start
			if !at.end.Equal(at.start) {
				end = micro(at.end)
			}
			row = append(row, start, end)
			continue
		}
		row = append(row, value)
	}
	if hasState { // one of the words that are known, so there are few
		l.counts[word]++
	}
	return row, nil
}

// id returns the text of a column of ids in a line that cannot be parsed, or "" if there is none or it cannot be parsed either.
func (l *lineReader) id(column int, cells []string) string {
	if l.at[column] < 0 || l.at[column] >= len(cells) {
		return ""
	}
	id, err := l.value(l.understood[column], strings.TrimSpace(cells[l.at[column]]))
	if err != nil {
		return ""
	}
	return id.(string)
}

// words returns the words for states of the lines that were read, sorted.
func (l *lineReader) words() (words []StateWord) {
	for _, word := range slices.Sorted(maps.Keys(l.counts)) {
		state, _ := l.readState(word) // it was read
		words = append(words, StateWord{word, state, l.counts[word]})
	}
	return words
}

// value parses one cell.
func (l *lineReader) value(column listColumn, text string) (any, error) {
	switch column.name {
	case "amount":
		amount, err := l.parseAmount(text)
		if err == nil && amount.IsNegative() {
			if l.Kind == Payment {
				return nil, errors.New("is negative; if it is a refund, export it to a list of refunds: " + l.Names.Refunds)
			}
			amount = amount.Neg() // many lists write refunds as negative amounts
		}
		return amount.String(), err
	case "order_total":
		if text == "" {
			return "", nil
		}
		total, err := l.parseAmount(text)
		if err == nil && total.IsNegative() {
			err = errors.New("is negative")
		}
		return total.String(), err
	case "currency":
		return l.readCurrency(text)
	case "state":
		return l.readState(text)
	case "at":
		return l.readTime(text)
	}
	switch {
	case text == "" && column.required:
		return nil, errors.New("is empty")
	case !utf8.ValidString(text):
		return nil, errors.New("is not UTF-8")
	case utf8.RuneCountInString(text) > longestID:
		return nil, fmt.Errorf("has more than %d characters", longestID)
	case strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r == 0x7f }):
		return nil, errors.New("contains a control character")
	}
	return text, nil
}

// longestID is the maximum number of characters of an id at the gateway.
const longestID = 128

var (
	pointAmount = regexp.MustCompile(`^-?[0-9]{1,15}(\.[0-9]{1,6})?$`)
	commaAmount = regexp.MustCompile(`^-?([0-9]{1,15}|[0-9]{1,3}(\.[0-9]{3}){1,4})(,[0-9]{1,6})?$`)
)

// parseAmount parses an amount. A comma can be a decimal or a thousands separator, so it is rejected without decimalComma.
func (s *ListSource) parseAmount(text string) (decimal.Decimal, error) {
	switch {
	case text == "":
		return decimal.Decimal{}, errors.New("is empty")
	case s.DecimalComma && commaAmount.MatchString(text):
		text = strings.ReplaceAll(strings.ReplaceAll(text, ".", ""), ",", ".")
	case s.DecimalComma:
		return decimal.Decimal{}, errors.New("is not an amount with a decimal comma, such as 12,50 or 1.234,50")
	case strings.Contains(text, ","):
		return decimal.Decimal{}, errors.New("has a comma; write 1234.50, or use " + s.Names.DecimalComma + " for amounts such as 1.234,50")
	case !pointAmount.MatchString(text):
		return decimal.Decimal{}, errors.New("is not an amount; write 1234.50, without a currency symbol and with at most 15 digits before and 6 after the point")
	}
	return decimal.NewFromString(text)
}

var currencyPattern = regexp.MustCompile(`^[A-Z]{3}$`)

func (l *lineReader) readCurrency(text string) (string, error) {
	if text == "" {
		text = l.Currency
	}
	text = strings.ToUpper(text)
	if !currencyPattern.MatchString(text) {
		return "", errors.New("is not a currency code of three letters, such as EUR")
	}
	return text, nil
}

// stateWords maps the words for states in lists to the states.
var stateWords = map[string]string{
	"": StateApproved, "approved": StateApproved, "paid": StateApproved, "success": StateApproved, "successful": StateApproved, "succeeded": StateApproved,
	"captured": StateApproved, "completed": StateApproved, "settled": StateApproved, "100": StateApproved,
	"declined": StateDeclined, "failed": StateDeclined, "refused": StateDeclined, "rejected": StateDeclined, "101": StateDeclined,
	"processing": StateProcessing, "pending": StateProcessing, "open": StateProcessing, "102": StateProcessing,
	"redirect": StateRedirect, "301": StateRedirect,
	"unknown": StateUnknown,
}

func (l *lineReader) readState(text string) (string, error) {
	word := strings.ToLower(text)
	if state, ok := l.States[word]; ok {
		return state, nil
	}
	if state, ok := stateWords[word]; ok {
		return state, nil
	}
	return "", fmt.Errorf("is not a state; say what your word means with %[1]s, such as %[1]s bezahlt=approved,storniert=declined, or ignore the column with %[2]s state=",
		l.Names.States, l.Names.Columns)
}

// IsState reports whether a text is the name of a state.
func IsState(name string) bool {
	return slices.Contains([]string{StateApproved, StateDeclined, StateProcessing, StateRedirect, StateUnknown}, name)
}
