package mask

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestBody(t *testing.T) {
	for in, want := range map[string]string{
		``:                          ``,
		`{"a":1,"b":[true,null]}`:   `{"a":1,"b":[true,null]}`,
		`{"cvv":123,"a":"b"}`:       `{"cvv":"***","a":"b"}`,
		`{"a" : 1, "CVV" : "123" }`: `{"a" : 1, "CVV" : "***" }`,
		`{"card":{"cvv":null}}`:     `{"card":{"cvv":null}}`,
		`{"card":{"expiredYear":"39","expiredMonth":"12","x":true}}`: `{"card":{"expiredYear":"39","expiredMonth":"12","x":"***"}}`,
		`{"cardNumber":"4300 0000 0000 0000"}`:                       `{"cardNumber":"430000******0000"}`,
		`{"cardNumber":4300000000000000}`:                            `{"cardNumber":"430000******0000"}`,
		`{"cardHolder":"Ada Gross"}`:                                 `{"cardHolder":"***"}`,
		`{"cardNumber":"43000000"}`:                                  `{"cardNumber":"***"}`,
		`{"tokenization":"abc","to\u006ben":"x"}`:                    `{"tokenization":"***","to\u006ben":"***"}`,
		`[{"id":"1"},"4111111111111111"]`:                            `[{"id":"1"},"***"]`,
		`{"aUrl":[{"a":"b"},"https://x.example/?key=1"]}`:            `{"aUrl":[{"a":"b"},"https://x.example/?***"]}`,
		`{"cvv":"1`: `(9 bytes that are not JSON, not kept)`,
		`4300`:      `4300`,
		`not JSON`:  `(8 bytes that are not JSON, not kept)`,
	} {
		t.Run(in, func(t *testing.T) {
			if got := Body([]byte(in)); got != want {
				t.Errorf("Body(%s) = %s, want %s", in, got, want)
			}
		})
	}
}

func TestQuery(t *testing.T) {
	const in, want = "card=approved&cardNumber=4300000000000000&cardholder=Ada+Gross&cvv=123&a=1", "card=***&cardNumber=***&cardholder=***&cvv=***&a=1"
	if got := Query(in); got != want {
		t.Errorf("Query(%s) = %s, want %s", in, got, want)
	}
}

// FuzzBody: a CVV and a card number in a card object never survive.
func FuzzBody(f *testing.F) {
	f.Add(`{"card":{"cvv":"`, `"}}`)
	f.Add(`{"a":[{"card":["`, `"]}]}`)
	f.Add("{\"\\u0063ard\" : {\"x\":\t\"", `"}}`)
	f.Fuzz(func(t *testing.T, before, after string) {
		const secret = "98765-QX"
		body := before + secret + after
		if strings.Contains(before+after, secret) || !json.Valid([]byte(body)) {
			return
		}
		var v any
		_ = json.Unmarshal([]byte(body), &v)
		if inCard(v, secret, false) && strings.Contains(Body([]byte(body)), secret) {
			t.Errorf("Body(%q) shows it: %q", body, Body([]byte(body)))
		}
	})
}

// inCard reports whether a text is the value of something in a member named card.
func inCard(v any, text string, card bool) bool {
	switch v := v.(type) {
	case map[string]any:
		for name, value := range v {
			if inCard(value, text, card || name == "card") {
				return true
			}
		}
	case []any:
		for _, value := range v {
			if inCard(value, text, card) {
				return true
			}
		}
	case string:
		return card && v == text
	}
	return false
}
