package cardgateway

import (
	"bytes"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/shopspring/decimal"
)

// The methods in this file read the value of one member each. They report false, and store a zero at most, if it has
// the wrong form; a null is as good as a missing member. Numbers are accepted as text and texts as numbers.

// Widths on reading. They are the interface's, or the widest published ones: an answer is read more generously than
// a request is written.
const (
	maxReadID      = 255 // transactionId in answers
	maxReadLink    = 2048
	maxCodeDigits  = 9
	maxCountDigits = 15 // fits an int64 of milliseconds, and any count
)

// scalar is the text of a string or the digits of a number, valid until the next value is read.
type scalar struct {
	text  []byte
	null  bool // also the empty text, which gateways send for "nothing"
	whole bool // valid UTF-8 without half surrogates
}

// scalar reads a value that can be taken as text. It reports false for truth values, objects and arrays.
func (r *reader) scalar() (scalar, bool) {
	if r.peek() == '"' {
		return r.stringScalar(), true
	}
	switch v := r.value(); v.kind {
	case kindNull:
		return scalar{null: true}, true
	case kindNumber:
		return scalar{text: v.raw, whole: true}, true
	}
	return scalar{}, false
}

func (r *reader) stringScalar() scalar {
	if text, ok := r.plainString(); ok {
		return scalar{text: text, null: len(text) == 0, whole: true}
	}
	v := r.stringValue()
	s := scalar{text: v.raw, null: len(v.raw) == 0, whole: true}
	if v.escaped {
		r.texts.scratch, s.whole = appendUnescaped(r.texts.scratch[:0], v.raw)
		s.text = r.texts.scratch
	}
	if !v.ascii {
		s.whole = s.whole && utf8.Valid(s.text)
	}
	return s
}

// valid returns the text with what is not valid UTF-8 in it replaced.
func (s *scalar) valid() []byte {
	if s.whole {
		return s.text
	}
	return bytes.ToValidUTF8(s.text, []byte("\uFFFD"))
}

// text reads a text of any content.
func (r *reader) text(dst *string) bool {
	s, ok := r.scalar()
	if ok && !s.null {
		r.texts.add(dst, s.valid())
	}
	return ok
}

// message reads a text of the gateway's own words, in which runs of digits as long as a card number are masked.
func (r *reader) message(dst *string) bool {
	s, ok := r.scalar()
	if ok && !s.null {
		text := s.valid()
		if countDigits(text) >= shortestMasked {
			text = []byte(maskDigits(string(text)))
		}
		r.texts.add(dst, text)
	}
	return ok
}

// countDigits is the quick look before a text is searched for card numbers.
func countDigits(text []byte) (n int) {
	for _, c := range text {
		if isDigit(c) {
			n++
		}
	}
	return n
}

// id reads an identifier, which is compared byte for byte and therefore must be whole.
func (r *reader) id(dst *string) bool {
	s, ok := r.scalar()
	if !ok || s.null {
		return ok
	}
	if !s.whole || len(s.text) > maxReadID*utf8.UTFMax || utf8.RuneCount(s.text) > maxReadID {
		return false
	}
	r.texts.add(dst, s.text)
	return true
}

// digitID reads an identifier of digits only: as an element of a path, other text could name another endpoint.
func (r *reader) digitID(dst *string) bool {
	s, ok := r.scalar()
	if !ok || s.null {
		return ok
	}
	if !isUniqueID(s.text) {
		return false
	}
	r.texts.add(dst, s.text)
	return true
}

func isUniqueID[T ~string | ~[]byte](s T) bool { return len(s) <= maxID && allDigits(s) }

func (r *reader) appID(dst *AppID) bool {
	s, ok := r.scalar()
	if !ok || s.null {
		return ok
	}
	if len(s.text) > maxAppID || !allDigits(s.text) {
		return false
	}
	r.texts.add((*string)(dst), s.text)
	return true
}

func (r *reader) link(dst *string) bool {
	s, ok := r.scalar()
	if !ok || s.null {
		return ok
	}
	if !s.whole || len(s.text) > maxReadLink || !isLink(string(s.text)) {
		return false
	}
	r.texts.add(dst, s.text)
	return true
}

// maskedNumber reads a masked card number, and masks it if it is not.
func (r *reader) maskedNumber(dst *MaskedCardNumber) bool {
	s, ok := r.scalar()
	if !ok || s.null {
		return ok
	}
	if !s.whole || len(s.text) > maxReadID {
		return false
	}
	if countDigits(s.text) > 10 {
		s.text = []byte(maskCardNumber(onlyDigits(string(s.text))))
	}
	r.texts.add((*string)(dst), s.text)
	return true
}

// integer reads a whole number of at most the given digits, without sign or leading zeros, so that no other text can
// pass for it.
func (r *reader) integer(maxDigits int) (n int64, null, ok bool) {
	s, ok := r.scalar()
	if !ok || s.null {
		return 0, true, ok
	}
	if len(s.text) > maxDigits || !allDigits(s.text) || len(s.text) > 1 && s.text[0] == '0' {
		return 0, false, false
	}
	for _, c := range s.text {
		n = n*10 + int64(c-'0')
	}
	return n, false, true
}

func (r *reader) code(dst *Code) bool {
	n, _, ok := r.integer(maxCodeDigits)
	*dst = Code(n)
	return ok
}

func (r *reader) count(dst *int) bool {
	ok, _ := r.countSaid(dst)
	return ok
}

// countSaid is count for a member of which it matters whether it was there at all.
func (r *reader) countSaid(dst *int) (ok, said bool) {
	n, null, ok := r.integer(maxCountDigits)
	*dst = int(n)
	return ok, ok && !null
}

// instant reads a time in milliseconds since 1970, up to the year 9999: encoding/json writes no later one.
func (r *reader) instant(dst *time.Time) bool {
	const year10000 = 253402300800000
	n, null, ok := r.integer(maxCountDigits)
	if !ok || null {
		return ok
	}
	if n >= year10000 {
		return false
	}
	*dst = time.UnixMilli(n).UTC()
	return true
}

func (r *reader) wallTime(dst *WallTime) bool {
	s, ok := r.scalar()
	if !ok || s.null {
		return ok
	}
	*dst, ok = parseWallTime(s.text)
	return ok
}

// truth reads a truth value, or one written as text.
func (r *reader) truth(dst *bool) bool {
	ok, _ := r.truthSaid(dst)
	return ok
}

// truthSaid is truth for a member of which it matters whether it was there at all.
func (r *reader) truthSaid(dst *bool) (ok, said bool) {
	switch v := r.value(); v.kind {
	case kindTrue, kindFalse:
		*dst = v.kind == kindTrue
		return true, true
	case kindString:
		if len(v.raw) == 0 {
			return true, false
		}
		*dst = strings.EqualFold(string(v.raw), "true")
		ok = *dst || strings.EqualFold(string(v.raw), "false")
		return ok, ok
	default:
		return v.kind == kindNull, false
	}
}

// amount reads Number(12,3), as text or number. It looks at every byte before it makes a number of them: a hostile
// number costs the decimal package seconds.
func (r *reader) amount(dst *decimal.Decimal) (ok, said bool) {
	s, ok := r.scalar()
	if !ok || s.null {
		return ok, false
	}
	*dst, ok = parseAmount(s.text)
	return ok, ok
}

// parseAmount reads an optional minus, 1 to 12 digits, and optionally a point with 1 to 3 decimals. Decimals are
// kept as they were written.
func parseAmount(text []byte) (decimal.Decimal, bool) {
	number := bytes.TrimPrefix(text, []byte("-"))
	whole, fraction, hasPoint := bytes.Cut(number, []byte("."))
	if len(whole) > maxAmountDigits || !allDigits(whole) ||
		hasPoint && (len(fraction) > maxDecimals || !allDigits(fraction)) {
		return decimal.Decimal{}, false
	}
	var n int64
	for _, c := range number {
		if c != '.' {
			n = n*10 + int64(c-'0')
		}
	}
	if len(number) < len(text) {
		n = -n
	}
	return decimal.New(n, -int32(len(fraction))), true
}

// texts collects the texts of one row, so that they become strings together: one allocation a row.
type texts struct {
	arena   []byte
	pending []pendingText
	scratch []byte // the last text that had escapes
}

// pendingText is a part of the arena and where its string goes.
type pendingText struct {
	dst        *string
	start, end int
}

func (t *texts) add(dst *string, text []byte) {
	start := len(t.arena)
	t.arena = append(t.arena, text...)
	t.pending = append(t.pending, pendingText{dst, start, len(t.arena)})
}

// settle makes the strings and is ready for the next row.
func (t *texts) settle() {
	all := string(t.arena)
	for _, p := range t.pending {
		*p.dst = all[p.start:p.end]
	}
	t.pending = t.pending[:0]
	t.arena = t.arena[:0]
}
