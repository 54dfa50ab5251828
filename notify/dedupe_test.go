package notify_test

import (
	"context"
	"testing"

	"github.com/cardgateway/cardgateway-go/notify"
)

func TestMemoryDeduper(t *testing.T) {
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
	claim("a", notify.ClaimBusy)
	if err := d.Release(ctx, "a"); err != nil {
		t.Error(err)
	}
	claim("a", notify.ClaimFresh)
	handled("a")
	claim("a", notify.ClaimHandled)
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
