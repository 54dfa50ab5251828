package wire_test

import (
	"encoding/json"
	"math/big"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/shopspring/decimal"

	"github.com/cardgateway/cardgateway-go/internal/wire"
)

func TestWriter(t *testing.T) {
	w := wire.NewWriter()
	w.Open('{')
	w.String("text", `a "b"`)
	w.Name("object")
	w.Open('{')
	w.Close('}')
	w.Name("list")
	w.Open('[')
	w.Separate()
	w.Open('{')
	w.Int("negative", -1)
	w.Int("zero", 0)
	w.Close('}')
	w.Separate()
	w.Open('{')
	w.True("yes")
	w.Close('}')
	w.Close(']')
	w.Digits("digits", []byte("0042"))
	w.Digits("none", nil)
	w.Number("number", "12345678901234567890123456789012")
	w.Decimal("amount", decimal.RequireFromString("12.50"))
	w.Raw(`a "name"`, []byte(`[1, 2]`))
	w.String("empty", "")
	w.Close('}')
	const want = `{"text":"a \"b\"","object":{},"list":[{"negative":-1,"zero":0},{"yes":true}],"digits":"0042","none":"",` +
		`"number":12345678901234567890123456789012,"amount":"12.50","a \"name\"":[1, 2],"empty":""}`
	if diff := cmp.Diff(want, string(w.Copy())); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if !json.Valid(w.Copy()) {
		t.Error("encoding/json cannot read it")
	}
}

// TestWriterMemory: Copy returns a copy that later writes do not change, and a released Writer is empty, as is a new one.
func TestWriterMemory(t *testing.T) {
	long := strings.Repeat("x", 100<<10)
	for _, text := range []string{"first", long, "second"} {
		w := wire.NewWriter()
		if left := w.Copy(); len(left) != 0 {
			t.Fatalf("a new Writer has %.20q", left)
		}
		w.String("m", text)
		written := w.Copy()
		w.Release()
		if left := w.Copy(); len(left) != 0 {
			t.Fatalf("after Release %.20q is left", left)
		}
		next := wire.NewWriter()
		next.String("other", "text")
		if got := string(written); got != `"m":"`+text+`"` {
			t.Errorf("what was returned has become %.20q", got)
		}
		next.Release()
	}
}

// TestSeparate: a comma before everything but the first.
func TestSeparate(t *testing.T) {
	var w wire.Writer
	w.Separate()
	w.Open('[')
	w.Separate()
	w.Open('{')
	w.Separate()
	w.Close('}')
	w.Separate()
	w.Open('{')
	if got, want := string(w.Copy()), `[{},{`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestAppendString(t *testing.T) {
	for text, want := range map[string]string{
		"": `""`, "a": `"a"`, "exactly8": `"exactly8"`, "https://a/b?c=d&e=<f>": `"https://a/b?c=d&e=<f>"`, `"`: `"\""`, `\`: `"\\"`, "\n": `"\u000a"`,
		"\x00\x1f": `"\u0000\u001f"`, "\x7f": "\"\x7f\"", "é🍰\u2028": "\"é🍰\u2028\"", `12345678"`: `"12345678\""`, `1234567"9`: `"1234567\"9"`,
		"abcdefgh\\\n\"z": `"abcdefgh\\\u000a\"z"`, "é then \" a quote": `"é then \" a quote"`, "no quote in these nine": `"no quote in these nine"`,
	} {
		t.Run(text, func(t *testing.T) {
			if got := string(wire.AppendString([]byte("before "), text)); got != "before "+want {
				t.Errorf("%q: got %s, want before %s", text, got, want)
			}
		})
	}
}

func TestDecimals(t *testing.T) {
	for _, tt := range []struct {
		d    decimal.Decimal
		want string
	}{
		{decimal.Decimal{}, "0"}, {decimal.New(0, -2), "0.00"}, {decimal.New(0, 5), "0"}, {decimal.New(1250, -2), "12.50"}, {decimal.New(-1250, -2), "-12.50"},
		{decimal.New(5, -3), "0.005"}, {decimal.New(-5, -1), "-0.5"}, {decimal.New(50, -2), "0.50"}, {decimal.New(500, -2), "5.00"}, {decimal.New(12, 3), "12000"},
		{decimal.New(-12, 1), "-120"}, {decimal.New(7, 0), "7"},
		{decimal.New(999_999_999_999_999_999, 0), "999999999999999999"},                                                          // 18 digits
		{decimal.New(9_223_372_036_854_775_807, 0), "9223372036854775807"},                                                       // 19
		{decimal.New(-9_223_372_036_854_775_808, -4), "-922337203685477.5808"},                                                   // the least int64
		{decimal.NewFromBigInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(30), nil), -31), "0.1000000000000000000000000000000"}, // 31
		{decimal.NewFromBigInt(new(big.Int).Neg(new(big.Int).Exp(big.NewInt(10), big.NewInt(20), nil)), 2), "-10000000000000000000000"},
	} {
		var w wire.Writer
		w.Decimal("d", tt.d)
		if got, want := string(w.Copy()), `"d":"`+tt.want+`"`; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func TestIsWebURL(t *testing.T) {
	for text, want := range map[string]bool{
		"https://shop.example": true, "https://shop.example/a?b=c&d=e": true, "http://shop.example": true, "HTTPS://shop.example": true,
		"https://shop.example:8443/a": true, "https://[2001:db8::1]/a": true, "https://shop.example/a%20b": true, "https://shop.example/é": true,
		"https://bücher.example": true, "https://shop.example#f": true, "https://127.0.0.1": true, "https://a": true, "https://a//b": true,
		"https://shop.example/a+b(c)": true, "https://-": true, "https://.": true,

		"": false, "https://": false, "https:///a": false, "https://?": false, "https:shop.example": false, "//shop.example": false, "shop.example": false,
		"/a": false, "ftp://shop.example": false, "javascript:alert(1)": false, "data:text/html,x": false, "https://u@shop.example": false,
		"https://u:p@shop.example": false, "https://@shop.example": false, "https://shop.example/a b": false, " https://shop.example": false,
		"https://shop.example\n": false, "https://shop.example/\x00": false, "https://shop.example/\x7f": false, "https://shop.example/\u0085": false,
		"https://:443": false, "https://shop.example:port": false, "https://shop.example/%zz": false, "https://[::1": false,
	} {
		t.Run(text, func(t *testing.T) {
			if got := wire.IsWebURL(text); got != want {
				t.Errorf("%q: got %t, want %t", text, got, want)
			}
		})
	}
}

func TestEscapePathElement(t *testing.T) {
	for element, want := range map[string]string{
		"": "", "abc-._~123XYZ": "", "a/b": "a%2Fb", "a b+c": "a%20b%2Bc", "%2e": "%252e", "?#&=;": "%3F%23%26%3D%3B", "é": "%C3%A9", "\x00\xff": "%00%FF",
		"ab/": "ab%2F",
	} {
		t.Run(element, func(t *testing.T) {
			got := wire.EscapePathElement([]byte(element))
			if string(got) != want || (got == nil) != (want == "") {
				t.Errorf("%q: got %q, want %q", element, got, want)
			}
		})
	}
}
