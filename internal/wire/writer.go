package wire

import (
	"bytes"
	"strconv"
	"strings"
	"sync"

	"github.com/shopspring/decimal"
)

// Writer writes a JSON value exactly as requested: members in the order of the calls, amounts with the decimals that they
// have, strings with no escape that JSON does not require.
type Writer struct {
	buf    []byte
	shared *[]byte // origin of buf; nil for a Writer not created by NewWriter
}

// NewWriter returns an empty Writer. Call Release after use, because Writers reuse memory.
func NewWriter() Writer {
	shared := documents.Get().(*[]byte)
	return Writer{*shared, shared}
}

var documents = sync.Pool{New: func() any { return new(make([]byte, 0, usualDocument)) }}

const (
	usualDocument = 2 << 10  // bytes
	maxShared     = 64 << 10 // memory beyond this is not kept
)

// Copy returns a copy of what was written.
func (w *Writer) Copy() []byte { return bytes.Clone(w.buf) }

// Release overwrites what was written and returns the memory. The Writer is empty afterwards.
func (w *Writer) Release() {
	clear(w.buf[:cap(w.buf)])
	if w.shared != nil && cap(w.buf) <= maxShared {
		*w.shared = w.buf[:0]
		documents.Put(w.shared)
	}
	*w = Writer{}
}

// Open starts an object or an array.
func (w *Writer) Open(bracket byte) { w.buf = append(w.buf, bracket) }

// Close ends an object or an array.
func (w *Writer) Close(bracket byte) { w.buf = append(w.buf, bracket) }

// Separate writes a comma, except at the beginning of an object or an array.
func (w *Writer) Separate() {
	if n := len(w.buf); n > 0 && w.buf[n-1] != '{' && w.buf[n-1] != '[' {
		w.buf = append(w.buf, ',')
	}
}

// Name starts a member whose name needs no escapes.
func (w *Writer) Name(member string) {
	w.Separate()
	w.buf = append(w.buf, '"')
	w.buf = append(w.buf, member...)
	w.buf = append(w.buf, '"', ':')
}

// String writes a string member.
func (w *Writer) String(member, s string) {
	w.Name(member)
	w.buf = AppendString(w.buf, s)
}

// Digits writes a string member of digits, without converting them to a Go string, which could not be wiped.
func (w *Writer) Digits(member string, digits []byte) {
	w.Name(member)
	w.buf = append(w.buf, '"')
	w.buf = append(w.buf, digits...)
	w.buf = append(w.buf, '"')
}

// Number writes a number whose digits are given.
func (w *Writer) Number(member, digits string) {
	w.Name(member)
	w.buf = append(w.buf, digits...)
}

// Int writes an integer.
func (w *Writer) Int(member string, n int) {
	w.Name(member)
	w.buf = strconv.AppendInt(w.buf, int64(n), 10)
}

// True writes a member that is true.
func (w *Writer) True(member string) {
	w.Name(member)
	w.buf = append(w.buf, "true"...)
}

// Decimal writes a decimal as a string with exactly the decimals that it has.
func (w *Writer) Decimal(member string, d decimal.Decimal) {
	w.Name(member)
	w.buf = append(w.buf, '"')
	w.buf = AppendDecimal(w.buf, d)
	w.buf = append(w.buf, '"')
}

// Raw writes a member with any name, and a value that is already JSON.
func (w *Writer) Raw(member string, value []byte) {
	w.Separate()
	w.buf = append(AppendString(w.buf, member), ':')
	w.buf = append(w.buf, value...)
}

// AppendString appends s as a JSON string. It escapes only what JSON requires, so URLs stay readable.
func AppendString(buf []byte, s string) []byte {
	buf = append(buf, '"')
	start := len(buf)
	buf = append(buf, s...)          // most texts need no escape
	buf = append(buf, `"       `...) // the quote ends the search, and the spaces fill eight bytes
	end := plainPrefix(buf, start)
	if end == start+len(s) {
		return buf[:end+1]
	}
	return append(appendEscaped(buf[:end], s[end-start:]), '"')
}

// appendEscaped checks every byte of s.
func appendEscaped(buf []byte, s string) []byte {
	const hex = "0123456789abcdef"
	start := 0 // of what has not been copied
	for i := range len(s) {
		c := s[i]
		if c >= 0x20 && c != '"' && c != '\\' {
			continue
		}
		buf = append(buf, s[start:i]...)
		if c < 0x20 {
			buf = append(buf, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		} else {
			buf = append(buf, '\\', c)
		}
		start = i + 1
	}
	return append(buf, s[start:]...)
}

// AppendDecimal appends the digits of d with exactly as many decimals as it has, never with an exponent. It uses the
// coefficient and not String, whose format depends on variables of the decimal package that a host program may have
// changed.
func AppendDecimal(buf []byte, d decimal.Decimal) []byte {
	if d.Sign() < 0 {
		buf = append(buf, '-')
	}
	exp := int(d.Exponent())
	var digits []byte
	if n := d.NumDigits(); n < 19 { // fits an int64
		coefficient := d.CoefficientInt64()
		digits = strconv.AppendInt(make([]byte, 0, 24), max(coefficient, -coefficient), 10)
	} else {
		coefficient := d.Coefficient()
		digits = coefficient.Abs(coefficient).Append(nil, 10)
	}
	if exp >= 0 {
		buf = append(buf, digits...)
		if d.Sign() != 0 {
			buf = append(buf, strings.Repeat("0", exp)...)
		}
		return buf
	}
	whole := len(digits) + exp
	if whole <= 0 {
		buf = append(buf, '0', '.')
		buf = append(buf, strings.Repeat("0", -whole)...)
		return append(buf, digits...)
	}
	buf = append(buf, digits[:whole]...)
	buf = append(buf, '.')
	return append(buf, digits[whole:]...)
}
