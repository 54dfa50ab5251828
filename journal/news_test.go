package journal

import (
	"fmt"
	"testing"
)

// TestNewsAreBounded: however much is confirmed or ends unknown, and whether or not Run is called, little is remembered; and it is
// known that something is missing.
func TestNewsAreBounded(t *testing.T) {
	n := newNews()
	for i := range 100_000 {
		id := PaymentID(fmt.Sprint(i))
		n.confirm(id)
		n.confirm(id)
		n.open(id)
	}
	if len(n.wake) != 1 {
		t.Error("it wakes nobody")
	}
	for round, want := range []struct {
		ids    int
		missed bool
	}{{mostNews, true}, {0, false}, {0, true}} {
		if round == 2 {
			n.miss()
			n.miss()
		}
		if confirmed, opened, missed := n.take(); len(confirmed) != want.ids || len(opened) != want.ids || missed != want.missed {
			t.Errorf("round %d: %d confirmed, %d opened, missed %t; want %+v", round, len(confirmed), len(opened), missed, want)
		}
	}
}
