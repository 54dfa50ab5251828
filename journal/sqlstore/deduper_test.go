package sqlstore_test

import (
	"strings"
	"testing"

	"github.com/cardgateway/cardgateway-go/journal/sqlstore"
	"github.com/cardgateway/cardgateway-go/notify"
)

var _ notify.Deduper = (*sqlstore.Deduper)(nil)

// TestDeduperMistakes: what would fail or be truncated later is an error at once.
func TestDeduperMistakes(t *testing.T) {
	d := new(sqlstore.Deduper)
	long := strings.Repeat("k", 1300)
	for _, tt := range []struct {
		name, want string
		call       func() error
	}{
		{"no client", "client is nil", func() error { _, err := new(sqlstore.Store).NewDeduper(t.Context(), nil); return err }},
		{"a claim of a long key", "at most 1280", func() error { _, err := d.Claim(t.Context(), long); return err }},
		{"a handled long key", "at most 1280", func() error { return d.Handled(t.Context(), long) }},
		{"a released long key", "at most 1280", func() error { return d.Release(t.Context(), long) }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if err := tt.call(); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want an error with %q", err, tt.want)
			}
		})
	}
}
