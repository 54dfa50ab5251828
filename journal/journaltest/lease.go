package journaltest

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cardgateway/cardgateway-go/journal"
)

// leaseStore returns a store's methods for leases, or skips the test if it has none.
func leaseStore(t *testing.T, s journal.Store) journal.LeaseStore {
	t.Helper()
	leases, ok := s.(journal.LeaseStore)
	if !ok {
		t.Skip("the store is not a journal.LeaseStore")
	}
	return leases
}

// lease leases the shop, and checks to whom it is leased then.
func lease(t *testing.T, s journal.LeaseStore, shop journal.Shop, holder string, length time.Duration, want string) {
	t.Helper()
	if got, err := s.Lease(t.Context(), shop, holder, length); err != nil || got != want {
		t.Errorf("Lease to %q: it is leased to %q, %v; want %q", holder, got, err, want)
	}
}

var (
	otherShop = journal.Shop{Gateway: "https://other.example", AppID: "8"}
	longShop  = journal.Shop{Gateway: "https://other.example", AppID: "88"}
)

// testLease: a shop is leased to one holder at a time, until the end of the lease, which can be moved.
func testLease(t *testing.T, store journal.Store) {
	s := leaseStore(t, store)
	const long, short = 30 * time.Second, 500 * time.Millisecond
	lease(t, s, shop, "a", long, "a")
	lease(t, s, shop, "b", long, "a")
	lease(t, s, otherShop, "b", long, "b")
	lease(t, s, shop, "a", short, "a") // renewed: its end is earlier now
	lease(t, s, shop, "b", long, "a")
	time.Sleep(short + 200*time.Millisecond)
	lease(t, s, shop, "b", long, "b")
	lease(t, s, shop, "a", long, "b")
	lease(t, s, otherShop, "a", long, "b")
	lease(t, s, shop, "b", 20*365*24*time.Hour, "b") // as if the clock had been set back since
	lease(t, s, shop, "a", long, "a")

	over, cancel := context.WithCancel(t.Context())
	cancel()
	if to, err := s.Lease(over, shop, "a", long); err == nil {
		t.Errorf("Lease with an ended context: leased to %q", to)
	}
}

// testRelease: only the holder can end a lease.
func testRelease(t *testing.T, store journal.Store) {
	s := leaseStore(t, store)
	release := func(shop journal.Shop, holder string) {
		t.Helper()
		if err := s.Release(t.Context(), shop, holder); err != nil {
			t.Errorf("Release of %q: %v", holder, err)
		}
	}
	release(shop, "a") // never leased
	lease(t, s, shop, "a", time.Minute, "a")
	lease(t, s, otherShop, "a", time.Minute, "a")
	release(shop, "b")
	lease(t, s, shop, "b", time.Minute, "a")
	release(shop, "a")
	release(shop, "a")
	lease(t, s, shop, "b", time.Minute, "b")
	release(shop, "a")
	lease(t, s, shop, "a", time.Minute, "b")
	lease(t, s, otherShop, "b", time.Minute, "a")
	lease(t, s, shop, "B", time.Minute, "b") // names are compared byte for byte
	long := strings.Repeat("h", 199)
	lease(t, s, longShop, long+"a", time.Minute, long+"a")
	lease(t, s, longShop, long+"b", time.Minute, long+"a")
}

// testOneLeases has 50 goroutines lease the same shop, which was never leased: one gets it, and all others are told which. Then its lease
// lapses, and they do so again: also the one that had it may be refused.
func testOneLeases(t *testing.T, stores ...journal.LeaseStore) {
	t.Helper()
	name := func(i int) string { return string(rune('A' + i)) }
	for range 3 {
		holders := make([]string, crowd)
		var leased atomic.Int32
		together(func(i int) {
			to, err := stores[i%len(stores)].Lease(t.Context(), shop, name(i), time.Minute)
			if err != nil {
				t.Errorf("Lease: %v", err)
			}
			if holders[i] = to; to == name(i) {
				leased.Add(1)
			}
		})
		if n := leased.Load(); n != 1 {
			t.Errorf("leased to %d of %d, want 1", n, crowd)
		}
		for i, to := range holders {
			if to != holders[0] {
				t.Fatalf("%s was told that it is leased to %q, and %s that it is leased to %q", name(i), to, name(0), holders[0])
			}
		}
		lease(t, stores[0], shop, holders[0], time.Microsecond, holders[0])
		time.Sleep(50 * time.Millisecond) // until that is over
	}
}
