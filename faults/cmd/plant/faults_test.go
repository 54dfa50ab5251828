package main

import "testing"

// TestEditsFit checks that every fault can be planted in the code as it is.
func TestEditsFit(t *testing.T) {
	names := make(map[string]bool)
	for _, f := range faults {
		t.Run(f.Name, func(t *testing.T) {
			if names[f.Name] {
				t.Error("two faults have this name")
			}
			names[f.Name] = true
			if _, err := edited("../../..", f.Edits); err != nil {
				t.Error(err)
			}
		})
	}
}
