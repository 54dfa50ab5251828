package check_test

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/cardgateway/cardgateway-go/internal/check"
)

const (
	noUTF8    = "format: is not valid UTF-8"
	control   = "format: has control characters"
	onlySpace = "format: is only white space"
)

func TestText(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		limit      int
		want       []string
	}{
		{"nothing", "", 4, nil},
		{"as long as allowed", "abcd", 4, nil},
		{"too long", "abcde", 4, []string{"length: has 5 characters, at most 4 are allowed"}},
		{"characters of more bytes", "äöü…", 4, nil},
		{"too many of more bytes", "äöü…é", 4, []string{"length: has 5 characters, at most 4 are allowed"}},
		{"no limit", strings.Repeat("a", 1000), check.NoLimit, nil},
		{"lines without a limit", "1 Main St\nTown", check.NoLimit, nil},
		{"lines with a limit", "a\nb", 4, []string{control}},
		{"a control character of two bytes", "a\u0085", 4, []string{control}},
		{"DEL", "\x7f", 4, []string{control}},
		{"too long with a control character", "abcd\n", 4, []string{control}},
		{"no UTF-8", "a\xff", 4, []string{noUTF8}},
		{"no UTF-8 without a limit", "a\xff", check.NoLimit, []string{noUTF8}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			wantFound(t, tt.name, func(v *check.Violations) { v.Text("m", tt.text, tt.limit) }, tt.want...)
		})
	}
}

func TestID(t *testing.T) {
	for _, tt := range []struct {
		name, id string
		want     []string
	}{
		{"letters", "t-1", nil},
		{"space within", "t 1", nil},
		{"white space", " ", []string{onlySpace}},
		{"white space of more bytes", "\u00a0\u2003", []string{onlySpace}},
		{"too long", "t-123", []string{"length: has 5 characters, at most 4 are allowed"}},
		{"control and white space", "\t", []string{control, onlySpace}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			wantFound(t, tt.name, func(v *check.Violations) { v.ID("m", tt.id, 4) }, tt.want...)
		})
	}
}

func TestNewID(t *testing.T) {
	const ends = "format: has white space at its ends"
	for _, tt := range []struct {
		name, id string
		want     []string
	}{
		{"a space within", "t 1", nil}, {"a space after", "t-1 ", []string{ends}}, {"a space before", " t-1", []string{ends}},
		{"one of more bytes", "t-1\u00a0", []string{ends}}, {"of no width", "t-1\u200b", []string{ends}}, {"a byte order mark", "\ufefft-1", []string{ends}},
		{"nothing else", " ", []string{onlySpace}}, {"a line break", "t-1\n", []string{control}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			wantFound(t, tt.name, func(v *check.Violations) { v.NewID("m", tt.id, 5) }, tt.want...)
		})
	}
}

func TestDigits(t *testing.T) {
	for _, tt := range []struct {
		text              string
		shortest, longest int
		want              []string
	}{
		{"12", 2, 2, nil},
		{"1", 2, 2, []string{"format: must be 2 digits"}},
		{"123", 2, 2, []string{"format: must be 2 digits"}},
		{"1a", 2, 2, []string{"format: must be 2 digits"}},
		{"0", 1, 3, nil},
		{"123", 1, 3, nil},
		{"", 1, 3, []string{"format: must be 1 to 3 digits"}},
		{"1234", 1, 3, []string{"format: must be 1 to 3 digits"}},
		{"-12", 1, 3, []string{"format: must be 1 to 3 digits"}},
		{"١", 1, 3, []string{"format: must be 1 to 3 digits"}},
	} {
		t.Run(tt.text, func(t *testing.T) {
			wantFound(t, tt.text, func(v *check.Violations) {
				if ok := v.Digits("m", tt.text, tt.shortest, tt.longest); ok != (tt.want == nil) {
					t.Errorf("%q: Digits: got %t", tt.text, ok)
				}
			}, tt.want...)
			wantFound(t, tt.text+", counted elsewhere", func(v *check.Violations) {
				v.DigitCount("m", tt.want == nil, tt.shortest, tt.longest)
			}, tt.want...)
		})
	}
}

func TestPathElement(t *testing.T) {
	const notPlain = "format: has control characters or is not valid UTF-8"
	const relative = "format: is a relative path element"
	for _, tt := range []struct {
		name, text string
		want       []string
	}{
		{"letters", "tok-1", nil},
		{"what is escaped", "a/b?é", nil},
		{"nothing", "", []string{"required: is required"}},
		{"as long as allowed", "12345678", nil},
		{"too long", "123456789", []string{"length: has more than 8 bytes"}},
		{"too long in bytes", "ääääa", []string{"length: has more than 8 bytes"}},
		{"one point", ".", []string{relative}},
		{"two points", "..", []string{relative}},
		{"three points", "...", nil},
		{"a new line", "a\nb", []string{notPlain}},
		{"no UTF-8", "a\xff", []string{notPlain}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			wantFound(t, tt.name, func(v *check.Violations) { v.PathElement("m", tt.text, 8) }, tt.want...)
		})
	}
}

// FuzzTexts looks for panics, for a quick check of ASCII that decides otherwise than the rule, for a base URL that is accepted
// without a host, and for a message that shows the value.
func FuzzTexts(f *testing.F) {
	for _, text := range []string{
		"", "a", "a\n", "\xff", "äöü", "\u2028", " ", "203.0.113.7:80", "shop.example", "https://shop.example/?a=b", "http://localhost:8080", "..", "1234",
	} {
		f.Add(text, 4)
	}
	f.Fuzz(func(t *testing.T, text string, limit int) {
		limit = max(limit, 1)
		plain := utf8.ValidString(text) && !strings.ContainsFunc(text, unicode.IsControl)
		if got := check.IsPlainText(text); got != plain {
			t.Errorf("IsPlainText(%q): got %t, want %t", text, got, plain)
		}
		var v check.Violations
		v.Text("m", text, limit)
		if want := plain && utf8.RuneCountInString(text) <= limit; (v.Len() == 0) != want {
			t.Errorf("Text(%q, %d): got %v, want none: %t", text, limit, v.Problems(), want)
		}
		before := v.Len()
		if u := v.BaseURL("m", text, false); v.Len() == before && (u == nil || u.Hostname() == "" || u.Scheme != "https" && u.Scheme != "http") {
			t.Errorf("BaseURL(%q): got %v without a violation", text, u)
		}
		const marker = "-marker-"
		marked := text + marker
		v.Text("m", marked, limit)
		v.ID("m", marked, limit)
		v.IP("m", marked)
		v.UpperCase("m", marked, limit)
		v.Digits("m", marked, 1, limit)
		v.PathElement("m", marked, limit)
		v.WebURL("m", marked, limit)
		v.BaseURL("m", marked, false)
		for _, p := range v.Problems() {
			if strings.Contains(p.Message, marker) {
				t.Errorf("%q is in the message %q", marked, p.Message)
			}
		}
	})
}
