package leaks_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/internal/test/clienttest"
	"github.com/cardgateway/cardgateway-go/notify"
)

// spelling makes up how a member with a secret is written: name, case, white space, escapes, nesting, and the notation around it.
type spelling struct{ *rand.Rand }

func pick[T any](s spelling, from ...T) T { return from[s.IntN(len(from))] }

// letters changes the case of letters at random, and escapes some for JSON.
func (s spelling) letters(text string, escapes bool) string {
	var b strings.Builder
	for _, c := range text {
		switch shown := pick(s, strings.ToLower, strings.ToUpper)(string(c)); {
		case escapes && s.IntN(4) == 0:
			fmt.Fprintf(&b, pick(s, `\u%04x`, `\u%04X`), []rune(shown)[0])
		default:
			b.WriteString(shown)
		}
	}
	return b.String()
}

func (s spelling) space() string {
	return strings.Repeat(pick(s, "", " ", "\t", "\n", "\r\n"), 1+s.IntN(3))
}

func (s spelling) name() string {
	return pick(s, "", "card", "card_", "x-", "user.") + pick(s, "cvv", "cvc", "cvv2", "cvc2", "cvn", "securityCode", "card_security_code", "verification-value", "cvvNumber", "cardCode", "sec_code")
}

// digits writes a card number in one piece or in groups.
func (s spelling) digits(number string) string {
	blank := pick(s, "", " ", "-", " - ", "\u00a0", "\u2013", "  ", " | ")
	return pick(s, "", "000") + strings.Join([]string{number[:4], number[4:8], number[8:12], number[12:]}, blank)
}

// member is a JSON member with a secret.
func (s spelling) member(name, secret string) string {
	value := pick(s, `"`+secret+`"`, `"`+s.letters(secret, true)+`"`, `" `+secret+` "`)
	member := `"` + s.letters(name, true) + `"` + s.space() + ":" + s.space() + value
	for range s.IntN(3) {
		member = fmt.Sprintf(pick(s, `"card":{%s}`, `"a":[1,{%s}]`, `"request":{"b":2,%s}`), member)
	}
	if s.IntN(4) == 0 {
		quoted, _ := json.Marshal("{" + member + "}")
		member = `"request":` + string(quoted)
	}
	return member
}

// text is a text that is no JSON.
func (s spelling) text(name, secret string) string {
	name = s.letters(name, false)
	return fmt.Sprintf(pick(s,
		"<%[1]s>%[3]s%[2]s</%[1]s>", `<%[1]s type="string">%[2]s</%[1]s>`, "<%[1]s><![CDATA[%[2]s]]></%[1]s>", `<input name="%[1]s" type="hidden" value="%[2]s"/>`,
		"a=1&%[1]s=%[2]s&b=2", "card%%5B%[1]s%%5D=%[2]s", "card[%[1]s]=%[2]s", "Array\n(\n    [%[1]s] => %[2]s\n)", `array('%[1]s' => '%[2]s')`,
		"[\"%[1]s\"]=>\n  string(3) \"%[2]s\"", `a:1:{s:3:"%[1]s";s:3:"%[2]s";}`, "%[1]s:%[3]s%[2]s", "{%[1]s=%[2]s, b=2}", "%%22%[1]s%%22%%3A%%22%[2]s%%22", "&quot;%[1]s&quot;:&quot;%[2]s&quot;",
	), name, secret, s.space())
}

// TestSpellings: however a code or a card number of somebody is written in a response or a notification, nothing that is kept shows it.
func TestSpellings(t *testing.T) {
	const code = "918"
	cards := []string{"4111111111111111", "5555555555554444", "6011000990139424", "3530111333300000"}
	for seed := range uint64(1000) {
		s := spelling{rand.New(rand.NewPCG(seed, 1))}
		card := pick(s, cards...)
		name, secret, hidden := s.name(), code, code
		if s.IntN(2) == 0 {
			name, secret, hidden = "x"+pick(s, "pan", "cardNumber", "remark"), s.digits(card), card[4:12]
		}
		var member string
		switch s.IntN(3) {
		case 0:
			member = s.member(name, secret)
		case 1:
			text, _ := json.Marshal(s.text(name, secret))
			member = pick(s, `"message":`, `"remark":`, `"transactionMethod":`) + string(text)
		default:
			text, _ := json.Marshal(s.text(name, secret))
			member = string(text) + `:1`
		}
		for _, status := range []cardgateway.Code{100, 101, 999} {
			body := fmt.Sprintf(`{"code":%d,"uniqueId":"1","transactionId":"t-1",%s}`, status, member)
			if s.IntN(4) == 0 {
				body = s.text(name, secret)
			}
			c := clienttest.NewClient(t, cardgateway.Config{BaseURL: clienttest.BaseURL, KeepResponses: true, HTTPClient: &http.Client{Transport: clienttest.RoundTrip(func(r *http.Request) (*http.Response, error) {
				resp, err := clienttest.Respond(r, 200, body)
				resp.Header.Set("X-"+card+"-Id", "1")
				resp.Header.Set("X-Request-Id", "of "+card)
				return resp, err
			})}})
			paid, err := clienttest.PayByToken(t.Context(), c, "t-1")
			found, queryErr := c.GetTransaction(t.Context(), "1")
			var claims notify.Claims
			if n, err := notify.Parse([]byte(body), "application/json"); err == nil {
				claims = n.Claimed
			}
			all, _ := json.Marshal([]any{paid, err, found, queryErr, claims})
			seen := chance.ReplaceAllString(string(all)+fmt.Sprint(err, queryErr), "")
			plain := seen
			if hidden != code {
				plain = strings.NewReplacer(" ", "", "-", "", "\u00a0", "", "\u2013", "", "|", "").Replace(seen)
			}
			if strings.Contains(plain, hidden) {
				at := strings.Index(plain, hidden)
				t.Fatalf("seed %d: %q shows it: …%q", seed, body, plain[max(0, at-120):min(len(plain), at+40)])
			}
		}
	}
}
