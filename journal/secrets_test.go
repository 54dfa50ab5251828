package journal_test

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/internal/test/clienttest"
	"github.com/cardgateway/cardgateway-go/journal"
	"github.com/cardgateway/cardgateway-go/sandbox"
)

// TestNothingSecretIsStored pays with a card and a token at a gateway that repeats both wherever it can, and searches
// what is stored.
func TestNothingSecretIsStored(t *testing.T) {
	const token = "tok/with?odd=characters&4711"
	var stored []byte
	inBubble(t, sandbox.Options{}, func(t *testing.T, s *shop) {
		s.network = echo{token, testNumber}
		j := s.restarted(journal.Options{})
		for id, message := range map[string]string{"paid": "100", "redirect": "301", "declined": "101", "odd": "999", "refused": "400"} {
			_, _ = j.CreateSubscription(context.WithValue(t.Context(), codeKey{}, message), order(id, "987"))
			byToken := clienttest.TokenPaymentRequest(id + "-token")
			_, _ = j.TokenPayment(context.WithValue(t.Context(), codeKey{}, message), cardgateway.NewToken(token), byToken)
		}
		for e, err := range s.store.Unacked(t.Context(), key("").Shop) {
			text, failed := json.Marshal(e)
			if err != nil || failed != nil {
				t.Fatal(err, failed)
			}
			stored = append(append(stored, text...), '\n')
		}
	})
	if n := bytes.Count(stored, []byte(`"state"`)); n != 10 {
		t.Errorf("%d outcomes are stored, want 10", n)
	}
	for _, secret := range []string{token, "tok/with", "tok%2Fwith", testNumber, testNumber[:6], "987", "Ada Example", "4711"} {
		if bytes.Contains(stored, []byte(secret)) {
			t.Errorf("the store holds %q", secret)
		}
	}
}

type codeKey struct{}

// echo responds with the code that the request's context names, and with the secrets in every text.
type echo struct{ token, number string }

func (e echo) RoundTrip(r *http.Request) (*http.Response, error) {
	var sent bytes.Buffer
	_, _ = sent.ReadFrom(r.Body)
	id, _, _ := strings.Cut(strings.SplitN(sent.String(), `"transactionId":"`, 2)[1], `"`)
	code, _ := r.Context().Value(codeKey{}).(string)
	unique := `"uniqueId":"1",`
	if code == "400" {
		unique = ""
	}
	text := e.token + " " + e.number + " 987"
	return clienttest.Respond(r, http.StatusOK, `{"code":`+code+`,`+unique+`"transactionId":"`+id+`","message":"`+text+`","transactionMessage":"`+text+
		`","billDescription":"`+text+`","transactionMethod":"`+text+`","transactionType":"`+text+`","token":"`+e.token+
		`","transactionAmount":"12.50","transactionCurrency":"USD","transactionCardNumber":"`+e.number+
		`","redirectUrl":"https://pay.example.com/?n=`+e.number+`&t=tok%2Fwith%3Fodd%3Dcharacters%264711"}`)
}

// TestAddressesWithCards: a redirect URL that contains the card number, in any grouping, or the verification code is not
// stored; any other is.
func TestAddressesWithCards(t *testing.T) {
	for _, test := range []struct {
		query string
		kept  bool
	}{
		{"order=17", true},
		{"order=1750", true},
		{"cvv=750", false},
		{"cvv=%37%35%30", false},
		{"cvv=%2537%2535%2530", false},
		{"back=%750", true}, // the digits of an escape
		{"n=4300-0000-0000-0000", false},
		{"n=4300%2D0000%2D0000%2D0000", false},
		{"n=4300+0000+0000+0000", false},
		{"n=4300%200000%200000%200000", false},
	} {
		runInBubble(t, test.query, sandbox.Options{}, func(t *testing.T, s *shop) {
			s.network = rewriting{s.network, func(_ *http.Request, body []byte) []byte {
				return bytes.Replace(body, []byte(`/hosted/3d/`), []byte(`/hosted/3d/?`+test.query+`&x=`), 1)
			}}
			waiting, err := s.pay("a", "750")
			if err != nil || !strings.Contains(waiting.RedirectURL, test.query) {
				t.Fatalf("%s: got %v, %v", test.query, waiting, err)
			}
			e, err := s.store.Get(t.Context(), key("a"))
			if err != nil || len(e.Evidence) != 1 {
				t.Fatalf("%s: got %v, %v", test.query, e, err)
			}
			if kept := e.Evidence[0].Transaction.RedirectURL != ""; kept != test.kept {
				t.Errorf("%s: kept is %t, want %t", test.query, kept, test.kept)
			}
		})
	}
}
