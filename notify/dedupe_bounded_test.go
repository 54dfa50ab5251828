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
	handled := 0
	for i := range 10_000 {
		if d.isHandled(fmt.Sprint(i)) {
			handled++
		}
	}
	if len(d.busy) != 0 || handled != 100 {
		t.Errorf("kept: got %d busy and %d handled, want 0 and 100", len(d.busy), handled)
	}
}
