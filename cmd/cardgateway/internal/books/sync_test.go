package books

import (
	"testing"
	"time"

	"github.com/cardgateway/cardgateway-go/sandbox"
)

// TestSync copies three months, then what came in meanwhile.
func TestSync(t *testing.T) {
	onEach(t, func(t *testing.T, db string) {
		server := gateway(t, sandbox.Options{})
		client := clientOf(t, server)
		from := time.Now().AddDate(0, -3, 0)
		server.Seed(3_000, from, time.Now())
		b := open(t, db)
		for range 2 { // the second run finds nothing new
			if _, err := b.Sync(t.Context(), SyncOptions{Client: client, From: from}); err != nil {
				t.Fatal(err)
			}
			wantFresh(t, b, client, from)
		}
		server.Seed(300, time.Now().Add(-10*time.Minute), time.Now())
		if _, err := b.Sync(t.Context(), SyncOptions{Client: client}); err != nil {
			t.Fatal(err)
		}
		wantFresh(t, b, client, from)
		info, err := b.Info(t.Context())
		if err != nil || info.Orders != 3_300 || info.Refunds != 330 || info.OpenOrders == 0 {
			t.Errorf("got %+v, %v", info, err)
		}
		if behind := time.Since(info.CompleteUpTo); behind < 15*time.Minute || behind > 16*time.Minute {
			t.Errorf("complete up to %v, want some 15 minutes ago", info.CompleteUpTo)
		}
	})
}
