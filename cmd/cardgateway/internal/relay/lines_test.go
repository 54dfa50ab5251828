package relay

import (
	"bytes"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/cardgateway/cardgateway-go"
)

// secretKey must be in nothing that is printed.
const secretKey = "k3y-AGsC0123456789"

// TestAnswerLineHides: secrets are taken out before a text is cut, so that no half of one is left.
func TestAnswerLineHides(t *testing.T) {
	const token, card, maxBody = "tok1234567890abcdef", "4300000000000000", 200
	h := Hide(secretKey, cardgateway.NewToken(token))
	for _, test := range []struct {
		name   string
		answer Answer
	}{
		{"at the beginning", Answer{Status: 200, Body: []byte(token + card + secretKey)}},
		{"where the body is cut", Answer{Status: 200, Body: []byte(strings.Repeat("x", maxBody-9) + token)}},
		{"a card where the body is cut", Answer{Status: 200, Body: []byte(strings.Repeat("x", maxBody-12) + card)}},
		{"in escapes", Answer{Status: 200, Body: []byte(`{"a":"\u0074ok1234567890abcdef"}`)}},
		{"where a redirect leads", Answer{Status: 302, Header: http.Header{"Location": {"/" + token + "/" + card + "?t=" + token}}}},
		{"in an error", Answer{Err: errors.New("no " + token)}},
	} {
		t.Run(test.name, func(t *testing.T) {
			var out bytes.Buffer
			p := &Printer{Zone: time.UTC, Body: maxBody, Out: &out}
			p.Answer(NewAnswerLine("n-1", "", &test.answer, h))
			for _, secret := range []string{token[3:], token[:8], `u0074`, card[:8], secretKey[:8], "?t"} {
				if strings.Contains(out.String(), secret) {
					t.Errorf("got %q in %q", secret, &out)
				}
			}
		})
	}
}

// TestLinesAreClean: what others write cannot control a terminal.
func TestLinesAreClean(t *testing.T) {
	const evil = "\x1b[2J\u202e\n"
	var out bytes.Buffer
	p := &Printer{Zone: time.UTC, Body: 200, Out: &out}
	p.Event(time.Now(), "n-1", Event{Kind: evil, State: evil, TransactionID: evil, Amount: "1", Currency: evil}, evil)
	p.Answer(AnswerLine{Delivery: "n-1", To: evil, Note: evil, Body: "a" + evil + "b"})
	if strings.ContainsAny(out.String(), "\x1b\u202e") || strings.Count(out.String(), "\n") != 2 {
		t.Errorf("got %q, want two lines without control characters", out.String())
	}
}
