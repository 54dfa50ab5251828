package main

import (
	"testing"

	"go.temporal.io/sdk/worker"
)

// TestOrderReplays: orders whose histories were recorded before and after the receipt was added can go on.
func TestOrderReplays(t *testing.T) {
	for _, name := range []string{"order-without-receipt.json", "order-with-receipt.json"} {
		t.Run(name, func(t *testing.T) {
			replayer := worker.NewWorkflowReplayer()
			replayer.RegisterWorkflow(order)
			if err := replayer.ReplayWorkflowHistoryFromJSONFile(nil, "testdata/"+name); err != nil {
				t.Error(err)
			}
		})
	}
}
