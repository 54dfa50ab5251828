package redact_test

import (
	"encoding/json"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cardgateway/cardgateway-go/internal/redact"
)

const token = "tk/9f8e+7d6c5b4a=x"

// secretsOf returns the texts of at least MinText bytes as Secrets.
func secretsOf(texts ...string) (s redact.Secrets) {
	for _, text := range texts {
		s.Add(text, redact.MinText)
	}
	return s
}

func texts(s redact.Secrets) (list []string) {
	for _, secret := range s {
		list = append(list, string(secret))
	}
	return list
}

func TestAdd(t *testing.T) {
	for _, tt := range []struct {
		name   string
		secret string
		min    int
		want   []string
	}{
		{"empty", "", redact.MinText, nil},
		{"too short", "abc", redact.MinText, nil},
		{"just long enough", "abcd", redact.MinText, []string{"abcd"}},
		{"too short for an identifier", "abcdefghijk", redact.MinID, nil},
		{"long enough for an identifier", "abcdefghijkl", redact.MinID, []string{"abcdefghijkl"}},
		{"twelve digits", "123456789012", redact.MinText, []string{"123456789012"}},
		{"with a number that is masked", "a-1234567890123-z", redact.MinText, []string{"a-1234567890123-z", "a-123456***0123-z"}},
		{"with a quote", `a"bcd`, redact.MinText, []string{`a"bcd`, `a\"bcd`}},
		{"with a backslash", `a\bcd`, redact.MinText, []string{`a\bcd`, `a\\bcd`}},
		{"with a line break", "a\nbcd", redact.MinText, []string{"a\nbcd", `a\nbcd`}},
		{"with what is no UTF-8", "a\xffbcd", redact.MinText, []string{"a\xffbcd", `a\xffbcd`}},
		{"with letters that are quoted as they are", "tökén", redact.MinText, []string{"tökén"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var s redact.Secrets
			s.Add(tt.secret, tt.min)
			s.Add(tt.secret, tt.min) // is there already
			if diff := cmp.Diff(tt.want, texts(s)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tt.name, diff)
			}
		})
	}
}

// TestAddCardNumber: its masked form may be shown, and overwriting the digits also overwrites them here.
func TestAddCardNumber(t *testing.T) {
	digits := []byte("4111111111111111")
	var s redact.Secrets
	s.AddCardNumber([]byte("411")) // too short to be searched for
	s.AddCardNumber(nil)
	s.AddCardNumber(digits)
	if diff := cmp.Diff([]string{"4111111111111111"}, texts(s)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if !s.Find("card 4111111111111111", redact.MinText) || s.Find("card 411111******1111", redact.MinText) {
		t.Errorf("the number is found: %t, its masked form: %t", s.Find("card 4111111111111111", redact.MinText), s.Find("card 411111******1111", redact.MinText))
	}
	clear(digits)
	if got := texts(s); got[0] != strings.Repeat("\x00", 16) {
		t.Errorf("after wiping: got %q", got)
	}
	var short redact.Secrets
	short.AddCardNumber([]byte("4111"))
	if len(short) != 1 {
		t.Errorf("four digits: got %q", texts(short))
	}
}

// spellings are the forms in which the token can be in a text, with the result of Find.
var spellings = []struct {
	name, text string
	want       bool
}{
	{"as it is", token, true},
	{"in a sentence", "no such token " + token + ".", true},
	{"twice", token + token, true},
	{"empty", "", false},
	{"another", "tk/9f8e+7d6c5b4a=y", false},
	{"a part of it", token[:len(token)-1], false},
	{"in capitals", strings.ToUpper(token), true},
	{"in a path", "/payment/" + url.PathEscape(token), true},
	{"in a query", "?t=" + url.QueryEscape(token), true},
	{"in a query, in small letters", strings.ToLower(url.QueryEscape(token)), true},
	{"in a query of a query", url.QueryEscape(url.QueryEscape(token)), true},
	{"in a query of a query of a query", url.QueryEscape(url.QueryEscape(url.QueryEscape(token))), true},
	{"after an escape that is none", "%zz %4 %" + url.QueryEscape(token), true},
	{"every byte escaped", percentAll(token), true},
	{"in JSON", strings.ReplaceAll(token, "/", `\/`), true},
	{"in JSON by code points", `tk\u002f9f8e\u002B7d6c5b4a\u003dx`, true},
	{"in a program", `tk\x2f9f8e\u{2b}7d6c5b4a=x`, true},
	{"in JSON in JSON", strings.ReplaceAll(token, "/", `\\/`), true},
	{"in HTML", "tk&#47;9f8e&plus;7d6c5b4a&#x3d;x", true},
	{"in UTF-16", strings.Join(strings.Split(token, ""), "\x00"), true},
	{"behind broken escapes", `\u00 \x \q ` + strings.ReplaceAll(token, "/", `\/`) + `\`, true},
	{"in a URL in JSON", strings.ReplaceAll(url.QueryEscape(token), "%", `\u0025`), true},
	{"in JSON in a URL", url.QueryEscape(strings.ReplaceAll(token, "/", `\/`)), true},
}

func percentAll(text string) string {
	const hex = "0123456789abcdef"
	var escaped []byte
	for i := range len(text) {
		escaped = append(escaped, '%', hex[text[i]>>4], hex[text[i]&15])
	}
	return string(escaped)
}

func TestFind(t *testing.T) {
	s := secretsOf("something else", token)
	for _, tt := range spellings {
		t.Run(tt.name, func(t *testing.T) {
			if got := s.Find(tt.text, redact.MinText); got != tt.want {
				t.Errorf("%s, %s: got %t, want %t", tt.name, tt.text, got, tt.want)
			}
			if (redact.Secrets)(nil).Find(tt.text, redact.MinText) {
				t.Errorf("%s: found where there is no secret", tt.name)
			}
		})
	}
}

// TestSecretsWithEscapes: text that looks like an escape in a secret is part of it.
func TestSecretsWithEscapes(t *testing.T) {
	for _, tt := range []struct{ secret, text string }{
		{"k9%2Fzz/Q7x", "k9%2Fzz/Q7x"}, {"k9%2Fzz/Q7x", `k9%2Fzz\/Q7x`}, {"k9%2Fzz/Q7x", "k9%252Fzz%2FQ7x"},
		{`pa\u0041ss\nw`, `pa\u0041ss\nw`}, {`pa\u0041ss\nw`, `pa\\u0041ss\\nw`}, {`pa\u0041ss\nw`, `%70a\u0041ss\nw`},
	} {
		t.Run(tt.secret, func(t *testing.T) {
			if !secretsOf(tt.secret).Find(tt.text, redact.MinText) {
				t.Errorf("%s is not found in %s", tt.secret, tt.text)
			}
		})
	}
}

func TestRedact(t *testing.T) {
	s := secretsOf(token, "short", `say "key"`, "key-1", "key-1.f00d", "675900000001")
	s.AddCardNumber([]byte("4539000000000001"))
	for _, tt := range []struct {
		name, text, want string
		min              int
	}{
		{"nothing", "", "", redact.MinText},
		{"none", "no such card", "no such card", redact.MinText},
		{"one", "token " + token + " accepted", "token *** accepted", redact.MinText},
		{"one twice", token + " " + token, "*** ***", redact.MinText},
		{"one in capitals, and in small letters", strings.ToUpper(token) + ": " + strings.ToLower(token) + "?", "***: ***?", redact.MinText},
		{"a short one in capitals", "SHORT", "SHORT", redact.MinText},
		{"several", token + ", short", "***, ***", redact.MinText},
		{"a short one among identifiers", "short", "short", redact.MinID},
		{"a short one behind escapes among identifiers", `%73hort or \u0073hort`, `%73hort or \u0073hort`, redact.MinID},
		{"a long one among identifiers", token, "***", redact.MinID},
		{"quoted", `bad "say \"key\""`, `bad "***"`, redact.MinText},
		{"behind escapes", "token " + url.QueryEscape(token) + " accepted", "***", redact.MinText},
		{"plain and behind escapes", token + " is " + url.PathEscape(token), "***", redact.MinText},
		{"escapes of something else", `50%25 of \u0041`, `50%25 of \u0041`, redact.MinText},
		{"a part of another", "key-1.f00d", "***", redact.MinText},
		{"digits in groups", "card 4539-0000 0000-0001.", "card 453900******0001.", redact.MinText},
		{"few digits in groups", "card 6759 0000 0001.", "***", redact.MinText},
		{"digits in groups behind escapes", `card 4539\u002d0000 0000-0001.`, "***", redact.MinText},
		{"other digits in groups", "card 4539-0000 0000-0002.", "card 4539-0000 0000-0002.", redact.MinText},
		{"digits too far apart", "card 4539  0000  0000  0001.", "card 4539  0000  0000  0001.", redact.MinText},
	} {
		t.Run(tt.name, func(t *testing.T) {
			text := tt.text
			if s.Redact(&text, tt.min); text != tt.want {
				t.Errorf("%s: got %q, want %q", tt.name, text, tt.want)
			}
			text = tt.text
			if (redact.Secrets)(nil).Redact(&text, tt.min); text != tt.text {
				t.Errorf("%s: without secrets it becomes %q", tt.name, text)
			}
		})
	}
}

func raw(members map[string]string) map[string]json.RawMessage {
	all := map[string]json.RawMessage{}
	for name, value := range members {
		all[name] = json.RawMessage(value)
	}
	return all
}

// FuzzFind escapes a secret in a text for URLs, for JSON or for both, and searches for it; a redacted text contains no secret.
func FuzzFind(f *testing.F) {
	for _, tt := range spellings {
		f.Add(token, tt.text, byte(0))
		f.Add(token, "a\\%", byte(7))
	}
	f.Add(`k%2f\u0041`, `\`, byte(5))
	f.Add("%00&", "0", byte(12)) // looks escaped, with a JSON escape
	f.Add("00 *", "00", byte(0)) // the mask itself creates it again
	identity := func(s string) string { return s }
	asJSON := func(s string) string {
		quoted, _ := json.Marshal(s)
		return string(quoted[1 : len(quoted)-1])
	}
	forURL := []func(string) string{identity, url.PathEscape, percentAll, identity}
	forJSON := []func(string) string{identity, asJSON}
	f.Fuzz(func(t *testing.T, secret, around string, how byte) {
		if len(secret) < redact.MinText || strings.ToValidUTF8(secret, "") != secret {
			return
		}
		var s redact.Secrets
		s.Add(secret, redact.MinText)
		first, second := forURL[how&3], forJSON[how>>2&1]
		if how&8 != 0 {
			first, second = second, first
		}
		hidden := second(first(secret))
		if !s.Find(hidden, redact.MinText) {
			t.Errorf("%q is not found in %q", secret, hidden)
		}
		text := around + " " + secret + " " + around
		if !s.Find(text, redact.MinText) {
			t.Errorf("%q is not found in %q", secret, text)
		}
		if strings.Contains("***", secret) {
			return
		}
		for _, text := range []string{text, hidden, around} {
			if s.Redact(&text, redact.MinText); strings.Contains(text, secret) {
				t.Errorf("%q is still in %q", secret, text)
			}
		}
	})
}
