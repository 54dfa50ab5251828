package faults

import (
	"bytes"
	"io"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/internal/test/clienttest"
	"github.com/cardgateway/cardgateway-go/sandbox"
)

// answers is a transport that reads the request and returns the same response to each.
type answers struct{ body []byte }

func (a *answers) RoundTrip(r *http.Request) (*http.Response, error) {
	if _, err := io.Copy(io.Discard, r.Body); err != nil {
		return nil, err
	}
	return &http.Response{StatusCode: 200, Body: io.NopCloser(bytes.NewReader(a.body)), ContentLength: int64(len(a.body)), Request: r}, nil
}

// goodAnswer is what the gateway says to an order.
func goodAnswer(t *testing.T, o *Order) []byte {
	t.Helper()
	g := sandbox.New(sandbox.Options{NoNotifications: true})
	defer g.Close()
	path, body := o.wire(nil)
	r, err := http.NewRequest(http.MethodPost, "https://gateway.test"+path, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	status, answer, err := read(g.RoundTripper().RoundTrip(r))
	if err != nil || status != 200 {
		t.Fatal(status, err)
	}
	return answer
}

// TestMutatedAnswers passes a valid response to the client after every truncation and after random changes.
func TestMutatedAnswers(t *testing.T) {
	mutations := 20_000
	if long() {
		mutations = 100_000
	}
	for _, card := range []sandbox.Outcome{sandbox.Approved, sandbox.Declined} {
		o := Orders(1, 1)[0]
		o.Card, o.Token = card, false
		good := goodAnswer(t, &o)
		a := &answers{good}
		client := clienttest.NewClient(t, cardgateway.Config{
			BaseURL: "https://gateway.test", AppID: "7", TestPayments: true, HTTPClient: &http.Client{Transport: a},
			Retry: cardgateway.RetryPolicy{MaxAttempts: 1},
		})
		req := o.subscription()
		told := func(body []byte) Verdict {
			a.body = body
			return verdictOf(client.CreateSubscription(background, req))
		}
		truth := told(good)
		if want := map[sandbox.Outcome]Verdict{sandbox.Approved: Paid, sandbox.Declined: Declined}[card]; truth != want {
			t.Fatalf("the good answer is told as %s, want %s", truth, want)
		}
		for n := range good {
			if v := told(good[:n]); v != Unknown {
				t.Errorf("cut after %d of %d bytes it is told as %s: %q", n, len(good), v, good[:n])
			}
		}
		chance := rand.New(rand.NewPCG(1, 2))
		certain := 0
		for range mutations {
			changed := mutate(chance, good)
			v := told(changed)
			if v != Unknown {
				certain++
			}
			if v != Unknown && v != truth && !saysSo(changed, v) {
				t.Errorf("%s instead of %s for %q", v, truth, changed)
			}
		}
		t.Logf("%s: %d truncations, %d changes, %d of them still certain", card, len(good), mutations, certain)
	}
}

// mutate changes one to four places.
func mutate(chance *rand.Rand, good []byte) []byte {
	b := slices.Clone(good)
	for range 1 + chance.IntN(4) {
		i, k := chance.IntN(len(b)), chance.IntN(len(b))
		switch chance.IntN(6) {
		case 0:
			b[i] ^= 1 << chance.IntN(8)
		case 1:
			b[i] = byte(chance.IntN(256))
		case 2:
			b = slices.Delete(b, i, i+1)
		case 3:
			b = slices.Insert(b, i, b[k])
		case 4:
			b[i], b[k] = b[k], b[i]
		case 5:
			from, to := min(i, k), max(i, k)
			b = slices.Delete(b, from, min(to, from+12))
		}
		if len(b) == 0 {
			return []byte("{")
		}
	}
	return b
}

// saysSo reports whether a changed answer itself says what the client makes of it: a change can make a success into a
// decline in so many words, and no client could tell.
func saysSo(changed []byte, v Verdict) bool {
	codes := map[Verdict][]string{
		Paid: {"100"}, Declined: {"101", "103"}, Pending: {"102", "301"}, Refused: {"201", "400", "401", "404", "500"},
	}
	text := string(changed)
	_, rest, found := strings.Cut(text, `"code":`)
	return found && slices.ContainsFunc(codes[v], func(code string) bool {
		return strings.HasPrefix(strings.Trim(rest, ` "`), code)
	})
}
