package main

import (
	"strings"
	"testing"

	"github.com/cardgateway/cardgateway-go/internal/filecycle"
)

// TestNoFileCycles fails if files of a package of this module use each other in a cycle.
func TestNoFileCycles(t *testing.T) {
	packages, err := filecycle.Load(".", "./...")
	if err != nil {
		t.Fatal(err)
	}
	if len(packages) < 10 {
		t.Fatalf("got %d packages, want this one and those below internal", len(packages))
	}
	for _, p := range packages {
		t.Run(p.Path, func(t *testing.T) {
			for _, cycle := range p.Cycles {
				t.Errorf("got a cycle of %d files, want none: %s\n%s", len(cycle), strings.Join(cycle, " "), p.Explain(cycle))
			}
		})
	}
}
