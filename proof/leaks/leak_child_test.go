package leaks_test

import (
	"bytes"
	"context"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/internal/test/clienttest"
)

// Some sinks are the process itself: what the runtime prints when it dies of a panic, and what net/http prints about
// HTTP/2 when GODEBUG asks for it. Each is tried in a child process, whose whole output is searched.

// childModes are what a child can do. It is this test program again, told by an environment variable.
var childModes = map[string]func(){
	"panic with the card":   func() { panic(clienttest.NewCard(clienttest.CardNumber, clienttest.CVV)) },
	"panic with the number": func() { panic(cardgateway.NewCardNumber(clienttest.CardNumber)) },
	"panic with the token":  func() { panic(cardgateway.NewToken(clienttest.Token)) },
	"panic with the request": func() {
		panic(clienttest.SubscriptionRequest("t", clienttest.NewCard(clienttest.CardNumber, clienttest.CVV)))
	},
	"panic with a pointer": func() {
		panic(new(clienttest.SubscriptionRequest("t", clienttest.NewCard(clienttest.CardNumber, clienttest.CVV))))
	},
	"panic with an error": func() {
		panic(fmt.Errorf("card %v, token %#v", cardgateway.NewCardNumber(clienttest.CardNumber), cardgateway.NewToken(clienttest.Token)))
	},
	"panic in a transport": func() {
		childPays(&http.Client{Transport: clienttest.RoundTrip(func(*http.Request) (*http.Response, error) { panic("in the transport") })}, clienttest.BaseURL)
	},
	"http2debug": func() {
		s := childServer()
		defer s.Close()
		childPays(s.Client(), s.URL)
		log.Print("child has paid")
	},
	"control": func() { // what the test would see if the client spoke HTTP/2
		s := childServer()
		defer s.Close()
		r, _ := http.NewRequestWithContext(context.Background(), "POST", s.URL+"/"+url.PathEscape(clienttest.Token), strings.NewReader(clienttest.CardNumber))
		resp, err := s.Client().Do(r)
		if err == nil {
			_ = resp.Body.Close()
		}
		log.Print("child has paid")
	},
}

func childServer() *httptest.Server {
	s := httptest.NewUnstartedServer(http.HandlerFunc(clienttest.Approve))
	s.EnableHTTP2 = true
	s.StartTLS()
	return s
}

func childPays(h *http.Client, base string) {
	c, err := cardgateway.New(cardgateway.Config{
		BaseURL: base, AppID: "1", TestPayments: true, HTTPClient: h, Authenticate: cardgateway.BasicAuth(clienttest.Merchant, clienttest.SecretKey),
	})
	if err != nil {
		log.Fatal(err)
	}
	for _, op := range clienttest.PaymentOperations[:2] {
		if tx, err := op.Call(context.Background(), c, "t-1"); err != nil || tx.State() != cardgateway.StateApproved {
			log.Fatal(op.Name, " ", err)
		}
	}
}

func TestMain(m *testing.M) {
	if do, ok := childModes[os.Getenv("CARDGATEWAY_TEST_CHILD")]; ok {
		do()
		return
	}
	os.Exit(m.Run())
}

// child runs this program in a mode and returns all that it prints.
func child(t *testing.T, mode string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), "CARDGATEWAY_TEST_CHILD="+mode, "GODEBUG=http2debug=2", "GOTRACEBACK=system")
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	if panics := strings.HasPrefix(mode, "panic"); panics != (err != nil) || out.Len() == 0 {
		t.Fatalf("child %q: %v\n%s", mode, err, out.String())
	}
	return out.String()
}

func TestDyingShowsNothing(t *testing.T) {
	for mode := range childModes {
		if mode == "control" {
			continue
		}
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			out := child(t, mode)
			if found := clienttest.Leaked(
				out, clienttest.CardNumber, clienttest.Token, url.PathEscape(clienttest.Token), `"cvv":"`+clienttest.CVV, clienttest.SecretKey,
				clienttest.BasicValue,
			); found != nil {
				t.Errorf("the output shows %q:\n%s", found, out)
			}
			if mode == "http2debug" && strings.Contains(out, "http2:") {
				t.Errorf("HTTP/2 was spoken:\n%.1000s", out)
			}
		})
	}
}

// TestControlShows makes sure that the test above would see a leak.
func TestControlShows(t *testing.T) {
	t.Parallel()
	if out := child(
		t, "control",
	); clienttest.Leaked(out, clienttest.CardNumber) == nil || clienttest.Leaked(out, clienttest.Token, url.PathEscape(clienttest.Token)) == nil {
		t.Errorf("the HTTP/2 debug log of a plain client shows neither body nor path:\n%.2000s", out)
	}
}
