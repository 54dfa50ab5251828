package books

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/sandbox"
)

// mustSync syncs, and returns what it found.
func mustSync(t *testing.T, b *Books, o SyncOptions) SyncReport {
	t.Helper()
	report, err := b.Sync(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// exec changes the database behind the books' back.
func exec(t *testing.T, b *Books, statement string, args ...any) {
	t.Helper()
	if _, err := b.writer.ExecContext(t.Context(), statement, args...); err != nil {
		t.Fatal(err)
	}
}

// what counts the changes of each kind.
func what(t *testing.T, b *Books) map[string]int {
	t.Helper()
	counts := map[string]int{}
	for _, c := range collect(t, b.changesSince(t.Context(), time.Time{})) {
		counts[tableOf(c.Kind).kind+" "+c.What]++
	}
	return counts
}

// TestSync copies three months, then what came in meanwhile.
func TestSync(t *testing.T) {
	onEach(t, func(t *testing.T, db string) {
		server := gateway(t, sandbox.Options{})
		from := time.Now().AddDate(0, -3, 0)
		server.Seed(3000, from, time.Now())
		b, o := open(t, db), SyncOptions{Client: clientOf(t, server, "7"), From: from}
		for range 2 { // the second run finds nothing new
			mustSync(t, b, o)
			wantFresh(t, b, o)
		}
		server.Seed(300, time.Now().Add(-10*time.Minute), time.Now())
		mustSync(t, b, SyncOptions{Client: o.Client})
		wantFresh(t, b, o)
		counts, err := b.Count(t.Context())
		if err != nil || counts.Orders != 3300 || counts.Refunds != 330 || counts.OpenOrders == 0 {
			t.Errorf("got %+v, %v", counts, err)
		}
		info, err := b.Info(t.Context())
		if err != nil || time.Since(info.LastSync) > time.Minute {
			t.Errorf("got %+v, %v", info, err)
		}
		if behind := time.Since(info.CompleteUpTo); behind < 15*time.Minute || behind > 16*time.Minute {
			t.Errorf("complete up to %v, want some 15 minutes ago", info.CompleteUpTo)
		}
		if got := what(t, b); len(got) != 0 {
			t.Errorf("got changes %v, want none", got)
		}
	})
}

// TestLate: rows that appear with a time that had been copied are found: 48 hours back by every run, 28 days back by one a
// day, and more on request.
func TestLate(t *testing.T) {
	onEach(t, func(t *testing.T, db string) {
		server := gateway(t, sandbox.Options{})
		from := time.Now().AddDate(0, -3, 0)
		server.Seed(20, from, time.Now()) // none is open
		b := open(t, db)
		now := time.Now()
		o := SyncOptions{Client: clientOf(t, server, "7"), From: from, Now: func() time.Time { return now }}
		mustSync(t, b, o)
		late := func(days int) {
			at := time.Now().Add(-time.Duration(days)*day - time.Hour)
			server.SeedOrders(sandbox.SeedOptions{N: 5, From: at, To: at.Add(time.Hour), RefundEvery: -1})
		}
		for _, test := range []struct {
			name   string
			days   int
			passed time.Duration
			again  time.Duration
			want   int
		}{
			{"a day, at once", 1, 0, 0, 5},
			{"a week, at once", 7, 0, 0, 0},
			{"a week, a day later", 7, 25 * time.Hour, 0, 10},
			{"two months, a day later", 60, 25 * time.Hour, 0, 0},
			{"two months, on request", 60, 0, 80 * day, 10},
		} {
			t.Run(test.name, func(t *testing.T) {
				late(test.days)
				now = now.Add(test.passed)
				o.Again = test.again
				if got := mustSync(t, b, o); got.Late != test.want || got.Changed != 0 || got.Gone != 0 {
					t.Errorf("%s: got %+v, want %d late", test.name, got, test.want)
				}
			})
		}
		wantFresh(t, b, o)
		if got := what(t, b); got["orders late"] != 25 || len(got) != 1 {
			t.Errorf("got changes %v, want 25 late orders", got)
		}
	})
}

// TestChanged: a payment that settles is copied again, and its change recorded.
func TestChanged(t *testing.T) {
	onEach(t, func(t *testing.T, db string) {
		server := gateway(t, sandbox.Options{SettleAfter: -1, RefundSettleAfter: -1})
		payment := payFor(t, server, "7", "t-1")
		b := open(t, db)
		o := SyncOptions{Client: clientOf(t, server, "7"), From: time.Now().Add(-time.Hour)}
		mustSync(t, b, o)
		server.Settle("t-1", true)
		if _, err := server.Refund(payment.UniqueID, "2", "r-1"); err != nil {
			t.Fatal(err)
		}
		mustSync(t, b, o)
		server.SettleRefund("r-1", true)
		if got := mustSync(t, b, o); got.Changed != 1 {
			t.Errorf("got %+v, want the refund changed", got)
		}
		var changes []string
		for _, c := range collect(t, b.changesSince(t.Context(), time.Time{})) {
			changes = append(changes, fmt.Sprintf("%s %t %s %s>%s", tableOf(c.Kind).kind, c.ID == payment.UniqueID, c.What, c.Old, c.New))
		}
		want := []string{"orders true code 102>100", "orders true state processing>approved", "refunds false code 110>111", "refunds false state processing>approved"}
		if diff := cmp.Diff(want, changes); diff != "" {
			t.Errorf("changes (-want +got):\n%s", diff)
		}
	})
}

// TestOldAndOpen: rows that are open and older than what is read again are asked for once a day, by walks.
func TestOldAndOpen(t *testing.T) {
	onEach(t, func(t *testing.T, db string) {
		server := gateway(t, sandbox.Options{})
		from := time.Now().AddDate(0, -3, 0)
		server.SeedOrders(sandbox.SeedOptions{N: 3000, From: from, To: time.Now()})
		b := open(t, db)
		now := time.Now()
		o := SyncOptions{Client: clientOf(t, server, "7"), From: from, Now: func() time.Time { return now }}
		mustSync(t, b, o)
		old := micro(now.Add(-60 * day))
		exec(t, b, `UPDATE cardgateway_orders SET state = 'processing', code = 102 WHERE at < $1 AND code = 100`, old)
		exec(t, b, `UPDATE cardgateway_refunds SET state = 'processing', code = 110 WHERE at < $1`, old)
		if got := mustSync(t, b, o); got.Changed != 0 {
			t.Errorf("the same day: got %+v, want nothing changed", got)
		}
		now = now.Add(25 * time.Hour)
		if got := mustSync(t, b, o); got.Changed == 0 {
			t.Errorf("the next day: got %+v, want rows changed", got)
		}
		wantFresh(t, b, o)
	})
}

// TestGone: rows that the gateway shows no more are deleted and recorded, unless they are so many that it is more likely
// wrong.
func TestGone(t *testing.T) {
	onEach(t, func(t *testing.T, db string) {
		server := gateway(t, sandbox.Options{})
		from := time.Now().AddDate(0, 0, -2)
		server.SeedOrders(sandbox.SeedOptions{N: 100, From: from, To: time.Now().Add(-time.Hour), RefundEvery: -1})
		b := open(t, db)
		o := SyncOptions{Client: clientOf(t, server, "7"), From: from}
		mustSync(t, b, o)
		exec(t, b, `INSERT INTO cardgateway_orders (id, unique_id, transaction_id, state, code, amount, currency, at, card, walk)
			SELECT 'x' || id, 'x' || id, 't', state, code, amount, currency, at, card, walk FROM cardgateway_orders
			WHERE id IN (SELECT id FROM cardgateway_orders ORDER BY id LIMIT 3)`)
		if got := mustSync(t, b, o); got.Gone != 3 {
			t.Errorf("got %+v, want 3 gone", got)
		}
		wantFresh(t, b, o)
		gone := collect(t, b.changesSince(t.Context(), time.Time{}))
		if len(gone) != 3 || gone[0].What != "gone" || !strings.Contains(gone[0].Old, `"transaction_id":"t"`) {
			t.Errorf("got changes %v, want the rows that are gone", gone)
		}
		server.Reset() // the gateway has lost everything
		_, err := b.Sync(t.Context(), o)
		if failed, ok := errors.AsType[*GoneError](err); !ok || failed.Gone != 100 || failed.Of != 100 {
			t.Errorf("got %v, want a GoneError of 100 rows", err)
		}
		if counts, err := b.Count(t.Context()); err != nil || counts.Orders != 100 {
			t.Errorf("got %+v, %v, want 100 orders still", counts, err)
		}
		o.AcceptGone = true
		if got := mustSync(t, b, o); got.Gone != 100 {
			t.Errorf("accepted: got %+v, want 100 gone", got)
		}
	})
}

// TestGoneAfterAsking: a row that was asked for again in a run that did not end is deleted when the gateway no longer returns it.
func TestGoneAfterAsking(t *testing.T) {
	onEach(t, func(t *testing.T, db string) {
		server := gateway(t, sandbox.Options{})
		now := time.Now()
		from := now.AddDate(0, 0, -90)
		server.SeedOrders(sandbox.SeedOptions{N: 3000, From: from, To: now, RefundEvery: -1})
		b := open(t, db)
		o := SyncOptions{Client: clientOf(t, server, "7"), From: from, Now: func() time.Time { return now }}
		mustSync(t, b, o)
		exec(t, b, `UPDATE cardgateway_orders SET state = 'approved', code = 100`)
		exec(t, b, `UPDATE cardgateway_orders SET state = 'processing', code = 102
			WHERE at IN (SELECT MIN(at) FROM cardgateway_orders WHERE at > $1 UNION SELECT MIN(at) FROM cardgateway_orders WHERE at > $2)`,
			micro(from.Add(day)), micro(from.Add(50*day)))
		now = now.Add(25 * time.Hour)
		ctx, cancel := context.WithCancel(t.Context())
		asking, interrupted := false, o
		interrupted.Begin = func(what string, _ time.Time) { asking = what == "open orders" }
		interrupted.Progress = func(p cardgateway.Progress) {
			if asking && p.Fraction > 0 { // the second range
				cancel()
			}
		}
		if _, err := b.Sync(ctx, interrupted); !errors.Is(err, context.Canceled) {
			t.Fatalf("got %v, want that it was interrupted", err)
		}
		exec(t, b, `INSERT INTO cardgateway_orders (id, unique_id, transaction_id, state, code, amount, currency, at, card, walk)
			SELECT 'x', 'x', 't', state, code, amount, currency, at, card, walk FROM cardgateway_orders WHERE at > $1 ORDER BY at LIMIT 1`,
			micro(from.Add(day)))
		now = now.Add(time.Hour)
		o.Again = 100 * day
		if got := mustSync(t, b, o); got.Gone != 1 {
			t.Errorf("got %+v, want one gone", got)
		}
	})
}
