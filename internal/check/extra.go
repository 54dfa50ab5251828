package check

import (
	"bytes"
	"encoding/json"
	"reflect"
	"regexp"
	"unicode/utf8"

	"github.com/shopspring/decimal"
)

// maxNumber is the longest number in a member that the interface does not define, in characters.
const maxNumber = 128

// ExtraValue returns a member that the interface does not define as JSON. Without a limit, a decimal with a large exponent would fill
// the memory when it is written. No message quotes the value.
func (v *Violations) ExtraValue(name string, value any) (encoded []byte, ok bool) {
	values := maxValues
	if !fits(reflect.ValueOf(value), &values) {
		v.Add(name, RuleRange, "has a number of more than %d digits, or more than %d values", maxNumber, maxValues)
		return nil, false
	}
	encoded, err := json.Marshal(value)
	if err != nil || !utf8.Valid(encoded) || replaced.Match(encoded) {
		v.Add(name, RuleFormat, "cannot be encoded as JSON, or has a text that is not valid UTF-8")
		return nil, false
	}
	numbers := json.NewDecoder(bytes.NewReader(encoded))
	numbers.UseNumber()
	for token, err := numbers.Token(); err == nil; token, err = numbers.Token() {
		if n, isNumber := token.(json.Number); isNumber && len(n) > maxNumber {
			v.Add(name, RuleRange, "has a number of more than %d digits", maxNumber)
			return nil, false
		}
	}
	return encoded, true
}

// replaced matches what encoding/json writes for bytes that are not UTF-8. It would be sent instead of what was given.
var replaced = regexp.MustCompile(`(^|[^\\])(\\\\)*\\ufffd`)

// maxValues limits how much of a value is searched. A value that contains itself has no end.
const maxValues = 1 << 16

var decimalType = reflect.TypeFor[decimal.Decimal]()

// fits reports whether no decimal within a value is too long, and the value has at most so many others.
func fits(value reflect.Value, left *int) bool {
	if *left--; *left < 0 {
		return false
	}
	if value.Kind() == reflect.Struct && value.Type().ConvertibleTo(decimalType) {
		if exp := value.FieldByName("exp").Int(); exp <= -maxNumber || exp >= maxNumber {
			return false
		}
		if !value.CanInterface() { // a type of the merchant keeps it to itself: its digits are those that it has
			return true
		}
		d := value.Convert(decimalType).Interface().(decimal.Decimal)
		return d.NumDigits()+max(int(d.Exponent()), 0) <= maxNumber
	}
	switch value.Kind() {
	case reflect.Pointer, reflect.Interface:
		return value.IsNil() || fits(value.Elem(), left)
	case reflect.Struct:
		for i := range value.NumField() {
			if !fits(value.Field(i), left) {
				return false
			}
		}
	case reflect.Map:
		for entries := value.MapRange(); entries.Next(); {
			if !fits(entries.Key(), left) || !fits(entries.Value(), left) {
				return false
			}
		}
	case reflect.Slice, reflect.Array:
		if value.Type().Elem().Kind() == reflect.Uint8 {
			return true
		}
		for i := range value.Len() {
			if !fits(value.Index(i), left) {
				return false
			}
		}
	}
	return true
}
