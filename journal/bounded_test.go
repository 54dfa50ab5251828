package journal

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/shopspring/decimal"

	"github.com/cardgateway/cardgateway-go"
)

func TestRecent(t *testing.T) {
	r := recent[int, int]{most: 10}
	put := func(k, v int) { r.update(k, func(int, bool) (int, bool) { return v, true }) }
	for k := range 20 {
		put(k, k)
	}
	if r.hasForgotten() {
		t.Error("it has forgotten something of the two newest generations")
	}
	put(20, 20)
	if !r.hasForgotten() {
		t.Error("it has forgotten nothing although there was a third generation")
	}
	for k, want := range map[int]bool{0: false, 9: false, 10: true, 19: true, 20: true} {
		if v, ok := r.get(k); ok != want || ok && v != k {
			t.Errorf("%d: got %d, %t", k, v, ok)
		}
	}
	emptied := recent[int, int]{most: 1}
	for k := range 3 {
		emptied.update(k, func(int, bool) (int, bool) { return 0, true })
	}
	emptied.remove(1) // the older generation has nothing now
	emptied.update(3, func(int, bool) (int, bool) { return 0, true })
	if !emptied.hasForgotten() {
		t.Error("it no longer knows that it has forgotten something")
	}
	put(19, 7) // again, in the newer generation
	r.remove(19)
	if v, ok := r.get(19); ok {
		t.Errorf("a removed key has the value %d", v)
	}
	if n := len(r.newer) + len(r.older); n > 20 {
		t.Errorf("it holds %d", n)
	}
}

// TestAckOfForgottenReport: if a Journal has forgotten what it reported, that may be less than its store has now.
func TestAckOfForgottenReport(t *testing.T) {
	client, err := cardgateway.New(cardgateway.Config{BaseURL: "http://127.0.0.1:1", AppID: "7"}) // nobody listens
	if err != nil {
		t.Fatal(err)
	}
	j := New(client, NewMemoryStore(), Options{})
	j.reported.last.most = 2
	add := func(id string, at time.Time) {
		in := Intent{Shop: j.shop, ID: PaymentID(id), At: at, Sender: "s"}
		_, _, failed := j.store.Begin(t.Context(), in)
		err := j.store.Record(t.Context(), in.Key(), 0, Evidence{At: at, Source: SourceAnswer, State: NotSent, Sender: "s"})
		if err := errors.Join(failed, err); err != nil {
			t.Fatal(err)
		}
	}
	add("old", j.clock.started.Add(-time.Second))
	add("new", j.clock.started.Add(time.Second))
	add("newer", j.clock.started.Add(time.Second))
	if err := j.Ack(t.Context(), "newer"); err != nil {
		t.Errorf("before any report was forgotten: %v", err)
	}
	for i := range 10 {
		j.reported.set(&Entry{Begun: Intent{ID: PaymentID(fmt.Sprint(i))}}, Pending)
	}
	if _, _, err := j.store.Begin(t.Context(), Intent{Shop: j.shop, ID: PaymentID("begun"), At: j.clock.started}); err != nil {
		t.Fatal(err)
	}
	if err := j.Ack(t.Context(), "begun"); !errors.Is(err, ErrOpen) {
		t.Errorf("an entry without evidence: got %v, want ErrOpen", err)
	}
	if err := j.Ack(t.Context(), "old"); err != nil {
		t.Errorf("evidence older than this Journal: %v", err)
	}
	if err := j.Ack(t.Context(), "new"); !errors.Is(err, ErrChanged) {
		t.Errorf("evidence newer than this Journal: got %v, want ErrChanged", err)
	}
	if err := j.store.Ack(t.Context(), j.key(PaymentID("new")), 1); err != nil { // by another process
		t.Fatal(err)
	}
	if err := j.Ack(t.Context(), "new"); err != nil {
		t.Errorf("what is acknowledged: %v", err)
	}
}

// TestTouched: if there are more keys than can be remembered, every key counts as touched.
func TestTouched(t *testing.T) {
	var all touched
	s := all.watch()
	a, b := Key{ID: PaymentID("a")}, Key{ID: PaymentID("b")}
	all.add(a)
	if !s.has(a) || s.has(b) || s.has(Key{ID: RefundID("a")}) {
		t.Error("a was touched, and b was not")
	}
	for i := range mostTouched + 1 {
		all.add(Key{ID: PaymentID(fmt.Sprint(i))})
	}
	if !s.has(b) {
		t.Error("too many were touched, but one is reported as not touched")
	}
	all.unwatch(s)
	if len(all.sets) != 0 {
		t.Error("a set that is no longer watched still receives changes")
	}
}

func TestRecordable(t *testing.T) {
	amount := func(text string) decimal.Decimal { return decimal.RequireFromString(text) }
	good := Intent{ID: PaymentID("a"), OrderID: "o", Currency: "USD", Amount: amount("12.50")}
	for name, c := range map[string]struct {
		change func(*Intent)
		want   bool
	}{
		"as it is":            {func(*Intent) {}, true},
		"no id":               {func(in *Intent) { in.ID.Text = "" }, false},
		"a control character": {func(in *Intent) { in.ID.Text = "a\n" }, false},
		"no UTF-8":            {func(in *Intent) { in.Currency = "\xff" }, false},
		"128 characters":      {func(in *Intent) { in.OrderID = strings.Repeat("ü", 128) }, true},
		"129 characters":      {func(in *Intent) { in.OrderID = strings.Repeat("x", 129) }, false},
		"3 decimals":          {func(in *Intent) { in.Amount = amount("0.001") }, true},
		"4 decimals":          {func(in *Intent) { in.Amount = amount("0.0001") }, false},
		"12 digits":           {func(in *Intent) { in.Amount = amount("999999999.999") }, true},
		"13 digits":           {func(in *Intent) { in.Amount = amount("9999999999.999") }, false},
		"exponent 12":         {func(in *Intent) { in.Amount = decimal.New(1, 12) }, true},
		"exponent 13":         {func(in *Intent) { in.Amount = decimal.New(1, 13) }, false},
	} {
		in := good
		c.change(&in)
		if got := in.recordable(); got != c.want {
			t.Errorf("%s: got %t, want %t", name, got, c.want)
		}
	}
}

// TestNobodyWatchesForEver: a Recover that has ended, or whose loop was left, receives no more changes.
func TestNobodyWatchesForEver(t *testing.T) {
	client, err := cardgateway.New(cardgateway.Config{BaseURL: "https://gateway.test", AppID: "7"})
	if err != nil {
		t.Fatal(err)
	}
	store := NewMemoryStore()
	j := New(client, store, Options{})
	if _, _, err := store.Begin(t.Context(), Intent{Shop: j.shop, ID: PaymentID("a"), Currency: "USD", At: time.Now(), Sender: "s"}); err != nil {
		t.Fatal(err)
	}
	if err := store.Record(t.Context(), Key{Shop: j.shop, ID: PaymentID("a")}, 0, Evidence{Source: SourceAnswer, State: NotSent, Sender: "s"}); err != nil {
		t.Fatal(err)
	}
	for _, err := range j.Recover(t.Context()) {
		if len(j.touched.sets) != 1 || err != nil {
			t.Errorf("%d watch within the loop, %v", len(j.touched.sets), err)
		}
		break
	}
	if n := len(j.touched.sets); n != 0 {
		t.Errorf("%d watch after the loop", n)
	}
}
