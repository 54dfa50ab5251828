package payments

import (
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/internal/test/pgserver"
	"github.com/cardgateway/cardgateway-go/journal"
	"github.com/cardgateway/cardgateway-go/notify"
	"github.com/shopspring/decimal"
)

func TestMain(m *testing.M) {
	code := m.Run()
	if err := pgserver.StopShared(); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	os.Exit(code)
}

// must ends the test if a call that is to have no error has one.
func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// open returns a Service whose gateway cannot be reached.
func open(t *testing.T, database string) *Service {
	t.Helper()
	return openWith(t, database, cardgateway.Config{BaseURL: "http://127.0.0.1:1", AppID: "1"})
}

func openWith(t *testing.T, database string, config cardgateway.Config) *Service {
	t.Helper()
	client, err := cardgateway.New(config)
	must(t, err)
	db, store, err := OpenDatabase(t.Context(), database)
	must(t, err)
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	key := make([]byte, 32)
	s, err := New(t.Context(), Config{Client: client, DB: db, Store: store, URL: "https://shop.example", TokenKey: key, URLKey: key,
		Logger: slog.New(slog.DiscardHandler)})
	must(t, err)
	return s
}

// TestGatewayMoves: what was paid under one address of the gateway is found under another one.
func TestGatewayMoves(t *testing.T) {
	database := filepath.Join(t.TempDir(), "shop.db")
	before, after := open(t, database), openWith(t, database, cardgateway.Config{BaseURL: "http://127.0.0.1:2", AppID: "1"})
	if before.Journal.Shop() != after.Journal.Shop() {
		t.Errorf("got the shops %v and %v", before.Journal.Shop(), after.Journal.Shop())
	}
}

// TestDatabase runs the same tests for every kind of database.
func TestDatabase(t *testing.T) {
	for name, source := range map[string]func(*testing.T) string{
		"SQLite in memory": func(*testing.T) string { return ":memory:" },
		"SQLite in a file": func(t *testing.T) string { return filepath.Join(t.TempDir(), "a ?strange#name.db") },
		"Postgres":         func(t *testing.T) string { return pgserver.Shared(t).URL("public") },
	} {
		t.Run(name, func(t *testing.T) {
			s := open(t, source(t))
			t.Run("attempts", func(t *testing.T) { testAttempts(t, s) })
			t.Run("outcomes in any order", func(t *testing.T) { testSetPayment(t, s) })
			t.Run("refunds", func(t *testing.T) { testRefunds(t, s) })
			t.Run("refunds of the back office", func(t *testing.T) { testOfficeRefunds(t, s) })
			t.Run("refunds of an order that was paid twice", func(t *testing.T) { testPaidTwice(t, s) })
			t.Run("one look in each interval", func(t *testing.T) { testLook(t, s) })
			t.Run("cards", func(t *testing.T) { testCards(t, s) })
		})
	}
}

var orders int

// placed places an order of a customer of its own.
func placed(t *testing.T, s *Service, kind Kind) *Order {
	t.Helper()
	orders++
	o := &Order{ID: fmt.Sprintf("S-%d", orders), Amount: decimal.RequireFromString("24"), Attempt: Attempt{Kind: kind}}
	o.Customer, o.Billing.FirstName = "customer of "+o.ID, "Ada"
	must(t, s.Transaction(t.Context(), func(tx *sql.Tx) error { return s.Place(t.Context(), tx, o) }))
	return o
}

// becomes stores the outcome of an attempt.
func becomes(t *testing.T, s *Service, id string, p Payment) {
	t.Helper()
	must(t, s.setPayment(t.Context(), id, p))
}

// paidTwice places an order and returns its two attempts. The first one was declined, and has paid when the second one has, too.
func paidTwice(t *testing.T, s *Service) (first, second string) {
	t.Helper()
	o := placed(t, s, KindHosted)
	first = o.Attempt.ID
	becomes(t, s, first, Payment{State: Declined})
	_, err := addAttempt(t.Context(), s.DB, o)
	must(t, err)
	for _, id := range []string{first, o.Attempt.ID} {
		becomes(t, s, id, Payment{State: Paid, UniqueID: "unique " + id, Version: 1})
	}
	return first, o.Attempt.ID
}

// shown returns an order as it is now.
func shown(t *testing.T, s *Service, id string) Order {
	t.Helper()
	o, err := s.Order(t.Context(), id)
	must(t, err)
	return o
}

// testAttempts: the next attempt begins only if every earlier one has ended without a payment, and with a stored card only if no page may still
// take another card. Of several that begin at once, one does.
func testAttempts(t *testing.T, s *Service) {
	for _, tt := range []struct {
		kind  Kind
		state State
		next  map[Kind]bool
	}{
		{KindHosted, Open, nil}, {KindHosted, Unsent, nil}, {KindHosted, Checking, nil}, {KindHosted, Waiting, nil}, {KindHosted, Processing, nil},
		{KindHosted, Unpaid, nil}, {KindHosted, Paid, nil}, {KindHosted, Conflict, nil}, {KindHosted, Refused, nil},
		{KindHosted, Closed, map[Kind]bool{KindHosted: true, KindToken: true}}, {KindHosted, Tested, map[Kind]bool{KindHosted: true, KindToken: true}},
		{KindHosted, Declined, map[Kind]bool{KindHosted: true}},
		{KindToken, Declined, map[Kind]bool{KindHosted: true, KindToken: true}},
		{KindToken, Refused, map[Kind]bool{KindToken: true}}, // the same attempt, with another card
		{KindWeekly, Declined, nil}, {KindWeeklyCard, Declined, nil}, {KindToken, Checking, nil},
	} {
		for _, kind := range []Kind{KindHosted, KindToken} {
			o := placed(t, s, tt.kind)
			becomes(t, s, o.ID, Payment{State: tt.state, Version: 1})
			var tabs sync.WaitGroup
			began := make(chan bool, 4)
			for range cap(began) {
				tabs.Go(func() {
					now, err := s.Order(t.Context(), o.ID)
					if err == nil {
						var next bool
						next, err = s.Next(t.Context(), &now, kind, "C-1")
						began <- next
					}
					if err != nil {
						t.Error(err)
					}
				})
			}
			tabs.Wait()
			close(began)
			n, want := 0, 0
			for b := range began {
				if b {
					n++
				}
			}
			attempts, err := s.Attempts(t.Context(), o.ID)
			if tt.next[kind] && tt.state != Refused {
				want = 1
			}
			if tt.state == Refused { // each tab gives it the card; the journal submits it once
				n = 0
			}
			if err != nil || n != want || len(attempts) != 1+want {
				t.Errorf("%s is %s, then %s: %d have begun, attempts %q, %v; want %d", tt.kind, tt.state, kind, n, attempts, err, want)
			}
		}
	}
	for _, state := range []State{Paid, Processing} { // on the page that has declined a card, while another tab still shows that
		o := placed(t, s, KindHosted)
		becomes(t, s, o.ID, Payment{State: Declined, Version: 1})
		before := shown(t, s, o.ID)
		becomes(t, s, o.ID, Payment{State: state, Version: 2})
		if began, err := s.Next(t.Context(), &before, KindHosted, ""); began || err != nil {
			t.Errorf("an attempt has begun beside one that is %s: %v", state, err)
		}
	}
	o := placed(t, s, KindHosted)
	for i, state := range []State{Declined, Closed} { // the first page was declined, the second one abandoned
		attempts, err := s.Attempts(t.Context(), o.ID)
		if err != nil || len(attempts) != i+1 {
			t.Fatal(attempts, err)
		}
		becomes(t, s, attempts[i], Payment{State: state, Version: 1})
		now := shown(t, s, o.ID)
		if !now.OnPageOnly {
			t.Error("another card may still be taken on a page")
		}
		if began, err := s.Next(t.Context(), &now, KindToken, "C-1"); began || err != nil {
			t.Errorf("a stored card pays beside a page that may still take another: %v", err)
		}
		now = shown(t, s, o.ID)
		_, err = s.Next(t.Context(), &now, KindHosted, "")
		must(t, err)
	}
}

// testSetPayment stores the outcomes of many orders, in different sequences and by several processes concurrently.
func testSetPayment(t *testing.T, s *Service) {
	outcomes := []Payment{
		{State: Checking}, {State: Waiting, UniqueID: "1", RedirectURL: "https://g", Version: 1},
		{State: Declined, UniqueID: "2", Reason: "Do not honour", Version: 2},
		{State: Paid, UniqueID: "3", Digits: "0000", RedirectURL: "https://g", Version: 3}, {State: Checking, Version: 1},
	}
	for seed := range uint64(10) {
		o := placed(t, s, KindHosted)
		var done sync.WaitGroup
		for _, i := range rand.New(rand.NewPCG(seed, 0)).Perm(len(outcomes)) {
			done.Go(func() {
				if err := s.setPayment(t.Context(), o.ID, outcomes[i]); err != nil {
					t.Error(err)
				}
			})
		}
		done.Wait()
		if got, want := shown(t, s, o.ID).Payment, outcomes[3]; got != want {
			t.Errorf("seed %d: got %+v, want %+v", seed, got, want)
		}
	}
	o := placed(t, s, KindHosted)
	becomes(t, s, o.ID, outcomes[1])
	becomes(t, s, o.ID, Payment{State: Paid, Version: 2})
	want := Payment{State: Paid, UniqueID: "1", RedirectURL: "https://g", Version: 2} // an outcome without an id keeps it
	if got := shown(t, s, o.ID); got.Payment != want || got.Billing.FirstName != "Ada" {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func testRefunds(t *testing.T, s *Service) {
	placed(t, s, KindHosted) // another order, without a uniqueId
	o := placed(t, s, KindHosted)
	becomes(t, s, o.ID, Payment{State: Paid, UniqueID: "1" + o.ID[2:], Version: 1})
	now := shown(t, s, o.ID)
	for range 2 { // a form that is sent twice; nothing is sent to the gateway
		must(t, s.Refund(t.Context(), now, o.ID+"-R1"))
	}
	made := time.Date(2026, 10, 5, 8, 0, 0, 0, time.UTC)
	for _, r := range []Refund{{State: Refunded, Version: 9, Made: made}, {State: Processing, Version: 8}} {
		r.ID = o.ID + "-R1"
		must(t, s.setRefund(t.Context(), r))
	}
	office := cardgateway.Refund{Code: cardgateway.CodeRefundAccepted, RefundUniqueID: "2" + o.ID[2:], UniqueID: "1" + o.ID[2:],
		RefundAmount: decimal.RequireFromString("1.00"), RefundCurrency: "USD"}
	final := office
	final.Code, final.RefundAt = cardgateway.CodeRefundSuccess, wallTime(t, "2026-10-05 08:00:00")
	for _, r := range []cardgateway.Refund{office, final, office} {
		must(t, s.confirmRefund(t.Context(), &r))
	}
	for _, uniqueID := range []string{"", "9"} { // of nobody
		office.RefundUniqueID, office.UniqueID = "3"+o.ID[2:], uniqueID
		must(t, s.confirmRefund(t.Context(), &office))
	}
	stray, err := one(Collect(t.Context(), s.DB, column[int], `SELECT COUNT(*) FROM refunds WHERE id = $1`, office.RefundUniqueID))
	if err != nil || stray != 0 {
		t.Errorf("%d refunds of no order were stored, %v", stray, err)
	}
	newer := placed(t, s, KindHosted) // of the same customer, with more refunds than a list shows
	_, err = s.DB.ExecContext(t.Context(), `UPDATE orders SET customer = $1 WHERE id = $2`, o.Customer, newer.ID)
	for i := range 101 {
		if err == nil {
			_, err = s.DB.ExecContext(t.Context(), `INSERT INTO refunds (id, attempt_id, amount, created, state, version) VALUES ($1, $2, '1', $3, 'refunded', 1)`,
				fmt.Sprintf("%s-R%d", newer.ID, i), newer.ID, time.Now().Add(time.Hour).UnixMicro())
		}
	}
	must(t, err)
	all, err := s.Orders(t.Context(), o.Customer)
	if err != nil || len(all) != 2 || len(all[0].Refunds) != 101 || len(all[1].Refunds) != 2 {
		t.Fatalf("the orders are %+v, %v", all, err)
	}
	if shown, err := s.Refunds(t.Context(), o.Customer); err != nil || len(shown) != 100 {
		t.Errorf("%d refunds are listed, %v", len(shown), err)
	}
	for i, want := range []string{o.ID + "-R1 24 refunded 9", final.RefundUniqueID + " 1 refunded 1"} {
		r := all[1].Refunds[i]
		if got := fmt.Sprint(r.ID, " ", r.Amount, " ", r.State, " ", r.Version); got != want || r.Made.IsZero() || r.OrderID != o.ID {
			t.Errorf("refund %d is %s, made %s; want %s", i, got, r.Made, want)
		}
	}
}

// TestAlertAfterCrash: a process that has stored an outcome, and ended before the alert, leaves it to who reports the outcome next.
func TestAlertAfterCrash(t *testing.T) {
	for _, tt := range []struct {
		name  string
		test  bool
		acked int
		want  string
	}{
		{"paid twice", false, 0, "an order was paid twice"},
		{"a test", true, 0, "a live shop has received a test payment"},
		{"paid twice, and acknowledged", false, 1, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, logs := open(t, ":memory:"), new(strings.Builder)
			s.Logger = slog.New(slog.NewTextHandler(logs, nil))
			first, _ := paidTwice(t, s)
			paid := &cardgateway.Transaction{Code: cardgateway.CodeSuccess, UniqueID: "1", TransactionID: first, IsTest: tt.test}
			e := journal.Entry{Begun: journal.Intent{ID: journal.PaymentID(first), Operation: "CreateCheckout"}, Acked: tt.acked,
				Evidence: []journal.Evidence{{Source: journal.SourceQuery, State: journal.Succeeded, Transaction: paid}}}
			must(t, s.storeOutcome(t.Context(), e))
			if got := logs.String(); !strings.Contains(got, tt.want) || tt.want == "" && got != "" {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// testOfficeRefunds: the refunds that the back office makes are all counted, whatever ids it gives them, and whichever they share with others.
func testOfficeRefunds(t *testing.T, s *Service) {
	two, first, second := decimal.New(2, 0), wallTime(t, "2026-10-05 08:00:00"), wallTime(t, "2026-10-05 08:00:01")
	for _, tt := range []struct {
		name    string
		refunds []cardgateway.Refund
		left    string
	}{
		{"one id for all of them", []cardgateway.Refund{
			{MerchantRefundID: "goodwill", RefundUniqueID: "a", RefundAmount: decimal.RequireFromString("10")},
			{MerchantRefundID: "goodwill", RefundUniqueID: "b", RefundAmount: decimal.RequireFromString("10")},
		}, "4"},
		{"the same id for another order", []cardgateway.Refund{
			{MerchantRefundID: "goodwill", RefundUniqueID: "c", RefundAmount: decimal.RequireFromString("20")},
		}, "4"},
		{"no id of the merchant", []cardgateway.Refund{{RefundUniqueID: "d", RefundAmount: decimal.RequireFromString("1")}}, "23"},
		{"no amount", []cardgateway.Refund{{RefundUniqueID: "e"}}, ""},
		{"one id of the gateway's for all of them", []cardgateway.Refund{
			{MerchantRefundID: "goodwill 1", RefundUniqueID: "f", RefundAmount: two}, {MerchantRefundID: "goodwill 2", RefundUniqueID: "f", RefundAmount: two},
		}, "20"},
		{"one id of the merchant, and none of the gateway's", []cardgateway.Refund{
			{MerchantRefundID: "goodwill", RefundAmount: two, RefundRequestAt: first}, {MerchantRefundID: "goodwill", RefundAmount: two, RefundRequestAt: second},
		}, "20"},
		{"no ids", []cardgateway.Refund{{RefundAmount: two, RefundRequestAt: first}, {RefundAmount: two, RefundRequestAt: second}}, "20"},
		{"no ids, for another order", []cardgateway.Refund{{RefundAmount: two, RefundRequestAt: first}}, "22"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			o := placed(t, s, KindHosted)
			uniqueID := "1" + o.ID[2:]
			becomes(t, s, o.ID, Payment{State: Paid, UniqueID: uniqueID, Version: 1})
			for range 2 { // by a notification, and by the copy
				for _, r := range tt.refunds {
					r.Code, r.UniqueID = cardgateway.CodeRefundSuccess, uniqueID
					must(t, s.confirmRefund(t.Context(), &r))
				}
			}
			now := shown(t, s, o.ID)
			if next, why := now.NextRefund(); tt.left == "" && why == "" || tt.left != "" && next.Amount.String() != tt.left {
				t.Errorf("%s may be refunded (%q), want %q; the refunds are %+v", next.Amount, why, tt.left, now.Refunds)
			}
		})
	}
}

// testPaidTwice: each of two attempts that have paid an order can be refunded, once, and the order is paid until both are.
func testPaidTwice(t *testing.T, s *Service) {
	first, second := paidTwice(t, s)
	for made, want := range []string{second + "-R1 24", first + "-R1 24", " 0"} {
		o := shown(t, s, first)
		if made > 0 {
			must(t, s.Refund(t.Context(), o, second+"-R1")) // a form that was sent twice
		}
		next, why := o.NextRefund()
		sum, _ := o.Refunded()
		if got := fmt.Sprint(next.ID, " ", next.Amount); got != want || len(o.AllRefunds) != made || sum.IsZero() != (why == "") {
			t.Errorf("after %d refunds: next is %s (%s), want %s; %s of %+v is refunded", made, got, why, want, sum, o)
		}
		must(t, s.confirmRefund(t.Context(), &cardgateway.Refund{Code: cardgateway.CodeRefundSuccess, UniqueID: o.UniqueID,
			RefundUniqueID: "refund of " + o.UniqueID, RefundAmount: o.Amount}))
	}
}

func testLook(t *testing.T, s *Service) {
	o := placed(t, s, KindHosted)
	becomes(t, s, o.ID, Payment{State: Waiting, UniqueID: "1", Version: 1})
	now := shown(t, s, o.ID)
	for i, want := range []bool{true, false, false} {
		if looked, err := s.Look(t.Context(), now); looked != want || err != nil {
			t.Errorf("look %d: %t, %v", i, looked, err)
		}
	}
}

func testCards(t *testing.T, s *Service) {
	orders++
	id, customer := fmt.Sprintf("C-%d", orders), fmt.Sprintf("customer of card %d", orders)
	terms := Terms{Currency: "USD", Products: []cardgateway.ProductInfo{{ProductName: "Card", Quantity: 1}}, Billing: cardgateway.Address{Country: "US"}}
	store := func() error {
		return s.StoreCard(t.Context(), customer, id, decimal.RequireFromString("1"), terms, Visitor{IP: "203.0.113.7"})
	}
	must(t, store()) // nothing was sent, and the state says so
	if err := store(); !errors.Is(err, ErrExists) {
		t.Errorf("stored twice: %v", err)
	}
	if c, err := s.Card(t.Context(), customer, id); err != nil || c.State != Unsent || c.Ready {
		t.Errorf("not sent: %+v, %v", c, err)
	}
	for _, p := range []Payment{{State: Waiting, RedirectURL: "https://g", Version: 8}, {State: Paid, Version: 9}, {State: Processing, Version: 7}} {
		must(t, s.setCard(t.Context(), id, p))
	}
	if got, err := s.Card(t.Context(), customer, id); err != nil || got.RedirectURL != "https://g" || got.State != Paid {
		t.Errorf("entered: %+v, %v", got, err)
	}
	if _, err := s.token(t.Context(), customer, id); !errors.Is(err, ErrNotFound) {
		t.Errorf("before its token: %v", err)
	}
	sent := func(token string, code cardgateway.Code) error {
		transaction := &cardgateway.Transaction{Code: code, TransactionID: id}
		return s.storeToken(t.Context(), &notify.Notification{Token: cardgateway.NewToken(token), Transaction: transaction})
	}
	if err := sent("early", cardgateway.CodeProcessing); !errors.Is(err, errTokenEarly) {
		t.Errorf("a token whose card is not accepted yet: %v", err) // the gateway sends it again
	}
	for _, token := range []string{"first", "second"} {
		must(t, sent(token, cardgateway.CodeSuccess))
	}
	token, err := s.token(t.Context(), customer, id)
	if err != nil || token.Reveal() != "first" {
		t.Errorf("the token is not the first one: %v", err)
	}
	if _, err := s.token(t.Context(), "somebody else", id); !errors.Is(err, ErrNotFound) {
		t.Errorf("somebody else can pay with it: %v", err)
	}
	_, err = s.DB.ExecContext(t.Context(), `INSERT INTO cards (id, customer, state, changed, token) SELECT 'other ' || id, 'other', state, 0, token FROM cards
		WHERE id = $1`, id)
	if _, failed := s.token(t.Context(), "other", "other "+id); err != nil || failed == nil {
		t.Errorf("the token can be decrypted as that of another card: %v", err)
	}
	all, err := s.Cards(t.Context(), customer)
	if err != nil || len(all) != 1 || !all[0].Ready {
		t.Errorf("ready: %+v, %v", all, err)
	}
	if err := s.RemoveCard(t.Context(), "somebody else", id); err != nil {
		t.Error(err)
	}
	if _, err := s.Card(t.Context(), customer, id); err != nil {
		t.Errorf("somebody else removed it: %v", err)
	}
	if err := s.RemoveCard(t.Context(), customer, id); err != nil {
		t.Error(err)
	}
	if _, err := s.Card(t.Context(), customer, id); !errors.Is(err, ErrNotFound) {
		t.Errorf("removed: %v", err)
	}
	must(t, sent("late", cardgateway.CodeSuccess)) // an error would make the gateway repeat it, and be an alert each time
}
