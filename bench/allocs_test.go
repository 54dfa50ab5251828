package bench

import (
	"testing"

	"github.com/cardgateway/cardgateway-go/bench/internal/loopback"
)

// Allocations do not depend on the load of the machine, so these limits hold everywhere. Those of a call include net/http's
// own, which are some 60.
const (
	maxAllocsPerCall = 80
	maxAllocsPerRow  = 4
)

func TestAllocationsPerCall(t *testing.T) {
	for _, op := range operations {
		callers, err := callersOf(op, server, false)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range callers {
			var failed error
			got := testing.AllocsPerRun(200, func() {
				if err := c.call(t.Context()); err != nil {
					failed = err
				}
			})
			if failed != nil {
				t.Fatal(c.client, failed)
			}
			t.Logf("%s, %s: %.0f", op.name, c.client, got)
			if c.client == "cardgateway" && got > maxAllocsPerCall {
				t.Errorf("%s takes %.0f allocations, want at most %d", op.name, got, maxAllocsPerCall)
			}
		}
	}
}

func TestAllocationsPerRow(t *testing.T) {
	all, err := decoders()
	if err != nil {
		t.Fatal(err)
	}
	for _, rows := range pageSizes {
		data := loopback.Page(rows)
		for _, d := range all {
			var failed error
			got := testing.AllocsPerRun(5, func() {
				if _, err := d.decode(data); err != nil {
					failed = err
				}
			}) / float64(rows)
			if failed != nil {
				t.Fatal(d.client, failed)
			}
			t.Logf("%d rows, %s: %.2f a row", rows, d.client, got)
			if d.client == "cardgateway" && got > maxAllocsPerRow {
				t.Errorf("a page of %d rows takes %.2f allocations a row, want at most %d", rows, got, maxAllocsPerRow)
			}
		}
	}
}
