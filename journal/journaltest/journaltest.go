// Package journaltest tests implementations of journal.Store.
//
//	func TestMyStore(t *testing.T) {
//		journaltest.Run(t, journaltest.Harness{
//			Open: func(t testing.TB, place string) (journal.Store, func()) {
//				s, err := mystore.Open(filepath.Join(place, "journal"))
//				if err != nil {
//					t.Fatal(err)
//				}
//				return s, func() { s.Close() }
//			},
//		})
//	}
//
// The suite starts the test binary again to kill a process that writes: the test that calls Run must do nothing
// before it that the second process could not repeat.
package journaltest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/shopspring/decimal"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/journal"
)

// Harness says how to open the store under test.
type Harness struct {
	// Open opens the store at place, or creates it. Place is an existing directory that no other test uses. If it was opened
	// at the same place before, it must contain what was written then. A store that does not use files takes place as a
	// name.
	Open func(t testing.TB, place string) (store journal.Store, close func())
	// Volatile says that the contents of the store are lost when it is closed.
	Volatile bool
	// Shared says that several processes may have the store open at the same time.
	Shared bool
}

// Run runs the suite.
func Run(t *testing.T, h Harness) {
	if place := os.Getenv(writerEnv); place != "" {
		write(t, h, place)
		return
	}
	for name, test := range map[string]func(*testing.T, journal.Store){
		"begin":       testBegin,
		"record":      testRecord,
		"ack":         testAck,
		"unacked":     testUnacked,
		"walk":        testWalk,
		"slow walk":   testSlowWalk,
		"ids":         testIDs,
		"refunds":     testRefunds,
		"context":     testContext,
		"forget":      testForget,
		"one begins":  func(t *testing.T, s journal.Store) { testOneBegins(t, s) },
		"one records": func(t *testing.T, s journal.Store) { testOneRecords(t, s) },
		"everybody":   testEverybody,
		"lease":       testLease,
		"release":     testRelease,
		"one leases":  func(t *testing.T, s journal.Store) { testOneLeases(t, leaseStore(t, s)) },
	} {
		t.Run(name, func(t *testing.T) {
			store, done := h.Open(t, t.TempDir())
			defer done()
			test(t, store)
		})
	}
	if h.Shared {
		t.Run("two handles", func(t *testing.T) { testTwoHandles(t, h) })
	}
	if !h.Volatile {
		t.Run("reopened", func(t *testing.T) { testReopened(t, h) })
		t.Run("killed", func(t *testing.T) { testKilled(t, h) })
	}
}

var day = time.Date(2026, 11, 20, 10, 0, 0, 123456789, time.UTC)

var shop = journal.Shop{Gateway: "https://gateway.example", AppID: "7"}

func key(id string) journal.Key { return journal.Key{Shop: shop, ID: journal.PaymentID(id)} }

// intent returns the n-th of a series of intents that are a second apart.
func intent(id string, n int) journal.Intent {
	return journal.Intent{
		Shop: shop, ID: journal.PaymentID(id), OrderID: "order of " + id, Operation: "CreateCheckout", Amount: decimal.RequireFromString("12.50"),
		Currency: "USD", SubscriptionCycle: cardgateway.CycleWeek, At: day.Add(time.Duration(n) * time.Second), Sender: fmt.Sprint("sender ", n),
	}
}

// answered returns evidence with every member that a response can have.
func answered(id string) journal.Evidence {
	yes := true
	at, _ := cardgateway.ParseWallTime("2026-11-20 18:00:01") // of this very form
	return journal.Evidence{
		At: day.Add(time.Minute), Source: journal.SourceAnswer, State: journal.Pending, Sender: "sender",
		Transaction: &cardgateway.Transaction{
			Code: 301, IsTest: true, UniqueID: "20261120000000000001", TransactionID: id, Timestamp: day,
			TransactionAmount: decimal.RequireFromString("12.500"), TransactionCurrency: "USD", TransactionAt: at,
			Is3D: &yes, RedirectURL: "https://pay.example.com/?a=1&b=<2>",
		},
	}
}

// others returns one piece of evidence of each further kind.
func others(id string) []journal.Evidence {
	again := intent(id, 7)
	return []journal.Evidence{
		{At: day, Source: journal.SourceAnswer, State: journal.Refused, HTTPStatus: 429, Code: 400, Sender: "sender"},
		{At: day, Source: journal.SourceAnswer, State: journal.NotSent, Invalid: true},
		{At: day, Source: journal.SourceQuery, State: journal.PresumedAbsent},
		{At: day, Source: journal.SourceQuery, Seen: true},
		{At: day, Source: journal.SourceQuery, State: journal.Abandoned},
		{At: day, Source: journal.SourceQuery, State: journal.Declined, Transaction: &cardgateway.Transaction{Code: 101, UniqueID: "2"}},
		{At: day, Source: journal.SourceQuery, State: journal.Succeeded, Transaction: &cardgateway.Transaction{Code: 100, UniqueID: "3"}},
		{At: day, Source: journal.SourceSubmission, Submission: &again},
	}
}

func begin(t testing.TB, s journal.Store, in journal.Intent) journal.Entry {
	t.Helper()
	e, _, err := s.Begin(t.Context(), in)
	if err != nil {
		t.Fatalf("Begin(%q): %v", in.ID.Text, err)
	}
	return e
}

func record(t testing.TB, s journal.Store, key journal.Key, version int, ev journal.Evidence) {
	t.Helper()
	if err := s.Record(t.Context(), key, version, ev); err != nil {
		t.Fatalf("Record(%q, %d): %v", key.ID, version, err)
	}
}

func ack(t testing.TB, s journal.Store, key journal.Key, version int) {
	t.Helper()
	if err := s.Ack(t.Context(), key, version); err != nil {
		t.Fatalf("Ack(%q, %d): %v", key.ID, version, err)
	}
}

// same compares the JSON of two entries, which has every member.
func same(t testing.TB, got, want journal.Entry) {
	t.Helper()
	a, err := json.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	if string(a) != string(b) {
		t.Errorf("entry is\n%s\nwant\n%s", a, b)
	}
}

func unacked(t testing.TB, s journal.Store) (ids []string) {
	t.Helper()
	for e, err := range s.Unacked(t.Context(), shop) {
		if err != nil {
			t.Fatalf("Unacked: %v", err)
		}
		ids = append(ids, e.ID().Text)
	}
	return ids
}

func testBegin(t *testing.T, s journal.Store) {
	in := intent("a", 0)
	want := journal.Entry{Begun: in, Acked: -1}
	e, created, err := s.Begin(t.Context(), in)
	if err != nil || !created {
		t.Fatalf("Begin of a new payment: created %v, %v", created, err)
	}
	same(t, e, want)
	other := intent("a", 1)
	other.Currency = "EUR"
	e, created, err = s.Begin(t.Context(), other)
	if err != nil || created {
		t.Fatalf("Begin of an existing payment: created %v, %v", created, err)
	}
	same(t, e, want)
}

// testRecord reads an entry after each change, by Get and by Begin.
func testRecord(t *testing.T, s journal.Store) {
	if _, err := s.Get(t.Context(), key("a")); !errors.Is(err, journal.ErrNoEntry) {
		t.Errorf("Get of an unknown payment: %v, want ErrNoEntry", err)
	}
	want := begin(t, s, intent("a", 0))
	begin(t, s, intent("b", 1))
	read := func() {
		t.Helper()
		got, err := s.Get(t.Context(), key("a"))
		if err != nil {
			t.Fatalf("Get: %v", err)
		}
		same(t, got, want)
		again, created, err := s.Begin(t.Context(), want.Begun)
		if err != nil || created && len(want.Evidence) > 0 {
			t.Fatalf("Begin of the same submission, of which more is known: created %v, %v", created, err)
		}
		same(t, again, want)
	}
	for i, ev := range append(others("a"), answered("a")) {
		record(t, s, key("a"), i, ev)
		want.Evidence = append(want.Evidence, ev)
		read()
	}
	n := len(want.Evidence)
	for _, version := range []int{0, n - 1, n + 1} {
		if err := s.Record(t.Context(), key("a"), version, answered("a")); !errors.Is(err, journal.ErrChanged) {
			t.Errorf("Record to version %d of an entry of version %d: %v, want ErrChanged", version, n, err)
		}
	}
	if err := s.Record(t.Context(), key("c"), 0, answered("c")); !errors.Is(err, journal.ErrNoEntry) {
		t.Errorf("Record of an unknown payment: %v, want ErrNoEntry", err)
	}
	read()
	ack(t, s, key("a"), n)
	want.Acked = n
	read()
}

func testAck(t *testing.T, s journal.Store) {
	begin(t, s, intent("a", 0))
	record(t, s, key("a"), 0, answered("a"))
	for _, other := range []int{0, -1, 2} {
		if err := s.Ack(t.Context(), key("a"), other); !errors.Is(err, journal.ErrChanged) {
			t.Errorf("Ack of version %d of an entry of version 1: %v, want ErrChanged", other, err)
		}
	}
	for _, version := range []int{1, 1, 0} {
		if err := s.Ack(t.Context(), key("a"), version); err != nil {
			t.Errorf("Ack of %d: %v", version, err)
		}
	}
	if ids := unacked(t, s); len(ids) != 0 {
		t.Errorf("unacknowledged after Ack: %q", ids)
	}
	record(t, s, key("a"), 1, others("a")[2])
	if ids := unacked(t, s); !slices.Equal(ids, []string{"a"}) {
		t.Errorf("unacknowledged after more evidence: %q", ids)
	}
	if err := s.Ack(t.Context(), key("b"), 0); !errors.Is(err, journal.ErrNoEntry) {
		t.Errorf("Ack of an unknown payment: %v, want ErrNoEntry", err)
	}
	if e := begin(t, s, intent("a", 0)); e.Acked != 1 || len(e.Evidence) != 2 {
		t.Errorf("the payment has %d pieces of evidence, %d acknowledged; want 2 and 1", len(e.Evidence), e.Acked)
	}
}

// testUnacked creates more entries than fit on a page of any store. Their order is neither that of their ids nor that of their times.
func testUnacked(t *testing.T, s journal.Store) {
	const n = 350
	var want []string
	for i := range n {
		k := i * 211 % n
		begin(t, s, intent(fmt.Sprintf("id %03d", k), -k/3)) // three begin at the same time
	}
	for k := range n {
		id := fmt.Sprintf("id %03d", k)
		if k%7 == 0 {
			ack(t, s, key(id), 0)
			continue
		}
		want = append(want, id)
	}
	got := unacked(t, s)
	for i := 1; i < len(got); i++ {
		var a, b int
		_, _ = fmt.Sscanf(got[i-1], "id %d", &a)
		_, _ = fmt.Sscanf(got[i], "id %d", &b)
		if a/3 < b/3 {
			t.Fatalf("%q comes before %q, which is older", got[i-1], got[i])
		}
	}
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("%d entries are unacknowledged, want %d", len(got), len(want))
	}
}

// testWalk uses the store within a loop over Unacked, and breaks out of the loop.
func testWalk(t *testing.T, s journal.Store) {
	for i := range 5 {
		begin(t, s, intent(fmt.Sprint(i), i))
	}
	for e, err := range s.Unacked(t.Context(), shop) {
		if err != nil {
			t.Fatal(err)
		}
		record(t, s, key(e.ID().Text), 0, answered(e.ID().Text))
		if e.ID().Text == "3" {
			break
		}
	}
	for i, want := range []int{1, 1, 1, 1, 0} {
		if e := begin(t, s, intent(fmt.Sprint(i), i)); len(e.Evidence) != want {
			t.Errorf("payment %d has %d pieces of evidence, want %d", i, len(e.Evidence), want)
		}
	}
}

// testSlowWalk spends more than a second on each entry, so that Unacked must read the next one again.
func testSlowWalk(t *testing.T, s journal.Store) {
	for i := range 3 {
		begin(t, s, intent(fmt.Sprint(i), i))
	}
	var got []string
	for e, err := range s.Unacked(t.Context(), shop) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, fmt.Sprintf("%s with %d", e.ID().Text, len(e.Evidence)))
		switch e.ID().Text {
		case "0":
			record(t, s, key("1"), 0, answered("1"))
			time.Sleep(1100 * time.Millisecond)
		case "1":
			record(t, s, key("2"), 0, answered("2"))
			time.Sleep(1100 * time.Millisecond)
		}
	}
	if want := []string{"0 with 0", "1 with 1", "2 with 1"}; !slices.Equal(got, want) {
		t.Errorf("a slow loop over Unacked yields %q, want %q", got, want)
	}
}

// testIDs checks that ids are compared byte for byte, and that any id of the interface fits.
func testIDs(t *testing.T, s journal.Store) {
	ids := []string{
		"a", "A", "a ", "á", "a\u0301", "ß", "ss", "'; --", `"\`, "%_", "?1 $1", "..", "💳", strings.Repeat("💳", 128),
		strings.Repeat("x", 128), strings.Repeat("x", 127) + "y", "a\u00a0", "1", "01", "1.0", "1e0", "strasse", "straße",
	}
	for i, id := range ids {
		if _, created, err := s.Begin(t.Context(), intent(id, i)); err != nil || !created {
			t.Errorf("Begin(%q): created %v, %v", id, created, err)
		}
		record(t, s, key(id), 0, answered(id))
	}
	got := unacked(t, s)
	if !slices.Equal(got, ids) {
		t.Errorf("ids are %q, want %q", got, ids)
	}
}

// testRefunds stores a payment and a refund under the same id, also under ids of the greatest length.
func testRefunds(t *testing.T, s journal.Store) {
	at, _ := cardgateway.ParseWallTime("2026-11-20 18:00:01") // of this very form
	refunded := journal.Evidence{
		At: day.Add(time.Minute), Source: journal.SourceQuery, State: journal.Succeeded, Sender: "sender",
		Refund: &cardgateway.Refund{
			Code: 111, UniqueID: "20261120000000000001", MerchantRefundID: "a", RefundUniqueID: "20261120000000000002", Timestamp: day,
			RefundAmount: decimal.RequireFromString("2.500"), RefundCurrency: "USD", RefundRequestAt: at, RefundAt: at,
		},
	}
	ids := []string{"a", "refund", "refund a", "payment a", "%_", strings.Repeat("x", 128), strings.Repeat("💳", 128)}
	for i, id := range ids {
		in := journal.Intent{
			Shop: shop, ID: journal.RefundID(id), UniqueID: "20261120000000000001", Operation: "CreateRefund",
			Amount: decimal.RequireFromString("2.500"), At: day.Add(time.Duration(i) * time.Second), Sender: "sender",
		}
		if _, created, err := s.Begin(t.Context(), in); err != nil || !created {
			t.Errorf("Begin of refund %q: created %v, %v", id, created, err)
		}
		if _, created, err := s.Begin(t.Context(), intent(id, i+10)); err != nil || !created {
			t.Errorf("Begin of a payment with the id of refund %q: created %v, %v", id, created, err)
		}
		other := in
		other.Sender, other.Amount = "another", decimal.NewFromInt(3)
		if e, created, err := s.Begin(t.Context(), other); err != nil || created {
			t.Errorf("Begin of refund %q, which exists: created %v, %v", id, created, err)
		} else {
			same(t, e, journal.Entry{Begun: in, Acked: -1})
		}
		evidence := []journal.Evidence{refunded, {At: day, Source: journal.SourceSubmission, Submission: &other}}
		for version, ev := range evidence {
			record(t, s, in.Key(), version, ev)
		}
		got, err := s.Get(t.Context(), in.Key())
		if err != nil {
			t.Fatalf("Get of refund %q: %v", id, err)
		}
		same(t, got, journal.Entry{Begun: in, Acked: -1, Evidence: evidence})
		if err := s.Ack(t.Context(), key(id), 0); err != nil {
			t.Errorf("Ack of the payment with the id of refund %q: %v", id, err)
		}
	}
	var left []string
	for e, err := range s.Unacked(t.Context(), shop) {
		if err != nil {
			t.Fatal(err)
		}
		if !e.ID().Refund || len(e.Evidence) != 2 {
			t.Errorf("the unacknowledged entry is %+v, want a refund with two pieces of evidence", e)
		}
		left = append(left, e.ID().Text)
		if err := s.Ack(t.Context(), e.Key(), 2); err != nil {
			t.Errorf("Ack of refund %q: %v", e.ID().Text, err)
		}
	}
	if !slices.Equal(left, ids) {
		t.Errorf("unacknowledged are %q, want %q", left, ids)
	}
	if ids := unacked(t, s); len(ids) != 0 {
		t.Errorf("unacknowledged after Ack: %q", ids)
	}
	missing := journal.Key{Shop: shop, ID: journal.RefundID("b")}
	begin(t, s, intent("b", 30))
	if _, err := s.Get(t.Context(), missing); !errors.Is(err, journal.ErrNoEntry) {
		t.Errorf("Get of a refund with the id of a payment: %v, want ErrNoEntry", err)
	}
	if err := s.Record(t.Context(), missing, 0, refunded); !errors.Is(err, journal.ErrNoEntry) {
		t.Errorf("Record of a refund with the id of a payment: %v, want ErrNoEntry", err)
	}
}

func testContext(t *testing.T, s journal.Store) {
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if _, created, err := s.Begin(over, intent("a", 0)); err == nil || created {
		t.Errorf("Begin with an ended context: created %v, %v", created, err)
	}
	begin(t, s, intent("a", 0))
	if _, err := s.Get(over, key("a")); err == nil {
		t.Error("Get with an ended context: no error")
	}
	if err := s.Record(over, key("a"), 0, answered("a")); err == nil {
		t.Error("Record with an ended context: no error")
	}
	if err := s.Ack(over, key("a"), 0); err == nil {
		t.Error("Ack with an ended context: no error")
	}
	var failed error
	for _, err := range s.Unacked(over, shop) {
		failed = err
	}
	if failed == nil { // an empty loop would mean that nothing is open
		t.Error("Unacked with an ended context: no error")
	}
}
