package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/exit"
	"github.com/cardgateway/cardgateway-go/notify"
	"github.com/cardgateway/cardgateway-go/sandbox"
	"github.com/shopspring/decimal"
)

// readRecord reads a record to its end.
func readRecord(t *testing.T, path string) (all []*recorded) {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	r := newRecordReader(file)
	for {
		d, err := r.next()
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, d)
	}
}

// TestNoSecretInRecord: a token, card numbers and the secret key are in nothing that is printed or recorded, whatever a
// program answers, while the program itself gets them.
func TestNoSecretInRecord(t *testing.T) {
	server := notifyingGateway(t)
	env := environment(server.URL)
	client, err := cardgateway.New(cardgateway.Config{BaseURL: server.URL, AppID: "7", Authenticate: cardgateway.BasicAuth("m1", secretKey)})
	if err != nil {
		t.Fatal(err)
	}
	defer client.CloseIdleConnections()
	urls, err := notify.NewTokenURLs("http://shop.example/notify", []byte("a key for a test, of more than 32 bytes"))
	if err != nil {
		t.Fatal(err)
	}
	const card = "4300000000000000"
	var token string
	handler := notify.NewHandler(client, notify.Options{Verify: notify.SignatureSHA256(secretKey), TokenURLs: urls},
		func(_ context.Context, n *notify.Notification) error {
			token = n.Token.Reveal()
			return nil
		})
	shop := newReceiver(t, func(w http.ResponseWriter, r *http.Request) {
		status := &statusOnly{header: http.Header{}}
		handler.ServeHTTP(status, r)
		w.Header().Set("Location", "/"+token)
		w.WriteHeader(status.status)
		_, _ = io.WriteString(w, token+" of card "+card+", key "+secretKey+strings.Repeat("x", 140)+token)
	})
	for _, format := range []string{"text", "json"} {
		t.Run(format, func(t *testing.T) {
			token = ""
			path := filepath.Join(t.TempDir(), "r.jsonl")
			l := listen(t, env, "--forward-to", shop.URL, "--record", path, "--exit-after", "1", "--verbose", "--format", format)
			id := "order-" + format
			bound, err := urls.URL(id, time.Now().Add(time.Hour))
			if err != nil {
				t.Fatal(err)
			}
			_, binding, _ := strings.Cut(bound, "?")
			order, err := client.CreateTokenOrder(t.Context(), cardgateway.TokenOrderRequest{
				TransactionID: id, OrderID: id, Currency: "EUR", Amount: decimal.RequireFromString("12.50"), TransactionIP: "203.0.113.7",
				CallbackURL: "https://shop.example/", NotificationURL: l.url + "/n?" + binding,
				ProductInfos: []cardgateway.ProductInfo{{ProductName: "Candles"}}, BillingAddress: cardgateway.Address{Country: "US"},
			})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := server.EnterCard(order.RedirectURL, sandbox.TestCard(sandbox.Approved)); err != nil {
				t.Fatal(err)
			}
			r := l.wait(t)
			r.want(t, exit.OK, "received 1: forwarded 1")
			if token == "" || token != server.Token(id) {
				t.Fatal("the program did not get the token")
			}
			wantWords(t, r.out, "with a token")
			if record := readRecord(t, path); len(record) != 1 || string(record[0].Body["token"]) != `"***"` || strings.Join(record[0].Masked, " ") != "token" {
				t.Errorf("got record %+v, want the token masked", record)
			}
			record, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			for _, secret := range []string{token[:8], token[3:], secretKey[:8], card, strings.TrimPrefix(binding, "bind=")} {
				if strings.Contains(r.out+r.err+string(record), secret) {
					t.Errorf("got %q in what was printed or recorded:\n%s%s%s", secret, r.out, r.err, record)
				}
			}
		})
	}
}

// TestRecordBody: of what is published the value is kept, of all else the name.
func TestRecordBody(t *testing.T) {
	const token = "tok1234567890abcdef"
	for _, test := range []struct {
		name, body, contentType string
		want                    string
		masked                  string
	}{
		{"published", `{"appId":1862433537316352001,"uniqueId":"1600000000000002994","transactionId":"t-1","transactionAmount":12.50,"isTest":true,"code":100,"sign":"ab"}`, "application/json",
			`{"appId":1862433537316352001,"code":100,"isTest":true,"transactionAmount":12.50,"transactionId":"t-1","uniqueId":"1600000000000002994"}`, ""},
		{"token", `{"uniqueId":"1","token":"` + token + `"}`, "application/json", `{"token":"***","uniqueId":"1"}`, "token"},
		{"unknown members", `{"uniqueId":"1","hint":"` + token + `","list":[1],"map":{"a":1},"n":5,"none":null}`, "application/json",
			`{"hint":"***","list":"***","map":"***","n":"***","none":null,"uniqueId":"1"}`, "hint list map n"},
		{"token as a name", `{"uniqueId":"1","token":"` + token + `","` + token + `":1,"4300000000000000":2}`, "application/json",
			`{"***":"***","token":"***","uniqueId":"1"}`, "*** *** token"},
		{"token in a text", `{"uniqueId":"1","token":"` + token + `","message":"stored ` + token + `","refundMessage":"\u0074ok1234567890abcdef"}`, "application/json",
			`{"message":"***","refundMessage":"***","token":"***","uniqueId":"1"}`, "message refundMessage token"},
		{"token as an id", `{"uniqueId":"1","token":"` + token + `","transactionId":"` + token + `"}`, "application/json",
			`{"token":"***","transactionId":"***","uniqueId":"1"}`, "token transactionId"},
		{"card number", `{"uniqueId":"1","transactionCardNumber":"4300000000000000","billDescription":"card 4300 0000 0000 0000","transactionAmount":"4300000000000000"}`, "application/json",
			`{"billDescription":"card 430000******0000","transactionAmount":"***","transactionCardNumber":"430000******0000","uniqueId":"1"}`, "transactionAmount"},
		{"an object for a text", `{"uniqueId":"1","message":{"a":"b"},"transactionCardNumber":["4300000000000000"]}`, "application/json",
			`{"message":"***","transactionCardNumber":"***","uniqueId":"1"}`, "message transactionCardNumber"},
		{"secret key", `{"uniqueId":"1","message":"key ` + secretKey + `"}`, "application/json", `{"message":"***","uniqueId":"1"}`, "message"},
		{"a form", "uniqueId=1&token=" + token + "&transactionAmount=12.50&message=a%26b", "application/x-www-form-urlencoded; charset=utf-8",
			`{"message":"a\u0026b","token":"***","transactionAmount":"12.50","uniqueId":"1"}`, "token"},
	} {
		t.Run(test.name, func(t *testing.T) {
			n, err := notify.Parse([]byte(test.body), test.contentType)
			if err != nil {
				t.Fatal(err)
			}
			members, masked := recordBody([]byte(test.body), test.contentType, n, newHidden(secretKey, n.Token))
			got, err := json.Marshal(members)
			if err != nil || string(got) != test.want || strings.Join(masked, " ") != test.masked {
				t.Errorf("got %s without %q, %v\nwant %s without %q", got, masked, err, test.want, test.masked)
			}
		})
	}
}

func TestRecordFile(t *testing.T) {
	server := notifyingGateway(t)
	id := pay(t, server, "t-1", "12.50", sandbox.Approved).UniqueID
	path := filepath.Join(t.TempDir(), "r.jsonl")
	one := func() {
		t.Helper()
		l := listen(t, environment(server.URL), "--record", path, "--ack", "--exit-after", "1")
		post(t, about(t, l.url, secretKey, "t-1", id))
		l.wait(t).want(t, exit.OK)
	}
	one()
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	// As if the machine had failed in the middle of a line, and somebody had opened the file to all.
	if err := errors.Join(os.WriteFile(path, append(whole, whole[:40]...), 0o644), os.Chmod(path, 0o644)); err != nil {
		t.Fatal(err)
	}
	one()
	if got := readRecord(t, path); len(got) != 2 || got[0].Delivery != "n-1" || got[1].Delivery != "n-2" {
		t.Errorf("got %+v, want n-1 and n-2", got)
	}
	if info, err := os.Stat(path); runtime.GOOS != "windows" && (err != nil || info.Mode().Perm() != 0o600) {
		t.Errorf("got mode %v, %v, want 0600", info.Mode(), err)
	}
}

// TestRecordTakesNoMore: a full disk is said once, and again at the end.
func TestRecordTakesNoMore(t *testing.T) {
	path := filepath.Join(t.TempDir(), "r.jsonl")
	for name, breakIt := range map[string]func(*recorder){
		"the disk": func(r *recorder) { r.file.Close() },
		"the size": func(r *recorder) { r.size = largestRecord },
	} {
		t.Run(name, func(t *testing.T) {
			r, last, err := openRecord(path)
			if err != nil || last != 0 {
				t.Fatal(last, err)
			}
			defer r.file.Close()
			breakIt(r)
			first, second, end := r.write(&recorded{Delivery: "n-1"}), r.write(&recorded{Delivery: "n-2"}), r.close()
			if first == nil || second != nil || end == nil {
				t.Errorf("got %v, %v and %v, want an error at first and at the end", first, second, end)
			}
			if got := readRecord(t, path); len(got) != 0 {
				t.Errorf("got %+v", got)
			}
		})
	}
}

// FuzzRecord reads a record that anybody may have written: what is read can be signed and sent.
func FuzzRecord(f *testing.F) {
	f.Add([]byte(`{"delivery":"n-1","event":{"kind":"payment"},"outcome":"failed","ms":1,"contentType":"application/json","body":{"uniqueId":"1","code":100,"token":"***"},"masked":["token"]}` + "\n"))
	f.Add([]byte(`{"delivery":"n-2","event":{},"contentType":"application/x-www-form-urlencoded","body":{"a":[{"b":null}],"c":1e999}}` + "\n{}"))
	f.Add([]byte("null\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		reader := newRecordReader(bytes.NewReader(text))
		sender := &notificationSender{secretKey: secretKey}
		verify := notify.SignatureSHA256(secretKey)
		for {
			d, err := reader.next()
			if reader.good > int64(len(text)) {
				t.Fatalf("got %d good bytes of %d", reader.good, len(text))
			}
			if err != nil {
				return
			}
			if deliveryNumber(d.Delivery) == 0 {
				t.Fatalf("got delivery %q", d.Delivery)
			}
			body, err := sender.signed(d)
			if err != nil || isForm(d.ContentType) {
				continue
			}
			if n, err := notify.Parse(body, "application/json"); err == nil && verify(n) != nil {
				t.Errorf("got %s with a wrong signature", body)
			}
		}
	})
}

// FuzzRecordBody: whatever a notification looks like, its token is not in what is recorded.
func FuzzRecordBody(f *testing.F) {
	f.Add(`{"uniqueId":"1","token":"tok1234567890abcdef","message":"tok1234567890abcdef"}`, false)
	f.Add("uniqueId=1&token=tok1234567890abcdef", true)
	f.Fuzz(func(t *testing.T, body string, form bool) {
		contentType := "application/json"
		if form {
			contentType = formType
		}
		n, err := notify.Parse([]byte(body), contentType)
		if err != nil || len(n.Token.Reveal()) < 12 {
			return
		}
		members, _ := recordBody([]byte(body), contentType, n, newHidden(secretKey, n.Token))
		for name, value := range members {
			var text string
			if json.Unmarshal(value, &text) != nil {
				text = string(value)
			}
			if strings.Contains(name+" "+text, n.Token.Reveal()) {
				t.Errorf("got the token in %s: %s", name, value)
			}
		}
	})
}
