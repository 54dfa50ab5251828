package journal_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/cardgateway/cardgateway-go/journal"
	"github.com/cardgateway/cardgateway-go/journal/journaltest"
	"github.com/cardgateway/cardgateway-go/sandbox"
)

// TestMemoryStoreWalk: a loop over Unacked does not yield what is acknowledged and forgotten meanwhile.
func TestMemoryStoreWalk(t *testing.T) {
	inBubble(t, sandbox.Options{}, func(t *testing.T, s *shop) {
		for i := range 3 {
			_, _ = s.pay(fmt.Sprint(i), approved)
			time.Sleep(time.Second)
		}
		time.Sleep(50 * time.Hour)
		var told []string
		for e, err := range s.store.Unacked(t.Context(), key("").Shop) {
			succeeds(t, err)
			if told = append(told, e.ID().Text); e.ID().Text == "0" {
				ackAndForget(t, s, "1")
			}
		}
		if fmt.Sprint(told) != "[0 2]" {
			t.Errorf("got %v, want what was not forgotten meanwhile", told)
		}
	})
}

func TestMemoryStore(t *testing.T) {
	journaltest.Run(t, journaltest.Harness{
		Open:     func(testing.TB, string) (journal.Store, func()) { return journal.NewMemoryStore(), func() {} },
		Volatile: true,
	})
}
