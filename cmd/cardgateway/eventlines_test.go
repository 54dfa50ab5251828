package main

import (
	"bytes"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/cardgateway/cardgateway-go"
)

// TestAnswerLineHides: secrets are taken out before a text is cut, so that no half of one is left.
func TestAnswerLineHides(t *testing.T) {
	const token, card = "tok1234567890abcdef", "4300000000000000"
	h := newHidden(secretKey, cardgateway.NewToken(token))
	f := &forwarder{now: time.Now}
	for _, test := range []struct {
		name   string
		answer answer
	}{
		{"at the beginning", answer{status: 200, body: []byte(token + card + secretKey)}},
		{"where the body is cut", answer{status: 200, body: []byte(strings.Repeat("x", longestBody-9) + token)}},
		{"a card where the body is cut", answer{status: 200, body: []byte(strings.Repeat("x", longestBody-12) + card)}},
		{"in escapes", answer{status: 200, body: []byte(`{"a":"\u0074ok1234567890abcdef"}`)}},
		{"where a redirect leads", answer{status: 302, header: http.Header{"Location": {"/" + token + "/" + card + "?t=" + token}}}},
		{"in an error", answer{err: errors.New("no " + token)}},
	} {
		t.Run(test.name, func(t *testing.T) {
			line := newAnswerLine("n-1", f, &test.answer, h)
			for _, secret := range []string{token[3:], token[:8], `u0074`, card[:8], secretKey[:8], "?t"} {
				if strings.Contains(line.Note+line.Body, secret) {
					t.Errorf("got %q in %q and %q", secret, line.Note, line.Body)
				}
			}
		})
	}
}

// TestLinesAreClean: what others write cannot control a terminal.
func TestLinesAreClean(t *testing.T) {
	const evil = "\x1b[2J\u202e\n"
	for _, format := range []string{"text", "json"} {
		var out bytes.Buffer
		p := &linePrinter{format: format, zone: time.UTC, body: longestBody, out: &out}
		p.event(eventLine{Delivery: "n-1", event: event{Kind: evil, State: evil, TransactionID: evil, Amount: "1", Currency: evil}, Note: evil})
		p.answer(answerLine{Delivery: "n-1", To: evil, Note: evil, Body: "a" + evil + "b"})
		if strings.ContainsAny(out.String(), "\x1b\u202e") || strings.Count(out.String(), "\n") != 2 {
			t.Errorf("got %q, want two lines without control characters", out.String())
		}
	}
}
