//go:build unix

package program

import (
	"context"
	"errors"
	"math/rand/v2"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/journal"
	"github.com/cardgateway/cardgateway-go/journal/sqlstore"
	"github.com/cardgateway/cardgateway-go/sandbox"
	"github.com/shopspring/decimal"
)

// journalOf opens the journal of a program that does not run. Its client reaches the gateway, or nothing.
func journalOf(t *testing.T, gateway *sandbox.Server, file string, reaches bool) (*journal.Journal, *cardgateway.Client) {
	t.Helper()
	config := cardgateway.Config{BaseURL: gateway.URL, AppID: "123456", TestPayments: true, Authenticate: cardgateway.BasicAuth("m-1", "test-secret")}
	if !reaches {
		config.HTTPClient = &http.Client{Transport: &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) {
			return nil, errors.New("no network")
		}}}
	}
	client, err := cardgateway.New(config)
	if err != nil {
		t.Fatal(err)
	}
	store, err := sqlstore.New(t.Context(), open(t, "sqlite", file), sqlstore.SQLite)
	if err != nil {
		t.Fatal(err)
	}
	return journal.New(client, store, journal.Options{}), client
}

func paymentOf(id string) cardgateway.TokenPaymentRequest {
	return cardgateway.TokenPaymentRequest{
		TransactionID: id, Currency: "USD", Amount: decimal.RequireFromString("12.50"), TransactionIP: "203.0.113.7",
		CallbackURL: "https://shop.example/", NotificationURL: "https://shop.example/n",
		ProductInfos: []cardgateway.ProductInfo{{ProductName: "Candles", Quantity: 1}},
	}
}

// TestGiveBack: an attempt is "new" again if it has been "paying" for five minutes and nothing was sent for it, and no other.
func TestGiveBack(t *testing.T) {
	t.Parallel()
	gateway := startGateway(t)
	file := filepath.Join(t.TempDir(), "shop.db")
	p := start(t, gateway, "", file)
	token := cardgateway.NewToken(gateway.NewToken(sandbox.Approved))
	notSent := func(t *testing.T, id string) {
		j, _ := journalOf(t, gateway, file, false)
		if _, err := j.TokenPayment(t.Context(), token, paymentOf(id)); !errors.Is(err, cardgateway.ErrNotSent) {
			t.Fatalf("got %v, want that nothing was sent", err)
		}
		if err := j.Ack(t.Context(), journal.PaymentID(id), journal.NotSent); err != nil {
			t.Fatal(err)
		}
	}
	const minute = int64(60)
	tests := []struct {
		name    string
		age     int64 // seconds for which the order has been "paying"
		prepare func(t *testing.T, id string)
		want    string
		alert   string
	}{
		{"killed before the journal knew", 6 * minute, nil, "new", ""},
		{"killed a minute ago", minute, nil, "paying", ""},
		{"nothing was sent, long ago", 6 * minute, func(t *testing.T, id string) {
			synctest.Test(t, func(t *testing.T) { notSent(t, id) }) // in the year 2000
		}, "new", ""},
		{"nothing was sent, a moment ago", 6 * minute, notSent, "paying", ""},
		{"refused, long ago", 6 * minute, func(t *testing.T, id string) {
			gateway.Inject(sandbox.Fault{TransactionID: id, Commit: sandbox.CommitNever, Code: 201})
			synctest.Test(t, func(t *testing.T) {
				j, client := journalOf(t, gateway, file, true)
				defer client.CloseIdleConnections()
				if _, err := j.TokenPayment(t.Context(), token, paymentOf(id)); !errors.Is(err, cardgateway.ErrRefused) {
					t.Fatalf("got %v, want a refusal", err)
				}
				if err := j.Ack(t.Context(), journal.PaymentID(id), journal.Refused); err != nil {
					t.Fatal(err)
				}
			})
		}, "paying", ""},
		{"killed between the journal and the gateway", 6 * minute, func(t *testing.T, id string) {
			gateway.Inject(sandbox.Fault{TransactionID: id, Commit: sandbox.CommitNever, Reply: sandbox.ReplyReset})
			j, _ := journalOf(t, gateway, file, true)
			if _, err := j.TokenPayment(t.Context(), token, paymentOf(id)); !errors.Is(err, cardgateway.ErrOutcomeUnknown) {
				t.Fatalf("got %v, want an unknown outcome", err)
			}
		}, "paying", ""},
		{"the journal has lost it", 6 * minute, func(t *testing.T, id string) {
			_, client := journalOf(t, gateway, file, true)
			request := cardgateway.CheckoutRequest{
				TransactionID: id, OrderID: id, Currency: "USD", Amount: decimal.RequireFromString("12.50"), TransactionIP: "203.0.113.7",
				CallbackURL: "https://shop.example/", NotificationURL: "https://shop.example/n", BillingAddress: cardgateway.Address{Country: "US"},
				ProductInfos: []cardgateway.ProductInfo{{ProductName: "Candles", Quantity: 1}},
			}
			if _, err := client.CreateCheckout(t.Context(), request); err != nil {
				t.Fatal(err)
			}
		}, "paying", "was a backup restored"},
		{"the gateway does not answer", 6 * minute, func(_ *testing.T, id string) {
			gateway.Inject(sandbox.Fault{Operation: sandbox.OpSearchOrders, TransactionID: id, Times: -1, Code: 999})
		}, "paying", "look at it if it fails again"},
	}
	ids := make([]string, len(tests))
	for i := range tests {
		ids[i] = p.order(t)
	}
	p.terminate(t)
	db := open(t, "sqlite", file)
	for i, tt := range tests {
		if tt.prepare != nil {
			t.Run(tt.name, func(t *testing.T) { tt.prepare(t, ids[i]+"-1") })
		}
		if _, err := db.Exec(`INSERT INTO attempts (id, order_id, state, begun) VALUES ($1, $2, 'paying', $3)`, ids[i]+"-1", ids[i], time.Now().Unix()-tt.age); err != nil {
			t.Fatal(err)
		}
	}
	p = start(t, gateway, "", file)
	p.order(t) // it has started
	for i, tt := range tests {
		t.Run(tt.name+", then", func(t *testing.T) {
			if tt.alert != "" {
				p.output.await(t, "ERROR alert", tt.alert)
			}
			p.await(t, ids[i], tt.want, time.Minute)
		})
	}
	for i, tt := range tests { // again, after all have been looked at
		checkState(t, db, ids[i]+"-1", tt.want)
	}
	if _, err := gateway.EnterCard(p.post(t, "/orders/"+ids[0]+"/page"), sandbox.TestCard(sandbox.Approved)); err != nil {
		t.Fatal(err)
	}
	p.await(t, ids[0], "paid", time.Minute)
	if n := gateway.Executed(ids[0] + "-1"); n != 1 {
		t.Errorf("charged %d times, want once", n)
	}
}

// TestKilledWhilePaying kills the program at any moment of payments, also while it gives orders back, and lets customers press the button
// again: nothing is charged twice, and nothing that was charged is forgotten.
func TestKilledWhilePaying(t *testing.T) {
	t.Parallel()
	gateway := startGateway(t)
	file := filepath.Join(t.TempDir(), "shop.db")
	random := rand.New(rand.NewPCG(1, 2))
	var ids []string
	killed := map[string]int{} // the last order of each process, by its state
	db := open(t, "sqlite", file)
	balancer := startBalancer(t) // the gateway's notifications reach whatever process runs
	p := start(t, gateway, balancer.URL, file)
	for range 12 {
		for range 3 {
			ids = append(ids, p.order(t))
			p.postLater(t, "/orders/"+ids[len(ids)-1]+"/page")
		}
		time.Sleep(time.Duration(random.IntN(20)) * time.Millisecond)
		p.kill(t)
		killed[strings.Join(texts(t, db, `SELECT state FROM attempts WHERE order_id = $1`, ids[len(ids)-1]), " ")]++
		if _, err := db.Exec(`UPDATE attempts SET begun = begun - 400 WHERE state = 'paying'`); err != nil { // minutes pass
			t.Fatal(err)
		}
		p = start(t, gateway, balancer.URL, file)
	}
	p.order(t)
	balancer.use(p)
	states := map[string]int{}
	for _, id := range ids {
		for range 2 { // the button, twice
			p.post(t, "/orders/"+id+"/page")
		}
		page := texts(t, db, `SELECT page FROM attempts WHERE id = $1`, id+"-1")[0]
		if page != "" {
			if _, err := gateway.EnterCard(page, sandbox.TestCard(sandbox.Approved)); err != nil {
				t.Fatal(err)
			}
			p.await(t, id, "paid", time.Minute)
		}
		state := texts(t, db, `SELECT state FROM attempts WHERE id = $1`, id+"-1")[0]
		states[state]++
		rows, charged := len(gateway.Rows(id+"-1")), gateway.Executed(id+"-1")
		if rows > 1 || charged > 1 {
			t.Errorf("%s is %s: the gateway has %d payments, charged %d times", id, state, rows, charged)
		}
		if wrong := (state == "paid") != (charged == 1) || state == "new" && rows > 0; wrong {
			t.Errorf("%s is %s, and was charged %d times", id, state, charged)
		}
	}
	t.Logf("when the program was killed: %v; in the end: %v", killed, states)
}
