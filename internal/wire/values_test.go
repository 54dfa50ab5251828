package wire_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/shopspring/decimal"

	"github.com/cardgateway/cardgateway-go/internal/mask"
	"github.com/cardgateway/cardgateway-go/internal/wire"
)

// read reads one value with a method and returns what it stored, as text: "" if it stored nothing, and "refused" before
// what it stored of a value with the wrong format.
func read(t *testing.T, data string, method func(r *wire.Reader) (stored func() string, ok bool)) string {
	t.Helper()
	r := wire.NewReader([]byte(`[` + data + `,"behind"]`))
	defer r.Release()
	var stored func() string
	var ok bool
	var behind string
	for i := range r.Elements {
		if i == 0 {
			stored, ok = method(r)
		} else {
			behind = r.Value().Text()
		}
	}
	if err := r.Finish(); err != nil || behind != "behind" {
		t.Errorf("%s: got %v, and %q behind it", data, err, behind)
	}
	if !ok {
		return strings.TrimSpace("refused " + stored())
	}
	return stored()
}

func text(method func(r *wire.Reader, dst *string) bool) func(r *wire.Reader) (func() string, bool) {
	return func(r *wire.Reader) (func() string, bool) {
		dst := new(string)
		ok := method(r, dst)
		return func() string { return *dst }, ok
	}
}

func digits(longest int) func(r *wire.Reader) (func() string, bool) {
	return text(func(r *wire.Reader, dst *string) bool { return r.Digits(dst, longest) })
}

func integer(maxDigits int) func(r *wire.Reader) (func() string, bool) {
	return func(r *wire.Reader) (func() string, bool) {
		n, null, ok := r.Int(maxDigits)
		return func() string {
			if null || !ok && n == 0 {
				return ""
			}
			return fmt.Sprint(n)
		}, ok
	}
}

// said formats a value, for methods that report whether the member has one.
func said[T any](method func(r *wire.Reader, dst *T) (ok, said bool), show func(T) string) func(r *wire.Reader) (func() string, bool) {
	return func(r *wire.Reader) (func() string, bool) {
		var dst T
		ok, said := method(r, &dst)
		return func() string {
			if !said {
				return ""
			}
			return show(dst)
		}, ok
	}
}

func instant(r *wire.Reader) (func() string, bool) {
	var dst time.Time
	ok := r.Instant(&dst)
	return func() string {
		if dst.IsZero() {
			return ""
		}
		return dst.Format(time.RFC3339Nano)
	}, ok
}

func TestTolerantValues(t *testing.T) {
	const refused = "refused"
	x := strings.Repeat
	anyText := text((*wire.Reader).Text)
	message := text((*wire.Reader).Message)
	id := text((*wire.Reader).ID)
	url := text((*wire.Reader).URL)
	card := text((*wire.Reader).MaskedCardNumber)
	code := said(func(r *wire.Reader, n *int) (ok, said bool) {
		ok = r.Code(n)
		return ok, *n != 0
	}, func(n int) string { return fmt.Sprint(n) })
	count := said((*wire.Reader).Count, func(n int) string { return fmt.Sprint(n) })
	truth := said((*wire.Reader).Bool, func(b bool) string { return fmt.Sprint(b) })
	amount := said((*wire.Reader).Amount, func(d decimal.Decimal) string { return fmt.Sprintf("%ve%d", d.Coefficient(), d.Exponent()) })
	tests := []struct {
		name   string
		method func(r *wire.Reader) (func() string, bool)
		values map[string]string // what is stored, by the value
	}{
		{"Text", anyText, map[string]string{
			`"a"`: "a", `""`: "", "null": "", "12.50": "12.50", "-1e5": "-1e5", "true": refused, "false": refused, "[]": refused, "{}": refused, `["a"]`: refused,
			`"A\n\"é\ud83c\udf70"`: "A\n\"é🍰", `"\ud800"`: "\ufffd", `"a\ud800b"`: "a\ufffdb", "\"a\xff\xfeb\"": "a\ufffdb", "\"\xff\\n\"": "\ufffd\n",
			`"4111111111111111"`: "411111******1111", `"1234567890123"`: "1234567890123", `"` + x("é", 5000) + `"`: x("é", 5000), `"\u0000"`: "\x00",
		}},
		{"Message", message, map[string]string{
			`"a"`: "a", `""`: "", "null": "", "12": "12", "true": refused, "[]": refused, `{"a":1}`: refused, "\"\xff\"": "\ufffd",
			`"card 4111111111111111 refused"`: "card 411111******1111 refused", "4111111111111111": "411111******1111", `"411111111\u00311111111"`: "411111*******1111",
			`"4111 1111 1111 1111"`: "411111******1111", `"ref 123456789012"`: "ref 123456789012", `"1234567890123"`: "123456***0123",
			"\"\xff4111111111111111\"": "\ufffd411111******1111",
		}},
		{"ID", id, map[string]string{
			`"t-1"`: "t-1", `""`: "", "null": "", "17": "17", "1.0": "1.0", "true": refused, "[]": refused, "{}": refused, `"\u0041"`: "A", `" "`: " ",
			`"` + x("a", 255) + `"`: x("a", 255), `"` + x("a", 256) + `"`: refused, `"` + x("é", 255) + `"`: x("é", 255), `"` + x("é", 256) + `"`: refused,
			`"` + x("🍰", 255) + `"`: x("🍰", 255), `"` + x("🍰", 256) + `"`: refused, `"` + x("a", 1021) + `"`: refused,
			`"\ud800"`: refused, "\"\xff\"": refused, `"a\ud83c\udf70"`: "a🍰", `"\u0000"`: "\x00", "\"\xc3\xa9\"": "é", "\"\xc3\\u00a9\"": refused,
		}},
		{"Digits of at most four", digits(4), map[string]string{
			"17": "17", `"17"`: "17", `""`: "", "null": "", `"0017"`: "0017", "1234": "1234", "12345": refused, `"12345"`: refused, "-1": refused, "1.0": refused,
			"1e2": refused, `"1 "`: refused, `"١"`: refused, `"\u0031"`: "1", "true": refused, "[]": refused, "{}": refused,
		}},
		{"URL", url, map[string]string{
			`"https://pay.example/p?a=1"`: "https://pay.example/p?a=1", `"http://pay.example"`: "http://pay.example", `""`: "", "null": "",
			`"https:\/\/pay.example\/p"`: "https://pay.example/p", `"//pay.example"`: refused, `"javascript:alert(1)"`: refused, `"https://a:b@pay.example"`: refused,
			"1": refused, "true": refused, "[]": refused, "{}": refused, "\"https://pay.example/\xff\"": refused,
			`"https://a/` + x("x", 2038) + `"`: "https://a/" + x("x", 2038), `"https://a/` + x("x", 2039) + `"`: refused,
		}},
		{"MaskedCardNumber", card, map[string]string{
			`"411111******1111"`: "411111******1111", `""`: "", "null": "", `"4111111111111111"`: "411111******1111", "4111111111111111": "411111******1111",
			`"4111 1111 1111 1111"`: "411111******1111", `"45390000000*1"`: "********0001", `"12345678901"`: "*******8901", `"1234567890"`: "1234567890",
			`"４１１１１１１１１１１１１１１１"`: "411111******1111", `"٤١١١١١******١١١١"`: "411111******1111",
			`"x"`: "x", "true": refused, "[]": refused, "{}": refused, `"4111111111111111\ud800"`: refused, "\"\xff\"": refused,
			`"` + x("*", 255) + `"`: x("*", 255), `"` + x("*", 256) + `"`: refused,
		}},
		{"Int of at most three digits", integer(3), map[string]string{
			"17": "17", `"17"`: "17", "0": "0", `"0"`: "0", `""`: "", "null": "", "999": "999", "1000": refused, `"1000"`: refused, `"017"`: refused, `"00"`: refused,
			"-1": refused, `"-1"`: refused, `"+1"`: refused, "1.0": refused, "1e2": refused, `" 1"`: refused, "true": refused, "[]": refused, "{}": refused,
			`"١"`: refused,
		}},
		{"Code", code, map[string]string{
			"100": "100", `"100"`: "100", `""`: "", "null": "", "999999999": "999999999", "1000000000": refused, `"0100"`: refused, "-1": refused, "100.0": refused,
			"true": refused, "[]": refused, "{}": refused, "[100]": refused, "1e2": refused, `"+100"`: refused,
		}},
		{"Count", count, map[string]string{
			"17": "17", `"17"`: "17", "0": "0", `""`: "", "null": "", "-1": refused, "1.5": refused, `"x"`: refused, "true": refused, "[]": refused, "{}": refused,
			"1000000000000000": refused, `"01"`: refused,
		}},
		{"Instant", instant, map[string]string{
			"0": "1970-01-01T00:00:00Z", "1530171180123": "2018-06-28T07:33:00.123Z", `"1530171180123"`: "2018-06-28T07:33:00.123Z", `""`: "", "null": "",
			"253402300799999": "9999-12-31T23:59:59.999Z", "253402300800000": refused, "999999999999999": refused, "1000000000000000": refused, "-1": refused,
			"1.5": refused, `"2018-06-28"`: refused, "true": refused, "[]": refused, "{}": refused,
		}},
		{"Bool", truth, map[string]string{
			"true": "true", "false": "false", `"true"`: "true", `"false"`: "false", `"TRUE"`: "true", `"False"`: "false", `""`: "", "null": "",
			`"1"`: "true", "1": "true", `"0"`: "false", "0": "false", `"Y"`: "true", `"n"`: "false", `"yes"`: "true", `"No"`: "false", "[]": refused, "{}": refused,
			`"tru"`: refused, `"\u0074rue"`: refused, "2": refused, "-1": refused, "1.0": refused, `"10"`: refused, `" 1"`: refused, `"on"`: refused, "[1]": refused,
		}},
		{"Amount", amount, map[string]string{
			"12.50": "1250e-2", `"12.50"`: "1250e-2", "12": "12e0", "-12.5": "-125e-1", `"-0.001"`: "-1e-3", "0": "0e0", "0.000": "0e-3", "-0": "0e0", `""`: "",
			"null": "", "999999999999.999": "999999999999999e-3", `"000000000012"`: "12e0", "1234567890123": refused, "1.2345": refused, "1e2": refused,
			"12.5000": "12500e-3", `"12.5010000"`: "12501e-3", "0.0000": "0e-3", "-1.50000": "-1500e-3", `"1.00010"`: refused, `"1.000 "`: refused,
			"999999999999.9990": "999999999999999e-3", `"1.` + x("0", 126) + `"`: "1000e-3",
			`"1e2"`: refused, `"+1"`: refused, `"."`: refused, `"1."`: refused, `".5"`: refused, `"-"`: refused, `"--1"`: refused, `"1.-5"`: refused,
			`"1.5.5"`: refused, `"1,50"`: refused, `" 1"`: refused, `"NaN"`: refused, `"١"`: refused, "true": refused, "[]": refused, "{}": refused,
			x("1", 120): refused, `"0.` + x("0", 1000) + `"`: refused,
		}},
	}
	cases := 0
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for value, want := range tt.values {
				if got := read(t, value, tt.method); got != want {
					t.Errorf("%s of %.60s: got %.60q, want %.60q", tt.name, value, got, want)
				}
				cases++
			}
		})
	}
	t.Logf("%d values", cases)
}

// TestRepeatedTexts: what a text becomes does not depend on what the same member of the rows before it was, nor on how that was read.
func TestRepeatedTexts(t *testing.T) {
	texts := []string{"a", "a", "1234567890123", "1234567890123", "4111111111111111", "a", "4111111111111111", "1234567890123", "", "cvv 123", "cvv 123", "a"}
	data, err := json.Marshal(texts)
	if err != nil {
		t.Fatal(err)
	}
	for round := range 2 {
		r := wire.NewReader(data)
		for i := range r.Elements {
			var got string
			want := texts[i]
			if (i+round)%2 == 0 {
				r.Text(&got)
				want = mask.Kept(want)
			} else {
				r.Message(&got)
				want = mask.CardData(want)
			}
			if got != want {
				t.Errorf("round %d, text %d: got %q, want %q", round, i, got, want)
			}
		}
		r.Release()
	}
}

// TestTexts: texts stay as they were when more are read, however long they are, and do not point into the document.
func TestTexts(t *testing.T) {
	long := strings.Repeat("long ", 1000)
	for _, want := range [][]string{
		{"first", "second", `with an "escape"`, "third", `with \another`},
		{long, "short", long, long, "short"},
		{strings.Repeat("x", 2048), "y", strings.Repeat("z", 2047), "", "w"},
		slices.Repeat([]string{"of many", strings.Repeat("m", 100)}, 1000),
	} {
		data, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		r := wire.NewReader(data)
		got := make([]string, len(want))
		for i := range r.Elements {
			if !r.Text(&got[i]) {
				t.Fatalf("text %d was not read", i)
			}
		}
		if err := r.Finish(); err != nil {
			t.Fatal(err)
		}
		r.Release()
		for i := range data {
			data[i] = '#'
		}
		if !slices.Equal(got, want) {
			t.Errorf("got %.200q, want %.200q", got, want)
		}
	}
}
