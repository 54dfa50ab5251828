package leaks_test

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/internal/test/clienttest"
)

// What the Authenticate hook sets does not appear in errors or results, whether the transport, the gateway or the hook
// itself repeats it.

// TestCredentialsInErrors: they do not appear even if a transport prints the headers in its error.
func TestCredentialsInErrors(t *testing.T) {
	var o observed
	logger := slog.New(slog.NewTextHandler(&o, &slog.HandlerOptions{Level: slog.LevelDebug}))
	hooks := map[string]func(*http.Request, []byte) error{
		"basic": cardgateway.BasicAuth(clienttest.Merchant, clienttest.SecretKey),
		"bearer": func(r *http.Request, _ []byte) error {
			r.Header.Set("Authorization", "Bearer "+clienttest.SecretKey)
			return nil
		},
		"quoting": func(r *http.Request, _ []byte) error {
			r.SetBasicAuth(clienttest.Merchant, clienttest.SecretKey)
			return fmt.Errorf("too old: %v", r.Header)
		},
		"error": func(*http.Request, []byte) error {
			return &url.Error{Op: "Get", URL: "https://vault.example/x", Err: clienttest.ErrReset}
		},
	}
	for name, hook := range hooks {
		t.Run(name, func(t *testing.T) {
			c := clienttest.NewClient(t,
				cardgateway.Config{BaseURL: clienttest.BaseURL, Logger: logger, Authenticate: hook,
					HTTPClient: &http.Client{Transport: clienttest.RoundTrip(func(r *http.Request) (*http.Response, error) {
						user, password, _ := r.BasicAuth()
						return nil, fmt.Errorf("cannot send %v of %s with %s", r.Header, user, password)
					})}})
			_, payErr := clienttest.PayByToken(t.Context(), c, "t-1")
			_, queryErr := c.GetTransaction(t.Context(), "1")
			o.add(payErr, queryErr)
			if found := clienttest.Leaked(o.String(), clienttest.SecretKey, clienttest.BasicValue, "vault.example"); found != nil {
				t.Errorf("%s: shows %q", name, found)
			}
			if !errors.Is(payErr, cardgateway.ErrNotSent) || !errors.Is(queryErr, cardgateway.ErrQueryFailed) {
				t.Errorf("%s: got %v and %v", name, payErr, queryErr)
			}
		})
	}
}

// TestCredentialsInResponses: they do not appear even if the gateway repeats them, whatever it responds; the rest of its
// text remains.
func TestCredentialsInResponses(t *testing.T) {
	const apiKey = "0123456789012345678-api-key" // with digits that are masked before anything is looked for
	const listed = "key-after-a-colon"
	const signed = "a-signature-in-the-query"
	hook := func(r *http.Request, body []byte) error {
		parameters := r.URL.Query()
		parameters.Set("sign", signed)
		r.URL.RawQuery = parameters.Encode()
		r.Header.Set("X-Api-Key", apiKey)
		r.Header.Set("X-Shop-Auth", "ApiKey "+clienttest.Merchant+":"+listed)
		return cardgateway.BasicAuth(clienttest.Merchant, clienttest.SecretKey)(r, body)
	}
	const row = `{"code":101,"transactionId":"t-1","uniqueId":"2","transactionAmount":"12.50","transactionCurrency":"USD","message":"kept %[1]s",` +
		`"transactionMethod":"%[1]s","transactionType":"%[1]s","billingAddress":{"city":"%[1]s"},"note":"%[1]s"}`
	for _, response := range []string{
		`{"code":401,"message":"kept","transactionMessage":"%s"}`, `{"code":999,"message":"kept %s"}`, `{"code":101,"transactionMessage":"kept %s"}`,
		`{"code":122,"message":"kept","transactionMessage":"%s"}`, `{"code":100,"transactionId":"t-1","uniqueId":"2","message":"kept %[1]s","note":"%[1]s"}`,
		row, `{"code":121,"currPage":1,"pageSize":10,"totalCount":1,"data":[` + row + `]}`,
		`{"code":121,"currPage":1,"pageSize":10,"totalCount":1,"data":[{"code":111,"refundUniqueId":"3","message":"kept %[1]s"}]}`,
	} {
		for name, said := range map[string]string{
			"header": "Basic " + clienttest.BasicValue, "value without padding": strings.TrimRight(
				clienttest.BasicValue, "=",
			), "secret key": clienttest.SecretKey, "API key": apiKey,
			"key in a list": listed, "signature in the query": signed,
		} {
			t.Run(name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					c := clienttest.NewClient(t, cardgateway.Config{
						BaseURL: clienttest.BaseURL, Authenticate: hook, Retry: cardgateway.RetryPolicy{MaxAttempts: 1},
						HTTPClient: &http.Client{Transport: clienttest.RoundTrip(func(r *http.Request) (*http.Response, error) {
							return clienttest.Respond(r, 200, fmt.Sprintf(response, said))
						})},
					})
					var o observed
					tx, payErr := clienttest.PayByToken(t.Context(), c, "t-1")
					end := time.Now()
					orders, orderErr := c.SearchOrders(t.Context(), cardgateway.OrderQuery{Start: end.Add(-time.Hour), End: end}, cardgateway.PageRequest{})
					refunds, refundErr := c.SearchRefunds(t.Context(), cardgateway.RefundQuery{Start: end.Add(-time.Hour), End: end}, cardgateway.PageRequest{})
					one, oneErr := c.GetTransaction(t.Context(), "2")
					settled, settleErr := c.Resolve(t.Context(), cardgateway.ResolveQuery{TransactionID: "t-1", Amount: clienttest.Amount, Currency: "USD", SentAt: end})
					o.add(tx, payErr, orders, orderErr, refunds, refundErr, one, oneErr, settled, settleErr)
					text := o.String()
					if found := clienttest.Leaked(
						text, clienttest.SecretKey, strings.TrimRight(clienttest.BasicValue, "="), listed, signed, apiKey, apiKey[:6], apiKey[len(apiKey)-8:],
					); found != nil {
						t.Errorf("%s in %s: shows %q in %s", name, response, found, text)
					}
					if !strings.Contains(text, "kept") {
						t.Errorf("%s in %s: nothing is left of the gateway's words in %s", name, response, text)
					}
				})
			})
		}
	}
}

// TestShortCredentials: a short credential is hidden in failures; in results without a failure, harmless words are not
// masked.
func TestShortCredentials(t *testing.T) {
	for name, header := range map[string]string{
		"Authorization": "s3cr3t", "Proxy-Authorization": "Bearer s3cr3t", "X-Api-Key": "s3cr3t", "Cookie": "session=s3cr3t-and-more",
	} {
		t.Run(name, func(t *testing.T) {
			secret := "s3cr3t"
			if name == "Cookie" {
				secret = "s3cr3t-and-more"
			}
			responses := []clienttest.Scripted{clienttest.Gives(200, `{"code":122,"message":"kept, `+secret+`"}`)}
			s := clienttest.Script{Responses: responses}
			c := s.Client(t, cardgateway.Config{Authenticate: func(r *http.Request, _ []byte) error { r.Header.Set(name, header); return nil }})
			end := time.Now()
			_, err := c.SearchOrders(t.Context(), cardgateway.OrderQuery{Start: end.Add(-time.Hour), End: end}, cardgateway.PageRequest{})
			if err == nil || strings.Contains(err.Error(), secret) || !strings.Contains(err.Error(), "kept, ***") {
				t.Errorf("%s: got %v", name, err)
			}
		})
	}
	const more = `,"billDescription":"shop","transactionMethod":"shop","billingAddress":{"country":"US","email":"ada@shop.example","zipCode":"shop"},` +
		`"link":"https://shop.example"`
	s := clienttest.Script{Responses: []clienttest.Scripted{clienttest.Gives(200, clienttest.ResponseFor("t-1", cardgateway.CodeFailed, more))}}
	c := s.Client(t, cardgateway.Config{Authenticate: cardgateway.BasicAuth(clienttest.Merchant, "shop")})
	tx, err := c.GetTransaction(t.Context(), "2018062815300001")
	if err != nil || tx.BillDescription != "shop" || tx.BillingAddress.Email != "ada@shop.example" || string(tx.Extra["link"]) != `"https://shop.example"` {
		t.Errorf("a word that is the password too: got %+v, %v", tx, err)
	}
	tx, err = clienttest.PayByToken(t.Context(), c, "t-1")
	if !errors.Is(err, cardgateway.ErrDeclined) || tx.TransactionMethod != "shop" {
		t.Errorf("a word that is the password too, in a decline: got %+v, %v", tx, err)
	}
}

// TestCredentialsInOneAnother: if one credential begins with another, as a key with its id, no rest of the longer one
// remains.
func TestCredentialsInOneAnother(t *testing.T) {
	for range 20 { // headers have no order
		s := clienttest.Script{Responses: []clienttest.Scripted{clienttest.Gives(200, `{"code":401,"message":"kept, no key shop-77.`+clienttest.SecretKey+`"}`)}}
		c := s.Client(t, cardgateway.Config{Authenticate: func(r *http.Request, _ []byte) error {
			r.Header.Set("X-Key-Id", "shop-77")
			r.Header.Set("X-Api-Key", "shop-77."+clienttest.SecretKey)
			return nil
		}})
		if _, err := clienttest.PayByToken(t.Context(), c, "t-1"); !strings.Contains(err.Error(), `"kept, no key ***"`) {
			t.Fatalf("got %v", err)
		}
	}
}

// TestErrorsOfHooks: digits in one are no reason to withhold it, and one among several that is nil does no harm.
func TestErrorsOfHooks(t *testing.T) {
	vault := errors.New("vault sealed, request 1700000000000")
	for _, hook := range []error{vault, several{vault, nil}} {
		c := clienttest.NewClient(t, cardgateway.Config{BaseURL: clienttest.BaseURL, Authenticate: func(*http.Request, []byte) error { return hook }})
		if _, err := clienttest.PayByToken(t.Context(), c, "t-1"); !errors.Is(err, vault) || !errors.Is(err, cardgateway.ErrNotSent) {
			t.Errorf("got %v", err)
		}
	}
}

// several is an error that joins others, some of which may be nil.
type several []error

func (s several) Error() string { return "several" }

func (s several) Unwrap() []error { return s }

// TestKeptBody: a hook that keeps the bytes of a request by mistake finds them wiped after the call, and never the card
// of a later payment.
func TestKeptBody(t *testing.T) {
	const first, second = "4111111111111111", "5555555555554444"
	var kept [][]byte
	client := clienttest.NewClient(t, cardgateway.Config{
		BaseURL:      clienttest.Serve(t, clienttest.Approve).URL,
		Authenticate: func(_ *http.Request, body []byte) error { kept = append(kept, body); return nil },
	})
	for _, number := range []string{first, second} {
		request := clienttest.SubscriptionRequest("t-"+number, clienttest.NewCard(number, "123"))
		if _, err := client.CreateSubscription(t.Context(), request); err != nil {
			t.Fatal(err)
		}
		for i, body := range kept {
			if len(body) == 0 || strings.Trim(string(body), "\x00") != "" {
				t.Errorf("request %d has left %d bytes: %.60q", i+1, len(body), body)
			}
		}
	}
}
