package books

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode"

	"github.com/shopspring/decimal"

	"github.com/cardgateway/cardgateway-go/internal/iso4217"
)

// amountForm is a way in which a list writes amounts. The zero value is that of 1234.50, without anything that could mean something else.
type amountForm struct {
	example string
	pattern *regexp.Regexp // of the digits
	point   string         // before the decimals; empty if there are none
	minor   bool           // amounts are in the smallest unit of their currency
}

var (
	examplePattern = regexp.MustCompile(`^1([.,'’ \x{a0}\x{2009}\x{202f}]?)234(?:([.,])([0-9]{1,6}))?$`)
	plainPattern   = regexp.MustCompile(`^-?[0-9]{1,15}(\.[0-9]{1,6})?$`)
	numberPattern  = regexp.MustCompile(`^-?[0-9]{1,15}(\.[0-9]{1,30})?$`)
)

// amountForm returns the form of the example in Amounts, which is the amount 1234.50 as the list writes it.
func (s *ListSource) amountForm() (amountForm, error) {
	f := amountForm{example: s.Amounts}
	switch {
	case s.Amounts == "":
		return f, nil
	case s.Amounts == "123450":
		f.pattern, f.minor = regexp.MustCompile(`^[0-9]{1,15}$`), true
		return f, nil
	}
	parts := examplePattern.FindStringSubmatch(s.Amounts)
	if parts == nil || parts[1] != "" && parts[1] == parts[2] {
		return f, &Refused{"--amounts", fmt.Sprintf("%q is not a way to write the amount 1234.50; write it as your list does, such as 1,234.50 or 1.234,50 "+
			`or "1 234,50", 1.234 if your amounts have no decimals, or 123450 if they are in cents`, s.Amounts)}
	}
	thousands, decimals := parts[1], ""
	switch thousands {
	case "":
	case ".", ",":
		thousands = "[" + thousands + "]"
	case "'", "’":
		thousands = "['’]"
	default:
		thousands = `[ \x{a0}\x{2009}\x{202f}]`
	}
	if thousands != "" {
		thousands = `|[0-9]{1,3}(?:` + thousands + `[0-9]{2,3}){0,3}` + thousands + `[0-9]{3}` // two digits as in 12,34,567
	}
	if f.point = parts[2]; f.point != "" {
		decimals = `(?:[` + f.point + `][0-9]{1,` + strconv.Itoa(len(parts[3])) + `})?`
	}
	f.pattern = regexp.MustCompile(`^(?:[0-9]{1,15}` + thousands + `)` + decimals + `$`)
	return f, nil
}

// parseAmount parses an amount of a currency, which is empty if it is not known. A number is that of a database or a workbook, which has
// no form.
func (l *lineReader) parseAmount(text, currency string, isNumber bool) (amount decimal.Decimal, err error) {
	f := &l.form
	switch {
	case text == "":
		return amount, errors.New("is empty")
	case isNumber && !numberPattern.MatchString(text):
		return amount, errors.New("is not an amount with at most 15 digits before the point")
	case isNumber && !f.minor && f.example != "":
		return decimal.NewFromString(text)
	case f.example != "":
		return f.parse(text, currency)
	case !isNumber && !plainPattern.MatchString(text):
		return amount, errors.New("is not an amount such as 1234.50; say how your list writes that with --amounts, such as --amounts 1.234,50 or --amounts 1,234.50")
	case !isNumber && isLikeThousands(text):
		return amount, errors.New("can mean thousands, or have three decimals; say how your list writes 1234.50 with --amounts: --amounts 1.234 or --amounts 1234.500")
	}
	amount, err = decimal.NewFromString(text)
	if err == nil && !fits(amount, currency) {
		err = fmt.Errorf("has more decimals than %s; if it is right, say how your list writes 1234.50 with --amounts, with as many decimals", currency)
	}
	return amount, err
}

// isLikeThousands reports whether an amount that matches plainPattern is one such as 1.234, whose point can be that of thousands.
func isLikeThousands(text string) bool {
	digits := strings.TrimPrefix(text, "-")
	point := len(digits) - len(".456")
	return point > 0 && point <= 3 && digits[point] == '.' && digits[0] != '0'
}

// fits reports whether an amount has at most the decimals of its currency.
func fits(amount decimal.Decimal, currency string) bool {
	n, known := iso4217.Decimals(currency)
	return !known || amount.Equal(amount.Truncate(int32(n)))
}

// currencySigns are the signs for currencies in amounts, with the currencies that they can mean.
var currencySigns = map[string]string{
	"€": "EUR", "$": "USD AUD CAD NZD SGD HKD TWD MXN BRL ARS CLP COP", "£": "GBP", "¥": "JPY CNY", "₹": "INR", "₩": "KRW", "₺": "TRY", "₽": "RUB",
	"₪": "ILS", "₫": "VND", "₱": "PHP", "฿": "THB", "US$": "USD", "A$": "AUD", "C$": "CAD", "CA$": "CAD", "R$": "BRL", "HK$": "HKD", "NT$": "TWD",
	"S$": "SGD", "kr": "SEK NOK DKK ISK", "kr.": "SEK NOK DKK ISK", "zł": "PLN", "Kč": "CZK", "Ft": "HUF", "Fr.": "CHF", "lei": "RON",
	"Rs": "INR PKR LKR NPR", "Rs.": "INR PKR LKR NPR",
}

// parse parses an amount with a sign and a currency before or after its digits.
func (f *amountForm) parse(text, currency string) (amount decimal.Decimal, err error) {
	first, last := strings.IndexAny(text, "0123456789"), strings.LastIndexAny(text, "0123456789")
	if first < 0 || !f.pattern.MatchString(text[first:last+1]) {
		return amount, f.refuse()
	}
	isNegative := false
	if first > 0 || last+1 < len(text) {
		if isNegative, err = f.parseSigns(text[:first], text[last+1:], currency); err != nil {
			return amount, err
		}
	}
	whole, decimals := text[first:last+1], ""
	if f.point != "" {
		whole, decimals, _ = strings.Cut(whole, f.point)
	}
	digits := strings.Map(func(r rune) rune {
		if r < '0' || r > '9' {
			return -1
		}
		return r
	}, whole)
	if decimals != "" {
		digits += "." + decimals
	}
	amount, err = decimal.NewFromString(digits)
	if n, known := iso4217.Decimals(currency); f.minor && known {
		amount = amount.Shift(-int32(n))
	} else if f.minor {
		return amount, errors.New("is in the smallest unit of a currency that is not known")
	}
	if isNegative {
		amount = amount.Neg()
	}
	return amount, err
}

// parseSigns parses what stands before and after the digits of an amount.
func (f *amountForm) parseSigns(before, after, currency string) (isNegative bool, err error) {
	around, minus := before+"\n"+after, 0
	sign := strings.TrimSpace(strings.Map(func(r rune) rune {
		switch {
		case r == '-' || r == '\u2212' || r == '(':
			minus++
			return -1
		case r == ')' || r == '+' || unicode.IsSpace(r):
			return -1
		}
		return r
	}, around))
	opened, closed := strings.Count(before, "("), strings.Count(after, ")")
	switch {
	case minus > 1 || opened != closed || strings.Count(around, "(")+strings.Count(around, ")") != 2*opened ||
		strings.Contains(around, "+") && (minus > 0 || strings.Count(around, "+") > 1):
		return false, f.refuse()
	case sign != "" && !strings.EqualFold(sign, currency) && !strings.Contains(currencySigns[sign], currency):
		return false, errors.New("has a sign that is not that of its currency")
	case sign != "" && currency == "":
		return false, f.refuse()
	}
	return minus > 0, nil
}

func (f *amountForm) refuse() error {
	if f.minor {
		return errors.New("is not a whole number of the smallest unit of its currency")
	}
	return fmt.Errorf("is not an amount in the form of %q, with at most as many decimals", f.example)
}
