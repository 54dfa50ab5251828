package main

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/cardgateway/cardgateway-go/internal/test/pgserver"
	"github.com/cardgateway/cardgateway-go/sandbox"
)

// postgresURL returns the tests' own database.
func postgresURL(t *testing.T) string {
	t.Helper()
	return pgserver.Shared(t).URL("public")
}

// TestStore runs the same tests for every kind of database.
func TestStore(t *testing.T) {
	for name, open := range map[string]func(*testing.T) string{
		"SQLite in memory": func(*testing.T) string { return ":memory:" },
		"SQLite in a file": func(t *testing.T) string { return filepath.Join(t.TempDir(), "a ?strange#name.db") },
		"Postgres":         postgresURL,
	} {
		t.Run(name, func(t *testing.T) {
			source := open(t)
			s, err := OpenStore(t.Context(), source)
			if err != nil {
				t.Fatal(err)
			}
			defer func() {
				if err := s.Close(); err != nil {
					t.Error(err)
				}
			}()
			t.Run("an order is placed once", func(t *testing.T) { testPlaceOnce(t, s) })
			t.Run("outcomes in any order", func(t *testing.T) { testSetPayment(t, s) })
			t.Run("refunds", func(t *testing.T) { testRefunds(t, s) })
			t.Run("events", func(t *testing.T) { testEvents(t, s) })
			t.Run("one look in each interval", func(t *testing.T) { testMayLook(t, s) })
			t.Run("cards", func(t *testing.T) { testCards(t, s) })
		})
	}
}

// TestShopInPostgres uses the shop with its data and its journal in Postgres.
func TestShopInPostgres(t *testing.T) {
	w := open(t, withDB(postgresURL(t), ""))
	s := newShopper(t, w)
	card := s.saveCard(sandbox.Approved)
	w.courier.SetMode(courierDrop)
	w.gateway.Inject(sandbox.Fault{Operation: sandbox.OpPayments, Reply: sandbox.ReplyReset})
	lost := s.buy("orange", card)
	hosted := s.buy("pillar", "")
	s.enter(s.hostedPage(), sandbox.Declined)
	s.awaits(hosted, Declined)
	s.awaits(lost, Paid)
	if n := w.gateway.Executed(lost); n != 1 {
		t.Errorf("charged %d times", n)
	}
	if s.get("/orders"); s.status != 200 {
		t.Errorf("HTTP %d", s.status)
	}
}

// customerOf returns a separate customer for each test, because the database is used by several tests.
func customerOf(t *testing.T) string { return newID(t.Name()[:1]) }

func placed(t *testing.T, s *Store) *Order {
	t.Helper()
	o := &Order{
		ID: newID("S"), Customer: customerOf(t), Attempt: Attempt{Kind: KindHosted}, Buyer: Buyer{"Ada", "Gross", "ada@mail.test", "US"},
	}
	if err := s.AddToCart(t.Context(), o.Customer, "pillar"); err != nil {
		t.Fatal(err)
	}
	if err := s.PlaceOrder(t.Context(), o, "1 pillar 24"); err != nil {
		t.Fatal(err)
	}
	return o
}

func testPlaceOnce(t *testing.T, s *Store) {
	customer := customerOf(t)
	for range 3 {
		if err := s.AddToCart(t.Context(), customer, "pillar"); err != nil {
			t.Fatal(err)
		}
	}
	wrong := &Order{ID: newID("S"), Customer: customer, Attempt: Attempt{Kind: KindHosted}}
	if err := s.PlaceOrder(t.Context(), wrong, "1 pillar 24"); !errors.Is(err, errCartChanged) {
		t.Errorf("another cart: %v", err)
	}
	var done sync.WaitGroup
	results := make(chan error, 8)
	for range cap(results) {
		done.Go(func() {
			results <- s.PlaceOrder(t.Context(), &Order{ID: newID("S"), Customer: customer, Attempt: Attempt{Kind: KindHosted}}, "3 pillar 24")
		})
	}
	done.Wait()
	close(results)
	orders := 0
	for err := range results {
		if err == nil {
			orders++
		} else if !errors.Is(err, errEmptyCart) {
			t.Error(err)
		}
	}
	all, err := s.OrdersOf(t.Context(), customer)
	if err != nil || orders != 1 || len(all) != 1 {
		t.Fatalf("%d orders were placed, %d are there, %v", orders, len(all), err)
	}
	o, err := s.Order(t.Context(), all[0].ID)
	if err != nil || len(o.Lines) != 1 || o.Lines[0].Quantity != 3 || o.Lines[0].Price.String() != "24" || o.State != Open {
		t.Errorf("the order is %+v, %v", o, err)
	}
	if _, err := s.SetPayment(t.Context(), o.ID, Payment{State: Unsent}); err != nil {
		t.Fatal(err)
	}
}

// testSetPayment stores the outcomes of many orders, in different sequences and by several processes concurrently.
func testSetPayment(t *testing.T, s *Store) {
	outcomes := []Payment{
		{State: Checking}, {State: Waiting, UniqueID: "1", RedirectURL: "https://g", Evidence: 1},
		{State: Declined, UniqueID: "2", Reason: "Do not honour", Evidence: 2},
		{State: Paid, UniqueID: "3", Card: "0000", RedirectURL: "https://g", Evidence: 3}, {State: Checking, Evidence: 1},
	}
	for seed := range uint64(10) {
		o := placed(t, s)
		shuffled := rand.New(rand.NewPCG(seed, 0)).Perm(len(outcomes))
		var done sync.WaitGroup
		for _, i := range shuffled {
			done.Go(func() {
				if _, err := s.SetPayment(t.Context(), o.ID, outcomes[i]); err != nil {
					t.Error(err)
				}
			})
		}
		done.Wait()
		got, err := s.Order(t.Context(), o.ID)
		if want := outcomes[3]; err != nil || got.Payment != want {
			t.Errorf("seed %d: got %+v, %v; want %+v", seed, got.Payment, err, want)
		}
	}
	o := placed(t, s)
	for i, want := range []bool{true, false} {
		if stored, err := s.SetPayment(t.Context(), o.ID, outcomes[1]); err != nil || stored != want {
			t.Errorf("the same outcome, time %d: got %t, %v", i, stored, err)
		}
	}
	if _, err := s.SetPayment(t.Context(), o.ID, Payment{State: Paid, Evidence: 2}); err != nil {
		t.Error(err)
	}
	want := Payment{State: Paid, UniqueID: "1", RedirectURL: "https://g", Evidence: 2} // an outcome without an id keeps it
	if got, err := s.Order(t.Context(), o.ID); err != nil || got.Payment != want {
		t.Errorf("got %+v, %v; want %+v", got.Payment, err, want)
	}
}

func testRefunds(t *testing.T, s *Store) {
	placed(t, s) // another order, without a uniqueId
	o := placed(t, s)
	if _, err := s.SetPayment(t.Context(), o.ID, Payment{State: Paid, UniqueID: o.ID + "-unique", Evidence: 1}); err != nil {
		t.Fatal(err)
	}
	made := time.Date(2026, 10, 5, 8, 0, 0, 0, time.UTC)
	first := Refund{ID: o.ID + "-R1", OrderID: o.ID, Amount: price("4.50"), State: Open, Evidence: -1}
	for range 2 { // a form that is sent twice
		if err := s.AddRefund(t.Context(), &first); err != nil {
			t.Fatal(err)
		}
	}
	for _, r := range []Refund{
		{ID: first.ID, State: Checking}, {ID: first.ID, State: Refunded, Evidence: 2, Made: made}, {ID: first.ID, State: Processing, Evidence: 1},
	} {
		if _, err := s.SetRefund(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	office := Refund{ID: o.ID + "-office", Amount: price("1.00"), State: Processing}
	final := office
	final.State, final.Evidence, final.Made = Refunded, 1, made
	for _, r := range []Refund{office, final, office} {
		if err := s.SetOfficeRefund(t.Context(), r, o.ID+"-unique"); err != nil {
			t.Fatal(err)
		}
	}
	office.ID += "-of-nobody"
	for _, uniqueID := range []string{"", "9"} {
		if err := s.SetOfficeRefund(t.Context(), office, uniqueID); err != nil {
			t.Fatal(err)
		}
	}
	var stray int
	if err := s.db.QueryRowContext(t.Context(), `SELECT COUNT(*) FROM refunds WHERE id = $1`, office.ID).Scan(&stray); err != nil || stray != 0 {
		t.Errorf("%d refunds of no order were stored, %v", stray, err)
	}
	got, err := s.Order(t.Context(), o.ID)
	if err != nil || len(got.Refunds) != 2 {
		t.Fatalf("the refunds are %+v, %v", got.Refunds, err)
	}
	for i, want := range []string{first.ID + " 4.5 refunded 2", o.ID + "-office 1 refunded 1"} {
		r := got.Refunds[i]
		if text := fmt.Sprint(r.ID, " ", r.Amount, " ", r.State, " ", r.Evidence); text != want || !r.Made.Equal(made) || r.OrderID != o.ID {
			t.Errorf("refund %d is %s, made %s; want %s", i, text, r.Made, want)
		}
	}
	all, err := s.OrdersOf(t.Context(), o.Customer)
	if err != nil || len(all) != 1 || len(all[0].Refunds) != 2 || all[0].Refunds[0].ID != first.ID {
		t.Errorf("the orders are %+v, %v", all, err)
	}
	if b, err := s.BuyerOf(t.Context(), o.Customer); err != nil || b != o.Buyer {
		t.Errorf("the buyer is %+v, %v", b, err)
	}
	if b, err := s.BuyerOf(t.Context(), "nobody"); err != nil || b != (Buyer{}) {
		t.Errorf("nobody is %+v, %v", b, err)
	}
}

func testEvents(t *testing.T, s *Store) {
	id, begun := newID("S"), time.Date(2026, 10, 5, 8, 0, 0, 0, time.UTC)
	for i, what := range []Event{EventSent, EventAsked, EventNotified, EventAsked, EventAsked} {
		if err := s.AddEvent(t.Context(), id, what, begun.Add(time.Duration(i)*time.Second)); err != nil {
			t.Fatal(err)
		}
	}
	got, err := s.Events(t.Context(), id)
	if err != nil || len(got) != 3 {
		t.Fatalf("%d events, %v", len(got), err)
	}
	asked := got[1]
	if asked.Word != "Asked" || asked.Times != 3 || !asked.At.Equal(begun.Add(time.Second)) || !asked.Last.Equal(begun.Add(4*time.Second)) {
		t.Errorf("got %+v", asked)
	}
}

func testMayLook(t *testing.T, s *Store) {
	o := placed(t, s)
	var looked []bool
	for range 3 {
		may, err := s.MayLook(t.Context(), o.ID, time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		looked = append(looked, may)
	}
	if got := fmt.Sprint(looked); got != "[true false false]" {
		t.Error(got)
	}
}

func testCards(t *testing.T, s *Store) {
	c := &StoredCard{ID: newID("C"), Customer: customerOf(t)}
	if err := s.AddCard(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	for _, p := range []Payment{{State: Waiting, RedirectURL: "https://g"}, {State: Processing}} {
		if err := s.SetCard(t.Context(), c.ID, p); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := s.Card(t.Context(), c.ID); err != nil || got.RedirectURL != "https://g" || got.State != CardOpen {
		t.Errorf("open: %+v, %v", got, err)
	}
	for _, token := range []string{"first", "second"} {
		if err := s.SaveToken(t.Context(), c.ID, token, "0000"); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.SetCard(t.Context(), c.ID, Payment{State: Declined}); err != nil {
		t.Fatal(err)
	}
	all, err := s.CardsOf(t.Context(), c.Customer)
	if err != nil || len(all) != 1 || all[0].Encrypted != "first" || all[0].State != CardReady {
		t.Errorf("ready: %+v, %v", all, err)
	}
	if err := s.RemoveCard(t.Context(), "somebody else", c.ID); err != nil {
		t.Error(err)
	}
	if _, err := s.Card(t.Context(), c.ID); err != nil {
		t.Errorf("somebody else removed it: %v", err)
	}
	if err := s.RemoveCard(t.Context(), c.Customer, c.ID); err != nil {
		t.Error(err)
	}
	if _, err := s.Card(t.Context(), c.ID); !errors.Is(err, errNoCard) {
		t.Errorf("removed: %v", err)
	}
}
