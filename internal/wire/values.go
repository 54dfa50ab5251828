package wire

import (
	"bytes"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/shopspring/decimal"

	"github.com/cardgateway/cardgateway-go/internal/ascii"
	"github.com/cardgateway/cardgateway-go/internal/escape"
	"github.com/cardgateway/cardgateway-go/internal/mask"
)

// Each method in this file reads the value of one member. If it has the wrong format, the method returns false, and stores
// at most a zero value; a null is treated like a missing member. Numbers are accepted as strings and strings as numbers.

// MaxID is the length limit of identifiers that are read, in characters. The interface has 128 for transactionId; published
// for responses is 255. Reading is more tolerant than writing.
const MaxID = 255

const (
	maxURL         = 2048 // characters of a URL that is read
	maxUniqueID    = 128  // digits
	maxAppID       = 32   // digits; the larger one if two are listed
	maxCodeDigits  = 9    // of a result code; the longest documented one has 3
	maxIntDigits   = 15   // fits an int64 of milliseconds, and any count
	maxAmountWhole = 12   // Number(12,3), in digits before the point
	maxDecimals    = 3
)

// Scalar is the text of a string or a number, valid until the next value is read.
type Scalar struct {
	Text      []byte
	Null      bool // also for the empty string, which gateways send for a missing value
	validUTF8 bool // and without half surrogate pairs
}

// Scalar reads a string, a number or null. It reports false for booleans, objects and arrays.
func (r *Reader) Scalar() (Scalar, bool) {
	if r.Peek() == '"' {
		return r.stringScalar(), true
	}
	switch v := r.Value(); v.Kind {
	case Null:
		return Scalar{Null: true}, true
	case Number:
		return Scalar{Text: v.raw, validUTF8: true}, true
	}
	return Scalar{}, false
}

func (r *Reader) stringScalar() Scalar {
	if text, ok := r.plainString(); ok {
		return Scalar{Text: text, Null: len(text) == 0, validUTF8: true}
	}
	v := r.stringValue()
	s := Scalar{Text: v.raw, Null: len(v.raw) == 0, validUTF8: true}
	if v.escaped {
		r.texts.scratch, s.validUTF8 = escape.AppendJSON(r.texts.scratch[:0], v.raw)
		s.Text = r.texts.scratch
	}
	if !v.ascii {
		s.validUTF8 = s.validUTF8 && utf8.Valid(s.Text)
	}
	return s
}

// sanitized returns the text with invalid UTF-8 replaced.
func (s *Scalar) sanitized() []byte {
	if s.validUTF8 {
		return s.Text
	}
	return bytes.ToValidUTF8(s.Text, []byte("\uFFFD"))
}

// Text reads a string of any content. Card numbers and CVVs are masked.
func (r *Reader) Text(dst *string) bool { return r.masked(dst, mask.Kept, 0) }

// Message reads a text of the gateway. Digits that could be a card number are masked.
func (r *Reader) Message(dst *string) bool { return r.masked(dst, mask.CardData, 1) }

// masked reads a text. In rows, it remembers of each member and kind the last one that masking leaves as it is.
func (r *Reader) masked(dst *string, masked func(string) string, kind int) bool {
	s, ok := r.Scalar()
	if !ok || s.Null {
		return ok
	}
	text := s.sanitized()
	if r.harmless == nil {
		*dst = masked(r.string(text))
		return true
	}
	known := &r.harmless[kind][len(r.names)%len(r.harmless[kind])]
	if *known != string(text) {
		copied := r.string(text)
		if *dst = masked(copied); *dst != copied {
			return true
		}
		*known = copied
	}
	*dst = *known
	return true
}

// ID reads an identifier of at most MaxID characters. It must be valid UTF-8, because it is compared byte by byte.
func (r *Reader) ID(dst *string) bool {
	s, ok := r.Scalar()
	if !ok || s.Null {
		return ok
	}
	if !s.validUTF8 || len(s.Text) > MaxID*utf8.UTFMax || utf8.RuneCount(s.Text) > MaxID {
		return false
	}
	*dst = r.string(s.Text)
	return true
}

// Digits reads an identifier of at most maxDigits characters that are all digits.
func (r *Reader) Digits(dst *string, maxDigits int) bool {
	s, ok := r.Scalar()
	if !ok || s.Null {
		return ok
	}
	if len(s.Text) > maxDigits || !ascii.IsDigits(s.Text) {
		return false
	}
	*dst = r.string(s.Text)
	return true
}

// URL reads an absolute http or https URL; see IsWebURL.
func (r *Reader) URL(dst *string) bool {
	s, ok := r.Scalar()
	if !ok || s.Null {
		return ok
	}
	if !s.validUTF8 || len(s.Text) > maxURL || !IsWebURL(string(s.Text)) {
		return false
	}
	*dst = r.string(s.Text)
	return true
}

// MaskedCardNumber reads a masked card number, and masks it if it is not.
func (r *Reader) MaskedCardNumber(dst *string) bool {
	const visible = 10 // digits of a masked number
	s, ok := r.Scalar()
	if !ok || s.Null {
		return ok
	}
	if !s.validUTF8 || len(s.Text) > MaxID {
		return false
	}
	if escape.HasOtherDigits(s.Text) {
		s.Text = []byte(escape.Narrow(s.Text))
	}
	if ascii.CountDigits(s.Text) > visible {
		s.Text = []byte(mask.CardNumber(mask.OnlyDigits(string(s.Text))))
	}
	*dst = r.string(s.Text)
	return true
}

// Int reads an integer with at most the given number of digits, without sign or leading zeros, so that its text is unique.
// Null is set if the member has no value.
func (r *Reader) Int(maxDigits int) (n int64, null, ok bool) {
	s, ok := r.Scalar()
	if !ok || s.Null {
		return 0, true, ok
	}
	if len(s.Text) > maxDigits || !ascii.IsDigits(s.Text) || len(s.Text) > 1 && s.Text[0] == '0' {
		return 0, false, false
	}
	for _, c := range s.Text {
		n = n*10 + int64(c-'0')
	}
	return n, false, true
}

// Code reads a result code, whose value decides what a response means.
func (r *Reader) Code(dst *int) bool {
	n, _, ok := r.Int(maxCodeDigits)
	*dst = int(n)
	return ok
}

// UniqueID reads the gateway's id of a transaction. It must be digits only: in a path, other text could address another endpoint.
func (r *Reader) UniqueID(dst *string) bool { return r.Digits(dst, maxUniqueID) }

// AppID reads the id of a website app.
func (r *Reader) AppID(dst *string) bool { return r.Digits(dst, maxAppID) }

// Count reads a number of things. It also reports whether the member has a value.
func (r *Reader) Count(dst *int) (ok, said bool) {
	n, null, ok := r.Int(maxIntDigits)
	if int64(int(n)) != n { // on 32 bits
		n, ok = 0, false
	}
	*dst = int(n)
	return ok, ok && !null
}

// Instant reads a time in milliseconds since 1970, up to the year 9999, the limit of encoding/json.
func (r *Reader) Instant(dst *time.Time) bool {
	const year10000 = 253402300800000
	n, null, ok := r.Int(maxIntDigits)
	if !ok || null {
		return ok
	}
	if n >= year10000 {
		return false
	}
	*dst = time.UnixMilli(n).UTC()
	return true
}

// Bool reads a boolean, also one written as a string, as 1 or 0, or as yes or no. It also reports whether the member has a
// value.
func (r *Reader) Bool(dst *bool) (ok, said bool) {
	v := r.Value()
	if v.Kind == Null || v.Kind == String && len(v.raw) == 0 {
		return true, false
	}
	if v.Kind == True || v.Kind == False {
		*dst = v.Kind == True
		return true, true
	}
	switch strings.ToLower(string(v.raw)) {
	case "true", "1", "yes", "y":
		*dst = true
		return true, true
	case "false", "0", "no", "n":
		*dst = false
		return true, true
	}
	return false, false
}

// Amount reads Number(12,3), as a string or a number. It also reports whether the member has a value.
func (r *Reader) Amount(dst *decimal.Decimal) (ok, said bool) {
	s, ok := r.Scalar()
	if !ok || s.Null {
		return ok, false
	}
	*dst, ok = parseAmount(s.Text)
	return ok, ok
}

// parseAmount reads an optional minus, 1 to 12 digits, and optionally a point with 1 to 3 decimals, which are kept as
// written, and then zeros: numeric(12,4) is written as 12.5000. It checks every byte before it creates a decimal: a hostile
// number would cost the decimal package seconds.
func parseAmount(text []byte) (decimal.Decimal, bool) {
	number := bytes.TrimPrefix(text, []byte("-"))
	whole, fraction, hasPoint := bytes.Cut(number, []byte("."))
	if len(text) > maxNumber || len(whole) > maxAmountWhole || !ascii.IsDigits(whole) || hasPoint && !ascii.IsDigits(fraction) {
		return decimal.Decimal{}, false
	}
	if len(fraction) > maxDecimals {
		if len(bytes.TrimRight(fraction, "0")) > maxDecimals {
			return decimal.Decimal{}, false
		}
		fraction = fraction[:maxDecimals]
	}
	var n int64
	for _, digits := range [2][]byte{whole, fraction} {
		for _, c := range digits {
			n = n*10 + int64(c-'0')
		}
	}
	if len(number) < len(text) {
		n = -n
	}
	return decimal.New(n, -int32(len(fraction))), true
}
