package journal_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"testing"
	"time"

	"github.com/cardgateway/cardgateway-go"
	"github.com/cardgateway/cardgateway-go/journal"
	"github.com/cardgateway/cardgateway-go/sandbox"
)

// TestSlowLoop: what another process has recorded while the loop over Recover was busy is reported.
func TestSlowLoop(t *testing.T) {
	inBubble(t, sandbox.Options{}, func(t *testing.T, s *shop) {
		_, _ = s.pay("first", pending)
		time.Sleep(time.Second)
		_, _ = s.pay("a", pending)
		told := make(map[string]journal.State)
		for e, err := range s.Recover(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			told[e.ID().Text] = e.State()
			if e.ID().Text == "first" {
				time.Sleep(2 * time.Second)
				succeeds(t, s.restarted(journal.Options{}).Confirm(t.Context(), shownAs(cardgateway.CodeSuccess, "1")))
			}
		}
		if told["first"] != journal.Pending || told["a"] != journal.Succeeded {
			t.Errorf("reported %v", told)
		}
	})
}

// damaged is a store whose list has entries that cannot be read.
type damaged struct {
	journal.Store
	entries int
}

func (d damaged) Unacked(ctx context.Context, shop journal.Shop) iter.Seq2[journal.Entry, error] {
	return func(yield func(journal.Entry, error) bool) {
		for i := range d.entries {
			if !yield(journal.Entry{}, &journal.EntryError{Key: key(fmt.Sprint(i)), Cause: errDisk}) {
				return
			}
		}
		d.Store.Unacked(ctx, shop)(yield)
	}
}

// TestManyUnreadable: the other entries come first, a thousand unreadable ones are yielded, and all are counted.
func TestManyUnreadable(t *testing.T) {
	inBubble(t, sandbox.Options{}, func(t *testing.T, s *shop) {
		if _, err := s.pay("a", approved); err != nil {
			t.Fatal(err)
		}
		var info journal.RecoverInfo
		observe := func(_ context.Context, i journal.RecoverInfo) { info = i }
		named := 0
		for e, err := range journal.New(s.client, damaged{s.store, 1500}, journal.Options{Observe: observe}).Recover(t.Context()) {
			switch unread := (*journal.EntryError)(nil); {
			case errors.As(err, &unread):
				named++
			case err != nil || named > 0 || e.ID().Text != "a":
				t.Errorf("after %d unreadable ones: %s, %v", named, e.ID().Text, err)
			}
		}
		if named != 1000 || info.Unreadable != 1500 || info.Reported != 1 || !info.Complete {
			t.Errorf("%d are yielded, and the observer receives %+v", named, info)
		}
	})
}
