package bench

import (
	"fmt"
	"math"
	"os"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/cardgateway/cardgateway-go/proof/bench/internal/loopback"
)

// Allocations do not depend on the load of the machine, so these limits hold everywhere. Those of a call include net/http's
// own, which are some 60.
const (
	maxAllocsPerCall = 80
	maxAllocsPerRow  = 4
)

// TestAllocationsPerCall: RESULTS.md tells the client's allocations as they are, if it was measured with this version of Go.
// Different runs differ by one.
func TestAllocationsPerCall(t *testing.T) {
	text, err := os.ReadFile("RESULTS.md")
	if err != nil {
		t.Fatal(err)
	}
	results := string(text)
	goVersion := regexp.MustCompile(`Go (\d+\.\d+)`).FindStringSubmatch(results)
	comparable := len(goVersion) == 2 && strings.HasPrefix(runtime.Version(), "go"+goVersion[1]+".")
	for _, op := range operations {
		for tls, secure := range map[string]bool{"no": false, "yes": true} {
			callers, err := callersOf(op, server, secure)
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
				t.Logf("%s, TLS %s, %s: %.0f", op.name, tls, c.client, got)
				if c.client == "cardgateway" && got > maxAllocsPerCall {
					t.Errorf("%s takes %.0f allocations, want at most %d", op.name, got, maxAllocsPerCall)
				}
				if c.client == "cardgateway" && comparable {
					row := regexp.MustCompile(fmt.Sprintf(`(?m)^\| %s \| 1 \| %s \|.*\| (\d+) \|$`, op.name, tls)).FindStringSubmatch(results)
					if len(row) != 2 {
						t.Fatalf("RESULTS.md has no row for %s with one caller", op.name)
					}
					if told, _ := strconv.ParseFloat(row[1], 64); math.Abs(told-got) > 1 {
						t.Errorf("%s takes %.0f allocations, and RESULTS.md says %.0f", op.name, got, told)
					}
				}
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
