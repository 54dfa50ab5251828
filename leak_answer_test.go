package cardgateway

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"github.com/cardgateway/cardgateway-go/internal/redact"
	"github.com/cardgateway/cardgateway-go/internal/wire"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// What a gateway writes into its answers is looked through before it is kept: the call's own secrets are taken out in
// whatever form, foreign card numbers are masked in errors, and identifiers stay whole.

func TestSecretsInAnswers(t *testing.T) {
	const otherCard, slashed = "4539000000000001", `tk\/9f8e+7d6c5b4a=x`
	escapedToken := string(wire.EscapePathElement([]byte(testToken)))
	coded := `tk\u002f9f8e\u002B7d6c5b4a=x`
	tests := []struct {
		name, members string // of an answer about t-1
		hidden        string // what must not be seen
		onlyFailed    bool   // it may stay in a success
	}{
		{"token in the message", `"message":"token ` + testToken + ` accepted"`, testToken, false},
		{"token with escaped slash in the message", `"transactionMessage":"` + slashed + `"`, testToken, false},
		{"token in an unknown member", `"tokenization":"` + testToken + `"`, testToken, false},
		{"token with escaped slash in an unknown member", `"tokenization":"` + slashed + `"`, testToken, false},
		{"token in code points in an unknown member", `"tokenization":"` + coded + `"`, testToken, false},
		{"token inside an unknown object", `"request":{"path":["/payment/` + slashed + `"]}`, testToken, false},
		{"token as a member's name", `"` + testToken + `":1`, testToken, false},
		{"escaped token as a member's name", `"` + coded + `":1`, testToken, false},
		{"token in the address", `"billingAddress":{"city":"` + testToken + `","extra":"` + testToken + `"}`, testToken, false},
		{"token in escapes of its own in the address", `"billingAddress":{"path":"tk%2f9f8e%2b7d6c5b4a%3dx"}`, "tk%2f9f8e", false},
		{"token as a path in the link", `"redirectUrl":"https://pay.example/` + escapedToken + `"`, escapedToken, true},
		{"token as the payment method", `"transactionMethod":"` + testToken + `"`, testToken, false},
		{"card in the message", `"message":"card ` + otherCard + `"`, otherCard, false},
		{"card with spaces in the message", `"message":"card 4539 0000 0000 0001"`, "4539 0000 0000 0001", false},
		{"card in the description", `"billDescription":"` + otherCard + `"`, otherCard, false},
		{"card not masked", `"transactionCardNumber":"` + otherCard + `"`, otherCard, false},
		{"card in a list", `"transactionCardNumber":["` + otherCard + `"]`, otherCard, false},
		{"card with half a character", `"transactionCardNumber":"` + otherCard + `\ud800"`, otherCard, false},
		{"card half masked", `"transactionCardNumber":"45390000000000*1"`, "45390000", false},
		{"card in the method", `"transactionMethod":"` + otherCard + `"`, otherCard, true},
		{"card in the address", `"billingAddress":{"phone":"` + otherCard + `"}`, otherCard, true},
		{"card in an unknown member", `"pan":"` + otherCard + `"`, otherCard, true},
		{"card as a number in an unknown member", `"pan":` + otherCard, otherCard, true},
		{"card inside an unknown object", `"card":{"number":"` + otherCard + `"}`, otherCard, true},
		{"card in an unreadable message", `"message":{"pan":"` + otherCard + `"}`, otherCard, true},
	}
	for _, tt := range tests {
		for _, code := range []Code{CodeSuccess, CodeFailed, CodeSystemError, CodeParameterError} {
			c := testClient(t, Config{BaseURL: testBase, HTTPClient: &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
				return respond(r, 200, fmt.Sprintf(`{"code":%d,"transactionId":"t-1",%s}`, code, tt.members))
			})}})
			tx, err := payByToken(t.Context(), c, "t-1")
			if tt.onlyFailed && err == nil {
				continue
			}
			marshaled, _ := json.Marshal([]any{tx, err})
			var o bytes.Buffer
			slog.New(slog.NewJSONHandler(&o, nil)).Info("", "tx", tx, "err", err)
			seen := fmt.Sprintf("%+v %v %s %s %s", tx, err, marshaled, o.String(), deepPrint([]any{tx, err}, false))
			for _, form := range []string{tt.hidden, strings.ReplaceAll(tt.hidden, "/", `\/`), coded} {
				if strings.Contains(seen, form) {
					t.Errorf("%s, code %d: shows %q in %s", tt.name, code, form, seen)
				}
			}
		}
	}
	t.Logf("%d answers, each with four codes", len(tests))
}

// TestTokensLikeMasks: a token that stands in no answer can appear where a card number is masked.
func TestTokensLikeMasks(t *testing.T) {
	for token, message := range map[string]string{
		"411111******1111": "card 4111111111111111", "no 123456": "no 12-34 56 7890123456",
	} {
		c := testClient(t, Config{BaseURL: testBase, HTTPClient: &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
			return respond(r, 200, fmt.Sprintf(`{"code":100,"transactionId":"t-1","message":%q}`, message))
		})}})
		tx, err := c.TokenPayment(t.Context(), NewToken(token), testTokenPayment("t-1"))
		if err != nil || tx.Message == "" || strings.Contains(tx.Message, token) {
			t.Errorf("token %s: got %v and message %q", token, err, tx.Message)
		}
	}
}

// TestIdentifiersStayWhole: secrets that happen to be a part of an identifier do not harm it, and do not show by harm.
func TestIdentifiersStayWhole(t *testing.T) {
	const id, unique = "order-1234-8765", "201806281234530000"
	for _, code := range []string{"123", "1234", "2018", "8765", "3000"} {
		c := testClient(t, Config{BaseURL: testBase, AppID: "1234", HTTPClient: &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
			return respond(r, 200, fmt.Sprintf(`{"code":101,"transactionId":%q,"uniqueId":%q,"appId":1234,"transactionCardNumber":"411111******1234"}`, id, unique))
		})}})
		for _, token := range []bool{false, true} {
			tx, err := c.CreateSubscription(t.Context(), testSubscription(id, testCardOf(testCard, code)))
			if token {
				tx, err = c.TokenPayment(t.Context(), NewToken(code+"0"), testTokenPayment(id))
			}
			if !errors.Is(err, ErrDeclined) || tx.UniqueID != unique || tx.TransactionID != id || tx.AppID != "1234" || tx.TransactionCardNumber.Last4() != "1234" {
				t.Errorf("code %s, token %v: got %+v", code, token, tx)
			}
			if want := fmt.Sprintf("%q", id); !strings.Contains(err.Error(), want) {
				t.Errorf("code %s: %v, want %s in it", code, err, want)
			}
		}
	}
}

// TestCredentialsInErrors: a transport that prints the headers in its error does not give them away.
func TestCredentialsInErrors(t *testing.T) {
	var o observed
	logger := slog.New(slog.NewTextHandler(&o, &slog.HandlerOptions{Level: slog.LevelDebug}))
	hooks := map[string]func(*http.Request, []byte) error{
		"basic": BasicAuth(testMerchant, testSecretKey),
		"bearer": func(r *http.Request, _ []byte) error {
			r.Header.Set("Authorization", "Bearer "+testSecretKey)
			return nil
		},
		"quoting": func(r *http.Request, _ []byte) error {
			r.SetBasicAuth(testMerchant, testSecretKey)
			return fmt.Errorf("too old: %v", r.Header)
		},
		"error": func(*http.Request, []byte) error {
			return &url.Error{Op: "Get", URL: "https://vault.example/x", Err: errReset}
		},
	}
	for name, hook := range hooks {
		c := testClient(t, Config{BaseURL: testBase, Logger: logger, Authenticate: hook, HTTPClient: &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
			user, password, _ := r.BasicAuth()
			return nil, fmt.Errorf("cannot send %v of %s with %s", r.Header, user, password)
		})}})
		_, payErr := payByToken(t.Context(), c, "t-1")
		_, queryErr := c.GetTransaction(t.Context(), "1")
		o.add(payErr, queryErr)
		if found := leaked(o.text.String(), testSecretKey, testBasicValue, "vault.example"); found != nil {
			t.Errorf("%s: shows %q", name, found)
		}
		if !errors.Is(payErr, ErrNotSent) || !errors.Is(queryErr, ErrQueryFailed) {
			t.Errorf("%s: got %v and %v", name, payErr, queryErr)
		}
	}
}

// TestCredentialsInAnswers: a gateway that quotes what the hook has set does not give it away, whatever it answers, and
// what it says besides stays.
func TestCredentialsInAnswers(t *testing.T) {
	const apiKey = "0123456789012345678-api-key" // with digits that are masked before anything is looked for
	const listed = "key-after-a-colon"
	hook := func(r *http.Request, body []byte) error {
		r.Header.Set("X-Api-Key", apiKey)
		r.Header.Set("X-Shop-Auth", "ApiKey "+testMerchant+":"+listed)
		return BasicAuth(testMerchant, testSecretKey)(r, body)
	}
	const row = `{"code":101,"transactionId":"t-1","uniqueId":"2","transactionAmount":"12.50","transactionCurrency":"USD","message":"kept %[1]s",` +
		`"transactionMethod":"%[1]s","transactionType":"%[1]s","billingAddress":{"city":"%[1]s"},"note":"%[1]s"}`
	for _, answer := range []string{
		`{"code":401,"message":"kept","transactionMessage":"%s"}`, `{"code":999,"message":"kept %s"}`, `{"code":101,"transactionMessage":"kept %s"}`,
		`{"code":122,"message":"kept","transactionMessage":"%s"}`, `{"code":100,"transactionId":"t-1","uniqueId":"2","message":"kept %[1]s","note":"%[1]s"}`,
		row, `{"code":121,"currPage":1,"pageSize":10,"totalCount":1,"data":[` + row + `]}`,
		`{"code":121,"currPage":1,"pageSize":10,"totalCount":1,"data":[{"code":111,"refundUniqueId":"3","message":"kept %[1]s"}]}`,
	} {
		for name, said := range map[string]string{
			"header": "Basic " + testBasicValue, "value without padding": strings.TrimRight(testBasicValue, "="), "secret key": testSecretKey, "API key": apiKey,
			"key in a list": listed,
		} {
			synctest.Test(t, func(t *testing.T) {
				c := testClient(t, Config{
					BaseURL: testBase, Authenticate: hook, Retry: RetryPolicy{MaxAttempts: 1},
					HTTPClient: &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
						return respond(r, 200, fmt.Sprintf(answer, said))
					})},
				})
				var o observed
				tx, payErr := payByToken(t.Context(), c, "t-1")
				end := time.Now()
				orders, orderErr := c.SearchOrders(t.Context(), OrderQuery{Start: end.Add(-time.Hour), End: end})
				refunds, refundErr := c.SearchRefunds(t.Context(), RefundQuery{Start: end.Add(-time.Hour), End: end})
				one, oneErr := c.GetTransaction(t.Context(), "2")
				settled, settleErr := c.Resolve(t.Context(), ResolveQuery{TransactionID: "t-1", Amount: testAmount, Currency: "USD", SentAt: end})
				o.add(tx, payErr, orders, orderErr, refunds, refundErr, one, oneErr, settled, settleErr)
				text := o.text.String()
				if found := leaked(text, testSecretKey, strings.TrimRight(testBasicValue, "="), listed, apiKey, apiKey[:6], apiKey[len(apiKey)-8:]); found != nil {
					t.Errorf("%s in %s: shows %q in %s", name, answer, found, text)
				}
				if !strings.Contains(text, "kept") {
					t.Errorf("%s in %s: nothing is left of the gateway's words in %s", name, answer, text)
				}
			})
		}
	}
}

// TestShortCredentials: a short one is hidden where something failed, and costs no harmless word where nothing did.
func TestShortCredentials(t *testing.T) {
	for name, header := range map[string]string{"Authorization": "s3cr3t", "Proxy-Authorization": "Bearer s3cr3t", "X-Api-Key": "s3cr3t", "Cookie": "session=s3cr3t-and-more"} {
		secret := "s3cr3t"
		if name == "Cookie" {
			secret = "s3cr3t-and-more"
		}
		answers := []scripted{gives(200, `{"code":122,"message":"kept, `+secret+`"}`)}
		s := script{answers: answers}
		c := s.client(t, Config{Authenticate: func(r *http.Request, _ []byte) error { r.Header.Set(name, header); return nil }})
		end := time.Now()
		_, err := c.SearchOrders(t.Context(), OrderQuery{Start: end.Add(-time.Hour), End: end})
		if err == nil || strings.Contains(err.Error(), secret) || !strings.Contains(err.Error(), "kept, ***") {
			t.Errorf("%s: got %v", name, err)
		}
	}
	const more = `,"billDescription":"shop","transactionMethod":"shop","billingAddress":{"country":"US","email":"ada@shop.example","zipCode":"shop"},"link":"https://shop.example"`
	s := script{answers: []scripted{gives(200, answerFor("t-1", CodeFailed, more))}}
	c := s.client(t, Config{Authenticate: BasicAuth(testMerchant, "shop")})
	tx, err := c.GetTransaction(t.Context(), "2018062815300001")
	if err != nil || tx.BillDescription != "shop" || tx.BillingAddress.Email != "ada@shop.example" || string(tx.Extra["link"]) != `"https://shop.example"` {
		t.Errorf("a word that is the password too: got %+v, %v", tx, err)
	}
	tx, err = payByToken(t.Context(), c, "t-1")
	if !errors.Is(err, ErrDeclined) || tx.TransactionMethod != "shop" {
		t.Errorf("a word that is the password too, in a decline: got %+v, %v", tx, err)
	}
}

// TestHeadersThatSpeakOfCredentials: how something is signed is no credential.
func TestHeadersThatSpeakOfCredentials(t *testing.T) {
	s := script{answers: []scripted{gives(200, answerFor("t-1", CodeFailed, `,"transactionMessage":"card expired"`))}}
	c := s.client(t, Config{Authenticate: func(r *http.Request, _ []byte) error {
		r.Header.Set("X-Sign-Type", "card")
		return nil
	}})
	if _, err := payByToken(t.Context(), c, "t-1"); !strings.Contains(err.Error(), "card expired") {
		t.Errorf("got %v", err)
	}
}

// TestErrorsOfHooks: digits in one are no reason to withhold it, and one among several that is nil does no harm.
func TestErrorsOfHooks(t *testing.T) {
	vault := errors.New("vault sealed, request 1700000000000")
	for _, hook := range []error{vault, several{vault, nil}} {
		c := testClient(t, Config{BaseURL: testBase, Authenticate: func(*http.Request, []byte) error { return hook }})
		if _, err := payByToken(t.Context(), c, "t-1"); !errors.Is(err, vault) || !errors.Is(err, ErrNotSent) {
			t.Errorf("got %v", err)
		}
	}
}

// several is an error of some that need not be.
type several []error

func (s several) Error() string   { return "several" }
func (s several) Unwrap() []error { return s }

// TestSpellingsOfTokens: a token that the gateway quotes with escapes, of which there are many, is not shown.
func TestSpellingsOfTokens(t *testing.T) {
	const token = "tk/9f8e+7d6c5b4a=x"
	for _, spelled := range []string{
		token, url.PathEscape(token), url.QueryEscape(token), strings.ToLower(url.QueryEscape(token)), url.QueryEscape(url.QueryEscape(token)),
		"%zz" + url.QueryEscape(token), `{\"path\":\"\\/payment\\/` + strings.ReplaceAll(token, "/", `\\/`) + `\"}`, `tk\\u002F9f8e\\u002b7d6c5b4a\\u003dx`,
		`\\u00 \\x tk\\/9f8e+7d6c5b4a=x\\`,
	} {
		c := testClient(t, Config{BaseURL: testBase, HTTPClient: &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
			return respond(r, 200, `{"code":101,"transactionMessage":"no such token `+spelled+`"}`)
		})}})
		_, err := c.TokenPayment(t.Context(), NewToken(token), testTokenPayment("t-1"))
		if !errors.Is(err, ErrDeclined) || strings.Contains(err.Error(), "9f8e") {
			t.Errorf("%s: got %v", spelled, err)
		}
	}
}

// TestSecretsThatLookEscaped: what looks like an escape in a secret is a part of it.
func TestSecretsThatLookEscaped(t *testing.T) {
	for _, tt := range []struct{ secret, said string }{
		{"k9%2Fzz/Q7x-secret-00", `bad header {\"key\":\"k9%2Fzz\\/Q7x-secret-00\"}`},
		{"k9%2Fzz/Q7x-secret-00", `bad header k9%252Fzz%2FQ7x-secret-00`},
		{`pa\u0041ss\nword12`, `%70a\\u0041ss\\nword12`},
	} {
		s := script{answers: []scripted{gives(401, `{"code":401,"message":"`+tt.said+`"}`)}}
		c := s.client(t, Config{Authenticate: func(r *http.Request, _ []byte) error { r.Header.Set("X-Api-Key", tt.secret); return nil }})
		if _, err := payByToken(t.Context(), c, "t-1"); !strings.Contains(err.Error(), `"***"`) {
			t.Errorf("%s: got %v", tt.said, err)
		}
	}
}

// TestNumbersInBrokenAnswers: net/http quotes what it cannot read of an answer, which can be anybody's card number.
func TestNumbersInBrokenAnswers(t *testing.T) {
	for _, line := range []string{"card 4539000000000001 refused", "4539 0000 0000 0001", "X: a\r\n 4539-0000-0000-0001"} {
		base := rawServer(t, func(conn net.Conn) {
			rawRequests(conn, func(*http.Request, []byte) bool {
				_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\n"+line+"\r\n\r\n")
				return false
			})
		})
		c := testClient(t, Config{BaseURL: base, Retry: RetryPolicy{MaxAttempts: 1}})
		_, payErr := payByToken(t.Context(), c, "t-1")
		_, queryErr := c.GetTransaction(t.Context(), "1")
		for _, err := range []error{payErr, queryErr} {
			if text := fmt.Sprintf("%v %+v %#v", err, err, err); leaked(text, "4539000000000001", "4539 0000", "4539-0000") != nil {
				t.Errorf("%q: got %s", line, text)
			}
		}
	}
	joined := redact.Secrets{[]byte(testToken)}.Error(errors.Join(errReset, fmt.Errorf("two: %w, %w", errLimited, leaky{})))
	if text := fmt.Sprintf("%v %#v", joined, joined); strings.Contains(text, "leaky") && !strings.Contains(text, "withheld") {
		t.Errorf("joined errors: got %s", text)
	}
}

// leaky shows a token only by %#v.
type leaky struct{}

func (leaky) Error() string    { return "leaky" }
func (leaky) GoString() string { return testToken }

// TestQuotedTokensInErrors: a token with characters that a quoting verb escapes is found in that form too.
func TestQuotedTokensInErrors(t *testing.T) {
	for _, token := range []string{`a"bcdefgh`, `a\bcdefgh`, "tökén-abc"} {
		for _, verb := range []string{"%s", "%q", "%v"} {
			c := testClient(t, Config{BaseURL: testBase, HTTPClient: &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
				return nil, fmt.Errorf(verb, r.URL.Path)
			})}})
			_, err := c.TokenPayment(t.Context(), NewToken(token), testTokenPayment("t-1"))
			if strings.Contains(err.Error(), "payment/") || strings.Contains(err.Error(), "bcdefgh") {
				t.Errorf("%s in %s: got %v", token, verb, err)
			}
		}
	}
}

// TestClientShowsNoConnection: a printer that is given the client does not get to the connections, whose buffers hold
// the head of the last request.
func TestClientShowsNoConnection(t *testing.T) {
	s := answering(t, answerFor("t-1", CodeSuccess, ""))
	for name, cfg := range map[string]Config{
		"own transport": {}, "given transport": {HTTPClient: &http.Client{Transport: &http.Transport{}}}, "given client": {HTTPClient: &http.Client{}},
	} {
		cfg.BaseURL, cfg.Authenticate = s.URL, BasicAuth(testMerchant, testSecretKey)
		c := testClient(t, cfg)
		if _, err := payByToken(t.Context(), c, "t-1"); err != nil {
			t.Fatal(err)
		}
		if reaches(c, "http.Transport") {
			t.Errorf("%s: a printer gets from the client to its transport", name)
		}
		if text := fmt.Sprintf("%v %+v %#v", c, c, *c); leaked(text, testToken, testSecretKey) != nil {
			t.Errorf("%s: the client prints as %s", name, text)
		}
	}
}
