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
	done := func(key string, handled bool) {
		t.Helper()
		if err := d.Done(ctx, key, handled); err != nil {
			t.Errorf("Done(%s): %v", key, err)
		}
	}
	claim("a", notify.ClaimFresh)
	claim("a", notify.ClaimBusy)
	done("a", false)
	claim("a", notify.ClaimFresh)
	done("a", true)
	claim("a", notify.ClaimHandled)
	for _, key := range []string{"b", "c"} {
		claim(key, notify.ClaimFresh)
		done(key, true)
		done(key, true)
	}
	claim("a", notify.ClaimFresh) // forgotten: there is room for two
	claim("b", notify.ClaimHandled)
	claim("c", notify.ClaimHandled)
	done("a", true)
	claim("b", notify.ClaimFresh)
	claim("c", notify.ClaimHandled)
	claim("a", notify.ClaimHandled)
}
