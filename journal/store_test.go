package journal_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/cardgateway/cardgateway-go/journal"
	"github.com/cardgateway/cardgateway-go/journal/journaltest"
	"github.com/cardgateway/cardgateway-go/sandbox"
)

// TestMemoryStoreWalk: a loop over Unacked yields what exists and is not acknowledged. It yields the error of an ended
// context even if there are no entries.
func TestMemoryStoreWalk(t *testing.T) {
	inBubble(t, sandbox.Options{}, func(t *testing.T, s *shop) {
		over, cancel := context.WithCancel(t.Context())
		cancel()
		given := 0
		for _, err := range s.store.Unacked(over, key("").Shop) {
			if given++; !errors.Is(err, context.Canceled) {
				t.Errorf("got %v", err)
			}
		}
		if given != 1 {
			t.Errorf("an empty loop with an ended context yields %d", given)
		}
		for i := range 3 {
			_, _ = s.pay(fmt.Sprint(i), approved)
			time.Sleep(time.Second)
		}
		time.Sleep(50 * time.Hour)
		var told []string
		for e, err := range s.store.Unacked(t.Context(), key("").Shop) {
			if told = append(told, e.ID().Text); err != nil {
				t.Error(err)
			}
			if e.ID().Text == "0" {
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
