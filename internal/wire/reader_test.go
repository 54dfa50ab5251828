package wire_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/cardgateway/cardgateway-go/internal/wire"
)

// Texts of errors.
const (
	noFault  = ""
	syntax   = "is not one whole JSON value"
	tooDeep  = "is nested too deeply"
	members  = "has too many members"
	repeated = "repeats a member"
	number   = "has a number that is too long"
)

// check reads a document of any kind and returns its error.
func check(data string) string {
	r := wire.NewReader([]byte(data))
	defer r.Release()
	r.Value()
	if err := r.Finish(); err != nil {
		return err.Error()
	}
	return noFault
}

func object(members int) string {
	var b strings.Builder
	for i := range members {
		fmt.Fprintf(&b, `,"m%d":0`, i)
	}
	return "{" + strings.TrimPrefix(b.String(), ",") + "}"
}

func TestSyntax(t *testing.T) {
	nested := func(n int, open, inner, close string) string {
		return strings.Repeat(open, n) + inner + strings.Repeat(close, n)
	}
	tests := []struct{ name, text, want string }{
		{"null", "null", noFault}, {"true", "true", noFault}, {"false", "false", noFault}, {"zero", "0", noFault}, {"text", `"a"`, noFault},
		{"empty text", `""`, noFault}, {"empty object", "{}", noFault}, {"empty list", "[]", noFault},
		{"white space everywhere", " \t\n\r{ \t\n\r\"a\" \t\n\r: \t\n\r[ \t\n\r1 \t\n\r, \t\n\r2 \t\n\r] \t\n\r, \"b\" : { } } \t\n\r", noFault},
		{"all kinds", `{"a":[1,"x",null,true,false,{"b":-1.5e+3}],"c":{}}`, noFault},

		{"nothing", "", syntax}, {"blank", " \n", syntax}, {"zero byte", "\x00", syntax}, {"zero byte behind", "{}\x00", syntax},
		{"two values", "{}{}", syntax}, {"two values, blank between", "1 2", syntax}, {"text behind", "{}x", syntax}, {"comma behind", "{},", syntax},
		{"byte order mark", "\ufeff{}", syntax}, {"no-break space", "\u00a0{}", syntax}, {"vertical tab", "\v{}", syntax}, {"form feed", "{\f}", syntax},
		{"page", "<html>", syntax}, {"comment", "{/**/}", syntax}, {"single quotes", `{'a':1}`, syntax}, {"bare name", "{a:1}", syntax},

		{"word cut", "nul", syntax}, {"word longer", "nullx", syntax}, {"word in capitals", "True", syntax}, {"word with a letter changed", "fulse", syntax},
		{"word cut at the end", "[tru", syntax}, {"unknown word", "undefined", syntax}, {"NaN", "NaN", syntax}, {"infinity", "Infinity", syntax},

		{"object open", "{", syntax}, {"object without close", `{"a":1`, syntax}, {"object closed as list", `{"a":1]`, syntax}, {"close alone", "}", syntax},
		{"object with comma first", `{,"a":1}`, syntax}, {"object with comma last", `{"a":1,}`, syntax}, {"object without comma", `{"a":1"b":2}`, syntax},
		{"object with two commas", `{"a":1,,"b":2}`, syntax}, {"object without colon", `{"a"1}`, syntax}, {"object without value", `{"a":}`, syntax},
		{"object without value and colon", `{"a"}`, syntax}, {"object with a number as name", `{1:1}`, syntax}, {"object with an empty name", `{"":1}`, syntax},
		{"object with a semicolon", `{"a";1}`, syntax}, {"object with a list's comma", `{"a":1 "b"}`, syntax},
		{"list open", "[", syntax}, {"list without close", "[1", syntax}, {"list closed as object", "[1}", syntax}, {"list close alone", "]", syntax},
		{
			"list with comma first", "[,1]", syntax,
		}, {"list with comma last", "[1,]", syntax}, {"list without comma", "[1 2]", syntax}, {"list with two commas", "[1,,2]", syntax},
		{"list with a colon", "[1:2]", syntax},

		{
			"text open", `"`, syntax,
		}, {"text without end", `"abc`, syntax}, {"long text without end", `"abcdefghijklmnop`, syntax}, {"text ends in a backslash", `"abc\`, syntax},
		{"text ends in an escaped quote", `"abc\"`, syntax}, {"line break in a text", "\"a\nb\"", noFault}, {"zero byte in a text", "\"a\x00b\"", noFault},
		{"last control character in a text", "\"a\x1fb\"", noFault}, {"control character far in a text", "\"abcdefghijklmnopq\x01\"", noFault},
		{"delete in a text", "\"a\x7fb\"", noFault}, {"space in a text", `"a b"`, noFault}, {"other letters in a text", `"é🍰"`, noFault},
		{"bytes that are no UTF-8 in a text", "\"\xff\"", noFault},
		{"every escape", `"\"\\\/\b\f\n\r\t\u0041\uD83C\uDF70\uabCD"`, noFault}, {"half surrogate pair", `"\ud800"`, noFault},
		{
			"unknown escape", `"\x41"`, syntax,
		}, {"escape of a capital", `"\N"`, syntax}, {"escape of a digit", `"\0"`, syntax}, {"escape without digits", `"\u"`, syntax},
		{"escape with three digits", `"\u004"`, syntax}, {"escape with another letter", `"\u004g"`, syntax}, {"escape with a sign", `"\u+041"`, syntax},
		{
			"escape with a slash as digit", `"\u004/"`, syntax,
		}, {"escape with an at as digit", `"\u004@"`, syntax}, {"escape with a backquote as digit", "\"\\u004`\"", syntax},
		{
			"escape with a capital G", `"\u004G"`, syntax,
		}, {"escape with a colon", `"\u004:"`, syntax}, {"escape of a capital U", `"\U0041"`, syntax}, {"escape at the end", `"\u0041`, syntax},

		{
			"negative", "-1", noFault,
		}, {"negative zero", "-0", noFault}, {"fraction", "1.5", noFault}, {"fraction of zero", "0.5", noFault}, {"exponent", "1e5", noFault},
		{
			"capital exponent", "1E5", noFault,
		}, {"signed exponents", "[1e+5,1e-5]", noFault}, {"exponent of zero", "0e0", noFault}, {"exponent with zeros", "1e007", noFault},
		{"everything in a number", "-10.50e-07", noFault},
		{"plus", "+1", syntax}, {"minus alone", "-", syntax}, {"two minuses", "--1", syntax}, {"minus and text", "-a", syntax}, {"leading zero", "01", syntax},
		{
			"leading zero, negative", "-01", syntax,
		}, {"two zeros", "00", syntax}, {"point first", ".5", syntax}, {"point last", "5.", syntax}, {"minus and point", "-.5", syntax},
		{"point and exponent", "5.e1", syntax}, {"two points", "1.2.3", syntax}, {"exponent alone", "e5", syntax}, {"exponent without digits", "1e", syntax},
		{
			"exponent with a sign alone", "1e+", syntax,
		}, {"exponent with two signs", "1e+-5", syntax}, {"exponent with a fraction", "1e5.5", syntax}, {"hex", "0x1", syntax},
		{"separator", "1_000", syntax}, {"other digits", "١", syntax},

		{
			"a name twice", `{"a":1,"a":2}`, repeated,
		}, {"a name twice, later", `{"a":1,"b":2,"c":3,"a":4}`, repeated}, {"a name twice, escaped", `{"code":1,"\u0063ode":2}`, repeated},
		{"a name twice, in capitals", `{"a":1,"A":2}`, noFault}, {"a name twice in an inner object", `{"x":{"a":1,"a":2}}`, repeated},
		{"a name twice in a list's object", `[{"a":1},{"a":1,"a":1}]`, repeated}, {"a name in two objects", `[{"a":1},{"a":1},{"b":{"a":1}}]`, noFault},
		{
			"a name inside and again outside", `{"a":{"a":1},"b":1}`, noFault,
		}, {"a name after an inner object that has it", `{"x":{"a":1},"a":2,"y":{"a":1},"a":3}`, repeated},
		{
			"an escaped name", `{"\u0061b":1}`, noFault,
		}, {"a name of other letters", `{"é":1}`, noFault}, {"a name with half a surrogate pair", `{"\ud800":1}`, syntax},
		{
			"a name of an escaped quote", `{"\"":1,"\\":1}`, noFault,
		}, {"a name that is no UTF-8", "{\"\xff\":1}", syntax}, {"a name with a control character", "{\"a\n\":1}", syntax},
		{"a name without end", `{"a`, syntax}, {"a name with a broken escape", `{"\x":1}`, syntax},
		{"a fault after a repetition", `{"a":1,"a":2]`, repeated}, {"a repetition after a fault", `{"a":1,"b":]`, syntax},

		{"32 lists", nested(32, "[", "", "]"), noFault}, {"33 lists", nested(33, "[", "", "]"), tooDeep}, {"32 objects", nested(31, `{"a":`, "{}", "}"), noFault},
		{
			"33 objects", nested(32, `{"a":`, "{}", "}"), tooDeep,
		}, {"33 of both", nested(16, `[{"a":`, "[]", "}]"), tooDeep}, {"half a million lists", strings.Repeat("[", 500_000), tooDeep},
		{
			"many lists beside each other", "[" + strings.Repeat("[],", 1000) + "[{}]]", noFault,
		}, {"many objects beside each other", "[" + strings.Repeat(`{"a":{}},`, 1000) + "[{}]]", noFault},
		{"256 members", object(256), noFault}, {"257 members", object(257), members}, {"256 members twice", "[" + object(256) + "," + object(256) + "]", noFault},
		{
			"256 members inside 256", `{"x":` + object(256) + "," + object(255)[1:], noFault,
		}, {"256 members and a repetition", object(256)[:len(object(256))-1] + `,"m0":0}`, repeated},
		{
			"128 digits", strings.Repeat("1", 128), noFault,
		}, {"129 digits", strings.Repeat("1", 129), number}, {"128 characters", "-1." + strings.Repeat("1", 122) + "e+1", noFault},
		{"129 characters", "-1." + strings.Repeat("1", 123) + "e+1", number}, {"129 characters that are no number", strings.Repeat("1", 128) + ".", syntax},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := check(tt.text); got != tt.want {
				t.Errorf("%s, %.60s: got %q, want %q", tt.name, tt.text, got, tt.want)
			}
			if again := check(tt.text); again != tt.want { // by a reused reader
				t.Errorf("%s, %.60s, read again: got %q, want %q", tt.name, tt.text, again, tt.want)
			}
		})
	}
	t.Logf("%d documents", len(tests))
}

// TestCutDocuments: a document that is cut anywhere is invalid.
func TestCutDocuments(t *testing.T) {
	const whole = `{"a":[1,-2.5e+3,"text \u0041\n é",null,true,false,{"b":{}}],"longer than eight":"longer than eight, too"}`
	if got := check(whole); got != noFault {
		t.Fatalf("the whole: got %q", got)
	}
	for n := range whole {
		if got := check(whole[:n]); got != syntax {
			t.Errorf("cut after %d bytes: got %q", n, got)
		}
	}
}

// TestAfterAFault: after an error every method returns zero values, and the first error stays.
func TestAfterAFault(t *testing.T) {
	r := wire.NewReader([]byte(`[1, x, 2]`))
	defer r.Release()
	var kinds []wire.Kind
	for range r.Elements {
		kinds = append(kinds, r.Value().Kind)
	}
	if want := []wire.Kind{wire.Number, wire.None}; !slices.Equal(kinds, want) || !r.Failed() {
		t.Errorf("got %v, failed %t, want %v", kinds, r.Failed(), want)
	}
	r.Fail(errors.New("a second fault"))
	if v := r.Value(); v.Kind != wire.None || v.Text() != "" {
		t.Errorf("Value: got %v", v)
	}
	if got := r.Raw(0); got != nil {
		t.Errorf("Raw: got %q", got)
	}
	if r.Peek() != 0 || r.Remaining() != 0 {
		t.Errorf("Peek: got %q, %d bytes remain", r.Peek(), r.Remaining())
	}
	for range r.Members {
		t.Error("there are members")
	}
	for range r.Elements {
		t.Error("there are elements")
	}
	if s, ok := r.Scalar(); ok {
		t.Errorf("Scalar: got %q", s.Text)
	}
	if err := r.Finish(); err == nil || err.Error() != syntax {
		t.Errorf("Finish: got %v, want %q", err, syntax)
	}
}

// TestCallersFault: an error recorded by the caller has the same effect as any other.
func TestCallersFault(t *testing.T) {
	own := errors.New("is not wanted")
	r := wire.NewReader([]byte(`{"a":1,"b":2}`))
	defer r.Release()
	names := 0
	for range r.Members {
		names++
		r.Value()
		r.Fail(own)
	}
	if err := r.Finish(); err != own || names != 1 {
		t.Errorf("got %v after %d members, want %v after 1", err, names, own)
	}
}

// TestPlaces: a value can be read twice, and Raw returns a copy of it.
func TestPlaces(t *testing.T) {
	data := []byte(`{ "a" : [1, 2] , "b":"x"}`)
	r := wire.NewReader(data)
	defer r.Release()
	if r.Failed() {
		t.Error("failed at once")
	}
	raw := map[string][]byte{}
	for name := range r.Members {
		start := r.Pos()
		before := r.Remaining()
		first := r.Value()
		end := r.Pos()
		r.Rewind(start)
		if r.Remaining() != before {
			t.Errorf("%s: after Rewind %d bytes remain, want %d", name, r.Remaining(), before)
		}
		if second := r.Value(); second.Kind != first.Kind || r.Pos() != end {
			t.Errorf("%s: read twice: got kind %v up to %d, want %v up to %d", name, second.Kind, r.Pos(), first.Kind, end)
		}
		raw[string(name)] = r.Raw(start)
	}
	if err := r.Finish(); err != nil || r.Remaining() != 0 {
		t.Errorf("got %v, %d bytes remain", err, r.Remaining())
	}
	clear(data)
	if diff := cmp.Diff(map[string][]byte{"a": []byte("[1, 2]"), "b": []byte(`"x"`)}, raw); diff != "" {
		t.Errorf("Raw (-want +got):\n%s", diff)
	}
}

// TestBreaks: after a loop that ends early the reader can be used further.
func TestBreaks(t *testing.T) {
	lists := wire.NewReader([]byte(strings.Repeat("[1", 40)))
	defer lists.Release()
	for range 40 { // each list is left before the next one is entered, so that none is inside another
		for range lists.Elements {
			lists.Value()
			break
		}
	}
	if lists.Failed() {
		t.Errorf("lists that were left count as open: %v", lists.Finish())
	}
	objects := wire.NewReader([]byte(strings.Repeat(`{"a":1`, 40)))
	defer objects.Release()
	for range 40 {
		for range objects.Members {
			objects.Value()
			break
		}
	}
	if objects.Failed() {
		t.Errorf("objects that were left count as open: %v", objects.Finish())
	}
}

func TestValues(t *testing.T) {
	for _, tt := range []struct {
		data string
		kind wire.Kind
		text string
	}{
		{"null", wire.Null, ""}, {"true", wire.True, "true"}, {"false", wire.False, "false"}, {"-1.50e+2", wire.Number, "-1.50e+2"},
		{`"plain"`, wire.String, "plain"}, {`""`, wire.String, ""}, {`"\u0041\n\"é"`, wire.String, "A\n\"é"}, {`"\ud83c\udf70"`, wire.String, "🍰"},
		{`"\ud83cx"`, wire.String, "\ufffdx"}, {`"\udf70\ud83c"`, wire.String, "\ufffd\ufffd"}, {`"\ud83c\u0041"`, wire.String, "\ufffdA"},
		{"[1]", wire.Composite, ""}, {`{"a":1}`, wire.Composite, ""}, {"x", wire.None, ""},
	} {
		t.Run(tt.data, func(t *testing.T) {
			r := wire.NewReader([]byte(tt.data))
			v := r.Value()
			if v.Kind != tt.kind || v.Text() != tt.text {
				t.Errorf("%s: got kind %v with %q, want %v with %q", tt.data, v.Kind, v.Text(), tt.kind, tt.text)
			}
			r.Release()
		})
	}
}

// tree reads any value into the same form as encoding/json.
func tree(r *wire.Reader) any {
	switch r.Peek() {
	case '{':
		object := map[string]any{}
		for name := range r.Members {
			object[string(name)] = tree(r)
		}
		return object
	case '[':
		list := []any{}
		for range r.Elements {
			list = append(list, tree(r))
		}
		return list
	}
	switch v := r.Value(); v.Kind {
	case wire.True, wire.False:
		return v.Kind == wire.True
	case wire.Number:
		return json.Number(v.Text())
	case wire.String:
		return v.Text()
	}
	return nil
}

// refusable reports valid JSON that the reader refuses: depth, members, numbers and names beyond its limits. It reports
// uncertain if encoding/json does not tell what a name was.
func refusable(data []byte) (refused, uncertain bool) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	type level struct {
		names map[string]bool // nil for a list
		name  bool            // a name comes next
	}
	var open []level
	for {
		token, err := d.Token()
		if err != nil {
			return refused, uncertain
		}
		var top *level
		if len(open) > 0 {
			top = &open[len(open)-1]
		}
		if name, ok := token.(string); ok && top != nil && top.name {
			refused = refused || name == "" || top.names[name] || len(top.names) == 256
			uncertain = uncertain || strings.ContainsRune(name, utf8.RuneError)
			top.names[name], top.name = true, false
			continue
		}
		if top != nil && top.names != nil {
			top.name = true
		}
		switch token := token.(type) {
		case json.Number:
			refused = refused || len(token) > 128
		case json.Delim:
			switch token {
			case '{':
				open = append(open, level{names: map[string]bool{}, name: true})
			case '[':
				open = append(open, level{})
			default:
				open = open[:len(open)-1]
			}
			refused = refused || len(open) > 32
		}
	}
}

// FuzzReader: the reader reads the same values as encoding/json, within its limits.
func FuzzReader(f *testing.F) {
	for _, text := range []string{
		`{"a":[1,-2.5e+3,"text \u0041\n é",null,true,false,{"b":{}}],"longer than eight":"longer than eight, too"}`, "[]", `""`, "0", "null", " 1 ", "{} {}",
		`{"a":1,"a":2}`, `{"":1}`, `{"\ud800":1}`, `"\ud83c\udf70\ud83c"`, strings.Repeat("[", 32) + strings.Repeat("]", 32), strings.Repeat("[", 33) + strings.Repeat("]", 33), object(257),
		strings.Repeat("9", 129), "[1,]", "{,}", `"\x"`, "\"\x1f\"", "01", "1.", "-", "1e", "\xff", "\"\xff\"", "tru", `{"a" "b"}`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		fault := check(string(data))
		refused, uncertain := false, false
		given := bytes.Clone(data)
		escaped := withEscapes(data)
		if regexp.MustCompile(`"[^"]*[\x00-\x1f][^"]*"\s*:`).Match(data) {
			return // perhaps in a name
		}
		valid := json.Valid(escaped)
		if valid {
			refused, uncertain = refusable(escaped)
		}
		if want := valid && !refused; (fault == noFault) != want && !uncertain {
			t.Fatalf("%q: got %q, encoding/json takes it: %t, it is beyond a bound: %t", data, fault, valid, refused)
		}
		if fault != noFault {
			return
		}
		r := wire.NewReader(data)
		defer r.Release()
		got := tree(r)
		if err := r.Finish(); err != nil {
			t.Fatalf("%q: read member by member: got %v", data, err)
		}
		if !bytes.Equal(data, given) {
			t.Errorf("%q was changed to %q", given, data)
		}
		if !utf8.Valid(data) {
			return // of which encoding/json replaces each byte
		}
		d := json.NewDecoder(bytes.NewReader(escaped))
		d.UseNumber()
		var want any
		if err := d.Decode(&want); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(want, got) && !uncertain { // cmp.Diff takes twice as long for each level of nested arrays
			t.Errorf("%q: got %#v, encoding/json reads %#v", data, got, want)
		}
	})
}

// withEscapes returns a document with the control characters of its texts escaped, as JSON requires.
func withEscapes(data []byte) []byte {
	texts := regexp.MustCompile(`(?s)"(\\.|[^"\\])*"`)
	return texts.ReplaceAllFunc(data, func(text []byte) []byte {
		return regexp.MustCompile(`(?s)\\.|[\x00-\x1f]`).ReplaceAllFunc(text, func(c []byte) []byte {
			if len(c) > 1 {
				return c // not an escape if a control character follows the backslash
			}
			return fmt.Appendf(nil, `\u%04x`, c[0])
		})
	})
}

// TestControlCharacters: a text is read with the control characters that the gateway did not escape, and Raw is JSON for any reader.
func TestControlCharacters(t *testing.T) {
	for c := range rune(' ') {
		text := "12 Main St" + string(c) + "\"quoted\" é"
		r := wire.NewReader([]byte("{\"address\":\n\"" + strings.ReplaceAll(text, `"`, `\"`) + "\"}"))
		var got string
		var raw []byte
		for range r.Members {
			start := r.Pos()
			if !r.Text(&got) {
				t.Errorf("%q cannot be read", text)
			}
			raw = r.Raw(start)
		}
		if err := r.Finish(); err != nil || got != text {
			t.Errorf("got %q, %v, want %q", got, err, text)
		}
		var back string
		if err := json.Unmarshal(raw, &back); err != nil || back != text {
			t.Errorf("Raw is %s: %v", raw, err)
		}
		r.Release()
	}
}

// TestReadApart: an element that breaks a rule costs only itself, as long as it is certain where it ends.
func TestReadApart(t *testing.T) {
	const deep = 40
	for _, tt := range []struct{ element, want string }{
		{`{"a":1}`, ""},
		{`{"a":1,"b":2,"a":3}`, "repeats a member"},
		{`{"b":{"a":1,"a":{"x":[1,"]"]}},"c":"}"}`, "repeats a member"},
		{`{"b":{"\u0061":1,"a":2}}`, "repeats a member"},
		{strings.Repeat("[", deep) + strings.Repeat("]", deep), "is nested too deeply"},
		{object(300), "has too many members"},
		{`{"a":` + strings.Repeat("9", 200) + `}`, "has a number that is too long"},
		{`{"a":019.50}`, syntax}, {`{"a":NaN}`, syntax}, {`NaN`, syntax}, {`{"a":1,}`, syntax}, {`{"a":"C:\dir"}`, syntax}, {`{a:"}"}`, syntax},
		{`{"a":"say "hi" to"}`, "the document"}, {`{"a":"x"y"}`, "the document"}, {`{"a":[1}`, "the document"}, {`{"a":1`, "the document"}, {``, "the document"},
	} {
		t.Run(tt.element, func(t *testing.T) {
			r := wire.NewReader([]byte(`{"data":[1,` + tt.element + `,{"a":2}],"a":3}`))
			defer r.Release()
			var faults []string
			for range r.Members {
				if r.Peek() != '[' {
					r.Value()
					continue
				}
				for range r.Elements {
					fault := ""
					if err := r.ReadApart(func() { r.Value() }); err != nil {
						fault = err.Error()
					}
					faults = append(faults, fault)
				}
			}
			err := r.Finish()
			if tt.want == "the document" {
				if err == nil {
					t.Errorf("got the elements %q, want an error", faults)
				}
				return
			}
			if diff := cmp.Diff([]string{"", tt.want, ""}, faults); diff != "" || err != nil {
				t.Errorf("%v (-want +got):\n%s", err, diff)
			}
		})
	}
}
