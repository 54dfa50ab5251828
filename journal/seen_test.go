package journal_test

import (
	"cmp"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/internal/test/clienttest"
	"github.com/cardgateway/cardgateway-go/sandbox"
)

// shownOnce is a gateway that loses the response to every payment, returns one search page once, and nothing after that.
type shownOnce struct{ page string }

func (g *shownOnce) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method == http.MethodPost {
		_, _ = io.Copy(io.Discard, r.Body)
		return nil, errors.New("the connection broke")
	}
	body := cmp.Or(g.page, clienttest.Page())
	g.page = ""
	return clienttest.Respond(r, http.StatusOK, body)
}

// toldInTheEnd returns the last state that Recover tells within days.
func (s *shop) toldInTheEnd() string {
	got := "nothing was told"
	for range 3 {
		time.Sleep(30 * time.Hour)
		for _, e := range recovered(s.t, s.Journal) {
			got = e.State().String()
		}
	}
	return got
}

// TestShownOnceIsNeverAbsent: if a search has returned the transactionId in any form, the payment is never presumed
// absent, and PayAgain does not submit it.
func TestShownOnceIsNeverAbsent(t *testing.T) {
	row := `{"code":100,"uniqueId":"1","transactionId":"a","transactionAmount":"12.50","transactionCurrency":"USD"}`
	for name, tt := range map[string]struct {
		page string
		want string
	}{
		"nothing":                       {clienttest.Page(), "presumed absent"},
		"another transaction":           {clienttest.Page(strings.Replace(row, `"a"`, `"b"`, 1)), "presumed absent"},
		"another amount":                {clienttest.Page(strings.Replace(row, "12.50", "12.51", 1)), "unknown"},
		"currency in small letters":     {clienttest.Page(strings.Replace(row, "USD", "usd", 1)), "unknown"},
		"no amount":                     {clienttest.Page(strings.Replace(row, `"transactionAmount":"12.50",`, "", 1)), "unknown"},
		"a code that says nothing":      {clienttest.Page(strings.Replace(row, "100", "777", 1)), "unknown"},
		"a row that cannot be read":     {clienttest.Page(strings.Replace(row, `"12.50"`, "[]", 1)), "unknown"},
		"a row announced and not given": {clienttest.Page(""), "unknown"},
	} {
		inBubble(t, sandbox.Options{}, func(t *testing.T, s *shop) {
			s.network = &shownOnce{tt.page}
			_, err := s.TokenPayment(t.Context(), cardgateway.NewToken("a-token"), clienttest.TokenPaymentRequest("a"))
			if !errors.Is(err, cardgateway.ErrOutcomeUnknown) {
				t.Fatalf("%s: got %v", name, err)
			}
			if got := s.toldInTheEnd(); got != tt.want {
				t.Errorf("%s: got %q, want %q", name, got, tt.want)
			}
		})
	}
}
