package cardgateway

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math/bits"
	"sync"
	"unicode/utf16"
	"unicode/utf8"
)

// reader reads one JSON value in one pass, more strictly than encoding/json: names match exactly, no name may come
// twice in an object, nothing may follow the value, and depth, members and numbers are bounded. The first fault is
// kept in err; from then on every method returns zero values, so that callers check err once, at the end.
type reader struct {
	data  []byte
	pos   int
	depth int
	err   error
	names [][]byte // of the members seen so far, of all the objects being read
	texts texts

	spare       []optionalParts // made and not used yet
	partsAtOnce int
}

// Bounds on an answer's JSON, beyond which it is refused before anything expensive happens.
const (
	maxDepth   = 32  // nested objects and arrays
	maxMembers = 256 // of one object; also bounds the search for a repeated name
	maxNumber  = 128 // characters of a number; the longest documented one has 32
)

var (
	errSyntax   = errors.New("is not one whole JSON value")
	errDepth    = errors.New("is nested too deep")
	errMembers  = errors.New("has too many members")
	errRepeated = errors.New("repeats a member")
	errNumber   = errors.New("has a number that is too long")
)

// readers keeps readers that have been released, for their working memory. They hold nothing of what they read.
var readers = sync.Pool{New: func() any {
	return &reader{
		names: make([][]byte, 0, 24),
		texts: texts{arena: make([]byte, 0, 512), pending: make([]pendingText, 0, 32)},
	}
}}

// newReader returns a reader of data with room for a usual object. Release it when all is read.
func newReader(data []byte) *reader {
	r := readers.Get().(*reader)
	r.data = data
	return r
}

// release gives the reader back, emptied. Nothing that was read points into it.
func (r *reader) release() {
	const usual = 4096 // an answer that needed more memory than this is rare, and its reader is dropped
	if cap(r.names)+cap(r.texts.arena) > usual {
		return
	}
	names, arena, pending := r.names[:cap(r.names)], r.texts.arena[:cap(r.texts.arena)], r.texts.pending[:cap(r.texts.pending)]
	clear(names)
	clear(arena)
	clear(pending)
	*r = reader{names: names[:0], texts: texts{arena: arena[:0], pending: pending[:0]}}
	readers.Put(r)
}

// finish reports what was wrong with the document, a value after the first one included.
func (r *reader) finish() error {
	if r.peek(); r.pos < len(r.data) {
		r.fail(errSyntax)
	}
	return r.err
}

func (r *reader) fail(err error) {
	if r.err == nil {
		r.err = err
	}
	r.pos = len(r.data)
}

// peek returns the next byte that is not white space, or 0 at the end.
func (r *reader) peek() byte {
	for ; r.pos < len(r.data); r.pos++ {
		switch c := r.data[r.pos]; c {
		case ' ', '\t', '\n', '\r':
		default:
			return c
		}
	}
	return 0
}

// accept consumes c if it comes next.
func (r *reader) accept(c byte) bool {
	if r.peek() != c {
		return false
	}
	r.pos++
	return true
}

// members reads an object, for use with range: after each name the loop's body must read exactly the value.
// The name is valid until the object ends.
func (r *reader) members(yield func(name []byte) bool) {
	if r.enter('{') {
		first := len(r.names)
		r.eachMember(first, yield)
		r.names = r.names[:first]
		r.depth--
	}
}

func (r *reader) eachMember(first int, yield func(name []byte) bool) {
	var seen uint64 // one bit per name, a quick way to see that a name is new
	for !r.accept('}') && r.err == nil {
		if len(r.names) > first && !r.accept(',') {
			r.fail(errSyntax)
			return
		}
		name := r.name()
		if r.err != nil {
			return
		}
		bit := uint64(1) << ((len(name)*7 + int(name[0]) + int(name[len(name)-1])*3) & 63)
		if seen&bit != 0 && contains(r.names[first:], name) {
			r.fail(errRepeated)
			return
		}
		if len(r.names)-first == maxMembers {
			r.fail(errMembers)
			return
		}
		seen |= bit
		r.names = append(r.names, name)
		if !yield(name) {
			return
		}
	}
}

func contains(names [][]byte, name []byte) bool {
	for _, n := range names {
		if bytes.Equal(n, name) {
			return true
		}
	}
	return false
}

// name reads a member's name and its colon. A name with escapes is unescaped, so that it cannot hide a repetition.
func (r *reader) name() []byte {
	if r.peek() != '"' {
		r.fail(errSyntax)
		return nil
	}
	name, ok := r.plainString()
	if !ok {
		v := r.stringValue()
		name, ok = v.raw, true
		if v.escaped {
			name, ok = appendUnescaped(nil, v.raw)
		}
		ok = ok && utf8.Valid(name)
	}
	if !ok || len(name) == 0 || !r.accept(':') {
		r.fail(errSyntax)
	}
	return name
}

// elements reads an array, for use with range: for each index the loop's body must read exactly the element.
func (r *reader) elements(yield func(i int) bool) {
	if !r.enter('[') {
		return
	}
	for i := 0; !r.accept(']') && r.err == nil; i++ {
		if i > 0 && !r.accept(',') {
			r.fail(errSyntax)
			return
		}
		if !yield(i) {
			break
		}
	}
	r.depth--
}

func (r *reader) enter(open byte) bool {
	if !r.accept(open) {
		r.fail(errSyntax)
		return false
	}
	if r.depth++; r.depth > maxDepth {
		r.fail(errDepth)
		return false
	}
	return true
}

// value is one JSON value as it stands in the document.
type value struct {
	kind    kind
	raw     []byte // of a string, what is between the quotes
	escaped bool   // a string has escapes
	ascii   bool   // a string has ASCII bytes only
}

type kind byte

const (
	kindNone kind = iota // nothing, after a fault
	kindNull
	kindFalse
	kindTrue
	kindNumber
	kindString
	kindComposite // object or array
)

// value reads the next value. Objects and arrays are checked and passed over.
func (r *reader) value() value {
	c := r.peek()
	start := r.pos
	switch {
	case c == '"':
		return r.stringValue()
	case c == '-' || isDigit(c):
		r.passNumber()
		return r.since(start, kindNumber)
	case c == '{':
		for range r.members {
			r.value()
		}
		return r.since(start, kindComposite)
	case c == '[':
		for range r.elements {
			r.value()
		}
		return r.since(start, kindComposite)
	case c == 't' && r.passWord("true"):
		return value{kind: kindTrue, raw: r.data[start:r.pos]}
	case c == 'f' && r.passWord("false"):
		return value{kind: kindFalse, raw: r.data[start:r.pos]}
	case c == 'n' && r.passWord("null"):
		return value{kind: kindNull, raw: r.data[start:r.pos]}
	}
	r.fail(errSyntax)
	return value{}
}

func (r *reader) since(start int, k kind) value {
	if r.err != nil {
		return value{}
	}
	return value{kind: k, raw: r.data[start:r.pos]}
}

func (r *reader) passWord(word string) bool {
	if len(r.data)-r.pos < len(word) || string(r.data[r.pos:r.pos+len(word)]) != word {
		return false
	}
	r.pos += len(word)
	return true
}

// passNumber checks the grammar of a JSON number and its length.
func (r *reader) passNumber() {
	d, start := r.data, r.pos
	i := start
	if d[i] == '-' {
		i++
	}
	whole := i
	i = passDigits(d, i)
	ok := i > whole && (i-whole == 1 || d[whole] != '0')
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
		r.fail(errSyntax)
	case i-start > maxNumber:
		r.fail(errNumber)
	}
}

func passDigits(d []byte, i int) int {
	for i < len(d) && isDigit(d[i]) {
		i++
	}
	return i
}

// plainString reads a string without escapes and of ASCII alone, as nearly all are. Of any other it reads nothing.
func (r *reader) plainString() (text []byte, ok bool) {
	start := r.pos + 1
	end := passPlain(r.data, start)
	if end >= len(r.data) || r.data[end] != '"' {
		return nil, false
	}
	r.pos = end + 1
	return r.data[start:end], true
}

// stringValue reads a string up to its closing quote. Escapes are checked here and undone only where the text is
// wanted.
func (r *reader) stringValue() value {
	r.pos++
	start := r.pos
	var escaped bool
	var bits byte
	for i := passPlain(r.data, start); i < len(r.data); i++ {
		switch c := r.data[i]; {
		case c == '"':
			r.pos = i + 1
			return value{kind: kindString, raw: r.data[start:i], escaped: escaped, ascii: bits < utf8.RuneSelf}
		case c == '\\':
			escaped = true
			n := escapeLength(r.data[i:])
			if n == 0 {
				r.fail(errSyntax)
				return value{}
			}
			i += n - 1
		case c < 0x20:
			r.fail(errSyntax)
			return value{}
		default:
			bits |= c
		}
	}
	r.fail(errSyntax)
	return value{}
}

// passPlain passes over ASCII characters that need no look of their own, eight at a time: it returns the index of the
// first quote, backslash, control character or byte beyond ASCII, or that of the last bytes if they are fewer.
func passPlain(d []byte, i int) int {
	const each = 0x0101010101010101
	for ; i+8 <= len(d); i += 8 {
		w := binary.LittleEndian.Uint64(d[i:])
		quote, backslash := w^('"'*each), w^('\\'*each)
		// A byte's top bit is set where w is below 0x20 or one of the others is 0, or, after such a byte, by a borrow.
		found := (w - 0x20*each) | (quote - each) | (backslash - each) | w
		if found &= 0x80 * each; found != 0 {
			return i + bits.TrailingZeros64(found)/8
		}
	}
	return i
}

// escapeLength returns the length of the escape that b starts with, or 0 if it is none.
func escapeLength(b []byte) int {
	if len(b) < 2 {
		return 0
	}
	switch b[1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2
	case 'u':
		if _, ok := hex4(b); ok {
			return 6
		}
	}
	return 0
}

// hex4 reads the escape \uXXXX that b starts with.
func hex4(b []byte) (r rune, ok bool) {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return 0, false
	}
	for _, c := range b[2:6] {
		switch {
		case isDigit(c):
			c -= '0'
		case 'a' <= c && c <= 'f':
			c -= 'a' - 10
		case 'A' <= c && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	return r, true
}

// appendUnescaped appends the text of a string; what is no escape in it stays. It reports false if there is half a
// surrogate pair, for which the replacement character is written.
func appendUnescaped(buf, raw []byte) (text []byte, whole bool) {
	whole = true
	for i := 0; i < len(raw); {
		switch {
		case raw[i] != '\\' || escapeLength(raw[i:]) == 0:
			buf = append(buf, raw[i])
			i++
			continue
		case raw[i+1] != 'u':
			buf = append(buf, unescape(raw[i+1]))
			i += 2
			continue
		}
		r, _ := hex4(raw[i:])
		i += 6
		if utf16.IsSurrogate(r) {
			low, ok := hex4(raw[i:])
			if r = utf16.DecodeRune(r, low); ok && r != utf8.RuneError {
				i += 6
			} else {
				r, whole = utf8.RuneError, false
			}
		}
		buf = utf8.AppendRune(buf, r)
	}
	return buf, whole
}

func unescape(c byte) byte {
	switch c {
	case 'b':
		return '\b'
	case 'f':
		return '\f'
	case 'n':
		return '\n'
	case 'r':
		return '\r'
	case 't':
		return '\t'
	}
	return c // a quote, a backslash or a slash
}
