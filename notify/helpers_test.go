package notify_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/jarcoal/httpmock"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/internal/test/clienttest"
	"github.com/cardgateway/cardgateway-go/notify"
)

// Helpers of the tests: a merchant who receives notifications, and the notifications of testdata.

const gatewayURL = "https://gateway.test"

// newClient returns a client whose gateway is transport; nil means that it is not called.
func newClient(t testing.TB, transport http.RoundTripper) *cardgateway.Client {
	t.Helper()
	if transport == nil {
		transport = httpmock.NewMockTransport()
	}
	return clienttest.NewClient(t, cardgateway.Config{
		BaseURL: gatewayURL, AppID: "77", TestPayments: true, HTTPClient: &http.Client{Transport: transport},
	})
}

// says reports whether the text of err contains want; an empty want means no error.
func says(err error, want string) bool {
	if want == "" {
		return err == nil
	}
	return err != nil && strings.Contains(err.Error(), want)
}

// shop is a merchant who receives notifications, and the gateway that it queries.
type shop struct {
	http.Handler
	gateway *httpmock.MockTransport
	mu      sync.Mutex
	handled []notify.Notification                             // arguments of the calls of the merchant's function
	fail    error                                             // its result
	handle  func(context.Context, *notify.Notification) error // called instead, if set
	quiet   bool                                              // observed values are not recorded
	infos   []notify.Info
}

// newShop returns a shop whose gateway knows one transaction, 987654321, which is approved.
func newShop(t testing.TB, opts notify.Options) *shop {
	t.Helper()
	s := &shop{gateway: httpmock.NewMockTransport()}
	s.knows("987654321", `{"code":100,"uniqueId":"987654321","transactionId":"order-1","transactionAmount":"20.00","transactionCurrency":"USD"}`)
	opts.Observe = func(_ context.Context, info notify.Info) {
		s.mu.Lock()
		defer s.mu.Unlock()
		if !s.quiet {
			s.infos = append(s.infos, info)
		}
	}
	s.Handler = notify.NewHandler(newClient(t, s.gateway), opts, func(ctx context.Context, n *notify.Notification) error {
		if s.handle != nil {
			return s.handle(ctx, n)
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		s.handled = append(s.handled, *n)
		return s.fail
	})
	return s
}

// knows sets what the gateway responds about a transaction.
func (s *shop) knows(uniqueID, response string) {
	s.gateway.RegisterResponder("GET", gatewayURL+"/search/order/"+uniqueID, httpmock.NewStringResponder(200, response))
}

// refunds sets what the gateway responds to a refund query.
func (s *shop) refunds(rows string) {
	page := fmt.Sprintf(`{"code":121,"currPage":1,"pageSize":10,"totalCount":1,"totalPage":1,"data":[%s]}`, rows)
	s.gateway.RegisterResponder("GET", gatewayURL+"/search/list/refund", httpmock.NewStringResponder(200, page))
}

// orders sets what the gateway responds to an order query.
func (s *shop) orders(rows string) {
	page := fmt.Sprintf(`{"code":121,"currPage":1,"pageSize":10,"totalCount":1,"totalPage":1,"data":[%s]}`, rows)
	s.gateway.RegisterResponder("GET", gatewayURL+"/search/list/order", httpmock.NewStringResponder(200, page))
}

// post delivers a JSON notification to target, which may be empty.
func (s *shop) post(target, body string) *httptest.ResponseRecorder {
	if target == "" {
		target = "/notify"
	}
	r := httptest.NewRequest("POST", target, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	return s.serve(r)
}

func (s *shop) serve(r *http.Request) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return w
}

// expect checks the status of one delivery, and the number of calls of the merchant's function since the start.
func (s *shop) expect(t *testing.T, w *httptest.ResponseRecorder, status, handled int) {
	t.Helper()
	var err error
	if len(s.infos) > 0 {
		err = s.infos[len(s.infos)-1].Err
	}
	if w.Code != status || len(s.handled) != handled {
		t.Errorf("got status %d (%v) and %d calls of the merchant, want %d and %d", w.Code, err, len(s.handled), status, handled)
	}
	if w.Body.Len() > 0 {
		t.Errorf("response: got %q, want none", w.Body)
	}
}

// notified is one notification of testdata; see testdata/README.md.
type notified struct {
	Source, ContentType, SecretKey string
	Body                           json.RawMessage
}

// body returns the bytes as they are sent.
func (x *notified) body(t testing.TB) []byte {
	t.Helper()
	if x.ContentType == "application/json" {
		return x.Body
	}
	var form string
	if err := json.Unmarshal(x.Body, &form); err != nil {
		t.Fatal(err)
	}
	return []byte(form)
}

// notifications reads every notification of testdata, by name.
func notifications(t testing.TB) map[string]notified {
	t.Helper()
	files, err := filepath.Glob("../testdata/notifications/*.json")
	if err != nil || len(files) < 10 {
		t.Fatalf("found %d notifications, want at least 10 (%v)", len(files), err)
	}
	all := map[string]notified{}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var x notified
		if err := json.Unmarshal(data, &x); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		all[strings.TrimSuffix(filepath.Base(file), ".json")] = x
	}
	return all
}

func mustParse(t testing.TB, body string) *notify.Notification {
	t.Helper()
	return mustParseAs(t, []byte(body), "application/json")
}

func mustParseAs(t testing.TB, body []byte, media string) *notify.Notification {
	t.Helper()
	n, err := notify.Parse(body, media)
	if err != nil {
		t.Fatalf("%v in %s", err, body)
	}
	return n
}
