package notify

import (
	"context"
	"fmt"
	"testing"
)

func TestMemoryDeduperIsBounded(t *testing.T) {
	d := NewMemoryDeduper(100)
	for i := range 10_000 {
		key := fmt.Sprint(i)
		_, _ = d.Claim(context.Background(), key)
		_ = d.Handled(context.Background(), key)
	}
	if len(d.busy) != 0 || len(d.handled.entries) != 100 || len(d.handled.order) != 100 {
		t.Errorf("kept: got %d busy, %d and %d handled, want 0, 100 and 100", len(d.busy), len(d.handled.entries), len(d.handled.order))
	}
}
