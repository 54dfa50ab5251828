package wire

import (
	"encoding/json"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/shopspring/decimal"
)

func FuzzAmount(f *testing.F) {
	for _, text := range []string{"12.50", "-0.001", "999999999999.999", "1e3", "00012", ".5", "5.", "+1", "0x1", "1_0", "NaN", "-", "", "1.2345", "12.5000", "0.00000"} {
		f.Add(text)
	}
	grammar := regexp.MustCompile(`^-?[0-9]{1,12}(\.[0-9]{1,3}0*)?$`)
	f.Fuzz(func(t *testing.T, text string) {
		got, ok := parseAmount([]byte(text))
		if ok != (len(text) <= maxNumber && grammar.MatchString(text) && !strings.HasSuffix(text, "\n")) {
			t.Fatalf("%q: read %v, the grammar says otherwise", text, ok)
		}
		if !ok {
			return
		}
		want, err := decimal.NewFromString(text)
		if err != nil || !got.Equal(want) || got.Exponent() != max(want.Exponent(), -maxDecimals) {
			t.Errorf("%q: got %v, decimal %v (%v)", text, got, want, err)
		}
		back, err := decimal.NewFromString(string(AppendDecimal(nil, got)))
		if err != nil || !back.Equal(want) || back.Exponent() != got.Exponent() {
			t.Errorf("%q is written as %s", text, AppendDecimal(nil, got))
		}
	})
}

// FuzzAppendDecimal: a decimal is written as the decimal package writes it.
func FuzzAppendDecimal(f *testing.F) {
	f.Add(int64(1250), int8(-2))
	f.Add(int64(-1), int8(-16))
	f.Add(int64(0), int8(5))
	f.Fuzz(func(t *testing.T, value int64, exp int8) {
		d := decimal.New(value, int32(exp))
		if got, want := string(AppendDecimal(nil, d)), d.StringFixed(max(0, -int32(exp))); got != want {
			t.Errorf("%d and exponent %d: got %s, want %s", value, exp, got, want)
		}
	})
}

func FuzzString(f *testing.F) {
	for _, text := range []string{"", "a\"b\\c", "\x00\x1f\x7f", "é\u2028🍰", "</script>", "\ufffd"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if !utf8.ValidString(text) {
			return // refused before it is written
		}
		var back string
		written := AppendString(nil, text)
		if err := json.Unmarshal(written, &back); err != nil || back != text {
			t.Errorf("%q is written as %s, which is %q (%v)", text, written, back, err)
		}
	})
}

// FuzzURL: net/url parses everything that the quick check accepts as an absolute https URL with a host and without user
// info.
func FuzzURL(f *testing.F) {
	for _, s := range []string{
		"https://shop.example/pay?order=1&x=2", "https://a", "https:///", "https://?", "https://a@b/", "https://a:1", "https://a//b=~",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if !isCommonURL(s) {
			return
		}
		u, err := url.Parse(s)
		if err != nil || u.Scheme != "https" || u.Hostname() == "" || u.User != nil || strings.ContainsAny(s, " \x00\x7f") {
			t.Errorf("%q passes, and is %+v, %v", s, u, err)
		}
	})
}
