package main

import (
	"errors"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/cardgateway/cardgateway-go/examples/shop/payments"
	"github.com/cardgateway/cardgateway-go/internal/test/pgserver"
)

// TestStore runs the same tests for every kind of database.
func TestStore(t *testing.T) {
	for name, database := range map[string]func(*testing.T) string{
		"SQLite in memory": func(*testing.T) string { return ":memory:" },
		"SQLite in a file": func(t *testing.T) string { return filepath.Join(t.TempDir(), "a ?strange#name.db") },
		"Postgres":         func(t *testing.T) string { return pgserver.Shared(t).URL("public") },
	} {
		t.Run(name, func(t *testing.T) {
			w := open(t, withDB(database(t)))
			t.Run("an order is placed once", func(t *testing.T) { testPlaceOnce(t, w) })
			t.Run("events", func(t *testing.T) { testEvents(t, w) })
		})
	}
}

func testPlaceOnce(t *testing.T, s *world) {
	customer := newID("A")
	must(t, s.setQuantity(t.Context(), customer, "pillar", 2))
	must(t, s.addToCart(t.Context(), customer, "pillar"))
	wrong := &payments.Order{ID: newID("S"), Customer: customer, Attempt: payments.Attempt{Kind: payments.KindHosted}}
	if err := s.orderCart(t.Context(), wrong, "1 pillar 24"); !errors.Is(err, errCartChanged) {
		t.Errorf("another cart: %v", err)
	}
	var done sync.WaitGroup
	results := make(chan error, 8)
	for range cap(results) {
		done.Go(func() {
			results <- s.orderCart(t.Context(), &payments.Order{ID: newID("S"), Customer: customer, Attempt: payments.Attempt{Kind: payments.KindHosted}}, "3 pillar 24")
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
	all, err := s.payments.Orders(t.Context(), customer)
	if err != nil || orders != 1 || len(all) != 1 {
		t.Fatalf("%d orders were placed, %d are there, %v", orders, len(all), err)
	}
	o, err := s.payments.Order(t.Context(), all[0].ID)
	if err != nil || len(o.Products) != 1 || o.Products[0].Quantity != 3 || o.Products[0].Price.String() != "24" || o.State != payments.Open {
		t.Errorf("the order is %+v, %v", o, err)
	}
}

func testEvents(t *testing.T, s *world) {
	id, begun := newID("S"), time.Date(2026, 10, 5, 8, 0, 0, 0, time.UTC)
	for i, what := range []Event{EventSent, EventAsked, EventNotified, EventAsked, EventAsked} {
		s.addEvent(t.Context(), id, what, begun.Add(time.Duration(i)*time.Second))
	}
	got, err := s.events(t.Context(), id)
	if err != nil || len(got) != 3 {
		t.Fatalf("%d events, %v", len(got), err)
	}
	asked := got[1]
	if asked.Word != "Asked" || asked.Times != 3 || !asked.At.Equal(begun.Add(time.Second)) || !asked.Last.Equal(begun.Add(4*time.Second)) {
		t.Errorf("got %+v", asked)
	}
}
