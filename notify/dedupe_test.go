package notify_test

import (
	"context"
	"testing"

	"github.com/cardgateway/cardgateway-go/internal/test/dedupertest"
	"github.com/cardgateway/cardgateway-go/notify"
)

func TestMemoryDeduper(t *testing.T) {
	dedupertest.Run(t, func(testing.TB) []notify.Deduper { return []notify.Deduper{notify.NewMemoryDeduper(0)} })
}

// TestMemoryDeduperForgets: the events that were handled first are forgotten first.
func TestMemoryDeduperForgets(t *testing.T) {
	ctx := context.Background()
	d := notify.NewMemoryDeduper(2)
	claim := func(key string, want notify.ClaimResult) {
		t.Helper()
		if got, err := d.Claim(ctx, key); got != want || err != nil {
			t.Errorf("Claim(%s): got %v, %v, want %v", key, got, err, want)
		}
	}
	handled := func(key string) {
		t.Helper()
		if err := d.Handled(ctx, key); err != nil {
			t.Errorf("Handled(%s): %v", key, err)
		}
	}
	claim("a", notify.ClaimFresh)
	handled("a")
	for _, key := range []string{"b", "c"} {
		claim(key, notify.ClaimFresh)
		handled(key)
		handled(key)
	}
	claim("a", notify.ClaimFresh) // forgotten: there is room for two
	claim("b", notify.ClaimHandled)
	claim("c", notify.ClaimHandled)
	handled("a")
	claim("b", notify.ClaimFresh)
	claim("c", notify.ClaimHandled)
	claim("a", notify.ClaimHandled)
}
