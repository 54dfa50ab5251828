package main

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/exit"
	"github.com/cardgateway/cardgateway-go/cmd/cardgateway/internal/relay"
	"github.com/cardgateway/cardgateway-go/notify"
	"github.com/cardgateway/cardgateway-go/sandbox"
	"github.com/shopspring/decimal"
)

// readRecord reads a record to its end.
func readRecord(t *testing.T, path string) (all []*relay.Recorded) {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for d, err := range relay.NewReader(file).All() {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, d)
	}
	return all
}

// TestNoSecretInRecord: a token, card numbers and the secret key are in nothing that is printed or recorded, whatever a
// program answers, while the program itself gets them.
func TestNoSecretInRecord(t *testing.T) {
	server := notifyingGateway(t)
	env := environment(server.URL)
	client, err := cardgateway.New(cardgateway.Config{BaseURL: server.URL, AppID: "7", TestPayments: true, Authenticate: cardgateway.BasicAuth("m1", secretKey)})
	if err != nil {
		t.Fatal(err)
	}
	defer client.CloseIdleConnections()
	urls, err := notify.NewTokenURLs("https://shop.example/notify", []byte("a key for a test, of more than 32 bytes"))
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
		status := httptest.NewRecorder()
		handler.ServeHTTP(status, r)
		w.Header().Set("Location", "/"+token)
		w.WriteHeader(status.Code)
		_, _ = io.WriteString(w, token+" of card "+card+", key "+secretKey+strings.Repeat("x", 140)+token)
	})
	path := filepath.Join(t.TempDir(), "r.jsonl")
	l := listen(t, env, "--forward-to", shop.URL, "--record", path, "--exit-after", "1", "--verbose")
	id := "order-1"
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
	if made, err := server.Token(id); err != nil || token != made {
		t.Fatalf("the program did not get the token: %v", err)
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
