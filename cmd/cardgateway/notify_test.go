package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/exit"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/relay"
	"github.com/cardgateway/cardgateway-go/notify"
	"github.com/cardgateway/cardgateway-go/sandbox"
)

// noGateway are the settings that notify and replay need.
func noGateway() map[string]string {
	return map[string]string{"CARDGATEWAY_SECRET": secretKey, "CARDGATEWAY_ZONE": "UTC"}
}

// verifying answers as a handler does that looks at the signature alone.
func verifying(t *testing.T, seen *[]*notify.Notification) http.HandlerFunc {
	verify := notify.SignatureSHA256(secretKey)
	return func(w http.ResponseWriter, r *http.Request) {
		body := make([]byte, r.ContentLength)
		if _, err := r.Body.Read(body); err != nil && len(body) == 0 {
			t.Error(err)
		}
		n, err := notify.Parse(body, r.Header.Get("Content-Type"))
		if err != nil {
			t.Error(err)
		}
		if err := verify(n); err != nil {
			http.Error(w, "wrong signature", http.StatusForbidden)
			return
		}
		*seen = append(*seen, n)
		_, _ = w.Write([]byte("stored"))
	}
}

func TestNotify(t *testing.T) {
	for _, test := range []struct {
		name string
		args []string
		kind notify.Kind
		code int
		want string
	}{
		{"a payment", nil, notify.KindPayment, 100, `-> payment  approved  t-test  12.50 EUR  \[n-1\]  signed\n.*<- 200 in \d+ ms .*body: "stored"`},
		{"declined", []string{"--event", "declined", "--transaction", "t-7", "--unique-id", "77"}, notify.KindPayment, 101, `payment  declined  t-7  12.50 EUR`},
		{"a refund", []string{"--event", "refunded", "--amount", "2.50", "--currency", "USD", "--refund-id", "r-7"}, notify.KindRefund, 111,
			`refund   refunded  r-7 of 1867098610731065345  2.50 USD`},
		{"a refused refund", []string{"--event", "refund-refused"}, notify.KindRefund, 112, `refund   refused   r-test of`},
		{"a chargeback", []string{"--event", "chargeback"}, notify.KindChargeback, 0, `chargeback claimed   1867098610731065345  12.50 EUR`},
		{"a token", []string{"--with-token"}, notify.KindPayment, 100, `signed, with a made-up token`},
	} {
		t.Run(test.name, func(t *testing.T) {
			noLeak(t)
			var seen []*notify.Notification
			shop := newReceiver(t, verifying(t, &seen))
			r := tool(t, noGateway(), append([]string{"notify", shop.URL + "/n?bind=secret-bind"}, test.args...)...)
			r.want(t, exit.OK)
			wantWords(t, r.out, test.want)
			if len(seen) != 1 || seen[0].Claimed.Kind != test.kind || int(seen[0].Claimed.Code) != test.code || !seen[0].Claimed.IsTest {
				t.Fatalf("got %+v", seen)
			}
			if got := !seen[0].Token.IsZero(); got != (test.name == "a token") || got && strings.Contains(r.out, seen[0].Token.Reveal()) {
				t.Errorf("got a token %v, printed %s", got, r.out)
			}
			if shop.requests[0].URL.RawQuery != "bind=secret-bind" || strings.Contains(r.out+r.err, "secret-bind") {
				t.Errorf("got query %q, printed %s", shop.requests[0].URL.RawQuery, r.out)
			}
		})
	}
}

// TestNotifyMembers: each event carries the members of its published example.
func TestNotifyMembers(t *testing.T) {
	for event, want := range map[string]string{
		"approved": "appId billDescription code isTest sign timestamp transactionAmount transactionCardNumber " +
			"transactionCurrency transactionId transactionType uniqueId",
		"refunded":   "appId code isTest merchantRefundId message refundAmount refundCurrency refundMessage refundUniqueId sign timestamp transactionType uniqueId",
		"chargeback": "appId chargebackAmount chargebackCurrency isTest sign timestamp transactionType uniqueId",
	} {
		t.Run(event, func(t *testing.T) {
			shop := newReceiver(t, nil)
			tool(t, with(noGateway(), "CARDGATEWAY_APP_ID", "7"), "notify", shop.URL, "--event", event).want(t, exit.OK)
			var got map[string]any
			if err := json.Unmarshal(shop.got()[0], &got); err != nil {
				t.Fatal(err)
			}
			if names := strings.Join(slices.Sorted(maps.Keys(got)), " "); names != want {
				t.Errorf("members %s, want %s", names, want)
			}
		})
	}
}

func TestNotifyDefences(t *testing.T) {
	var seen []*notify.Notification
	shop := newReceiver(t, verifying(t, &seen))
	r := tool(t, noGateway(), "notify", shop.URL, "--wrong-signature")
	r.want(t, exit.Negative, "not accepted: 1 of 1")
	wantWords(t, r.out, `wrong signature\n.*<- 403 in \d+ ms .*body: "wrong signature"`)

	r = tool(t, noGateway(), "notify", shop.URL, "--repeat", "3")
	r.want(t, exit.OK)
	if len(seen) != 3 || strings.Count(r.out, "\n") != 6 {
		t.Errorf("got %d notifications, %s", len(seen), r.out)
	}
	bodies := shop.got()
	if string(bodies[1]) != string(bodies[2]) || string(bodies[2]) != string(bodies[3]) {
		t.Errorf("got %q, want the same three times", bodies[1:])
	}

	careless := newReceiver(t, nil)
	tool(t, noGateway(), "notify", careless.URL, "--wrong-signature").want(t, exit.OK, "THE HANDLER ACCEPTED A NOTIFICATION WITH A WRONG SIGNATURE")

	closed := httptest.NewServer(nil)
	closed.Close()
	tool(t, noGateway(), "notify", closed.URL).want(t, exit.Failed, "no response: 1 of 1")
}

func TestNotifyWrongUse(t *testing.T) {
	for _, test := range []struct {
		name string
		env  map[string]string
		args []string
		want string
	}{
		{"no secret", nil, []string{"http://127.0.0.1:1/"}, "the secret key is missing, which signs notifications"},
		{"no URL", noGateway(), []string{"localhost:8080"}, "URL must be an http or https URL"},
		{"amount", noGateway(), []string{"http://127.0.0.1:1/", "--amount", "1,50"}, "--amount:"},
		{"currency", noGateway(), []string{"http://127.0.0.1:1/", "--currency", "euro"}, "--currency:"},
		{"unique id", noGateway(), []string{"http://127.0.0.1:1/", "--unique-id", "u-1"}, "--unique-id must be 1 to 32 digits"},
		{"repeat", noGateway(), []string{"http://127.0.0.1:1/", "--repeat", "1001"}, "--repeat must be 1 to 1,000"},
		{"app id", with(noGateway(), "CARDGATEWAY_APP_ID", "x"), []string{"http://127.0.0.1:1/"}, "app-id must be at most 32 digits"},
		{"event", noGateway(), []string{"http://127.0.0.1:1/", "--event", "paid"}, "--event must be one of"},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := tool(t, test.env, append([]string{"notify"}, test.args...)...)
			r.want(t, exit.Failed, test.want)
			if r.out != "" {
				t.Errorf("got %s, want nothing sent", r.out)
			}
		})
	}
}

// TestReplay records what a program does not take, and sends it again: signed again, and without the token.
func TestReplay(t *testing.T) {
	server := notifyingGateway(t)
	env := environment(server.URL)
	path := filepath.Join(t.TempDir(), "r.jsonl")
	broken := true
	shop := newReceiver(t, func(w http.ResponseWriter, r *http.Request) {
		if broken {
			w.WriteHeader(http.StatusInternalServerError)
		}
	})
	ids := map[string]string{}
	for _, id := range []string{"t-1", "t-2", "t-3"} {
		ids[id] = pay(t, server, id, "12.50", sandbox.Approved).UniqueID
	}
	l := listen(t, env, "--forward-to", shop.URL+"/notify?secret=in-the-query", "--record", path, "--exit-after", "6")
	post(t, about(t, l.url, secretKey, "t-1", ids["t-1"], "token", "tok1234567890abcdef", "unknown", "x"))
	post(t, about(t, l.url, secretKey, "t-2", ids["t-2"]))
	post(t, about(t, l.url, "other", "t-3", ids["t-3"]))
	form := about(t, l.url, secretKey, "t-3", ids["t-3"])
	body := make([]byte, form.ContentLength)
	if _, err := form.Body.Read(body); err != nil {
		t.Fatal(err)
	}
	var members map[string]any
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.UseNumber()
	if err := decoder.Decode(&members); err != nil {
		t.Fatal(err)
	}
	values := url.Values{}
	for name, value := range members {
		values.Set(name, fmt.Sprint(value))
	}
	form, err := http.NewRequest(http.MethodPost, l.url, strings.NewReader(values.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	form.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if status, _ := post(t, form); status != http.StatusInternalServerError {
		t.Errorf("got %d for a form", status)
	}
	broken = false
	post(t, about(t, l.url, secretKey, "t-2", ids["t-2"])) // the repetition is taken
	broken = true
	post(t, about(t, l.url, secretKey, "t-1", ids["t-1"])) // another event: without a token
	l.wait(t).want(t, exit.Negative, "forwarded 1, failed 4, refused 1")

	var seen []*notify.Notification
	to := newReceiver(t, verifying(t, &seen))
	r := tool(t, noGateway(), "replay", "--failed", "--from", path, "--to", to.URL)
	r.want(t, exit.OK)
	wantWords(t, r.out,
		`-> payment  approved  t-1  12.50 EUR  \[n-1\]  signed again, without token, unknown\n.*<- 200`,
		`-> payment  approved  t-3  12.50 EUR  \[n-4\]  signed again\n.*<- 200`,
		`-> payment  approved  t-1  12.50 EUR  \[n-6\]  signed again\n`,
	)
	if len(seen) != 3 {
		t.Fatalf("got %d, want three: n-2 was taken later, n-3 was not signed", len(seen))
	}
	for i, id := range []string{"t-1", "t-3", "t-1"} {
		n := seen[i]
		if n.Claimed.TransactionID != id || n.Claimed.UniqueID != ids[id] || !n.Token.IsZero() || n.Claimed.Extra != nil {
			t.Errorf("got %+v, want %s, without the token", n, id)
		}
	}
	if got := to.requests[1].Header.Get("Content-Type"); got != "application/x-www-form-urlencoded" {
		t.Errorf("got %s, want a form again", got)
	}

	seen = nil
	tool(t, noGateway(), "replay", "n-2", "n-5", "--from", path, "--to", to.URL).want(t, exit.OK)
	if len(seen) != 2 || seen[0].Claimed.TransactionID != "t-2" {
		t.Errorf("got %+v", seen)
	}
	r = tool(t, noGateway(), "replay", "n-1", "--from", path)
	r.want(t, exit.Negative, "not accepted: 1 of 1")
	wantWords(t, r.out, `<- 500 in \d+ ms +`+shop.URL+`/notify  \[n-1\]`)
}

// recordOf writes a record of listen.
func recordOf(t *testing.T, path string, deliveries ...relay.Recorded) string {
	t.Helper()
	var text []byte
	for _, d := range deliveries {
		line, err := json.Marshal(d)
		if err != nil {
			t.Fatal(err)
		}
		text = append(append(text, line...), '\n')
	}
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestReplayToEach: without --to, each notification is sent to where it was forwarded to.
func TestReplayToEach(t *testing.T) {
	var first, second []*notify.Notification
	one, other := newReceiver(t, verifying(t, &first)), newReceiver(t, verifying(t, &second))
	delivery := func(n, to string) relay.Recorded {
		return relay.Recorded{
			Delivery: "n-" + n, To: to, Outcome: relay.Failed, Event: relay.Event{Kind: "payment", UniqueID: n}, ContentType: "application/json",
			Body: map[string]json.RawMessage{"code": json.RawMessage("100"), "uniqueId": json.RawMessage(`"` + n + `"`)},
		}
	}
	path := recordOf(t, filepath.Join(t.TempDir(), "events"), delivery("1", one.URL), delivery("2", other.URL))
	for _, selected := range [][]string{{"n-1", "n-2"}, {"--failed"}} {
		first, second = nil, nil
		tool(t, noGateway(), append([]string{"replay", "--from", path}, selected...)...).want(t, exit.OK)
		if len(first) != 1 || first[0].Claimed.UniqueID != "1" || len(second) != 1 || second[0].Claimed.UniqueID != "2" {
			t.Errorf("%q: one got %d, the other %d", selected, len(first), len(second))
		}
	}
	path = recordOf(t, path, delivery("1", one.URL), delivery("2", ""))
	first = nil
	tool(t, noGateway(), "replay", "--failed", "--from", path).want(t, exit.Failed, "the record does not say where n-2 was forwarded to: set --to")
	if len(first) > 0 {
		t.Errorf("sent %d nevertheless", len(first))
	}
}

func TestReplayWrongUse(t *testing.T) {
	dir := t.TempDir()
	file := func(name string, deliveries ...relay.Recorded) string {
		return recordOf(t, filepath.Join(dir, name), deliveries...)
	}
	body := map[string]json.RawMessage{"uniqueId": json.RawMessage(`"1"`)}
	good := file("good", relay.Recorded{Delivery: "n-1", Outcome: relay.Held, Body: body},
		relay.Recorded{Delivery: "n-2", Outcome: relay.Refused, RefusedBy: "signature"})
	double := file("double", relay.Recorded{Delivery: "n-1", Body: body}, relay.Recorded{Delivery: "n-1", Body: body})
	foreign := filepath.Join(dir, "foreign")
	long := filepath.Join(dir, "long")
	if err := errors.Join(
		os.WriteFile(foreign, []byte("{}\n"), 0o600),
		os.WriteFile(long, []byte(strings.Repeat(" ", 1<<20+1)), 0o600),
	); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name string
		args []string
		code int
		want string
	}{
		{"nothing", []string{"--from", good}, exit.Failed, "specify notifications such as n-17, or --failed"},
		{"both", []string{"n-1", "--failed", "--from", good}, exit.Failed, "specify notifications such as n-17, or --failed"},
		{"no number", []string{"17", "--from", good}, exit.Failed, `"17" is not the name of a notification; write n-17`},
		{"no record", []string{"n-1"}, exit.Failed, "missing flags: --from=FILE"},
		{"no such record", []string{"n-1", "--from", filepath.Join(dir, "none")}, exit.Failed, "--from cannot be read"},
		{"not there", []string{"n-1", "n-3", "--from", good}, exit.Failed, "n-3 is not in "},
		{"refused", []string{"n-2", "--from", good, "--to", "http://127.0.0.1:1/"}, exit.Failed, "n-2 was refused (signature), so it is not replayed"},
		{"nowhere", []string{"n-1", "--from", good}, exit.Failed, "the record does not say where n-1 was forwarded to: set --to http://localhost:8080/notify"},
		{"twice", []string{"n-1", "--from", double}, exit.Failed, "n-1 is in "},
		{"none failed", []string{"--failed", "--from", good}, exit.OK, "no notification failed"},
		{"foreign", []string{"n-1", "--from", foreign}, exit.Failed, "is not a record of listen: line 1 is not a line of a record"},
		{"a long line", []string{"n-1", "--from", long}, exit.Failed, "line 1 has more than 1 MiB"},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := tool(t, noGateway(), append([]string{"replay"}, test.args...)...)
			r.want(t, test.code, test.want)
			if r.out != "" {
				t.Errorf("got %s, want nothing sent", r.out)
			}
		})
	}
	tool(t, nil, "replay", "n-1", "--from", good, "--to", "http://127.0.0.1:1/").want(t, exit.Failed, "the secret key is missing, which signs notifications")
}
