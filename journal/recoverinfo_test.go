package journal

import (
	"errors"
	"testing"
	"time"
)

// TestRecoverInfo: each entry is counted by its state.
func TestRecoverInfo(t *testing.T) {
	at := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	why := errors.New("HTTP 401")
	var got RecoverInfo
	for _, c := range []struct {
		known projection
		why   error
		times int
	}{
		{known: projection{state: Unknown, intent: Intent{At: at}}, times: 1},
		{known: projection{state: Unknown, intent: Intent{At: at.Add(-time.Hour)}}, why: why, times: 1},
		{known: projection{state: Unknown, intent: Intent{At: at.Add(time.Hour)}}, times: 1},
		{known: projection{state: Pending, intent: Intent{At: at.Add(-24 * time.Hour)}}, times: 4},
		{known: projection{state: PresumedAbsent}, times: 5},
		{known: projection{state: Refused}, times: 6},
		{known: projection{state: Succeeded, conflict: true}, times: 7},
		{known: projection{state: Unknown, conflict: true}, times: 1},
		{known: projection{state: NotSent}, times: 1},
		{known: projection{state: Abandoned}, times: 1},
		{known: projection{state: Declined}, times: 1},
		{known: projection{state: Succeeded}, times: 7},
	} {
		for range c.times {
			got.count(&Entry{queryErr: c.why}, &c.known)
		}
	}
	want := RecoverInfo{
		Reported: 36, Open: 3, Pending: 4, PresumedAbsent: 5, Refused: 6, Conflicts: 8, Settled: 10,
		Unanswered: 1, LastError: why, OldestOpen: at.Add(-time.Hour),
	}
	if got != want {
		t.Errorf("got\n%+v, want\n%+v", got, want)
	}
}
