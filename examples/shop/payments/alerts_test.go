package payments

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/cardgateway/cardgateway-go/journal"
)

// TestAlerts: each state of the journal in which a person has to decide is an alert, and no other one.
func TestAlerts(t *testing.T) {
	for name, tt := range map[string]struct {
		info journal.RecoverInfo
		want int
	}{
		"conflict": {journal.RecoverInfo{Conflicts: 1}, 1}, "refused": {journal.RecoverInfo{Refused: 1}, 1},
		"presumed absent": {journal.RecoverInfo{PresumedAbsent: 1}, 1}, "queries fail": {journal.RecoverInfo{Unanswered: 1}, 1},
		"not readable": {journal.RecoverInfo{Unreadable: 1}, 1}, "unknown for long": {journal.RecoverInfo{Open: 1, OldestOpen: time.Now().Add(-26 * time.Hour)}, 1},
		"of itself": {journal.RecoverInfo{Open: 1, OldestOpen: time.Now(), Pending: 1, Settled: 1, Complete: true}, 0},
		"stands by": {journal.RecoverInfo{Conflicts: 1, Standby: true}, 0},
	} {
		var log bytes.Buffer
		s := &Service{Config: Config{Logger: slog.New(slog.NewTextHandler(&log, nil))}}
		s.observeJournal(t.Context(), tt.info)
		if got := strings.Count(log.String(), "msg=alert"); got != tt.want {
			t.Errorf("%s: got %d alerts, want %d\n%s", name, got, tt.want, &log)
		}
	}
}
