package redact

import (
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/cardgateway/cardgateway-go/internal/ascii"
	"github.com/cardgateway/cardgateway-go/internal/escape"
	"github.com/cardgateway/cardgateway-go/internal/mask"
	"github.com/cardgateway/cardgateway-go/internal/wire"
)

// Mask returns a text with the secrets, card numbers and CVVs masked.
func (s Secrets) Mask(text string) string {
	s.Redact(&text, MinText)
	return mask.CardData(text)
}

// Body returns the first bytes, up to limit, of a response's body as text, masked, and whether there is more. It masks more than
// it returns, because the first part of a secret that is cut in two would not be found.
func (s Secrets) Body(body []byte, limit int) (text string, truncated bool) {
	looked := body[:min(len(body), 2*limit)]
	text = maskText(validUTF8(string(looked)), s.Mask)
	s.Redact(&text, MinText)
	text = mask.Numbers(text)
	end := len(text)
	if len(looked) < len(body) {
		end = max(0, end-limit) // the rest may contain the first part of a secret, however much was masked before
	}
	kept := text[:min(end, limit)]
	return validUTF8(kept), len(kept) < len(text)
}

func validUTF8(text string) string { return strings.ToValidUTF8(text, "\uFFFD") }

// CardNumberMember holds the card number, which a gateway may send unmasked.
const CardNumberMember = "transactionCardNumber"

// Kept returns a member of a response that was not read, as it may be kept: withheld if it is a CVV, or if there is one or a card
// number in its value, at any depth and in any spelling. A card number in its name is masked.
func Kept(name string, value []byte) (shown string, kept json.RawMessage, withheld bool) {
	shown = mask.Kept(name)
	hidden := name == CardNumberMember || mask.IsCVVName(name) && strings.ContainsFunc(escape.JSON(value), unicode.IsNumber)
	if hidden || shown != name || maskText(string(value), mask.Kept) != string(value) {
		return shown, WithheldValue(), true
	}
	return shown, value, false
}

// maskText returns a text as hide shows it: if it is JSON, with its members hidden one by one and not by their spelling.
func maskText(text string, hide func(text string) string) string {
	if !mask.MayHaveCardData(text) {
		return hide(text)
	}
	d := wire.NewReader([]byte(text))
	defer d.Release()
	m := jsonMasker{text: text, hide: hide, Reader: d}
	m.value(false)
	if d.Finish() != nil {
		return hide(text)
	}
	return string(append(m.out, text[m.copied:]...))
}

type jsonMasker struct {
	*wire.Reader
	hide   func(text string) string
	text   string
	out    []byte // nil until something is masked
	copied int    // bytes of text that are in out, or are masked there
}

// value masks the next value. All digits of a hidden one are masked.
func (m *jsonMasker) value(hidden bool) {
	switch m.Peek() {
	case '{':
		named := m.namesCVV(m.members)
		before := m.Pos()
		for name := range m.Members {
			if shown := m.hide(string(name)); shown != string(name) {
				between := m.text[before:m.Pos()] // from the value before: a brace or a comma, and the name
				m.replace(before, m.Pos(), string(wire.AppendString([]byte(between[:strings.IndexAny(between, "{,")+1]), shown))+":")
			}
			m.value(hidden || mask.IsCVVName(string(name)) || named && m.isShort())
			before = m.Pos()
		}
	case '[':
		hidden = hidden || m.isSplit()
		named := m.namesCVV(m.Elements)
		for range m.Elements {
			m.value(hidden || named && m.isShort())
		}
	default:
		start := m.Pos()
		value := m.Value()
		text := value.Text()
		shown := text
		if value.Kind == wire.String {
			shown = maskText(text, m.hide)
		} else if plain := withoutExponent(text); m.hide(plain) != plain {
			shown = m.hide(plain)
		}
		switch {
		case hidden && strings.ContainsFunc(text, unicode.IsNumber):
			m.replace(start, m.Pos(), string(WithheldValue()))
		case shown != text:
			m.replace(start, m.Pos(), string(wire.AppendString(nil, shown)))
		}
	}
}

// namesCVV reports whether one of the values that follow is the name of a CVV, as in {"name":"cvv","value":"918"}. It reads nothing.
func (m *jsonMasker) namesCVV(values func(func(int) bool)) (found bool) {
	start := m.Pos()
	for range values {
		name := m.Value().Text()
		found = found || mask.IsCVVName(name) && !strings.ContainsAny(name, ` {<=:&"`)
	}
	m.Rewind(start)
	return found
}

// maxSplit limits the arrays in which the pieces of one number are looked for, in bytes: a card number has at most 19 digits.
const maxSplit = 1024

// isSplit reports whether the groups of digits of the array that follows, which has nothing else, are to hide as one number. It reads
// nothing.
func (m *jsonMasker) isSplit() bool {
	start := m.Pos()
	m.Value()
	array := m.text[start:m.Pos()]
	m.Rewind(start)
	if len(array) > maxSplit {
		return false
	}
	array = escape.JSON(array)
	if strings.Trim(array, "0123456789[]\", -\t\r\n") != "" {
		return false
	}
	number := strings.Join(strings.FieldsFunc(array, func(c rune) bool { return !unicode.IsDigit(c) }), " ")
	return m.hide(number) != number
}

// members is Members without the names.
func (m *jsonMasker) members(yield func(int) bool) {
	m.Members(func([]byte) bool { return yield(0) })
}

// isShort reports whether the next value has as few digits as a CVV. It reads nothing.
func (m *jsonMasker) isShort() bool {
	start := m.Pos()
	digits := ascii.CountDigits(m.Value().Text())
	m.Rewind(start)
	return 3 <= digits && digits <= 4
}

// withoutExponent returns a number without exponent and point: some programs write a long number as 4.1e+15.
func withoutExponent(number string) string {
	if f, err := strconv.ParseFloat(number, 64); err == nil && strings.ContainsAny(number, ".eE") {
		return strconv.FormatFloat(f, 'f', -1, 64)
	}
	return number
}

func (m *jsonMasker) replace(start, end int, by string) {
	m.out = append(append(m.out, m.text[m.copied:start]...), by...)
	m.copied = end
}

// RequestIDs returns the headers of a response with which the gateway, or a proxy, identifies the request, masked.
func (s Secrets) RequestIDs(header http.Header) http.Header {
	ids := make(http.Header)
	for name, values := range header {
		if slices.Contains(requestIDHeaders, strings.ToLower(name)) {
			for _, value := range values {
				ids.Add(name, s.Mask(value))
			}
		}
	}
	return ids
}

// RequestID returns the request id of a response, masked and at most 128 bytes long, or nothing: of several headers, the first of
// requestIDHeaders.
func (s Secrets) RequestID(header http.Header) string {
	best, id := len(requestIDHeaders), ""
	for name, values := range header {
		if rank := slices.Index(requestIDHeaders, strings.ToLower(name)); rank >= 0 && rank < best && len(values) > 0 && values[0] != "" {
			best, id = rank, values[0]
		}
	}
	if id == "" {
		return ""
	}
	id = s.Mask(id)
	return validUTF8(id[:min(len(id), 128)])
}

// requestIDHeaders are the headers that identify a request, of gateways, proxies and tracing. No other header is kept.
var requestIDHeaders = []string{
	"request-id", "x-request-id", "correlation-id", "x-correlation-id", "trace-id", "x-trace-id", "x-trace", "traceparent", "x-b3-traceid",
	"x-b3-spanid", "uber-trace-id", "x-amzn-requestid", "x-amzn-request-id", "x-amz-request-id", "x-amz-cf-id", "x-amzn-trace-id",
	"x-cloud-trace-context", "x-ms-request-id", "x-azure-ref", "cf-ray", "x-vercel-id", "fly-request-id", "x-kong-request-id",
	"x-envoy-request-id", "x-oss-request-id", "x-log-id", "x-tt-logid", "eagleeye-traceid", "x-transaction-id", "x-fapi-interaction-id",
}
