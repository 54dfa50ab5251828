package wire

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/cardgateway/cardgateway-go/internal/ascii"
	"github.com/cardgateway/cardgateway-go/internal/escape"
)

// Reader reads one JSON value in one pass, more strictly than encoding/json: names match exactly, a name must not occur
// twice in an object, nothing may follow the value, and depth, members and numbers are limited. In one thing it is more
// tolerant: a string that is a value may contain control characters.
//
// The first error is kept. From then on every method returns zero values, so callers check it once, at the end, with
// Finish.
type Reader struct {
	data  []byte
	pos   int
	depth int
	err   error
	names [][]byte // of the members read so far, of all open objects
	texts texts

	harmless *harmless // of the rows that were read; nil before the first ReadApart
	apart    bool      // in ReadApart
	repeated error     // in ReadApart: a member was repeated, and skipped
}

// harmless has texts in which nothing is to mask, by their kind and the number of members before them: rows repeat most of theirs, such as
// "Approved".
type harmless [2][32]string

// Limits of a document, checked before anything expensive happens.
const (
	maxDepth   = 32  // nested objects and arrays
	maxMembers = 256 // of one object; also bounds the search for a repeated name
	maxNumber  = 128 // characters of a number; the longest documented one has 32
)

// ErrSyntax says that a document is not JSON. It may have been cut off, or come from something else than the gateway.
var ErrSyntax = errors.New("is not one whole JSON value")

var (
	errDepth    = errors.New("is nested too deeply")
	errMembers  = errors.New("has too many members")
	errRepeated = errors.New("repeats a member")
	errNumber   = errors.New("has a number that is too long")
)

// readers keeps the working memory of released readers. It contains nothing of what they read.
var readers = sync.Pool{New: func() any {
	return &Reader{names: make([][]byte, 0, 24)}
}}

// NewReader returns a Reader of data. Call Release after use.
func NewReader(data []byte) *Reader {
	r := readers.Get().(*Reader)
	r.data = data
	return r
}

// Release returns the reader's memory, emptied. Values that were read do not point into it.
func (r *Reader) Release() {
	const maxNames = 4096 // a document that needed more is rare, and its reader is dropped
	if cap(r.names) > maxNames {
		return
	}
	names := r.names[:cap(r.names)]
	clear(names)
	*r = Reader{names: names[:0]}
	readers.Put(r)
}

// Finish returns what is wrong with the document, including a second value after the first. The error
// continues a sentence: "the response " + err.
func (r *Reader) Finish() error {
	if r.Peek(); r.pos < len(r.data) {
		r.Fail(ErrSyntax)
	}
	return r.err
}

// string returns a text of the document as a string, which does not point into the document.
func (r *Reader) string(text []byte) string { return r.texts.add(text, len(r.data)-r.pos) }

// Fail records an error, unless there is one.
func (r *Reader) Fail(fault error) {
	if r.err == nil {
		r.err = fault
	}
	r.pos = len(r.data)
}

// Failed reports whether there is an error.
func (r *Reader) Failed() bool { return r.err != nil }

// Peek returns the next byte that is not white space, or 0 at the end. Nearly all bytes pass the first comparison.
func (r *Reader) Peek() byte {
	for ; r.pos < len(r.data); r.pos++ {
		if c := r.data[r.pos]; c > ' ' || c != ' ' && c != '\t' && c != '\n' && c != '\r' {
			return c
		}
	}
	return 0
}

// accept consumes c if it comes next.
func (r *Reader) accept(c byte) bool {
	if r.Peek() != c {
		return false
	}
	r.pos++
	return true
}

// Pos returns the current position, for Raw and Rewind.
func (r *Reader) Pos() int { return r.pos }

// Rewind goes back to a position that Pos returned, to read a value a second time.
func (r *Reader) Rewind(pos int) { r.pos = pos }

// Raw returns a copy of the document from pos to the current position, or nil after an error. Control characters in its
// strings are escaped: the copy is JSON for any reader.
func (r *Reader) Raw(pos int) []byte {
	if r.err != nil {
		return nil
	}
	return escapeControls(bytes.TrimSpace(r.data[pos:r.pos]))
}

// escapeControls returns a copy of JSON in which the control characters of strings are escaped.
func escapeControls(raw []byte) []byte {
	plain := make([]byte, 0, len(raw))
	var inString, escaped bool
	for _, c := range raw {
		if inString && c < ' ' {
			plain = fmt.Appendf(plain, `\u%04x`, c)
			continue
		}
		if c == '"' && !escaped {
			inString = !inString
		}
		escaped = c == '\\' && !escaped
		plain = append(plain, c)
	}
	return plain
}

// Remaining returns the number of unread bytes.
func (r *Reader) Remaining() int { return len(r.data) - r.pos }

// Members reads an object, for use with range: after each name the loop's body must read exactly the value.
// The name is valid until the object ends.
func (r *Reader) Members(yield func(name []byte) bool) {
	if r.open('{') {
		first := len(r.names)
		r.eachMember(first, yield)
		r.names = r.names[:first]
		r.depth--
	}
}

func (r *Reader) eachMember(first int, yield func(name []byte) bool) {
	var seen uint64 // a Bloom filter of the names: a name whose bit is not set is new
	for !r.accept('}') && r.err == nil {
		if len(r.names) > first && !r.accept(',') {
			r.Fail(ErrSyntax)
			return
		}
		name := r.name()
		if r.err != nil {
			return
		}
		bit := uint64(1) << ((len(name)*7 + int(name[0]) + int(name[len(name)-1])*3) & 63)
		if seen&bit != 0 && slices.ContainsFunc(r.names[first:], func(known []byte) bool { return bytes.Equal(known, name) }) {
			if !r.apart {
				r.Fail(errRepeated)
				return
			}
			r.repeated = errRepeated
			r.Value()
			continue
		}
		if len(r.names)-first == maxMembers {
			r.Fail(errMembers)
			return
		}
		seen |= bit
		r.names = append(r.names, name)
		if !yield(name) {
			return
		}
	}
}

// name reads a member's name and its colon. A name with escapes is unescaped, so that it cannot hide a repetition.
func (r *Reader) name() []byte {
	if r.Peek() != '"' {
		r.Fail(ErrSyntax)
		return nil
	}
	name, ok := r.plainString()
	if !ok {
		v := r.stringValue()
		name, ok = v.raw, true
		if v.escaped {
			name, ok = escape.AppendJSON(nil, v.raw)
		}
		ok = ok && utf8.Valid(name) && bytes.IndexFunc(v.raw, func(c rune) bool { return c < ' ' }) < 0
	}
	if !ok || len(name) == 0 || !r.accept(':') {
		r.Fail(ErrSyntax)
	}
	return name
}

// Elements reads an array, for use with range: for each index the loop's body must read exactly the element.
func (r *Reader) Elements(yield func(i int) bool) {
	if !r.open('[') {
		return
	}
	for i := 0; !r.accept(']') && r.err == nil; i++ {
		if i > 0 && !r.accept(',') {
			r.Fail(ErrSyntax)
			return
		}
		if !yield(i) {
			break
		}
	}
	r.depth--
}

// open enters an object or an array.
func (r *Reader) open(bracket byte) bool {
	if !r.accept(bracket) {
		r.Fail(ErrSyntax)
		return false
	}
	if r.depth++; r.depth > maxDepth {
		r.Fail(errDepth)
		return false
	}
	return true
}

// ReadApart calls read, which must read exactly one value. If that value breaks a rule, but certainly ends where its brackets
// and quotes end, the error is returned, and reading continues after the value: one bad row does not cost the others. Of a
// repeated member, read gets the first.
func (r *Reader) ReadApart(read func()) error {
	start, depth, names := r.pos, r.depth, len(r.names)
	if r.harmless == nil {
		r.harmless = new(harmless)
	}
	r.apart, r.repeated = true, nil
	read()
	r.apart = false
	if r.err == nil {
		return r.repeated
	}
	fault := r.err
	r.err, r.pos, r.depth, r.names = nil, start, depth, r.names[:names]
	if !r.passBrackets() {
		r.Fail(fault)
	}
	return fault
}

// passBrackets skips a value of which only brackets and quotes are checked, and reports whether it ends with certainty.
func (r *Reader) passBrackets() bool {
	var open []byte // the brackets that close those that are open
	for start := r.pos; r.Peek() != 0; {
		switch c := r.data[r.pos]; c {
		case '{', '[':
			open = append(open, c+2) // in ASCII, a closing bracket is two after its opening one
			r.pos++
		case '}', ']', ',':
			if len(open) == 0 {
				return r.pos > start // of a value without brackets
			}
			if r.pos++; c == ',' {
				continue
			}
			last := len(open) - 1
			if open[last] != c {
				return false
			}
			if open = open[:last]; last == 0 {
				return true
			}
		case '"':
			if !r.passQuotes() {
				return false
			}
		default:
			r.pos++
		}
	}
	return false
}

// passQuotes skips a string. It reports false unless what follows can follow a string: otherwise a quote in the text is not
// escaped, and nobody knows where the text ends.
func (r *Reader) passQuotes() bool {
	for r.pos++; r.pos < len(r.data); r.pos++ {
		switch r.data[r.pos] {
		case '\\':
			r.pos++
		case '"':
			r.pos++
			return strings.IndexByte(":,}]", r.Peek()) >= 0
		}
	}
	return false
}

// Value is one JSON value in the document, valid as long as the document is.
type Value struct {
	Kind    Kind
	raw     []byte // of a string, the part between the quotes
	escaped bool   // a string has escapes
	ascii   bool   // a string has ASCII bytes only
}

// Kind says what a Value is.
type Kind byte

// The kinds of values.
const (
	None Kind = iota // after an error
	Null
	False
	True
	Number
	String
	Composite // an object or an array
)

// Text returns a string without its quotes and escapes, a number or a boolean as written, and "" for any other value.
func (v Value) Text() string {
	switch v.Kind {
	case Number, True, False:
		return string(v.raw)
	case String:
		if v.escaped {
			text, _ := escape.AppendJSON(nil, v.raw)
			return string(text)
		}
		return string(v.raw)
	}
	return ""
}

// Value reads the next value. Objects and arrays are checked and skipped.
func (r *Reader) Value() Value {
	c := r.Peek()
	start := r.pos
	switch {
	case c == '"':
		return r.stringValue()
	case c == '-' || ascii.IsDigit(c):
		r.passNumber()
		return r.since(start, Number)
	case c == '{':
		for range r.Members {
			r.Value()
		}
		return r.since(start, Composite)
	case c == '[':
		for range r.Elements {
			r.Value()
		}
		return r.since(start, Composite)
	case c == 't' && r.passWord("true"):
		return Value{Kind: True, raw: r.data[start:r.pos]}
	case c == 'f' && r.passWord("false"):
		return Value{Kind: False, raw: r.data[start:r.pos]}
	case c == 'n' && r.passWord("null"):
		return Value{Kind: Null, raw: r.data[start:r.pos]}
	}
	r.Fail(ErrSyntax)
	return Value{}
}

func (r *Reader) since(start int, k Kind) Value {
	if r.err != nil {
		return Value{}
	}
	return Value{Kind: k, raw: r.data[start:r.pos]}
}

func (r *Reader) passWord(word string) bool {
	if len(r.data)-r.pos < len(word) || string(r.data[r.pos:r.pos+len(word)]) != word {
		return false
	}
	r.pos += len(word)
	return true
}

// passNumber skips a JSON number and checks its grammar and length.
func (r *Reader) passNumber() {
	d, start := r.data, r.pos
	i := start
	if d[i] == '-' {
		i++
	}
	integer := i
	i = passDigits(d, i)
	ok := i > integer && (i-integer == 1 || d[integer] != '0')
	if i < len(d) && d[i] == '.' {
		fraction := i + 1
		i = passDigits(d, fraction)
		ok = ok && i > fraction
	}
	if i < len(d) && (d[i] == 'e' || d[i] == 'E') {
		i++
		if i < len(d) && (d[i] == '+' || d[i] == '-') {
			i++
		}
		exponent := i
		i = passDigits(d, exponent)
		ok = ok && i > exponent
	}
	r.pos = i
	switch {
	case !ok:
		r.Fail(ErrSyntax)
	case i-start > maxNumber:
		r.Fail(errNumber)
	}
}

func passDigits(d []byte, i int) int {
	for i < len(d) && ascii.IsDigit(d[i]) {
		i++
	}
	return i
}

// plainString reads an ASCII string without escapes, like nearly all strings. If it is another string, it reads nothing.
func (r *Reader) plainString() (text []byte, ok bool) {
	start := r.pos + 1
	end := plainPrefix(r.data, start)
	if end >= len(r.data) || r.data[end] != '"' {
		return nil, false
	}
	r.pos = end + 1
	return r.data[start:end], true
}

// stringValue reads a string up to its closing quote. Escapes are checked here and decoded only when the text is needed.
func (r *Reader) stringValue() Value {
	r.pos++
	start := r.pos
	var escaped bool
	var bits byte // of all bytes, combined by or
	for i := plainPrefix(r.data, start); i < len(r.data); i++ {
		switch c := r.data[i]; {
		case c == '"':
			r.pos = i + 1
			return Value{Kind: String, raw: r.data[start:i], escaped: escaped, ascii: bits < utf8.RuneSelf}
		case c == '\\':
			escaped = true
			n := escape.Length(r.data[i:])
			if n == 0 {
				r.Fail(ErrSyntax)
				return Value{}
			}
			i += n - 1
		default: // also a control character: JSON has them only as escapes, but not every gateway escapes a pasted address
			bits |= c
		}
	}
	r.Fail(ErrSyntax)
	return Value{}
}
